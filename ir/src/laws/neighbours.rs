//! Which states may meet: laws are asked of sequences in which each element follows the state
//! before it.
//!
//! Write x ~ y where `follows` holds of x and y. Then for all states
//!
//! ```text
//! e ~ x  and  x ~ e
//! x ~ y  and  x · y ~ z   imply   y ~ z,  x ~ y · z  and  (x · y) · z = x · (y · z)
//! ```
//!
//! The premise is what a sequential loop meets. By induction over its length, a sequence each of
//! whose elements follows the state before it may be grouped in any way. So one look at each
//! element checks a sequence, and scans may regroup what passed.

use super::machine::{Machine, Word};
use super::search::{Found, Outcome};
use super::verdict::Law;
use crate::program::{Stage, Table};

/// Says which states of a stage may meet: all, where it has no `follows`.
pub(crate) struct Neighbours<'a>(Option<Machine<'a>>);

impl<'a> Neighbours<'a> {
    pub(crate) fn of(stage: &'a Stage, tables: &'a [Table]) -> Neighbours<'a> {
        Neighbours(stage.follows.as_ref().map(|follows| Machine::new(follows, tables)))
    }

    /// The cost of one look.
    pub(crate) fn cost(&self) -> usize {
        self.0.as_ref().map_or(0, Machine::cost)
    }

    /// Whether y may follow x; none if that hangs on rounding, or `follows` panics natively: such a case refutes no law.
    fn look(&mut self, x: &[Word], y: &[Word]) -> Option<bool> {
        let Some(follows) = &mut self.0 else { return Some(true) };
        let mut result = Vec::new();
        let uncertain = follows.run(&[x, y], &mut result);
        let verdict = result.first()?;
        (!uncertain && !verdict.is_tainted()).then_some(verdict.int != 0)
    }

    /// Whether y certainly may follow x.
    pub(crate) fn meet(&mut self, x: &[Word], y: &[Word]) -> bool {
        self.look(x, y) == Some(true)
    }

    /// Whether a loop meets y after x and z after both, of which `xy` is the product.
    pub(crate) fn is_met(&mut self, x: &[Word], y: &[Word], xy: &[Word], z: &[Word]) -> bool {
        self.meet(x, y) && self.meet(xy, z)
    }

    /// Judges the law of `follows` of three states that a loop meets, whose products are known.
    pub(super) fn judge(&mut self, [x, y, z]: [&[Word]; 3], (yz, uncertain): (&[Word], bool), outcome: &mut Outcome) {
        if uncertain || yz.iter().any(Word::is_tainted) {
            return;
        }
        let (Some(after), Some(before)) = (self.look(y, z), self.look(x, yz)) else { return };
        outcome.follows.0 += 1;
        if !(after && before) && outcome.follows.1.is_none() {
            let states = [x, y, z].map(<[Word]>::to_vec).to_vec();
            outcome.follows.1 = Some(Found { law: Law::Follows, states });
        }
    }

    /// Judges that the identity may stand before and after a state.
    pub(super) fn judge_identity(&mut self, identity: &[Word], x: &[Word], outcome: &mut Outcome) {
        let sides = [self.look(identity, x), self.look(x, identity)];
        if sides.contains(&Some(false)) && outcome.follows.1.is_none() {
            outcome.follows.1 = Some(Found { law: Law::IdentityFollows, states: vec![x.to_vec()] });
        }
    }
}

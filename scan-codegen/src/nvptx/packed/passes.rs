//! The two passes over a run, four records to a word.
//!
//! A *fold* takes the earlier ones of neighbouring states out of two words, the later ones too, and combines both: of
//! eight states four are left, in order. What a run comes to is kept as four states until it ends.
//!
//! A *replay* scans the four states of a word in two steps (Hillis and Steele, Data parallel algorithms, 1986), and puts
//! the state before the word in front of all four.

use std::iter::zip;

use scan_ir::Source;

use super::Packed;
use super::words::{self, Word};
use crate::nvptx::emit::{Emit, Value, Var};
use crate::nvptx::lanes::{get, set, variables};
use crate::nvptx::run::PackedPass;

/// Folds from the identity.
pub(crate) struct PackedFold<'k, 'a> {
    k: &'k Emit,
    packed: &'a Packed,
    /// Where the fold goes when it ends.
    state: &'a [Var<'k>],
    /// What the records so far come to, as four states one after the other.
    folded: Vec<Var<'k>>,
}

impl<'k, 'a> PackedFold<'k, 'a> {
    pub(crate) fn new(k: &'k Emit, packed: &'a Packed, state: &'a [Var<'k>]) -> PackedFold<'k, 'a> {
        PackedFold { k, packed, state, folded: variables(&packed.identity(k)) }
    }

    /// Eight states as four: what each two neighbours come to.
    fn halved(&self, first: &[Word<'k>], second: &[Word<'k>]) -> Vec<Word<'k>> {
        self.packed.combine(self.k, &words::earlier(first, second), &words::later(first, second))
    }

    /// The records of one or two words as four states.
    fn lifted(&self, records: &[Vec<Word<'k>>]) -> Vec<Word<'k>> {
        let lift = |record: &[Word<'k>]| self.packed.lift(self.k, record);
        match records {
            [first, second] => {
                let (earlier, later) = (words::earlier(first, second), words::later(first, second));
                self.packed.combine(self.k, &lift(&earlier), &lift(&later))
            }
            _ => lift(&records[0]),
        }
    }
}

impl<'k> PackedPass<'k> for PackedFold<'k, '_> {
    fn unit(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Value<'k>>> {
        let records = self.packed.records(columns);
        let mut states: Vec<Vec<Word<'k>>> = records.chunks(2).map(|records| self.lifted(records)).collect();
        while states.len() > 1 {
            states = states.chunks(2).map(|pair| self.halved(&pair[0], &pair[1])).collect();
        }
        set(&self.folded, &self.halved(&get(&self.folded), &states[0]));
        Vec::new()
    }

    fn end(&self) {
        let four = get(&self.folded);
        let two = self.halved(&four, &four);
        let one = self.halved(&two, &two);
        for (state, (word, constant)) in zip(self.state, zip(one, &self.packed.identity)) {
            state.set(words::first(word, constant.ty()));
        }
    }

    fn work(&self) -> usize {
        self.packed.fold_work()
    }
}

/// Replays from the state before the run, and gives what is written.
pub(crate) struct PackedReplay<'k, 'a> {
    k: &'k Emit,
    packed: &'a Packed,
    /// Four times the state before the next word: of the components that are carried.
    carry: Vec<Var<'k>>,
}

impl<'k, 'a> PackedReplay<'k, 'a> {
    pub(crate) fn new(k: &'k Emit, packed: &'a Packed, state: &[Var<'k>]) -> PackedReplay<'k, 'a> {
        let carry = state.iter().map(|state| k.var(words::splat(state.get()))).collect();
        PackedReplay { k, packed, carry }
    }

    /// The states of a word as what they come to with those before them in it.
    fn scanned(&self, states: Vec<Word<'k>>) -> Vec<Word<'k>> {
        let identity = self.packed.identity(self.k);
        let put = |earlier: Vec<Word<'k>>, states: Vec<Word<'k>>| self.packed.combine(self.k, &earlier, &states);
        let pairs = put(words::one_on(&states, &identity), states);
        put(words::two_on(&pairs, &identity), pairs)
    }

    /// The results of four records, a word for each column.
    fn word(&self, record: &[Word<'k>]) -> Vec<Word<'k>> {
        let Packed { live, outputs, project, .. } = self.packed;
        // What no output needs may be anything.
        let mut carry = self.packed.identity(self.k);
        zip(live, &self.carry).for_each(|(&component, var)| carry[component] = var.get());
        let states = self.scanned(self.packed.lift(self.k, record));
        let after = self.packed.combine(self.k, &carry, &states);
        let before = words::one_on(&after, &carry);
        let results = project.write(self.k, |source| match source {
            Source::Record(component) => record[component as usize],
            Source::Before { component, .. } => before[component as usize],
            Source::After { component, .. } => after[component as usize],
            _ => unreachable!("the projection of a packed form reads records and states"),
        });
        zip(live, &self.carry).for_each(|(&component, var)| var.set(words::last(after[component])));
        zip(results, outputs).map(|(word, &ty)| words::to_memory(word, ty)).collect()
    }
}

impl<'k> PackedPass<'k> for PackedReplay<'k, '_> {
    fn unit(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Value<'k>>> {
        let mut written = vec![Vec::new(); self.packed.outputs.len()];
        for record in self.packed.records(columns) {
            zip(&mut written, self.word(&record)).for_each(|(column, word)| column.push(word));
        }
        written
    }

    fn end(&self) {}

    fn work(&self) -> usize {
        self.packed.replay_work()
    }
}

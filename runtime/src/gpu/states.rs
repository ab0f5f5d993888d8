//! States of a program among those of its lowered form, which may have more components and one more
//! stage.

use std::borrow::Cow;

use monoscan_ir::Constant;
use monoscan_ir::transform::{Check, Finding, Lowered};

/// Where the components of a program are among those of its lowered form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct States {
    /// The identities of all components of the lowered program.
    identities: Vec<Constant>,
    /// For each component of what streams of the program carry, its place among those: the states of its stages come
    /// first.
    places: Vec<usize>,
    /// The place of the rank.
    rank: Option<usize>,
    check: Option<CheckStage>,
}

/// The stage that checks a program, among the components of the lowered program.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CheckStage {
    check: Check,
    /// Where each stage of the program begins, and then where this one does.
    stages: Vec<usize>,
}

impl States {
    pub(crate) fn new(program: &Lowered) -> States {
        let first = |stage: usize| program.stages[..stage].iter().map(|stage| stage.state.len()).sum::<usize>();
        let carried = program.carried_components();
        let starts = || (0..program.user_stages()).chain([carried.len()]).map(first).collect();
        let check = |check: &Check| CheckStage { check: check.clone(), stages: starts() };
        States {
            identities: program.identities(),
            places: (0..).zip(carried).flat_map(|(stage, own)| first(stage)..first(stage) + own).collect(),
            rank: program.rank().map(|rank| first(rank as usize)),
            check: program.check().map(check),
        }
    }

    /// Whether records are kept or not, and counted.
    pub(crate) fn keeps(&self) -> bool {
        self.rank.is_some()
    }

    /// How many stages the program has, if it is checked.
    pub(crate) fn checked_stages(&self) -> Option<usize> {
        self.check.as_ref().map(|check| check.stages.len() - 1)
    }

    /// The first finding and its sequence, out of the states of the lowered program after each sequence. Where these are
    /// used, they are compared with the loop's.
    pub(crate) fn finding(&self, lowered: &[Constant], are_used: bool) -> Option<(usize, Finding)> {
        let CheckStage { check, stages } = self.check.as_ref()?;
        let mut sequences = lowered.chunks_exact(self.identities.len()).enumerate();
        sequences.find_map(|(sequence, state)| {
            let after = |stage: u32, component: u32| state[stages[stage as usize] + component as usize];
            let own = &state[stages[stages.len() - 1]..][..check.components()];
            Some((sequence, check.finding(own, are_used.then_some(&after))?))
        })
    }

    /// A state of the program, or else the identities, as one of the lowered program.
    pub(crate) fn lowered(&self, state: Option<&[Constant]>) -> Cow<'_, [Constant]> {
        let mut lowered = Cow::Borrowed(&*self.identities);
        for (&place, &component) in self.places.iter().zip(state.into_iter().flatten()) {
            lowered.to_mut()[place] = component;
        }
        lowered
    }

    /// The first so many components of what streams of the program carry, out of those of the lowered one, state by state.
    pub(crate) fn own(&self, lowered: Vec<Constant>, components: usize) -> Vec<Constant> {
        let (each, places) = (self.identities.len().max(1), &self.places[..components.min(self.places.len())]);
        if places.iter().copied().eq(0..each) {
            return lowered;
        }
        let mut own = Vec::with_capacity(lowered.len() / each * places.len());
        for state in lowered.chunks_exact(each) {
            own.extend(places.iter().map(|&place| state[place]));
        }
        own
    }

    /// How many records were kept, if the program filters.
    pub(crate) fn kept(&self, lowered: &[Constant]) -> Option<usize> {
        Some(lowered[self.rank?].bits() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::transform::{Form, lower};
    use monoscan_ir::{text, verify};

    #[test]
    fn states_pass_through_the_lowered_form() {
        let source = "
            program odd
              input { size 8, align 8, u64 @ 0 }
              stage (u64, u32)
                identity (0, 1)
                lift (%0 = record.0: u64) {
                  %1 = const.u32 10
                  return %0, %1
                }
                combine (%0: u64, %1: u32, %2: u64, %3: u32) {
                  %4 = add.u64 %0, %2
                  %5 = mul.u32 %1, %3
                  return %4, %5
                }
              output emit
                column { size 8, align 8, u64 @ 0 }
                filter (%0 = record.0: u64) {
                  %1 = const.u64 1
                  %2 = eq.bool %0, %1
                  return %2
                }
                project (%0 = state.0: u64) { return %0 }";
        let program = verify(text::parse(source).unwrap()).unwrap();
        let form = Form { heads: true, ..Form::default() };
        let lowered = lower(&program, form);
        let states = States::new(&lowered);
        let own = [Constant::from(5u64), Constant::from(6u32)];
        let mut made = states.lowered(Some(&own)).into_owned();
        assert_eq!(made, [own[0], own[1], Constant::from(false), Constant::from(0u64)]);
        made[3] = 40u64.into();
        assert_eq!(states.kept(&made), Some(40));
        assert_eq!(states.own(made, 2), own);
        assert_eq!(states.own(states.lowered(None).into_owned(), 2), [Constant::from(0u64), Constant::from(1u32)]);
    }
}

//! The automaton of a [`PatternSet`](super::PatternSet), and what runs it: a walk of its table, or
//! a scan of its maps.

use monoscan_ir::{
    FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value, Verified, verify,
};
use regex_syntax::hir::Hir;

use super::super::LexerError;
use super::super::dfa::{State, TokenDfa};
use super::super::pieces::Walk;
use super::super::subsets::{Bounds, all_matches};
use super::super::transducer::Transducer;
use super::{MAX_PATTERN_CELLS, MAX_PATTERN_STATES, MAX_SCANNED_STATES, PatternSetError};

/// Bits of a place that say which patterns match; those above are the end.
pub(super) const SET_BITS: u32 = 16;

/// States count from 0, where a text begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Automaton {
    class_of: [u8; 256],
    classes: usize,
    /// For each class the successor of each state.
    maps: Vec<u16>,
    pub(super) states: usize,
    /// For each state, which of the sets matches; 0 for none.
    set_of: Vec<u16>,
    /// The patterns of each set; the first is empty.
    pub(super) sets: Vec<Vec<usize>>,
}

impl Automaton {
    pub(super) fn new(regexes: &[Hir]) -> Result<Automaton, PatternSetError> {
        if regexes.is_empty() {
            return Err(PatternSetError::NoPattern);
        }
        let bounds = Bounds { states: MAX_PATTERN_STATES, cells: MAX_PATTERN_CELLS };
        let (dfa, sets) = all_matches(regexes, bounds).map_err(|error| match error {
            LexerError::TooManyStates => PatternSetError::TooManyStates,
            other => PatternSetError::Automaton(other),
        })?;
        if let Some(set) = dfa.accept(TokenDfa::START) {
            // Rare: the parser's own bound did not see it, as in `[a&&b]*`.
            return Err(PatternSetError::Empty { pattern: sets[usize::from(set)][0] });
        }
        // Any text may go on with a match, so no state is dead; but if nothing ever matches, the start is, and leads to itself.
        let live: Vec<State> = dfa.states().filter(|&state| state != TokenDfa::DEAD).collect();
        let map = |class: usize| live.iter().map(move |&state| (state, class));
        let maps = (0..dfa.classes)
            .flat_map(map)
            .map(|(state, class)| dfa.next(state, class).index().saturating_sub(1) as u16);
        Ok(Automaton {
            maps: maps.collect(),
            states: live.len(),
            set_of: live.iter().map(|&state| dfa.accept(state).unwrap_or(0)).collect(),
            class_of: dfa.class_of,
            classes: dfa.classes,
            sets,
        })
    }

    /// The state behind a byte, and which of the sets matches there.
    pub(super) fn step(&self, state: usize, byte: u8) -> (usize, u16) {
        let class = usize::from(self.class_of[usize::from(byte)]);
        let state = usize::from(self.maps[class * self.states + state]);
        (state, self.set_of[state])
    }

    /// Its table, for walks of many pieces of a text.
    pub(super) fn walk(&self) -> Walk {
        let output = self.maps.iter().map(|&state| self.set_of[usize::from(state)]).collect();
        let (states, symbols) = (self.states, self.classes);
        let transducer = Transducer { states, symbols, next: self.maps.clone(), output };
        Walk::new(&transducer, self.class_of.iter().map(|&class| usize::from(class)), false)
    }

    /// A scan: a column of bytes in; out, for each place where a match ends, the end and which patterns match.
    pub(super) fn program(&self) -> Result<Verified<Program>, PatternSetError> {
        let states = self.states;
        if states > MAX_SCANNED_STATES {
            return Err(PatternSetError::TooManyScannedStates { states });
        }
        let bytes = |numbers: &[u16]| -> Vec<u8> { numbers.iter().map(|&number| number as u8).collect() };
        let mut tables = vec![Table { ty: Type::U8, bytes: self.class_of.to_vec() }];
        let stage = Stage::automaton(states, &bytes(&self.maps), symbol(), &mut tables);
        let sets = tables.len() as u32;
        // Each set is that of a state, and the empty one is the first state's: there are 256 at most.
        tables.push(Table { ty: Type::U8, bytes: bytes(&self.set_of) });
        let set = |b: &mut FunctionBuilder| {
            let after = b.param(Type::bytes(states.min(16)).expect("1 to 16 lanes"));
            let state = b.lane(after, 0);
            let state = b.cast(Type::U32, state);
            b.table(sets, Type::U8, state)
        };
        let after = Source::After { stage: 0, component: 0 };
        let program = Program {
            parameters: Vec::new(),
            name: "patterns".to_owned(),
            tables,
            inputs: vec![Layout::of(Type::U8)],
            stages: vec![stage.expect("maps lead to states, of which there are at most 256")],
            output: Output {
                filter: Some(mapping(vec![after], |b| {
                    let (set, none) = (set(b), b.lit(0u8));
                    b.binary(Opcode::Ne, set, none)
                })),
                project: mapping(vec![Source::Index, after], |b| {
                    let index = b.param(Type::U64);
                    let set = set(b);
                    let (one, bits) = (b.lit(1u64), b.lit(SET_BITS));
                    let end = b.binary(Opcode::Add, index, one);
                    let end = b.binary(Opcode::Shl, end, bits);
                    let set = b.cast(Type::U64, set);
                    b.binary(Opcode::Or, end, set)
                }),
                columns: vec![Layout::of(Type::U64)],
            },
            sequential: None,
        };
        Ok(verify(program)
            .expect("256 states and 256 classes keep the program small, and the rest is typed as it should be"))
    }
}

/// The input symbol of an element: its byte's class.
fn symbol() -> Mapping {
    mapping(vec![Source::Record(0)], |b| {
        let byte = b.param(Type::U8);
        let index = b.cast(Type::U32, byte);
        let class = b.table(0, Type::U8, index);
        b.cast(Type::U32, class)
    })
}

fn mapping(reads: Vec<Source>, of: impl Fn(&mut FunctionBuilder) -> Value) -> Mapping {
    let mut b = FunctionBuilder::new();
    let result = of(&mut b);
    Mapping { reads, function: b.finish(&[result]) }
}

#[cfg(test)]
mod tests {
    use monoscan_runtime::{Column, DynScan};
    use scan_kit::Random;

    use super::super::parsed;
    use super::*;

    fn regexes(patterns: &[&str]) -> Vec<Hir> {
        patterns.iter().map(|pattern| parsed(0, pattern).expect("it parses")).collect()
    }

    #[test]
    fn a_scan_has_256_states_at_most() {
        let automaton = |patterns: &[&str]| Automaton::new(&regexes(patterns)).expect("it is small");
        let of_bytes = automaton(&["(?s:[^ab])", "a", "b"]);
        assert!(of_bytes.program().is_ok());
        let large = automaton(&["(?s:a.{7}b)"]);
        let error = large.program().expect_err("it has more states");
        let PatternSetError::TooManyScannedStates { states } = error else { panic!("{error}") };
        assert!(states == large.states && states > MAX_SCANNED_STATES, "{states}");
    }

    /// Those of more than 32 states are for GPUs; here the CPU runs them.
    #[test]
    fn scans_of_all_sizes_find_what_steps_find() {
        let bytes: Vec<String> = (0..255).map(|byte| format!("\\x{byte:02x}")).collect();
        let bytes: Vec<&str> = bytes.iter().map(|byte| &byte[..]).collect();
        for (patterns, states) in [(&["a"][..], 2), (&["(?s:a.{4}b)", "bb"], 80), (&bytes, 256)] {
            let automaton = Automaton::new(&regexes(patterns)).expect("it is small");
            assert_eq!(automaton.states, states);
            let scan =
                DynScan::builder(automaton.program().expect("it is small")).build().expect("the CPU has no bound");
            let mut random = Random(89);
            let text: Vec<u8> = (0..5000).map(|_| [b'a', b'b', random.below(256) as u8][random.below(3)]).collect();
            let mut state = 0;
            let expected = (1..).zip(&text).filter_map(|(end, &byte)| {
                let set;
                (state, set) = automaton.step(state, byte);
                (set != 0).then_some(end << SET_BITS | u64::from(set))
            });
            let found: Vec<u64> = scan.inclusive(&[Column::new(&text[..])]).expect("it is short");
            assert_eq!(found, expected.collect::<Vec<u64>>());
        }
    }

    /// `abc` has four states, and three classes of its letters and one of the other bytes.
    #[test]
    fn bounds_are_those_of_states_and_of_the_table() {
        let fits = |states, cells| all_matches(&regexes(&["abc"]), Bounds { states, cells }).is_ok();
        assert!(fits(4, 20));
        assert!(!fits(3, 20));
        assert!(!fits(4, 19));
    }
}

//! All matches of a set of patterns in one long text, by where they end.
//!
//! All are determinised together, and a match may begin at any byte: behind each byte the state
//! says which patterns have a match that ends there. A byte maps states to states, so the states of
//! a text are a scan, and the places where a match ends are what it keeps.

use std::fmt;

use monoscan_ir::{
    FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value, verify,
};
use monoscan_runtime::{Column, Device, DynScan, Error as ScanError};
use regex_automata::util::syntax::parse_with;
use regex_syntax::hir::Hir;
use thiserror::Error;

use super::LexerError;
use super::dfa::{State, TokenDfa};
use super::rules::syntax;
use super::subsets::all_matches;

/// The most states that the automaton of a [`PatternSet`] may have: a state is a byte of a scan.
pub const MAX_PATTERN_STATES: usize = 256;

/// Bits of what the scan writes that say which patterns match; those above are the end.
const SET_BITS: u32 = 8;

/// Patterns whose matches are looked for together, on all cores or [on a GPU](PatternSet::on).
///
/// For each place of a text: which patterns match some text that ends there. Regexes are those of [`Rules`](super::Rules): of
/// bytes, without look-around.
///
/// ```
/// use monoscan::lexer::PatternSet;
///
/// let set = PatternSet::new(["a+b", "[0-9]{3}", "b"])?;
/// let ends: Vec<_> = set.ends(b"aab 1234")?.iter().map(|found| (found.end, found.patterns.to_vec())).collect();
/// assert_eq!(ends, [(3, vec![0, 2]), (7, vec![1]), (8, vec![1])]);
/// # Ok::<(), monoscan::lexer::PatternSetError>(())
/// ```
pub struct PatternSet {
    /// How many patterns there are.
    patterns: usize,
    automaton: Automaton,
    scan: DynScan,
}

/// Why there is no [`PatternSet`]. Patterns count from 0.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatternSetError {
    /// There is no pattern.
    #[error("expected at least one pattern")]
    NoPattern,
    /// A pattern does not parse.
    #[error("pattern {pattern}: {message}")]
    Regex {
        /// Which one.
        pattern: usize,
        /// The parser's words.
        message: String,
    },
    /// A pattern matches the empty string, so it would match everywhere.
    #[error("pattern {pattern} matches the empty string, which ends everywhere: expected at least one byte")]
    Empty {
        /// Which one.
        pattern: usize,
    },
    /// A pattern looks at what is outside its match.
    #[error("pattern {pattern} looks outside its match: expected no `^`, `$`, `\\b` and the like")]
    LookAround {
        /// Which one.
        pattern: usize,
    },
    /// The automaton, whose equivalent states are merged, has more than [`MAX_PATTERN_STATES`] states.
    #[error(
        "the patterns need {states} states as an automaton: expected at most {MAX_PATTERN_STATES}; use several sets, or fewer \
         bounded repetitions"
    )]
    TooManyStates {
        /// How many it has.
        states: usize,
    },
    /// The automaton could not be built: [`LexerError::TooManyStates`] if it has more than [`MAX_STATES`](super::MAX_STATES)
    /// states before equivalent ones are merged.
    #[error(transparent)]
    Automaton(#[from] LexerError),
    /// The scan could not be built or run.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

/// Where matches end, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchEnds<'a> {
    automaton: &'a Automaton,
    found: Vec<u64>,
}

/// A place where matches end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchEnd<'a> {
    /// The offset behind the last byte of the matches.
    pub end: u64,
    /// The patterns that match, by their places, in order; never empty.
    pub patterns: &'a [usize],
}

/// States count from 0, where a text begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Automaton {
    class_of: [u8; 256],
    /// For each class the successor of each state.
    maps: Vec<u8>,
    states: usize,
    /// For each state, which of the sets matches; 0 for none.
    set_of: Vec<u8>,
    /// The patterns of each set; the first is empty.
    sets: Vec<Vec<usize>>,
}

impl PatternSet {
    /// Compiles patterns.
    ///
    /// ```
    /// use monoscan::lexer::{PatternSet, PatternSetError};
    ///
    /// let open = PatternSet::new(["a+b", "[0-9"]);
    /// assert!(matches!(open, Err(PatternSetError::Regex { pattern: 1, .. })));
    /// # Ok::<(), monoscan::lexer::PatternSetError>(())
    /// ```
    ///
    /// # Errors
    /// [`PatternSetError`] says which pattern is wrong.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<PatternSet, PatternSetError> {
        let regexes: Vec<Hir> = patterns
            .into_iter()
            .enumerate()
            .map(|(place, regex)| parsed(place, regex.as_ref()))
            .collect::<Result<_, _>>()?;
        let automaton = Automaton::new(&regexes)?;
        let scan = DynScan::builder(automaton.program()).build()?;
        Ok(PatternSet { patterns: regexes.len(), automaton, scan })
    }

    /// The same patterns on another device.
    ///
    /// # Errors
    /// [`PatternSetError::Scan`] if the scan cannot be built there.
    pub fn on(&self, device: impl Into<Device>) -> Result<PatternSet, PatternSetError> {
        let scan = DynScan::builder(self.automaton.program()).device(device.into()).build()?;
        Ok(PatternSet { patterns: self.patterns, automaton: self.automaton.clone(), scan })
    }

    /// Where matches end in a text. 8 bytes a place.
    ///
    /// # Errors
    /// [`ScanError::OutOfMemory`]; on a GPU [`ScanError::Cuda`] if it fails.
    pub fn ends(&self, text: &[u8]) -> Result<MatchEnds<'_>, ScanError> {
        Ok(MatchEnds { automaton: &self.automaton, found: self.scan.inclusive(&[Column::new(text)])? })
    }

    /// The same by a plain loop: what the scan is checked against.
    pub fn ends_sequentially(&self, text: &[u8]) -> MatchEnds<'_> {
        let automaton = &self.automaton;
        let mut state = 0;
        let found = (1..).zip(text).filter_map(|(end, &byte)| {
            let class = usize::from(automaton.class_of[usize::from(byte)]);
            state = usize::from(automaton.maps[class * automaton.states + state]);
            let set = automaton.set_of[state];
            (set != 0).then(|| (end << SET_BITS) | u64::from(set))
        });
        MatchEnds { automaton, found: found.collect() }
    }

    /// How many patterns there are.
    #[allow(clippy::len_without_is_empty, reason = "there is always a pattern")]
    pub fn len(&self) -> usize {
        self.patterns
    }

    /// How many states the automaton has.
    pub fn states(&self) -> usize {
        self.automaton.states
    }

    /// How it is run.
    pub fn explain(&self) -> String {
        format!("{} patterns: {} states\n{}", self.patterns, self.automaton.states, self.scan.explain())
    }
}

impl fmt::Debug for PatternSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (patterns, states) = (self.patterns, self.automaton.states);
        f.debug_struct("PatternSet").field("patterns", &patterns).field("states", &states).finish_non_exhaustive()
    }
}

impl<'a> MatchEnds<'a> {
    /// How many places there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The places from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = MatchEnd<'a>> + '_ {
        self.found.iter().map(|found| MatchEnd {
            end: found >> SET_BITS,
            patterns: &self.automaton.sets[(found & ((1 << SET_BITS) - 1)) as usize],
        })
    }
}

/// A pattern, parsed.
fn parsed(pattern: usize, regex: &str) -> Result<Hir, PatternSetError> {
    let parsed =
        parse_with(regex, &syntax()).map_err(|error| PatternSetError::Regex { pattern, message: error.to_string() })?;
    if !parsed.properties().look_set().is_empty() {
        return Err(PatternSetError::LookAround { pattern });
    }
    if parsed.properties().minimum_len() == Some(0) {
        return Err(PatternSetError::Empty { pattern });
    }
    Ok(parsed)
}

impl Automaton {
    fn new(regexes: &[Hir]) -> Result<Automaton, PatternSetError> {
        if regexes.is_empty() {
            return Err(PatternSetError::NoPattern);
        }
        let (dfa, sets) = all_matches(regexes)?;
        if let Some(set) = dfa.accept(TokenDfa::START) {
            // Rare: the parser's own bound did not see it, as in `[a&&b]*`.
            return Err(PatternSetError::Empty { pattern: sets[usize::from(set)][0] });
        }
        // Any text may go on with a match, so no state is dead; but if nothing ever matches, the start is, and leads to itself.
        let live: Vec<State> = dfa.states().filter(|&state| state != TokenDfa::DEAD).collect();
        if live.len() > MAX_PATTERN_STATES {
            return Err(PatternSetError::TooManyStates { states: live.len() });
        }
        let map = |class: usize| live.iter().map(move |&state| (state, class));
        let maps =
            (0..dfa.classes).flat_map(map).map(|(state, class)| dfa.next(state, class).index().saturating_sub(1) as u8);
        Ok(Automaton {
            class_of: dfa.class_of,
            maps: maps.collect(),
            states: live.len(),
            set_of: live.iter().map(|&state| dfa.accept(state).map_or(0, |set| set as u8)).collect(),
            sets,
        })
    }

    /// A column of bytes in; out, for each place where a match ends, the end and which patterns match.
    fn program(&self) -> monoscan_ir::Verified<Program> {
        let mut tables = vec![Table { ty: Type::U8, bytes: self.class_of.to_vec() }];
        let stage = Stage::automaton(self.states, &self.maps, symbol(), &mut tables);
        let sets = tables.len() as u32;
        tables.push(Table { ty: Type::U8, bytes: self.set_of.clone() });
        let set = |b: &mut FunctionBuilder| {
            let after = b.param(Type::bytes(self.states.min(16)).expect("1 to 16 lanes"));
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
        verify(program)
            .expect("256 states and 256 classes keep the program small, and the rest is typed as it should be")
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

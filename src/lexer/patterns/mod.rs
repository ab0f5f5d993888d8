//! All matches of a set of patterns in one long text, by where they end.
//!
//! All are determinised together, and a match may begin at any byte: the state at a place, and what
//! follows there, say which patterns have a match that ends. A byte maps states to states, so the
//! states of a text are a scan, which keeps the places where a match ends: Ladner and Fischer,
//! *Parallel Prefix Computation* (J. ACM, 1980).
//!
//! ```text
//! monoid   maps of states, composed: the transition monoid of an automaton of s states
//! program  byte ↦ the map of its class; writes the place behind it and the set of patterns
//! filter   the set of the state there is not empty, given the kind of the next byte
//! cost     work s n / 16 in vectors of 16 states, depth 1 scan, 1 pass
//! bytes    1 read of each of the text, 8 written of each place, or 6 on a device
//! ```
//!
//! A text of n bytes has n + 1 places. The start of a text is behind no byte, so an empty match
//! that ends there is found apart.
//!
//! Maps between more states than two vectors hold cost more than a walk. Then the CPU walks pieces
//! of the text by the automaton's table, several side by side on each thread. A piece begins in the
//! state that the bytes before it lead to: Jiang and Agrawal, *Combining SIMD and Many/Multi-core
//! Parallelism for Finite State Machines with Enumerative Speculation* (PPoPP 2017).
//!
//! ```text
//! walks    work n, some twice that where automata do not forget; for each MB of the text one loop,
//!          and one on one thread, which lists the places in order; 3 passes
//! bytes    1 read and 2 written of each of the text, then 4 read; 8 written of each place
//! ```

mod automaton;
#[cfg(feature = "gpu")]
mod on_device;
mod scan;
#[cfg(test)]
mod tests;

use std::fmt;
#[cfg(feature = "gpu")]
use std::sync::OnceLock;

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Column, Device, DynScan, Error as ScanError};
use regex_automata::util::syntax::parse_with;
use regex_syntax::hir::Hir;
use thiserror::Error;

use super::LexerError;
use super::pieces::Walk;
use super::rules::{in_words, meaningless, syntax};
use automaton::{Automaton, SET_BITS, place};
#[cfg(feature = "gpu")]
pub use on_device::DeviceMatchEnds;
use scan::{Places, program};

/// The most states that the automaton of a [`PatternSet`] may have.
pub const MAX_PATTERN_STATES: usize = u16::MAX as usize;

/// The most entries of its table, which has one for each state and class of bytes: 16 MB.
pub const MAX_PATTERN_CELLS: usize = 1 << 22;

/// The most states of one on a GPU: a state is a byte of a scan.
pub const MAX_SCANNED_STATES: usize = 256;

/// So many states the CPU scans too: their maps are two vectors. Texts of a few KB take 1.7 ns a byte so and 2.2 by walks, long ones
/// 1.8 and 1.1; with 37 states it is 2.7 and 2.2, with 173 more than 7 and 1.5 (one thread of a Xeon beside compilers, 2026-11-29).
const STATES_OF_A_SCAN: usize = 32;

/// Bytes of a text that are walked before the places in them are listed.
const PART: usize = 1 << 20;

/// Patterns whose matches are looked for together, on all cores or [on a GPU](PatternSet::on).
///
/// For each place of a text: which patterns match some text that ends there. Regexes are those of [`Rules`](super::Rules): of
/// bytes, without lazy and possessive repetitions.
///
/// Anchors and word boundaries are asked of the whole text, as the crate `regex` defines them: `^` and `\A` hold at its start, `$`
/// and `\z` at its end, `(?m)^` and `(?m)$` at those of lines, `\b` and `\B` between letters, digits and `_` of ASCII and others.
/// A pattern may match the empty string where they let it, as `(?m)^$` does, also at offset 0. Boundaries of Unicode are refused.
///
/// On the CPU a byte takes one to four nanoseconds of a thread, however many patterns there are, while the automaton's table is in
/// a cache. With more than 32 states the table has four bytes for each of them and each class of bytes.
///
/// ```
/// use monoscan::lexer::PatternSet;
///
/// let set = PatternSet::new(["a+b", "[0-9]{3}", "b"])?;
/// let ends: Vec<_> = set.ends(b"aab 1234")?.iter().map(|found| (found.end, found.patterns.to_vec())).collect();
/// assert_eq!(ends, [(3, vec![0, 2]), (7, vec![1]), (8, vec![1])]);
///
/// let set = PatternSet::new(["(?m)^to", r"be\b", "be$"])?;
/// let ends: Vec<_> = set.ends(b"to be\ntobe")?.iter().map(|found| (found.end, found.patterns.to_vec())).collect();
/// assert_eq!(ends, [(2, vec![0]), (5, vec![1]), (8, vec![0]), (10, vec![1, 2])]);
/// # Ok::<(), monoscan::lexer::PatternSetError>(())
/// ```
pub struct PatternSet {
    /// How many patterns there are.
    patterns: usize,
    automaton: Automaton,
    engine: Engine,
    /// For texts in the memory of a GPU, made when first needed.
    #[cfg(feature = "gpu")]
    on_device: OnceLock<DynScan>,
}

/// The way in which a text is searched.
enum Engine {
    Walk(Walk),
    Scan(Box<DynScan>),
}

impl Engine {
    fn new(automaton: &Automaton, device: Device) -> Result<Engine, PatternSetError> {
        Ok(match device.is_cpu() && automaton.states > STATES_OF_A_SCAN {
            true => Engine::Walk(automaton.walk()),
            false => {
                let program = program(automaton, Places::Packed)?;
                Engine::Scan(DynScan::builder(program).device(device).build()?.into())
            }
        })
    }
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
    /// A pattern matches the empty string at every place of every text. One that does so only where an anchor or a word boundary
    /// lets it, as `(?m)^$` does, is no error.
    #[error(
        "pattern {pattern} matches the empty string, which ends everywhere: expected at least one byte, or an anchor"
    )]
    Empty {
        /// Which one.
        pattern: usize,
    },
    /// A pattern has a lazy or possessive repetition, or the flag that makes repetitions lazy.
    #[error(
        "pattern {pattern} has a lazy or possessive repetition, which has no meaning where all matches are found: remove the \
         second sign (or the flag `U`), or put a group around the first repetition"
    )]
    Repetition {
        /// Which one.
        pattern: usize,
    },
    /// A pattern asks for a Unicode word boundary, for which the automaton would have to look at characters, not bytes.
    #[error(
        "pattern {pattern} asks for a Unicode word boundary: expected one of ASCII, as `\\b` and `\\B` are where no `(?u)` is set, \
         or `(?-u:\\b)`"
    )]
    UnicodeBoundary {
        /// Which one.
        pattern: usize,
    },
    /// The automaton has more than [`MAX_PATTERN_STATES`] states before equivalent ones are merged, or its table more than
    /// [`MAX_PATTERN_CELLS`] entries; or it needs more memory to build than is set aside, which bounds the time too.
    #[error(
        "the patterns' automaton is too large: it has more than {MAX_PATTERN_STATES} states, or a table of more than \
         {MAX_PATTERN_CELLS} entries, or needs too much memory to build; use several sets, or fewer bounded repetitions"
    )]
    TooManyStates,
    /// A GPU scans automata of at most [`MAX_SCANNED_STATES`] states, of which equivalent ones are merged.
    #[error(
        "the patterns need {states} states as an automaton: expected at most {MAX_SCANNED_STATES} on a GPU; use several sets, or the CPU"
    )]
    TooManyScannedStates {
        /// How many it has.
        states: usize,
    },
    /// The automaton could not be built.
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

impl PatternSet {
    /// Compiles patterns, for the CPU.
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
    /// [`PatternSetError`] says which pattern is wrong, or that the automaton is too large.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<PatternSet, PatternSetError> {
        let regexes: Vec<Hir> = patterns
            .into_iter()
            .enumerate()
            .map(|(place, regex)| parsed(place, regex.as_ref()))
            .collect::<Result<_, _>>()?;
        let automaton = Automaton::new(&regexes)?;
        PatternSet::of(regexes.len(), automaton, Device::cpu())
    }

    /// The same patterns on another device. A GPU takes up to [`MAX_SCANNED_STATES`] states.
    ///
    /// # Errors
    /// [`PatternSetError::TooManyScannedStates`]; [`PatternSetError::Scan`] if the scan cannot be built there.
    pub fn on(&self, device: impl Into<Device>) -> Result<PatternSet, PatternSetError> {
        PatternSet::of(self.patterns, self.automaton.clone(), device.into())
    }

    fn of(patterns: usize, automaton: Automaton, device: Device) -> Result<PatternSet, PatternSetError> {
        let engine = Engine::new(&automaton, device)?;
        Ok(PatternSet {
            patterns,
            automaton,
            engine,
            #[cfg(feature = "gpu")]
            on_device: OnceLock::new(),
        })
    }

    /// Where matches end in a text of the host. 8 bytes a place. A GPU is given the text in pieces; for texts in its memory there is
    /// `ends_on_device`, with the feature `gpu`.
    ///
    /// # Errors
    /// [`ScanError::OutOfMemory`]; on a GPU [`ScanError::Cuda`] if it fails.
    pub fn ends(&self, text: &[u8]) -> Result<MatchEnds<'_>, ScanError> {
        let found = match &self.engine {
            Engine::Walk(walk) => walked(&self.automaton, walk, text)?,
            Engine::Scan(scan) => {
                let mut found = scan.inclusive(&[Column::new(text)])?;
                let set = self.automaton.set_at_start(text.first().copied());
                if set != 0 {
                    found.insert(0, place(0, set));
                }
                found
            }
        };
        Ok(MatchEnds { automaton: &self.automaton, found })
    }

    /// The same by a plain loop: what the others are checked against.
    pub fn ends_sequentially(&self, text: &[u8]) -> MatchEnds<'_> {
        let mut state = 0;
        let mut found = Vec::new();
        for end in 0..=text.len() {
            let follows = text.get(end).copied();
            let set = self.automaton.set(state, follows);
            if set != 0 {
                found.push(place(end as u64, set));
            }
            state = follows.map_or(state, |byte| self.automaton.next(state, byte));
        }
        MatchEnds { automaton: &self.automaton, found }
    }

    /// The scan that finds places, as a program: a column of bytes in, and a place for each element behind which a match ends. A place
    /// has the offset there from bit 16 on, and below the number of a set, for [`patterns_of`](PatternSet::patterns_of).
    ///
    /// An empty match at the start of a text ends behind no element, and is not among them.
    ///
    /// # Errors
    /// [`PatternSetError::TooManyScannedStates`].
    pub fn program(&self) -> Result<Verified<Program>, PatternSetError> {
        program(&self.automaton, Places::Packed)
    }

    /// [`program`](PatternSet::program) with two columns out, of offsets below 2³² and of sets: for texts on a device.
    ///
    /// # Errors
    /// Those of [`program`](PatternSet::program).
    pub fn column_program(&self) -> Result<Verified<Program>, PatternSetError> {
        program(&self.automaton, Places::Columns)
    }

    /// The patterns of a set by its number, in order; none of 0.
    ///
    /// # Panics
    /// If none of this set's places has such a number.
    pub fn patterns_of(&self, set: u16) -> &[usize] {
        &self.automaton.sets[usize::from(set)]
    }

    /// How many patterns there are.
    #[allow(clippy::len_without_is_empty, reason = "there is always a pattern")]
    pub fn len(&self) -> usize {
        self.patterns
    }

    /// How many states the automaton has, of which equivalent ones are merged.
    pub fn states(&self) -> usize {
        self.automaton.states
    }

    /// How it is run.
    pub fn explain(&self) -> String {
        let runs = match &self.engine {
            Engine::Walk(walk) => format!("walks by a table of {} bytes, on the CPU", walk.bytes()),
            Engine::Scan(scan) => scan.explain(),
        };
        format!("{} patterns: {} states\n{runs}", self.patterns, self.automaton.states)
    }
}

/// The places where matches end, by walks of parts of a text.
fn walked(automaton: &Automaton, walk: &Walk, text: &[u8]) -> Result<Vec<u64>, ScanError> {
    let (mut found, mut sets, mut state) = (Vec::new(), vec![0; text.len().min(PART)], 0);
    for (number, part) in text.chunks(PART).enumerate() {
        let sets = &mut sets[..part.len()];
        state = walk.outputs_from(state, part, sets, |set| set);
        let count = sets.iter().filter(|&&set| set != 0).count();
        found
            .try_reserve(count)
            .map_err(|_| ScanError::OutOfMemory { bytes: (found.len() + count) * size_of::<u64>() })?;
        let ends = (number as u64 * PART as u64..).zip(&*sets);
        found.extend(ends.filter(|(_, set)| **set != 0).map(|(end, &set)| place(end, set)));
    }
    let set = automaton.set(state as usize, None);
    if set != 0 {
        found.push(place(text.len() as u64, set));
    }
    Ok(found)
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
    let parsed = parse_with(regex, &syntax())
        .map_err(|error| PatternSetError::Regex { pattern, message: in_words("patterns", &error) })?;
    if meaningless(regex).is_some() {
        return Err(PatternSetError::Repetition { pattern });
    }
    let looks = parsed.properties().look_set();
    if looks.contains_word_unicode() {
        return Err(PatternSetError::UnicodeBoundary { pattern });
    }
    // Behind an anchor it may still match the empty string somewhere, and not everywhere.
    if looks.is_empty() && parsed.properties().minimum_len() == Some(0) {
        return Err(PatternSetError::Empty { pattern });
    }
    Ok(parsed)
}

//! Pre-tokenisers of language models: a text is cut into pieces by a pattern, before each piece is
//! encoded.
//!
//! A pattern's alternatives are tried in order, as a backtracking search does: the earliest that
//! matches wins, not the longest. regex-automata determinises them so that the last match on a path
//! is the one such a search finds. So the automaton is lexed as any other.
//!
//! `\s+(?!\S)` is whitespace without its last character, unless whitespace or the end of the text
//! follows. Its automaton is that of `\s+\s`, whose states know how many bytes the last character
//! has: the piece ended so many bytes before, if more text follows.

mod pattern;

use std::sync::LazyLock;

use monoscan_runtime::Error as ScanError;
use monoscan_runtime::lexer::{CpuLexer, LexAutomaton};
use regex_automata::MatchKind;
use regex_automata::util::primitives::StateID;

pub use pattern::{MAX_ALTERNATIVES, PatternError};

use super::dfa::{self, Node, RuleIndex, TokenDfa};
use super::{LexerStream, TokenList};

/// The pattern of GPT-2.
pub const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The pattern of GPT-4 and Llama 3.
pub const CL100K: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// The pattern of GPT-4o.
pub const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Cuts texts into pieces, exactly as a backtracking search for its pattern does, on the CPU.
///
/// Linear in the text, a byte at a time or 16; texts of 2 MB and more by rayon's threads.
///
/// ```
/// use monoscan::lexer::Pretokeniser;
///
/// let pieces: Vec<&str> = Pretokeniser::cl100k().split("We'll  see 1234 Straßen.\n")?.collect();
/// assert_eq!(pieces, ["We", "'ll", " ", " see", " ", "123", "4", " Straßen", ".\n"]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Debug)]
pub struct Pretokeniser {
    lexer: CpuLexer,
}

impl Pretokeniser {
    /// That of GPT-2, whose pattern is [`GPT2`]. It is compiled once.
    ///
    /// ```
    /// use monoscan::lexer::Pretokeniser;
    ///
    /// let pieces: Vec<&str> = Pretokeniser::gpt2().split("it's  2 o'clock")?.collect();
    /// assert_eq!(pieces, ["it", "'s", " ", " 2", " o", "'", "clock"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gpt2() -> &'static Pretokeniser {
        static COMPILED: LazyLock<Pretokeniser> = LazyLock::new(|| known(GPT2));
        &COMPILED
    }

    /// That of GPT-4, whose pattern is [`CL100K`]. It is compiled once.
    pub fn cl100k() -> &'static Pretokeniser {
        static COMPILED: LazyLock<Pretokeniser> = LazyLock::new(|| known(CL100K));
        &COMPILED
    }

    /// That of GPT-4o, whose pattern is [`O200K`]. It is compiled once.
    pub fn o200k() -> &'static Pretokeniser {
        static COMPILED: LazyLock<Pretokeniser> = LazyLock::new(|| known(O200K));
        &COMPILED
    }

    /// Compiles a pattern of regexes with `|` between them, which are tried in order. One of them may be `\s+(?!\S)`; else there is
    /// no look-around.
    ///
    /// # Errors
    /// [`PatternError`] says which alternative is wrong.
    pub fn new(pattern: &str) -> Result<Pretokeniser, PatternError> {
        Ok(Pretokeniser { lexer: CpuLexer::new(automaton(pattern)?) })
    }

    /// The pieces of a text. What no alternative matches is left out, as a search does; the patterns here match everything.
    ///
    /// # Errors
    /// Those of [`lex_into`](Pretokeniser::lex_into).
    pub fn split<'a>(&self, text: &'a str) -> Result<impl Iterator<Item = &'a str> + use<'a>, ScanError> {
        let mut list = TokenList::new();
        self.lex_into(text.as_bytes(), &mut list)?;
        let count = list.len();
        let place = move |i: usize| {
            let is_piece = list.kinds()[i] != super::ERROR_KIND;
            is_piece.then(|| &text[list.starts()[i] as usize..list.ends()[i] as usize])
        };
        Ok((0..count).filter_map(place))
    }

    /// The pieces as columns, into an old list, whose memory is used again. A piece's kind is the place of its alternative;
    /// but where a text ends with a single blank, which `\s+(?!\S)` matches, the blank is of the next alternative's kind. Each
    /// maximal run of bytes that no alternative matches, such as those that are not UTF-8, is one error.
    ///
    /// # Errors
    /// [`ScanError::TextTooLong`] from 4 GB on, which [streams](Pretokeniser::stream) take; [`ScanError::OutOfMemory`]; the list is
    /// empty then.
    pub fn lex_into(&self, text: &[u8], pieces: &mut TokenList) -> Result<(), ScanError> {
        self.lexer.lex_into(text, &mut pieces.columns)
    }

    /// A stream of chunks of one text, cut anywhere.
    pub fn stream(&self) -> LexerStream {
        LexerStream(self.lexer.stream())
    }

    /// The lexer of the CPU, for its choices and its code.
    #[doc(hidden)]
    pub fn on_cpu(&self) -> &CpuLexer {
        &self.lexer
    }
}

fn known(pattern: &str) -> Pretokeniser {
    Pretokeniser::new(pattern).expect("the patterns here compile")
}

/// A state of the search, and how many bytes the last character has so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct WithLength {
    state: StateID,
    length: u8,
}

impl Node for WithLength {
    fn state(self) -> StateID {
        self.state
    }
}

/// A kind, and how many bytes before its state a token of it ended: both as what a state accepts.
fn packed(kind: usize, back: u8) -> RuleIndex {
    (kind << 3) as RuleIndex | RuleIndex::from(back)
}

fn automaton(pattern: &str) -> Result<LexAutomaton, PatternError> {
    let alternatives = pattern::alternatives(pattern)?;
    let regexes: Vec<&str> = alternatives.iter().map(|alternative| &alternative.regex[..]).collect();
    let searcher = dfa::determinise(&regexes, pattern::syntax(), MatchKind::LeftmostFirst)?;
    let behind = |from: WithLength, byte: u8, state| {
        let continues = byte & 0xc0 == 0x80;
        WithLength { state, length: if continues { from.length + 1 } else { 1 } }
    };
    let accept = |node: WithLength| {
        let kind = dfa::matching(&searcher, node.state).next()?;
        Some(packed(kind, if alternatives[kind].gives_back { node.length } else { 0 }))
    };
    let start = WithLength { state: dfa::start(&searcher)?, length: 0 };
    let listed = dfa::list(&searcher, start, behind, accept)?;
    if let Some(packed) = listed.accept(TokenDfa::START) {
        // Rare: the parser's own bound did not see it, as in `[a&&b]*`.
        return Err(PatternError::Empty { alternative: usize::from(packed >> 3) + 1 });
    }
    let mut dfa = listed.minimised();
    dfa.enter_start_never();
    let steps = dfa.states().flat_map(|q| (0..dfa.classes).map(move |class| (q, class)));
    let next = steps.map(|(q, class)| dfa.next(q, class).index() as u16).collect();
    let accepted = || dfa.states().map(|q| dfa.accept(q));
    Ok(LexAutomaton {
        class_of: dfa.class_of,
        classes: dfa.classes,
        next,
        accept: accepted().map(|accept| accept.map(|packed| packed >> 3)).collect(),
        back: accepted().map(|accept| accept.map_or(0, |packed| (packed & 7) as u8)).collect(),
        kept: vec![true; alternatives.len()],
        keeps_errors: true,
        words: Vec::new(),
    })
}

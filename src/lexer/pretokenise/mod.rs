//! Pre-tokenisers of language models: a text is cut into pieces by a pattern, before each piece is
//! encoded.
//!
//! A pattern's alternatives are tried in order, as a backtracking search does: the earliest that
//! matches wins, not the longest. regex-automata determinises them so that the last match on a path
//! is the one such a search finds. So the automaton is lexed as any other.
//!
//! A state accepts one thing where more text follows, and another where none does: `$`. And
//! `\s+(?!\S)` is whitespace without its last character, unless whitespace or the end of the text
//! follows. Its automaton is that of `\s+(?:\s|$)`, whose states know how many bytes the last
//! character has: the piece ended so many bytes before, if more text follows.

mod pattern;
mod possessive;

use std::sync::LazyLock;

use monoscan_runtime::Error as ScanError;
use monoscan_runtime::lexer::{CpuLexer, LexAutomaton};
use regex_automata::MatchKind;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

pub use pattern::{MAX_ALTERNATIVES, PatternError};

use super::compiled::inspect::beside;
use super::dfa::{self, Node, RuleIndex, SETS_LIMIT, TokenDfa};
use super::{LexerStream, TokenList};

/// The pattern of GPT-2.
pub const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The pattern of GPT-4 and Llama 3.
pub const CL100K: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// The pattern of GPT-4, as newer versions of tiktoken have it: its pieces differ from those of [`CL100K`] where a text ends with
/// whitespace that has a line end and goes on behind it. That is one piece here.
pub const CL100K_TIKTOKEN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$",
    r"|\s*[\r\n]|\s+(?!\S)|\s"
);

/// The pattern of GPT-4o.
pub const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Cuts texts into pieces, exactly as a backtracking search for its pattern does, on the CPU.
///
/// Linear in the text, a byte at a time or 16; texts of 2 MB and more by rayon's threads. On texts of 60 KB and more, code and pieces
/// side by side are timed, and the faster is taken; each thread keeps up to a megabyte of tables for that.
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

    /// That of GPT-4 as tiktoken has it, whose pattern is [`CL100K_TIKTOKEN`]. It is compiled once.
    ///
    /// ```
    /// use monoscan::lexer::Pretokeniser;
    ///
    /// let pieces: Vec<&str> = Pretokeniser::cl100k_tiktoken().split("a  \n b \n ")?.collect();
    /// assert_eq!(pieces, ["a", "  \n", " b", " \n "]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn cl100k_tiktoken() -> &'static Pretokeniser {
        static COMPILED: LazyLock<Pretokeniser> = LazyLock::new(|| known(CL100K_TIKTOKEN));
        &COMPILED
    }

    /// That of GPT-4o, whose pattern is [`O200K`]. It is compiled once.
    pub fn o200k() -> &'static Pretokeniser {
        static COMPILED: LazyLock<Pretokeniser> = LazyLock::new(|| known(O200K));
        &COMPILED
    }

    /// Compiles a pattern of regexes with `|` between them, which are tried in order. Any of them may be `\s+(?!\S)`, and `$` may
    /// stand behind a character, for the end of the text; else there is no look-around.
    ///
    /// A repetition with a `+` behind it is possessive: it gives nothing back for what follows. It is taken where giving back could
    /// not help in any text: where what follows may be empty, or where one class is repeated and none of its characters begins what
    /// follows. Engines differ in what the repetition of a regex is that may be empty, as in `(?:|a)+`; here it is that of the crate
    /// `regex`.
    ///
    /// ```
    /// use monoscan::lexer::{PatternError, Pretokeniser};
    ///
    /// let words = Pretokeniser::new(r"[a-z]++!?+|\s++$|\s")?;
    /// assert_eq!(words.split("so  it  ")?.collect::<Vec<_>>(), ["so", " ", " ", "it", "  "]);
    /// let never = Pretokeniser::new("x|[a-z]++s");
    /// assert!(matches!(never, Err(PatternError::Possessive { alternative: 2 })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// The pieces as columns, into an old list, whose memory is used again. A piece's kind is the place of its alternative.
    /// Each maximal run of bytes that no alternative matches, such as those that are not UTF-8, is one error.
    ///
    /// # Errors
    /// [`ScanError::TextTooLong`] from 4 GB on, which [streams](Pretokeniser::stream) take; [`ScanError::OutOfMemory`]; the list is
    /// empty then.
    pub fn lex_into(&self, text: &[u8], pieces: &mut TokenList) -> Result<(), ScanError> {
        self.lexer.lex_into(text, &mut pieces.columns)
    }

    /// The size of the automaton, and how it runs: by code, and long texts by pieces side by side where that has shown to be faster.
    ///
    /// ```
    /// use monoscan::lexer::Pretokeniser;
    ///
    /// assert!(Pretokeniser::gpt2().explain().starts_with("1092 states, "));
    /// ```
    pub fn explain(&self) -> String {
        let automaton = self.lexer.automaton();
        let code = match self.lexer.code() {
            Some(code) => format!("direct code, {} bytes, tables of {} bytes", code.code_bytes(), code.table_bytes()),
            None => "a walk of the automaton's table".to_owned(),
        };
        let (states, classes) = (automaton.states(), automaton.classes);
        format!("{states} states, {classes} byte classes\npieces: {code}\n{}", beside(&self.lexer))
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

/// The pieces that a state accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Accepted {
    /// If more text follows: a kind, and how many bytes before the state a piece of it ended.
    inside: Option<(u16, u8)>,
    /// The kind if the text ends.
    at_end: u16,
}

fn automaton(pattern: &str) -> Result<LexAutomaton, PatternError> {
    let alternatives = pattern::alternatives(pattern)?;
    let gives_back: Vec<bool> = alternatives.iter().map(|alternative| alternative.gives_back).collect();
    let regexes: Vec<Hir> = alternatives.into_iter().map(|alternative| alternative.regex).collect();
    let searcher = dfa::determinise(&regexes, MatchKind::LeftmostFirst, SETS_LIMIT)?;
    let behind = |from: WithLength, byte: u8, state| {
        let continues = byte & 0xc0 == 0x80;
        WithLength { state, length: if continues { from.length + 1 } else { 1 } }
    };
    // What states accept, each once: in the automaton, places of these.
    let mut cases: Vec<Accepted> = Vec::new();
    let accept = |node: WithLength| {
        let at_end = dfa::matching(&searcher, node.state).next()? as u16;
        let inside = dfa::matching_inside(&searcher, node.state);
        let inside = inside.map(|kind| (kind as u16, if gives_back[kind] { node.length } else { 0 }));
        let case = Accepted { inside, at_end };
        let place = cases.iter().position(|known| *known == case).unwrap_or_else(|| {
            cases.push(case);
            cases.len() - 1
        });
        Some(place as RuleIndex)
    };
    let start = WithLength { state: dfa::start(&searcher)?, length: 0 };
    let listed = dfa::list(&searcher, start, behind, accept)?;
    if let Some(case) = listed.accept(TokenDfa::START) {
        // Rare: the parser's own bound did not see it, as in `[a&&b]*`.
        return Err(PatternError::Empty { alternative: usize::from(cases[usize::from(case)].at_end) + 1 });
    }
    let mut dfa = listed.minimised().bounded()?;
    dfa.enter_start_never();
    let steps = dfa.states().flat_map(|q| (0..dfa.classes).map(move |class| (q, class)));
    let next = steps.map(|(q, class)| dfa.next(q, class).index() as u16).collect();
    let accepted = || dfa.states().map(|q| dfa.accept(q).map(|case| cases[usize::from(case)]));
    let inside = || accepted().map(|accepted| accepted?.inside);
    Ok(LexAutomaton {
        class_of: dfa.class_of,
        classes: dfa.classes,
        next,
        accept: inside().map(|inside| Some(inside?.0)).collect(),
        back: inside().map(|inside| inside.map_or(0, |(_, back)| back)).collect(),
        at_end: accepted().map(|accepted| Some(accepted?.at_end)).collect(),
        kept: vec![true; regexes.len()],
        keeps_errors: true,
        words: Vec::new(),
    })
}

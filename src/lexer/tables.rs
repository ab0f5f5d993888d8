//! [`LexerTables`]: what rules became for scans.

use std::fmt;

use monoscan_ir::{Program, Type, Verified};

use super::LexerError;
use super::dfa::TokenDfa;
use super::label::{Codes, MAX_LABELLED_RULES};
use super::maps::{Maps, RowOf};
use super::oracle::Oracle;
use super::pieces::Walk;
use super::program::Automaton;
use super::ranks::RankTables;
use super::restart::LexAutomaton;
use super::rules::Rules;
use super::transducer::Transducer;

/// The tables of rules, for scans: everything that these need to label a text, and how large it is.
pub struct LexerTables {
    codes: Codes,
    form: Form,
}

enum Form {
    /// One scan, for rules that look at most one byte ahead.
    OnePass(Box<OnePass>),
    /// The oracle from the end of the text, then munch over its symbols.
    TwoPasses(Box<TwoPasses>),
}

struct OnePass {
    automaton: LexAutomaton,
    ranks: RankTables,
}

struct TwoPasses {
    class_of: [u8; 256],
    oracle: (Transducer, Maps),
    munch: (Transducer, Maps),
}

impl LexerTables {
    /// Compiles rules, in milliseconds for those of a programming language.
    ///
    /// # Errors
    /// [`LexerError::TooManyKinds`], [`LexerError::TooManyStates`], [`LexerError::TooMuchMemory`]; where the rules look further than one byte ahead, or one
    /// byte leads to more than [`MAX_RANKS`](super::MAX_RANKS) states, also [`LexerError::OracleTooLarge`] and
    /// [`LexerError::TooManyScanStates`].
    pub fn new(rules: &Rules) -> Result<LexerTables, LexerError> {
        if rules.len() > MAX_LABELLED_RULES {
            return Err(LexerError::TooManyKinds { kinds: rules.len() });
        }
        let mut dfa = TokenDfa::new(rules)?;
        dfa.enter_start_never();
        LexerTables::of(&dfa, rules.len())
    }

    /// Those of a DFA that never enters its start, for so many kinds.
    pub(super) fn of(dfa: &TokenDfa, kinds: usize) -> Result<LexerTables, LexerError> {
        let codes = Codes::of(kinds);
        let one_pass = LexAutomaton::of(dfa, codes).and_then(|automaton| {
            let ranks = RankTables::new(&automaton)?;
            Some(Form::OnePass(Box::new(OnePass { automaton, ranks })))
        });
        let form = match one_pass {
            Some(form) => form,
            None => Form::TwoPasses(Box::new(TwoPasses::of(dfa, codes)?)),
        };
        Ok(LexerTables { codes, form })
    }

    /// How many states the automaton that labels has.
    pub fn states(&self) -> usize {
        match &self.form {
            Form::OnePass(one) => one.automaton.states().count(),
            Form::TwoPasses(both) => both.munch.0.states,
        }
    }

    /// The tables of the scan, if there is one only.
    pub fn ranks(&self) -> Option<&RankTables> {
        match &self.form {
            Form::OnePass(one) => Some(&one.ranks),
            Form::TwoPasses(_) => None,
        }
    }

    /// The scan that comes first, over the reversed text, if there are two: a column of bytes in, a column of symbols out, of
    /// `u8` or `u16`. The others read these symbols in the text's place.
    pub fn oracle_program(&self) -> Option<Verified<Program>> {
        match &self.form {
            Form::OnePass(_) => None,
            Form::TwoPasses(both) => {
                let of_text = Automaton::of_text("oracle", &both.oracle.1, &both.class_of, both.symbol());
                Some(of_text.outputs())
            }
        }
    }

    /// The scan that labels a text: a column of bytes, or symbols, in, a column of labels out.
    pub fn program(&self) -> Verified<Program> {
        self.automaton().outputs()
    }

    /// The scan that lists a text's tokens: a column of bytes, or symbols, in, a column of `u64` out, one for each token (and
    /// for each byte that no rule matches): its end shifted left by 16 bits, and its code.
    pub fn token_program(&self) -> Verified<Program> {
        self.automaton().endings(self.codes)
    }

    /// The labels of a text by plain loops, one byte after the other: what scans are checked and timed against.
    pub fn label_sequentially(&self, text: &[u8]) -> Vec<u8> {
        match &self.form {
            Form::OnePass(one) => one.automaton.label_text(text, |code| code as u8),
            Form::TwoPasses(both) => both.label_text(text),
        }
    }

    /// The sources of the programs that label, if there are two: the oracle, and the other one.
    pub(super) fn transducers(&self) -> Option<[monoscan_runtime::Transducer; 2]> {
        let Form::TwoPasses(both) = &self.form else { return None };
        Some([both.oracle.0.of_engine(Some(both.class_of)), both.munch.0.of_engine(None)])
    }

    /// The walks that label a text in the memory of the CPU, if there are two: the oracle's, and munch's over its outputs.
    pub(super) fn walks(&self) -> Option<[Walk; 2]> {
        let Form::TwoPasses(both) = &self.form else { return None };
        let ((oracle, _), (munch, _)) = (&both.oracle, &both.munch);
        let classes = both.class_of.iter().map(|&class| usize::from(class));
        Some([Walk::new(oracle, classes, true), Walk::new(munch, 0..munch.symbols, false)])
    }

    pub(super) fn codes(&self) -> Codes {
        self.codes
    }

    fn automaton(&self) -> Automaton {
        match &self.form {
            Form::OnePass(one) => Automaton::of_ranks(&one.ranks),
            Form::TwoPasses(both) => Automaton::of_symbols("munch", &both.munch.1, both.symbol(), self.codes.ty()),
        }
    }
}

impl TwoPasses {
    fn of(dfa: &TokenDfa, codes: Codes) -> Result<TwoPasses, LexerError> {
        let Oracle { oracle, munch } = Oracle::of(dfa, codes)?;
        let with_maps = |transducer| Maps::of(&transducer).map(|maps| (transducer, maps));
        Ok(TwoPasses { class_of: dfa.class_of, oracle: with_maps(oracle)?, munch: with_maps(munch)? })
    }

    /// The type of a symbol.
    fn symbol(&self) -> Type {
        if self.munch.0.symbols <= 256 { Type::U8 } else { Type::U16 }
    }

    fn label_text(&self, text: &[u8]) -> Vec<u8> {
        let classes = text.iter().rev().map(|&byte| usize::from(self.class_of[usize::from(byte)]));
        let mut symbols: Vec<u16> = self.oracle.0.run(classes).collect();
        symbols.reverse();
        self.munch.0.run(symbols.into_iter().map(usize::from)).map(|code| code as u8).collect()
    }
}

impl fmt::Display for LexerTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::OnePass(one) => {
                let (states, ranks) = (self.states(), &one.ranks);
                let (classes, count, rows, width) = (ranks.classes(), ranks.ranks(), ranks.pairs(), ranks.width());
                write!(
                    f,
                    "one scan: {states} states, {classes} byte classes, {count} ranks, {rows} maps of {width} bytes"
                )
            }
            Form::TwoPasses(both) => {
                let parts = [("oracle, from the end of the text", &both.oracle), ("munch", &both.munch)];
                parts.iter().enumerate().try_for_each(|(place, (name, (transducer, maps)))| {
                    let row = match maps.row {
                        RowOf::Symbol => "symbol",
                        RowOf::Pair { .. } => "pair of symbols",
                    };
                    let (states, symbols) = (transducer.states, transducer.symbols);
                    let (rows, width) = (maps.rows(), maps.width);
                    let line = if place == 0 { "" } else { "\n" };
                    write!(
                        f,
                        "{line}{name}: {states} states, {symbols} symbols, {rows} maps of {width} bytes, by the {row}"
                    )
                })
            }
        }
    }
}

impl fmt::Debug for LexerTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LexerTables").field("states", &self.states()).finish_non_exhaustive()
    }
}

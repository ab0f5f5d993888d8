//! Questions to a [`Lexer`]: its rules, what they became, and how it runs.

use std::fmt::Write;

use monoscan_runtime::Device;
use monoscan_runtime::lexer::CpuLexer;

use super::{Lexer, get_or_make};
use crate::lexer::shadow;
use crate::lexer::words::Split;
use crate::lexer::{LexerError, LexerTables, LookAhead, Rules, Shadowed};

impl Lexer {
    /// The rules, their automaton, how tokens are found, and the laws and the schedule of the scan if there is one.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// println!("{}", Lexer::new(Rules::json())?.explain());
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let Split { dfa, words, .. } = &self.analysed.split;
        let (states, classes) = (dfa.states().count(), dfa.classes);
        // Writing to a string does not fail.
        _ = writeln!(
            text,
            "{} rules: {states} states, {classes} byte classes, {} words found by look-up",
            self.rules.len(),
            words.len()
        );
        _ = writeln!(text, "{}", self.analysed.look_ahead);
        if self.device.is_cpu() {
            _ = match self.on_cpu().code() {
                Some(code) => writeln!(
                    text,
                    "tokens: direct code, {} bytes, tables of {} bytes, dispatch {}",
                    code.code_bytes(),
                    code.table_bytes(),
                    code.dispatch()
                ),
                None => writeln!(text, "tokens: a walk of the automaton's table of {} bytes", 2 * states * classes),
            };
            text += beside(self.on_cpu());
        } else {
            text += &match self.explain_listing() {
                Ok(listing) => listing,
                Err(error) => format!("no tokens: {error}\n"),
            };
        }
        let labelling = self.labelling().and_then(|scans| Ok((scans, self.tables()?)));
        match labelling {
            Ok((scans, tables)) => {
                let oracle = scans.oracle().map_or(String::new(), |oracle| oracle.explain() + "\n");
                let walks =
                    if scans.walks() { "of a slice by walks of its pieces; else by these scans:\n" } else { "" };
                text + &format!("labels: {tables}\n{walks}{oracle}{}", scans.last().explain())
            }
            Err(error) => text + &format!("no labels: {error}\n"),
        }
    }

    /// The scans by which tokens are listed on a GPU.
    fn explain_listing(&self) -> Result<String, LexerError> {
        #[cfg(feature = "gpu")]
        if self.lists_labels()? {
            let spans = self.spans()?.explain();
            return Ok(format!("tokens: by the labels below, and this scan, which lists what they spell:\n{spans}\n"));
        }
        Ok(format!("tokens: by scans, which list where they end:\n{}", self.listing()?.explain()))
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Rules that lose ties to others, or never win, also as they match no text. Found by the first call, in about the time that [`Lexer::new`] takes.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::parse("NAME [a-z]+\nIF if")?)?; // meant the other way round
    /// assert_eq!(lexer.shadowed()[0].to_string(), "rule IF never wins: \"if\" is NAME");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shadowed(&self) -> &[Shadowed] {
        let found = || shadow::shadowed(&self.rules, &self.analysed.split);
        self.analysed.shadowed.get_or_init(|| found().expect("the same rules were determinised before"))
    }

    /// How far ahead the rules look, and which do.
    ///
    /// ```
    /// use monoscan::lexer::{Distance, Lexer, Rules};
    ///
    /// // After `1.` only what follows says whether the token was `1`.
    /// let lexer = Lexer::new(Rules::parse("INT [0-9]+\nFLOAT [0-9]+[.][0-9]+")?)?;
    /// assert_eq!(lexer.look_ahead().tokens(), Distance::Bytes(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn look_ahead(&self) -> &LookAhead {
        &self.analysed.look_ahead
    }

    /// The device it runs on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The tables of the rules, for scans.
    ///
    /// # Errors
    /// Those of [`LexerTables::new`].
    pub fn tables(&self) -> Result<&LexerTables, LexerError> {
        get_or_make(&self.analysed.tables, || LexerTables::new(&self.rules))
    }
}

/// How long texts are lexed, as a line of text.
pub(in crate::lexer) fn beside(lexer: &CpuLexer) -> &'static str {
    match lexer.is_faster_beside() {
        None => "long texts: in the same way as short ones\n",
        Some(false) => {
            "long texts: in the same way as short ones so far; or by pieces side by side, where trials show that to be faster\n"
        }
        Some(true) => "long texts: by pieces side by side, which trials have shown to be faster\n",
    }
}

//! Labels of a [`Lexer`]: a byte for each of the text, and what they spell.

use super::{Lexer, get_or_make};
use crate::lexer::scans::Scans;
use crate::lexer::{Counts, Kind, LexerError, Tokens};
use crate::scan::{Columns, ColumnsMut, Place};

impl Lexer {
    /// The label of every byte of a text: a vector for a slice, and a [`DeviceVec`](crate::DeviceVec) for one. Of a slice, rules that
    /// take two scans keep two bytes of memory on the CPU for each of the longest text, as long as the lexer lives; a GPU keeps
    /// nothing. Of device memory, they are waited for, and their symbols stay in memory of the text's stream for its next call, as long as the stream lives: up to
    /// four bytes for each of the text, and of a short text up to three besides. Labels of one scan in device memory are not waited for:
    /// what [`labels_into`](Lexer::labels_into) gives tells of their faults.
    ///
    /// ```
    /// use monoscan::lexer::{ENDS, ERROR, Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::parse("NUMBER [0-9]+\nDOT [.]")?)?;
    /// // The last byte of a token says that it ends.
    /// assert_eq!(lexer.labels(b"12.x")?, [0, ENDS, ENDS | 1, ENDS | ERROR]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`LexerTables::new`](crate::lexer::LexerTables::new); [`ScanError::OutOfMemory`](crate::Error::OutOfMemory); on a GPU [`ScanError::Cuda`](crate::Error::Cuda) if it fails, or, for rules that
    /// take two scans, if the text's stream is being captured.
    pub fn labels<C: Columns<(u8,)>>(&self, text: C) -> Result<<C::Place as Place>::Vec<u8>, LexerError> {
        Ok(self.labelling()?.label(text)?)
    }

    /// [`labels`](Lexer::labels) into a slice as long as the text. What this gives on a GPU is not waited for, and tells of faults of
    /// both scans.
    ///
    /// # Errors
    /// Those of [`labels`](Lexer::labels); [`ScanError::Length`](crate::Error::Length) if it has another length; nothing is written then.
    pub fn labels_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        labels: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, LexerError> {
        Ok(self.labelling()?.label_into(text, labels)?)
    }

    /// The tokens that labels of this lexer spell, of the kinds that its lists have: [`only`](Lexer::only) and
    /// [`with_skips`](Lexer::with_skips) say which. Labels have all kinds.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::parse("WORD [a-z]+\nskip SPACE [ ]+")?)?;
    /// let labels = lexer.labels(b"to be")?;
    /// assert_eq!(lexer.tokens(&labels).map(|token| token.start).collect::<Vec<_>>(), [0, 3]);
    /// assert_eq!(lexer.with_skips().tokens(&labels).count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tokens<'a>(&self, labels: &'a [u8]) -> Tokens<'a> {
        Tokens::new(labels, self.rules.len(), |kind| match kind {
            Kind::Rule(rule) => self.kept.rules[usize::from(rule)],
            Kind::Error => self.kept.errors,
        })
    }

    /// How many tokens of each kind labels of this lexer spell, skips included.
    ///
    /// ```
    /// use monoscan::lexer::{Kind, Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::json())?;
    /// let counts = lexer.count(&lexer.labels(b"[1, 22, ?]")?);
    /// assert_eq!(counts.get(lexer.rules().kind("NUMBER").unwrap()), 2);
    /// assert_eq!(counts.get(Kind::Error), 1);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    pub fn count(&self, labels: &[u8]) -> Counts {
        Counts::new(labels, self.rules.len())
    }

    pub(in crate::lexer) fn labelling(&self) -> Result<&Scans, LexerError> {
        get_or_make(&self.labelling, || {
            let tables = self.tables()?;
            Ok(Scans::labelling(tables, self.device)?)
        })
    }
}

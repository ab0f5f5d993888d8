//! [`Lexer`]: compiled rules, and everything that can be done with them.

pub(super) mod inspect;
mod labels;

use std::sync::{Arc, OnceLock};

use monoscan_runtime::lexer::{CpuLexer, LexAutomaton};
use monoscan_runtime::{Device, Error as ScanError};

use super::listing::Listing;
#[cfg(feature = "gpu")]
use super::on_device::DeviceListing;
use super::scans::Scans;
use super::words::Split;
use super::{
    Kind, KindNumber, LexerBuilder, LexerError, LexerStream, LexerTables, LookAhead, MAX_TEXT, PlaceNumber, Rule,
    Rules, Shadowed, TokenColumnsOf, TokenList,
};

/// A compiled set of rules, on the CPU or [on a GPU](Lexer::on).
///
/// ```
/// use monoscan::lexer::{Lexer, Rules};
///
/// let lexer = Lexer::new(Rules::json())?;
/// let text = br#"{"n": 1} ?"#;
/// let tokens = lexer.lex(text)?;
/// let texts: Vec<_> = tokens.texts(text).map(|(kind, text)| (lexer.rules().name(kind), text)).collect();
/// assert_eq!(texts[1], ("STRING", &b"\"n\""[..]));
/// assert_eq!(texts[5], ("ERROR", &b"?"[..]));
/// # Ok::<(), monoscan::lexer::LexerError>(())
/// ```
#[derive(Debug)]
pub struct Lexer {
    rules: Arc<Rules>,
    analysed: Arc<Analysed>,
    kept: Kept,
    device: Device,
    on_cpu: OnceLock<CpuLexer>,
    by_table: OnceLock<CpuLexer>,
    labelling: OnceLock<Scans>,
    listing: OnceLock<Listing>,
    #[cfg(feature = "gpu")]
    device_listing: DeviceListing,
}

/// The automaton and tables of the rules.
struct Analysed {
    split: Split,
    look_ahead: LookAhead,
    /// For scans, made when first needed.
    tables: OnceLock<LexerTables>,
    /// Found when first asked for.
    shadowed: OnceLock<Vec<Shadowed>>,
}

impl std::fmt::Debug for Analysed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysed").field("states", &self.split.dfa.states().count()).finish_non_exhaustive()
    }
}

/// Which tokens are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) rules: Vec<bool>,
    pub(super) errors: bool,
}

impl Lexer {
    /// Compiles rules, in milliseconds for those of a programming language. Machine code is made by the first call that needs it.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// assert!(Rules::parse("WORD [a-z]*").is_err()); // no token is empty
    /// let lexer = Lexer::new(Rules::parse("WORD [a-z]+")?)?;
    /// assert_eq!(lexer.lex(b"to be")?.len(), 3); // two words, and an error between them
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where a rule matches the empty string, or where the rules are too large; [`LexerError::Shadowed`] where the rules ask for
    /// `strict_ties` and one shadows another.
    pub fn new(rules: Rules) -> Result<Lexer, LexerError> {
        let split = Split::new(&rules)?;
        let look_ahead = LookAhead::of(&split.dfa, &rules);
        let kept = Kept { rules: rules.iter().map(|rule| !rule.is_skip()).collect(), errors: true };
        let analysed = Arc::new(Analysed { split, look_ahead, tables: OnceLock::new(), shadowed: OnceLock::new() });
        let lexer = Lexer::of(rules.into(), analysed, kept, Device::cpu());
        match lexer.rules.strict_ties() {
            true if !lexer.shadowed().is_empty() => Err(LexerError::Shadowed { rules: lexer.shadowed().to_vec() }),
            _ => Ok(lexer),
        }
    }

    /// Rules one by one.
    pub fn builder() -> LexerBuilder {
        LexerBuilder::default()
    }

    fn of(rules: Arc<Rules>, analysed: Arc<Analysed>, kept: Kept, device: Device) -> Lexer {
        let (on_cpu, by_table, labelling, listing) = Default::default();
        Lexer {
            rules,
            analysed,
            kept,
            device,
            on_cpu,
            by_table,
            labelling,
            listing,
            #[cfg(feature = "gpu")]
            device_listing: DeviceListing::default(),
        }
    }

    fn with_kept(&self, kept: Kept) -> Lexer {
        Lexer::of(self.rules.clone(), self.analysed.clone(), kept, self.device)
    }

    /// The same lexer, whose lists have tokens of these kinds only, skipped ones too if they are named. The code is made for them, so
    /// what is left out costs less. It takes the place of what was asked for before: only the last call counts.
    ///
    /// ```
    /// use monoscan::lexer::{Kind, Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::json())?;
    /// let commas = lexer.only(&[lexer.rules().kind("COMMA").unwrap()]);
    /// assert_eq!(commas.lex(b"[1, \",\", 2]")?.starts(), [2, 7]);
    /// assert_eq!(commas.only(&[Kind::Error]).lex(b"[1, ?]")?.starts(), [4]); // not the comma
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Panics
    /// If the lexer has no such kind.
    pub fn only(&self, kinds: &[Kind]) -> Lexer {
        let mut kept = Kept { rules: vec![false; self.rules.len()], errors: false };
        for &kind in kinds {
            let Kind::Rule(rule) = kind else {
                kept.errors = true;
                continue;
            };
            let count = self.rules.len();
            *kept.rules.get_mut(usize::from(rule)).unwrap_or_else(|| panic!("{kind:?} is none of {count} rules")) =
                true;
        }
        self.with_kept(kept)
    }

    /// The same lexer, whose lists have skipped tokens too, beside those that they have.
    ///
    /// ```
    /// use monoscan::lexer::{Kind, Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::parse("WORD [a-z]+\nDOT [.]\nskip SPACE [ ]+")?)?;
    /// assert_eq!(lexer.lex(b"to be.")?.len(), 3);
    /// assert_eq!(lexer.with_skips().lex(b"to be.")?.len(), 4); // every byte is in a token
    /// let words = lexer.only(&[Kind::Rule(0)]);
    /// assert_eq!(words.with_skips().lex(b"to be.")?.len(), 3); // words and blanks
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_skips(&self) -> Lexer {
        let skips = self.rules.iter().map(Rule::is_skip);
        let rules = self.kept.rules.iter().zip(skips).map(|(&kept, is_skip)| kept || is_skip).collect();
        self.with_kept(Kept { rules, errors: self.kept.errors })
    }

    /// The same lexer on another device; see [`Scan::on`](crate::Scan::on). A GPU lexes by a scan, or by two, where rules look
    /// further than one byte ahead; another lists what these say of each byte. The text is in the memory of the device as a whole
    /// then, with up to 14 bytes of symbols, labels and space for tokens for each of its bytes.
    ///
    /// ```
    /// use monoscan::{Device, lexer::{Lexer, Rules}};
    ///
    /// let lexer = Lexer::new(Rules::json())?;
    /// let lexer = match Device::cuda(0) {
    ///     Ok(gpu) => lexer.on(gpu)?,
    ///     Err(_) => lexer, // no device, or a build without it
    /// };
    /// assert_eq!(lexer.lex(b"[1, 2]")?.len(), 5);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// On a GPU those of [`LexerTables::new`], but for the number of kinds; or if a scan cannot be built there.
    pub fn on(&self, device: impl Into<Device>) -> Result<Lexer, LexerError> {
        let device = device.into();
        let lexer = Lexer::of(self.rules.clone(), self.analysed.clone(), self.kept.clone(), device);
        #[cfg(feature = "gpu")]
        if lexer.lists_labels()? {
            return Ok(lexer);
        }
        if !device.is_cpu() {
            lexer.listing()?;
        }
        Ok(lexer)
    }

    /// The tokens of a text. Code is compiled by the first call. A GPU keeps eleven bytes of memory
    /// for each of the longest text, and up to four for the symbols of two scans, as long as the lexer lives.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    /// let lexer = Lexer::new(Rules::json())?;
    /// let tokens = lexer.lex(br#"[1, "a"]"#)?;
    /// assert_eq!(tokens.iter().map(|token| token.end).collect::<Vec<_>>(), [1, 2, 3, 7, 8]);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// [`ScanError::TextTooLong`] from 4 GB on, which [columns of `u64`](Lexer::lex_into_columns) and [streams](Lexer::stream) take; [`ScanError::OutOfMemory`]; on a GPU
    /// [`ScanError::Cuda`] if it fails.
    pub fn lex(&self, text: &[u8]) -> Result<TokenList, LexerError> {
        let mut tokens = TokenList::new();
        self.lex_into(text, &mut tokens)?;
        tokens.columns.shrink_to_fit();
        Ok(tokens)
    }

    /// [`lex`](Lexer::lex) into an old list, whose tokens are dropped and whose memory is used again.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules, TokenList};
    ///
    /// let (lexer, mut tokens) = (Lexer::new(Rules::json())?, TokenList::new());
    /// for (line, count) in [("[1, 2]", 5), ("true", 1)] {
    ///     lexer.lex_into(line.as_bytes(), &mut tokens)?;
    ///     assert_eq!(tokens.len(), count); // of this line alone
    /// }
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`lex`](Lexer::lex); the list is empty then.
    pub fn lex_into(&self, text: &[u8], tokens: &mut TokenList) -> Result<(), LexerError> {
        self.lex_into_columns(text, &mut tokens.columns)
    }

    /// [`lex`](Lexer::lex) into columns of these numbers: kinds of `u8` or `u16`, places of `u32` or `u64`. What they had is dropped, their
    /// memory is used again. Code is compiled for each such pair, by the first call with it.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules, TokenColumnsOf};
    ///
    /// let mut tokens = TokenColumnsOf::<u8, u64>::new();
    /// Lexer::new(Rules::json())?.lex_into_columns(b"[1, ?]", &mut tokens)?;
    /// assert_eq!(tokens.kinds(), [2, 7, 5, u8::MAX, 3]);
    /// assert_eq!(tokens.ends(), [1, 2, 3, 5, 6]);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`lex`](Lexer::lex), the columns are empty then; but with places of `u64`, the CPU takes a text of any length.
    /// [`LexerError::KindsOfBytes`] if kinds are `u8`, and the rules have more than 255; nothing is changed then.
    pub fn lex_into_columns<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), LexerError> {
        let kinds = self.rules.len();
        if size_of::<K>() == 1 && kinds > usize::from(u8::MAX) {
            return Err(LexerError::KindsOfBytes { kinds });
        }
        if self.device.is_cpu() {
            return Ok(self.on_cpu().lex_into(text, tokens)?);
        }
        #[cfg(feature = "gpu")]
        if self.lists_labels()? {
            return self.lex_through_gpu(text, tokens);
        }
        self.lex_by_scan(text, tokens)
    }

    /// The tokens by a plain loop over a table, one byte after the other: what code is checked and timed against. The table is
    /// made by the first call.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::json())?;
    /// assert_eq!(lexer.lex_sequentially(b"[1, ?]")?, lexer.lex(b"[1, ?]")?);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// [`ScanError::TextTooLong`], [`ScanError::OutOfMemory`].
    pub fn lex_sequentially(&self, text: &[u8]) -> Result<TokenList, LexerError> {
        let mut tokens = TokenList::new();
        let by_table = self.by_table.get_or_init(|| CpuLexer::by_table(self.automaton()));
        by_table.lex_in_blocks(text, 1, 1 << 20, &mut tokens.columns)?;
        Ok(tokens)
    }

    /// The same by the scan that lists tokens.
    pub(super) fn lex_by_scan<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), LexerError> {
        tokens.clear();
        expect_places(text.len())?;
        Ok(self.listing()?.lex_into(text, &self.kept, tokens)?)
    }

    fn listing(&self) -> Result<&Listing, LexerError> {
        get_or_make(&self.listing, || Listing::new(&self.analysed.split, self.rules.len(), self.device))
    }

    /// The scans and memory of a GPU that list tokens.
    #[cfg(feature = "gpu")]
    pub(super) fn device_listing(&self) -> &DeviceListing {
        &self.device_listing
    }

    /// Which tokens are reported.
    #[cfg(any(test, feature = "gpu"))]
    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// A stream of chunks of one text, on the CPU.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// let mut stream = Lexer::new(Rules::parse("NUMBER [0-9]+")?)?.stream()?;
    /// assert_eq!(stream.push(b"12")?, []); // 12 may go on
    /// assert_eq!(stream.push(b"3x")?.len(), 1); // 123 ends; whether x is all of the error is not known
    /// assert_eq!(stream.finish()?[0].start, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LexerError::NoStream`] on a GPU.
    pub fn stream(&self) -> Result<LexerStream, LexerError> {
        if self.device.is_cpu() { Ok(LexerStream(self.on_cpu().stream())) } else { Err(LexerError::NoStream) }
    }

    /// The lexer of the CPU, for its choices and its code.
    #[doc(hidden)]
    pub fn on_cpu(&self) -> &CpuLexer {
        self.on_cpu.get_or_init(|| CpuLexer::new(self.automaton()))
    }

    /// The automaton that is compiled.
    pub(super) fn automaton(&self) -> LexAutomaton {
        self.analysed.split.automaton(self.kept.rules.clone(), self.kept.errors)
    }
}

/// Refuses texts that have places which `u32` has not.
pub(super) fn expect_places(bytes: usize) -> Result<(), ScanError> {
    if bytes > MAX_TEXT { Err(ScanError::TextTooLong { bytes, most: MAX_TEXT }) } else { Ok(()) }
}

/// The value of a cell, made when first needed.
pub(super) fn get_or_make<T>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, LexerError>,
) -> Result<&T, LexerError> {
    match cell.get() {
        Some(made) => Ok(made),
        None => make().map(|made| cell.get_or_init(|| made)),
    }
}

//! Tokens by scans: a list of where tokens end comes from the device, and becomes columns here.
//!
//! Words are not in the automaton: what other rules match is looked up among them in the end, as
//! direct code does. So C has 49 states, and 231 with its keywords.

use std::collections::HashMap;

use monoscan_runtime::lexer::{ERROR_KIND, KindNumber, MAX_WORD, PlaceNumber, TokenColumnsOf};
use monoscan_runtime::{Column, Device, DynScan, Error as ScanError};

use super::compiled::Kept;
use super::dfa::RuleIndex;
use super::label::Codes;
use super::program::{CODE_BITS, endings_of_labels};
use super::scans::Scans;
use super::words::Split;
use super::{LexerError, LexerTables};
use crate::scan::{DeviceVec, Plain};

/// The scans that list tokens.
#[derive(Debug)]
pub(super) struct Listing {
    scans: Scans,
    /// Lists what labels end, where the scans label: on a GPU, for rules that take two.
    ends: Option<DynScan>,
    codes: Codes,
    words: HashMap<Vec<u8>, RuleIndex>,
    device: Device,
}

impl Listing {
    pub(super) fn new(split: &Split, kinds: usize, device: Device) -> Result<Listing, LexerError> {
        let tables = LexerTables::of(&split.dfa, kinds)?;
        let by_labels = !device.is_cpu() && tables.oracle_program().is_some();
        let (scans, ends) = match by_labels {
            true => {
                let ends = DynScan::builder(endings_of_labels(tables.codes())).device(device).build()?;
                (Scans::labelling(&tables, device)?, Some(ends))
            }
            false => (Scans::new(&tables, tables.token_program(), device)?, None),
        };
        Ok(Listing { scans, ends, codes: tables.codes(), words: split.words.iter().cloned().collect(), device })
    }

    /// The scans, each a line or more.
    pub(super) fn explain(&self) -> String {
        let scans = self.scans.oracle().into_iter().chain([self.scans.last()]).chain(&self.ends);
        scans.map(|scan| scan.explain() + "\n").collect()
    }

    /// The tokens of a text, behind those that are there.
    pub(super) fn lex_into<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        kept: &Kept,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), ScanError> {
        let mut start = 0;
        let error = self.codes.error();
        let code = |ending: u64| ending as u16;
        for run in self.endings(text)?.chunk_by(|&a, &b| code(a) == error && code(b) == error) {
            let last = run[run.len() - 1];
            let end = (last >> CODE_BITS) as usize;
            let start = std::mem::replace(&mut start, end);
            let kind = code(last);
            if kind == error {
                if kept.errors {
                    tokens.push_found(ERROR_KIND, start, end);
                }
                continue;
            }
            let kind = self.word(&text[start..end]).unwrap_or(kind);
            if kept.rules[usize::from(kind)] {
                tokens.push_found(kind, start, end);
            }
        }
        Ok(())
    }

    /// The rule of a token that is a word.
    fn word(&self, token: &[u8]) -> Option<RuleIndex> {
        if token.len() > MAX_WORD || self.words.is_empty() { None } else { self.words.get(token).copied() }
    }

    fn endings(&self, text: &[u8]) -> Result<Vec<u64>, ScanError> {
        if self.scans.oracle().is_none() {
            return self.scans.last().inclusive(&[Column::new(text)]);
        }
        if self.device.is_cpu() {
            return self.scans.run(text);
        }
        // Symbols and labels need not come back between the scans.
        let text = DeviceVec::upload(&self.device, text)?;
        match (&self.ends, self.codes) {
            (None, _) => self.scans.run::<u64, _>(&text)?.to_vec(),
            (Some(ends), Codes::Byte) => {
                Plain::<u8, u64>::of(ends).inclusive(&self.scans.run::<u8, _>(&text)?)?.to_vec()
            }
            (Some(ends), Codes::Wide) => {
                Plain::<u16, u64>::of(ends).inclusive(&self.scans.run::<u16, _>(&text)?)?.to_vec()
            }
        }
    }
}

//! Tokens by a GPU: labels of a text in its memory, listed there by another scan. They stay there,
//! or come to columns here.

use std::sync::{Mutex, OnceLock, PoisonError};

use monoscan_runtime::lexer::{KindNumber, PlaceNumber, TokenColumnsOf};
use monoscan_runtime::{Device, DynScan, Error as ScanError};

use super::compiled::{expect_places, get_or_make};
use super::spans::spans_of_labels;
use super::{ERROR, Lexer, LexerError};
use crate::scan::{DeviceVec, Plain, Unzipped};

/// Columns of tokens in the memory of a GPU: what [`Lexer::lex_on_device`] gives.
#[derive(Debug)]
pub struct DeviceTokens {
    labels: DeviceVec<u8>,
    kinds: DeviceVec<u8>,
    starts: DeviceVec<u32>,
    ends: DeviceVec<u32>,
}

/// The scan and the memory of a GPU that list tokens of a lexer.
#[derive(Debug, Default)]
pub(super) struct DeviceListing {
    /// Lists what labels spell.
    spans: OnceLock<DynScan>,
    /// Whether texts of the host are listed so: not if labels are refused.
    lists_labels: OnceLock<bool>,
    /// Memory for the next text of the host.
    space: Mutex<Option<Space>>,
}

/// A text in the memory of a GPU, and its tokens.
#[derive(Debug)]
struct Space {
    text: DeviceVec<u8>,
    tokens: DeviceTokens,
}

impl DeviceTokens {
    /// Space for the tokens of a text, in its stream.
    fn space(text: &DeviceVec<u8>) -> Result<DeviceTokens, ScanError> {
        let len = text.len();
        let [labels, kinds] = [DeviceVec::beside(text, len)?, DeviceVec::beside(text, len)?];
        Ok(DeviceTokens { labels, kinds, starts: DeviceVec::beside(text, len)?, ends: DeviceVec::beside(text, len)? })
    }

    /// The same in this memory, if it is there and large enough.
    fn make_space(&mut self, text: &DeviceVec<u8>) -> Result<(), ScanError> {
        if self.labels.device() != text.device() || self.labels.capacity() < text.len() {
            *self = DeviceTokens::space(text)?;
        }
        self.labels.set_len(text.len());
        self.set_len(text.len());
        Ok(())
    }

    fn set_len(&mut self, tokens: usize) {
        self.kinds.set_len(tokens);
        self.starts.set_len(tokens);
        self.ends.set_len(tokens);
    }

    /// The number of each token's rule; [`ERROR`] for bytes that no rule matches.
    pub fn kinds(&self) -> &DeviceVec<u8> {
        &self.kinds
    }

    /// Where each begins.
    pub fn starts(&self) -> &DeviceVec<u32> {
        &self.starts
    }

    /// Where each ends.
    pub fn ends(&self) -> &DeviceVec<u32> {
        &self.ends
    }

    /// How many tokens.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Space {
    /// A copy of a text, and space for its tokens; in the old memory, if it is large enough.
    fn with(old: Option<Space>, device: &Device, text: &[u8]) -> Result<Space, ScanError> {
        match old.filter(|space| space.text.capacity() >= text.len()) {
            Some(mut space) => {
                space.text.write(text)?;
                Ok(space)
            }
            None => {
                let text = DeviceVec::upload_aside(device, text)?;
                Ok(Space { tokens: DeviceTokens::space(&text)?, text })
            }
        }
    }
}

impl Lexer {
    /// The tokens of a text in the memory of the lexer's GPU, left there: those that [`lex`](Lexer::lex) gives. They take ten bytes of
    /// space for each byte of the text.
    ///
    /// ```no_run
    /// use monoscan::{Device, DeviceVec, lexer::{Lexer, Rules}};
    ///
    /// let gpu = Device::cuda(0)?;
    /// let lexer = Lexer::new(Rules::json())?.on(gpu)?;
    /// let tokens = lexer.lex_on_device(&DeviceVec::upload(&gpu, br#"{"a": 1}"#)?)?;
    /// assert_eq!(tokens.ends().to_vec()?, [1, 4, 5, 7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The text is labelled first, whatever its rules, and a second scan lists what labels spell: the slower one of both where tokens
    /// are short.
    ///
    /// # Errors
    /// Those of [`labels`](Lexer::labels); [`ScanError::TextTooLong`] from 4 GB on; [`ScanError::Cuda`] if the text's stream is being
    /// captured.
    pub fn lex_on_device(&self, text: &DeviceVec<u8>) -> Result<DeviceTokens, LexerError> {
        let mut tokens = DeviceTokens::space(text)?;
        self.lex_on_device_into(text, &mut tokens)?;
        Ok(tokens)
    }

    /// [`lex_on_device`](Lexer::lex_on_device) into old columns, whose tokens are dropped; their memory is used again if it is that of
    /// a text at least as long.
    ///
    /// # Errors
    /// Those of [`lex_on_device`](Lexer::lex_on_device); the columns hold anything then.
    pub fn lex_on_device_into(&self, text: &DeviceVec<u8>, tokens: &mut DeviceTokens) -> Result<(), LexerError> {
        expect_places(text.len())?;
        text.memory().expect_no_capture("one that is not, as the number of tokens is waited for")?;
        tokens.make_space(text)?;
        let DeviceTokens { labels, kinds, starts, ends } = &mut *tokens;
        let labelled = self.labels_into(text, &mut *labels)?;
        let scan = Plain::<u8, Unzipped<(u8, u32, u32)>>::of(self.spans()?);
        let listed = scan.inclusive_into(&*labels, (&mut *kinds, &mut *starts, &mut *ends))?;
        labelled.wait()?;
        let count = listed.wait()?;
        tokens.set_len(count);
        Ok(())
    }

    /// The scan that lists what labels spell.
    pub(super) fn spans(&self) -> Result<&DynScan, LexerError> {
        let program = || spans_of_labels(self.kept());
        get_or_make(&self.device_listing().spans, || Ok(DynScan::builder(program()).device(self.device()).build()?))
    }

    /// Whether texts of the host are lexed by [`lex_through_gpu`](Lexer::lex_through_gpu): on a GPU, by rules that have labels.
    pub(super) fn lists_labels(&self) -> Result<bool, LexerError> {
        if self.device().is_cpu() {
            return Ok(false);
        }
        let has_both = || match self.labelling().and_then(|_| self.spans()) {
            Ok(_) => Ok(true),
            // The device may do better the next time.
            Err(LexerError::Scan(error @ ScanError::Cuda(_))) => Err(error.into()),
            Err(_) => Ok(false),
        };
        get_or_make(&self.device_listing().lists_labels, has_both).copied()
    }

    /// The tokens of a text of the host by the lexer's GPU. Calls at the same time have memory of their own there, and one of them
    /// keeps it for the next text.
    pub(super) fn lex_through_gpu<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), LexerError> {
        tokens.clear();
        expect_places(text.len())?;
        let kept = || self.device_listing().space.lock().unwrap_or_else(PoisonError::into_inner);
        let old = kept().take();
        let mut space = Space::with(old, &self.device(), text)?;
        self.lex_on_device_into(&space.text, &mut space.tokens)?;
        let DeviceTokens { kinds, starts, ends, .. } = &space.tokens;
        tokens.download(kinds.len(), [kinds.memory(), starts.memory(), ends.memory()], ERROR)?;
        // Of texts that were lexed at the same time, the memory of the longest is kept. The other is freed behind the lock.
        let mut kept = kept();
        let is_longest = kept.as_ref().is_none_or(|kept| kept.text.capacity() < space.text.capacity());
        let other = if is_longest { kept.replace(space) } else { Some(space) };
        drop(kept);
        drop(other);
        Ok(())
    }
}

//! Tokens in the memory of a GPU: a scan of the labels lists those that are kept.

use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value, Verified, verify,
};
#[cfg(feature = "gpu")]
use monoscan_runtime::Error as ScanError;

use super::compiled::Kept;
use super::{ENDS, ERROR};
#[cfg(feature = "gpu")]
use super::{Lexer, LexerError, MAX_TEXT};
#[cfg(feature = "gpu")]
use crate::scan::{DeviceVec, Plain, Unzipped};

/// Columns of tokens in the memory of a GPU: what [`Lexer::lex_on_device`] gives.
#[cfg(feature = "gpu")]
#[derive(Debug)]
pub struct DeviceTokens {
    labels: DeviceVec<u8>,
    kinds: DeviceVec<u8>,
    starts: DeviceVec<u32>,
    ends: DeviceVec<u32>,
}

#[cfg(feature = "gpu")]
impl DeviceTokens {
    /// Space for the tokens of a text, in its stream.
    fn space(text: &DeviceVec<u8>) -> Result<DeviceTokens, ScanError> {
        let len = text.len();
        let [labels, kinds] = [DeviceVec::beside(text, len)?, DeviceVec::beside(text, len)?];
        Ok(DeviceTokens { labels, kinds, starts: DeviceVec::beside(text, len)?, ends: DeviceVec::beside(text, len)? })
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

#[cfg(feature = "gpu")]
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
    /// a text of the same length.
    ///
    /// # Errors
    /// Those of [`lex_on_device`](Lexer::lex_on_device); the columns hold anything then.
    pub fn lex_on_device_into(&self, text: &DeviceVec<u8>, tokens: &mut DeviceTokens) -> Result<(), LexerError> {
        if text.len() > MAX_TEXT {
            return Err(ScanError::TextTooLong { bytes: text.len(), most: MAX_TEXT }.into());
        }
        text.memory().expect_no_capture("one that is not, as the number of tokens is waited for")?;
        if tokens.labels.len() != text.len() {
            *tokens = DeviceTokens::space(text)?;
        }
        let DeviceTokens { labels, kinds, starts, ends } = tokens;
        let labelled = self.labels_into(text, &mut *labels)?;
        let scan = Plain::<u8, Unzipped<(u8, u32, u32)>>::of(self.spans()?);
        kinds.set_len(text.len());
        starts.set_len(text.len());
        ends.set_len(text.len());
        let listed = scan.inclusive_into(&*labels, (&mut *kinds, &mut *starts, &mut *ends))?;
        labelled.wait()?;
        let count = listed.wait()?;
        kinds.set_len(count);
        starts.set_len(count);
        ends.set_len(count);
        Ok(())
    }
}

/// Labels → tokens: for each that is kept, in order, its kind, where it begins and where it ends.
pub(super) fn spans_of_labels(kept: &Kept) -> Verified<Program> {
    let reads = vec![Source::Record(0), Source::Next(0), Source::Last];
    let types = [Type::U8, Type::U8, Type::Bool];
    // A token ends where its label says so, but for bytes that begin none, if another such follows.
    let ends = |b: &mut FunctionBuilder, label: Value, next: Value, last: Value| {
        let (error, flag) = (b.lit(ENDS | ERROR), b.lit(ENDS));
        let says_so = b.binary(Opcode::Ge, label, flag);
        let both = b.binary(Opcode::And, label, next);
        let is_other = b.binary(Opcode::Ne, both, error);
        let is_last = b.binary(Opcode::Or, is_other, last);
        b.binary(Opcode::And, says_so, is_last)
    };
    let end_of = |b: &mut FunctionBuilder, index: Value| {
        let one = b.lit(1u64);
        b.binary(Opcode::Add, index, one)
    };

    let mut b = FunctionBuilder::new();
    let [label, next, last] = types.map(|ty| b.param(ty));
    let index = b.param(Type::U64);
    let is_end = ends(&mut b, label, next, last);
    let (end, zero) = (end_of(&mut b, index), b.lit(0u64));
    let end = b.select(is_end, end, zero);
    let lift = Mapping { reads: [&reads[..], &[Source::Index]].concat(), function: b.finish(&[end]) };

    let mut b = FunctionBuilder::new();
    let [first, second] = [b.param(Type::U64), b.param(Type::U64)];
    let later = b.binary(Opcode::Max, first, second);
    let combine = b.finish(&[later]);

    let mut b = FunctionBuilder::new();
    let [label, next, last] = types.map(|ty| b.param(ty));
    let is_end = ends(&mut b, label, next, last);
    let is_kept = dropped(kept).into_iter().fold(is_end, |is_kept, run| {
        let is_other = is_outside(&mut b, label, run);
        b.binary(Opcode::And, is_kept, is_other)
    });
    let filter = Mapping { reads, function: b.finish(&[is_kept]) };

    let mut b = FunctionBuilder::new();
    let [label, start, index] = [Type::U8, Type::U64, Type::U64].map(|ty| b.param(ty));
    let code = b.lit(!ENDS);
    let (kind, end) = (b.binary(Opcode::And, label, code), end_of(&mut b, index));
    let [start, end] = [start, end].map(|place| b.cast(Type::U32, place));
    let reads = vec![Source::Record(0), Source::Before { stage: 0, component: 0 }, Source::Index];
    let project = Mapping { reads, function: b.finish(&[kind, start, end]) };

    let program = Program {
        parameters: Vec::new(),
        name: "tokens".to_owned(),
        tables: Vec::new(),
        inputs: vec![Layout::of(Type::U8)],
        stages: vec![Stage {
            state: vec![Type::U64],
            identity: vec![Constant::from(0u64)],
            lift,
            combine,
            ..Stage::default()
        }],
        output: Output {
            filter: Some(filter),
            project,
            columns: [Type::U8, Type::U32, Type::U32].map(Layout::of).into(),
        },
        sequential: None,
    };
    verify(program).expect("it is typed as it should be")
}

/// The labels of ends of tokens that are dropped, as runs, each with its first and last label. Labels between that do not occur are
/// of either.
fn dropped(kept: &Kept) -> Vec<(u8, u8)> {
    let rules = (0..).zip(&kept.rules).map(|(code, &is_kept)| (code, is_kept));
    let mut runs: Vec<(u8, u8)> = Vec::new();
    let mut goes_on = false;
    for (code, is_kept) in rules.chain([(ERROR, kept.errors)]) {
        match runs.last_mut().filter(|_| goes_on) {
            _ if is_kept => {}
            Some((_, last)) => *last = ENDS | code,
            None => runs.push((ENDS | code, ENDS | code)),
        }
        goes_on = !is_kept;
    }
    runs
}

/// Whether a label is in none of these.
fn is_outside(b: &mut FunctionBuilder, label: Value, (first, last): (u8, u8)) -> Value {
    let from = b.lit(first);
    if first == last {
        return b.binary(Opcode::Ne, label, from);
    }
    let (place, most) = (b.wrapping(|b| b.binary(Opcode::Sub, label, from)), b.lit(last - first));
    b.binary(Opcode::Gt, place, most)
}

#[cfg(test)]
mod tests {
    use monoscan_runtime::DynScan;
    use scan_kit::Random;

    use super::super::tests::{engines, sets};
    use super::super::{ERROR_KIND, Kind, MAX_LABELLED_RULES};
    use super::*;
    use crate::scan::{Plain, Unzipped};

    #[test]
    fn labels_have_the_tokens_that_direct_code_finds() {
        for set in sets::SETS {
            let (lexer, _) = engines::compile(&set);
            if engines::NO_SCAN.contains(&set.name) || lexer.rules().len() > MAX_LABELLED_RULES {
                continue;
            }
            let some = lexer.only(&[Kind::Error, Kind::Rule(0), Kind::Rule(2)]);
            let mut random = Random(31);
            for lexer in [&lexer.with_skips(), &lexer, &some] {
                let scan = DynScan::builder(spans_of_labels(lexer.kept())).build().expect("it is a scan");
                for most in [0, 1, 30, 300, 3000] {
                    let text = engines::text(&mut random, &set, most);
                    let labels = lexer.tables().expect("scans are small").label_sequentially(&text);
                    let columns = Plain::<u8, Unzipped<(u8, u32, u32)>>::of(&scan).inclusive(&labels);
                    let (kinds, starts, ends) = columns.expect("it is short");
                    let kind = |kind: u8| if kind == ERROR { ERROR_KIND } else { kind.into() };
                    let expected = lexer.lex(&text).expect("it is short");
                    let kinds: Vec<u16> = kinds.into_iter().map(kind).collect();
                    let found = (&kinds[..], &starts[..], &ends[..]);
                    let name = format!("{}: {}", set.name, text.escape_ascii());
                    assert_eq!(found, (expected.kinds(), expected.starts(), expected.ends()), "{name}");
                }
            }
        }
    }
}

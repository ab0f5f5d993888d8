//! Labels → tokens by a scan, which lists those that are kept: how GPUs list them.

use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value, Verified, verify,
};

use super::compiled::Kept;
use super::{ENDS, ERROR};

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

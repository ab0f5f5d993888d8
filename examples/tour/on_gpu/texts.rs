//! Texts: lines and columns, and matches of patterns.

use monoscan::algo::on_gpu;

use super::super::loops;
use super::{There, two};
use crate::common::Failure;
use crate::{SCAN, drawn};

pub(super) fn texts(there: &There) -> Result<(), Failure> {
    let text: Vec<u8> = drawn(there.records, 59, |bits| b"name, 0123456789\n"[bits as usize % 17]);
    let dtext = there.upload(&text)?;
    there.line(
        ("on_gpu::lines_and_columns", SCAN),
        || on_gpu::lines_and_columns(&dtext),
        two,
        ("a loop", || loops::lines_and_columns(&text)),
    )?;
    #[cfg(feature = "lexer")]
    patterns(there, &text, &dtext)?;
    Ok(())
}

#[cfg(feature = "lexer")]
fn patterns(there: &There, text: &[u8], dtext: &monoscan::DeviceVec<u8>) -> Result<(), Failure> {
    use monoscan::algo::AlgoError;
    use monoscan::lexer::{PatternSet, PatternSetError};

    let set = PatternSet::new(loops::PATTERNS)?.on(there.gpu)?;
    let of_scan = |error| match error {
        PatternSetError::Scan(error) => AlgoError::Scan(error),
        other => unreachable!("the set is on the device: {other}"),
    };
    there.line(
        ("lexer::PatternSet::ends_on_device", SCAN),
        || set.ends_on_device(dtext).map_err(of_scan),
        |found| {
            let (ends, sets) = (found.ends().to_vec()?, found.sets().to_vec()?);
            let place = |(end, number): (u32, u16)| (end.into(), set.patterns_of(number).to_vec());
            Ok(ends.into_iter().zip(sets).map(place).collect())
        },
        ("three looks back", || loops::matches(text)),
    )
}

//! Records copied from one column to another, each of which may have any spacing: how a scan reads
//! and writes columns in device memory whose records are not one after the other.
//!
//! A thread copies one record, in the widest pieces that all addresses allow.

use super::{argument, thread_of_launch};
use crate::nvptx::emit::{Builder, Ty, Value};
use bytemuck::{Pod, Zeroable};

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SpacingArguments {
    /// How many records. There is a thread for each at least.
    pub records: u64,
    /// Bytes of a record.
    pub bytes: u64,
    /// Where the first record is.
    pub from: u64,
    /// How many bytes further each next one is: 0 or less too.
    pub from_spacing: i64,
    /// Where the first record is to be.
    pub to: u64,
    /// The same of the next ones, which are apart from each other.
    pub to_spacing: i64,
}

/// Pieces that a record is copied in, the widest first.
pub(super) const PIECES: [(Ty, usize); 5] =
    [(Ty::Words(4), 16), (Ty::I64, 8), (Ty::I32, 4), (Ty::Int(16), 2), (Ty::I8, 1)];

pub(super) fn write(k: &Builder) {
    let record = thread_of_launch(k);
    k.when(record.below(argument!(k, SpacingArguments.records)), || {
        let bytes = argument!(k, SpacingArguments.bytes);
        let from = (argument!(k, SpacingArguments.from), argument!(k, SpacingArguments.from_spacing));
        let to = (argument!(k, SpacingArguments.to), argument!(k, SpacingArguments.to_spacing));
        let multiples = from.0 | from.1 | to.0 | to.1 | bytes;
        let [from, to] = [from, to].map(|(first, spacing)| first.as_global().byte(record * spacing));
        copy(k, multiples, (from, to, bytes), &PIECES);
    });
}

/// Copies a record in the first of these pieces that all of `multiples` are a multiple of.
pub(super) fn copy<'k>(
    k: &'k Builder,
    multiples: Value<'k>,
    (from, to, bytes): (Value<'k>, Value<'k>, Value<'k>),
    pieces: &[(Ty, usize)],
) {
    let [(ty, size), narrower @ ..] = pieces else { return };
    let in_pieces = || {
        k.range(k.i64(0), bytes, k.i64(*size), |byte| to.byte(byte).store(from.byte(byte).load(*ty, *size), *size));
    };
    match narrower {
        [] => in_pieces(),
        _ => k.either((multiples & (size - 1)).is(k.i64(0)), in_pieces, || {
            copy(k, multiples, (from, to, bytes), narrower);
        }),
    }
}

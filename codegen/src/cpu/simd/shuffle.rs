//! Moving lanes: the few shuffles that groups are loaded, scanned and stored with.
//!
//! A [`Shape`] says how wide lanes are; a vector is 16 bytes. All that moves here is bits, so
//! vectors of floats and of integers are treated alike. Written so that x86-64 needs one
//! instruction for each shuffle of lanes of 4 and 8 bytes.

use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

/// How a vector is divided: into `16 / bytes` lanes of `bytes` each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    /// Bytes of a lane: 1, 2, 4 or 8.
    pub(crate) bytes: usize,
}

impl Shape {
    /// How many lanes.
    pub(crate) fn lanes(self) -> usize {
        16 / self.bytes
    }

    /// Bits of a lane.
    pub(crate) fn bits(self) -> u32 {
        8 * self.bytes as u32
    }

    /// The type of vectors of integers.
    pub(crate) fn int(self) -> ir::Type {
        match self.bytes {
            1 => types::I8X16,
            2 => types::I16X8,
            4 => types::I32X4,
            _ => types::I64X2,
        }
    }
}

/// The same 16 bytes as a vector of another type.
pub(crate) fn retype(b: &mut FunctionBuilder<'_>, to: ir::Type, v: ir::Value) -> ir::Value {
    if b.func.dfg.value_type(v) == to {
        return v;
    }
    b.ins().bitcast(to, MemFlagsData::new().with_endianness(Endianness::Little), v)
}

/// Sixteen constant bytes.
pub(crate) fn bytes(b: &mut FunctionBuilder<'_>, ty: ir::Type, bytes: [u8; 16]) -> ir::Value {
    let handle = b.func.dfg.constants.insert(bytes.to_vec().into());
    b.ins().vconst(ty, handle)
}

/// Lane i of the result is lane `pick(i)` of x and y put one after the other. Of the type of x.
fn pick(
    b: &mut FunctionBuilder<'_>,
    shape: Shape,
    (x, y): (ir::Value, ir::Value),
    pick: impl Fn(usize) -> usize,
) -> ir::Value {
    let ty = b.func.dfg.value_type(x);
    let (x, y) = (retype(b, types::I8X16, x), retype(b, types::I8X16, y));
    let mask: Vec<u8> =
        (0..16).map(|byte| (pick(byte / shape.bytes) * shape.bytes + byte % shape.bytes) as u8).collect();
    let mask = b.func.dfg.immediates.push(mask.into());
    let result = b.ins().shuffle(x, y, mask);
    retype(b, ty, result)
}

/// The lanes with even and with odd numbers of x and y put one after the other.
fn unzip(b: &mut FunctionBuilder<'_>, shape: Shape, x: ir::Value, y: ir::Value) -> (ir::Value, ir::Value) {
    let lanes = shape.lanes();
    if shape.bytes >= 4 {
        return (pick(b, shape, (x, y), |i| 2 * i), pick(b, shape, (x, y), |i| 2 * i + 1));
    }
    // Within each vector first, which is one shuffle of bytes, and then by halves.
    let sorted = |i: usize| if i < lanes / 2 { 2 * i } else { 2 * (i - lanes / 2) + 1 };
    let (x, y) = (pick(b, shape, (x, x), sorted), pick(b, shape, (y, y), sorted));
    let halves = Shape { bytes: 8 };
    (pick(b, halves, (x, y), |i| 2 * i), pick(b, halves, (x, y), |i| 2 * i + 1))
}

/// The lanes of x and y in turn.
fn zip(b: &mut FunctionBuilder<'_>, shape: Shape, x: ir::Value, y: ir::Value) -> (ir::Value, ir::Value) {
    let lanes = shape.lanes();
    let half = |start: usize| move |i: usize| start + i / 2 + i % 2 * lanes;
    (pick(b, shape, (x, y), half(0)), pick(b, shape, (x, y), half(lanes / 2)))
}

/// How many rounds of shuffles it takes to sort so many vectors, a power of two: each moves one binary digit of a value's place from
/// the number of its vector to that of its lane, and one back, until one of the two has no other.
pub(crate) fn rounds(shape: Shape, vectors: usize) -> u32 {
    vectors.min(shape.lanes()).ilog2()
}

/// n vectors that follow each other, n a power of two, as n vectors of which the q-th has in lane l what was lane
/// n·l + q.
pub(crate) fn unzip_all(b: &mut FunctionBuilder<'_>, shape: Shape, vectors: &[ir::Value]) -> Vec<ir::Value> {
    let round = if vectors.len() <= shape.lanes() { unzip_pairs } else { zip_halves };
    (0..rounds(shape, vectors.len())).fold(vectors.to_vec(), |vectors, _| round(b, shape, &vectors))
}

/// The inverse of [`unzip_all`].
pub(crate) fn zip_all(b: &mut FunctionBuilder<'_>, shape: Shape, vectors: &[ir::Value]) -> Vec<ir::Value> {
    let round = if vectors.len() <= shape.lanes() { zip_halves } else { unzip_pairs };
    (0..rounds(shape, vectors.len())).fold(vectors.to_vec(), |vectors, _| round(b, shape, &vectors))
}

/// The even lanes of all vectors, and then the odd ones: the last digit of each value's place becomes the first.
fn unzip_pairs(b: &mut FunctionBuilder<'_>, shape: Shape, vectors: &[ir::Value]) -> Vec<ir::Value> {
    let (even, odd): (Vec<_>, Vec<_>) = vectors.chunks(2).map(|pair| unzip(b, shape, pair[0], pair[1])).unzip();
    [even, odd].concat()
}

/// The inverse of [`unzip_pairs`]: the lanes of both halves in turn.
fn zip_halves(b: &mut FunctionBuilder<'_>, shape: Shape, vectors: &[ir::Value]) -> Vec<ir::Value> {
    let (first, second) = vectors.split_at(vectors.len() / 2);
    first.iter().zip(second).flat_map(|(&x, &y)| <[ir::Value; 2]>::from(zip(b, shape, x, y))).collect()
}

/// Every lane moved up by `by`; the lanes that become free are the highest of `below`, in order.
pub(crate) fn shift(b: &mut FunctionBuilder<'_>, shape: Shape, v: ir::Value, by: usize, below: ir::Value) -> ir::Value {
    let lanes = shape.lanes();
    pick(b, shape, (below, v), |i| i + lanes - by)
}

/// The lowest `count` lanes of x, the others of y.
pub(crate) fn blend(b: &mut FunctionBuilder<'_>, shape: Shape, x: ir::Value, y: ir::Value, count: usize) -> ir::Value {
    let lanes = shape.lanes();
    pick(b, shape, (x, y), |i| if i < count { i } else { lanes + i })
}

/// The highest lane in every lane.
pub(crate) fn broadcast_last(b: &mut FunctionBuilder<'_>, shape: Shape, v: ir::Value) -> ir::Value {
    let lanes = shape.lanes();
    pick(b, shape, (v, v), |_| lanes - 1)
}

/// Every lane filled with copies of the one byte that it is `of`.
pub(crate) fn filled(
    b: &mut FunctionBuilder<'_>,
    shape: Shape,
    bytes: ir::Value,
    of: impl Fn(usize) -> usize,
) -> ir::Value {
    let bytes = retype(b, types::I8X16, bytes);
    let filled = pick(b, Shape { bytes: 1 }, (bytes, bytes), |byte| of(byte / shape.bytes));
    retype(b, shape.int(), filled)
}

/// The lower half of every lane, packed into the lower half of the vector.
pub(crate) fn narrow(b: &mut FunctionBuilder<'_>, shape: Shape, v: ir::Value) -> ir::Value {
    let half = Shape { bytes: shape.bytes / 2 };
    pick(b, half, (v, v), |i| 2 * i % half.lanes())
}

//! Groups in memory: L·B consecutive records as vectors, of which the j-th has record B·l + j in
//! lane l.
//!
//! So a lane holds B consecutive records, and walking the vectors in order walks all lanes' records
//! at once. Lanes that hold pieces of rows lie apart. Columns whose records are one, two or four
//! values of the same size are loaded by whole vectors and sorted by shuffles. Where values are
//! narrower than lanes, a lane is loaded with several at once, which are then shifted apart. Other
//! records are gathered value by value. Stores do the same backwards, and nothing outside of the
//! records' components is read or written.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Field, Layout, Type};

use super::super::lower::clif_type;
use super::super::{memory, streaming};
use super::lanes::{extend, vector_type};
use super::shuffle::{self, Shape};

/// How many records a group has, and in what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) shape: Shape,
    /// B, the records of a lane; a power of two.
    pub(crate) depth: usize,
    /// Records from the first of a lane to the first of the next: B, or more where records of a lane fill whole vectors.
    pub(crate) apart: usize,
}

/// Bytes of half a vector, the least that is loaded or stored at once.
const HALF: usize = 8;

/// Records that are `count` values of `bytes` bytes, without anything between.
#[derive(Clone, Copy)]
struct Tight {
    count: usize,
    bytes: usize,
}

impl Tight {
    fn of(layout: &Layout, shape: Shape) -> Option<Tight> {
        let bytes = layout.fields.first()?.ty.size();
        let count = layout.fields.len();
        let place =
            |(place, field): (usize, &Field)| field.ty.size() == bytes && field.offset as usize == place * bytes;
        let tight = layout.fields.iter().enumerate().all(place) && layout.size as usize == count * bytes;
        (tight && matches!(count, 1 | 2 | 4) && bytes <= shape.bytes).then_some(Tight { count, bytes })
    }
}

impl Group {
    /// So many consecutive records a lane, without any between lanes.
    pub(crate) fn new(shape: Shape, depth: usize) -> Group {
        Group { shape, depth, apart: depth }
    }

    /// Whether the records of a lane fill whole vectors in this column, so that lanes may lie apart.
    pub(crate) fn fills_vectors(self, layout: &Layout) -> bool {
        Tight::of(layout, self.shape).is_some_and(|tight| tight.bytes == self.shape.bytes)
            && (self.depth * layout.size as usize).is_multiple_of(16)
    }

    /// Whether a group of a column is gathered, or at least half a vector: less is never loaded or stored at once.
    pub(crate) fn is_half_a_vector(self, layout: &Layout) -> bool {
        Tight::of(layout, self.shape).is_none_or(|_| self.records() * layout.size as usize >= HALF)
    }

    /// How many bytes behind the group's first record a vector of a column is.
    fn offset_of(self, vector: usize, layout: &Layout) -> i32 {
        let bytes = self.depth * layout.size as usize;
        let start = 16 * vector;
        (if self.apart == self.depth {
            start
        } else {
            start / bytes * self.apart * layout.size as usize + start % bytes
        }) as i32
    }

    /// Records of a group.
    pub(crate) fn records(self) -> usize {
        self.shape.lanes() * self.depth
    }

    /// How many of these values a lane holds at once, and in how many vectors a group of them is loaded; none if a group
    /// is less than a vector.
    fn packing(self, tight: Tight) -> (usize, Option<usize>) {
        let per_lane = self.shape.bytes / tight.bytes;
        let values = self.depth * tight.count;
        (per_lane.min(values), (values >= per_lane).then(|| values / per_lane))
    }

    /// How many values of a column's records a lane is loaded with at once, and in how many vectors a group; none if they
    /// are gathered one by one.
    pub(crate) fn vectors(self, layout: &Layout) -> Option<(usize, usize)> {
        let (per_lane, vectors) = self.packing(Tight::of(layout, self.shape)?);
        Some((per_lane, vectors.unwrap_or(1)))
    }

    /// Whether a group of a column is truth values in one vector, or half of it, of which one shuffle makes the masks of lanes.
    pub(crate) fn fills_masks(self, layout: &Layout) -> bool {
        let are_tight = Tight::of(layout, self.shape).is_some() && layout.types().all(|ty| ty == Type::Bool);
        are_tight && self.apart == self.depth && matches!(self.records() * layout.size as usize, HALF | 16)
    }

    /// The components of a group of records at `address`: for each record of a lane, for each component that is read.
    pub(crate) fn load(
        self,
        b: &mut FunctionBuilder<'_>,
        layout: &Layout,
        is_read: &[bool],
        address: ir::Value,
    ) -> Vec<Vec<Option<ir::Value>>> {
        let Some(tight) = Tight::of(layout, self.shape) else {
            let mut gather = |j: usize, place: usize| {
                is_read[place].then(|| self.gather(b, layout.size, layout.fields[place], j, address))
            };
            return (0..self.depth).map(|j| (0..layout.fields.len()).map(|place| gather(j, place)).collect()).collect();
        };
        // Truth values become masks all at once, while they are bytes.
        if self.fills_masks(layout) {
            let flags = match self.records() * tight.count {
                16 => b.ins().load(types::I8X16, memory::data_flags(), address, 0),
                _ => self.load_half(b, tight, address),
            };
            let masks = self.masks(b, flags);
            let mut value = |j: usize, place: usize| {
                let of_lane = |lane: usize| (lane * self.depth + j) * tight.count + place;
                is_read[place].then(|| shuffle::filled(b, self.shape, masks, of_lane))
            };
            return (0..self.depth).map(|j| (0..tight.count).map(|place| value(j, place)).collect()).collect();
        }
        let are_masks = layout.types().all(|ty| ty == Type::Bool);
        let (per_lane, vectors) = self.packing(tight);
        let mut loaded = match vectors {
            Some(vectors) => {
                let load = |place: usize| {
                    b.ins().load(self.shape.int(), memory::data_flags(), address, self.offset_of(place, layout))
                };
                (0..vectors).map(load).collect()
            }
            None => vec![self.load_widened(b, tight, address)],
        };
        if are_masks {
            loaded.iter_mut().for_each(|vector| *vector = self.masks(b, *vector));
        }
        let loaded = shuffle::unzip_all(b, self.shape, &loaded);
        let mut value = |j: usize, place: usize| {
            let flat = j * tight.count + place;
            let ty = if are_masks { Type::I8 } else { layout.fields[place].ty };
            is_read[place].then(|| self.unpack(b, ty, loaded[flat / per_lane], flat % per_lane))
        };
        (0..self.depth).map(|j| (0..tight.count).map(|place| value(j, place)).collect()).collect()
    }

    /// Bytes of all ones where they are not zero.
    fn masks(self, b: &mut FunctionBuilder<'_>, vector: ir::Value) -> ir::Value {
        let values = shuffle::retype(b, types::I8X16, vector);
        // `≥ 1` takes two instructions of x86-64, and `≠ 0` three: it has none for that, so `= 0` is inverted.
        let one = shuffle::bytes(b, types::I8X16, [1; 16]);
        let masks = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, values, one);
        shuffle::retype(b, self.shape.int(), masks)
    }

    /// Writes the components of a group of records: for each record of a lane, for each component, its values. Whole vectors are marked
    /// for [streaming] if the address `is_aligned` wherever blocks are.
    pub(crate) fn store(
        self,
        b: &mut FunctionBuilder<'_>,
        layout: &Layout,
        values: &[Vec<ir::Value>],
        (address, is_aligned): (ir::Value, bool),
    ) {
        let Some(tight) = Tight::of(layout, self.shape) else {
            for (j, record) in values.iter().enumerate() {
                for (&field, &value) in layout.fields.iter().zip(record) {
                    self.scatter(b, layout.size, field, j, address, value);
                }
            }
            return;
        };
        let (per_lane, vectors) = self.packing(tight);
        let flat: Vec<ir::Value> = values.iter().flatten().copied().collect();
        let types: Vec<Type> = layout.types().collect();
        let packed: Vec<ir::Value> = flat
            .chunks(per_lane)
            .enumerate()
            .map(|(place, chunk)| {
                let of = |e: usize| types[(place * per_lane + e) % tight.count];
                self.pack(b, of, chunk)
            })
            .collect();
        let Some(vectors) = vectors else { return self.store_half(b, tight, packed[0], address) };
        let stored = shuffle::zip_all(b, self.shape, &packed);
        debug_assert_eq!(stored.len(), vectors);
        for (place, &vector) in stored.iter().enumerate() {
            let offset = self.offset_of(place, layout);
            match is_aligned {
                true => streaming::store(b, vector, address, offset),
                false => _ = b.ins().store(memory::data_flags(), vector, address, offset),
            }
        }
    }

    /// Eight bytes, in the lower half of a vector.
    fn load_half(self, b: &mut FunctionBuilder<'_>, tight: Tight, address: ir::Value) -> ir::Value {
        assert_eq!(self.records() * tight.count * tight.bytes, HALF, "a group of this many bytes");
        let low = b.ins().load(types::I64, memory::data_flags(), address, 0);
        b.ins().scalar_to_vector(types::I64X2, low)
    }

    /// Eight bytes, a lane's share of them in each lane.
    fn load_widened(self, b: &mut FunctionBuilder<'_>, tight: Tight, address: ir::Value) -> ir::Value {
        let mut vector = self.load_half(b, tight, address);
        let mut shape = Shape { bytes: self.depth * tight.count * tight.bytes };
        while shape != self.shape {
            vector = shuffle::retype(b, shape.int(), vector);
            vector = b.ins().uwiden_low(vector);
            shape = Shape { bytes: 2 * shape.bytes };
        }
        vector
    }

    /// The inverse of `load_widened`.
    fn store_half(self, b: &mut FunctionBuilder<'_>, tight: Tight, mut vector: ir::Value, address: ir::Value) {
        assert_eq!(self.records() * tight.count * tight.bytes, HALF, "a group of this many bytes");
        let mut shape = self.shape;
        while shape.bytes > self.depth * tight.count * tight.bytes {
            vector = shuffle::narrow(b, shape, vector);
            shape = Shape { bytes: shape.bytes / 2 };
        }
        let words = shuffle::retype(b, types::I64X2, vector);
        let low = b.ins().extractlane(words, 0);
        b.ins().store(memory::data_flags(), low, address, 0);
    }

    /// The `place`-th value of this type out of each lane.
    fn unpack(self, b: &mut FunctionBuilder<'_>, ty: Type, lanes: ir::Value, place: usize) -> ir::Value {
        let (width, bits) = (self.shape.bits(), 8 * ty.size() as u32);
        let offset = bits * place as u32;
        if ty.is_signed() && bits < width {
            let above = width - bits - offset;
            let up = if above == 0 { lanes } else { b.ins().ishl_imm_u(lanes, i64::from(above)) };
            return b.ins().sshr_imm_u(up, i64::from(width - bits));
        }
        let down = if offset == 0 { lanes } else { b.ins().ushr_imm_u(lanes, i64::from(offset)) };
        let value = if offset + bits == width { down } else { extend(b, self.shape, bits, false, down) };
        self.typed(b, ty, value)
    }

    /// Values of these types, put side by side in each lane.
    fn pack(self, b: &mut FunctionBuilder<'_>, ty: impl Fn(usize) -> Type, values: &[ir::Value]) -> ir::Value {
        let mut all = None;
        for (place, &value) in values.iter().enumerate() {
            let (ty, width) = (ty(place), self.shape.bits());
            let bits = 8 * ty.size() as u32;
            let mut value = self.bits(b, ty, value);
            let offset = bits * place as u32;
            if ty.is_signed() && offset + bits < width {
                value = extend(b, self.shape, bits, false, value);
            }
            if offset > 0 {
                value = b.ins().ishl_imm_u(value, i64::from(offset));
            }
            all = Some(all.map_or(value, |all| b.ins().bor(all, value)));
        }
        all.expect("a lane holds a value at least")
    }

    /// Integers as loaded, zero-extended, as what a type is held as.
    fn typed(self, b: &mut FunctionBuilder<'_>, ty: Type, value: ir::Value) -> ir::Value {
        if ty == Type::Bool {
            let zero = shuffle::bytes(b, self.shape.int(), [0; 16]);
            return b.ins().icmp(IntCC::NotEqual, value, zero);
        }
        shuffle::retype(b, vector_type(self.shape, ty), value)
    }

    /// The bits of a value, as they are stored.
    pub(super) fn bits(self, b: &mut FunctionBuilder<'_>, ty: Type, value: ir::Value) -> ir::Value {
        let value = shuffle::retype(b, self.shape.int(), value);
        if ty == Type::Bool {
            return b.ins().ushr_imm_u(value, i64::from(self.shape.bits() - 1));
        }
        value
    }

    /// A component of the records B·l + j, one by one.
    pub(super) fn gather(
        self,
        b: &mut FunctionBuilder<'_>,
        size: u32,
        field: Field,
        j: usize,
        address: ir::Value,
    ) -> ir::Value {
        let (lane, int) = (self.shape.int().lane_type(), clif_type(field.ty));
        let int = if int.is_float() { int.as_int() } else { int };
        let mut vector = shuffle::bytes(b, self.shape.int(), [0; 16]);
        for l in 0..self.shape.lanes() {
            let offset = (size as usize * (self.depth * l + j)) as i32 + field.offset as i32;
            let mut value = b.ins().load(int, memory::data_flags(), address, offset);
            if int != lane {
                value = if field.ty.is_signed() { b.ins().sextend(lane, value) } else { b.ins().uextend(lane, value) };
            }
            vector = b.ins().insertlane(vector, value, l as u8);
        }
        self.typed(b, field.ty, vector)
    }

    pub(super) fn scatter(
        self,
        b: &mut FunctionBuilder<'_>,
        size: u32,
        field: Field,
        j: usize,
        address: ir::Value,
        value: ir::Value,
    ) {
        let (lane, int) = (self.shape.int().lane_type(), clif_type(field.ty));
        let int = if int.is_float() { int.as_int() } else { int };
        let bits = self.bits(b, field.ty, value);
        for l in 0..self.shape.lanes() {
            let offset = (size as usize * (self.depth * l + j)) as i32 + field.offset as i32;
            let value = b.ins().extractlane(bits, l as u8);
            let value = if int == lane { value } else { b.ins().ireduce(int, value) };
            b.ins().store(memory::data_flags(), value, address, offset);
        }
    }
}

//! Columns in memory: the components of their records, where they start, how far apart records are,
//! and so where a record is.

use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Field, Layout};

use super::abi::Spacing;
use super::kernel::TileKernel;
use super::memory;
use super::place::Place;

/// A component and the column it is in.
#[derive(Clone, Copy)]
pub(super) struct Component {
    pub(super) column: usize,
    pub(super) size: u32,
    pub(super) field: Field,
}

/// The components of all columns, in the order of their numbers.
pub(super) fn components(columns: &[Layout]) -> Vec<Component> {
    let of_column = |(column, layout): (usize, &Layout)| {
        let size = layout.size;
        layout.fields.iter().map(move |&field| Component { column, size, field }).collect::<Vec<_>>()
    };
    columns.iter().enumerate().flat_map(of_column).collect()
}

/// How far apart the records of a column are, if that comes with the call.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) step: ir::Value,
    /// From the record of an element to that of the next one.
    ahead: ir::Value,
    /// The first bit and the mask, if records are reached by bits.
    pub(super) bits: Option<[ir::Value; 2]>,
}

/// Loads where so many columns start, of those that are read.
pub(super) fn bases(
    b: &mut FunctionBuilder<'_>,
    columns: ir::Value,
    count: usize,
    is_read: impl Fn(usize) -> bool,
) -> Vec<Option<ir::Value>> {
    let mut base = |column: usize| b.ins().load(types::I64, memory::data_flags(), columns, 8 * column as i32);
    (0..count).map(|column| is_read(column).then(|| base(column))).collect()
}

/// Loads how far apart the records of all columns are, inputs first; elements are so many records apart.
pub(super) fn apart(
    b: &mut FunctionBuilder<'_>,
    kernel: &TileKernel<'_>,
    spacings: ir::Value,
    records: ir::Value,
) -> Vec<Option<Apart>> {
    let by_bits = kernel.inputs.iter().map(Spacing::is_by_bits).chain(kernel.outputs.iter().map(|_| false));
    let mut of_column = |(place, by_bits): (usize, bool)| {
        let mut field = |ty: ir::Type, offset: usize| {
            b.ins().load(ty, memory::data_flags(), spacings, (place * size_of::<Spacing>() + offset) as i32)
        };
        let step = field(types::I64, std::mem::offset_of!(Spacing, step));
        let bits = by_bits.then(|| {
            let first = field(types::I64, std::mem::offset_of!(Spacing, first));
            [first, field(types::I8, std::mem::offset_of!(Spacing, mask))]
        });
        (step, bits)
    };
    let all: Vec<_> = by_bits.enumerate().map(&mut of_column).collect();
    all.into_iter().map(|(step, bits)| Some(Apart { step, ahead: b.ins().imul(step, records), bits })).collect()
}

/// The addresses of records at any distance, by their column and place, in the block that is being written. A product is one for a few
/// elements, and those of the others are sums.
#[derive(Clone, Default)]
pub(super) struct Addresses {
    block: Option<ir::Block>,
    /// (column, place, address)
    known: Vec<(usize, ir::Value, ir::Value)>,
}

impl Addresses {
    /// The address of a record of a column.
    pub(super) fn of(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        (column, base, apart): (usize, ir::Value, Apart),
        place: ir::Value,
    ) -> ir::Value {
        if self.block != b.current_block() {
            *self = Addresses { block: b.current_block(), known: Vec::new() };
        }
        if let Some(&(.., address)) = self.known.iter().find(|&&(of, at, _)| (of, at) == (column, place)) {
            return address;
        }
        let offset = b.ins().imul(place, apart.step);
        let address = b.ins().iadd(base, offset);
        self.known.push((column, place, address));
        address
    }

    /// Adds those of the element after one at `place`, whose own place is `following`.
    pub(super) fn follow(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        spacings: &[Option<Apart>],
        (place, following): (ir::Value, ir::Value),
    ) {
        if self.block != b.current_block() {
            return;
        }
        let next = |&(column, at, address): &(usize, ir::Value, ir::Value)| {
            let apart = spacings[column].filter(|_| at == place)?;
            Some((column, following, b.ins().iadd(address, apart.ahead)))
        };
        let next: Vec<_> = self.known.iter().filter_map(next).collect();
        self.known.extend(next);
    }
}

/// The address of a record of so many bytes, and what is to be added to it. Records lie one after the other.
pub(super) fn record(b: &mut FunctionBuilder<'_>, base: ir::Value, place: Place, size: u32) -> (ir::Value, i32) {
    let offset = match size {
        1 => place.base,
        size if size.is_power_of_two() => b.ins().ishl_imm_u(place.base, i64::from(size.trailing_zeros())),
        size => b.ins().imul_imm_u(place.base, i64::from(size)),
    };
    // A record has at most 4096 bytes, and few records are skipped.
    (b.ins().iadd(base, offset), (place.further * size) as i32)
}

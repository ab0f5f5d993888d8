//! Elements: how code reads records, from registers or from memory.

use monoscan_ir::{Layout, Type};

use crate::gpu::{alignment, natural};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::bytes::{Bytes, Pieces, width};
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::lower::{from_memory, to_memory};

/// Where a component is: its column, the bytes before it in the record, its type.
pub(crate) fn field(columns: &[Layout], component: usize) -> (usize, usize, Type) {
    let mut all = columns.iter().enumerate().flat_map(|(place, column)| column.fields.iter().map(move |f| (place, f)));
    let (place, field) = all.nth(component).expect("a verified program names no other component");
    (place, field.offset as usize, field.ty)
}

/// Whether the fields of a record leave no byte out.
pub fn is_packed(column: &Layout) -> bool {
    column.fields.iter().map(|field| field.ty.size()).sum::<usize>() == column.size as usize
}

/// A record of a load group that is in registers.
pub(crate) struct Loaded<'k, 'a> {
    pub columns: &'a [Layout],
    /// The bytes of the load group, column by column.
    pub bytes: &'a [Bytes<'k>],
    /// Which record of the load group, and how many there are.
    pub place: usize,
    pub group: usize,
    /// The same record, for what is not in registers.
    pub here: InMemory<'k, 'a>,
}

impl<'k> Loaded<'k, '_> {
    fn at(&self, place: usize, component: usize) -> Value<'k> {
        let (column, offset, ty) = field(self.columns, component);
        self.bytes[column].field(place * self.columns[column].size as usize + offset, ty)
    }

    /// Whether the next record is there too. Then there is a next record.
    fn has_next(&self) -> bool {
        self.place + 1 < self.group
    }
}

impl<'k> Element<'k> for Loaded<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.at(self.place, component)
    }

    fn next(&self, component: usize) -> Value<'k> {
        if self.has_next() { self.at(self.place + 1, component) } else { self.here.next(component) }
    }

    fn prev(&self, component: usize) -> Value<'k> {
        if self.place > 0 { self.at(self.place - 1, component) } else { self.here.prev(component) }
    }

    fn is_first(&self) -> Value<'k> {
        if self.place > 0 { self.index().emit().bool(false) } else { self.here.is_first() }
    }

    fn is_last(&self) -> Value<'k> {
        if self.has_next() { self.index().emit().bool(false) } else { self.here.is_last() }
    }

    fn index(&self) -> Value<'k> {
        self.here.index()
    }
}

/// A record in memory.
pub(crate) struct InMemory<'k, 'a> {
    pub columns: &'a [Layout],
    /// Where the records begin, column by column.
    pub areas: &'a [Value<'k>],
    /// Which records there this one, the next and the one before are.
    pub slots: (Value<'k>, Value<'k>, Value<'k>),
    pub index: Value<'k>,
    pub is_last: Value<'k>,
    /// Whether columns begin at [natural] addresses, and not at multiples of 16.
    pub shifted: bool,
}

impl<'k> InMemory<'k, '_> {
    fn load(&self, slot: Value<'k>, component: usize) -> Value<'k> {
        let (column, offset, ty) = field(self.columns, component);
        let size = self.columns[column].size as usize;
        let field = (offset, ty, access(&self.columns[column], offset, self.shifted));
        load_field(self.areas[column].byte(slot.sext(Ty::I64) * size), field)
    }
}

impl<'k> Element<'k> for InMemory<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.load(self.slots.0, component)
    }

    fn next(&self, component: usize) -> Value<'k> {
        // Memory has space for a record after the last one, so it may be read though it means nothing.
        let next = self.load(self.slots.1, component);
        let zero = self.index.emit().int(next.ty(), 0);
        self.is_last.select(zero, next)
    }

    fn prev(&self, component: usize) -> Value<'k> {
        // There is space for a record before the first one too.
        let prev = self.load(self.slots.2, component);
        let zero = self.index.emit().int(prev.ty(), 0);
        self.is_first().select(zero, prev)
    }

    fn is_last(&self) -> Value<'k> {
        self.is_last
    }

    fn index(&self) -> Value<'k> {
        self.index
    }
}

/// The power of two that the place of a field is a multiple of, in columns that begin at multiples of 16, or are shifted.
pub fn access(column: &Layout, offset: usize, shifted: bool) -> usize {
    let most = if shifted { natural(column) } else { 16 };
    alignment(column.size as usize, offset).min(most)
}

/// Loads the field of a record that begins after so many bytes, where that is a multiple of so many.
pub fn load_field<'k>(record: Value<'k>, (offset, ty, align): (usize, Type, usize)) -> Value<'k> {
    from_memory(record.at(offset).load(Ty::Int(8 * ty.size() as u16), align), ty)
}

/// Stores the components of a record to its place in each column's area.
pub fn store_fields<'k>(columns: &[Layout], areas: &[Value<'k>], slot: Value<'k>, record: &[Value<'k>], shifted: bool) {
    let fields = columns.iter().zip(areas);
    let fields = fields.flat_map(|(column, area)| column.fields.iter().map(move |field| (column, area, field)));
    for ((column, area, field), &value) in fields.zip(record) {
        let offset = field.offset as usize;
        let place = area.byte(slot * column.size as usize).at(offset);
        place.store(to_memory(value, field.ty), access(column, offset, shifted));
    }
}

/// The bytes of a record in device memory that one access moves: no more than fields have, as columns are mostly aligned to those.
fn piece(layout: &Layout) -> usize {
    width(layout.size as usize).min(8)
}

/// Whether a column in device memory begins where its records are moved in pieces as wide as their size allows.
pub(crate) fn is_aligned<'k>(column: Value<'k>, layout: &Layout) -> Value<'k> {
    let odd = column.address() & (piece(layout) - 1);
    odd.is(odd.same(0))
}

/// Loads the components of a record of a column, which [is aligned](is_aligned) or not. Then it goes byte by byte: LLVM would make one
/// load of the two that differ in their alignment alone, with the lower one.
pub(crate) fn load_record<'k>(k: &'k Builder, column: &Layout, record: Value<'k>, is_aligned: bool) -> Vec<Value<'k>> {
    let bytes = Bytes::load_by(k, record, column.size as usize, if is_aligned { piece(column) } else { 1 });
    column.fields.iter().map(|field| bytes.field(field.offset as usize, field.ty)).collect()
}

/// Stores them, likewise. Bytes between the fields are left as they are.
pub(crate) fn store_record<'k>(
    k: &'k Builder,
    column: &Layout,
    record: Value<'k>,
    components: &[Value<'k>],
    is_aligned: bool,
) {
    let size = column.size as usize;
    if is_aligned && is_packed(column) {
        let bytes = group_bytes(k, std::slice::from_ref(column), &[components.to_vec()]);
        return bytes.iter().for_each(|bytes| bytes.store_by(record, piece(column)));
    }
    for (field, &value) in column.fields.iter().zip(components) {
        let (offset, bits) = (field.offset as usize, to_memory(value, field.ty));
        match is_aligned {
            true => record.at(offset).store(bits, alignment(size, offset).min(piece(column))),
            false => (0..field.ty.size()).for_each(|byte| {
                record.at(offset + byte).store((bits >> (8 * byte)).resize(Ty::I8), 1);
            }),
        }
    }
}

/// Stores an output record to a place of the columns in device memory.
pub(crate) fn store_output<'k>(args: KernelArguments<'k, '_>, recipe: &Recipe, place: Value<'k>, record: &[Value<'k>]) {
    let mut components = record;
    for (number, column) in recipe.outputs.iter().enumerate() {
        let base = args.column(recipe.inputs.len() + number);
        let (own, others) = components.split_at(column.fields.len());
        let store = |is_aligned| store_record(args.k, column, base.byte(place * column.size as usize), own, is_aligned);
        args.k.either(is_aligned(base, column), || store(true), || store(false));
        components = others;
    }
}

/// The bytes of a load group of output records, column by column.
pub fn group_bytes<'k>(k: &'k Builder, columns: &[Layout], records: &[Vec<Value<'k>>]) -> Vec<Bytes<'k>> {
    let mut numbered = 0;
    let mut all = Vec::new();
    for column in columns {
        let size = column.size as usize;
        let mut pieces = Pieces::new(k, size * records.len());
        for (place, record) in records.iter().enumerate() {
            for (field, &value) in column.fields.iter().zip(&record[numbered..]) {
                pieces.put(place * size + field.offset as usize, field.ty, value);
            }
        }
        numbered += column.fields.len();
        all.push(pieces.join());
    }
    all
}

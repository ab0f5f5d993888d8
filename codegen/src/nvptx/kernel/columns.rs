//! Elements: how code reads the records of a tile, from registers or from shared memory.

use monoscan_ir::{Layout, Type};

use crate::gpu::{alignment, natural};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::bytes::{Bytes, Pieces};
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

/// Writes an output record to a place of the columns in device memory, field by field.
pub(crate) fn store_record<'k>(args: KernelArguments<'k, '_>, recipe: &Recipe, place: Value<'k>, record: &[Value<'k>]) {
    let mut values = record.iter();
    for (number, column) in recipe.outputs.iter().enumerate() {
        let size = column.size as usize;
        let base = args.column(recipe.inputs.len() + number);
        let own: Vec<Value<'k>> = values.by_ref().take(column.fields.len()).copied().collect();
        let store = |is_aligned: bool| {
            for (field, &value) in column.fields.iter().zip(&own) {
                let offset = field.offset as usize;
                let align = if is_aligned { alignment(size, offset).min(8) } else { 1 };
                base.byte(place * size).at(offset).store(to_memory(value, field.ty), align);
            }
        };
        // Device memory is as aligned as its owner made it: mostly enough for any field.
        let is_aligned = (base.address() & 7usize).is(args.k.i64(0));
        args.k.either(is_aligned, || store(true), || store(false));
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

//! Elements: how code reads the records of a tile, from registers or from shared memory.

use scan_ir::{Layout, Type};

use super::bytes::{Bytes, Pieces};
use super::emit::{Emit, Ty, Value};
use super::lower::{from_memory, to_memory};
use super::recipe::Element;

/// Where a component is: its column, the bytes before it in the record, its type.
pub(crate) fn field(columns: &[Layout], component: usize) -> (usize, usize, Type) {
    let mut all = columns.iter().enumerate().flat_map(|(place, column)| column.fields.iter().map(move |f| (place, f)));
    let (place, field) = all.nth(component).expect("a verified program names no other component");
    (place, field.offset as usize, field.ty)
}

/// Whether the fields of a record leave no byte out.
pub(crate) fn is_packed(column: &Layout) -> bool {
    column.fields.iter().map(|field| field.ty.size()).sum::<usize>() == column.size as usize
}

/// The largest power of two, up to 16, that divides both.
pub(crate) fn alignment(record: usize, offset: usize) -> usize {
    1 << (record | offset | 16).trailing_zeros()
}

/// A record of a unit that is in registers.
pub(crate) struct Loaded<'k, 'a> {
    pub(crate) columns: &'a [Layout],
    /// The bytes of the unit, column by column.
    pub(crate) bytes: &'a [Bytes<'k>],
    /// Which record of the unit.
    pub(crate) place: usize,
    /// The same record, for what is not in registers.
    pub(crate) here: InMemory<'k, 'a>,
}

impl<'k> Element<'k> for Loaded<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        let (column, offset, ty) = field(self.columns, component);
        self.bytes[column].field(self.place * self.columns[column].size as usize + offset, ty)
    }

    fn next(&self, component: usize) -> Value<'k> {
        self.here.next(component)
    }

    fn is_last(&self) -> Value<'k> {
        self.here.is_last()
    }

    fn index(&self) -> Value<'k> {
        self.here.index()
    }
}

/// A record in memory.
pub(crate) struct InMemory<'k, 'a> {
    pub(crate) columns: &'a [Layout],
    /// Where the records begin, column by column.
    pub(crate) areas: &'a [Value<'k>],
    /// Which records there this one and the next are.
    pub(crate) slots: (Value<'k>, Value<'k>),
    pub(crate) index: Value<'k>,
    pub(crate) is_last: Value<'k>,
}

impl<'k> InMemory<'k, '_> {
    fn load(&self, slot: Value<'k>, component: usize) -> Value<'k> {
        let (column, offset, ty) = field(self.columns, component);
        let size = self.columns[column].size as usize;
        load_field(self.areas[column].byte(slot.sext(Ty::I64) * size), size, offset, ty)
    }
}

impl<'k> Element<'k> for InMemory<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.load(self.slots.0, component)
    }

    fn next(&self, component: usize) -> Value<'k> {
        // There is room for a record after the last one, so it may be read though it means nothing.
        let next = self.load(self.slots.1, component);
        let zero = self.index.emit().int(next.ty(), 0);
        self.is_last.select(zero, next)
    }

    fn is_last(&self) -> Value<'k> {
        self.is_last
    }

    fn index(&self) -> Value<'k> {
        self.index
    }
}

/// Loads a field of a record that lies at a multiple of its size from a multiple of 16.
pub(crate) fn load_field<'k>(record: Value<'k>, size: usize, offset: usize, ty: Type) -> Value<'k> {
    let bits = Ty::Int(8 * ty.size() as u16);
    from_memory(record.at(offset).load(bits, alignment(size, offset)), ty)
}

/// Stores a field of such a record.
pub(crate) fn store_field<'k>(record: Value<'k>, size: usize, offset: usize, ty: Type, value: Value<'k>) {
    record.at(offset).store(to_memory(value, ty), alignment(size, offset));
}

/// The bytes of a unit of output records, column by column.
pub(crate) fn unit_bytes<'k>(k: &'k Emit, columns: &[Layout], records: &[Vec<Value<'k>>]) -> Vec<Bytes<'k>> {
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

//! How records and tables lie in memory.

use crate::types::{Constant, Type};

/// A component of a record: a value at an offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// Bytes from the start of the record.
    pub offset: u32,
    /// The type of its value, in native byte order.
    pub ty: Type,
}

/// How a record lies in memory. Consecutive records are `size` bytes apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// Bytes from one record to the next, padding included.
    pub size: u32,
    /// Alignment that safe code guarantees; generated code does not rely on it.
    pub align: u32,
    /// The components, in the order of the program's numbering.
    pub fields: Vec<Field>,
}

impl Layout {
    /// A record that is one value.
    pub fn of(ty: Type) -> Layout {
        Layout::packed(&[ty])
    }

    /// The values one after the other, each aligned to its size (vectors to 1), as `repr(C)` would lay them out.
    pub fn packed(types: &[Type]) -> Layout {
        let align_of = |ty: Type| if ty.is_vector() { 1 } else { ty.size() as u32 };
        let mut end = 0u32;
        let mut align = 1;
        let fields = types.iter().map(|&ty| {
            let offset = end.next_multiple_of(align_of(ty));
            end = offset + ty.size() as u32;
            align = align.max(align_of(ty));
            Field { offset, ty }
        });
        let fields = fields.collect();
        Layout { size: end.next_multiple_of(align), align, fields }
    }

    /// One record with these components, as bytes: what states and records are stored or sent as. Padding is zero;
    /// components that are missing are zero too, and those beyond the layout's are left out.
    ///
    /// ```
    /// use monoscan_ir::{Constant, Layout, Type};
    /// let layout = Layout::packed(&[Type::U8, Type::U32]);
    /// let state = [Constant::from(7u8), Constant::from(9u32)];
    /// let bytes = layout.to_bytes(&state);
    /// assert_eq!(bytes, [[7, 0, 0, 0], 9u32.to_ne_bytes()].concat());
    /// assert_eq!(layout.from_bytes(&bytes).unwrap(), state);
    /// assert_eq!(layout.from_bytes(&bytes[1..]), None);
    /// ```
    ///
    /// # Panics
    /// If a field lies outside of the record, or a component is larger than its field and ends outside.
    pub fn to_bytes(&self, components: &[Constant]) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        self.write_to(components, &mut bytes);
        bytes
    }

    /// The bytes of these records, one after the other.
    ///
    /// # Panics
    /// As [`to_bytes`](Layout::to_bytes).
    pub fn records_to_bytes<'a>(&self, records: impl Iterator<Item = &'a [Constant]>) -> Vec<u8> {
        let (size, mut bytes) = (self.size as usize, Vec::new());
        bytes.reserve(records.size_hint().0 * size);
        for record in records {
            let start = bytes.len();
            bytes.resize(start + size, 0);
            self.write_to(record, &mut bytes[start..]);
        }
        bytes
    }

    /// Writes these components to a record, one for each field; padding stays as it is.
    ///
    /// # Panics
    /// If a field lies outside of the record.
    pub fn write_to(&self, components: &[Constant], record: &mut [u8]) {
        for (field, component) in self.fields.iter().zip(components) {
            component.write_to(&mut record[field.offset as usize..]);
        }
    }

    /// The components of one record; none if these are not the bytes of one.
    #[allow(clippy::wrong_self_convention, reason = "it is the layout of what is read, not what is made")]
    pub fn from_bytes(&self, bytes: &[u8]) -> Option<Vec<Constant>> {
        let field = |field: &Field| {
            let start = field.offset as usize;
            Some(Constant::from_bytes(field.ty, bytes.get(start..start + field.ty.size())?))
        };
        if bytes.len() == self.size as usize { self.fields.iter().map(field).collect() } else { None }
    }

    /// The types of the components.
    pub fn types(&self) -> impl Iterator<Item = Type> {
        self.fields.iter().map(|field| field.ty)
    }
}

/// Constants looked up by index.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    /// The type of the elements.
    pub ty: Type,
    /// The elements one after the other, each `ty.size()` bytes in native byte order.
    pub bytes: Vec<u8>,
}

impl Table {
    /// A table of these elements, all of type `ty`; an element of another type keeps its low bits.
    pub fn new(ty: Type, elements: impl IntoIterator<Item = Constant>) -> Table {
        let mut bytes = Vec::new();
        for element in elements {
            bytes.extend_from_slice(&Constant::new(ty, element.bits()).to_bytes());
        }
        Table { ty, bytes }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.ty.size()
    }

    /// Whether there are none; the verifier refuses that.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, the last one past the end; none if the table is empty.
    pub fn element(&self, index: usize) -> Option<Constant> {
        let index = index.min(self.len().checked_sub(1)?);
        Some(Constant::from_bytes(self.ty, &self.bytes[index * self.ty.size()..]))
    }
}

//! The tables of a program in memory, where generated code finds them: copied once, vectors of 9 to
//! 15 bytes padded to 16 so that one load reads an element.

use monoscan_ir::{Table, Type};

/// Tables that generated code points at; they must outlive it.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    entries: Vec<Entry>,
    /// The memory that the addresses point into; boxed, so that it stays in place.
    _memory: Vec<Box<[u8]>>,
}

/// One table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) ty: Type,
    pub(crate) address: usize,
    /// Bytes from one element to the next.
    pub(crate) stride: usize,
    /// The highest index.
    pub(crate) last: i128,
}

impl Tables {
    pub(crate) fn new(tables: &[Table]) -> Tables {
        let mut all = Tables::default();
        for table in tables {
            let size = table.ty.size();
            let stride = if table.ty.is_vector() && size > 8 { 16 } else { size };
            let memory: Box<[u8]> = if stride == size {
                table.bytes.as_slice().into()
            } else {
                let padded = table
                    .bytes
                    .chunks_exact(size)
                    .flat_map(|element| element.iter().copied().chain(std::iter::repeat_n(0, stride - size)));
                padded.collect()
            };
            let (address, last) = (memory.as_ptr() as usize, table.len().saturating_sub(1) as i128);
            all.entries.push(Entry { ty: table.ty, address, stride, last });
            all._memory.push(memory);
        }
        all
    }

    pub(crate) fn get(&self, number: u32) -> Option<Entry> {
        self.entries.get(number as usize).copied()
    }
}

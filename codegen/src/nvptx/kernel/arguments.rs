//! A kernel's arguments (see [`Arguments`]) and tables, as its code reads them.

use monoscan_ir::Field;

use crate::gpu::Arguments;
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::lower::{Tables, from_memory};

/// The arguments and tables of a kernel.
#[derive(Clone, Copy)]
pub struct KernelArguments<'k, 'a> {
    pub k: &'k Builder,
    pub layout: &'a Arguments,
    /// Where the program's tables are.
    pub tables: &'a Tables<'k>,
    /// The row that is scanned, in kernels whose rows may have states of their own.
    pub row: Option<Value<'k>>,
}

impl<'k> KernelArguments<'k, '_> {
    fn base(self) -> Value<'k> {
        self.k.named(Ty::GENERIC, "%arguments")
    }

    /// The 64-bit number at an offset.
    pub fn word(self, offset: usize) -> Value<'k> {
        self.base().at(offset).load(Ty::I64, 8)
    }

    /// The address of a column.
    pub fn column(self, place: usize) -> Value<'k> {
        self.word(self.layout.column(place)).as_global()
    }

    /// A component of the state at an offset, by its number through all stages: the row's own, if it has any.
    pub fn component(self, offset: usize, place: usize) -> Value<'k> {
        let field = self.layout.states.fields[place];
        let Some(row) = self.row else { return self.field(offset, field) };
        let own = self.word(Arguments::STATES_OF_ROWS);
        let (bits, value) = (bits(field), self.k.unset(bits(field)));
        let from_row = || {
            let states = own.as_global().byte(row * self.layout.row_bytes());
            let at = offset - self.layout.start() + field.offset as usize;
            let align = if field.ty.is_vector() { 1 } else { field.ty.size() };
            value.set(states.at(at).load(bits, align));
        };
        self.k.either(own.is_not(self.k.i64(0)), from_row, || value.set(self.raw(offset, field)));
        from_memory(value.get(), field.ty)
    }

    /// A parameter of the program.
    pub fn parameter(self, parameter: u32) -> Value<'k> {
        self.field(self.layout.parameters(), self.layout.parameters.fields[parameter as usize])
    }

    fn field(self, offset: usize, field: Field) -> Value<'k> {
        from_memory(self.raw(offset, field), field.ty)
    }

    fn raw(self, offset: usize, field: Field) -> Value<'k> {
        self.base().at(offset + field.offset as usize).load(bits(field), 1)
    }
}

/// A component as it lies in memory.
fn bits(field: Field) -> Ty {
    Ty::Int(8 * field.ty.size() as u16)
}

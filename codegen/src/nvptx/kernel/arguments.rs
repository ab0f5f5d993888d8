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

    /// A component of the state at an offset, by its number through all stages.
    pub fn component(self, offset: usize, place: usize) -> Value<'k> {
        self.field(offset, self.layout.states.fields[place])
    }

    /// A parameter of the program.
    pub fn parameter(self, parameter: u32) -> Value<'k> {
        self.field(self.layout.parameters(), self.layout.parameters.fields[parameter as usize])
    }

    fn field(self, offset: usize, field: Field) -> Value<'k> {
        let bits = Ty::Int(8 * field.ty.size() as u16);
        from_memory(self.base().at(offset + field.offset as usize).load(bits, 1), field.ty)
    }
}

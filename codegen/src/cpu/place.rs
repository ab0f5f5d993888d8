//! Places of records: where an element is in its columns.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;

/// A record of each column: so many records behind one, which go into the offset of an access and cost nothing.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) base: ir::Value,
    pub(crate) further: u32,
}

impl Place {
    pub(crate) fn at(base: ir::Value) -> Place {
        Place { base, further: 0 }
    }

    /// As one value.
    pub(crate) fn value(self, b: &mut FunctionBuilder<'_>) -> ir::Value {
        match self.further {
            0 => self.base,
            further => b.ins().iadd_imm_u(self.base, i64::from(further)),
        }
    }
}

/// Where an element is.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// Its record.
    pub(crate) place: Place,
    /// Its number in the run.
    pub(crate) number: ir::Value,
}

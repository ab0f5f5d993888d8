//! Lowered functions on the processor of this machine against the evaluator, and as PTX against
//! NVIDIA's assembler.

pub(crate) mod cases;
pub(crate) mod host;
mod ptx;

use monoscan_ir::facts::Range;
use monoscan_ir::{Function, Table};

use super::{Code, Tables, from_memory, memory_ty, to_memory};
use crate::nvptx::emit::{Builder, Ty};

/// Bytes from one operand or result to the next in memory, and what their addresses are multiples of.
pub(crate) const SLOT: usize = 16;

/// A module of functions `@f0`, `@f1`, … `(ptr operands, ptr results)`, called as `convention` says.
fn module(convention: &str, functions: &[Function], tables: &[Table]) -> String {
    let k = Builder::new();
    let placed = Tables::in_module(&k, tables);
    for (number, function) in functions.iter().enumerate() {
        k.function(&format!("define {convention} void @f{number}(ptr %operands, ptr %results)"), |k| {
            let (operands, results) = (k.named(Ty::GENERIC, "%operands"), k.named(Ty::GENERIC, "%results"));
            let params = function.params.iter().enumerate();
            let args: Vec<_> =
                params.map(|(i, &ty)| from_memory(operands.at(SLOT * i).load(memory_ty(ty), SLOT), ty)).collect();
            let ranges: Vec<Range> = function.params.iter().map(|&ty| Range::full(ty)).collect();
            let values = Code::new(function, &ranges, tables).write(k, &args, &placed);
            for (i, (value, ty)) in values.into_iter().zip(function.result_types()).enumerate() {
                // Of a vector the whole register, to look at what is above its lanes.
                let bits = if ty.is_vector() { value.resize(Ty::Int(8 * SLOT as u16)) } else { to_memory(value, ty) };
                results.at(SLOT * i).store(bits, SLOT);
            }
        });
    }
    drop(placed);
    k.finish()
}

//! Lowered functions on the processor of this machine against the evaluator.

mod cases;
mod host;
#[path = "../../../../tests/cpu_support/opcodes.rs"]
mod opcodes;

use scan_ir::facts::Range;
use scan_ir::{Function, Table};

use super::{Tables, from_memory, lower_function, memory_ty, to_memory};
use crate::nvptx::emit::{Emit, Ty};

/// Bytes from one operand or result to the next in memory.
const SLOT: usize = 16;

/// A module of functions `@f0`, `@f1`, … `(ptr operands, ptr results)`, called as `convention` says.
fn module(convention: &str, functions: &[Function], tables: &[Table]) -> String {
    let k = Emit::new();
    let placed = Tables::in_module(&k, tables);
    for (number, function) in functions.iter().enumerate() {
        k.function(&format!("define {convention} void @f{number}(ptr %operands, ptr %results)"), |k| {
            let (operands, results) = (k.named(Ty::GENERIC, "%operands"), k.named(Ty::GENERIC, "%results"));
            let params = function.params.iter().enumerate();
            let args: Vec<_> =
                params.map(|(i, &ty)| from_memory(operands.at(SLOT * i).load(memory_ty(ty), 1), ty)).collect();
            let ranges: Vec<Range> = function.params.iter().map(|&ty| Range::full(ty)).collect();
            let values = lower_function(k, function, &args, &ranges, &placed);
            for (i, (value, ty)) in values.into_iter().zip(function.result_types()).enumerate() {
                results.at(SLOT * i).store(to_memory(value, ty), 1);
            }
        });
    }
    drop(placed);
    k.finish()
}

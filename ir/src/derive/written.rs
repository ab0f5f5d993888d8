//! A loop's step as it was written: where each instruction of it was, and what it was before it was
//! simplified. Refusals show that: `s / 8`, and not `s >> 3`.

use rustc_hash::FxHashMap;

use super::code::Code;
use super::refusal::SourcePlace;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;

/// The instructions of a step, by the values of its [`Code`] that they became.
pub(super) struct Written<'a> {
    places: &'a [Option<SourcePlace>],
    /// How many values there are once an instruction of the step is there.
    values: Vec<usize>,
    params: usize,
    /// The instruction that made a value; its operands are values of the code.
    made: FxHashMap<Value, Inst>,
}

impl<'a> Written<'a> {
    /// Of a step that is built anew in such code, which simplifies it.
    pub(super) fn new(step: &Function, places: &'a [Option<SourcePlace>], mut code: Code<'_>) -> Written<'a> {
        let mut values: Vec<Value> = (0..step.params.len()).map(Value::new).collect();
        let (mut counts, mut made) = (Vec::new(), FxHashMap::default());
        for inst in &step.insts {
            let inst = inst.map_operands(|operand| values[operand.index()]);
            let known = code.function().value_count();
            let value = code.push(inst);
            if value.index() >= known {
                made.insert(value, inst);
            }
            values.push(value);
            counts.push(code.function().value_count());
        }
        Written { places, values: counts, params: step.params.len(), made }
    }

    /// Where the instruction that made this value was written, if that is known; of a parameter, the end of the step.
    pub(super) fn place(&self, value: Value) -> Option<SourcePlace> {
        if value.index() < self.params {
            return self.places.last().cloned().flatten();
        }
        let first = self.values.partition_point(|&count| count <= value.index());
        self.places.get(first).cloned().flatten()
    }

    /// The instruction that made this value. A `select` that became a minimum or a maximum is one.
    pub(super) fn inst(&self, code: &Code<'_>, value: Value) -> Option<Inst> {
        let own = code.inst(value)?;
        let written = self.made.get(&value).copied();
        Some(written.filter(|inst| inst.opcode == own.opcode || inst.opcode != Opcode::Select).unwrap_or(own))
    }
}

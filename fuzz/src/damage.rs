//! Programs that still verify, but compute something else than they were grown to: another opcode,
//! operand, constant or result of the same type. Few operators survive that as monoids.

use monoscan_ir::{Constant, Function, Inst, Opcode, Payload, Program, Value};

use crate::bytes::Bytes;

/// Changes a program in a few places; not at all when the bytes are used up.
pub(crate) fn damage(bytes: &mut Bytes<'_>, program: &mut Program) {
    for _ in 0..bytes.below(4) {
        let output = &mut program.output;
        let mut functions = vec![&mut output.project.function];
        functions.extend(output.filter.as_mut().map(|filter| &mut filter.function));
        for stage in &mut program.stages {
            stage.automaton = false; // which says what its functions are
            functions.extend([&mut stage.lift.function, &mut stage.combine]);
        }
        let place = bytes.below(functions.len());
        change(bytes, functions[place]);
    }
}

fn change(bytes: &mut Bytes<'_>, function: &mut Function) {
    if function.insts.is_empty() || bytes.chance(8) {
        let place = bytes.below(function.results.len());
        function.results[place] = like(bytes, function, function.results[place], function.value_count());
        return;
    }
    let place = bytes.below(function.insts.len());
    let inst = function.insts[place];
    function.insts[place] = match inst.payload {
        Payload::Constant(constant) => Inst::constant(other(bytes, constant)),
        _ if inst.operands().is_empty() || bytes.chance(2) => {
            Inst::new(of_same_rule(bytes, inst.opcode), inst.ty, inst.operands(), inst.payload)
        }
        _ => {
            let defined = function.params.len() + place;
            let changed = bytes.below(inst.operands().len());
            let mut operand = 0..;
            inst.map_operands(|value| match operand.next() == Some(changed) {
                true => like(bytes, function, value, defined),
                false => value,
            })
        }
    };
}

/// A value of the same type among the first `defined`.
fn like(bytes: &mut Bytes<'_>, function: &Function, value: Value, defined: usize) -> Value {
    let ty = function.type_of(value);
    let others: Vec<Value> = (0..defined).map(Value::new).filter(|&other| function.type_of(other) == ty).collect();
    if others.is_empty() { value } else { *bytes.pick(&others) }
}

/// An opcode that takes and gives the same types.
fn of_same_rule(bytes: &mut Bytes<'_>, opcode: Opcode) -> Opcode {
    let others: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|other| other.rule() == opcode.rule()).collect();
    *bytes.pick(&others)
}

/// A constant of the same type: a small number, the corners, or any bits.
fn other(bytes: &mut Bytes<'_>, constant: Constant) -> Constant {
    let (ty, mask) = (constant.ty(), constant.ty().mask());
    match bytes.below(4) {
        0 => ty.of_i64(bytes.below(9) as i64 - 4),
        1 => Constant::new(ty, *bytes.pick(&[0, 1, mask, mask >> 1, (mask >> 1) + 1])),
        2 => Constant::new(ty, constant.bits() ^ 1 << bytes.below(128)),
        _ => Constant::from_bytes(ty, &bytes.fill(16)),
    }
}

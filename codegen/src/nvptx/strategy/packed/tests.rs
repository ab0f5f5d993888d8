//! Code on four lanes against the interpreter, on the processor of this machine; and which programs
//! have a packed form.

use monoscan_ir::facts::Range;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Rule, Type, Value, interp, text, verify};

use super::code::Code;
use super::{is_byte, words};
use crate::nvptx::emit::{Builder, Ty};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::lower::tests::SLOT;
use crate::nvptx::lower::tests::cases::{operands, ranged};
use crate::nvptx::lower::tests::host::{Slot, compiled};
use scan_kit::opcodes::{columns, describe, functions};

const TYPES: [Type; 3] = [Type::Bool, Type::I8, Type::U8];

/// Opcodes on bytes of which a few bits are known: shifts by constants, comparisons, and what becomes of these.
fn of_few_bits(ty: Type) -> Vec<Function> {
    let mut all = Vec::new();
    let mut add = |build: &dyn Fn(&mut FunctionBuilder, &[Value]) -> Value| {
        let mut b = FunctionBuilder::new();
        let params = b.params(&columns(ty));
        let result = build(&mut b, &params);
        all.push(b.finish(&[result]));
    };
    for mask in [0, 1, 2, 0x10, 0x40, 0x80, 3, 0x7f, 0xff] {
        let masked = |b: &mut FunctionBuilder, x| {
            let mask = b.constant(Constant::new(ty, mask));
            b.binary(Opcode::And, x, mask)
        };
        for shift in [Opcode::Shl, Opcode::Shr].into_iter().filter(|_| ty != Type::Bool) {
            for amount in 0..10_u32 {
                add(&|b, p| {
                    let (x, amount) = (masked(b, p[0]), b.lit(amount));
                    b.op(shift, &[x, amount])
                });
            }
        }
        for &compare in Opcode::ALL.iter().filter(|opcode| matches!(opcode.rule(), Rule::Compare(_))) {
            for constant in [None, Some(0), Some(mask), Some(0x55)] {
                let compared = |b: &mut FunctionBuilder, p: &[Value]| {
                    let x = masked(b, p[0]);
                    let y = constant.map(|bits| b.constant(Constant::new(ty, bits)));
                    let y = y.unwrap_or_else(|| masked(b, p[1]));
                    b.binary(compare, x, y)
                };
                add(&compared);
                add(&|b, p| {
                    let condition = compared(b, p);
                    b.op(Opcode::Select, &[condition, p[1], p[2]])
                });
                add(&|b, p| {
                    let byte = compared(b, p);
                    let byte = b.cast(Type::U8, byte);
                    b.binary(Opcode::Add, byte, byte)
                });
            }
        }
    }
    all
}

/// A module of functions, each on four lanes: parameters and results are words in slots.
fn module(codes: &[(Function, Code)]) -> String {
    let k = Builder::new();
    for (number, (function, code)) in codes.iter().enumerate() {
        k.function(&format!("define void @f{number}(ptr %operands, ptr %results)"), |k| {
            let (operands, results) = (k.named(Ty::GENERIC, "%operands"), k.named(Ty::GENERIC, "%results"));
            let params = function.params.iter().enumerate();
            let word = |(place, &ty): (usize, &Type)| {
                let word = operands.at(SLOT * place).load(Ty::I32, 4);
                words::from_memory(word, ty)
            };
            let values = code.write(k, &params.map(word).collect::<Vec<_>>());
            for (place, (value, ty)) in values.into_iter().zip(function.result_types()).enumerate() {
                results.at(SLOT * place).store(words::to_memory(value, ty), 4);
            }
        });
    }
    k.finish()
}

/// Compares functions with the interpreter, four cases at a time.
fn check(codes: &[(Function, Code)], cases: &[Vec<Constant>]) {
    compiled(&module(codes), codes.len(), |lowered| {
        for ((function, _), lowered) in codes.iter().zip(lowered) {
            for four in cases.chunks_exact(4) {
                let mut memory = vec![Slot([0; SLOT]); function.params.len()];
                let mut result = Slot([0xaa; SLOT]);
                for (lane, operands) in four.iter().enumerate() {
                    let bytes = memory.iter_mut().zip(operands).filter(|(_, operand)| is_byte(operand.ty()));
                    bytes.for_each(|(slot, operand)| slot.0[lane] = operand.to_bytes()[0]);
                }
                // SAFETY: the function reads a slot for each parameter, and writes one, for its only result.
                unsafe { lowered(memory.as_ptr(), &mut result) };
                for (lane, operands) in four.iter().enumerate() {
                    let expected = interp::call(function, operands, &[])[0].to_bytes()[0];
                    let found = result.0[lane];
                    assert_eq!(found, expected, "lane {lane} of {} of {four:?}", describe(function));
                }
            }
        }
    });
}

#[test]
fn four_lanes_are_what_the_interpreter_says() {
    for ty in TYPES {
        let functions = [functions(ty), ranged(ty), of_few_bits(ty)].concat().into_iter();
        let codes = functions.filter_map(|function| {
            let ranges: Vec<Range> = function.params.iter().map(|&ty| Range::full(ty)).collect();
            let code = Code::new(&function, &ranges).filter(|_| function.result_types().into_iter().all(is_byte))?;
            Some((function, code))
        });
        let codes: Vec<(Function, Code)> = codes.collect();
        let has = |opcode| codes.iter().any(|(f, _)| f.insts.iter().any(|inst| inst.opcode == opcode));
        use Opcode::{Add, And, Cast, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Neg, Not, Or, Select, Shl, Sub, Xor};
        assert!([And, Or, Xor, Not, Eq, Ne, Select, Cast].into_iter().all(has), "{ty}");
        let of_numbers = [Add, Sub, Neg, Min, Max, Lt, Le, Gt, Ge, Shl];
        assert!(ty == Type::Bool || of_numbers.into_iter().all(has), "{ty}");
        codes.chunks(200).for_each(|codes| check(codes, &operands(ty)));
    }
}

/// Exclusive or of bytes, with something else in some place.
fn program(inputs: &str, lift: &str, project: &str) -> String {
    format!(
        "program of_bytes
  {inputs}
  stage (u8)
    identity (0)
    lift {lift}
    combine (%0: u8, %1: u8) {{
      %2 = xor.u8 %0, %1
      return %2
    }}
  output write
    column {{ size 1, align 1, u8 @ 0 }}
    project {project}"
    )
}

#[test]
fn programs_of_bytes_have_a_packed_form() {
    let byte = "input { size 1, align 1, u8 @ 0 }";
    let pair = "input { size 2, align 1, u8 @ 0, u8 @ 1 }";
    let record = "(%0 = record.0: u8) { return %0 }";
    let next = "(%0 = next.0: u8) { return %0 }";
    let init = "(%0 = state.0: u8, %1 = init.0.0: u8) {\n %2 = xor.u8 %0, %1\n return %2 }";
    let index = "(%0 = state.0: u8, %1 = index: u64) {\n %2 = cast.u8 %1\n %3 = xor.u8 %0, %2\n return %3 }";
    let product = "(%0 = record.0: u8) {\n %1 = mul.u8 %0, %0\n return %1 }";
    let state = "(%0 = state.0: u8) { return %0 }";
    let both = "(%0 = state.0: u8, %1 = before.0.0: u8, %2 = record.0: u8) {\n %3 = or.u8 %0, %1\n return %3 }";
    for (inputs, lift, project, has) in [
        (byte, record, state, true),
        (byte, record, both, true),
        (pair, record, state, false),
        (byte, next, state, false),
        (byte, product, state, false),
        (byte, record, init, true),
        (byte, record, index, false),
    ] {
        let source = program(inputs, lift, project);
        let program = lower(&verify(text::parse(&source).unwrap()).unwrap(), Form::default());
        let recipe = Recipe::new(&program, None);
        assert_eq!(recipe.packed.is_some(), has, "{source}");
    }
}

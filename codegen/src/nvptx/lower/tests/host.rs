//! Runs lowered functions on the processor that this test runs on, optimised as for a GPU, by
//! LLVM's own compiler.

use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use monoscan_ir::{Constant, Function, Inst, Opcode, Payload, Table, Type, Value, evaluate, interp};

use super::{SLOT, module};
use scan_kit::opcodes::describe;

/// A lowered function: reads its operands, writes its results, each in a slot.
pub(crate) type Lowered = unsafe extern "C" fn(*const Slot, *mut Slot);

/// The memory of one operand or result.
#[repr(align(16))]
#[derive(Clone)]
pub(crate) struct Slot(pub(crate) [u8; SLOT]);

/// The intrinsics that lowered functions call, by the words of `intrinsics.ll`.
fn intrinsics() -> [(&'static str, usize); 6] {
    [
        ("scan.pick_bytes", pick_bytes as *const () as usize),
        ("scan.from_f16", from_f16 as *const () as usize),
        ("scan.to_f16", to_f16 as *const () as usize),
        ("scan.to_bf16", to_bf16 as *const () as usize),
        ("scan.float_bits", float_bits as *const () as usize),
        ("scan.double_bits", double_bits as *const () as usize),
    ]
}

extern "C" fn pick_bytes(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let pick = |place: u32| {
        let nibble = selector >> (4 * place) & 15;
        assert!(nibble < 8, "nibble {place} of selector {selector:x}");
        u32::from(bytes[nibble as usize]) << (8 * place)
    };
    (0..4).map(pick).sum()
}

fn convert<T: Into<Constant>>(opcode: Opcode, to: Type, operand: T) -> u32 {
    let inst = Inst::new(opcode, to, &[Value::new(0)], Payload::None);
    evaluate(&inst, &[operand.into()], &[]).expect("a conversion of its type").bits() as u32
}

// Of an `i16` the upper bits of the register are open.
extern "C" fn from_f16(bits: u32) -> f32 {
    f32::from_bits(convert(Opcode::FromF16, Type::F32, bits as u16))
}

extern "C" fn to_f16(value: f32) -> u32 {
    convert(Opcode::ToF16, Type::U16, value)
}

extern "C" fn to_bf16(value: f32) -> u32 {
    convert(Opcode::ToBf16, Type::U16, value)
}

extern "C" fn float_bits(value: f32) -> u32 {
    value.to_bits()
}

extern "C" fn double_bits(value: f64) -> u64 {
    value.to_bits()
}

/// Optimises and compiles a module of so many functions, and runs a closure on them.
pub(crate) fn compiled(text: &str, count: usize, run: impl FnOnce(&[Lowered])) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| Target::initialize_native(&InitializationConfig::default()).expect("LLVM knows this machine"));
    let text = text.replace("addrspace(1)", "");
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "lowered");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"));
    module.verify().unwrap_or_else(|error| panic!("{error}"));
    let triple = TargetMachine::get_default_triple();
    let machine = Target::from_triple(&triple)
        .expect("LLVM knows this machine")
        .create_target_machine(&triple, "", "", OptimizationLevel::Default, RelocMode::Default, CodeModel::Default)
        .expect("LLVM knows this machine");
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.run_passes("default<O3>", &machine, PassBuilderOptions::create()).expect("passes that are there");
    let engine = module.create_jit_execution_engine(OptimizationLevel::Default).expect("a compiler for this machine");
    for (name, address) in intrinsics() {
        if let Some(intrinsic) = module.get_function(name) {
            engine.add_global_mapping(&intrinsic, address);
        }
    }
    let lowered: Vec<Lowered> = (0..count).map(|number| address(&engine, number)).collect();
    run(&lowered);
}

fn address(engine: &ExecutionEngine<'_>, number: usize) -> Lowered {
    let address = engine.get_function_address(&format!("f{number}")).expect("the function is in the module");
    // SAFETY: `module` wrote this function with two pointers as parameters, no result and the C convention.
    unsafe { std::mem::transmute::<usize, Lowered>(address) }
}

/// Compares each function with the interpreter on all operands that `operands_of` gives for it.
pub(super) fn check(functions: &[Function], tables: &[Table], operands_of: impl Fn(usize) -> Vec<Vec<Constant>>) {
    compiled(&module("", functions, tables), functions.len(), |lowered| {
        for (number, (function, lowered)) in functions.iter().zip(lowered).enumerate() {
            let types = function.result_types();
            let mut memory = vec![Slot([0; SLOT]); function.params.len()];
            let mut results = vec![Slot([0xaa; SLOT]); types.len()];
            for operands in operands_of(number) {
                for (slot, operand) in memory.iter_mut().zip(&operands) {
                    let bytes = operand.to_bytes();
                    slot.0[..bytes.len()].copy_from_slice(&bytes);
                }
                // SAFETY: the function reads a slot for each parameter and writes one for each result.
                unsafe { lowered(memory.as_ptr(), results.as_mut_ptr()) };
                let what = || format!("{} of {operands:?}", describe(function));
                let expected = interp::call(function, &operands, tables);
                for ((Slot(slot), &ty), expected) in results.iter().zip(&types).zip(expected) {
                    let found = Constant::from_bytes(ty, slot);
                    let clean = ty != Type::Bool || slot[0] <= 1;
                    let right = clean && expected.same(found);
                    assert!(right, "{}: {expected:?}, found {found:?} in {slot:x?}", what());
                    let above = if ty.is_vector() { 0 } else { 0xaa };
                    assert!(slot[ty.size()..].iter().all(|&byte| byte == above), "{}: {slot:x?}", what());
                }
            }
        }
    });
}

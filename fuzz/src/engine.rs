//! The interpreter against compiled code, under any plan.
//!
//! A grown program has an exactly associative operator, so every plan must give what the
//! interpreter gives. Of a damaged one the sequential plan must, whatever its operator has become;
//! and so must every plan where the laws are proved for all states and wrapping integers, which
//! tries the proofs too.

use monoscan_ir::interp::{self, Request};
use monoscan_ir::laws::Overflow;
use monoscan_ir::{Function, Inst, Mode, Opcode, Program, Type, verify};
use monoscan_runtime::{DynScan, PlanOptions};
use scan_kit::random::Options;

use crate::bytes::Bytes;
use crate::damage::damage;
use crate::{columns, edit};

/// A program, its input and a plan, all decided by the bytes.
///
/// # Panics
/// If compiled code differs from the interpreter.
pub fn engine(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let stages = 1 + bytes.below(3);
    let options = Options { stages, allow_emit: bytes.chance(4), ..Options::default() };
    let grown = edit::grown(&mut bytes, &options);
    let mut program = grown.clone();
    damage(&mut bytes, &mut program);
    let is_grown = program == grown;
    let program = verify(program).unwrap_or_else(|diagnostics| panic!("damaged too much: {diagnostics}"));
    if !is_grown && shows_nan(&program) {
        return;
    }
    let vector = *bytes.pick(&[None, Some(true), Some(false)]);
    let sequentially = PlanOptions { direct: Some(usize::MAX), vector: Some(false), ..PlanOptions::default() };
    let (interleave, block) = (1 << bytes.below(4), 1 + bytes.below(40));
    let in_tiles = PlanOptions {
        interleave: Some(interleave),
        block: Some(block),
        strips: Some(1 + bytes.below(3)),
        direct: Some(0),
        vector,
        streaming: block.is_multiple_of(2).then_some(0),
        native: None,
    };
    let threads = 1 + bytes.below(3);
    let records = bytes.below(400);
    let inputs: Vec<Vec<u8>> = program.inputs.iter().map(|layout| bytes.fill(records * layout.size as usize)).collect();
    for (plan, threads) in [(sequentially, 1), (in_tiles, threads)] {
        let builder = DynScan::builder(program.clone()).overflow(Overflow::Wraps).threads(threads).plan(plan.clone());
        let scan = match builder.assume_associative().build() {
            Ok(scan) => scan,
            Err(error) => panic!("{error}\n{}", *program),
        };
        let is_exact = is_grown || plan.direct == Some(usize::MAX) || is_exact_in_any_plan(&scan);
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            compare(&scan, mode, &inputs, is_exact);
        }
    }
}

fn compare(scan: &DynScan, mode: Mode, inputs: &[Vec<u8>], is_exact: bool) {
    let program = scan.program();
    let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let expected = interp::run(program, &slices, &Request { mode, ..Request::default() }).expect("whole columns");
    let records = inputs[0].len() / program.inputs[0].size as usize;
    let layouts = &program.output.columns;
    let mut found: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; records * layout.size as usize]).collect();
    let call = monoscan_runtime::Call { mode, ..Default::default() };
    let count = match scan.run(&call, &columns::read(inputs, &program.inputs), &mut columns::write(&mut found, layouts))
    {
        Ok(count) => count,
        Err(error) => panic!("{error}\n{}", **program),
    };
    if !is_exact {
        return;
    }
    assert_eq!(count, expected.count, "records written, {mode:?}, {:?}\n{}", scan.plan(), **program);
    for ((found, expected), layout) in found.iter().zip(&expected.outputs).zip(layouts) {
        let found = &found[..count * layout.size as usize];
        columns::must_be_same(layout, found, expected, || format!("{mode:?}, {:?}\n{}", scan.plan(), **program));
    }
}

/// Whether the laws are proved of all states there can be, with integers that wrap, and no float is rounded.
fn is_exact_in_any_plan(scan: &DynScan) -> bool {
    let program = scan.program();
    let judgement = scan.judgement();
    let is_proved = judgement.associativity.is_proved() && judgement.identity.is_proved();
    let has_floats = |function: &Function| function.insts.iter().any(|inst| inst.ty.is_float());
    let is_exact = program.stages.iter().all(|stage| stage.valid.is_none() && !has_floats(&stage.combine));
    is_proved && is_exact && program.stages.len() == 1
}

/// Whether some instruction tells one NaN from another: the interpreter and a processor make different ones.
fn shows_nan(program: &Program) -> bool {
    let shows = |function: &Function| {
        let has_float =
            |inst: &Inst| inst.operands().iter().any(|&operand| function.type_of(operand).is_some_and(Type::is_float));
        function.insts.iter().any(|inst| match inst.opcode {
            Opcode::Bitcast | Opcode::ToF16 | Opcode::ToBf16 | Opcode::CopySign => has_float(inst),
            _ => false,
        })
    };
    program.functions().any(shows)
}

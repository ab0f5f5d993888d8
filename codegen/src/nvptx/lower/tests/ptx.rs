//! Lowered functions as PTX: LLVM's backend knows every instruction (it ends the process at one
//! that it does not), NVIDIA's assembler takes the text, floats stay strict, and permutations cost
//! what they should.

use monoscan_ir::facts::Range;
use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Rule, Table, Type, Value};

use super::cases::random_functions;
use super::{Code, Tables, module, to_memory};
use crate::nvptx::emit::{Builder, Ty};
use crate::nvptx::emit::{Passes, assemble};
use scan_kit::opcodes::{functions, tables, vector};
use scan_kit::ptxas;

/// Processors, each with the oldest version of PTX that has what monoscan asks of it.
const PROCESSORS: [(&str, &str); 4] =
    [("sm_80", "+ptx84"), ("sm_90", "+ptx84"), ("sm_100", "+ptx86"), ("sm_120", "+ptx87")];

/// These functions as PTX that the assembler takes and that is strict.
fn compile(functions: &[Function], processor: (&str, &str)) -> String {
    compile_with(functions, &tables(), processor)
}

fn compile_with(functions: &[Function], tables: &[Table], (processor, version): (&str, &str)) -> String {
    let [ptx, _] = [Passes::All, Passes::Few].map(|passes| compile_by(passes, functions, tables, (processor, version)));
    ptx
}

fn compile_by(passes: Passes, functions: &[Function], tables: &[Table], (processor, version): (&str, &str)) -> String {
    let ptx = assemble(&module("ptx_kernel", functions, tables), passes, processor, version).unwrap();
    let report = ptxas::assemble(&ptx, processor).unwrap_or_else(|report| panic!("{processor}: {report}"));
    assert_eq!(report.matches("Compiling entry function").count(), functions.len(), "{report}");
    let loose: Vec<&str> = instructions(&ptx).filter(|instruction| is_loose(instruction)).collect();
    assert_eq!(loose, Vec::<&str>::new(), "{processor}");
    ptx
}

/// Every opcode on every type, alone.
fn alone() -> Vec<Function> {
    let types = Type::SCALARS.into_iter().chain((1..=16).map(vector));
    types.flat_map(functions).filter(|function| function.insts.len() == 1).collect()
}

/// The instructions of a PTX text, each without its operands.
fn instructions(ptx: &str) -> impl Iterator<Item = &str> {
    let code = ptx.lines().map(|line| line.trim_start()).filter(|line| line.ends_with(';') && !line.starts_with('.'));
    code.filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
}

/// The float instructions that there must not be: rounded otherwise than to nearest, flushed, or one that the assembler may
/// contract, as it may where no rounding is written.
fn is_loose(instruction: &str) -> bool {
    let parts: Vec<&str> = instruction.trim_end_matches(';').split('.').collect();
    let of_floats = parts.iter().any(|part| ["f32", "f64", "f32x2", "f16", "bf16"].contains(part));
    let rounds = ["add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp"].contains(&parts[0]);
    let flushed = parts.contains(&"ftz") || parts.contains(&"approx") || parts.contains(&"full");
    of_floats && (flushed || rounds && !parts.contains(&"rn"))
}

fn of_three(ty: Type, build: impl Fn(&mut FunctionBuilder, [Value; 3]) -> Value) -> Function {
    let mut b = FunctionBuilder::new();
    let params = b.params(&[ty; 3]);
    let result = build(&mut b, [params[0], params[1], params[2]]);
    b.finish(&[result])
}

fn count(ptx: &str, what: &str) -> usize {
    instructions(ptx).filter(|instruction| instruction.starts_with(what)).count()
}

#[test]
fn every_opcode_is_ptx_on_every_processor_and_strict() {
    let (functions, tables) = (alone(), tables());
    // Passes come before what differs between processors.
    compile_by(Passes::Few, &functions, &tables, PROCESSORS[1]);
    for processor in PROCESSORS {
        let ptx = compile_by(Passes::All, &functions, &tables, processor);
        for exact in ["div.rn.f32", "div.rn.f64", "sqrt.rn.f32", "sqrt.rn.f64", "min.f32", "max.f64"] {
            assert!(count(&ptx, exact) > 0, "no {exact} on {processor:?}");
        }
        // One for each float type: of `mul_add`.
        assert_eq!(count(&ptx, "fma."), 2, "{processor:?}");
    }
}

#[test]
fn products_and_sums_stay_apart() {
    let mut apart = Vec::new();
    let mut fused = Vec::new();
    for ty in [Type::F32, Type::F64] {
        for sum in [Opcode::Add, Opcode::Sub] {
            apart.push(of_three(ty, |b, [x, y, z]| {
                let product = b.binary(Opcode::Mul, x, y);
                b.binary(sum, product, z)
            }));
            apart.push(of_three(ty, |b, [x, y, z]| {
                let product = b.binary(Opcode::Mul, x, y);
                let product = b.unary(Opcode::Neg, product);
                b.binary(sum, z, product)
            }));
        }
        apart.push(of_three(ty, |b, [x, y, z]| {
            let (first, second) = (b.binary(Opcode::Mul, x, y), b.binary(Opcode::Mul, y, z));
            b.binary(Opcode::Add, first, second)
        }));
        fused.push(of_three(ty, |b, p| b.op(Opcode::MulAdd, &p)));
    }
    for processor in PROCESSORS {
        let ptx = compile(&apart, processor);
        assert_eq!(count(&ptx, "fma") + count(&ptx, "mad"), 0, "{ptx}");
        assert_eq!(count(&ptx, "mul.rn.f"), 12, "{ptx}");
        assert_eq!(count(&compile(&fused, processor), "fma.rn.f"), 2);
    }
}

#[test]
fn random_functions_are_ptx() {
    for (seed, processor) in (1000..1040).zip(PROCESSORS.into_iter().cycle()) {
        let (functions, tables) = random_functions(seed);
        compile_with(&functions, &tables, processor);
    }
}

/// They differ from `min` and `max` for zeros and NaN.
#[test]
fn selects_by_comparison_stay_selects() {
    let by_comparison = |function: &Function| {
        let opcodes: Vec<Opcode> = function.insts.iter().map(|inst| inst.opcode).collect();
        matches!(opcodes.as_slice(), [compare, Opcode::Select] if matches!(compare.rule(), Rule::Compare(_)))
    };
    let functions: Vec<Function> =
        [Type::F32, Type::F64].into_iter().flat_map(functions).filter(by_comparison).collect();
    let ptx = compile(&functions, PROCESSORS[1]);
    assert_eq!(count(&ptx, "min.") + count(&ptx, "max."), 0);
    assert!(count(&ptx, "selp.") >= 30, "{}", functions.len());
}

/// A permutation whose indices are below `below`, some times over.
fn permutations(lanes: usize, below: u8, times: usize) -> Function {
    of_three(vector(lanes), |b, [mut x, y, _]| {
        let mask = b.constant(Constant::vector(&vec![below - 1; lanes]));
        let indices = b.binary(Opcode::And, y, mask);
        for _ in 0..times {
            x = b.op(Opcode::Permute, &[x, indices]);
        }
        x
    })
}

#[test]
fn permutations_cost_what_their_indices_need() {
    // One to pack the indices of one or two words; then for each word one below 8, three below 16.
    for (lanes, below, packing, picking) in [(4, 4, 1, 1), (8, 8, 1, 2), (12, 8, 2, 3), (16, 8, 2, 4), (16, 16, 2, 12)]
    {
        // What no later one reads is not computed.
        let whole = below as usize == lanes;
        for times in if whole { 1..4 } else { 1..2 } {
            let ptx = compile(&[permutations(lanes, below, times)], PROCESSORS[1]);
            assert_eq!(count(&ptx, "prmt"), packing + times * picking, "u8x{lanes} below {below}: {ptx}");
        }
    }
}

/// The element of a table at the first parameter, of which only these bits count.
fn element(table: usize, bits: u32) -> Function {
    let mut b = FunctionBuilder::new();
    let index = b.param(Type::U32);
    let bits = b.lit(bits);
    let index = b.binary(Opcode::And, index, bits);
    let element = b.table(table as u32, Type::U16, index);
    b.finish(&[element])
}

#[test]
fn only_indices_that_may_be_outside_are_clamped() {
    let table = tables().iter().position(|table| (table.ty, table.len()) == (Type::U16, 5)).unwrap();
    let clamps = |bits| count(&compile(&[element(table, bits)], PROCESSORS[1]), "min.");
    assert_eq!((clamps(3), clamps(7)), (0, 1));
}

#[test]
fn a_table_that_was_moved_is_read_where_it_is() {
    let contents = [Table::new(Type::U16, [3u16, 1, 4].map(Constant::from))];
    let k = Builder::new();
    k.function("define ptx_kernel void @f(i32 %index, ptr addrspace(3) %copy, ptr %result)", |k| {
        let (index, result) = (k.named(Ty::I32, "%index"), k.named(Ty::GENERIC, "%result"));
        let mut tables = Tables::in_module(k, &contents);
        tables.moved(0, k.named(Ty::SHARED, "%copy"), false);
        let code = Code::new(&element(0, u32::MAX), &[Range::full(Type::U32)], &contents);
        let values = code.write(k, &[index], &tables);
        result.store(to_memory(values[0], Type::U16), 2);
        assert_eq!(tables.get(0).map(|place| place.size()), Some(6));
    });
    let ptx = assemble(&k.finish(), Passes::All, "sm_90", "+ptx84").unwrap();
    assert_eq!((count(&ptx, "ld.shared.b16"), count(&ptx, "ld.global")), (1, 0), "{ptx}");
}

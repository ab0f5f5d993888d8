//! Sequential loops that stop, by a flag that is a truth value or a number.

use super::Random;
use super::loops::{Step, small, written};
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{FunctionBuilder, Mapping, Opcode, Source, Type};

/// A value that goes on until a test of it, or of a record, sets the flag; and maybe a count of the records up to there.
pub(super) fn stopped(name: String, rng: &mut Random) -> LoopProgram {
    use Opcode::{Add, Eq, Gt, Lt, Max, Ne, Sub};
    let ty = *rng.pick(&[Type::I64, Type::I32, Type::I16, Type::F64]);
    let flag_ty = *rng.pick(&[Type::Bool, Type::U8, Type::U8, Type::I32, Type::I64]);
    let counts = rng.chance(3);
    let states = [vec![ty, flag_ty], vec![Type::U32; usize::from(counts)]].concat();
    let mut step = Step { b: FunctionBuilder::new(), pool: Vec::new() };
    let all = step.b.params(&[states.clone(), vec![ty; 2]].concat());
    let (value, flag, records) = (all[0], all[1], &all[states.len()..]);
    step.pool = records.to_vec();
    // The number that stays, and one until then.
    let kept = if flag_ty == Type::Bool || rng.chance(2) { rng.below(2) } else { 2 + rng.below(3) } as i64;
    let running = if kept == 1 { 0 } else { 1 };
    let [stays, goes_on] = [kept, running].map(|number| step.b.constant(flag_ty.of_i64(number)));

    let done = match rng.below(2) {
        0 => step.b.binary(Ne, flag, goes_on),
        _ => step.b.binary(Eq, flag, stays),
    };
    let moved = match rng.below(4) {
        0 => step.b.binary(Max, value, records[0]),
        1 => step.b.binary(Sub, value, records[0]),
        2 => records[0],
        _ => step.b.binary(Add, value, records[0]),
    };
    let limit = step.b.constant(ty.of_i64(rng.below(60) as i64 - 20));
    let tested = *rng.pick(&[moved, moved, value, records[1]]);
    let stops = step.b.binary(*rng.pick(&[Gt, Lt]), tested, limit);
    let set = match (kept, flag_ty) {
        (1, Type::U8 | Type::I32 | Type::I64) if rng.chance(2) => step.b.cast(flag_ty, stops),
        _ => step.b.select(stops, stays, goes_on),
    };
    let mut results = vec![step.b.select(done, value, moved), step.b.select(done, flag, set)];
    if counts {
        let one = step.b.lit(1u32);
        let more = step.b.binary(Add, all[2], one);
        results.push(step.b.select(done, all[2], more));
    }
    let first = if rng.chance(16) { kept } else { running };
    let mut initial = vec![small(rng, ty), flag_ty.of_i64(first)];
    initial.extend(counts.then(|| Type::U32.zero()));
    let reads = vec![Source::Record(0), Source::Record(1)];
    written(name, (vec![ty; 2], Vec::new()), initial, Mapping { reads, function: step.b.finish(&results) })
}

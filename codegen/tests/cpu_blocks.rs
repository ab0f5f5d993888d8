//! Blocks in one pass are, bit by bit, blocks in several: reduced, updated over and replayed. Also
//! where results are rounded.

mod cpu_support;

use cpu_support::{Columns, Slots, assert_same, compile_lanes, empty_outputs, run_tile};
use monoscan_codegen::cpu::Compiled;
use monoscan_ir::facts::LengthOnly;
use monoscan_ir::{Constant, Mode, Program, Verified, text, verify};
use scan_kit::Random;

/// Programs over two columns of a float type, all of whose arithmetic rounds.
fn programs(ty: &str, size: usize) -> Vec<Verified<Program>> {
    let affine = "
      stage (T, T)
        identity (1.0, 0.0)
        lift (%0 = record.0: T, %1 = record.1: T) { return %0, %1 }
        combine (%0: T, %1: T, %2: T, %3: T) {
          %4 = mul.T %2, %0
          %5 = mul.T %2, %1
          %6 = add.T %5, %3
          return %4, %6
        }
      output write
        column { size S, align S, T @ 0 }
        project (%0 = state.1: T) { return %0 }";
    // The first component depends on the number of elements alone: what reductions leave out.
    let decay = affine.replace(
        "lift (%0 = record.0: T, %1 = record.1: T) { return %0, %1 }",
        "lift (%0 = record.1: T) {
          %1 = const.T 0.875
          return %1, %0
        }",
    );
    let sum = "
      stage (T)
        identity (0.0)
        lift (%0 = record.0: T) { return %0 }
        combine (%0: T, %1: T) {
          %2 = add.T %0, %1
          return %2
        }
      output write
        column { size S, align S, T @ 0 }
        project (%0 = state.0: T, %1 = record.1: T) {
          %2 = mul.T %0, %1
          return %2
        }";
    // Lanes of 64 bits take the carry in turn here.
    let resets = "
      stage (T, bool)
        identity (0.0, false)
        lift (%0 = record.0: T, %1 = record.1: T) {
          %2 = const.T 0.8125
          %3 = lt.bool %1, %2
          return %0, %3
        }
        combine (%0: T, %1: bool, %2: T, %3: bool) {
          %4 = const.T 0.0
          %5 = select.T %3, %4, %0
          %6 = add.T %5, %2
          %7 = or.bool %1, %3
          return %6, %7
        }
      output write
        column { size S, align S, T @ 0 }
        project (%0 = state.0: T) { return %0 }";
    let program = |body: &str| {
        let columns = "input { size S, align S, T @ 0 }\n".repeat(2);
        let program = format!("program rounded\n{columns}{body}");
        let program = program.replace("size S, align S", &format!("size {size}, align {size}"));
        let program = program.replace(".T ", &format!(".{ty} ")).replace(": T", &format!(": {ty}"));
        let program = program.replace("(T, T)", &format!("({ty}, {ty})")).replace("(T)", &format!("({ty})"));
        let program = program.replace("(T, bool)", &format!("({ty}, bool)"));
        verify(text::parse(&program.replace(", T @", &format!(", {ty} @"))).unwrap()).unwrap()
    };
    [affine, &decay, sum, resets].map(program).to_vec()
}

/// Numbers around one, with digits to the end.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = f64> {
    let mut random = Random(seed);
    (0..count).map(move |_| 0.75 + random.unit() / 2.0)
}

/// The components of a slot.
fn state(slots: &mut Slots<'_>, program: &Program, slot: usize) -> Vec<Constant> {
    (0..program.stages[0].identity.len()).map(|component| slots.get(slot, component)).collect()
}

/// The left fold of the aggregates of all blocks, from the identity.
fn aggregate(compiled: &Compiled, program: &Program, inputs: &[&[u8]], block: usize) -> Vec<Constant> {
    let interleave = compiled.interleave() as usize;
    let mut slots = Slots::new(compiled, interleave + 1);
    let columns = Columns::new(inputs, &mut [], interleave * block);
    let args = columns.args(0, block, slots.at(0));
    // SAFETY: columns have records for all blocks, and each block has a slot.
    unsafe { compiled.reduce(0, &args) };
    slots.set_all(interleave, &program.stages[0].identity);
    let known = LengthOnly::of(&program.stages[0], &program.tables).after(block as u64);
    for own in 0..interleave {
        for (component, value) in known.iter().enumerate() {
            value.iter().for_each(|&value| slots.set(own, component, value));
        }
        let (total, next) = (slots.at(interleave), slots.at(own));
        // SAFETY: both are slots of this program's states.
        unsafe { compiled.combine(0, total, next, total) };
    }
    state(&mut slots, program, interleave)
}

fn check(program: &Verified<Program>, bytes_of: impl Fn(f64) -> Vec<u8>) {
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        for (interleave, block) in [(1, 16), (2, 48), (4, 112), (8, 16)] {
            let compiled = compile_lanes(program, mode, interleave as u32);
            assert!(compiled.scans_blocks_of(block) && !compiled.scans_blocks_of(block + 1));
            let total = interleave * block;
            let column = |seed| numbers(seed, total).flat_map(&bytes_of).collect::<Vec<u8>>();
            let inputs = [column(1), column(2)];
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let expected = run_tile(&compiled, program, &inputs, total);

            let mut outputs = empty_outputs(program, total);
            let columns = Columns::new(&inputs, &mut outputs, total);
            let mut slots = Slots::new(&compiled, 3);
            slots.set_all(0, &program.stages[0].identity);
            slots.set_all(2, &program.stages[0].identity);
            let known = LengthOnly::of(&program.stages[0], &program.tables).after(block as u64);
            for (component, value) in known.into_iter().enumerate() {
                value.into_iter().for_each(|value| slots.set(1, component, value));
            }
            let mut args = columns.args(0, block, slots.at(0));
            args.blocks = interleave as u64;
            args.adds = u64::from(mode == Mode::Inclusive);
            // SAFETY: columns have `total` records each, and there are three slots.
            unsafe { compiled.scan_blocks(&args) };
            assert_same(program, &outputs, &expected, &format!("{mode:?}, {interleave} × {block}"));
            let aggregate = match args.adds {
                0 => program.stages[0].identity.clone(),
                _ => aggregate(&compiled, program, &inputs, block),
            };
            assert_eq!(state(&mut slots, program, 2), aggregate, "{mode:?}, {interleave} × {block}");
        }
    }
}

#[test]
fn blocks_in_one_pass_round_as_blocks_in_several() {
    for program in programs("f32", 4) {
        check(&program, |value| (value as f32).to_le_bytes().to_vec());
    }
    for program in programs("f64", 8) {
        check(&program, |value| value.to_le_bytes().to_vec());
    }
}

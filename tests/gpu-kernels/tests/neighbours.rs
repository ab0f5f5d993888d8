//! The record before, read where it lies, by each schedule: in tiles of every length around their
//! ends, in columns of several sizes, at any address, from either end; beside parameters.

use monoscan_codegen::gpu::GpuPlan;
use monoscan_ir::transform::Form;
use monoscan_ir::{text, verify};
use scan_gpu_kernels::{Call, Case, SCHEDULES, Subject};
use scan_kit::Random;

/// Flags of keys that change, as segments by keys are made: no output reads a state.
const KEYS: &str = "
program keys
  input { size 12, align 4, u32 @ 0, u8 @ 4, u16 @ 8 }
  stage (bool)
    identity (false)
    lift () {
      %0 = const.bool false
      return %0
    }
    combine (%0: bool, %1: bool) {
      %2 = or.bool %0, %1
      return %2
    }
  output write
    column { size 1, align 1, bool @ 0 }
    project (%0 = record.1: u8, %1 = prev.1: u8, %2 = first: bool) {
      %3 = ne.bool %0, %1
      %4 = or.bool %3, %2
      return %4
    }";

/// Sums of differences from both neighbours, scaled by a parameter, of columns of three sizes.
const DIFFERENCES: &str = "
program differences
  input { size 4, align 4, u32 @ 0 }
  input { size 3, align 1, u8 @ 1 }
  parameter u32
  stage (u32)
    identity (0)
    lift (%0 = record.0: u32, %1 = prev.0: u32, %2 = next.1: u8, %3 = prev.1: u8, %4 = parameter.0: u32) {
      %5 = sub.u32 %0, %1
      %6 = mul.u32 %5, %4
      %7 = xor.u8 %2, %3
      %8 = cast.u32 %7
      %9 = add.u32 %6, %8
      return %9
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32) { return %0 }";

#[test]
fn the_record_before_is_read_by_every_schedule() {
    let mut random = Random(17);
    for source in [KEYS, DIFFERENCES] {
        let case = Case::of_bytes(verify(text::parse(source).unwrap()).unwrap());
        for schedule in SCHEDULES {
            for (heads, load_groups) in [(false, 1), (true, 1), (false, 3)] {
                let form = Form { heads, ..Form::default() };
                let plan = GpuPlan { schedule, warps: 2, load_group: 4, load_groups };
                let Ok(subject) = Subject::new(&case, form, &plan) else { panic!("{plan} does not fit") };
                for _ in 0..6 {
                    let calls: Vec<Call> = (0..2).map(|_| Call::random(&mut random, &subject, 3000)).collect();
                    subject.must_be_right(&calls);
                }
            }
        }
    }
}

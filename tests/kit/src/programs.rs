//! Programs whose results show what a call did.

use monoscan_ir::{Program, Verified, text, verify};

/// Running sums of one column.
pub const RUNNING_SUM: &str = "
program running_sum
  input { size 4, align 4, i32 @ 0 }
  stage (i32)
    identity (0)
    lift (%0 = record.0: i32) { return %0 }
    combine (%0: i32, %1: i32) {
      %2 = add.i32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, i32 @ 0 }
    project (%0 = state.0: i32) { return %0 }
";

/// Writes digits one behind the other: `next` is appended to `self`. What is combined, and in which order, can be read off:
/// 1, 2, 3 give 1, 12, 123.
pub const DIGITS: &str = "
program digits
  input { size 8, align 8, u64 @ 0 }
  stage (u64, u64)
    identity (0, 1)
    lift (%0 = record.0: u64) {
      %1 = const.u64 10
      return %0, %1
    }
    combine (%0: u64, %1: u64, %2: u64, %3: u64) {
      %4 = mul.u64 %0, %3
      %5 = add.u64 %4, %2
      %6 = mul.u64 %1, %3
      return %5, %6
    }
  output write
    column { size 8, align 8, u64 @ 0 }
    project (%0 = state.0: u64) { return %0 }
";

/// [`DIGITS`], of which the numbers that end in an odd digit are kept.
pub fn odd_digits() -> String {
    let filter =
        "filter (%0 = record.0: u64) { %1 = const.u64 1\n %2 = and.u64 %0, %1\n %3 = eq.bool %2, %1\n return %3 }";
    DIGITS.replace("write", "emit").replace("    project", &format!("    {filter}\n    project"))
}

/// A sum, whose output is what an element sees around it: index, next record and whether there is none.
pub const AROUND: &str = "
program around
  input { size 1, align 1, u8 @ 0 }
  stage (u8)
    identity (0)
    lift (%0 = record.0: u8) { return %0 }
    combine (%0: u8, %1: u8) {
      %2 = add.u8 %0, %1
      return %2
    }
  output write
    column { size 8, align 8, u64 @ 0 }
    column { size 1, align 1, u8 @ 0 }
    column { size 1, align 1, bool @ 0 }
    project (%0 = index: u64, %1 = next.0: u8, %2 = last: bool) { return %0, %1, %2 }
";

/// Two stages: the digits as above, and the sum of what they were before each element.
pub const CASCADE: &str = "
program cascade
  input { size 8, align 8, u64 @ 0 }
  stage (u64, u64)
    identity (0, 1)
    lift (%0 = record.0: u64) {
      %1 = const.u64 10
      return %0, %1
    }
    combine (%0: u64, %1: u64, %2: u64, %3: u64) {
      %4 = mul.u64 %0, %3
      %5 = add.u64 %4, %2
      %6 = mul.u64 %1, %3
      return %5, %6
    }
  stage (u64)
    identity (0)
    lift (%0 = before.0.0: u64) { return %0 }
    combine (%0: u64, %1: u64) {
      %2 = add.u64 %0, %1
      return %2
    }
  output write
    column { size 8, align 8, u64 @ 0 }
    project (%0 = state.0: u64) { return %0 }
";

/// Run lengths: a run of equal bytes ends where the next byte differs; the last of each run is kept, with the length of the run.
pub const RUN_LENGTHS: &str = "
program run_lengths
  input { size 1, align 1, u8 @ 0 }
  stage (u64, bool)
    identity (0, false)
    lift (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool) {
      %3 = ne.bool %0, %1
      %4 = or.bool %2, %3
      %5 = const.u64 1
      %6 = const.u64 0
      %7 = select.u64 %4, %6, %5
      return %7, %4
    }
    combine (%0: u64, %1: bool, %2: u64, %3: bool) {
      %4 = add.u64 %0, %2
      %5 = select.u64 %3, %2, %4
      %6 = or.bool %1, %3
      return %5, %6
    }
  output emit
    column { size 1, align 1, u8 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool) {
      %3 = ne.bool %0, %1
      %4 = or.bool %2, %3
      return %4
    }
    project (%0 = record.0: u8, %1 = before.0.0: u64) {
      %2 = const.u64 1
      %3 = add.u64 %1, %2
      return %0, %3
    }
";

/// `y[i] = 3·y[i-1] + x[i]`: the factor depends on how many elements there are alone, unless an initial state brings another one.
pub const RECURRENCE: &str = "
program recurrence
  input { size 4, align 4, u32 @ 0 }
  stage (u32, u32)
    identity (1, 0)
    lift (%0 = record.0: u32) {
      %1 = const.u32 3
      return %1, %0
    }
    combine (%0: u32, %1: u32, %2: u32, %3: u32) {
      %4 = mul.u32 %2, %0
      %5 = mul.u32 %2, %1
      %6 = add.u32 %5, %3
      return %4, %6
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.1: u32) { return %0 }
";

/// [`RECURRENCE`] that also writes the power of the factor.
pub fn powers() -> String {
    let column = "    column { size 4, align 4, u32 @ 0 }\n";
    RECURRENCE
        .replace(column, &column.repeat(2))
        .replace("(%0 = state.1: u32) { return %0 }", "(%0 = state.0: u32, %1 = state.1: u32) { return %0, %1 }")
}

/// The greatest byte so far, and whether it is below 256: always, unless an initial state is not.
pub const BOUNDED: &str = "
program bounded
  input { size 1, align 1, u8 @ 0 }
  stage (u32)
    identity (0)
    lift (%0 = record.0: u8) {
      %1 = cast.u32 %0
      return %1
    }
    combine (%0: u32, %1: u32) {
      %2 = max.u32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    column { size 1, align 1, bool @ 0 }
    project (%0 = state.0: u32) {
      %1 = const.u32 256
      %2 = lt.bool %0, %1
      return %0, %2
    }
";

/// A path through sixteen states: maps between them, composed; the output is where each state has gone.
pub const AUTOMATON: &str = "
program automaton
  input { size 16, align 1, u8x16 @ 0 }
  stage (u8x16)
    identity ([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15])
    lift (%0 = record.0: u8x16) {
      %1 = const.u8x16 [15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15]
      %2 = and.u8x16 %0, %1
      return %2
    }
    combine (%0: u8x16, %1: u8x16) {
      %2 = permute.u8x16 %1, %0
      return %2
    }
    valid (%0: u8x16) {
      %1 = const.u8x16 [15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15]
      %2 = and.u8x16 %0, %1
      %3 = eq.bool %2, %0
      return %3
    }
  output write
    column { size 16, align 1, u8x16 @ 0 }
    project (%0 = state.0: u8x16) { return %0 }
";

/// All programs of this page.
pub fn all() -> Vec<Verified<Program>> {
    let constant = [DIGITS, AROUND, CASCADE, RUN_LENGTHS, RECURRENCE, BOUNDED, AUTOMATON].map(parse);
    constant.into_iter().chain([parse(&odd_digits()), parse(&powers())]).collect()
}

pub fn parse(source: &str) -> Verified<Program> {
    verify(text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"))).unwrap()
}

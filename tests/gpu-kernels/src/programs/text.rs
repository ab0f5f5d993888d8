//! Programs in text form, written for what kernels do in different ways.

/// `+` on a type.
pub(super) fn sum(ty: &str, size: usize) -> String {
    format!(
        "program sum_{ty}
  input {{ size {size}, align {size}, {ty} @ 0 }}
  stage ({ty})
    identity (0)
    lift (%0 = record.0: {ty}) {{ return %0 }}
    combine (%0: {ty}, %1: {ty}) {{
      %2 = add.{ty} %0, %1
      return %2
    }}
  output write
    column {{ size {size}, align {size}, {ty} @ 0 }}
    project (%0 = state.0: {ty}) {{ return %0 }}"
    )
}

/// y[i] = a[i]·y[i-1] + b[i] in wrapping integers, with its input and output as columns of these layouts. Factors are odd:
/// products of others soon are 0, which hides what came before.
pub(super) fn recurrence(ty: &str, inputs: &str, output: &str) -> String {
    format!(
        "program recurrence
  {inputs}
  stage ({ty}, {ty})
    identity (1, 0)
    lift (%0 = record.0: {ty}, %1 = record.1: {ty}) {{
      %2 = const.{ty} 1
      %3 = or.{ty} %0, %2
      return %3, %1
    }}
    combine (%0: {ty}, %1: {ty}, %2: {ty}, %3: {ty}) {{
      %4 = mul.{ty} %2, %0
      %5 = mul.{ty} %2, %1
      %6 = add.{ty} %5, %3
      return %4, %6
    }}
  output write
    column {output}
    project (%0 = state.1: {ty}) {{ return %0 }}"
    )
}

/// Products of unitriangular matrices of a type, (a, b, corner).
pub(super) fn unitriangular(ty: &str, size: usize) -> String {
    let record = format!("{{ size {}, align {size}, {ty} @ 0, {ty} @ {size}, {ty} @ {} }}", 3 * size, 2 * size);
    format!(
        "program unitriangular_{ty}
  input {record}
  stage ({ty}, {ty}, {ty})
    identity (0, 0, 0)
    lift (%0 = record.0: {ty}, %1 = record.1: {ty}, %2 = record.2: {ty}) {{ return %0, %1, %2 }}
    combine (%0: {ty}, %1: {ty}, %2: {ty}, %3: {ty}, %4: {ty}, %5: {ty}) {{
      %6 = add.{ty} %0, %3
      %7 = add.{ty} %1, %4
      %8 = mul.{ty} %0, %4
      %9 = add.{ty} %2, %5
      %10 = add.{ty} %9, %8
      return %6, %7, %10
    }}
  output write
    column {record}
    project (%0 = state.0: {ty}, %1 = state.1: {ty}, %2 = state.2: {ty}) {{ return %0, %1, %2 }}"
    )
}

/// Records with gaps, in and out.
pub(super) const PADDED: &str = "
program padded
  input { size 8, align 4, u8 @ 0, u32 @ 4 }
  stage (u32, u8)
    identity (0, 0)
    lift (%0 = record.0: u8, %1 = record.1: u32) { return %1, %0 }
    combine (%0: u32, %1: u8, %2: u32, %3: u8) {
      %4 = add.u32 %0, %2
      %5 = max.u8 %1, %3
      return %4, %5
    }
  output write
    column { size 12, align 4, u8 @ 1, u32 @ 4, u8 @ 11 }
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32, %1 = state.1: u8, %2 = index: u64) {
      %3 = cast.u32 %2
      return %1, %0, %1, %3
    }
";

/// The depth of brackets, as bits of bytes; records where it is a multiple of four are kept, with their depth and index.
pub(super) const BRACKETS: &str = "
program brackets
  input { size 1, align 1, u8 @ 0 }
  stage (i32)
    identity (0)
    lift (%0 = record.0: u8) {
      %1 = const.u8 1
      %2 = and.u8 %0, %1
      %3 = eq.bool %2, %1
      %4 = const.i32 1
      %5 = const.i32 -1
      %6 = select.i32 %3, %4, %5
      return %6
    }
    combine (%0: i32, %1: i32) {
      %2 = add.i32 %0, %1
      return %2
    }
  output emit
    column { size 8, align 8, u64 @ 0 }
    column { size 4, align 4, i32 @ 0 }
    filter (%0 = after.0.0: i32) {
      %1 = const.i32 3
      %2 = and.i32 %0, %1
      %3 = const.i32 0
      %4 = eq.bool %2, %3
      return %4
    }
    project (%0 = index: u64, %1 = state.0: i32) { return %0, %1 }
";

/// Three stages, each following the ones before; indexes, next records and initial states are read as well.
pub(super) const CASCADE: &str = "
program cascade_of_three
  input { size 4, align 4, u32 @ 0 }
  stage (u32, u32)
    identity (1, 0)
    lift (%0 = record.0: u32, %1 = next.0: u32) {
      %2 = const.u32 1
      %3 = or.u32 %0, %2
      return %3, %1
    }
    combine (%0: u32, %1: u32, %2: u32, %3: u32) {
      %4 = mul.u32 %2, %0
      %5 = mul.u32 %2, %1
      %6 = add.u32 %5, %3
      return %4, %6
    }
  stage (u64)
    identity (0)
    lift (%0 = before.0.1: u32, %1 = index: u64) {
      %2 = cast.u64 %0
      %3 = xor.u64 %2, %1
      return %3
    }
    combine (%0: u64, %1: u64) {
      %2 = add.u64 %0, %1
      return %2
    }
  stage (u32)
    identity (0)
    lift (%0 = after.1.0: u64, %1 = init.0.1: u32, %2 = after.0.0: u32) {
      %3 = cast.u32 %0
      %4 = xor.u32 %3, %1
      %5 = xor.u32 %4, %2
      return %5
    }
    combine (%0: u32, %1: u32) {
      %2 = max.u32 %0, %1
      return %2
    }
  output write
    column { size 8, align 8, u64 @ 0 }
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32, %1 = before.1.0: u64, %2 = record.0: u32) {
      %3 = add.u32 %0, %2
      return %1, %3
    }
";

/// Intervals of indexes: any merge of two that do not touch is counted.
pub(super) const NEIGHBOURS: &str = "
program neighbours
  input { size 2, align 2, u16 @ 0 }
  stage (bool, u64, u64, u32)
    identity (true, 0, 0, 0)
    lift (%0 = index: u64) {
      %1 = const.u64 1
      %2 = add.u64 %0, %1
      %3 = const.bool false
      %4 = const.u32 0
      return %3, %0, %2, %4
    }
    combine (%0: bool, %1: u64, %2: u64, %3: u32, %4: bool, %5: u64, %6: u64, %7: u32) {
      %8 = add.u32 %3, %7
      %9 = eq.bool %2, %5
      %10 = or.bool %9, %0
      %11 = or.bool %10, %4
      %12 = const.u32 0
      %13 = const.u32 1
      %14 = select.u32 %11, %12, %13
      %15 = add.u32 %8, %14
      %16 = and.bool %0, %4
      %17 = select.u64 %0, %5, %1
      %18 = select.u64 %4, %2, %6
      return %16, %17, %18, %15
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    project (%0 = state.3: u32, %1 = state.2: u64) { return %0, %1 }
";

/// The sum of what a table has for each byte; most bytes are beyond its end.
pub(super) const LOOKED_UP: &str = "
program looked_up
  input { size 1, align 1, u8 @ 0 }
  table u32 = [1 2 3 5 8 13 21 34 55 89 144]
  stage (u32)
    identity (0)
    lift (%0 = record.0: u8) {
      %1 = cast.u32 %0
      %2 = table.u32 %1, @0
      return %2
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32) { return %0 }
";

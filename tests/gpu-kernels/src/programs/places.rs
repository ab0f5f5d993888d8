//! Programs in text form that keep some of their records, and whose states are the places of the
//! last records of some kind.

/// The last of neighbours that are the same in two bits, and how many they are: the first of them is the last record which differs
/// from the one before.
pub(super) const KEPT_RUNS: &str = "
program kept_runs
  input { size 4, align 4, u32 @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: u32, %1 = prev.0: u32, %2 = first: bool, %3 = index: u64) {
      %4 = xor.u32 %0, %1
      %5 = const.u32 3
      %6 = and.u32 %4, %5
      %7 = const.u32 0
      %8 = ne.bool %6, %7
      %9 = or.bool %8, %2
      %10 = const.u64 0
      %11 = select.u64 %9, %3, %10
      return %11
    }
    combine (%0: u64, %1: u64) {
      %2 = max.u64 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    column { size 4, align 4, u32 @ 0 }
    filter (%0 = record.0: u32, %1 = next.0: u32, %2 = last: bool) {
      %3 = xor.u32 %0, %1
      %4 = const.u32 3
      %5 = and.u32 %3, %4
      %6 = const.u32 0
      %7 = ne.bool %5, %6
      %8 = or.bool %7, %2
      return %8
    }
    project (%0 = record.0: u32, %1 = after.0.0: u64, %2 = index: u64) {
      %3 = sub.u64 %2, %1
      %4 = cast.u32 %3
      return %0, %4
    }
";

/// Tokens as labels of their bytes spell them: the kind of each that is kept, where it begins and where it ends. A byte from 128 on ends
/// one, unless it is 255 and another such follows.
pub(super) const KEPT_ENDS: &str = "
program kept_ends
  input { size 1, align 1, u8 @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool, %3 = index: u64) {
      %4 = const.u8 128
      %5 = ge.bool %0, %4
      %6 = and.u8 %0, %1
      %7 = const.u8 255
      %8 = ne.bool %6, %7
      %9 = or.bool %8, %2
      %10 = and.bool %5, %9
      %11 = const.u64 1
      %12 = add.u64 %3, %11
      %13 = const.u64 0
      %14 = select.u64 %10, %12, %13
      return %14
    }
    combine (%0: u64, %1: u64) {
      %2 = max.u64 %0, %1
      return %2
    }
  output emit
    column { size 1, align 1, u8 @ 0 }
    column { size 4, align 4, u32 @ 0 }
    column { size 4, align 4, u32 @ 0 }
    filter (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool) {
      %3 = const.u8 128
      %4 = ge.bool %0, %3
      %5 = and.u8 %0, %1
      %6 = const.u8 255
      %7 = ne.bool %5, %6
      %8 = or.bool %7, %2
      %9 = and.bool %4, %8
      %10 = const.u8 132
      %11 = ne.bool %0, %10
      %12 = and.bool %9, %11
      return %12
    }
    project (%0 = record.0: u8, %1 = before.0.0: u64, %2 = index: u64) {
      %3 = const.u8 127
      %4 = and.u8 %0, %3
      %5 = cast.u32 %1
      %6 = cast.u32 %2
      %7 = const.u32 1
      %8 = add.u32 %6, %7
      return %4, %5, %8
    }
";

/// Bytes that are kept, with the place behind the last small one before, and that of the last one which an odd one is before. Small ones
/// are rare, so that most threads see none. A component is the same for all.
pub(super) const KEPT_PLACES: &str = "
program kept_places
  input { size 1, align 1, u8 @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: u8, %1 = index: u64) {
      %2 = const.u8 4
      %3 = lt.bool %0, %2
      %4 = const.u64 1
      %5 = add.u64 %1, %4
      %6 = const.u64 0
      %7 = select.u64 %3, %5, %6
      return %7
    }
    combine (%0: u64, %1: u64) {
      %2 = max.u64 %0, %1
      return %2
    }
  stage (u64, u32)
    identity (0, 7)
    lift (%0 = prev.0: u8, %1 = index: u64) {
      %2 = const.u8 1
      %3 = and.u8 %0, %2
      %4 = eq.bool %3, %2
      %5 = const.u64 0
      %6 = select.u64 %4, %1, %5
      %7 = const.u32 7
      return %6, %7
    }
    combine (%0: u64, %1: u32, %2: u64, %3: u32) {
      %4 = max.u64 %0, %2
      %5 = const.u32 7
      %6 = xor.u32 %1, %3
      %7 = xor.u32 %6, %5
      return %4, %7
    }
  output emit
    column { size 1, align 1, u8 @ 0 }
    column { size 4, align 4, u32 @ 0 }
    column { size 16, align 8, u64 @ 0, u32 @ 8, u8 @ 15 }
    filter (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool) {
      %3 = add.u8 %0, %1
      %4 = const.u8 100
      %5 = lt.bool %3, %4
      %6 = or.bool %5, %2
      return %6
    }
    project (%0 = record.0: u8, %1 = before.0.0: u64, %2 = after.1.0: u64, %3 = before.1.1: u32, %4 = next.0: u8) {
      %5 = cast.u32 %1
      return %0, %5, %2, %3, %4
    }
";

/// Records that differ from the next one in two bits, with how many there are since the last such, and with that place and the own one:
/// the component asks what the filter asks.
pub(super) const KEPT_GAPS: &str = "
program kept_gaps
  input { size 4, align 4, u32 @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: u32, %1 = next.0: u32, %2 = last: bool, %3 = index: u64) {
      %4 = xor.u32 %1, %0
      %5 = const.u32 3
      %6 = and.u32 %4, %5
      %7 = const.u32 0
      %8 = ne.bool %6, %7
      %9 = or.bool %8, %2
      %10 = const.u64 1
      %11 = add.u64 %3, %10
      %12 = const.u64 0
      %13 = select.u64 %9, %11, %12
      return %13
    }
    combine (%0: u64, %1: u64) {
      %2 = max.u64 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = last: bool, %1 = next.0: u32, %2 = record.0: u32) {
      %3 = xor.u32 %2, %1
      %4 = const.u32 3
      %5 = and.u32 %3, %4
      %6 = const.u32 0
      %7 = ne.bool %5, %6
      %8 = or.bool %0, %7
      return %8
    }
    project (%0 = index: u64, %1 = before.0.0: u64, %2 = after.0.0: u64) {
      %3 = sub.u64 %0, %1
      %4 = cast.u32 %3
      return %4, %1, %2
    }
";

/// Bytes below 50, with the last such one before, and the last byte up to here that is odd.
pub(super) const KEPT_TWICE: &str = "
program kept_twice
  input { size 1, align 1, u8 @ 0 }
  stage (u64, u64)
    identity (0, 0)
    lift (%0 = record.0: u8, %1 = index: u64) {
      %2 = const.u8 50
      %3 = lt.bool %0, %2
      %4 = const.u8 1
      %5 = and.u8 %0, %4
      %6 = eq.bool %5, %4
      %7 = const.u64 0
      %8 = select.u64 %3, %1, %7
      %9 = const.u64 3
      %10 = add.u64 %1, %9
      %11 = select.u64 %6, %10, %7
      return %8, %11
    }
    combine (%0: u64, %1: u64, %2: u64, %3: u64) {
      %4 = max.u64 %0, %2
      %5 = max.u64 %1, %3
      return %4, %5
    }
  output emit
    column { size 8, align 8, u64 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = record.0: u8) {
      %1 = const.u8 50
      %2 = lt.bool %0, %1
      return %2
    }
    project (%0 = before.0.0: u64, %1 = after.0.1: u64) { return %0, %1 }
";

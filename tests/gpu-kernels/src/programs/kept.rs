//! Programs in text form that keep some of their records.

/// Records with a flag are kept, with their index and what differs from the record before: nothing else decides.
pub(super) const SELECTED: &str = "
program selected
  input { size 1, align 1, bool @ 0 }
  input { size 4, align 4, u32 @ 0 }
  stage (u32)
    identity (0)
    lift (%0 = record.0: bool) {
      %1 = const.u32 0
      return %1
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = record.0: bool) { return %0 }
    project (%0 = record.1: u32, %1 = prev.1: u32, %2 = index: u64) {
      %3 = xor.u32 %0, %1
      return %3, %2
    }
";

/// Records of which only themselves and their index are written, in columns as large as theirs: kept where they differ from the
/// next one in two bits.
pub(super) const KEPT_COLUMNS: &str = "
program kept_columns
  input { size 2, align 2, u16 @ 0 }
  input { size 16, align 8, u64 @ 0, u32 @ 8, u32 @ 12 }
  input { size 1, align 1, u8 @ 0 }
  stage (u32)
    identity (0)
    lift (%0 = record.0: u16) {
      %1 = const.u32 0
      return %1
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output emit
    column { size 16, align 8, u32 @ 0, u32 @ 4, u64 @ 8 }
    column { size 2, align 2, u8 @ 0, u8 @ 1 }
    filter (%0 = record.4: u8, %1 = next.4: u8) {
      %2 = xor.u8 %0, %1
      %3 = const.u8 3
      %4 = and.u8 %2, %3
      %5 = const.u8 0
      %6 = ne.bool %4, %5
      return %6
    }
    project (%0 = record.0: u16, %1 = record.1: u64, %2 = record.3: u32, %3 = record.4: u8, %4 = index: u64) {
      %5 = cast.u32 %0
      %6 = xor.u64 %1, %4
      %7 = cast.u8 %2
      return %5, %2, %6, %7, %3
    }
";

/// Records where the sum so far is a multiple of four are kept, with that sum: a cascade whose results are no larger than records.
pub(super) const KEPT_SUMS: &str = "
program kept_sums
  input { size 4, align 4, u32 @ 0 }
  stage (u32)
    identity (0)
    lift (%0 = record.0: u32) { return %0 }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    filter (%0 = after.0.0: u32) {
      %1 = const.u32 3
      %2 = and.u32 %0, %1
      %3 = const.u32 0
      %4 = eq.bool %2, %3
      return %4
    }
    project (%0 = state.0: u32) { return %0 }
";

/// An automaton of three states. Records are kept by the state before them, and written by that and the index.
pub(super) const KEPT_STATES: &str = "
program kept_states
  input { size 1, align 1, u8 @ 0 }
  table u8x3 = [[1 2 0] [0 0 1] [0 1 2] [2 2 2]]
  stage (u8x3)
    identity ([0 1 2])
    lift (%0 = record.0: u8) {
      %1 = const.u8 3
      %2 = and.u8 %0, %1
      %3 = cast.u32 %2
      %4 = table.u8x3 %3, @0
      return %4
    }
    combine (%0: u8x3, %1: u8x3) {
      %2 = permute.u8x3 %1, %0
      return %2
    }
  output emit
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = before.0.0: u8x3) {
      %1 = lane.u8 %0, #0
      %2 = const.u8 0
      %3 = ne.bool %1, %2
      return %3
    }
    project (%0 = before.0.0: u8x3, %1 = index: u64) {
      %2 = lane.u8 %0, #0
      %3 = cast.u64 %2
      %4 = xor.u64 %1, %3
      return %4
    }
";

/// The filter follows from records, the output from the second of two stages: the rank is known before the last carry.
pub(super) const KEPT_EARLY: &str = "
program kept_early
  input { size 4, align 4, u32 @ 0 }
  stage (u32)
    identity (0)
    lift (%0 = record.0: u32) { return %0 }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  stage (u32)
    identity (0)
    lift (%0 = before.0.0: u32) { return %0 }
    combine (%0: u32, %1: u32) {
      %2 = max.u32 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    filter (%0 = record.0: u32) {
      %1 = const.u32 3
      %2 = and.u32 %0, %1
      %3 = const.u32 0
      %4 = eq.bool %2, %3
      return %4
    }
    project (%0 = state.1.0: u32) { return %0 }
";

/// Keeps all records. Its filter asks for the next record, and does not use it.
pub(super) const KEPT_IN_VAIN: &str = "
program kept_in_vain
  input { size 8, align 4, u32 @ 0, u32 @ 4 }
  stage (u32)
    identity (0)
    lift (%0 = next.1: u32) {
      %1 = const.u32 0
      return %1
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output emit
    column { size 4, align 4, u32 @ 0 }
    filter (%0 = next.1: u32) {
      %1 = const.bool true
      return %1
    }
    project (%0 = record.0: u32, %1 = after.0.0: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
";

/// The same automaton. Records are kept by the state behind them and the next record, which nothing else reads.
pub(super) const KEPT_BY_NEXT: &str = "
program kept_by_next
  input { size 1, align 1, u8 @ 0 }
  table u8x3 = [[1 2 0] [0 0 1] [0 1 2] [2 2 2]]
  stage (u8x3)
    identity ([0 1 2])
    lift (%0 = record.0: u8) {
      %1 = const.u8 3
      %2 = and.u8 %0, %1
      %3 = cast.u32 %2
      %4 = table.u8x3 %3, @0
      return %4
    }
    combine (%0: u8x3, %1: u8x3) {
      %2 = permute.u8x3 %1, %0
      return %2
    }
  output emit
    column { size 8, align 8, u64 @ 0 }
    filter (%0 = after.0.0: u8x3, %1 = next.0: u8) {
      %2 = lane.u8 %0, #0
      %3 = const.u8 3
      %4 = and.u8 %1, %3
      %5 = eq.bool %2, %4
      return %5
    }
    project (%0 = after.0.0: u8x3, %1 = index: u64) {
      %2 = lane.u8 %0, #0
      %3 = cast.u64 %2
      %4 = xor.u64 %1, %3
      return %4
    }
";

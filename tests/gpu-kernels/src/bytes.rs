//! Programs whose records and states are bytes, which kernels work on four at a time where they
//! can.

/// The effect of two digits on a carry, told by two bits.
const CARRY: &str = "
program carry_of_bits
  input { size 1, align 1, u8 @ 0 }
  stage (bool, bool)
    identity (false, true)
    lift (%0 = record.0: u8) {
      %1 = const.u8 1
      %2 = and.u8 %0, %1
      %3 = const.u8 0
      %4 = ne.bool %2, %3
      %5 = const.u8 64
      %6 = and.u8 %0, %5
      %7 = eq.bool %6, %3
      return %4, %7
    }
    combine (%0: bool, %1: bool, %2: bool, %3: bool) {
      %4 = and.bool %3, %0
      %5 = or.bool %2, %4
      %6 = and.bool %1, %3
      return %5, %6
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    column { size 1, align 1, bool @ 0 }
    project (%0 = state.0: bool, %1 = state.1: bool, %2 = record.0: u8) {
      %3 = cast.u8 %0
      %4 = const.u32 7
      %5 = shl.u8 %3, %4
      %6 = const.u32 2
      %7 = shr.u8 %2, %6
      %8 = or.u8 %5, %7
      return %8, %1
    }
";

/// Maps x ↦ (x & a) ^ b, of which the second column of results has the value at 0x5a.
const MASKS: &str = "
program masks
  input { size 1, align 1, u8 @ 0 }
  input { size 1, align 1, u8 @ 0 }
  stage (u8, u8)
    identity (255, 0)
    lift (%0 = record.0: u8, %1 = record.1: u8) {
      %2 = not.u8 %1
      return %0, %2
    }
    combine (%0: u8, %1: u8, %2: u8, %3: u8) {
      %4 = and.u8 %0, %2
      %5 = and.u8 %1, %2
      %6 = xor.u8 %5, %3
      return %4, %6
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u8, %1 = state.1: u8, %2 = record.1: u8) {
      %3 = const.u8 90
      %4 = and.u8 %3, %0
      %5 = xor.u8 %4, %1
      %6 = xor.u8 %1, %2
      return %6, %5
    }
";

/// The last byte that is not a space, and whether there was one; a column of flags says that it counts.
const LATEST: &str = "
program latest
  input { size 1, align 1, u8 @ 0 }
  input { size 1, align 1, bool @ 0 }
  stage (bool, u8)
    identity (false, 0)
    lift (%0 = record.0: u8, %1 = record.1: bool) {
      %2 = const.u8 32
      %3 = ne.bool %0, %2
      %4 = and.bool %3, %1
      return %4, %0
    }
    combine (%0: bool, %1: u8, %2: bool, %3: u8) {
      %4 = or.bool %0, %2
      %5 = select.u8 %2, %3, %1
      return %4, %5
    }
  output write
    column { size 1, align 1, i8 @ 0 }
    project (%0 = state.0: bool, %1 = state.1: u8, %2 = record.1: bool) {
      %3 = const.u8 255
      %4 = select.u8 %0, %1, %3
      %5 = cast.u8 %2
      %6 = sub.u8 %4, %5
      %7 = cast.i8 %6
      return %7
    }
";

/// Maps x ↦ min(max(x, low), high) of signed bytes, by what they make of a record's other byte.
const CLAMPS: &str = "
program clamps
  input { size 1, align 1, i8 @ 0 }
  input { size 1, align 1, i8 @ 0 }
  stage (i8, i8)
    identity (-128, 127)
    lift (%0 = record.0: i8, %1 = record.1: i8) {
      %2 = min.i8 %0, %1
      %3 = max.i8 %0, %1
      return %2, %3
    }
    combine (%0: i8, %1: i8, %2: i8, %3: i8) {
      %4 = max.i8 %0, %2
      %5 = min.i8 %4, %3
      %6 = max.i8 %1, %2
      %7 = min.i8 %6, %3
      return %5, %7
    }
  output write
    column { size 1, align 1, i8 @ 0 }
    column { size 1, align 1, bool @ 0 }
    project (%0 = state.0: i8, %1 = state.1: i8) {
      %2 = lt.bool %0, %1
      return %0, %2
    }
";

/// Sums of pairs of digits, each below a bound that another column tells, with the sum before.
const SUMS: &str = "
program sums_of_small
  input { size 1, align 1, u8 @ 0 }
  stage (i8, u8)
    identity (0, 0)
    lift (%0 = record.0: u8) {
      %1 = const.u8 15
      %2 = and.u8 %0, %1
      %3 = const.u8 10
      %4 = ge.bool %2, %3
      %5 = cast.u8 %4
      %6 = add.u8 %2, %5
      %7 = cast.i8 %0
      return %7, %6
    }
    combine (%0: i8, %1: u8, %2: i8, %3: u8) {
      %4 = add.i8 %0, %2
      %5 = add.u8 %3, %1
      return %4, %5
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    column { size 1, align 1, i8 @ 0 }
    project (%0 = before.0.1: u8, %1 = after.0.0: i8) {
      %2 = neg.i8 %1
      return %0, %2
    }
";

/// Almost as [`CARRY`], but it reads the index, which is no byte.
const INDEXED: &str = "
program indexed_flags
  input { size 1, align 1, bool @ 0 }
  stage (bool)
    identity (false)
    lift (%0 = record.0: bool, %1 = index: u64) {
      %2 = const.u64 3
      %3 = and.u64 %1, %2
      %4 = const.u64 0
      %5 = eq.bool %3, %4
      %6 = and.bool %0, %5
      return %6
    }
    combine (%0: bool, %1: bool) {
      %2 = xor.bool %0, %1
      return %2
    }
  output write
    column { size 1, align 1, bool @ 0 }
    project (%0 = state.0: bool) { return %0 }
";

/// An output of two bytes beside sums by exclusive or.
const WIDER: &str = "
program wider_results
  input { size 1, align 1, u8 @ 0 }
  stage (u8)
    identity (0)
    lift (%0 = record.0: u8) { return %0 }
    combine (%0: u8, %1: u8) {
      %2 = xor.u8 %0, %1
      return %2
    }
  output write
    column { size 2, align 1, u8 @ 0, u8 @ 1 }
    project (%0 = state.0: u8, %1 = record.0: u8) { return %0, %1 }
";

/// One operator on a byte, from its identity.
fn of(opcode: &str, ty: &str, identity: &str) -> String {
    format!(
        "program {opcode}_{ty}
  input {{ size 1, align 1, {ty} @ 0 }}
  stage ({ty})
    identity ({identity})
    lift (%0 = record.0: {ty}) {{ return %0 }}
    combine (%0: {ty}, %1: {ty}) {{
      %2 = {opcode}.{ty} %0, %1
      return %2
    }}
  output write
    column {{ size 1, align 1, {ty} @ 0 }}
    project (%0 = state.0: {ty}) {{ return %0 }}"
    )
}

/// All of them, each with the bytes that a record is made of besides any byte: those that leave much of what came before.
pub(crate) fn programs() -> Vec<(String, &'static [u8])> {
    let written = [
        (CARRY, &[0, 2, 130, 0, 66][..]),
        (MASKS, &[255, 255, 255, 254, 127]),
        (LATEST, b"  \0\0\x01"),
        (CLAMPS, &[128, 127, 129, 126]),
        (SUMS, &[0, 1, 9, 10, 15]),
        (INDEXED, &[0, 1, 2]),
        (WIDER, &[0, 1]),
    ];
    let written = written.map(|(source, bytes)| (source.to_owned(), bytes));
    let of = [
        (of("add", "i8", "0"), &[127, 128][..]),
        (of("xor", "u8", "0"), &[255]),
        (of("xor", "bool", "false"), &[0, 1]),
        (of("and", "u8", "255"), &[255, 255, 255, 255, 254]),
        (of("or", "i8", "0"), &[0, 0, 0, 0, 1]),
        (of("max", "u8", "0"), &[0, 127, 128]),
        (of("min", "i8", "127"), &[127, 127, 126]),
    ];
    written.into_iter().chain(of).collect()
}

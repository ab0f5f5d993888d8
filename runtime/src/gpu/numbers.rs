//! The number of each record's segment, counted on the device: programs over a column of flags, or
//! of marks beside the first records of segments.

#[cfg(feature = "ptx")]
use monoscan_ir::{Program, Verified, text, verify};

/// The source that says where segments begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Numbering {
    /// Flags, each of which begins a segment. Segments are numbered from 1; 0 are records before the first one.
    Flags,
    /// Flags of first records, where record 0 begins a segment with or without.
    Heads,
    /// Flags of last records, where the last one ends a segment with or without. An exclusive scan gives the numbers.
    Ends,
    /// A `u32` beside first records, one more than the segment's number, and 0 beside others. Segments are numbered from 1.
    Marks,
}

#[cfg(feature = "ptx")]
impl Numbering {
    /// How many there are.
    pub(super) const COUNT: usize = 4;

    /// The program whose output is the number of each record's segment as `u32`. Of flags, its state is how many there were, as
    /// `u64`.
    pub(super) fn program(self) -> Verified<Program> {
        let edge = match self {
            Numbering::Flags => return program(FLAGS),
            Numbering::Marks => return program(MARKS),
            Numbering::Heads => "first",
            Numbering::Ends => "last",
        };
        program(&BESIDE_AN_EDGE.replace("EDGE", edge))
    }
}

#[cfg(feature = "ptx")]
fn program(source: &str) -> Verified<Program> {
    verify(text::parse(&format!("{source}{OUTPUT}")).expect("the text of a program")).expect("a valid one")
}

#[cfg(feature = "ptx")]
const FLAGS: &str = "
program flags
  input { size 1, align 1, bool @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: bool) {
      %1 = cast.u64 %0
      return %1
    }
    combine (%0: u64, %1: u64) {
      %2 = add.u64 %0, %1, wraps
      return %2
    }
";

#[cfg(feature = "ptx")]
const BESIDE_AN_EDGE: &str = "
program flags.EDGE
  input { size 1, align 1, bool @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: bool, %1 = EDGE: bool) {
      %2 = cast.u64 %0
      %3 = const.u64 0
      %4 = select.u64 %1, %3, %2
      return %4
    }
    combine (%0: u64, %1: u64) {
      %2 = add.u64 %0, %1, wraps
      return %2
    }
";

#[cfg(feature = "ptx")]
const MARKS: &str = "
program marks
  input { size 4, align 4, u32 @ 0 }
  stage (u64)
    identity (1)
    lift (%0 = record.0: u32) {
      %1 = cast.u64 %0
      return %1
    }
    combine (%0: u64, %1: u64) {
      %2 = max.u64 %0, %1
      return %2
    }
";

#[cfg(feature = "ptx")]
/// More segments than a `u32` counts have no state each: the number of states is refused in the end.
const OUTPUT: &str = "
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u64) {
      %1 = const.u64 4294967295
      %2 = min.u64 %0, %1
      %3 = cast.u32 %2
      return %3
    }
";

#[cfg(all(test, feature = "ptx"))]
mod tests {
    use super::*;
    use monoscan_ir::Mode;
    use monoscan_ir::interp::{self, Request};

    fn numbers(numbering: Numbering, column: &[u8]) -> Vec<u32> {
        let mode = if numbering == Numbering::Ends { Mode::Exclusive } else { Mode::Inclusive };
        let request = Request { mode, ..Request::default() };
        let bytes = interp::run(&numbering.program(), &[column], &request).unwrap().outputs.remove(0);
        bytes.chunks(4).map(|number| u32::from_le_bytes(number.try_into().unwrap())).collect()
    }

    #[test]
    fn each_record_has_the_number_of_its_segment() {
        assert_eq!(numbers(Numbering::Flags, &[0, 1, 0, 1, 1]), [0, 1, 1, 2, 3]);
        for first in [0, 1] {
            assert_eq!(numbers(Numbering::Heads, &[first, 1, 0, 1, 1]), [0, 1, 1, 2, 3]);
        }
        for last in [0, 1] {
            assert_eq!(numbers(Numbering::Ends, &[1, 0, 1, 1, last]), [0, 1, 1, 2, 3]);
        }
        let marks: Vec<u8> = [1u32, 0, 4, 5, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(numbers(Numbering::Marks, &marks), [1, 1, 4, 5, 5]);
    }
}

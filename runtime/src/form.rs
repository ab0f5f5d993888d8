//! The form of its program that a call takes, the same for all backends: what of the call is
//! lowered into the program, and the states by which it is seen whether the usual ranges hold.

use monoscan_ir::Constant;
use monoscan_ir::transform::{Form, SegmentStart};

use crate::call::{Call, Init, Shape};

impl Call<'_> {
    /// The form for this call, which may reduce: want totals and nothing else. Segments between offsets are then scanned one by one,
    /// and need no flags.
    pub(crate) fn form(&self, reduces: bool, reads_previous: bool, checked: bool) -> Form {
        let one_by_one = reduces && matches!(self.shape, Shape::Offsets(_));
        let heads = self.shape.is_segmented() && !one_by_one;
        let start = match self.init {
            _ if !heads => SegmentStart::Identity,
            Init::Identity => SegmentStart::Identity,
            Init::Same(_) => SegmentStart::Init,
            Init::Each(_) => SegmentStart::Each,
        };
        // Where there may be a record before the first one of a sequence, it is a state.
        let previous = reads_previous && (self.carry.is_some() || one_by_one);
        Form { mode: self.mode, heads, start, checked, previous }
    }

    /// All states that the call is given, and goes on from, with what they are: of so many components each.
    pub(crate) fn given(&self, (own, carried): (usize, usize)) -> impl Iterator<Item = (&'static str, &[Constant])> {
        let carries = self.carry.unwrap_or_default().chunks_exact(carried);
        self.init.states(own).map(|state| ("init", state)).chain(carries.map(|state| ("carry", state)))
    }
}

//! Calls over device memory: [`Call`](crate::Call), with flags where the columns are.

use monoscan_ir::{Constant, Mode};

use super::column::DeviceColumn;
use crate::call::{Call, Rows, Shape};

/// What a scan over device memory is asked for besides its columns, as in [`call`](crate::call). The default is an
/// inclusive scan of a line.
#[derive(Clone, Debug, Default)]
pub struct DeviceCall<'a> {
    /// Inclusive or exclusive.
    pub mode: Mode,
    /// From the last record to the first.
    pub reversed: bool,
    /// The state every run starts from, the components of all stages in order; none for the identities.
    pub init: Option<&'a [Constant]>,
    /// The state that a resumed stream goes on from; none for the initial state. What follows it is a total.
    pub carry: Option<&'a [Constant]>,
    /// What is scanned on its own.
    pub shape: DeviceShape<'a>,
    /// Whether the totals of all runs are wanted: see [`Outcome::totals`](super::Outcome::totals). With floats a total
    /// may differ from the last output in its last places, since it is combined in another order.
    pub totals: bool,
}

/// Which records are scanned on their own.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum DeviceShape<'a> {
    /// All of them together.
    #[default]
    Line,
    /// Segments, by a column of one `u8` for each record: 1 where it is the first of its segment, 0 elsewhere.
    Heads(DeviceColumn<'a>),
    /// The rows of an array.
    Rows(Rows),
}

impl DeviceCall<'_> {
    /// The same without what is in device memory, for the checks that know nothing of it.
    pub(crate) fn without_flags(&self) -> Call<'_> {
        let shape = match self.shape {
            DeviceShape::Rows(rows) => Shape::Rows(rows),
            DeviceShape::Line | DeviceShape::Heads(_) => Shape::Line,
        };
        Call { mode: self.mode, reversed: self.reversed, init: self.init, shape }
    }
}

//! Long lines of programs whose states may be [absorbing](monoscan_ir::facts::Absorbing): they are
//! scanned or reduced in pieces, each four times as long as all before it. Behind a piece that
//! leaves an absorbing state nothing is read any more. So a search on any number of threads takes
//! about as long as a loop that stops where it finds.

use std::ops::Range;

use smallvec::SmallVec;

use crate::call::{Call, Init, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::engine::Whole;
use crate::error::Error;
use crate::loops::States;
use crate::spacing;

/// How many times as long as all pieces before it the next one is.
const GROWTH: usize = 4;

impl DynScan {
    /// Takes such a line, of columns that were checked, which is too long for one call of a kernel. Gives the state after it, if it did.
    ///
    /// # Errors
    /// Those of the call.
    pub(crate) fn in_growing_pieces(
        &self,
        call: &Call<'_>,
        work: Whole,
        (inputs, mut outputs, len): (&[Column<'_>], Option<&mut [ColumnMut<'_>]>, usize),
    ) -> Result<Option<States>, Error> {
        let is_line = matches!(call.shape, Shape::Line) && !call.reversed;
        if !is_line
            || !spacing::is_contiguous(inputs, outputs.as_deref())
            || !self.passes(call, outputs.as_deref(), len)
        {
            return Ok(None);
        }
        let Some((short, first)) = self.make_short_whole(work, 0).and_then(|short| Some((short, short.first_piece()?)))
        else {
            return Ok(None);
        };
        let (mut done, mut piece) = (0, first);
        let mut state: Option<States> = call.carry.or(call.init.of_line()).map(States::from);
        while done < len {
            let is_absorbing = state.as_deref().is_some_and(|state| short.is_absorbing(state));
            // Behind an absorbing state one element has the result of all that follow.
            let count = if is_absorbing { 1 } else { piece.min(len - done) };
            let own = Call { init: state.as_deref().map_or(Init::Identity, Init::Same), carry: None, ..call.clone() };
            let after = self.piece(&own, work, (inputs, outputs.as_deref_mut()), done..done + count)?;
            if is_absorbing {
                for column in outputs.as_deref_mut().unwrap_or_default() {
                    column.repeat(done..len);
                }
                break;
            }
            state = Some(after);
            (done, piece) = (done + count, GROWTH * (done + count));
        }
        Ok(Some(state.unwrap_or_default()))
    }

    /// Takes these elements of a line. Gives the state after them.
    fn piece(
        &self,
        call: &Call<'_>,
        work: Whole,
        (inputs, outputs): (&[Column<'_>], Option<&mut [ColumnMut<'_>]>),
        records: Range<usize>,
    ) -> Result<States, Error> {
        let inputs: SmallVec<[Column<'_>; 4]> = inputs.iter().map(|column| column.part(records.clone())).collect();
        let writes = outputs.is_some();
        let outputs = outputs.unwrap_or_default().iter_mut().map(|column| column.part(records.clone()));
        let mut outputs: SmallVec<[ColumnMut<'_>; 1]> = outputs.collect();
        if let Some((_, after)) =
            self.passed(call, work, (&inputs, writes.then_some(&mut outputs[..]), records.len()))?
        {
            return Ok(after.components().collect());
        }
        let outputs = writes.then_some(&mut outputs[..]);
        let run = |call: &Call<'_>| self.totals(call, (&inputs, outputs, records.len()));
        Ok(self.as_states(self.with_states(call, run)?.1, false).into())
    }
}

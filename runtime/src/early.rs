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
        let made = self.make_short_whole(work, 0);
        let Some((short, first)) =
            made.and_then(|short| Some((short, short.first_piece().filter(|&first| first < len)?)))
        else {
            return Ok(None);
        };
        let mut results = outputs.as_deref_mut().map(|outputs| parts_mut(outputs, 0..first));
        let columns = (&parts(inputs, 0..first)[..], results.as_deref_mut(), first);
        let Some((_, after)) = self.passed(call, work, columns)? else { return Ok(None) };
        drop(results);
        let mut state: States = after.components().collect();
        // The scan's own state, as the engine leaves it and goes on from it.
        let mut own = self.reached(&state);
        let mut done = first;
        while done < len {
            let is_absorbing = short.is_absorbing(&state);
            // Behind an absorbing state one element has the result of all that follow.
            let count = if is_absorbing { 1 } else { (GROWTH * done).min(len - done) };
            let mut results = outputs.as_deref_mut().map(|outputs| parts_mut(outputs, done..done + count));
            let columns = (&parts(inputs, done..done + count)[..], results.as_deref_mut(), count);
            let on = Call { init: Init::Same(&own), carry: None, ..call.clone() };
            let (_, totals) = self.totals(&on, columns)?;
            drop(results);
            if is_absorbing {
                outputs.unwrap_or_default().iter_mut().for_each(|column| column.repeat(done..len));
                break;
            }
            state = self.as_states(States::from(&totals[..]), false);
            own = totals.into();
            done += count;
        }
        Ok(Some(state))
    }
}

/// These records of columns.
fn parts<'a>(columns: &'a [Column<'_>], records: Range<usize>) -> SmallVec<[Column<'a>; 4]> {
    columns.iter().map(|column| column.part(records.clone())).collect()
}

/// The same of columns to write.
fn parts_mut<'a>(columns: &'a mut [ColumnMut<'_>], records: Range<usize>) -> SmallVec<[ColumnMut<'a>; 1]> {
    columns.iter_mut().map(|column| column.part(records.clone())).collect()
}

//! Where the columns of a call are while it runs. The host's memory is one such place; the tests of
//! a device have another, which copies the same columns there and back.

use monoscan_runtime::{Column, ColumnMut, DynScan, Error, Outcome};

use super::memory::Memory;
use super::{Asked, Over};

/// The result that is asked of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wants {
    /// The outputs, and the carry of a stream.
    Outputs,
    /// The totals alone.
    Totals,
    /// The outputs, and the totals.
    Both,
}

/// Where the columns of a call are while it runs.
pub trait Place: Send + Sync {
    /// A call as this place can run it.
    fn adapt(&self, asked: Asked) -> Asked {
        asked
    }

    /// Whether columns of truth values, and head flags, may be bits.
    fn has_bits(&self) -> bool;

    /// Whether one call gives both what is written and the totals of all sequences.
    fn gives_both(&self, over: &Over) -> bool;

    /// Runs a call. Of a stream the totals are what it carries.
    fn run(
        &self,
        scan: &DynScan,
        asked: &Asked,
        wants: Wants,
        inputs: &[Memory<'_>],
        outputs: &mut [Memory<'_>],
    ) -> Result<Outcome, Error>;
}

/// In the memory of the host.
pub struct OnHost;

impl Place for OnHost {
    fn has_bits(&self) -> bool {
        true
    }

    fn gives_both(&self, _: &Over) -> bool {
        true
    }

    fn run(
        &self,
        scan: &DynScan,
        asked: &Asked,
        wants: Wants,
        inputs: &[Memory<'_>],
        outputs: &mut [Memory<'_>],
    ) -> Result<Outcome, Error> {
        let bits = asked.head_bits();
        let call = asked.call_with(bits.as_ref());
        let from: Vec<Column<'_>> = inputs.iter().map(Memory::column).collect();
        let mut to: Vec<ColumnMut<'_>> = outputs.iter_mut().map(Memory::column_mut).collect();
        let mut carry = asked.carry.clone();
        let written = match (wants, &mut carry, asked.in_place) {
            (Wants::Totals, ..) => {
                return scan.reduce(&call, &from).map(|totals| Outcome { written: 0, totals });
            }
            (Wants::Both, ..) => return scan.run_with_totals(&call, &from, &mut to),
            (Wants::Outputs, None, false) => scan.run(&call, &from, &mut to)?,
            (Wants::Outputs, Some(carry), false) => scan.resume(&call, carry, &from, &mut to)?,
            (Wants::Outputs, None, true) => scan.run_in_place(&call, &mut to).map(|()| asked.written())?,
            (Wants::Outputs, Some(carry), true) => {
                scan.resume_in_place(&call, carry, &mut to).map(|()| asked.written())?
            }
        };
        Ok(Outcome { written, totals: carry.unwrap_or_default() })
    }
}

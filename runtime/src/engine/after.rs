//! [`After`]: totals of sequences, and the findings of checked scans, by the states after their
//! last elements.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use monoscan_ir::Constant;
use monoscan_ir::transform::{Check, Finding};
use smallvec::SmallVec;

use super::Purpose;
use super::slots::Slots;
use super::variant::{Kernels, Variant};
use crate::call::{Call, Shape};
use crate::checked::{self, Elements};
use crate::error::Error;

/// Bytes of states that a checked scan compares with the loop's: twice as many, and some more, go from tile to tile.
const MAX_COMPARED_BYTES: usize = 480;

/// Collects the states after the sequences of a call, from any thread.
pub(super) struct After<'a> {
    kernels: &'a Kernels,
    /// For the totals, one after the other, if they are wanted: so many components each.
    totals: Option<Mutex<&'a mut [Constant]>>,
    components: usize,
    /// How to read the stage of a checked scan, and which stage that is.
    check: Option<&'a Check>,
    check_stage: u32,
    /// The first finding so far, with its sequence.
    finding: Mutex<Option<(usize, Finding)>>,
    /// Whether the last sequence is the first in the order of the scan.
    is_backwards: bool,
}

impl<'a> After<'a> {
    /// # Errors
    /// [`Error::CheckedState`] if a checked scan would compare too large states.
    pub(super) fn of(
        call: &Call<'_>,
        variant: &'a Variant,
        kernels: &'a Kernels,
        totals: Option<&'a mut [Constant]>,
        components: usize,
    ) -> Result<After<'a>, Error> {
        let check = variant.program.check();
        if let Some(bytes) = check.map(Check::compared_bytes).filter(|&bytes| bytes > MAX_COMPARED_BYTES) {
            return Err(Error::CheckedState { expected: MAX_COMPARED_BYTES, got: bytes });
        }
        Ok(After {
            kernels,
            totals: totals.map(Mutex::new),
            components,
            check,
            check_stage: variant.program.carried_components().len() as u32,
            finding: Mutex::new(None),
            // Of segments of one line the scan reaches the last one first, if it is reversed; rows come one after the other.
            is_backwards: call.reversed && matches!(call.shape, Shape::Offsets(_)),
        })
    }

    /// Whether totals are wanted.
    pub(super) fn has_totals(&self) -> bool {
        self.totals.is_some()
    }

    /// Takes the states after sequences, from this one on, which are in these slots.
    pub(super) fn keep(&self, first: usize, states: &Slots<'_>, slots: Range<usize>) {
        if let Some(check) = self.check {
            let of_sequence = |(sequence, slot): (usize, usize)| {
                let after = |stage: u32, component: u32| states.of(slot, stage, component);
                let own = (0..check.components() as u32).map(|part| states.of(slot, self.check_stage, part));
                let own: SmallVec<[Constant; 8]> = own.collect();
                Some((sequence, check.finding(&own, self.totals.is_some().then_some(&after))?))
            };
            let findings = (first..).zip(slots.clone()).filter_map(of_sequence);
            let mut found = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
            *found = checked::first(findings.chain(*found), self.is_backwards);
        }
        let Some(totals) = &self.totals else { return };
        let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
        let of_sequences = totals[first * self.components..].chunks_exact_mut(self.components);
        states.read_each(slots, &self.kernels.carried, of_sequences);
    }

    /// The error that says what was found, if anything was, in a call for this purpose of `len` records.
    pub(super) fn error(self, call: &Call<'_>, (purpose, len): (Purpose, usize), stages: usize) -> Option<Error> {
        let (sequence, finding) = self.finding.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        let reversed = call.reversed;
        let elements = match call.shape {
            Shape::Rows(rows) => Elements::Rows { rows, reversed },
            Shape::Offsets(offsets) if purpose == Purpose::Reduce => Elements::Offsets { offsets, reversed },
            _ => Elements::Line { len, reversed },
        };
        Some(elements.error(stages, sequence, finding))
    }
}

//! Which kernels a call needs, and their compilation: before any of them runs, and beside each
//! other on threads.
//!
//! A kernel of a wide state may take tens of milliseconds to compile, and a call needs few of those
//! that a program has. A walk that meets a kernel which is not listed here compiles it then.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use monoscan_codegen::cpu::{Compiled, Kernel, LONGEST_STRAIGHT_ROW, MOST_SHORT_INPUTS, ShortInputs};
use smallvec::SmallVec;

use super::groups::Groups;
use super::line::Line;
use super::race::Records;
use super::rows;
use super::self_check::{self, Walks};
use super::variant::{Kernels, Variant};
use super::walk::Cut;
use crate::error::Error;

/// The needs of a call.
pub(crate) struct Needed {
    /// A program of one level has no more.
    kernels: SmallVec<[Kernel; 8]>,
    /// Whether it may need their streaming forms.
    streams: bool,
}

impl<I: IntoIterator<Item = Kernel>> From<I> for Needed {
    fn from(kernels: I) -> Needed {
        Needed { kernels: kernels.into_iter().collect(), streams: false }
    }
}

/// How lines are walked, as far as that decides which kernels they need.
#[derive(Clone, Copy)]
struct Walked {
    writes: bool,
    totals: bool,
    is_one_pass: bool,
    /// By several threads.
    is_shared: bool,
    adds_aggregates: bool,
    streams: bool,
}

impl Walked {
    /// A bit of its own.
    fn bit(self) -> u64 {
        let Walked { writes, totals, is_one_pass, is_shared, adds_aggregates, streams } = self;
        let flags = [writes, totals, is_one_pass, is_shared, adds_aggregates, streams];
        1 << flags.into_iter().fold(0, |number, flag| 2 * number + u32::from(flag))
    }

    /// With those of the cut that is taken instead of strips, if there is one.
    fn kernels(self, kernels: &Kernels, instead: Option<Cut>) -> Needed {
        let one_pass = match self.writes && !self.totals {
            true => Kernel::ScanOne,
            false => Kernel::Whole { writes: self.writes },
        };
        if self.is_one_pass && !self.is_shared {
            return [one_pass].into();
        }
        let blocks = kernels.code.block_kernels().filter(|kernel| match kernel {
            Kernel::Scan | Kernel::ScanOne | Kernel::ScanBlocks => self.writes,
            Kernel::Together { writes } => instead == Some(Cut::Blocks) && *writes == self.writes,
            Kernel::CarryUpdate(_) => !self.totals,
            Kernel::Combine(_) => self.totals || self.adds_aggregates,
            _ => true,
        });
        let has_one_pass = self.is_one_pass || instead == Some(Cut::Whole);
        Needed { kernels: blocks.chain(has_one_pass.then_some(one_pass)).collect(), streams: self.streams }
    }
}

impl Line<'_> {
    /// Makes the kernels that walk lines of at most `longest` elements, each on its own, unless lines were walked so before.
    ///
    /// # Errors
    /// As [`make`](Variant::make), of the variant of this line.
    pub(crate) fn make_kernels(&self, variant: &Variant, longest: usize, threads: usize) -> Result<(), Error> {
        let is_shared = threads > 1 && longest > self.plan.alone && !self.plan.is_sequential(threads);
        let is_sequential = longest <= self.plan.direct || self.plan.is_sequential(1);
        let walked = Walked {
            writes: self.writes,
            totals: self.totals,
            is_one_pass: is_sequential && self.is_one_pass(),
            is_shared,
            adds_aggregates: is_shared || self.rounds_by_tile(longest),
            streams: is_shared && self.writes && self.should_stream(longest, threads),
        };
        // Who sees the bit sees the kernels, which another thread may have made.
        if self.kernels.walked.load(Ordering::Acquire) & walked.bit() == 0 {
            let instead = Line { len: longest, ..self.clone() }.instead_of_strips();
            let needed = walked.kernels(self.kernels, instead);
            let inputs = ShortInputs::of(self.inputs.iter().copied(), self.parameters);
            // SAFETY: the columns were checked, and these are all of them.
            let records = (self.inputs.len() <= MOST_SHORT_INPUTS).then(|| unsafe { Records::new(&inputs, self.len) });
            needed.kernels.iter().try_for_each(|&kernel| variant.settle(self.kernels, kernel, records))?;
            variant.make(self.kernels, &needed, threads)?;
            self.kernels.walked.fetch_or(walked.bit(), Ordering::Release);
        }
        Ok(())
    }

    /// Makes the kernels that walk these groups of rows side by side.
    ///
    /// # Errors
    /// As [`make`](Variant::make), of the variant of this line.
    pub(super) fn make_side_by_side(&self, variant: &Variant, groups: &Groups, threads: usize) -> Result<(), Error> {
        let levels = 0..if self.totals { self.kernels.code.levels() } else { 0 };
        let totals = levels.flat_map(|level| [Kernel::Reduce(level), Kernel::ReduceOne(level), Kernel::Combine(level)]);
        let folds = groups.kernels(false).filter(|_| self.totals && self.kernels.code.folds_side_by_side());
        let totals = totals.chain(folds);
        let writes = [Kernel::Scan, Kernel::ScanOne].into_iter().chain(groups.kernels(true)).filter(|_| self.writes);
        variant.make(self.kernels, &totals.chain(writes).into(), threads)
    }
}

impl Variant {
    /// Compiles those of these kernels that are not there yet, on at most so many threads, and [checks](self_check) them.
    ///
    /// # Errors
    /// If one cannot be compiled, or is wrong.
    pub(crate) fn make(&self, kernels: &Kernels, needed: &Needed, threads: usize) -> Result<(), Error> {
        if needed.kernels.iter().any(|&kernel| !kernels.code.is_made(kernel)) {
            self.make_missing(kernels, needed, threads)?;
        }
        self.check(kernels, needed)
    }

    #[cold]
    fn make_missing(&self, kernels: &Kernels, needed: &Needed, threads: usize) -> Result<(), Error> {
        let missing: SmallVec<[Kernel; 8]> =
            needed.kernels.iter().copied().filter(|&kernel| !kernels.code.is_made(kernel)).collect();
        missing.iter().try_for_each(|&kernel| self.settle(kernels, kernel, None))?;
        let result = Mutex::new(Ok(()));
        let work = || {
            |place: usize| {
                if let Err(error) = kernels.code.make(missing[place]) {
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
                }
            }
        };
        match missing.len() {
            1 => work()(0),
            kernels => _ = rows::parallel(kernels, threads, &work),
        }
        Ok(result.into_inner().unwrap_or_else(PoisonError::into_inner)?)
    }

    /// Checks kernels that were not checked before.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if one is wrong.
    pub(super) fn check(&self, kernels: &Kernels, needed: &Needed) -> Result<(), Error> {
        // Relaxed: a thread that does not see that another one checked them does so once more.
        let checked = Walks::from_bits(kernels.checked.load(Ordering::Relaxed));
        let walks = Walks::of(&needed.kernels, needed.streams).without(checked);
        if !walks.is_empty() {
            self_check::check(self, kernels, walks)?;
            kernels.checked.fetch_or(walks.bits(), Ordering::Relaxed);
        }
        let is_of_rows = |kernel: &&Kernel| {
            matches!(kernel, Kernel::Rows(_) | Kernel::ShortRows(_) | Kernel::ShortBetween | Kernel::SideBySide { .. })
        };
        needed.kernels.iter().filter(is_of_rows).try_for_each(|&kernel| self.check_of_rows(kernels, kernel))
    }

    fn check_of_rows(&self, kernels: &Kernels, kernel: Kernel) -> Result<(), Error> {
        let (checked, kernel, len) = match kernel {
            Kernel::Rows(len @ 1..=LONGEST_STRAIGHT_ROW) => (&kernels.checked_rows, kernel, len),
            Kernel::ShortRows(len) => {
                // Those of longer rows are one.
                let len = len.min(LONGEST_STRAIGHT_ROW + 1);
                (&kernels.checked_short_rows, Kernel::ShortRows(len), len)
            }
            Kernel::ShortBetween => (&kernels.checked_short_rows, kernel, 0),
            // Only strided kernels are such, and those have no short rows.
            Kernel::SideBySide { rows, writes: true } => {
                (&kernels.checked_rows, kernel, Compiled::place_side_by_side(rows))
            }
            Kernel::SideBySide { rows, writes: false } => {
                (&kernels.checked_short_rows, kernel, Compiled::place_side_by_side(rows))
            }
            _ => return Ok(()),
        };
        let bit = 1 << len;
        if checked.load(Ordering::Relaxed) & bit == 0 {
            self_check::check_rows(self, kernels, kernel)?;
            checked.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }
}

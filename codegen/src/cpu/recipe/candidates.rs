//! The two candidates for the elements of a kernel, where nothing but time tells which is better:
//! code as planned, and a function of Rust. Both give the same bits. One is settled for all kernels
//! of a kind at once.

use std::sync::OnceLock;

use super::{Kernel, Recipe};
use crate::cpu::native::Native;
use crate::cpu::rows::{self, LONGEST_STRAIGHT_ROW};

/// The function, and for each kind of kernels whether it takes their elements, once that was settled.
#[derive(Default)]
pub(super) struct Candidates {
    native: Option<Native>,
    /// Whether the function takes elements wherever it can.
    is_asked: bool,
    has_won: [OnceLock<bool>; KINDS],
}

/// Lines that are written, lines that are not, and rows of each number of elements, the first of any.
const KINDS: usize = ROWS + LONGEST_STRAIGHT_ROW + 1;
const REDUCTIONS: usize = 1;
const ROWS: usize = 2;

impl Recipe {
    /// The same, with a function that may take elements, or, if that is asked, takes them wherever it can.
    pub(crate) fn with_native(self, native: Option<(Native, bool)>) -> Recipe {
        let (native, is_asked) = native.unzip();
        let is_asked = is_asked.unwrap_or(false);
        Recipe { candidates: Candidates { native, is_asked, ..Candidates::default() }, ..self }
    }

    /// The function that may reduce sequences in order.
    pub(crate) fn native_of_totals(&self) -> Option<&Native> {
        let native = self.candidates.native.as_ref()?;
        (self.own.is_none() && self.is_for_natives(native) && native.fits(&self.program.total_body())).then_some(native)
    }

    /// The function, if it takes the elements of a kernel: not as long as nothing was settled, unless that is asked.
    pub(crate) fn native_of(&self, kernel: Kernel) -> Option<&Native> {
        let (kind, _) = self.kind(kernel)?;
        let has_won = self.candidates.has_won[kind].get().copied();
        let takes = has_won.unwrap_or_else(|| self.candidates.is_asked && self.takes_native(kind));
        self.candidates.native.as_ref().filter(|_| takes)
    }

    /// Whether the function takes the elements of a kernel, if that was settled.
    pub(crate) fn settled(&self, kernel: Kernel) -> Option<bool> {
        let (kind, _) = self.kind(kernel)?;
        self.candidates.has_won[kind].get().copied()
    }

    /// The function that may take the elements of a kernel, whether or not it has won.
    pub(crate) fn candidate_of(&self, kernel: Kernel) -> Option<&Native> {
        let (kind, _) = self.kind(kernel)?;
        self.candidates.native.as_ref().filter(|_| self.takes_native(kind))
    }

    /// The function that may take the elements of a kernel, where it has to be settled whether it does: in this cell, by a race of
    /// this kernel. Of long lines it is the kernel itself. Else it is that which stands for its kind.
    pub(crate) fn unsettled(
        &self,
        kernel: Kernel,
        is_of_long_lines: bool,
    ) -> Option<(&OnceLock<bool>, Kernel, &Native)> {
        let (kind, stands_for) = self.kind(kernel)?;
        let tried = match self.same_code(kernel) {
            own @ (Kernel::Scan | Kernel::ScanOne | Kernel::Whole { .. }) if is_of_long_lines => own,
            _ => stands_for,
        };
        let has_won = &self.candidates.has_won[kind];
        if has_won.get().is_some() {
            return None;
        }
        let takes = self.takes_native(kind);
        if takes && !self.candidates.is_asked {
            return Some((has_won, tried, self.candidates.native.as_ref()?));
        }
        has_won.get_or_init(|| takes);
        None
    }

    /// Whether a kind is rows that were planned in lanes.
    fn is_in_lanes(&self, kind: usize) -> bool {
        let columns = self.inputs.len() + self.outputs.len();
        let form = self.lanes.as_ref().filter(|_| self.vector.rows && kind > ROWS);
        form.is_some_and(|form| rows::in_lanes(form, kind - ROWS, (self.program.replay(), columns)).is_some())
    }

    /// The kind of a kernel that a function may be a candidate for, and the kernel that stands for it in a race.
    fn kind(&self, kernel: Kernel) -> Option<(usize, Kernel)> {
        match self.same_code(kernel) {
            Kernel::Scan if self.interleave > 1 || self.vector.scan => None,
            Kernel::Scan | Kernel::ScanOne | Kernel::Short => Some((0, Kernel::Short)),
            Kernel::Whole { writes: true } | Kernel::ShortWhole { writes: true } => Some((0, Kernel::Short)),
            Kernel::Whole { .. } | Kernel::ShortWhole { .. } => {
                Some((REDUCTIONS, Kernel::ShortWhole { writes: false }))
            }
            Kernel::Rows(len) | Kernel::ShortRows(len) => Some((ROWS + len, Kernel::ShortRows(len))),
            _ => None,
        }
    }

    /// Whether a function may take elements of the program.
    fn is_for_natives(&self, native: &Native) -> bool {
        // The function of a derived loop is its step.
        let has_body = self.program.sequential.is_none() || self.own.is_some();
        has_body
            && self.has_short()
            && self.rank.is_none()
            && self.parameters.types().eq(native.parameters.iter().copied())
    }

    /// Whether elements of a kind are a function's work: they are taken one after the other, and need no more than their records,
    /// parameters, the state, and what functions see besides.
    fn takes_native(&self, kind: usize) -> bool {
        let Some(native) = &self.candidates.native else { return false };
        let own = self.own.as_ref();
        let replay = || own.map_or(self.program.replay(), |own| &own.replay);
        let lanes = self.lanes.is_some() && !native.replaces_vectors;
        self.is_for_natives(native)
            && match kind {
                0 => !(lanes && self.vector.scan_one) && native.fits(replay()),
                REDUCTIONS => {
                    let in_lanes = lanes && self.vector.reduce_one && self.folds_all();
                    let fits =
                        own.map_or_else(|| native.fits(&self.program.total_body()), |own| native.fits(&own.total));
                    native.reduce.is_some() && !in_lanes && fits
                }
                _ => {
                    let len = if kind == ROWS { usize::MAX } else { kind - ROWS };
                    native.rows.is_some()
                        && (native.replaces_vectors || !self.is_in_lanes(kind) && self.keeps_rows_in_order(len))
                        && native.fits(replay())
                }
            }
    }
}

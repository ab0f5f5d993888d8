//! The calls that kernels were made for, and which kernel a call takes.

use std::fmt::{self, Display, Formatter};

use monoscan_codegen::gpu::{AotManifest, Schedule};
use monoscan_ir::Mode;
use monoscan_ir::transform::{Form, SegmentStart};

use super::{AotError, Helper};
use crate::call::{Call, Rows, Shape};
use crate::gpu::task::Task;

/// The calls that a kernel was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeFor {
    /// Mode and segments.
    pub form: Form,
    /// How it goes through records, which says which ones it can go through.
    pub schedule: Schedule,
}

/// The demands of a call on a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Mode and segments.
    pub form: Form,
    /// Whether it wants totals and no outputs.
    pub reduces: bool,
    /// The rows, if it is no line.
    pub rows: Option<Rows>,
    /// From the last record to the first.
    pub reversed: bool,
    /// Whether all columns begin at multiples of 16 bytes.
    pub is_aligned: bool,
}

impl MadeFor {
    pub(super) fn of(manifest: &AotManifest) -> MadeFor {
        MadeFor { form: manifest.form(), schedule: manifest.launch.plan.schedule }
    }

    /// Whether it takes such calls; whether columns are where it takes them is asked elsewhere.
    fn takes(&self, asked: &Asked) -> bool {
        let segments = |form: Form| (form.mode, form.heads, form.checked);
        let from_any = (self.form.start, asked.form.start) == (SegmentStart::Init, SegmentStart::Identity);
        let starts = from_any || self.form.start == asked.form.start;
        let rows = asked.rows.map(|rows| (rows.count(), rows.step()));
        let goes = self.schedule.takes(rows, asked.reversed);
        segments(self.form) == segments(asked.form) && starts && goes && !asked.reduces
    }
}

impl Asked {
    fn of(task: &Task<'_>) -> Asked {
        let rows = if let Shape::Rows(rows) = task.call.shape { Some(rows) } else { None };
        let is_aligned = task.are_at(16);
        Asked { form: task.form(), reduces: task.reduces, rows, reversed: task.call.reversed, is_aligned }
    }

    /// The totals of segments between offsets.
    pub(super) fn totals_of_segments(call: &Call<'_>) -> Asked {
        let form = call.form(false, false, false);
        Asked { form, reduces: true, rows: None, reversed: call.reversed, is_aligned: true }
    }
}

/// The place of the first of these kernels that does a task.
///
/// # Errors
/// [`AotError::Call`] if none was made for it, [`AotError::State`] if those that were take its states for impossible;
/// [`AotError::Helper`] for spaced columns, which need a kernel that copies them.
pub(super) fn choose<'a>(
    kernels: impl Iterator<Item = &'a AotManifest> + Clone,
    task: &Task<'_>,
) -> Result<usize, AotError> {
    if !task.spaced.is_empty() {
        return Err(AotError::Helper { makes: Helper::Copies });
    }
    let asked = Asked::of(task);
    let mut impossible = None;
    for (place, manifest) in kernels.clone().enumerate() {
        let schedule = manifest.launch.plan.schedule;
        let fits = || task.is_aligned(&manifest.lowered, |column| schedule.alignment(column));
        if !MadeFor::of(manifest).takes(&asked) || !fits() {
            continue;
        }
        match states_beyond(manifest, task) {
            None => return Ok(place),
            beyond => impossible = impossible.or(beyond),
        }
    }
    let made_for = || kernels.map(MadeFor::of).collect();
    Err(impossible.unwrap_or_else(|| AotError::Call { made_for: made_for(), asked }))
}

/// Whether the call's states lie outside of the ranges that the kernel relies on.
fn states_beyond(manifest: &AotManifest, task: &Task<'_>) -> Option<AotError> {
    let beyond = |(argument, state): (&'static str, &[_])| {
        let (component, expected) = manifest.lowered.beyond(state)?;
        Some(AotError::State { argument, component, expected, got: state[component] })
    };
    task.given().find_map(beyond)
}

fn scans(form: Form, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(if form.checked { "checked " } else { "" })?;
    f.write_str(match form.mode {
        Mode::Inclusive => "inclusive scans",
        Mode::Exclusive => "exclusive scans",
    })?;
    f.write_str(match (form.heads, form.start) {
        (false, _) => "",
        (true, SegmentStart::Identity) => " of flagged segments from identities",
        (true, SegmentStart::Init) => " of flagged segments from a given state",
        (true, SegmentStart::Each) => " of flagged segments from a state each",
    })
}

impl Display for MadeFor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        scans(self.form, f)?;
        write!(f, " of {}", self.schedule.calls())
    }
}

impl Display for Asked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reduces { "totals without outputs of " } else { "" })?;
        scans(self.form, f)?;
        match self.rows {
            None => f.write_str(" of a line")?,
            Some(rows) => {
                let lie = if rows.step() == 1 { "one after the other" } else { "side by side" };
                write!(f, " of {} rows {lie}", rows.count())?;
            }
        }
        f.write_str(if self.reversed { ", reversed" } else { ", forwards" })?;
        f.write_str(if self.is_aligned { "" } else { ", in columns at other addresses than multiples of 16 bytes" })
    }
}

/// The purpose of kernels, in words.
pub(super) fn list(kernels: &[MadeFor]) -> String {
    let words: Vec<String> = kernels.iter().map(MadeFor::to_string).collect();
    words.join("; and for ")
}

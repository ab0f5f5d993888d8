//! Schedules: how tiles come, go and get their carry. Each [`Schedule`] has a folder or file. Here
//! is what plans need of it: whether a plan can be, the layout of shared memory, and the function
//! that writes the kernel.

mod columnar;
mod look_back;
pub(super) mod ring;

use super::emit::{Builder, Passes};
use super::error::PlanError;
use super::kernel::arguments::KernelArguments;
use super::kernel::bytes::width;
use super::kernel::recipe::Recipe;
use super::kernel::shared_tables::SharedTables;
use super::lower::Tables;
use super::{HEAD, Kernel};
use crate::gpu::{Arch, GpuPlan, MOST_BUFFERS, Schedule};

/// Where a block's shared memory has all that a schedule keeps there. What a plan of the schedule lacks to be written.
#[expect(clippy::large_enum_variant, reason = "there is one for each plan of a kernel")]
pub(super) enum Layout {
    /// That of a ring of so many buffers, so many tiles ahead, of shifted columns or not.
    Ring((usize, usize, bool), ring::layout::Shared),
    LookBack(look_back::layout::Shared),
    /// It keeps nothing there.
    Columnar,
}

impl Layout {
    /// Where a block has what this plan keeps.
    pub(super) fn of(recipe: &Recipe, plan: &GpuPlan) -> Layout {
        match plan.schedule {
            Schedule::Ring { buffers, ahead, shifted } => {
                let ring = (buffers, ahead, shifted);
                Layout::Ring(ring, ring::layout::Shared::of(recipe, plan, ring))
            }
            Schedule::LookBack => Layout::LookBack(look_back::layout::Shared::of(recipe, plan)),
            Schedule::Columnar => Layout::Columnar,
        }
    }

    /// Bytes of shared memory of a block.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Layout::Ring(_, shared) => shared.bytes,
            Layout::LookBack(shared) => shared.bytes,
            Layout::Columnar => 0,
        }
    }

    /// Threads of a block of this plan.
    fn threads(&self, recipe: &Recipe, plan: &GpuPlan) -> usize {
        let helpers = if matches!(self, Layout::Ring(..)) { ring::helpers(recipe.levels.len()) } else { 0 };
        32 * (plan.warps + helpers)
    }

    /// The tables that have copies there.
    fn tables(&self) -> Option<&SharedTables> {
        match self {
            Layout::Ring(_, shared) => Some(&shared.tables),
            Layout::LookBack(shared) => Some(&shared.tables),
            Layout::Columnar => None,
        }
    }

    /// Writes the kernel of a plan.
    pub(super) fn kernel(&self, recipe: &Recipe, plan: &GpuPlan) -> Kernel {
        let (k, threads) = (Builder::new(), self.threads(recipe, plan));
        k.function(HEAD, |k| {
            let mut tables = Tables::in_module(k, &recipe.tables);
            // The warps of a ring are in loops all the time.
            let base = if matches!(self, Layout::Ring(..)) { k.shared_of_warp() } else { k.shared() };
            if let Some(shared) = self.tables() {
                shared.fill(base, &mut tables, k.thread(), threads);
            }
            let args = KernelArguments { k, layout: &recipe.arguments, tables: &tables, row: None };
            match self {
                Layout::Ring(ring, shared) => ring::write((args, base), recipe, plan, *ring, shared),
                Layout::LookBack(shared) => look_back::write((args, base), recipe, plan, shared),
                Layout::Columnar => columnar::write(args, recipe, plan),
            }
        });
        Kernel { text: k.finish(), manifest: recipe.manifest(plan, threads, self.bytes()) }
    }

    /// The passes that LLVM runs over it: few over a ring, whose loops are written as they are to stay.
    pub(super) fn passes(&self) -> Passes {
        match self {
            Layout::Ring(..) => Passes::Few,
            Layout::LookBack(_) | Layout::Columnar => Passes::All,
        }
    }
}

/// Whether a plan that was asked for is one of its schedule, whatever it takes.
pub(super) fn check(recipe: &Recipe, plan: &GpuPlan, arch: Arch) -> Result<(), PlanError> {
    let levels = recipe.levels.len();
    let most = match plan.schedule {
        Schedule::Ring { buffers, ahead, .. } => {
            let needs = ring::layout::lead(levels, ahead.min(MOST_BUFFERS), 0) + 2;
            if ahead < 1 || !(needs..=MOST_BUFFERS).contains(&buffers) {
                return Err(PlanError::Buffers { buffers, ahead, needs });
            }
            32usize.saturating_sub(ring::helpers(levels))
        }
        Schedule::LookBack | Schedule::Columnar => 32,
    };
    if !(1..=most).contains(&plan.warps) {
        return Err(PlanError::Warps { warps: plan.warps, most });
    }
    // A Mealy fold counts what a thread keeps in a byte.
    if recipe.is_mealy && plan.items_per_thread() > u8::MAX.into() {
        return Err(PlanError::NoTile);
    }
    match plan.schedule {
        Schedule::Ring { shifted, .. } => {
            ring::layout::check(recipe, arch)?;
            ring::layout::expect_listed(recipe, plan)?;
            if shifted { Ok(()) } else { expect_whole_accesses(recipe, plan) }
        }
        Schedule::LookBack => expect_whole_accesses(recipe, plan),
        Schedule::Columnar if recipe.rank.is_some() => Err(PlanError::Keeps),
        Schedule::Columnar => Ok(()),
    }
}

fn expect_whole_accesses(recipe: &Recipe, plan: &GpuPlan) -> Result<(), PlanError> {
    let outputs = recipe.outputs.iter().filter(|_| recipe.rank.is_none());
    let mut sizes = recipe.inputs.iter().chain(outputs).map(|column| column.size as usize);
    let load_group = plan.load_group;
    match sizes.find(|size| width(load_group * size) < width(plan.items_per_thread() * size)) {
        None => Ok(()),
        Some(size) => Err(PlanError::PartialAccess { load_group, size }),
    }
}

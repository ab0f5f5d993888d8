//! The forms of a program that calls need, and their kernels, each compiled when the first call
//! needs it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use monoscan_codegen::gpu::{AccessPattern, Arch, GpuPlan};
use monoscan_codegen::nvptx::{KernelIr, KernelPlan, NvptxError, PlanError};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Constant, Program, Verified};
use rustc_hash::FxHashMap;

use super::kernel::{GpuKernel, expect_driver};
use super::states::States;
use crate::cuda::{Architecture, CubinCache, CudaError, Device, Target};
use crate::error::Error;

/// Rows shorter than this part of a tile are scanned by a thread each.
const SHORT_ROWS: usize = 4;

/// The purpose of a form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Need {
    pub(super) form: Form,
    /// For initial states that lie outside of the ranges that hold without them.
    pub(super) any_states: bool,
    /// Totals and nothing else.
    pub(super) reduces: bool,
}

/// A program in one form.
pub(super) struct Variant {
    pub(super) program: Lowered,
    pub(super) states: Arc<States>,
    kernels: Mutex<FxHashMap<AccessPattern, Arc<GpuKernel>>>,
    /// Up to how many records a line is short.
    short: OnceLock<usize>,
    /// Records of the tiles of lines and rows. To plan may be to look for names of an automaton's maps, so it is done once.
    tile: OnceLock<Option<usize>>,
}

/// All forms of a program for one device.
pub(super) struct Variants {
    pub(super) program: Arc<Verified<Program>>,
    pub(super) maker: Maker,
    made: Mutex<FxHashMap<Need, Arc<Variant>>>,
}

/// The maker of kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Maker {
    pub(super) device: Device,
    pub(super) arch: Arch,
    /// The only plan for lines and rows, if one was asked for.
    pub(super) plan: Option<GpuPlan>,
    pub(super) cache: Option<CubinCache>,
}

impl Variants {
    pub(super) fn new(program: Arc<Verified<Program>>, maker: Maker) -> Variants {
        Variants { program, maker, made: Mutex::default() }
    }

    /// The form that is needed. Two threads may both make one; the first to finish wins.
    pub(super) fn get(&self, need: Need) -> Arc<Variant> {
        if let Some(variant) = lock(&self.made).get(&need) {
            return variant.clone();
        }
        let made = Arc::new(Variant::new(&self.program, need));
        lock(&self.made).entry(need).or_insert(made).clone()
    }

    /// The form for a call with these states besides the identities.
    pub(super) fn holding<'s>(
        &self,
        need: Need,
        mut states: impl Iterator<Item = (&'static str, &'s [Constant])>,
    ) -> Arc<Variant> {
        let variant = self.get(need);
        if states.all(|(_, state)| variant.program.holds(state)) {
            return variant;
        }
        self.get(Need { any_states: true, ..need })
    }
}

impl Variant {
    fn new(program: &Verified<Program>, need: Need) -> Variant {
        let mut program = lower(program, need.form);
        if need.reduces {
            program = program.without_outputs();
        }
        if need.any_states {
            program = program.for_any_states();
        }
        Variant {
            states: Arc::new(States::new(&program)),
            program,
            kernels: Mutex::default(),
            short: OnceLock::new(),
            tile: OnceLock::new(),
        }
    }

    /// The kernel for this access pattern, compiled if this is the first call for it.
    pub(super) fn kernel(&self, pattern: AccessPattern, maker: &Maker) -> Result<Arc<GpuKernel>, Error> {
        if let Some(kernel) = lock(&self.kernels).get(&pattern) {
            return Ok(kernel.clone());
        }
        let made = self.make(pattern, maker)?;
        Ok(lock(&self.kernels).entry(pattern).or_insert(made).clone())
    }

    fn make(&self, pattern: AccessPattern, maker: &Maker) -> Result<Arc<GpuKernel>, Error> {
        let began = Instant::now();
        let plan = self.plan(pattern, maker.plan.as_ref(), maker.arch).map_err(NvptxError::from)?;
        // Two access patterns may have one plan.
        if let Some(made) = lock(&self.kernels).values().find(|made| made.manifest().plan == *plan.plan()) {
            return Ok(made.clone());
        }
        Ok(Arc::new(maker.kernel(&KernelIr::new(&plan), began)?))
    }

    /// Records of the tiles of lines and rows; none if no tile fits a block.
    pub(super) fn tile(&self, maker: &Maker) -> Option<usize> {
        let plan = || self.plan(AccessPattern::Any, maker.plan.as_ref(), maker.arch).ok();
        *self.tile.get_or_init(|| plan().map(|plan| plan.plan().tile()))
    }

    /// Whether rows of so many records, one behind the other, are scanned by a thread each.
    pub(super) fn has_short_rows(&self, records: usize, maker: &Maker) -> bool {
        self.tile(maker).is_some_and(|tile| records < tile / SHORT_ROWS)
    }

    /// Whether a line of so many records is short; none is where a plan was asked for.
    pub(super) fn is_short(&self, records: usize, maker: &Maker) -> bool {
        let plan = || self.plan(AccessPattern::Short, None, maker.arch).ok();
        maker.plan.is_none() && records <= *self.short.get_or_init(|| plan().map_or(0, |plan| plan.plan().short()))
    }

    /// The plan for this access pattern; for lines the one that was asked for, if it is there and runs them.
    fn plan(&self, pattern: AccessPattern, asked: Option<&GpuPlan>, arch: Arch) -> Result<KernelPlan, PlanError> {
        match asked.filter(|plan| plan.schedule.serves(pattern)) {
            Some(plan) => KernelPlan::with(&self.program, plan, arch),
            None => KernelPlan::new(&self.program, pattern, arch),
        }
    }
}

impl Maker {
    pub(super) fn new(device: &Device) -> Result<Maker, CudaError> {
        let architecture = device.facts().architecture;
        let arch = Arch::for_capability(architecture.major, architecture.minor).ok_or_else(|| {
            let (major, minor) = Arch::ALL[0].capability();
            let needs = Target::Later(Architecture::new(major, minor));
            CudaError::WrongArchitecture { needs, device: architecture }
        })?;
        expect_driver(device, arch)?;
        Ok(Maker { device: *device, arch, plan: None, cache: None })
    }

    /// Loads the kernel whose IR began to be written at this time. Where its machine code is in the cache, LLVM is not asked.
    fn kernel(&self, ir: &KernelIr, began: Instant) -> Result<GpuKernel, Error> {
        let (key, manifest) = (ir.key(), ir.manifest.clone());
        let written = began.elapsed();
        let ptx = || ir.compile().map_err(Error::from);
        // SAFETY: IR and manifest were written together, and all that the PTX depends on is in the key.
        let kernel = unsafe { GpuKernel::made(&self.device, &key, manifest, self.cache.as_ref(), ptx) }?;
        Ok(kernel.with_ptx_time(written))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held left the map whole: every change to it is one call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::transform::SegmentStart;
    use monoscan_ir::{Mode, verify};
    use scan_kit::random;

    #[test]
    fn every_form_has_a_kernel_for_every_access_pattern() {
        let programs = (0..2).map(|seed| verify(random::random_program(seed, &random::Options::default())).unwrap());
        for program in programs {
            let keeps = program.output.filter.is_some();
            for (heads, reduces) in [(false, false), (true, false), (true, true), (false, true)] {
                let form =
                    Form { mode: Mode::Exclusive, heads, start: SegmentStart::Init, checked: heads, previous: true };
                let variant = Variant::new(&program, Need { form, any_states: heads, reduces });
                for pattern in AccessPattern::ALL {
                    let has_none = keeps && pattern == AccessPattern::Columnar;
                    match variant.plan(pattern, None, Arch::Sm90) {
                        Ok(plan) => {
                            let ptx = KernelIr::new(&plan).compile().unwrap();
                            assert!(ptx.contains(".visible .entry scan("));
                            assert!(!has_none);
                        }
                        Err(why) => {
                            assert!(has_none, "{pattern:?} {heads} {reduces}: {why}\n{}", *variant.program);
                            assert_eq!(why, PlanError::Keeps);
                        }
                    }
                }
            }
        }
    }
}

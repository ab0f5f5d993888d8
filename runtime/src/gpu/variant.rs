//! The forms of a program that calls need, and their kernels, each compiled when the first call
//! needs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use monoscan_codegen::gpu::{AccessPattern, Arch, GpuPlan, Schedule};
use monoscan_codegen::nvptx::{KernelIr, NvptxError};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Constant, Program, Verified};

use super::kernel::{GpuKernel, expect_driver};
use super::states::States;
use crate::cuda::{CubinCache, CudaError, Device};
use crate::error::Error;

/// What a form is for.
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
    kernels: Mutex<HashMap<AccessPattern, Arc<GpuKernel>>>,
    /// Up to how many records a line is short.
    short: OnceLock<usize>,
    /// Records of the tiles of lines and rows. To plan may be to look for names of an automaton's maps, so it is done once.
    tile: OnceLock<Option<usize>>,
}

/// All forms of a program for one device.
pub(super) struct Variants {
    pub(super) program: Arc<Verified<Program>>,
    pub(super) maker: Maker,
    made: Mutex<HashMap<Need, Arc<Variant>>>,
}

/// What makes kernels.
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
    pub(super) fn holding(&self, need: Need, states: [Option<&[Constant]>; 2]) -> Arc<Variant> {
        let variant = self.get(need);
        if states.into_iter().flatten().all(|state| variant.program.holds(state)) {
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

    /// The kernel of the first plan that the program has one for.
    fn make(&self, pattern: AccessPattern, maker: &Maker) -> Result<Arc<GpuKernel>, Error> {
        let mut refused = NvptxError::Plan("no tile of the program fits a block".into());
        for plan in self.plans(pattern, maker.plan.as_ref(), maker.arch) {
            // Two ways may have one plan.
            if let Some(made) = lock(&self.kernels).values().find(|made| made.manifest().plan == plan) {
                return Ok(made.clone());
            }
            let began = Instant::now();
            match KernelIr::new(&self.program, &plan, maker.arch) {
                Ok(ir) => return Ok(Arc::new(maker.kernel(&ir, began)?)),
                Err(NvptxError::Plan(why)) => refused = NvptxError::Plan(why),
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused.into())
    }

    /// Records of the tiles of lines and rows; none if no tile fits a block.
    pub(super) fn tile(&self, maker: &Maker) -> Option<usize> {
        let tile = || self.plans(AccessPattern::Any, maker.plan.as_ref(), maker.arch).first().map(GpuPlan::tile);
        *self.tile.get_or_init(tile)
    }

    /// Whether a line of so many records is short; none is where a plan was asked for.
    pub(super) fn is_short(&self, records: usize, maker: &Maker) -> bool {
        let small = || self.plans(AccessPattern::Short, None, maker.arch).first().map_or(0, GpuPlan::short);
        maker.plan.is_none() && records <= *self.short.get_or_init(small)
    }

    /// The plans for this access pattern, the best first; `asked` is the only one for lines, if it is there.
    fn plans(&self, pattern: AccessPattern, asked: Option<&GpuPlan>, arch: Arch) -> Vec<GpuPlan> {
        match (pattern, asked) {
            (AccessPattern::Aligned, Some(plan)) => vec![plan.clone()],
            (AccessPattern::Any | AccessPattern::Shifted, Some(plan)) if plan.schedule == Schedule::LookBack => {
                vec![plan.clone()]
            }
            (AccessPattern::Shifted, Some(plan)) if matches!(plan.schedule, Schedule::Ring { shifted: true, .. }) => {
                vec![plan.clone()]
            }
            _ => pattern.plans(&self.program, arch),
        }
    }
}

impl Maker {
    pub(super) fn new(device: &Device) -> Result<Maker, CudaError> {
        let architecture = device.facts().architecture;
        let arch = Arch::for_capability(architecture.major, architecture.minor).ok_or_else(|| {
            CudaError::WrongArchitecture {
                needs: format!("{} or later", Arch::ALL[0]),
                device: architecture.to_string(),
            }
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
    use monoscan_ir::{Mode, random, verify};

    #[test]
    fn every_form_has_a_kernel_for_every_way() {
        let programs = (0..2).map(|seed| verify(random::random_program(seed, &random::Options::default())).unwrap());
        for program in programs {
            let keeps = program.output.keep.is_some();
            for (heads, reduces) in [(false, false), (true, false), (true, true), (false, true)] {
                let form = Form { mode: Mode::Exclusive, heads, init: heads, checked: heads, previous: true };
                let variant = Variant::new(&program, Need { form, any_states: heads, reduces });
                for pattern in [
                    AccessPattern::Aligned,
                    AccessPattern::Shifted,
                    AccessPattern::Short,
                    AccessPattern::Any,
                    AccessPattern::Columnar,
                ] {
                    let plans = variant.plans(pattern, None, Arch::Sm90);
                    let made = |plan: GpuPlan| KernelIr::new(&variant.program, &plan, Arch::Sm90)?.compile();
                    let mut refusals = Vec::new();
                    for result in plans.into_iter().map(made) {
                        match result {
                            Ok(ptx) => {
                                assert!(ptx.contains(".visible .entry scan("));
                                refusals.clear();
                                break;
                            }
                            Err(NvptxError::Plan(why)) => refusals.push(why),
                            Err(error) => panic!("{pattern:?} {heads} {reduces}: {error}\n{}", *program),
                        }
                    }
                    let has_none = keeps && pattern == AccessPattern::Columnar;
                    assert!(
                        refusals.is_empty() || has_none,
                        "{pattern:?} {heads} {reduces}: {refusals:?}\n{}",
                        *program
                    );
                }
            }
        }
    }
}

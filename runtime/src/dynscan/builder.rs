//! [`DynScanBuilder`]: the options of a scan, those of each device included.

use std::sync::Arc;

use monoscan_codegen::gpu::Transducer;
use monoscan_codegen::plan::PlanOptions;
use monoscan_ir::laws::{Overflow, Words};
use monoscan_ir::{Layout, Verified};

use super::{COMPILED, DynScan, Key, Shared};
use crate::checks;
use crate::device::Device;
use crate::engine::{Natives, OnCpu};
use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::gpu;
use crate::loops::LoopStates;
use crate::parameters::Parameters;

/// How to build a [`DynScan`] that is not the default one.
#[must_use]
pub struct DynScanBuilder {
    pub(super) key: Key,
    pub(super) component_names: Vec<String>,
    pub(super) words: Words,
    pub(super) threads: Option<usize>,
    pub(super) needs_start: bool,
    pub(super) overflow: Overflow,
    pub(super) device: Device,
    pub(super) looped: Option<Arc<LoopStates>>,
    #[cfg(feature = "cuda")]
    pub(super) gpu: gpu::Options,
}

impl DynScanBuilder {
    /// Accepts the operator whatever its laws: for operators that are associative for a reason the compiler cannot see.
    /// [`DynScan::explain`] says that this was asked for. Results of an operator that is not associative are unspecified.
    pub fn assume_associative(mut self) -> DynScanBuilder {
        self.key.terms.assume_associative = true;
        self
    }

    /// Whether integer overflow is meant; by default it never occurs. Laws are judged accordingly; results are the same. The
    /// scan's [program](DynScan::program) says that it is meant.
    pub fn overflow(mut self, overflow: Overflow) -> DynScanBuilder {
        self.overflow = overflow;
        self
    }

    /// Uses at most this many threads instead of rayon's number; 0 counts as 1. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> DynScanBuilder {
        self.threads = Some(threads.max(1));
        self
    }

    /// Overrides choices of the plan: for study, and for tests of its boundaries.
    pub fn plan(mut self, options: PlanOptions) -> DynScanBuilder {
        self.key.options = options;
        self
    }

    /// For the typed front end: how states lie where callers pass them in memory, component after component: those of all stages, or of
    /// the loop.
    ///
    /// # Panics
    /// If these are not their components.
    #[doc(hidden)]
    pub fn states_in_memory(mut self, states: Layout) -> DynScanBuilder {
        let are_states = match &self.looped {
            Some(of) => states.types().eq(of.types().iter().copied()),
            None => states.types().eq(checks::state_types(&self.key.program)),
        };
        assert!(are_states, "{states:?} is no layout of the states");
        self.key.states = Some(states);
        self
    }

    /// For the typed front end: functions that give for every element what the program does, to the bit. A pass may call them
    /// in place of generated code.
    ///
    /// # Safety
    /// They keep what a kernel of short lines promises: they read so many records of the input columns, write as many of the output, and
    /// touch nothing else but the state.
    #[doc(hidden)]
    pub unsafe fn natives(mut self, natives: Natives) -> DynScanBuilder {
        self.key.natives = Some(natives);
        self
    }

    /// For the typed front end, which refuses exclusive scans from the identity then: its output means nothing.
    #[doc(hidden)]
    pub fn needs_start(mut self) -> DynScanBuilder {
        self.needs_start = true;
        self
    }

    /// Names of the state's components in reports about laws; by default their numbers.
    pub fn component_names(mut self, names: Vec<String>) -> DynScanBuilder {
        self.component_names = names;
        self
    }

    /// How reports of laws speak to the users of a front end; the default speaks of programs.
    pub fn words(mut self, words: Words) -> DynScanBuilder {
        self.words = words;
        self
    }

    /// The program was derived from a loop, whose states callers give and get.
    pub(crate) fn derived(mut self, states: Arc<LoopStates>) -> DynScanBuilder {
        self.looped = Some(states);
        self
    }

    /// Runs on this device instead of the CPU; [`DynScan::on`] is the same for a scan that is there already.
    pub fn device(mut self, device: impl Into<Device>) -> DynScanBuilder {
        self.device = device.into();
        self
    }

    /// On a GPU: compiles this plan for lines, instead of the best. For study; what it does not do is done by look-back.
    #[cfg(all(feature = "cuda", feature = "ptx"))]
    pub fn gpu_plan(mut self, plan: monoscan_codegen::gpu::GpuPlan) -> DynScanBuilder {
        self.gpu.plan = Some(plan);
        self
    }

    /// On a GPU: keeps what the driver compiles in this cache.
    #[cfg(feature = "cuda")]
    pub fn cubins(mut self, cache: crate::cuda::CubinCache) -> DynScanBuilder {
        self.gpu.cache = Some(cache);
        self
    }

    /// On a GPU: gives a wait of a block for another one up after this time; by default after 10 seconds.
    #[cfg(feature = "cuda")]
    pub fn time_limit(mut self, limit: std::time::Duration) -> DynScanBuilder {
        self.gpu.limit = limit;
        self
    }

    /// The program gives what this transducer gives, whose columns are the program's: a GPU may run it as that.
    #[doc(hidden)]
    #[cfg_attr(not(feature = "cuda"), expect(unused_mut, unused_variables, reason = "there is no GPU in this build"))]
    pub fn transducer(mut self, transducer: Transducer) -> DynScanBuilder {
        #[cfg(feature = "cuda")]
        {
            self.gpu.transducer = Some(Arc::new(transducer));
        }
        self
    }

    /// Judges the laws, plans and compiles the kernel of a short inclusive scan: a few milliseconds, or nothing if an equal program is in use. The
    /// kernels of other calls are compiled when they are first needed.
    ///
    /// # Errors
    /// [`Error::NotAMonoid`] with a counterexample, if a law is refuted, or with what is missing, if a law is neither proved
    /// nor could be judged in a single case. [`Error::Codegen`] if no code could be generated. For a GPU as
    /// [`on`](DynScan::on); kernels are compiled when a call first needs them.
    pub fn build(self) -> Result<DynScan, Error> {
        let device = self.device;
        self.judged()?.on(device)
    }

    /// The scan on the CPU, for which nothing was compiled yet.
    pub(super) fn judged(mut self) -> Result<DynScan, Error> {
        if self.overflow == Overflow::Wraps {
            self.key.program = Arc::new(Verified::clone(&self.key.program).wrapping());
        }
        let shared = COMPILED.get_or_make(self.key, |key| Shared::new(key, &self.component_names, self.words))?;
        let variants = shared.variants.clone();
        let scan = DynScan {
            backend: Arc::new(OnCpu { variants: variants.clone(), threads: self.threads }),
            shared,
            variants,
            component_names: self.component_names.into(),
            words: self.words,
            threads: self.threads,
            checked: false,
            wraps: self.overflow == Overflow::Wraps,
            parameters: Parameters::default(),
            device: Device::cpu(),
            needs_start: self.needs_start,
            plain: [false; 2],
            looped: self.looped,
            #[cfg(feature = "cuda")]
            gpu: self.gpu,
        };
        Ok(scan.settled())
    }
}

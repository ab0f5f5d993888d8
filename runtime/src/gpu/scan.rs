//! [`GpuScan`]: a program, judged, for one device.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use monoscan_codegen::gpu::{AccessPattern, GpuPlan};
use monoscan_ir::laws::{Judgement, Overflow};
use monoscan_ir::transform::{Check, Form};
use monoscan_ir::{Program, Verified};

use super::ends::states_at_ends;
use super::kernel::{GpuKernel, TIME_LIMIT};
use super::variant::{Maker, Need, Variants};
use crate::cache::Cache;
use crate::cuda::{CubinCache, Device};
use crate::error::Error;
use crate::verdicts::{self, Terms};

/// A scan on one GPU, over columns in its memory or in that of the host. Cheap to clone; compiled code is shared by
/// equal programs, and freed when the last of them is dropped.
///
/// ```no_run
/// use monoscan_ir::{text, verify};
/// use monoscan_runtime::cuda::{Device, DeviceBuffer, Stream};
/// use monoscan_runtime::gpu::{DeviceCall, DeviceColumn, DeviceColumnMut, GpuScan};
///
/// # let source = "";
/// let device = Device::cuda(0)?;
/// let scan = GpuScan::new(verify(text::parse(source)?)?, &device)?;
/// let stream = Stream::new(&device)?;
/// let records = DeviceBuffer::from_slice(&stream, &[3i32, 1, 4])?;
/// let mut sums = DeviceBuffer::<i32>::uninitialized(&device, records.len())?;
/// let (inputs, outputs) = ([DeviceColumn::new::<i32>(&records)], &mut [DeviceColumnMut::new::<i32>(&mut sums)]);
/// scan.call(&DeviceCall::default(), &inputs, outputs, &stream)?.wait()?;
/// assert_eq!(sums.to_vec(&stream)?, [3, 4, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GpuScan {
    pub(super) shared: Arc<Shared>,
    component_names: Arc<[String]>,
    /// Whether the first overflow is an error.
    pub(super) checked: bool,
    pub(super) limit: Duration,
}

/// What equal programs share.
pub(super) struct Shared {
    key: Key,
    judgements: Vec<Arc<Judgement>>,
    pub(super) variants: Variants,
    /// What gives the totals of segments, once that was asked for.
    at_ends: OnceLock<GpuScan>,
}

/// What makes two scans the same.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    program: Arc<Verified<Program>>,
    maker: Maker,
    terms: Terms,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Other makers of the same program are few.
        (&self.program, &self.terms, self.maker.device.ordinal()).hash(state);
    }
}

static COMPILED: LazyLock<Cache<Key, Shared>> = LazyLock::new(Cache::new);

/// How to build a [`GpuScan`] that is not the default one.
#[must_use]
pub struct GpuScanBuilder {
    program: Arc<Verified<Program>>,
    device: Device,
    terms: Terms,
    plan: Option<GpuPlan>,
    cache: Option<CubinCache>,
    component_names: Vec<String>,
    limit: Duration,
}

impl GpuScanBuilder {
    /// Accepts the operator whatever its laws, as
    /// [`DynScanBuilder::assume_associative`](crate::DynScanBuilder::assume_associative).
    pub fn assume_associative(mut self) -> GpuScanBuilder {
        self.terms.assume_associative = true;
        self
    }

    /// Whether integer overflow is meant; by default it never occurs. Laws are judged accordingly; results are the
    /// same.
    pub fn overflow(mut self, overflow: Overflow) -> GpuScanBuilder {
        self.terms.overflow = overflow;
        self
    }

    /// Compiles this plan for lines, instead of the best: for study. What it does not do is done by look-back.
    pub fn plan(mut self, plan: GpuPlan) -> GpuScanBuilder {
        self.plan = Some(plan);
        self
    }

    /// Keeps what the driver compiles in this cache.
    pub fn cubins(mut self, cache: CubinCache) -> GpuScanBuilder {
        self.cache = Some(cache);
        self
    }

    /// Gives a wait of a block for another one up after this time; by default after 10 seconds.
    pub fn time_limit(mut self, limit: Duration) -> GpuScanBuilder {
        self.limit = limit;
        self
    }

    /// What the state's components are called in reports about laws; by default their numbers.
    pub fn component_names(mut self, names: Vec<String>) -> GpuScanBuilder {
        self.component_names = names;
        self
    }

    /// Judges the laws. Kernels are compiled when a call first needs them.
    ///
    /// # Errors
    /// [`Error::NotAMonoid`] if a law is refuted or could not be judged. [`Error::Cuda`] if no kernels can be made for
    /// the device, or its driver is too old for them.
    pub fn build(self) -> Result<GpuScan, Error> {
        let maker = Maker { plan: self.plan, cache: self.cache, ..Maker::new(&self.device)? };
        let key = Key { program: self.program, maker, terms: self.terms };
        let names = &self.component_names;
        let shared = COMPILED.get_or_make(key, |key| {
            let judgements = verdicts::judge_all(&key.program, &key.terms, names)?;
            let variants = Variants::new(key.program.clone(), key.maker.clone());
            Ok::<_, Error>(Shared { key: key.clone(), judgements, variants, at_ends: OnceLock::new() })
        })?;
        Ok(GpuScan { shared, component_names: self.component_names.into(), checked: false, limit: self.limit })
    }
}

impl GpuScan {
    /// Judges the laws of the program's operator, for scans on this device.
    ///
    /// # Errors
    /// As [`GpuScanBuilder::build`].
    pub fn new(program: Verified<Program>, device: &Device) -> Result<GpuScan, Error> {
        GpuScan::builder(program, device).build()
    }

    /// For options.
    pub fn builder(program: Verified<Program>, device: &Device) -> GpuScanBuilder {
        GpuScanBuilder {
            program: Arc::new(program),
            device: *device,
            terms: Terms::default(),
            plan: None,
            cache: None,
            component_names: Vec::new(),
            limit: TIME_LIMIT,
        }
    }

    /// The same scan, every call of which finds the first record at which the sequential loop overflows: see
    /// [`DynScan::checked`](crate::DynScan::checked). A call over device memory says so when it is
    /// [waited for](super::Pending::wait).
    pub fn checked(&self) -> GpuScan {
        let is_meant = self.shared.key.terms.overflow == Overflow::Wraps;
        GpuScan { checked: !is_meant && Check::is_needed(self.program()), ..self.clone() }
    }

    /// The program.
    pub fn program(&self) -> &Verified<Program> {
        &self.shared.key.program
    }

    /// The device on which it runs.
    pub fn device(&self) -> &Device {
        &self.shared.key.maker.device
    }

    /// What is known about the laws of each stage's operator.
    pub fn judgements(&self) -> impl Iterator<Item = &Judgement> {
        self.shared.judgements.iter().map(|judgement| &**judgement)
    }

    /// The kernel of an inclusive scan of a line, compiled if no call needed it yet: its plan, and how long it took to
    /// make.
    ///
    /// # Errors
    /// No kernel could be made, or the driver refuses it.
    pub fn kernel(&self) -> Result<Arc<GpuKernel>, Error> {
        let Shared { variants, .. } = &*self.shared;
        let need = Need { form: Form::default(), any_states: false, reduces: false };
        variants.get(need).kernel(AccessPattern::Aligned, &variants.maker)
    }

    /// The scan whose outputs are the states at the ends of segments.
    pub(super) fn at_ends(&self) -> Result<GpuScan, Error> {
        if let Some(scan) = self.shared.at_ends.get() {
            return Ok(GpuScan { checked: self.checked, ..scan.clone() });
        }
        let Key { program, maker, .. } = &self.shared.key;
        // The operators were judged, and accepted.
        let builder =
            GpuScan::builder(states_at_ends(program)?, &maker.device).assume_associative().time_limit(self.limit);
        let made = GpuScanBuilder { cache: maker.cache.clone(), ..builder }.build()?;
        let made = self.shared.at_ends.get_or_init(|| made).clone();
        Ok(GpuScan { checked: self.checked, ..made })
    }

    /// What was chosen and why: the verdict on the laws with its conditions, and the plan.
    ///
    /// # Errors
    /// As [`kernel`](GpuScan::kernel).
    pub fn explain(&self) -> Result<String, Error> {
        let Shared { key, judgements, .. } = &*self.shared;
        let laws = verdicts::explain(&key.program, judgements, &key.terms, &self.component_names);
        let plan = self.kernel()?.manifest().plan.to_string();
        Ok(format!("program {}\n{laws}\nplan for {}: {plan}\n", key.program.name, key.maker.arch))
    }
}

impl fmt::Debug for GpuScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuScan").field("program", &self.program().name).field("device", self.device()).finish()
    }
}

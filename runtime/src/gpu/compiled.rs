//! [`Compiled`]: the kernels of one program for one device, which is what a
//! [`DynScan`](crate::DynScan) on a GPU runs.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use monoscan_codegen::gpu::{Arch, GpuPlan};
use monoscan_ir::{Program, Verified};

use super::ends::states_at_ends;
use super::kernel::TIME_LIMIT;
use super::variant::{Maker, Variants};
use crate::cache::Cache;
use crate::cuda::{CubinCache, Device};
use crate::error::Error;
use crate::parameters::Parameters;

/// The kernels of a program on one GPU. Cheap to clone; equal programs share theirs, which are freed with the last of them.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(super) shared: Arc<Shared>,
    /// Whether the first overflow is an error.
    pub(crate) checked: bool,
    /// The values of the program's parameters.
    pub(crate) parameters: Parameters,
    pub(super) limit: Duration,
}

/// What equal programs share.
pub(super) struct Shared {
    pub(super) variants: Variants,
    /// What gives the totals of segments, once that was asked for.
    at_ends: OnceLock<Compiled>,
}

/// What a scan on a GPU is built with, besides what every scan is.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The only plan for lines, if one was asked for.
    pub(crate) plan: Option<GpuPlan>,
    pub(crate) cache: Option<CubinCache>,
    pub(crate) limit: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options { plan: None, cache: None, limit: TIME_LIMIT }
    }
}

/// What makes two of them the same.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    program: Arc<Verified<Program>>,
    maker: Maker,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Other makers of the same program are few.
        (&self.program, self.maker.device.ordinal()).hash(state);
    }
}

static COMPILED: LazyLock<Cache<Key, Shared>> = LazyLock::new(Cache::new);

impl Compiled {
    /// Of a program that was judged. Kernels are compiled when a call first needs them.
    ///
    /// # Errors
    /// [`Error::Cuda`] if no kernels can be made for the device, or its driver is too old for them.
    pub(crate) fn new(program: Arc<Verified<Program>>, device: &Device, options: &Options) -> Result<Compiled, Error> {
        let Options { plan, cache, limit } = options.clone();
        Compiled::made_by(program, Maker { plan, cache, ..Maker::new(device)? }, limit)
    }

    fn made_by(program: Arc<Verified<Program>>, maker: Maker, limit: Duration) -> Result<Compiled, Error> {
        let shared = COMPILED.get_or_make(Key { program, maker }, |key| {
            let variants = Variants::new(key.program.clone(), key.maker.clone());
            Ok::<_, Error>(Shared { variants, at_ends: OnceLock::new() })
        })?;
        Ok(Compiled { shared, checked: false, parameters: Parameters::default(), limit })
    }

    pub(super) fn program(&self) -> &Verified<Program> {
        &self.shared.variants.program
    }

    pub(crate) fn device(&self) -> &Device {
        &self.shared.variants.maker.device
    }

    pub(crate) fn arch(&self) -> Arch {
        self.shared.variants.maker.arch
    }

    /// The scan whose outputs are the states at the ends of segments.
    pub(super) fn at_ends(&self) -> Result<Compiled, Error> {
        let Shared { variants, at_ends } = &*self.shared;
        let made = match at_ends.get() {
            Some(made) => made,
            None => {
                let maker = Maker { plan: None, ..variants.maker.clone() };
                let made = Compiled::made_by(Arc::new(states_at_ends(&variants.program)?), maker, self.limit)?;
                at_ends.get_or_init(|| made)
            }
        };
        let parameters = self.parameters.clone();
        Ok(Compiled { checked: self.checked, parameters, limit: self.limit, ..made.clone() })
    }
}

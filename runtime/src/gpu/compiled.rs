//! [`Compiled`]: the kernels of one program for one device, each compiled when a call first needs
//! it.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use monoscan_codegen::gpu::{AccessPattern, natural};
use monoscan_codegen::nvptx::HelperKernel;
use monoscan_ir::transform::{Form, interleaved};
use monoscan_ir::{Layout, MAX_STAGES, Program, Verified};

use super::ahead::Helper;
use super::ends::states_at_ends;
use super::helpers::Helpers;
use super::kernel::{GpuKernel, Span};
use super::on_gpu::{Found, HelperKernels, OnGpu, Options, Source};
use super::row_chunks;
use super::segments::Marks;
use super::task::Task;
use super::variant::{Maker, Need, Variants};
use crate::cache::{Cache, get_or_make};
use crate::call::{Call, Shape};
use crate::cuda::Device;
use crate::error::Error;
use crate::interleaved::MOST;

/// Lines of wider records have tiles of so many, at least.
const LEAST_TILE: usize = 256;

/// The kernels of a program on one GPU. Equal programs share theirs, which are freed with the last of them.
pub(crate) struct Compiled {
    pub(super) shared: Arc<Shared>,
    pub(super) limit: Duration,
}

/// The part that equal programs share.
pub(super) struct Shared {
    pub(super) variants: Variants,
    /// The kernels for totals of segments, once these were asked for.
    at_ends: OnceLock<Arc<Shared>>,
    /// Those for two interleaved rows and more, as one line, and for aggregates of chunks, level by level.
    interleaved: [OnceLock<Option<Arc<Shared>>>; MOST - 1],
    of_states: [OnceLock<Arc<Shared>>; MAX_STAGES],
    pub(super) marks: Marks,
    pub(super) helpers: Helpers,
}

/// The parts that make two of them the same.
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

/// Those of a program that was judged.
pub(super) fn shared(program: Arc<Verified<Program>>, maker: Maker) -> Result<Arc<Shared>, Error> {
    COMPILED.get_or_make(Key { program, maker }, |key| {
        let variants = Variants::new(key.program.clone(), key.maker.clone());
        let (at_ends, interleaved, of_states, marks, helpers) = Default::default();
        Ok(Shared { variants, at_ends, interleaved, of_states, marks, helpers })
    })
}

impl Compiled {
    /// Of a program that was judged. Kernels are compiled when a call first needs them.
    ///
    /// # Errors
    /// [`Error::Cuda`] if no kernels can be made for the device, or its driver is too old for them.
    pub(super) fn new(program: Arc<Verified<Program>>, device: &Device, options: &Options) -> Result<Compiled, Error> {
        let Options { plan, cache, limit, .. } = options.clone();
        let shared = shared(program, Maker { plan, cache, ..Maker::new(device)? })?;
        Ok(Compiled { shared, limit })
    }
}

impl Source for Compiled {
    fn find(&self, task: &Task<'_>) -> Result<Option<Found>, Error> {
        if task.is_empty() {
            return Ok(None);
        }
        let Variants { maker, .. } = &self.shared.variants;
        let need = Need { form: task.form(), any_states: false, reduces: task.reduces };
        let variant = self.shared.variants.holding(need, task.given());
        let Span { rows, records, step, .. } = task.span();
        let pattern = match task.call.shape {
            Shape::Rows(_) => {
                if step > 1 || rows > 1 && variant.has_short_rows(records, maker) {
                    AccessPattern::Columnar
                } else {
                    AccessPattern::Any
                }
            }
            _ => AccessPattern::Any,
        };
        let is_line = pattern == AccessPattern::Any && rows == 1;
        let goes_on = !task.call.reversed && !task.reduces;
        let is_at = |alignment: fn(&Layout) -> usize| task.is_aligned(&variant.program, alignment);
        let pattern = match is_line {
            true if variant.is_short(records, maker) => AccessPattern::Short,
            true if goes_on && is_at(|_| 16) => AccessPattern::Aligned,
            true if goes_on && is_at(natural) => AccessPattern::Shifted,
            _ => pattern,
        };
        Ok(Some(Found { kernel: variant.kernel(pattern, maker)?, states: variant.states.clone() }))
    }

    fn first(&self) -> Result<Arc<GpuKernel>, Error> {
        let variants = &self.shared.variants;
        variants.get(first()).kernel(AccessPattern::Aligned, &variants.maker)
    }

    fn block(&self) -> usize {
        let variants = &self.shared.variants;
        variants.get(first()).tile(&variants.maker).unwrap_or(1)
    }

    fn explain(&self) -> String {
        let arch = self.shared.variants.maker.arch;
        match self.first() {
            Ok(kernel) => format!("plan for {arch}: {}\n{SPACED}", kernel.manifest().plan),
            Err(error) => format!("plan for {arch}: {error}\n"),
        }
    }

    fn at_ends(&self, _call: &Call<'_>) -> Result<OnGpu, Error> {
        let Shared { variants, at_ends, .. } = &*self.shared;
        self.beside(at_ends, || states_at_ends(&variants.program))
    }

    fn interleaved(&self, rows: usize) -> Result<Option<OnGpu>, Error> {
        let Shared { variants, interleaved: all, .. } = &*self.shared;
        let Some(of) = rows.checked_sub(2).and_then(|place| all.get(place)) else { return Ok(None) };
        let made = get_or_make(of, || {
            let made = interleaved(&variants.program, rows).map(|program| self.shared.beside(program)).transpose()?;
            Ok::<_, Error>(made.filter(|made| made.has_tiles()))
        })?;
        Ok(made.as_ref().map(|made| made.on_gpu(self.limit)))
    }

    fn of_states(&self, level: usize) -> Result<Option<OnGpu>, Error> {
        let Shared { variants, of_states, .. } = &*self.shared;
        self.beside(&of_states[level], || row_chunks::of_states(&variants.program, level)).map(Some)
    }

    fn takes_by_threads(&self, records: usize) -> bool {
        let Variants { maker, .. } = &self.shared.variants;
        self.shared.variants.get(first()).has_short_rows(records, maker)
    }

    fn helpers(&self, makes: Helper) -> Result<&dyn HelperKernels, Error> {
        if makes == Helper::Copies {
            self.helper(HelperKernel::Spacing)?;
        }
        Ok(self)
    }
}

impl Compiled {
    /// The scan of another program that this one needs, made if it is the first call for it.
    pub(super) fn beside(
        &self,
        cell: &OnceLock<Arc<Shared>>,
        program: impl FnOnce() -> Result<Verified<Program>, Error>,
    ) -> Result<OnGpu, Error> {
        Ok(get_or_make(cell, || self.shared.beside(program()?))?.on_gpu(self.limit))
    }
}

impl Shared {
    /// Another program on the same device, by plans of its own.
    pub(super) fn beside(&self, program: Verified<Program>) -> Result<Arc<Shared>, Error> {
        shared(Arc::new(program), Maker { plan: None, ..self.variants.maker.clone() })
    }

    /// Whether calls of any columns have tiles of some size: records may be too wide for a block.
    fn has_tiles(&self) -> bool {
        [false, true].into_iter().all(|reduces| {
            let tile = self.variants.get(Need { reduces, ..first() }).tile(&self.variants.maker);
            tile.is_some_and(|tile| tile >= LEAST_TILE)
        })
    }

    /// Its program as a backend.
    pub(super) fn on_gpu(self: &Arc<Shared>, limit: Duration) -> OnGpu {
        let (program, device) = (self.variants.program.clone(), self.variants.maker.device);
        let source = Arc::new(Compiled { shared: self.clone(), limit });
        OnGpu { program, device, source, chunks: None, limit, depth: 0 }
    }
}

/// The treatment of columns in device memory whose records are not one after the other.
const SPACED: &str = "spaced columns in device memory, if a call has any: gathered before, scattered after, one more write and read each\n";

/// The needs of an inclusive scan of a line.
fn first() -> Need {
    Need { form: Form::default(), any_states: false, reduces: false }
}

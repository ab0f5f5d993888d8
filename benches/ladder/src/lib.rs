//! The ladder: the parallel scan's history as schedules that run, from Hillis and Steele to ours.
//!
//! Each [`Rung`] is made of two choices: how the threads of a block put their states together
//! (`block.rs`), and how blocks do (`three_pass.rs`, `single_pass.rs`). From rung to rung one thing
//! changes, so that a table of their speeds says what each idea is worth on a card. All run any
//! associative operator, commutative or not, from the same `Program` as our own schedules.
//!
//! ```text
//! let kernels = gpu_ladder::compile(&program, Rung::LookBackWarp, Arch::Sm90)?;
//! // Zeros at first; for these kernels alone.
//! let workspace = device.zeros(kernels.workspace_bytes(records));
//! for launch in &kernels.launches {
//!     // Launches follow each other in one stream, all with the same arguments.
//!     let blocks = kernels.blocks(launch, records, device.multiprocessors());
//!     module.get(launch.entry).launch(blocks, launch.threads, launch.shared_bytes, &arguments);
//! }
//! ```
//!
//! [`Arguments`] say how a kernel is called. Rungs scan one line of at least one record from its
//! first record to its last, and take no account of a direction or of rows. All columns begin at
//! multiples of 16 bytes; a column may be input and output. Floats may be rounded otherwise from
//! run to run where a rung looks back, since what is combined with what then depends on which block
//! came first.

mod blelloch;
mod block;
mod error;
mod hillis_steele;
mod on_device;
mod records;
mod rung;
mod single_pass;
mod three_pass;
mod warps;

use monoscan_ir::Source;
use monoscan_ir::transform::Lowered;

pub use error::{ColumnsError, LadderError, Unfit};
pub use on_device::{LadderPending, LadderScan};
pub use rung::Rung;

use block::Block;
use monoscan_codegen::gpu::{AccessPattern, Arch, Arguments, GROUP, GpuPlan, HEADER_BYTES, Schedule};
use monoscan_codegen::nvptx::parts::Builder;
use monoscan_codegen::nvptx::parts::KernelArguments;
use monoscan_codegen::nvptx::parts::Lanes;
use monoscan_codegen::nvptx::parts::Recipe;
use monoscan_codegen::nvptx::parts::Tables;
use monoscan_codegen::nvptx::parts::is_packed;
use monoscan_codegen::nvptx::parts::{self, head};
use monoscan_codegen::nvptx::{Kernel, KernelPlan};
use rung::{Between, Design};

/// The kernels of a rung in one module, and how they are launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LadderKernels {
    /// Which rung.
    pub rung: Rung,
    /// The module: PTX, or LLVM IR for the emulator.
    pub text: String,
    /// The launches, one after the other.
    pub launches: Vec<Launch>,
    /// How the arguments of each launch are laid out.
    pub arguments: Arguments,
    /// Records of a tile.
    pub tile: usize,
    /// Bytes that a tile's states take in the workspace.
    pub tile_state_bytes: usize,
}

/// How one kernel is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The kernel's name in the module.
    pub entry: &'static str,
    /// How many blocks there are.
    pub grid: Grid,
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of shared memory of a block, all of them asked for at the launch.
    pub shared_bytes: usize,
}

/// How many blocks a launch has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Grid {
    /// One.
    One,
    /// One for each tile.
    Tiles,
    /// One for each tile, but no more than the device has multiprocessors.
    Multiprocessors,
}

impl LadderKernels {
    /// Blocks of a launch for so many records, at least one, on a device of so many multiprocessors.
    pub fn blocks(&self, launch: &Launch, records: usize, multiprocessors: usize) -> usize {
        let tiles = records.div_ceil(self.tile);
        match launch.grid {
            Grid::One => 1,
            Grid::Tiles => tiles,
            Grid::Multiprocessors => tiles.min(multiprocessors),
        }
    }

    /// Bytes of the workspace for so many records. It begins as zeros, and is for these kernels alone.
    pub fn workspace_bytes(&self, records: usize) -> usize {
        let tiles = records.div_ceil(self.tile);
        // Our look-back also keeps the prefixes of groups.
        HEADER_BYTES + (tiles + tiles / GROUP + 1) * self.tile_state_bytes
    }
}

/// Makes the PTX of a rung for a program of one level that writes every record and reads no
/// next one. Fails where the program is another, or the architecture lacks what the rung needs.
pub fn compile(program: &Lowered, rung: Rung, arch: Arch) -> Result<LadderKernels, LadderError> {
    let kernels = emulated(program, rung, arch)?;
    let bytes = kernels.arguments.bytes();
    let entries = kernels.launches.iter().map(|launch| (launch.entry, launch.threads));
    let text = parts::compile(&kernels.text, entries, bytes, arch)?;
    Ok(LadderKernels { text, ..kernels })
}

/// The same kernels as LLVM IR that calls intrinsics which it only declares, and takes its arguments by address.
pub fn emulated(program: &Lowered, rung: Rung, arch: Arch) -> Result<LadderKernels, LadderError> {
    let recipe = Recipe::new(program, None);
    check(&recipe)?;
    match rung.design() {
        Some(design) => Kit::new(&recipe, design, arch)?.kernels(rung),
        None => ours(program, rung, arch),
    }
}

/// Refuses programs that rungs do not run.
fn check(recipe: &Recipe) -> Result<(), LadderError> {
    if recipe.levels.len() != 1 || recipe.rank.is_some() {
        return Err(Unfit::SeveralLevels.into());
    }
    if recipe.reads(|source| matches!(source, Source::Next(_) | Source::Last | Source::Prev(_))) {
        return Err(Unfit::Neighbour.into());
    }
    if !recipe.outputs.iter().all(is_packed) {
        return Err(Unfit::Padding.into());
    }
    Ok(())
}

/// The kernel of one of our own schedules.
fn ours(program: &Lowered, rung: Rung, arch: Arch) -> Result<LadderKernels, LadderError> {
    let is_wanted = |plan: &GpuPlan| matches!(plan.schedule, Schedule::Ring { .. }) == (rung == Rung::Ring);
    let pattern = if rung == Rung::Ring { AccessPattern::Aligned } else { AccessPattern::Any };
    let plan = KernelPlan::new(program, pattern, arch).ok().filter(|plan| is_wanted(plan.plan()));
    let plan = plan.ok_or(Unfit::NoPlan { rung, arch })?;
    let Kernel { text, manifest } = plan.emulated();
    let grid = if rung == Rung::Ring { Grid::Multiprocessors } else { Grid::Tiles };
    let (threads, shared_bytes) = (manifest.threads, manifest.shared_bytes);
    Ok(LadderKernels {
        rung,
        text,
        launches: vec![Launch { entry: "scan", grid, threads, shared_bytes }],
        arguments: manifest.arguments,
        tile: plan.plan().tile(),
        tile_state_bytes: manifest.tile_state_bytes,
    })
}

/// The parts that all kernels of a rung are made from.
struct Kit<'a> {
    recipe: &'a Recipe,
    design: Design,
    shared: Shared,
}

/// Bytes from the start of shared memory, at which the block's scan has its own.
struct Shared {
    carry: usize,
    ticket: usize,
    bytes: usize,
}

/// A kernel: its name, its blocks, and what writes it.
type Entry<'a> = (&'static str, Grid, fn(KernelArguments<'_, '_>, &Kit<'a>));

impl<'a> Kit<'a> {
    /// Lays shared memory out, or says why the rung does not fit.
    fn new(recipe: &'a Recipe, design: Design, arch: Arch) -> Result<Kit<'a>, LadderError> {
        let packing = &recipe.levels[0].1;
        let carry = design.block.bytes(design.threads, packing);
        let ticket = (carry + packing.shared_bytes()).next_multiple_of(8);
        let shared = Shared { carry, ticket, bytes: ticket + 8 };
        if shared.bytes > arch.shared_bytes() {
            let (needs, has) = (shared.bytes, arch.shared_bytes());
            return Err(Unfit::SharedMemory { needs, has, arch }.into());
        }
        Ok(Kit { recipe, design, shared })
    }

    /// Records of a tile.
    fn tile(&self) -> usize {
        self.design.threads * self.design.records
    }

    fn entries(&self) -> Vec<Entry<'a>> {
        match self.design.between {
            Between::ThreePass => vec![
                ("reduce", Grid::Tiles, three_pass::reduce),
                ("carries", Grid::One, three_pass::carries),
                ("scan", Grid::Tiles, three_pass::scan),
            ],
            Between::Chained | Between::LookBack(_) => vec![("scan", Grid::Tiles, single_pass::scan)],
        }
    }

    fn kernels(&self, rung: Rung) -> Result<LadderKernels, LadderError> {
        let k = Builder::new();
        let mut launches = Vec::new();
        for (entry, grid, write) in self.entries() {
            k.function(&head(entry), |k| {
                let tables = Tables::in_module(k, &self.recipe.tables);
                write(KernelArguments { k, layout: &self.recipe.arguments, tables: &tables, row: None }, self);
            });
            launches.push(Launch { entry, grid, threads: self.design.threads, shared_bytes: self.shared.bytes });
        }
        Ok(LadderKernels {
            rung,
            text: k.finish(),
            launches,
            arguments: self.recipe.arguments.clone(),
            tile: self.tile(),
            tile_state_bytes: self.recipe.tile_state_bytes(),
        })
    }

    /// The threads of a block, in a kernel that is being written.
    fn block<'k>(&'k self, args: KernelArguments<'k, 'k>) -> Block<'k, 'k> {
        let k = args.k;
        let thread = k.thread();
        Block {
            lanes: Lanes { k, args, recipe: self.recipe, level: 0, lane: thread & 31 },
            threads: self.design.threads,
            thread,
            scan: self.design.block,
            base: k.shared(),
        }
    }
}

//! A program's kernels as machine code: compiled together, freed together.
//!
//! A `JITModule` leaks by design when it is dropped, since it cannot know who still holds its functions. [`Compiled`]
//! is the one holder: it frees the code when it goes, and lends it only to calls that borrow it.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;

use cranelift_jit::{JITBuilder, JITModule};
use scan_ir::facts::Facts;
use scan_ir::{Program, Verified};

use super::abi::{Access, AdvanceFn, ShortFn, StateLayout, TileArgs, TileFn};
use super::error::CodegenError;
use super::helpers;
use super::isa::HostIsa;
use super::recipe::{Kernel, Recipe};
use super::vector::Vector;

/// The kernels of a program.
///
/// ```
/// use scan_codegen::cpu::{Access, Compiled, TileArgs};
/// use scan_ir::facts::Facts;
/// use scan_ir::transform::{Form, lower};
/// # let program = doc_program();
/// # fn doc_program() -> scan_ir::Verified<scan_ir::Program> {
/// #     use scan_ir::*;
/// #     let mut b = FunctionBuilder::new();
/// #     let (x, y) = (b.param(Type::I32), b.param(Type::I32));
/// #     let sum = b.binary(Opcode::Add, x, y);
/// #     let combine = b.finish(&[sum]);
/// #     let mut b = FunctionBuilder::new();
/// #     let x = b.param(Type::I32);
/// #     let same = b.finish(&[x]);
/// #     let lift = Mapping { reads: vec![Source::Record(0)], function: same.clone() };
/// #     let project = Mapping { reads: vec![Source::State(0)], function: same };
/// #     let identity = vec![Constant::from(0i32)];
/// #     let stage = Stage { state: vec![Type::I32], identity, lift, combine, valid: None };
/// #     let output = Output { keep: None, project, columns: vec![Layout::of(Type::I32)] };
/// #     let (inputs, stages) = (vec![Layout::of(Type::I32)], vec![stage]);
/// #     verify(Program { name: "sum".into(), tables: vec![], inputs, stages, output }).unwrap()
/// # }
/// // `program` sums a column of i32.
/// let program = lower(&program, Form::default());
/// let sum = Compiled::new(&program, &Facts::of(&program), Access::Line, 1)?;
/// let (x, mut y, mut carry) = ([1, 2, 3, 4], [0i32; 4], [10u128]);
/// let args = TileArgs::line(&[x.as_ptr().cast()], &[y.as_mut_ptr().cast()], (0, 4, 4), carry.as_mut_ptr().cast());
/// // SAFETY: the columns have four elements of the program's types, and there is one slot.
/// unsafe { sum.scan(&args) };
/// assert_eq!(y, [11, 13, 16, 20]);
/// # Ok::<(), scan_codegen::cpu::CodegenError>(())
/// ```
pub struct Compiled {
    scan: TileFn,
    scan_one: TileFn,
    scan_blocks: Option<TileFn>,
    short: Option<ShortFn>,
    levels: Vec<LevelFns>,
    recipe: Recipe,
    /// Owns the code that the functions above are; freed in `drop`, not touched before.
    module: ManuallyDrop<JITModule>,
}

/// The kernels of a level.
#[derive(Clone, Copy)]
struct LevelFns {
    reduce: TileFn,
    reduce_one: TileFn,
    advance: AdvanceFn,
    combine: AdvanceFn,
}

// SAFETY: after construction nothing but `drop` touches the module, whose parts (mapped memory, an ISA behind `Arc`,
// tables of pointers into both) are bound to no thread. Generated code writes only where its arguments point, and the
// tables it reads are never written.
unsafe impl Send for Compiled {}
// SAFETY: as above; through a shared reference only the function pointers and the recipe are read.
unsafe impl Sync for Compiled {}

impl Compiled {
    /// Compiles the kernels of a program for this machine; W = `ways`. Takes about a millisecond for an ordinary
    /// program and grows with its instructions times `ways`.
    ///
    /// The program must be [lowered](scan_ir::transform::lower). Its stages are folded level by level
    /// ([`fold_levels`](scan_ir::facts::fold_levels)); one stage is one level.
    ///
    /// # Errors
    /// If the program was not lowered, if `ways` is not 1, 2, 4 or 8, if the facts are not this program's, or if code
    /// cannot be generated for the machine.
    pub fn new(
        program: &Verified<Program>,
        facts: &Facts,
        access: Access,
        ways: u32,
    ) -> Result<Compiled, CodegenError> {
        Compiled::for_isa(program, facts, access, ways, &HostIsa::native()?)
    }

    /// The same for a machine that is described.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn for_isa(
        program: &Verified<Program>,
        facts: &Facts,
        access: Access,
        ways: u32,
        isa: &Arc<HostIsa>,
    ) -> Result<Compiled, CodegenError> {
        Compiled::in_vectors(program, facts, access, ways, Vector::NONE, isa)
    }

    /// The same, with these kernels in vectors, if the program has such a form and the machine what it needs.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn in_vectors(
        program: &Verified<Program>,
        facts: &Facts,
        access: Access,
        ways: u32,
        vector: Vector,
        isa: &Arc<HostIsa>,
    ) -> Result<Compiled, CodegenError> {
        let recipe = Recipe::new(program, facts, access, ways, vector, isa)?;
        let mut builder = JITBuilder::with_isa(isa.isa.clone(), Box::new(helpers::name));
        helpers::bind(&mut builder);
        let mut module = Code(ManuallyDrop::new(JITModule::new(builder)));
        let compiled = recipe.compile(&mut module.0)?;
        let address = |kernel| {
            let found = compiled.iter().find(|(compiled, _)| *compiled == kernel);
            found.map(|&(_, address)| address).ok_or(CodegenError::Facts)
        };
        // SAFETY: `compile` defined these functions with the signatures that `abi` declares, and the module keeps their
        // code until it is freed in `drop`.
        let tile = |kernel| address(kernel).map(|code| unsafe { std::mem::transmute::<*const u8, TileFn>(code) });
        // SAFETY: as above.
        let states = |kernel| address(kernel).map(|code| unsafe { std::mem::transmute::<*const u8, AdvanceFn>(code) });
        // SAFETY: as above.
        let short = |kernel| address(kernel).map(|code| unsafe { std::mem::transmute::<*const u8, ShortFn>(code) });
        let level = |level| {
            Ok(LevelFns {
                reduce: tile(Kernel::Reduce(level))?,
                reduce_one: tile(Kernel::ReduceOne(level))?,
                advance: states(Kernel::Advance(level))?,
                combine: states(Kernel::Combine(level))?,
            })
        };
        let levels = (0..recipe.levels.len()).map(level).collect::<Result<_, CodegenError>>()?;
        Ok(Compiled {
            scan: tile(Kernel::Scan)?,
            scan_one: tile(Kernel::ScanOne)?,
            scan_blocks: recipe.whole_blocks().map(|_| tile(Kernel::ScanBlocks)).transpose()?,
            short: recipe.has_short().then(|| short(Kernel::Short)).transpose()?,
            levels,
            recipe,
            module: module.keep(),
        })
    }

    /// W, how many blocks `scan` and `reduce` interleave.
    pub fn ways(&self) -> u32 {
        self.recipe.ways
    }

    /// Whether any kernel works in vectors.
    pub fn is_in_vectors(&self) -> bool {
        self.recipe.has_lanes()
    }

    /// How states lie in slots.
    pub fn state_layout(&self) -> &StateLayout {
        &self.recipe.state
    }

    /// Bytes from one slot to the next.
    pub fn state_stride(&self) -> usize {
        self.recipe.state.stride
    }

    /// How many levels the stages are folded in, at least one.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The stages that are folded at a level.
    pub fn stages_of(&self, level: usize) -> &[u32] {
        &self.recipe.levels[level].stages
    }

    /// The bytes of a slot that are the states of a level's stages.
    pub fn part_of(&self, level: usize) -> Range<usize> {
        let parts = self.recipe.levels[level].stages.iter().map(|&stage| &self.recipe.state.stages[stage as usize]);
        let start = parts.clone().map(|(start, _)| *start).min().unwrap_or(0);
        let end = parts.map(|(start, layout)| start + (layout.size as usize).next_multiple_of(16)).max();
        start..end.unwrap_or(start)
    }

    /// How much room `sink` must have: a record of the widest output column, if the program keeps.
    pub fn sink_bytes(&self) -> usize {
        self.recipe.sink_bytes()
    }

    /// The (stage, component) pairs that `scan` carries.
    pub fn live(&self) -> &[(u32, u32)] {
        self.recipe.live()
    }

    /// Writes the outputs of W blocks; slot w holds the carries into block w and then the live part of the states after it.
    ///
    /// # Safety
    /// `inputs` and `outputs` point to the addresses of columns of the program's layouts with records for the elements
    /// of all blocks (with `Next`, all of the run); columns overlap only as [`abi`](super::abi) allows and no one
    /// else writes these records or reads the outputs' meanwhile. `states` points to W slots, whose live components
    /// lie in the ranges that the facts give, which are this program's: table look-ups are not clamped again. If the program
    /// reads `Seed`, `seed` points to a slot. If it keeps, the outputs have room for the records kept, `sink` for one of any.
    pub unsafe fn scan(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.scan)(args) }
    }

    /// As [`Compiled::scan`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1.
    pub unsafe fn scan_one(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.scan_one)(args) }
    }

    /// Whether there is a kernel that scans blocks of this many elements in one pass, to the bit what `reduce`, `advance` and `scan`
    /// give in several.
    pub fn scans_blocks_of(&self, block: usize) -> bool {
        self.recipe.whole_blocks().is_some_and(|group| block.is_multiple_of(group))
    }

    /// Writes the outputs of `blocks` blocks, from the carry in slot 0, which becomes the one behind them; slot 1 has what
    /// reductions leave out of a block's aggregate. Does nothing if there is no such kernel.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with two slots, for blocks of a length that [`scans_blocks_of`](Compiled::scans_blocks_of) knows.
    pub unsafe fn scan_blocks(&self, args: &TileArgs) {
        if let Some(scan_blocks) = self.scan_blocks {
            // SAFETY: the caller's promise is what the kernel needs.
            unsafe { scan_blocks(args) }
        }
    }

    /// The kernel for short lines of at most [`SHORT_INPUTS`](super::SHORT_INPUTS) input columns and one output, if the program writes
    /// every record and reads no `Seed`: it writes the outputs of a whole line from the identities, combined as
    /// [`scan_one`](Compiled::scan_one) does. To be called as [`Compiled::scan`], and only while `self` is there.
    pub fn short(&self) -> Option<ShortFn> {
        self.short
    }

    /// Leaves the aggregates of a level's stages over block w in slot w, in the components that are not length-only. The slot
    /// holds the carries of the levels before, as far as these stages read them, and keeps them.
    ///
    /// # Safety
    /// As [`Compiled::scan`], without outputs.
    pub unsafe fn reduce(&self, level: usize, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.levels[level].reduce)(args) }
    }

    /// As [`Compiled::reduce`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::reduce`], with W = 1.
    pub unsafe fn reduce_one(&self, level: usize, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.levels[level].reduce_one)(args) }
    }

    /// `*out = *carry ⊕ *aggregate` for the stages of a level, in the components that their carries need
    /// ([`advance_over`](scan_ir::facts::advance_over)); all else in `out` stays as it is, and in `carry` is not looked at.
    ///
    /// # Safety
    /// All three point to slots, `carry` holding these components and `aggregate` all of the level, in the ranges that
    /// the facts give; `out` may be one of the others.
    pub unsafe fn advance(&self, level: usize, carry: *const u8, aggregate: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.levels[level].advance)(carry, aggregate, out) }
    }

    /// `*out = *earlier ⊕ *later` for the stages of a level, in all components.
    ///
    /// # Safety
    /// All three point to slots, the first two holding the level's states in the ranges that the facts give; `out` may be
    /// one of them.
    pub unsafe fn combine(&self, level: usize, earlier: *const u8, later: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.levels[level].combine)(earlier, later, out) }
    }

    /// Whether `scan` leaves whole states: no component is dead in the replay.
    pub fn scans_whole_states(&self) -> bool {
        let components: usize = self.recipe.state.stages.iter().map(|(_, layout)| layout.fields.len()).sum();
        self.recipe.live().len() == components
    }

    /// The kernels as Cranelift IR, before optimisation.
    pub fn clif(&self) -> String {
        self.recipe.clif()
    }

    /// The kernels as assembly. Compiles them anew.
    pub fn asm(&self) -> String {
        self.recipe.asm()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Its functions run only through methods that borrow `self`, so none
        // runs now, and the pointers to them go with `self`.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").field("ways", &self.recipe.ways).field("state", &self.recipe.state).finish()
    }
}

/// A module under construction, freed if that fails: left alone, a `JITModule` keeps its memory for ever.
struct Code(ManuallyDrop<JITModule>);

impl Code {
    fn keep(mut self) -> ManuallyDrop<JITModule> {
        // SAFETY: the module is taken once: `self` is forgotten at once.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        std::mem::forget(self);
        ManuallyDrop::new(module)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, and no pointer into it was given out.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}

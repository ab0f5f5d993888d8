//! A program's kernels as machine code: each compiled when it is first needed, all freed together.
//!
//! A call needs one kernel or a few, and a kernel of a wide state takes tens of milliseconds to
//! compile.
//!
//! [`Compiled`] owns the code: it lends it only to calls that borrow it, and frees it when it goes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use monoscan_ir::Layout;
use monoscan_ir::transform::Lowered;

use super::abi::{Access, CarryUpdateFn, ShortFn, ShortWholeFn, StateLayout, TileArgs, TileFn};
use super::code::Code;
use super::error::CodegenError;
use super::isa::HostIsa;
use super::recipe::{Kernel, Recipe};
use super::vector::Vector;

/// The kernels of a program.
///
/// ```
/// use monoscan_codegen::cpu::{Access, Compiled, TileArgs};
/// use monoscan_ir::transform::{Form, lower};
/// # let program = doc_program();
/// # fn doc_program() -> monoscan_ir::Verified<monoscan_ir::Program> {
/// #     use monoscan_ir::*;
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
/// #     let stage = Stage { state: vec![Type::I32], identity, lift, combine, ..Stage::default() };
/// #     let output = Output { filter: None, project, columns: vec![Layout::of(Type::I32)] };
/// #     let (inputs, stages) = (vec![Layout::of(Type::I32)], vec![stage]);
/// #     let (name, tables, parameters) = ("sum".into(), vec![], vec![]);
/// #     verify(Program { name, tables, inputs, parameters, stages, output, sequential: None }).unwrap()
/// # }
/// // `program` sums a column of i32.
/// let program = lower(&program, Form::default());
/// let sum = Compiled::new(&program, Access::Line, 1)?;
/// let (x, mut y, mut carry) = ([1, 2, 3, 4], [0i32; 4], [10u128]);
/// let (inputs, outputs) = ([x.as_ptr().cast()], [y.as_mut_ptr().cast()]);
/// let args = TileArgs::line(&inputs, &outputs, (0, 4, 4), carry.as_mut_ptr().cast());
/// // SAFETY: the columns have four elements of the program's types, and there is one slot.
/// unsafe { sum.scan(&args) };
/// assert_eq!(y, [11, 13, 16, 20]);
/// # Ok::<(), monoscan_codegen::cpu::CodegenError>(())
/// ```
pub struct Compiled {
    recipe: Recipe,
    scan: Cell,
    scan_one: Cell,
    scan_blocks: Cell,
    rows: Cell,
    short: Cell,
    /// Those that write and those that do not.
    whole: [Cell; 2],
    short_whole: [Cell; 2],
    levels: Vec<LevelCells>,
}

/// A kernel, once it was compiled.
type Cell = OnceLock<Code>;

/// The kernels of a level.
#[derive(Default)]
struct LevelCells {
    reduce: Cell,
    reduce_one: Cell,
    carry_update: Cell,
    combine: Cell,
}

impl Compiled {
    /// What the kernels of a program are compiled from, for this machine; W = `interleave`. Each kernel is compiled when it is first
    /// [made](Compiled::make) or called, in about a quarter of a millisecond for an ordinary program; that grows with the
    /// program's instructions times `interleave`.
    ///
    /// Its stages are folded [level by level](Lowered::levels); one stage is one level.
    ///
    /// # Errors
    /// If `interleave` is not 1, 2, 4 or 8, or if code cannot be generated for the machine.
    pub fn new(program: &Lowered, access: Access, interleave: u32) -> Result<Compiled, CodegenError> {
        Compiled::for_isa(program, access, interleave, &HostIsa::native()?)
    }

    /// The same for a machine that is described.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn for_isa(
        program: &Lowered,
        access: Access,
        interleave: u32,
        isa: &Arc<HostIsa>,
    ) -> Result<Compiled, CodegenError> {
        Compiled::in_vectors(program, access, interleave, Vector::NONE, isa)
    }

    /// The same, with these kernels in vectors, if the program has such a form and the machine what it needs.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn in_vectors(
        program: &Lowered,
        access: Access,
        interleave: u32,
        vector: Vector,
        isa: &Arc<HostIsa>,
    ) -> Result<Compiled, CodegenError> {
        let recipe = Recipe::new(program, access, interleave, vector, isa)?;
        let levels = recipe.levels.iter().map(|_| LevelCells::default()).collect();
        let (scan, scan_one, scan_blocks, rows, short) = Default::default();
        let (whole, short_whole) = Default::default();
        Ok(Compiled { recipe, scan, scan_one, scan_blocks, rows, short, whole, short_whole, levels })
    }

    /// The same, with the states of all stages laid out so, component after component, where the kernels of
    /// [`short_whole`](Compiled::short_whole) find them.
    ///
    /// # Errors
    /// If these are not the program's components.
    pub fn with_states(mut self, states: Layout) -> Result<Compiled, CodegenError> {
        if !states.types().eq(self.recipe.handed.types()) {
            let (expected, got) = (self.recipe.handed.types().collect(), states.types().collect());
            return Err(CodegenError::States { expected, got });
        }
        self.recipe.handed = states;
        Ok(self)
    }

    /// Compiles a kernel, unless it was compiled before; a call of one that was not makes it, too. Two threads may both make one; the
    /// first to finish wins.
    ///
    /// # Errors
    /// If the program has no such kernel, or if its code is more than the code generator takes.
    pub fn make(&self, kernel: Kernel) -> Result<(), CodegenError> {
        self.code(kernel).map(drop)
    }

    /// Whether a kernel was compiled.
    pub fn is_made(&self, kernel: Kernel) -> bool {
        self.made(kernel).is_some()
    }

    /// The kernels that reduce, fold and replay blocks.
    pub fn block_kernels(&self) -> impl Iterator<Item = Kernel> {
        self.recipe.block_kernels()
    }

    /// The code of a kernel, if it was made: what every call looks up first.
    #[inline(always)]
    fn made(&self, kernel: Kernel) -> Option<*const u8> {
        Some(self.cell(self.recipe.same_code(kernel))?.get()?.address())
    }

    #[cold]
    fn code(&self, kernel: Kernel) -> Result<*const u8, CodegenError> {
        let kernel = self.recipe.same_code(kernel);
        let cell = self.cell(kernel).ok_or(CodegenError::NoKernel(kernel))?;
        if let Some(code) = cell.get() {
            return Ok(code.address());
        }
        let made = self.recipe.compile(kernel)?;
        Ok(cell.get_or_init(|| made).address())
    }

    /// The code of a kernel, made if it was not.
    ///
    /// # Panics
    /// If it cannot be compiled; who [makes](Compiled::make) it first gets an error instead.
    #[cold]
    fn code_now(&self, kernel: Kernel) -> *const u8 {
        self.code(kernel).unwrap_or_else(|error| panic!("{error}"))
    }

    #[inline(always)]
    fn cell(&self, kernel: Kernel) -> Option<&Cell> {
        Some(match kernel {
            Kernel::Scan => &self.scan,
            Kernel::ScanOne => &self.scan_one,
            Kernel::ScanBlocks => &self.scan_blocks,
            Kernel::Rows => &self.rows,
            Kernel::Short => &self.short,
            Kernel::Whole { writes } => &self.whole[usize::from(writes)],
            Kernel::ShortWhole { writes } => &self.short_whole[usize::from(writes)],
            Kernel::Reduce(level) => &self.levels.get(level)?.reduce,
            Kernel::ReduceOne(level) => &self.levels.get(level)?.reduce_one,
            Kernel::CarryUpdate(level) => &self.levels.get(level)?.carry_update,
            Kernel::Combine(level) => &self.levels.get(level)?.combine,
        })
    }

    /// A tile kernel.
    #[inline(always)]
    fn tile(&self, kernel: Kernel) -> TileFn {
        let code = self.made(kernel).unwrap_or_else(|| self.code_now(kernel));
        // SAFETY: a kernel is compiled with the signature that `abi` declares, and its code is freed with `self`.
        unsafe { std::mem::transmute::<*const u8, TileFn>(code) }
    }

    /// A kernel that puts states together.
    #[inline(always)]
    fn states(&self, kernel: Kernel) -> CarryUpdateFn {
        let code = self.made(kernel).unwrap_or_else(|| self.code_now(kernel));
        // SAFETY: as in `tile`.
        unsafe { std::mem::transmute::<*const u8, CarryUpdateFn>(code) }
    }

    /// W, how many blocks `scan` and `reduce` interleave.
    pub fn interleave(&self) -> u32 {
        self.recipe.interleave
    }

    /// Whether any kernel works in vectors along elements, and so combines them in another order.
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
        self.recipe.levels.len()
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

    /// How many bytes `sink` must have: those of a record of the widest output column, if the program filters.
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
    /// reads `Init`, `init` points to a slot. If it filters, the outputs have space for the records kept, `sink` for one of any.
    pub unsafe fn scan(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Scan)(args) }
    }

    /// As [`Compiled::scan`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1.
    pub unsafe fn scan_one(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::ScanOne)(args) }
    }

    /// Writes the outputs of `blocks` rows of `len` records, `pitch` records from one to the next, the first at record `start`: one after
    /// the other, each combined as [`scan_one`](Compiled::scan_one) does from the carry in slot 0, which stays. Elements are
    /// numbered from 0 in each row. Only for programs that write every record, along a line.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with one slot, for all rows; there is at least one.
    pub unsafe fn scan_rows(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Rows)(args) }
    }

    /// The kernel that [`scan_rows`](Compiled::scan_rows) calls, if there is one. To be called only while `self` is there.
    pub fn rows(&self) -> Option<TileFn> {
        self.make(Kernel::Rows).ok()?;
        Some(self.tile(Kernel::Rows))
    }

    /// The kernel with streaming stores of its results, which do not pass through the caches; none if
    /// it stores no whole vectors of them, is not one of `Scan`, `ScanOne` and `ScanBlocks`, or the machine has no such stores. To be
    /// called as the kernel, and only while `self` is there; and the first record of each block must lie at a multiple of 16 bytes in
    /// every output column, and before another thread reads the results this one must execute a store fence (`sfence`).
    pub fn streaming(&self, kernel: Kernel) -> Option<TileFn> {
        if !matches!(kernel, Kernel::Scan | Kernel::ScanOne | Kernel::ScanBlocks) {
            return None;
        }
        self.make(kernel).ok()?;
        let code = self.cell(self.recipe.same_code(kernel))?.get()?.streaming()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, TileFn>(code) })
    }

    /// Whether there is a kernel that scans blocks of this many elements in one pass, to the bit what `reduce`, `carry_update` and `scan`
    /// give in several.
    pub fn scans_blocks_of(&self, block: usize) -> bool {
        self.recipe.whole_blocks().is_some_and(|group| block.is_multiple_of(group))
    }

    /// Writes the outputs of `blocks` blocks, from the carry in slot 0, which becomes the one behind them; slot 1 has what
    /// reductions leave out of a block's aggregate. If `adds`, the aggregates are added to the state in slot 2, one after the
    /// other as [`combine`](Compiled::combine) does. Does nothing if there is no such kernel.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with three slots, for blocks of a length that [`scans_blocks_of`](Compiled::scans_blocks_of) knows.
    pub unsafe fn scan_blocks(&self, args: &TileArgs) {
        if self.recipe.whole_blocks().is_some() {
            // SAFETY: the caller's promise is what the kernel needs.
            unsafe { self.tile(Kernel::ScanBlocks)(args) }
        }
    }

    /// The kernel for short lines of at most [`SHORT_INPUTS`](super::SHORT_INPUTS) input columns and one output, if the program writes
    /// reads no `Init`: it writes the outputs of a whole line from the identities, combined as [`scan_one`](Compiled::scan_one) does, and
    /// gives how many. To be called as [`Compiled::scan`], and only while `self` is there.
    pub fn short(&self) -> Option<ShortFn> {
        let code = self.code(Kernel::Short).ok()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortFn>(code) })
    }

    /// Scans or, without `writes`, reduces one block as [`scan_one`](Compiled::scan_one) does, carrying every component of all
    /// stages: slot 0 holds the whole states before the block and then those after it.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1; without `writes`, without outputs.
    pub unsafe fn pass_whole(&self, writes: bool, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Whole { writes })(args) }
    }

    /// Whether one pass with whole states is no more work than a fold and a replay.
    pub fn whole_pays(&self) -> bool {
        self.recipe.whole_pays
    }

    /// The kernel for short lines that start from given states and leave those after the line there, under the conditions of
    /// [`short`](Compiled::short); the states lie as [`with_states`](Compiled::with_states) says, by default one component after the
    /// other at their natural alignment. It combines as [`pass_whole`](Compiled::pass_whole) does.
    pub fn short_whole(&self, writes: bool) -> Option<ShortWholeFn> {
        let code = self.code(Kernel::ShortWhole { writes }).ok()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortWholeFn>(code) })
    }

    /// Leaves the aggregates of a level's stages over block w in slot w, in the components that are not length-only. The slot
    /// holds the carries of the levels before, as far as these stages read them, and keeps them.
    ///
    /// # Safety
    /// As [`Compiled::scan`], without outputs.
    pub unsafe fn reduce(&self, level: usize, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Reduce(level))(args) }
    }

    /// As [`Compiled::reduce`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::reduce`], with W = 1.
    pub unsafe fn reduce_one(&self, level: usize, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::ReduceOne(level))(args) }
    }

    /// `*out = *carry ⊕ *aggregate` for the stages of a level, in the components that their carries need
    /// ([`carry_update`](Lowered::carry_update)); all else in `out` stays as it is, and in `carry` is not looked at.
    ///
    /// # Safety
    /// All three point to slots, `carry` holding these components and `aggregate` all of the level, in the ranges that
    /// the facts give; `out` may be one of the others.
    pub unsafe fn carry_update(&self, level: usize, carry: *const u8, aggregate: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.states(Kernel::CarryUpdate(level))(carry, aggregate, out) }
    }

    /// The kernel of [`carry_update`](Compiled::carry_update), or with `whole` that of [`combine`](Compiled::combine), for who calls it many times: to be
    /// called as those are, and only while `self` is there.
    pub fn carry_update_fn(&self, level: usize, whole: bool) -> CarryUpdateFn {
        self.states(if whole { Kernel::Combine(level) } else { Kernel::CarryUpdate(level) })
    }

    /// `*out = *earlier ⊕ *later` for the stages of a level, in all components.
    ///
    /// # Safety
    /// All three point to slots, the first two holding the level's states in the ranges that the facts give; `out` may be
    /// one of them.
    pub unsafe fn combine(&self, level: usize, earlier: *const u8, later: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.states(Kernel::Combine(level))(earlier, later, out) }
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

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled")
            .field("interleave", &self.recipe.interleave)
            .field("state", &self.recipe.state)
            .finish()
    }
}

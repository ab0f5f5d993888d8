//! A program's kernels as machine code: each compiled when it is first needed, all freed together.
//!
//! A call needs one kernel or a few, and a kernel of a wide state takes milliseconds to compile, or
//! tens of them.
//!
//! [`Compiled`] owns the code: it lends it only to calls that borrow it, and frees it when it goes.

mod calls;
mod cells;

use std::ops::Range;
use std::sync::Arc;

use monoscan_ir::Layout;
use monoscan_ir::transform::Lowered;

use crate::cpu::abi::{Access, CarryUpdateFn, StateLayout, TileFn};
use crate::cpu::error::CodegenError;
use crate::cpu::isa::HostIsa;
use crate::cpu::native::{Native, Rival};
use crate::cpu::recipe::{Kernel, Recipe};
use crate::cpu::vector::Vector;
use cells::Cells;

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
    cells: Cells,
}

impl Compiled {
    /// The recipe of a program's kernels, for this machine; W = `interleave`. Each kernel is compiled when it is first
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
        Ok(Compiled::of(Recipe::new(program, access, interleave, vector, isa)?))
    }

    /// Without any kernel yet.
    fn of(recipe: Recipe) -> Compiled {
        let cells = Cells::of(&recipe);
        Compiled { recipe, cells }
    }

    /// The same kernels, whose elements a function may take, or, if that is asked, takes wherever it can. Whether it does is
    /// [settled](Compiled::settle) before such a kernel is made; else it does not.
    pub fn with_native(self, native: Option<(Native, bool)>) -> Compiled {
        Compiled::of(self.recipe.with_native(native))
    }

    /// Whether a function takes the elements of a kernel.
    pub fn is_native(&self, kernel: Kernel) -> bool {
        self.recipe.native_of(kernel).is_some()
    }

    /// The same, if it was [settled](Compiled::settle).
    pub fn settled(&self, kernel: Kernel) -> Option<bool> {
        self.recipe.settled(kernel)
    }

    /// Settles whether a function takes the elements of a kernel, if one may and that was not settled: `wins` tries it beside the
    /// planned code, which comes first. Of long lines that is the kernel itself, since allocating registers once more for the same
    /// elements may make other chains of them.
    ///
    /// # Errors
    /// As of [`make`](Compiled::make).
    pub fn settle(
        &self,
        kernel: Kernel,
        is_of_long_lines: bool,
        wins: impl FnOnce(&Native, [Rival; 2]) -> bool,
    ) -> Result<(), CodegenError> {
        let Some((settled, tried, native)) = self.recipe.unsettled(kernel, is_of_long_lines) else { return Ok(()) };
        let planned = self.recipe.compile(tried, None)?;
        // SAFETY: this is its code, which is there until one was chosen.
        let rivals = unsafe { Rival::generated(tried, planned.address()) }.zip(Rival::of(native, tried));
        let has_won = rivals.is_some_and(|(planned, function)| wins(native, [planned, function]));
        if settled.set(has_won).is_ok()
            && !has_won
            && let Some(cell) = self.cells.get(tried)
        {
            cell.get_or_init(|| planned);
        }
        Ok(())
    }

    /// How the states lie that the kernels of [`short_whole`](Compiled::short_whole) go on from: those of all stages, or, if
    /// [`are_of_loop`](Compiled::are_of_loop), of the loop that the program was derived from.
    pub fn whole_states(&self) -> &Layout {
        &self.recipe.whole_states
    }

    /// Whether elements that are taken in order are run by the step of the loop that the program was derived from.
    pub fn runs_loop(&self) -> bool {
        self.recipe.runs_loop()
    }

    /// Whether the [whole states](Compiled::whole_states) are those of a loop.
    pub fn are_of_loop(&self) -> bool {
        self.recipe.are_of_loop
    }

    /// The [whole states](Compiled::whole_states) that sequences start from.
    pub fn whole_start(&self) -> Vec<monoscan_ir::Constant> {
        self.recipe.whole_start()
    }

    /// The same, with the [whole states](Compiled::whole_states) laid out so, component after component.
    ///
    /// # Errors
    /// If these are not their components.
    pub fn with_states(mut self, states: Layout) -> Result<Compiled, CodegenError> {
        if !states.types().eq(self.recipe.whole_states.types()) {
            let (expected, got) = (self.recipe.whole_states.types().collect(), states.types().collect());
            return Err(CodegenError::States { expected, got });
        }
        self.recipe.whole_states = states;
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
    #[inline]
    pub fn is_made(&self, kernel: Kernel) -> bool {
        self.made(kernel).is_some()
    }

    /// How many bytes of machine code a kernel has, if it was compiled.
    pub fn code_bytes(&self, kernel: Kernel) -> Option<usize> {
        Some(self.cells.get(self.recipe.same_code(kernel))?.get()?.bytes())
    }

    /// The kernels that reduce, fold and replay blocks.
    #[inline]
    pub fn block_kernels(&self) -> impl Iterator<Item = Kernel> {
        self.recipe.block_kernels()
    }

    /// The code of a kernel, if it was made: what every call looks up first.
    #[inline(always)]
    fn made(&self, kernel: Kernel) -> Option<*const u8> {
        Some(self.cells.get(self.recipe.same_code(kernel))?.get()?.address())
    }

    #[cold]
    fn code(&self, kernel: Kernel) -> Result<*const u8, CodegenError> {
        let kernel = self.recipe.same_code(kernel);
        let cell = self.cells.get(kernel).ok_or(CodegenError::NoKernel(kernel))?;
        if let Some(code) = cell.get() {
            return Ok(code.address());
        }
        let made = self.recipe.compile(kernel, self.recipe.native_of(kernel))?;
        Ok(cell.get_or_init(|| made).address())
    }

    /// The code of a kernel, made if it was not.
    ///
    /// # Panics
    /// If it cannot be compiled, which [`make`](Compiled::make) gives as an error.
    #[cold]
    fn code_now(&self, kernel: Kernel) -> *const u8 {
        self.code(kernel).unwrap_or_else(|error| panic!("{error}"))
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
    #[inline]
    pub fn state_layout(&self) -> &StateLayout {
        &self.recipe.state
    }

    /// Bytes from one slot to the next.
    pub fn state_stride(&self) -> usize {
        self.recipe.state.stride
    }

    /// How many levels the stages are folded in, at least one.
    #[inline]
    pub fn levels(&self) -> usize {
        self.recipe.levels.len()
    }

    /// The stages that are folded at a level.
    pub fn stages_of(&self, level: usize) -> &[u32] {
        &self.recipe.levels[level].stages
    }

    /// The bytes of a slot that are the states of a level's stages.
    #[inline]
    pub fn part_of(&self, level: usize) -> Range<usize> {
        self.cells.part(level)
    }

    /// How many bytes `sink` must have: those of a record of the widest output column, if the program filters.
    #[inline]
    pub fn sink_bytes(&self) -> usize {
        self.recipe.sink_bytes()
    }

    /// The (stage, component) pairs that `scan` carries.
    pub fn live(&self) -> &[(u32, u32)] {
        self.recipe.live()
    }

    /// Whether rows of so many elements are combined one element after the other as the program says, also where lines go through
    /// vectors.
    pub fn keeps_rows_in_order(&self, len: usize) -> bool {
        self.recipe.keeps_rows_in_order(len)
    }

    /// Whether there are kernels whose columns are in registers.
    pub fn has_short(&self) -> bool {
        self.recipe.has_short()
    }

    /// Whether one of them is for the segments between offsets.
    pub fn has_short_between(&self) -> bool {
        self.recipe.has_short_between()
    }

    /// Whether one pass with whole states is no more work than a fold and a replay.
    pub fn whole_pays(&self) -> bool {
        self.recipe.whole_pays
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

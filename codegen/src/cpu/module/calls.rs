//! The calls of kernels: what each needs, and what it leaves.

use super::Compiled;
use crate::cpu::abi::{
    CarryUpdateFn, ShortBetweenFn, ShortFn, ShortRowsFn, ShortSpacedFn, ShortWholeFn, TileArgs, TileFn,
};
use crate::cpu::native::NativeSequencesFn;
use crate::cpu::recipe::Kernel;
use crate::cpu::simd::MOST_ROWS;

impl Compiled {
    /// Writes the outputs of W blocks; slot w holds the carries into block w and then the live part of the states after it.
    ///
    /// # Safety
    /// `inputs` and `outputs` point to the addresses of columns of the program's layouts with records for the elements
    /// of all blocks (with `Next`, all of the run); columns overlap only as [`abi`](crate::cpu::abi) allows and no one
    /// else writes these records or reads the outputs' meanwhile. `states` points to W slots, whose live components
    /// lie in the ranges that the facts give, which are this program's: table look-ups are not clamped again. If the program
    /// reads `Init`, `init` points to a slot. If it filters, the outputs have space for the records kept, `sink` for one of any.
    #[inline]
    pub unsafe fn scan(&self, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Scan)(args) }
    }

    /// As [`Compiled::scan`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1.
    #[inline]
    pub unsafe fn scan_one(&self, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::ScanOne)(args) }
    }

    /// Writes the outputs of `blocks` rows of `len` records, `pitch` records from one to the next, the first at record `start`: one after
    /// the other, each combined as [`scan_one`](Compiled::scan_one) does from the carry in slot 0, which stays. Elements are
    /// numbered from 0 in each row. Only for programs that write every record, along a line.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with one slot, for all rows; there is at least one.
    pub unsafe fn scan_rows(&self, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Rows(args.len as usize))(args) }
    }

    /// The kernel that does the same for rows of so many elements from the identities, under the conditions of [`short`](Compiled::short), if
    /// there is one. To be called as [`Compiled::scan`], and only while `self` is there.
    pub fn short_rows(&self, len: usize) -> Option<ShortRowsFn> {
        let code = self.code(Kernel::ShortRows(len)).ok()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortRowsFn>(code) })
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
        let code = self.cells.get(self.recipe.same_code(kernel))?.get()?.streaming()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, TileFn>(code) })
    }

    /// The kernel that scans the segments between offsets of a short line, each as [`short_rows`](Compiled::short_rows) does a row; none too if
    /// elements read neighbours or where they are. Offsets begin with 0 and do not fall. To be called as [`Compiled::scan`], and only
    /// while `self` is there.
    pub fn short_between(&self) -> Option<ShortBetweenFn> {
        let code = self.code(Kernel::ShortBetween).ok()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortBetweenFn>(code) })
    }

    /// The numbers of rows that a kernel takes [side by side](Kernel::SideBySide), the most first.
    pub fn side_by_side(&self) -> &[usize] {
        self.recipe.side_by_side()
    }

    /// A number for each of these kernels, below 20; 0 for that of any number of vectors.
    pub fn place_side_by_side(rows: usize) -> usize {
        let more = rows.checked_div(MOST_ROWS).unwrap_or(0).checked_ilog2().unwrap_or(0);
        rows.min(MOST_ROWS) + more as usize
    }

    /// How many rows a vector of the kernel [`SideBySide`](Kernel::SideBySide) of 0 rows has, which takes any number of vectors: `blocks` of
    /// them; and how much memory it needs for each, at `sink`, in words of 16 bytes. None if there is no such kernel.
    pub fn many_side_by_side(&self) -> Option<(usize, usize)> {
        let words = self.recipe.live().len();
        self.recipe.has_side_by_side(true).then(|| (self.recipe.lanes_of_neighbours(), words))
    }

    /// Whether there are such kernels that fold, too.
    pub fn folds_side_by_side(&self) -> bool {
        self.recipe.has_side_by_side(false)
    }

    /// Takes as many rows as this kernel takes [side by side](Compiled::side_by_side) past `len` elements, each from the state or the
    /// aggregate in a slot of its own, which becomes that behind them; the rows are one record apart from each other.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with a slot for each row.
    pub unsafe fn walk_side_by_side(&self, kernel: Kernel, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(kernel)(args) }
    }

    /// Whether there is a kernel that scans blocks of this many elements in one pass, to the bit what `reduce`, `carry_update` and `scan`
    /// give in several.
    #[inline]
    pub fn scans_blocks_of(&self, block: usize) -> bool {
        self.recipe.whole_blocks().is_some_and(|group| block.is_multiple_of(group))
    }

    /// Writes the outputs of `blocks` blocks, from the carry in slot 0, which becomes the one behind them; slot 1 has what
    /// reductions leave out of a block's aggregate. If `adds`, the aggregates are added to the state in slot 2, one after the
    /// other as [`combine`](Compiled::combine) does. Does nothing if there is no such kernel.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with three slots, for blocks of a length that [`scans_blocks_of`](Compiled::scans_blocks_of) knows.
    #[inline]
    pub unsafe fn scan_blocks(&self, args: &TileArgs<'_>) {
        if self.recipe.whole_blocks().is_some() {
            // SAFETY: the caller's promise is what the kernel needs.
            unsafe { self.tile(Kernel::ScanBlocks)(args) }
        }
    }

    /// Whether there is a kernel that takes a block in one pass, and is no kernel in vectors.
    #[inline]
    pub fn has_together(&self) -> bool {
        self.recipe.has_together()
    }

    /// Leaves the aggregates of all levels over one block in slot 1, as [`reduce_one`](Compiled::reduce_one) does level by level, and
    /// writes its outputs, if it `writes`, as [`scan_one`](Compiled::scan_one) does. Slot 0 holds the carries, and keeps them.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1 and two slots, if [`has_together`](Compiled::has_together); without `writes`, without outputs.
    #[inline]
    pub unsafe fn together(&self, writes: bool, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Together { writes })(args) }
    }

    /// The kernel for short lines of at most [`MOST_SHORT_INPUTS`](crate::cpu::MOST_SHORT_INPUTS) input columns and one output, if the program
    /// reads no `Init`: it writes the outputs of a whole line from the identities, combined as [`scan_one`](Compiled::scan_one) does, and
    /// gives how many. To be called as [`Compiled::scan`], and only while `self` is there.
    #[inline]
    pub fn short(&self) -> Option<ShortFn> {
        let code = self.has_short().then(|| self.code(Kernel::Short).ok()).flatten()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortFn>(code) })
    }

    /// `Short` or `ShortWhole` with strided or spaced access, for lines of any columns, if the program writes every record and reads no
    /// `Init`: it does what [`short`](Compiled::short) or [`short_whole`](Compiled::short_whole) does.
    pub fn short_spaced(&self, kernel: Kernel) -> Option<ShortSpacedFn> {
        let is_such = matches!(kernel, Kernel::Short | Kernel::ShortWhole { .. }) && self.recipe.has_short_spaced();
        let code = is_such.then(|| self.code(kernel).ok()).flatten()?;
        // SAFETY: as in `tile`; with such access these kernels are functions of this type.
        Some(unsafe { std::mem::transmute::<*const u8, ShortSpacedFn>(code) })
    }

    /// The function that scans short lines as [`short`](Compiled::short) does, if one may take their elements: into memory that is no
    /// column's. It gives how many elements it took, which are fewer than all where it would panic.
    pub fn native_short(&self) -> Option<ShortFn> {
        self.recipe.candidate_of(Kernel::Short)?.short
    }

    /// The function that scans rows or segments as this kernel does, [`ShortRows`](Kernel::ShortRows) or
    /// [`ShortBetween`](Kernel::ShortBetween), if there is one that gives the same bits.
    pub fn native_sequences(&self, kernel: Kernel) -> Option<NativeSequencesFn> {
        // Segments are taken one after the other, as rows of any number of elements are.
        let of_rows = if kernel == Kernel::ShortBetween { Kernel::ShortRows(0) } else { kernel };
        self.recipe.candidate_of(of_rows)?.sequences
    }

    /// Whether a pass over some records, with or without outputs, gives the same wherever they are in a line: nothing reads an index,
    /// and no result lies behind those that were kept before.
    pub fn is_anywhere(&self, writes: bool) -> bool {
        self.recipe.is_anywhere(writes)
    }

    /// The function that reduces many sequences, if there is one that gives the bits of [`short_whole`](Compiled::short_whole): in any
    /// order, or where that is a function too.
    pub fn native_totals(&self, is_native: bool) -> Option<NativeSequencesFn> {
        self.recipe.native_of_totals().filter(|native| is_native || native.replaces_vectors)?.totals
    }

    /// Scans or, without `writes`, reduces one block as [`scan_one`](Compiled::scan_one) does, carrying every component of all
    /// stages: slot 0 holds the whole states before the block and then those after it.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1; without `writes`, without outputs.
    #[inline]
    pub unsafe fn pass_whole(&self, writes: bool, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Whole { writes })(args) }
    }

    /// The kernel for short lines that start from given states and leave those after the line there, under the conditions of
    /// [`short`](Compiled::short); the states lie as [`with_states`](Compiled::with_states) says, by default one component after the
    /// other at their natural alignment. It combines as [`pass_whole`](Compiled::pass_whole) does.
    pub fn short_whole(&self, writes: bool) -> Option<ShortWholeFn> {
        let code = self.has_short().then(|| self.code(Kernel::ShortWhole { writes }).ok()).flatten()?;
        // SAFETY: as in `tile`.
        Some(unsafe { std::mem::transmute::<*const u8, ShortWholeFn>(code) })
    }

    /// Leaves the aggregates of a level's stages over block w in slot w, in the components that are not length-only. The slot
    /// holds the carries of the levels before, as far as these stages read them, and keeps them.
    ///
    /// # Safety
    /// As [`Compiled::scan`], without outputs.
    #[inline]
    pub unsafe fn reduce(&self, level: usize, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::Reduce(level))(args) }
    }

    /// As [`Compiled::reduce`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::reduce`], with W = 1.
    #[inline]
    pub unsafe fn reduce_one(&self, level: usize, args: &TileArgs<'_>) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.tile(Kernel::ReduceOne(level))(args) }
    }

    /// `*out = *carry ⊕ *aggregate` for the stages of a level, in the components that their carries need
    /// ([`carry_update`](monoscan_ir::transform::Lowered::carry_update)); all else in `out` stays as it is, and in `carry` is not looked at.
    ///
    /// # Safety
    /// All three point to slots, `carry` holding these components and `aggregate` all of the level, in the ranges that
    /// the facts give; `out` may be one of the others.
    #[inline]
    pub unsafe fn carry_update(&self, level: usize, carry: *const u8, aggregate: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.states(Kernel::CarryUpdate(level))(carry, aggregate, out) }
    }

    /// The kernel of [`carry_update`](Compiled::carry_update), or with `whole` that of [`combine`](Compiled::combine), for many calls: to be
    /// called as those are, and only while `self` is there.
    #[inline]
    pub fn carry_update_fn(&self, level: usize, whole: bool) -> CarryUpdateFn {
        self.states(if whole { Kernel::Combine(level) } else { Kernel::CarryUpdate(level) })
    }

    /// `*out = *earlier ⊕ *later` for the stages of a level, in all components.
    ///
    /// # Safety
    /// All three point to slots, the first two holding the level's states in the ranges that the facts give; `out` may be
    /// one of them.
    #[inline]
    pub unsafe fn combine(&self, level: usize, earlier: *const u8, later: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { self.states(Kernel::Combine(level))(earlier, later, out) }
    }
}

//! Tile kernels: one loop that takes an element of each of W blocks in turn, as [`abi`](super::abi)
//! describes.
//!
//! Along a line every block has an element number that steps by one and is its place too; strided,
//! every block has a place, and its number is that of its block's first element plus the rounds
//! done. Columns have one base address each, and an address is base + place · record size, which
//! the machine folds into the access for sizes up to 8. What a block carries from element to
//! element is a block parameter of the loop, so it stays in registers while there are any.
//!
//! The last element of a run has no next one, and the first none before it. If the body cares, the
//! loop leaves these two out and runs the [steady-state body](super::steady_state). The first
//! round, and the last, in which one of the blocks may be at such an element, run the body itself
//! before the loop and behind it.

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::facts::{Body, Range};
use monoscan_ir::{Constant, Field, Function, Layout, Source};

use super::abi::{Access, StateLayout, TileArgs};
use super::element::{Data, ShortArgs};
use super::error::CodegenError;
use super::lower::{Env, constant, lower_function};
use super::memory;
use super::native::Native;
use super::place::Place;
use super::rounds::{Progress, Round};
use super::simd::{self, LaneForm, Work};
use super::steady_state::SteadyState;

/// The work of a tile kernel.
pub(crate) struct TileKernel<'a> {
    /// The function of one element.
    pub(crate) body: &'a Body,
    /// The same for elements that have a next one, if that is another.
    pub(crate) steady_state: Option<&'a SteadyState>,
    /// For each carried component where a block starts and whether the slot gets what it ends with.
    pub(crate) carried: &'a [Carried],
    /// The input columns.
    pub(crate) inputs: &'a [Layout],
    /// The output columns; a reduction has none.
    pub(crate) outputs: &'a [Layout],
    /// Which of the carried components counts the records that were kept, if not all are.
    pub(crate) rank: Option<usize>,
    /// How parameters lie in memory.
    pub(crate) parameters: &'a Layout,
    /// How states lie in slots.
    pub(crate) state: &'a StateLayout,
    /// The range of each parameter of the body.
    pub(crate) ranges: &'a [Range],
    /// Where elements are.
    pub(crate) access: Access,
    /// How many blocks.
    pub(crate) interleave: u32,
    /// The form in lanes and what it does, if blocks are to be worked on in vectors: then one after the other. In
    /// [`Work::Both`] the body carries what the fold does.
    pub(crate) lanes: Option<(&'a LaneForm, Work)>,
    /// A function that takes elements in place of the body, of one block along a line, or of rows.
    pub(crate) native: Option<&'a Native>,
}

/// A carried component at the ends of a block.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    /// Where it is in a slot.
    pub(crate) field: Field,
    /// The states that a block starts from; none for those in the slot.
    pub(crate) start: Option<Constant>,
    /// Whether the slot gets what the block ends with.
    pub(crate) is_result: bool,
}

/// The kernel while it is written; the values here are fixed before the loop starts.
#[derive(Clone)]
pub(super) struct Loop<'a> {
    pub(super) kernel: &'a TileKernel<'a>,
    pub(super) data: Data<'a>,
    pub(super) len: ir::Value,
    pub(super) states: ir::Value,
    /// The number of the first element of each block, if places are something else.
    pub(super) numbers: Option<Vec<ir::Value>>,
    /// The place of the first element of each block.
    pub(super) places: Vec<ir::Value>,
    /// How many blocks are worked on side by side.
    pub(super) interleave: u32,
    /// The first place is 0, and there is one block.
    pub(super) is_short: bool,
}

impl<'a> Loop<'a> {
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        kernel: &'a TileKernel<'a>,
        args: ir::Value,
    ) -> Result<Loop<'a>, CodegenError> {
        let data = Data::new(b, kernel, args);
        let mut word = |offset: usize| b.ins().load(types::I64, memory::data_flags(), args, offset as i32);
        let start = word(std::mem::offset_of!(TileArgs, start));
        let len = word(std::mem::offset_of!(TileArgs, len));
        let states = word(std::mem::offset_of!(TileArgs, states));
        let (places, numbers) = match kernel.access {
            Access::Line => (every(b, start, len, kernel.interleave), None),
            Access::Strided | Access::Spaced => {
                let place = word(std::mem::offset_of!(TileArgs, place));
                let pitch = word(std::mem::offset_of!(TileArgs, pitch));
                let numbers = word(std::mem::offset_of!(TileArgs, numbers));
                (every(b, place, pitch, kernel.interleave), Some(every(b, start, numbers, kernel.interleave)))
            }
        };
        Ok(Loop { kernel, data, len, states, numbers, places, interleave: kernel.interleave, is_short: false })
    }

    /// A line whose columns are in registers; `states` is anything if states start in the code and end nowhere.
    pub(super) fn in_registers(
        b: &mut FunctionBuilder<'_>,
        kernel: &'a TileKernel<'a>,
        args: ShortArgs,
        states: ir::Value,
    ) -> Loop<'a> {
        let data = Data::in_registers(b, kernel, args);
        Loop::of_short(b, kernel, data, states)
    }

    /// A line from place 0 on.
    pub(super) fn of_short(
        b: &mut FunctionBuilder<'_>,
        kernel: &'a TileKernel<'a>,
        data: Data<'a>,
        states: ir::Value,
    ) -> Loop<'a> {
        let first = b.ins().iconst(types::I64, 0);
        let is_strided = kernel.access == Access::Strided;
        Loop {
            kernel,
            len: data.total(),
            data,
            states,
            numbers: is_strided.then(|| vec![first]),
            places: vec![first],
            interleave: 1,
            is_short: !is_strided,
        }
    }

    /// As [`write`](Loop::write). Gives how many records are written: all, or those kept.
    pub(super) fn write_counted(&self, b: &mut FunctionBuilder<'_>, env: &Env<'_>) -> Result<ir::Value, CodegenError> {
        let after = self.write(b, env)?;
        Ok(self.kernel.rank.map_or(self.len, |rank| after[rank]))
    }

    /// Gives the states behind the blocks, block by block; of a function's elements none, unless slots get them.
    pub(super) fn write(&self, b: &mut FunctionBuilder<'_>, env: &Env<'_>) -> Result<Vec<ir::Value>, CodegenError> {
        let mut states = Vec::new();
        for block in 0..self.interleave {
            states.extend(self.entered(b, env, block)?);
        }
        let round = self.numbers.as_ref().map(|_| b.ins().iconst(types::I64, 0));
        let places = self.places.iter().copied().map(Place::at).collect();
        let mut progress = Progress { places, round, states, ahead: Vec::new() };
        let mut len = self.len;
        // A function that sees them takes the first and the last element too.
        let sees = self.kernel.native.is_some_and(|native| native.sees);
        if !sees && self.reads(|source| matches!(source, Source::First | Source::Prev(_))) {
            let begins = self.begins(b);
            progress = self.rounds(b, env, Round::Any, (begins, 1), progress)?;
            len = b.ins().isub(len, begins);
        }
        let has_ends = !sees && self.reads(|source| matches!(source, Source::Last | Source::Next(_)));
        let ends = has_ends.then(|| self.ends(b, len));
        let mut between = ends.map_or(len, |ends| b.ins().isub(len, ends));
        if let Some(lanes) = self.kernel.lanes {
            (between, progress) = self.groups(b, lanes, between, progress)?;
        }
        let has_results = self.kernel.carried.iter().any(|carried| carried.is_result);
        if let Some(native) = self.kernel.native {
            if !has_results {
                self.all_by_native(b, env, native, between, progress)?;
                return Ok(Vec::new());
            }
            (between, progress) = self.by_native(b, native, between, progress);
        }
        let round = self.kernel.steady_state.filter(|_| !sees).map_or(Round::Any, Round::SteadyState);
        progress = self.all_rounds(b, env, round, between, progress)?;
        if let Some(ends) = ends {
            // One value less to keep while the loop runs, where the place says how many elements are left.
            let left = if self.is_short { b.ins().isub(self.len, progress.places[0].base) } else { ends };
            progress = self.rounds(b, env, Round::Any, (left, 1), progress)?;
        }
        for (block, states) in progress.states.chunks(self.kernel.body.state_len().max(1)).enumerate() {
            if !has_results {
                break;
            }
            let states = match &self.kernel.body.ends {
                Some(ends) => lower_whole(b, env, &ends.leave, states)?,
                None => states.to_vec(),
            };
            for (carried, value) in self.kernel.carried.iter().zip(states).filter(|(carried, _)| carried.is_result) {
                memory::store(b, carried.field.ty, value, self.states, self.slot_offset(block as u32, carried.field));
            }
        }
        Ok(progress.states)
    }

    /// Whole groups of so many elements, which have neighbours, in vectors. Gives how many elements are left.
    fn groups(
        &self,
        b: &mut FunctionBuilder<'_>,
        (form, work): (&LaneForm, Work),
        left: ir::Value,
        mut progress: Progress,
    ) -> Result<(ir::Value, Progress), CodegenError> {
        let ahead = if work == Work::Both { self.replayed(form, &progress.states) } else { Vec::new() };
        let rank = self.kernel.rank.map(|rank| progress.states.remove(rank));
        let place = progress.places[0].base;
        // Whole vectors are stored where there is space for what is not kept too.
        let fits = rank.map(|rank| self.data.has_space(b, rank, left));
        let none = b.ins().iconst(types::I64, 0);
        let some = fits.flatten().map_or(left, |fits| b.ins().select(fits, left, none));
        let states = [&ahead[..], &progress.states].concat();
        let before = simd::Progress { place, left: some, rank, states };
        let behind = simd::groups(b, form, work, &self.data.bases(), before)?;
        let done = b.ins().isub(behind.place, place);
        progress.places = vec![Place::at(behind.place)];
        progress.round = progress.round.map(|round| b.ins().iadd(round, done));
        progress.states = behind.states[ahead.len()..].to_vec();
        if let (Some(place), Some(rank)) = (self.kernel.rank, behind.rank) {
            progress.states.insert(place, rank);
        }
        Ok((b.ins().isub(left, done), progress))
    }

    /// Whether the body reads such a source.
    fn reads(&self, is_such: impl Fn(&Source) -> bool) -> bool {
        self.kernel.body.mapping.reads.iter().any(is_such)
    }

    /// Of all components those that a replay in lanes carries.
    fn replayed(&self, form: &LaneForm, states: &[ir::Value]) -> Vec<ir::Value> {
        form.replay.carried.iter().map(|&(_, component)| states[component as usize]).collect()
    }

    /// A loop over the blocks of a line, each from its first element to its last.
    pub(super) fn write_in_turn(self, b: &mut FunctionBuilder<'_>, env: &Env<'_>) -> Result<(), CodegenError> {
        let (len, states, interleave, stride) = (self.len, self.states, self.interleave, self.kernel.state.stride);
        let block = b.create_block();
        let exit = b.create_block();
        let left = b.ins().iconst(types::I64, i64::from(interleave));
        let first = [left, self.places[0], states];
        let [left, place, states] = first.map(|_| b.append_block_param(block, types::I64));
        b.ins().jump(block, &first.map(BlockArg::Value));

        b.switch_to_block(block);
        Loop { places: vec![place], states, interleave: 1, ..self }.write(b, env)?;
        let left = b.ins().iadd_imm_s(left, -1);
        let place = b.ins().iadd(place, len);
        let states = b.ins().iadd_imm_u(states, stride as i64);
        branch(b, left, block, &[left, place, states], exit, &[]);
        b.switch_to_block(exit);
        Ok(())
    }

    /// 1 if the first block has elements and begins where its run does, else 0.
    fn begins(&self, b: &mut FunctionBuilder<'_>) -> ir::Value {
        let numbers = self.numbers.as_ref().unwrap_or(&self.places);
        let at_start = b.ins().icmp_imm_u(IntCC::Equal, numbers[0], 0);
        self.if_any(b, self.len, at_start)
    }

    /// 1 if the last block ends where its run does, and `left` is not 0, else 0.
    fn ends(&self, b: &mut FunctionBuilder<'_>, left: ir::Value) -> ir::Value {
        let numbers = self.numbers.as_ref().unwrap_or(&self.places);
        let end = b.ins().iadd(numbers[numbers.len() - 1], self.len);
        let at_end = b.ins().icmp(IntCC::Equal, end, self.data.total());
        self.if_any(b, left, at_end)
    }

    /// 1 if this holds and there are elements, else 0.
    fn if_any(&self, b: &mut FunctionBuilder<'_>, elements: ir::Value, holds: ir::Value) -> ir::Value {
        let some = b.ins().icmp_imm_u(IntCC::NotEqual, elements, 0);
        let both = b.ins().band(holds, some);
        b.ins().uextend(types::I64, both)
    }

    fn slot_offset(&self, block: u32, field: Field) -> i32 {
        (block as usize * self.kernel.state.stride) as i32 + field.offset as i32
    }

    /// The states that a block goes on from: its carried components, or the state of the loop that follows from them.
    pub(super) fn entered(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        block: u32,
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let carried: Vec<ir::Value> =
            self.kernel.carried.iter().map(|carried| self.carry_in(b, block, carried)).collect();
        match &self.kernel.body.ends {
            Some(ends) => lower_whole(b, env, &ends.enter, &carried),
            None => Ok(carried),
        }
    }

    fn carry_in(&self, b: &mut FunctionBuilder<'_>, block: u32, carried: &Carried) -> ir::Value {
        let ty = carried.field.ty;
        match carried.start {
            Some(start) => constant(b, start),
            None => {
                let offset = self.slot_offset(block, carried.field);
                memory::load(b, memory::data_flags(), ty, ty.size(), self.states, offset)
            }
        }
    }
}

/// A function of values of which nothing is known.
fn lower_whole(
    b: &mut FunctionBuilder<'_>,
    env: &Env<'_>,
    function: &Function,
    arguments: &[ir::Value],
) -> Result<Vec<ir::Value>, CodegenError> {
    let ranges: Vec<Range> = function.params.iter().map(|&ty| Range::full(ty)).collect();
    lower_function(b, function, arguments, &ranges, env)
}

/// first, first + distance, first + 2·distance, …: one for each block.
fn every(b: &mut FunctionBuilder<'_>, first: ir::Value, distance: ir::Value, interleave: u32) -> Vec<ir::Value> {
    let mut all = vec![first];
    for _ in 1..interleave {
        all.push(b.ins().iadd(all[all.len() - 1], distance));
    }
    all
}

pub(super) fn branch(
    b: &mut FunctionBuilder<'_>,
    condition: ir::Value,
    yes: ir::Block,
    yes_args: &[ir::Value],
    no: ir::Block,
    no_args: &[ir::Value],
) {
    b.ins().brif(condition, yes, &arguments(yes_args), no, &arguments(no_args));
}

/// Values as the arguments of a block.
pub(super) fn arguments(values: &[ir::Value]) -> Vec<BlockArg> {
    values.iter().copied().map(BlockArg::Value).collect()
}

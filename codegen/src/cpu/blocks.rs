//! Whole blocks in one pass: each is scanned and folded together, from one load of its records.
//!
//! Tiles on several threads need two passes, and their results are `carry into block k+1 = carry
//! into block k ⊕ aggregate of block k`. One thread that only scanned on from each block's last
//! state would round otherwise. So this kernel computes the aggregate too, beside the outputs: in
//! vectors that is one ⊕ a group, since a scan of lanes ends with the group's aggregate. Bit by bit
//! it gives what `reduce`, `carry_update`, `combine` and `scan` in vectors give.

use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use monoscan_ir::Constant;
use monoscan_ir::facts::{CarryUpdate, Range};

use super::abi::TileArgs;
use super::element::Data;
use super::entries::function;
use super::error::CodegenError;
use super::kernel::{TileKernel, arguments};
use super::lower::{Env, constant, lower_function};
use super::memory;
use super::simd::{self, LaneForm, Work};

/// The parts of the kernel, beside the scan of one block.
pub(crate) struct Blocks<'a> {
    /// The form in lanes.
    pub(crate) form: &'a LaneForm,
    /// The function that takes a carry past a block.
    pub(crate) carry_update: &'a CarryUpdate,
    /// All of ⊕.
    pub(crate) combine: &'a CarryUpdate,
    /// The ranges of the state's components.
    pub(crate) ranges: &'a [Range],
    pub(crate) identity: &'a [Constant],
}

/// Writes the kernel into an empty function; `kernel` scans one block.
pub(crate) fn blocks(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    kernel: &TileKernel<'_>,
    blocks: &Blocks<'_>,
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    function(func, context, env, |b, [args]| write(b, args, kernel, blocks, env).map(|()| None))
}

fn write(
    b: &mut FunctionBuilder<'_>,
    args: ir::Value,
    kernel: &TileKernel<'_>,
    blocks: &Blocks<'_>,
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    let data = Data::new(b, kernel, args);
    let mut word = |offset: usize| b.ins().load(types::I64, memory::data_flags(), args, offset as i32);
    let place = word(std::mem::offset_of!(TileArgs, start));
    let len = word(std::mem::offset_of!(TileArgs, len));
    let count = word(std::mem::offset_of!(TileArgs, blocks));
    let slots = word(std::mem::offset_of!(TileArgs, states));

    // The carry is in the first slot; what reductions leave out of a block's aggregate, in the second; what aggregates are
    // added to, in the third, where it stays: registers are for the groups.
    let field = |component| kernel.state.field(0, component).expect("the stage has the component");
    let load = |b: &mut FunctionBuilder<'_>, component: usize, slot: usize| {
        let field = field(component as u32);
        let offset = (slot * kernel.state.stride) as i32 + field.offset as i32;
        memory::load(b, memory::data_flags(), field.ty, field.ty.size(), slots, offset)
    };
    let store = |b: &mut FunctionBuilder<'_>, component: u32, slot: usize, value: ir::Value| {
        let field = field(component);
        let offset = (slot * kernel.state.stride) as i32 + field.offset as i32;
        memory::store(b, field.ty, value, slots, offset);
    };
    let place_of =
        |carried: &[(u32, u32)], component: usize| carried.iter().position(|&(_, c)| c as usize == component);
    let (replayed, folded) = (&blocks.form.replay.carried, &blocks.form.fold.carried);
    let mut first = vec![count, place];
    for &(_, component) in replayed {
        first.push(load(b, component as usize, 0));
    }
    let mut left_out = Vec::new();
    for component in 0..blocks.identity.len() {
        let is_left_out = place_of(folded, component).is_none();
        left_out.push(is_left_out.then(|| load(b, component, 1)));
    }

    let (body, exit) = (b.create_block(), b.create_block());
    let kinds: Vec<ir::Type> = first.iter().map(|&value| b.func.dfg.value_type(value)).collect();
    let now: Vec<ir::Value> = kinds.iter().map(|&kind| b.append_block_param(body, kind)).collect();
    let after: Vec<ir::Value> = kinds.iter().map(|&kind| b.append_block_param(exit, kind)).collect();
    b.ins().brif(count, body, &arguments(&first), exit, &arguments(&first));

    b.switch_to_block(body);
    let (left, carry) = (now[0], &now[2..]);
    let empty = folded.iter().map(|&(_, component)| constant(b, blocks.identity[component as usize]));
    let states = carry.iter().copied().chain(empty.collect::<Vec<_>>()).collect();
    let whole = simd::Progress { place: now[1], left: len, rank: None, states };
    let behind = simd::groups(b, blocks.form, Work::Both, &data.bases(), whole)?;
    let aggregate = &behind.states[replayed.len()..];
    let mut both = Vec::new();
    for (component, identity) in blocks.identity.iter().enumerate() {
        // A carry has what its update reads.
        let carried = place_of(replayed, component).map(|place| carry[place]);
        both.push(carried.unwrap_or_else(|| constant(b, identity.ty().zero())));
    }
    let mut whole = Vec::new();
    for (component, left_out) in left_out.iter().enumerate() {
        let value = place_of(folded, component).map(|place| aggregate[place]).or(*left_out);
        whole.push(value.expect("what is not folded was left out"));
    }
    both.extend(&whole);
    let ranges = [blocks.ranges, blocks.ranges].concat();
    let updated = lower_function(b, &blocks.carry_update.function, &both, &ranges, env)?;

    let (add, added) = (b.create_block(), b.create_block());
    let adds = b.ins().load(types::I64, memory::data_flags(), args, std::mem::offset_of!(TileArgs, adds) as i32);
    b.ins().brif(adds, add, &[], added, &[]);
    b.switch_to_block(add);
    let mut sum: Vec<ir::Value> = (0..blocks.identity.len()).map(|component| load(b, component, 2)).collect();
    sum.extend(whole);
    let sum = lower_function(b, &blocks.combine.function, &sum, &ranges, env)?;
    for (component, value) in (0..).zip(sum) {
        store(b, component, 2, value);
    }
    b.ins().jump(added, &[]);

    b.switch_to_block(added);
    let left = b.ins().iadd_imm_s(left, -1);
    let next = [vec![left, behind.place], updated].concat();
    b.ins().brif(left, body, &arguments(&next), exit, &arguments(&next));

    b.switch_to_block(exit);
    for (&(_, component), &value) in replayed.iter().zip(&after[2..]) {
        store(b, component, 0, value);
    }
    Ok(())
}

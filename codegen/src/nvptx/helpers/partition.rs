//! A stable partition by flags: the records whose flag is set, then the others, each in their
//! order.
//!
//! Two kernels with a scan between them, as of a [split](super::split). Each block of [`count`]
//! counts the flags of its records. The exclusive sum of these counts says how many set ones come
//! before each block; behind those of all blocks stands how many there are. So the blocks of
//! [`distribute`] know where both parts begin, and nobody asks the host.
//!
//! A block takes its records tile by tile, and a lane four neighbours at a time. How many of these
//! are set takes a byte, and so does the sum over a warp: the groups of a lane are scanned all at
//! once, in the bytes of a word. Then a record changes places in shared memory, to the part that it
//! belongs to. Each part begins there as far behind a line as it does in device memory. So
//! the lanes of a warp write whole lines, but for the first and the last of a part.

use super::split::Width;
use super::{HELPER_THREADS, argument};
use crate::nvptx::emit::{Builder, Ty, Value, Var};
use crate::nvptx::kernel::bytes::Bytes;
use bytemuck::{Pod, Zeroable};
use monoscan_ir::Type;

const LANES: usize = 32;
const WARPS: usize = HELPER_THREADS / LANES;
/// Neighbouring records that a lane takes at a time.
const GROUP: usize = 4;
/// The low bits of four bytes.
const FLAGS: usize = 0x0101_0101;

/// The arguments of both kernels, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct PartitionArguments {
    /// How many records, fewer than 2³².
    pub records: u64,
    /// How many of them a block takes, a multiple of the tile below 2³¹. There are as many blocks as this takes, and one without
    /// records.
    pub of_block: u64,
    /// Where the flags are, a byte each, of which the lowest bit counts.
    pub flags: u64,
    /// Where the counts of blocks are, a `u32` each, and a 0 behind them; or the exclusive sum of these.
    pub counts: u64,
    /// Where the values are; 0 if each is the number of its record.
    pub values: u64,
    /// Where the values are to be.
    pub values_to: u64,
    /// Where it is to be told how many are set, as a `u32`; 0 if nobody asks.
    pub set: u64,
}

/// Blocks that a multiprocessor has registers for: while some move records, others load theirs.
pub(super) const BLOCKS: usize = 4;

/// Groups of a thread: not more than a word has bytes.
const fn groups(width: Width) -> usize {
    match width {
        Width::Eight => 2,
        _ => 4,
    }
}

/// Records of a tile.
pub(super) const fn tile(width: Width) -> usize {
    HELPER_THREADS * GROUP * groups(width)
}

/// The records of a block: from the first of these on, and before the other.
fn of_block(k: &Builder) -> [Value<'_>; 2] {
    let of_block = argument!(k, PartitionArguments.of_block);
    let first = k.block().resize(Ty::I64) * of_block;
    [first, (first + of_block).umin(argument!(k, PartitionArguments.records))]
}

fn count_of<'k>(k: &'k Builder, block: Value<'k>) -> Value<'k> {
    argument!(k, PartitionArguments.counts).as_global().byte(block.resize(Ty::I64) * 4)
}

/// How many of the low bits of four bytes are set, and this many.
fn added<'k>(k: &'k Builder, flags: Value<'k>, sum: Value<'k>) -> Value<'k> {
    k.intrinsic(Ty::I32, "scan.add_bytes", &[flags & FLAGS, sum])
}

/// Bytes of shared memory of [`count`].
pub(super) const COUNT_SHARED: usize = 4 * WARPS;

/// Counts the flags of each block.
pub(super) fn count(k: &Builder) {
    let [first, end] = of_block(k);
    let (thread, shared) = (k.thread(), k.shared());
    let (lane, warp) = (thread & (LANES - 1), thread >> LANES.ilog2() as usize);
    let flags = argument!(k, PartitionArguments.flags).as_global().byte(first);
    let there = (end - first).resize(Ty::I32);
    let is_aligned = (flags.address() & 15usize).is(k.i64(0));
    let whole = is_aligned.select(there & !15usize, k.i32(0));
    let sum = k.var(k.i32(0));
    k.range(thread * 16, whole, k.i32(16 * HELPER_THREADS), |at| {
        let words = Bytes::load(k, flags.byte(at), 16).into_words();
        sum.set(words.into_iter().fold(sum.get(), |sum, word| added(k, word, sum)));
    });
    k.range(whole + thread, there, k.i32(HELPER_THREADS), |at| {
        sum.set(sum.get() + (flags.byte(at).load(Ty::I8, 1).resize(Ty::I32) & 1usize));
    });
    let of_warp = [16usize, 8, 4, 2, 1].into_iter().fold(sum.get(), |sum, by| sum + k.shuffle_down(sum, k.i32(by)));
    k.when(lane.is(k.i32(0)), || shared.byte(warp * 4).store(of_warp, 4));
    k.barrier();
    k.when(thread.is(k.i32(0)), || {
        let all = (0..WARPS).map(|warp| shared.at(4 * warp).load(Ty::I32, 4)).reduce(|all, next| all + next);
        count_of(k, k.block()).store(all.expect("a block has warps"), 4);
        k.when(k.block().is(k.i32(0)), || count_of(k, k.blocks()).store(k.i32(0), 4));
    });
}

/// Where [`distribute`] has the records of a tile in shared memory; how many of each warp are set is before.
const EXCHANGE: usize = 64;

/// Rounds in which the threads of a block write a tile: each part may begin within a line.
const fn rounds(width: Width) -> usize {
    tile(width) / HELPER_THREADS + 1
}

/// Bytes of shared memory of [`distribute`].
pub(super) fn distribute_shared(width: Width) -> usize {
    EXCHANGE + rounds(width) * HELPER_THREADS * width.bytes()
}

/// Puts the records of each block to where their part begins.
pub(super) fn distribute<'k>(k: &'k Builder, width: Width) {
    let [first, end] = of_block(k);
    let (tile, ty, bytes) = (tile(width), width.ty(), width.bytes());
    let (thread, shared) = (k.thread(), k.shared());
    let (lane, warp) = (thread & (LANES - 1), thread >> LANES.ilog2() as usize);
    let count_at = |block: Value<'k>| count_of(k, block).load(Ty::I32, 4);
    let all = count_at(k.blocks());
    let asked = argument!(k, PartitionArguments.set);
    k.when(asked.is_not(k.i64(0)) & (k.block() | thread).is(k.i32(0)), || asked.as_global().store(all, 4));
    // Where the next record of each part goes.
    let next_set = k.var(count_at(k.block()));
    let next_other = k.var(all + first.resize(Ty::I32) - next_set.get());
    k.range(first, end, k.i64(tile), |first| {
        let there = (end - first).umin(k.i64(tile)).resize(Ty::I32);
        let start = |group: usize| (warp * groups(width) + group) * (LANES * GROUP) + lane * GROUP;
        let starts: Vec<Value<'k>> = (0..groups(width)).map(start).collect();
        let loaded = load(k, width, (first, there), &starts);

        // How many are set before each group, and in the warp.
        let count = |(group, (flags, _)): (usize, &Group<'k>)| added(k, *flags, k.i32(0)) << (8 * group);
        let counts =
            loaded.iter().enumerate().map(count).reduce(|all, count| all | count).expect("a thread has groups");
        let mut sums = counts;
        for distance in [1usize, 2, 4, 8, 16] {
            let below = k.shuffle_up(sums, k.i32(distance));
            sums = sums + lane.at_least(k.i32(distance)).select(below, k.i32(0));
        }
        let in_groups = k.shuffle_from(sums, k.i32(LANES - 1));
        let byte = |word: Value<'k>, group: usize| (word >> (8 * group)) & 0xffusize;
        let in_warp = (0..groups(width)).map(|group| byte(in_groups, group)).reduce(|all, next| all + next);
        let in_warp = in_warp.expect("a thread has groups");
        k.when(lane.is(k.i32(0)), || shared.byte(warp * 4).store(in_warp, 4));
        k.barrier();
        let of_warps: Vec<Value<'k>> = (0..WARPS).map(|warp| shared.at(4 * warp).load(Ty::I32, 4)).collect();
        let set = of_warps[1..].iter().fold(of_warps[0], |sum, &of_warp| sum + of_warp);
        let mut before = k.i32(0);
        for (other, &of_warp) in of_warps.iter().enumerate().take(WARPS - 1) {
            before = before + k.i32(other).below(warp).select(of_warp, k.i32(0));
        }

        let in_line = LANES - 1;
        let set_from = next_set.get() & in_line;
        let other_from = ((set_from + set + in_line) & !in_line) + (next_other.get() & in_line);
        let exchange = shared.at(EXCHANGE);
        for (group, (&start, (flags, values))) in starts.iter().zip(&loaded).enumerate() {
            let mut rank = before + byte(sums - counts, group);
            for (record, value) in values.iter().enumerate() {
                let flag = (*flags >> (8 * record)) & 1usize;
                // Of a tile that is not full, what is behind the end goes behind all others.
                let other = other_from + start + record - rank;
                let place = flag.is_not(k.i32(0)).select(set_from + rank, other);
                exchange.byte(place * bytes).store(value.get(), bytes);
                rank = rank + flag;
            }
            before = before + byte(in_groups, group);
        }
        k.barrier();

        let to = argument!(k, PartitionArguments.values_to).as_global();
        let [set_to, other_to] = [next_set.get() - set_from, next_other.get() - other_from];
        let (set_end, other_end) = (set_from + set, other_from + there - set);
        let places = (0..rounds(width)).map(|round| thread + round * HELPER_THREADS);
        let own: Vec<_> = places.map(|place| (place, exchange.byte(place * bytes).load(ty, bytes))).collect();
        for (place, value) in own {
            let is_set = place.below(set_end);
            let is_other = place.at_least(other_from) & place.below(other_end);
            let is_there = (is_set & place.at_least(set_from)) | is_other;
            let place = place + is_set.select(set_to, other_to);
            k.when(is_there, || to.byte(place.resize(Ty::I64) * bytes).store(value, bytes));
        }
        next_set.set(next_set.get() + set);
        next_other.set(next_other.get() + there - set);
    });
}

/// The flags of neighbouring records, a byte each of which the lowest bit counts, and their values.
type Group<'k> = (Value<'k>, Vec<Var<'k>>);

/// The groups that start with these records of so many from `first` on. The flags of what is behind them are not set.
fn load<'k>(
    k: &'k Builder,
    width: Width,
    (first, there): (Value<'k>, Value<'k>),
    starts: &[Value<'k>],
) -> Vec<Group<'k>> {
    let (ty, bytes) = (width.ty(), width.bytes());
    let flags = argument!(k, PartitionArguments.flags).as_global().byte(first);
    let column = argument!(k, PartitionArguments.values);
    let values = column.as_global().byte(first * bytes);
    let loaded: Vec<(Var<'k>, Vec<Var<'k>>)> =
        starts.iter().map(|_| (k.unset(Ty::I32), (0..GROUP).map(|_| k.unset(ty)).collect())).collect();
    let all = || starts.iter().copied().zip(&loaded);
    let each = |set: &dyn Fn(Value<'k>, Var<'k>)| {
        for (start, (_, values)) in all() {
            values.iter().enumerate().for_each(|(record, &value)| set(start + record, value));
        }
    };
    let is_full = there.is(k.i32(tile(width)));
    let is_multiple = |address: Value<'k>, of: usize| (address & (of - 1)).is(k.i64(0));

    let whole_flags = || all().for_each(|(start, (of_group, _))| of_group.set(flags.byte(start).load(Ty::I32, 4)));
    let single_flags = || {
        for (start, (of_group, _)) in all() {
            let flag = |record: usize| {
                let place = start + record;
                let flag = flags.byte(place.umin(there - 1)).load(Ty::I8, 1).resize(Ty::I32);
                place.below(there).select(flag, k.i32(0)) << (8 * record)
            };
            of_group.set((0..GROUP).map(flag).reduce(|all, flag| all | flag).expect("a group has records"));
        }
    };
    k.either(is_full & is_multiple(flags.address(), GROUP), whole_flags, single_flags);

    let whole = || {
        for (start, (_, of_group)) in all() {
            let group = Bytes::load(k, values.byte(start.resize(Ty::I64) * bytes), GROUP * bytes);
            let value = |record: usize| group.field(record * bytes, unsigned(width));
            of_group.iter().enumerate().for_each(|(record, of_record)| of_record.set(value(record)));
        }
    };
    let singly =
        || each(&|place, value| value.set(values.byte(place.umin(there - 1).resize(Ty::I64) * bytes).load(ty, bytes)));
    let given = || k.either(is_full & is_multiple(column, 16), whole, singly);
    let numbers = || each(&|place, value| value.set((first + place.resize(Ty::I64)).resize(ty)));
    k.either(column.is_not(k.i64(0)), given, numbers);
    loaded.into_iter().map(|(flags, values)| (flags.get(), values)).collect()
}

/// The type of a value.
fn unsigned(width: Width) -> Type {
    match width {
        Width::One => Type::U8,
        Width::Two => Type::U16,
        Width::Four => Type::U32,
        Width::Eight => Type::U64,
    }
}

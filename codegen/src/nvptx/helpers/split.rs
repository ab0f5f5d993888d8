//! A stable split of records by a digit of their keys: what radix sorts and partitions on a device
//! are made of (Blelloch 1990, §1.3).
//!
//! Two kernels with a scan between them. Each block of [`count`] counts the digits of its records.
//! The exclusive sum of all counts, digit by digit and block by block within a digit, is where each
//! block puts its first record of each digit. Each block of [`distribute`] puts them there.
//!
//! A block takes its records tile by tile. Within a tile the lanes of a warp that have the same
//! digit find each other by votes, and warps keep counts in shared memory. So each record learns
//! its place among those of the tile in order. They change places in shared memory first: then
//! neighbouring threads write neighbouring records.

mod count;

use bytemuck::{Pod, Zeroable};
use monoscan_ir::Type;

use super::{HELPER_THREADS, argument};
use crate::nvptx::emit::{Builder, Ty, Value, Var};
pub(super) use count::{COUNT_SHARED, count};

/// Values of a digit. The thread of a block that has the same number takes care of each.
const DIGITS: usize = 256;
const DIGIT_BITS: usize = 8;
const LANES: usize = 32;
const WARPS: usize = HELPER_THREADS / LANES;

/// Bytes of a key or of a value that travels with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// One.
    One,
    /// Two.
    Two,
    /// Four.
    Four,
    /// Eight.
    Eight,
}

impl Width {
    /// All of them.
    pub const ALL: [Width; 4] = [Width::One, Width::Two, Width::Four, Width::Eight];

    /// That of so many bytes.
    pub fn of(bytes: usize) -> Option<Width> {
        Width::ALL.into_iter().find(|width| width.bytes() == bytes)
    }

    /// So many bytes.
    pub fn bytes(self) -> usize {
        1 << self as usize
    }

    pub(super) fn ty(self) -> Ty {
        Ty::Int(8 * self.bytes() as u16)
    }

    fn field(self) -> Type {
        [Type::U8, Type::U16, Type::U32, Type::U64][self as usize]
    }
}

/// The arguments of both kernels, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SplitArguments {
    /// How many records, fewer than 2³².
    pub records: u64,
    /// How many of them a block takes: a multiple of the tile, at most [`MOST_OF_BLOCK`]. There are as many blocks as this
    /// takes, and none without records.
    pub of_block: u64,
    /// Where the keys are.
    pub keys: u64,
    /// The bit of its number at which the digit of a key begins. Its number is the key, with `signs` flipped if its highest bit is
    /// set, and then `flips`.
    pub shift: u64,
    /// See `shift`.
    pub signs: u64,
    /// See `shift`.
    pub flips: u64,
    /// Where the counts are, or their exclusive sum, a `u32` each: those of all blocks of the first digit, then of the next.
    pub counts: u64,
    /// Where the keys are to be; 0 if they are not asked for.
    pub keys_to: u64,
    /// Where the values are; 0 if each is the number of its record.
    pub values: u64,
    /// Where the values are to be.
    pub values_to: u64,
}

/// Most records of a block: each thread of `count` counts up to 255.
pub const MOST_OF_BLOCK: usize = 255 * HELPER_THREADS;

/// Records that a thread takes of a tile: their exchange must leave shared memory for several blocks.
const fn items(key: Width, value: Option<Width>) -> usize {
    match (key, value) {
        (Width::Eight, _) | (_, Some(Width::Eight)) => 16,
        _ => 24,
    }
}

/// Blocks that a multiprocessor has registers for. Without a bound a thread takes all 255; what moves values too would spill some.
/// On an H200 two blocks were faster than three and four with 2^26 records of 12 to 24 items, and with 2^28 faster than one, but for
/// what moves values of 4 bytes beside keys of 4.
pub(super) const fn blocks(key: Width, value: Option<Width>) -> usize {
    match (key, value) {
        (Width::Four | Width::Eight, Some(_)) => 1,
        _ => 2,
    }
}

/// Records of a tile.
pub(super) const fn tile(key: Width, value: Option<Width>) -> usize {
    HELPER_THREADS * items(key, value)
}

/// The keys that a block takes.
#[derive(Clone, Copy)]
struct Keys<'k> {
    k: &'k Builder,
    width: Width,
    column: Value<'k>,
    /// The block's records are those from `first` on, and before `end`.
    first: Value<'k>,
    end: Value<'k>,
    shift: Value<'k>,
    signs: Value<'k>,
    flips: Value<'k>,
}

impl<'k> Keys<'k> {
    fn of(k: &'k Builder, width: Width) -> Keys<'k> {
        let of_block = argument!(k, SplitArguments.of_block);
        let first = k.block().resize(Ty::I64) * of_block;
        let [shift, signs, flips] = [
            argument!(k, SplitArguments.shift),
            argument!(k, SplitArguments.signs),
            argument!(k, SplitArguments.flips),
        ]
        .map(|argument| argument.resize(width.ty()));
        let end = (first + of_block).umin(argument!(k, SplitArguments.records));
        Keys { k, width, column: argument!(k, SplitArguments.keys).as_global(), first, end, shift, signs, flips }
    }

    /// The records of the block from this one on, at most so many: where their keys are, and how many they are.
    fn part(&self, first: Value<'k>, most: usize) -> (Value<'k>, Value<'k>) {
        let there = (self.end - first).umin(self.k.i64(most)).resize(Ty::I32);
        (self.column.byte(first * self.width.bytes()), there)
    }

    /// One of so many keys; behind them the last one.
    fn load(&self, (column, there): (Value<'k>, Value<'k>), record: Value<'k>) -> Value<'k> {
        load(self.width, column, record.umin(there - 1))
    }

    /// Has so many records of a column fetched to the second-level cache, from one of the block's on. Only keys of eight bytes with
    /// values are faster so: one block has all registers of a multiprocessor then, and nothing else hides how long memory takes.
    fn prefetch(&self, column: Value<'k>, width: Width, first: Value<'k>, count: usize) {
        const SECTOR: usize = 32;
        let (k, bytes) = (self.k, count * width.bytes());
        k.when(first.below(self.end), || {
            let (from, last) = (first * width.bytes(), self.end * width.bytes() - 1);
            for sector in (0..bytes).step_by(SECTOR * HELPER_THREADS) {
                let own = from + (k.thread().resize(Ty::I64) * SECTOR + sector);
                k.prefetch(column.byte(own.umin(last)));
            }
        });
    }

    fn digit(&self, key: Value<'k>) -> Value<'k> {
        let sign = key.binary("ashr", key.same(8 * self.width.bytes() as i128 - 1));
        let number = key ^ (sign & self.signs) ^ self.flips;
        (number >> self.shift).resize(Ty::I32) & (DIGITS - 1)
    }

    /// Where the count of a digit of this block is.
    fn count_of(&self, digit: Value<'k>) -> Value<'k> {
        let k = self.k;
        let place = digit.resize(Ty::I64) * k.blocks().resize(Ty::I64) + k.block().resize(Ty::I64);
        argument!(k, SplitArguments.counts).as_global().byte(place * 4)
    }
}

/// The record of this number.
fn load<'k>(width: Width, column: Value<'k>, record: Value<'k>) -> Value<'k> {
    column.byte(record.resize(Ty::I64) * width.bytes()).load(width.ty(), width.bytes())
}

/// Where [`distribute`] has what in shared memory: the counts of each warp, sums of warps, where digits go, records in their order.
const WARP_BYTES: usize = 4 * DIGITS;
const SUMS: usize = WARPS * WARP_BYTES;
const BASES: usize = SUMS + 4 * WARPS;
const EXCHANGE: usize = BASES + 4 * DIGITS;

/// Bytes of shared memory of [`distribute`].
pub(super) fn distribute_shared(key: Width, value: Option<Width>) -> usize {
    EXCHANGE + tile(key, value) * value.map_or(key, |value| value.max(key)).bytes()
}

/// Puts the records of each block where the sums of counts say.
pub(super) fn distribute<'k>(k: &'k Builder, width: Width, value: Option<Width>) {
    let keys = Keys::of(k, width);
    let (thread, shared) = (k.thread(), k.shared());
    let (lane, warp) = (thread & (LANES - 1), thread >> LANES.trailing_zeros() as usize);
    let (items, tile) = (items(width, value), tile(width, value));
    // Where the next record of the digit goes that this thread takes care of.
    let next = k.var(keys.count_of(thread).load(Ty::I32, 4));
    k.range(keys.first, keys.end, k.i64(tile), |first| {
        let counts = shared.byte(warp * WARP_BYTES);
        (0..DIGITS / LANES).for_each(|row| counts.byte(lane * 4).at(row * 4 * LANES).store(k.i32(0), 4));
        k.warp_barrier();
        let part = keys.part(first, tile);
        let there = part.1;
        let of_warp = warp * (items * LANES) + lane;
        let records: Vec<_> = (0..items).map(|item| of_warp + item * LANES).collect();
        let loaded: Vec<_> = records.iter().map(|&record| keys.load(part, record)).collect();
        if let (Width::Eight, Some(value)) = (width, value) {
            keys.prefetch(keys.column, width, first + tile, tile);
            let column = argument!(k, SplitArguments.values);
            k.when(column.is_not(k.i64(0)), || keys.prefetch(column.as_global(), value, first + tile, tile));
        }
        // What is behind the end comes last of all: behind it in the last digit.
        let digit =
            |(&record, &key): (&Value<'k>, &Value<'k>)| record.below(there).select(keys.digit(key), k.i32(DIGITS - 1));
        let digits: Vec<_> = records.iter().zip(&loaded).map(digit).collect();
        let ranks: Vec<_> = digits.iter().map(|&digit| rank(k, counts, digit, lane)).collect();
        k.barrier();

        sum_counts(k, shared, next);
        k.barrier();

        let places = digits.iter().zip(ranks).map(|(&digit, rank)| counts.byte(digit * 4).load(Ty::I32, 4) + rank);
        let exchange = Exchange { k, base: shared.at(EXCHANGE), places: places.collect() };
        let own = exchange.exchange(width, &loaded);
        let to: Vec<_> = (0..items)
            .map(|item| {
                let place = thread + item * HELPER_THREADS;
                let base = shared.at(BASES).byte(keys.digit(own[item]) * 4).load(Ty::I32, 4);
                (place.below(there), (base + place).resize(Ty::I64))
            })
            .collect();
        let store = |column: Value<'k>, own: &[Value<'k>], bytes: usize| {
            for (&(is_there, to), &own) in to.iter().zip(own) {
                k.when(is_there, || column.as_global().byte(to * bytes).store(own, bytes));
            }
        };
        let keys_to = argument!(k, SplitArguments.keys_to);
        k.when(keys_to.is_not(k.i64(0)), || store(keys_to, &own, width.bytes()));
        if let Some(width) = value {
            let values = values(k, width, (first, there), &records);
            k.barrier();
            let own = exchange.exchange(width, &values);
            store(argument!(k, SplitArguments.values_to), &own, width.bytes());
        }
    });
}

/// How many records with the same digit came before in the warp, whose counts of digits are there; counts one more for each.
fn rank<'k>(k: &'k Builder, counts: Value<'k>, digit: Value<'k>, lane: Value<'k>) -> Value<'k> {
    let mut same = k.int(Ty::I32, -1);
    for bit in 0..DIGIT_BITS {
        let is_set = ((digit >> bit) & 1usize).is_not(k.i32(0));
        let with = k.ballot(is_set);
        same = same & is_set.select(with, !with);
    }
    let ones = |word: Value<'k>| word.math("ctpop", &[]);
    let below = ones(same & ((k.i32(1) << lane) - 1));
    let count = counts.byte(digit * 4);
    let before = count.load(Ty::I32, 4);
    k.warp_barrier();
    k.when(below.is(k.i32(0)), || count.store(before + ones(same), 4));
    k.warp_barrier();
    before + below
}

/// Makes of the counts of each warp where its records of each digit begin in the tile; and says, for each digit, how far from
/// there they go, and where the next ones will.
fn sum_counts<'k>(k: &'k Builder, shared: Value<'k>, next: Var<'k>) {
    let digit = k.thread();
    let (lane, warp) = (digit & (LANES - 1), digit >> LANES.trailing_zeros() as usize);
    let of_warp = |warp: usize| shared.byte(digit * 4).at(warp * WARP_BYTES);
    let counts: Vec<_> = (0..WARPS).map(|warp| of_warp(warp).load(Ty::I32, 4)).collect();
    let count = counts[1..].iter().fold(counts[0], |sum, &count| sum + count);
    let mut sum = count;
    for distance in [1usize, 2, 4, 8, 16] {
        let below = k.shuffle_up(sum, k.i32(distance));
        sum = sum + lane.at_least(k.i32(distance)).select(below, k.i32(0));
    }
    let sums = shared.at(SUMS);
    k.when(lane.is(k.i32(LANES - 1)), || sums.byte(warp * 4).store(sum, 4));
    k.barrier();
    let mut start = sum - count;
    for other in 0..WARPS - 1 {
        let is_before = k.i32(other).below(warp);
        start = start + is_before.select(sums.at(4 * other).load(Ty::I32, 4), k.i32(0));
    }
    shared.at(BASES).byte(digit * 4).store(next.get() - start, 4);
    next.set(next.get() + count);
    for (warp, count) in counts.into_iter().enumerate() {
        of_warp(warp).store(start, 4);
        start = start + count;
    }
}

/// Records of a tile change places.
struct Exchange<'k> {
    k: &'k Builder,
    base: Value<'k>,
    /// Where this thread's records go.
    places: Vec<Value<'k>>,
}

impl<'k> Exchange<'k> {
    /// The values that this thread has afterwards: the one of its own number, and each that is as many places further as there are threads.
    /// Nobody reads the shared memory before.
    fn exchange(&self, width: Width, given: &[Value<'k>]) -> Vec<Value<'k>> {
        let (k, bytes) = (self.k, width.bytes());
        let at = |place: Value<'k>| self.base.byte(place * bytes);
        self.places.iter().zip(given).for_each(|(&place, &given)| at(place).store(given, bytes));
        k.barrier();
        let own = (0..given.len()).map(|item| at(k.thread() + item * HELPER_THREADS).load(width.ty(), bytes));
        own.collect()
    }
}

/// The values of these records from `first` on, of which so many are there, or their numbers.
fn values<'k>(
    k: &'k Builder,
    width: Width,
    (first, there): (Value<'k>, Value<'k>),
    records: &[Value<'k>],
) -> Vec<Value<'k>> {
    let column = argument!(k, SplitArguments.values);
    let values: Vec<_> = records.iter().map(|_| k.unset(width.ty())).collect();
    let all = || values.iter().zip(records);
    let part = || column.as_global().byte(first * width.bytes());
    let given = || all().for_each(|(value, &record)| value.set(load(width, part(), record.umin(there - 1))));
    let number = |record: Value<'k>| (first + record.resize(Ty::I64)).resize(width.ty());
    k.either(column.is_not(k.i64(0)), given, || all().for_each(|(value, &record)| value.set(number(record))));
    values.iter().map(|value| value.get()).collect()
}

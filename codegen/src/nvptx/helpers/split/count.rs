//! The digits of each block, counted.
//!
//! Each thread has a counter of a byte for each digit, and counts the keys that it reads, of any
//! place in the block. Then the counters of all threads are added up.

use super::{DIGITS, Keys, LANES, Width};
use crate::nvptx::emit::{Builder, Ty, Value, Var};
use crate::nvptx::helpers::HELPER_THREADS;
use crate::nvptx::kernel::bytes::Bytes;

/// Bytes of shared memory of [`count`]: counters of a byte for each thread and digit. Four digits of a thread are a word, and
/// neighbouring threads have neighbouring words.
pub(in crate::nvptx::helpers) const COUNT_SHARED: usize = HELPER_THREADS * DIGITS;

/// Counts the digits of each block.
pub(in crate::nvptx::helpers) fn count<'k>(k: &'k Builder, width: Width) {
    /// Keys that a thread reads before it counts them: pieces of 16 bytes where keys begin at such, else one by one.
    const TOGETHER: usize = 16;
    const APART: usize = 8;
    const PIECE: usize = 16;
    let keys = Keys::of(k, width);
    let (thread, counters) = (k.thread(), k.shared());
    let own = counters.byte(thread * 4);
    (0..DIGITS / 4).for_each(|four| own.at(four * ROW).store(k.i32(0), 4));
    let add = |digit: Value<'k>, one: Value<'k>| {
        let count = own.byte((digit >> 2usize) * ROW + (digit & 3usize));
        count.store(count.load(Ty::I8, 1) + one, 1);
    };
    let is_aligned = (keys.column.byte(keys.first * width.bytes()).address() & (PIECE - 1)).is(k.i64(0));
    let whole = is_aligned.select((keys.end - keys.first).udiv(k.i64(TOGETHER * HELPER_THREADS)), k.i64(0));
    let apart_from = keys.first + whole * (TOGETHER * HELPER_THREADS);
    k.range(keys.first, apart_from, k.i64(TOGETHER * HELPER_THREADS), |first| {
        let column = keys.column.byte(first * width.bytes()).byte(thread * PIECE);
        let piece = |place: usize| Bytes::load(k, column.at(place * PIECE * HELPER_THREADS), PIECE);
        let pieces: Vec<Bytes<'k>> = (0..TOGETHER * width.bytes() / PIECE).map(piece).collect();
        for piece in &pieces {
            let key = |byte: usize| piece.field(byte, width.field());
            (0..PIECE).step_by(width.bytes()).for_each(|byte| add(keys.digit(key(byte)), k.int(Ty::I8, 1)));
        }
    });
    let together = APART * HELPER_THREADS;
    k.range(apart_from, keys.end, k.i64(together), |first| {
        let part = keys.part(first, together);
        let records = (0..APART).map(|record| thread + record * HELPER_THREADS);
        let found = records.map(|record| (keys.digit(keys.load(part, record)), record.below(part.1)));
        let found: Vec<_> = found.collect();
        found.into_iter().for_each(|(digit, is_there)| add(digit, is_there.resize(Ty::I8)));
    });
    k.barrier();
    sum_counters(&keys, counters);
}

/// Bytes of the counters of four digits, a word for each thread.
const ROW: usize = 4 * HELPER_THREADS;

/// Stores the sums of all counters. Four neighbouring threads take a row of four digits, each every fourth word: of the first and the
/// third digit at once, and of the others, whose sums have 16 bits. All rows begin in the same bank, so the rows of a warp are read from
/// different words on.
fn sum_counters<'k>(keys: &Keys<'k>, counters: Value<'k>) {
    const FOUR: usize = 4;
    const AT_ONCE: usize = 8;
    const EVEN: usize = 0x00ff_00ff;
    let k = keys.k;
    let (thread, lane) = (k.thread(), k.thread() & (LANES - 1));
    let row = counters.byte((thread >> FOUR.ilog2() as usize) * ROW);
    let [even, odd] = [(); 2].map(|()| k.var(k.i32(0)));
    k.range(lane, lane + HELPER_THREADS, k.i32(FOUR * AT_ONCE), |first| {
        let word = |next: usize| row.byte(((first + next * FOUR) & (HELPER_THREADS - 1)) * 4).load(Ty::I32, 4);
        for word in (0..AT_ONCE).map(word).collect::<Vec<_>>() {
            even.set(even.get() + (word & EVEN));
            odd.set(odd.get() + ((word >> 8usize) & EVEN));
        }
    });
    // The last of the four has all.
    let sum = |own: Var<'k>| [1usize, 2].into_iter().fold(own.get(), |sum, by| sum + k.shuffle_up(sum, k.i32(by)));
    let [even, odd] = [even, odd].map(sum);
    k.when((thread & (FOUR - 1)).is(k.i32(FOUR - 1)), || {
        let sums = [even & 0xffff_usize, odd & 0xffff_usize, even >> 16_usize, odd >> 16_usize];
        for (digit, sum) in sums.into_iter().enumerate() {
            keys.count_of(thread - (FOUR - 1) + digit).store(sum, 4);
        }
    });
}

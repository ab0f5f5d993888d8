//! Lengths, threads and inputs to try.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::{env, panic};

pub(crate) use scan_kit::Random;

/// Random numbers for an input of this length, others in each run. A test that fails prints the seed that repeats it.
pub(crate) fn generator(len: usize) -> Random {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let given = env::var("MONOSCAN_SEED").ok().map(|text| text.parse().expect("a seed is a number of 64 bits"));
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0));
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            report(panic);
            eprintln!("inputs were drawn with MONOSCAN_SEED={seed}");
        }));
        seed
    });
    Random(SEED.wrapping_add(len as u64))
}

/// None, few, and those about the ends of vectors, of blocks, and of what is sorted by comparisons.
pub(crate) const SHORT: [usize; 10] = [0, 1, 2, 3, 7, 64, 127, 128, 129, 1000];

/// Whether a length is the long one of [`for_lengths`]: some inputs of it are enough.
pub(crate) fn is_long(len: usize) -> bool {
    len > SHORT[SHORT.len() - 1]
}

/// Runs this for each short length, and for a long one [in pools](in_pools).
pub(crate) fn for_lengths(long: usize, run: impl Fn(usize) + Send + Sync) {
    assert!(is_long(long));
    SHORT.into_iter().for_each(&run);
    in_pools(|| run(long));
}

/// Runs this in a pool of one thread and in one of three. Algorithms share loops among these from some 2^15 records on; whether
/// a compiled scan has helpers is its plan's choice, which the module `plans` makes.
pub(crate) fn in_pools(run: impl Fn() + Send + Sync) {
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        pool.install(&run);
    }
}

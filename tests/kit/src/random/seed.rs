//! The seed of inputs that are others in each run.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::{env, panic};

/// Another one in each run, or that of `MONOSCAN_SEED`. Tests that fail print it.
pub fn seed() -> u64 {
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
    *SEED
}

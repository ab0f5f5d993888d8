//! Lengths and threads to try.

pub(crate) use scan_kit::Random;

/// Short ones, those about the ends of vectors and blocks, and some that several threads work on.
pub(crate) const LENGTHS: [usize; 14] = [0, 1, 2, 3, 7, 64, 127, 128, 129, 1000, 4097, 40_000, 70_001, 200_003];

/// Runs this in pools of one, two and three threads.
pub(crate) fn on_threads(run: impl Fn() + Send + Sync) {
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        pool.install(&run);
    }
}

//! Lengths, threads and inputs to try.

pub(crate) use scan_kit::Random;
use scan_kit::random::seed;

/// Random numbers for an input of this length, others in each run.
pub(crate) fn generator(len: usize) -> Random {
    Random(seed().wrapping_add(len as u64))
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

/// Runs this in a pool of one thread and in one of three. Algorithms share loops among these from some 2^15 records on, splits and sorts from 2^17; whether
/// a compiled scan has helpers is its plan's choice, which the module `plans` makes.
pub(crate) fn in_pools(run: impl Fn() + Send + Sync) {
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        pool.install(&run);
    }
}

/// Lengths of segments of so many records in all: short, empty ones among them, one long one, all of one record.
pub(crate) fn segments(len: usize) -> Vec<Vec<usize>> {
    let mut random = generator(len);
    let mut drawn = [1usize, 5, 3000].map(|most| {
        let (mut lengths, mut left) = (Vec::new(), len);
        while left > 0 {
            lengths.push(random.below(most + 1).min(left));
            left -= lengths[lengths.len() - 1];
        }
        lengths
    });
    drawn[0].push(0);
    let skewed = [vec![1; len / 4], vec![len - len / 4], vec![0; 3]].concat();
    drawn.into_iter().chain([skewed, vec![len]]).collect()
}

/// Where segments of these lengths begin, and where the last ends.
pub(crate) fn offsets(lengths: &[usize]) -> Vec<usize> {
    let mut at = 0;
    let ends = lengths.iter().map(|length| {
        at += length;
        at
    });
    [0].into_iter().chain(ends).collect()
}

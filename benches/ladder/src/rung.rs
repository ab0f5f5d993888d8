//! The rungs: which schedules there are, what they are called, and what each is made of. One table.

use std::fmt;

use super::block::{Banks, BlockScan, Exchange};
use super::single_pass::Window;

/// A schedule of the ladder. Below, n is the number of records and b that of a block's threads; *work* counts applications of the
/// operator, *depth* those that must follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rung {
    /// In log₂ b rounds each thread takes in what the thread 1, 2, 4, … below it has, through shared memory. Work n log₂ b, depth
    /// log₂ b within a block; blocks by three passes. Hillis & Steele, "Data parallel algorithms", CACM 29(12), 1986.
    HillisSteele,
    /// A tree over the block's records, up for sums and down for prefixes. Work 2n, depth 2 log₂ b, but half of the threads idle
    /// and strides of powers of two meet in the same banks of shared memory; blocks by three passes. Blelloch, "Prefix sums and their
    /// applications", CMU-CS-90-190, 1990; on a GPU: Harris, Sengupta & Owens, GPU Gems 3, chapter 39, 2007.
    Blelloch,
    /// The same tree, with a word left out after each 32, so that the strides spread over all banks (Harris, Sengupta & Owens, 2007).
    BlellochPadded,
    /// Warps scan their own 32 records through shared memory, without waiting for the block, and then one warp the warps' sums. Work
    /// 5n, depth 5 and log₂ (b / 32); blocks by three passes. Sengupta, Harris & Garland, "Efficient parallel scan algorithms for GPUs",
    /// NVR-2008-003, 2008. The three passes, too, are younger than the rungs below, whose authors scanned first
    /// and added last: reducing first is from Dotsenko et al., "Fast scan algorithms on graphics processors", ICS 2008.
    ThreePassShared,
    /// The same with shuffles from register to register in place of shared memory, which Kepler brought in 2012.
    ThreePassShuffle,
    /// One pass: each block waits for the prefix of the block before, and publishes its own. Memory is read once, and prefixes
    /// travel through n / b blocks one after another. Yan, Long & Zhang, "StreamScan", PPoPP 2013.
    Chained,
    /// One pass: a block publishes its aggregate at once, and adds up those of the blocks before it, one after the other, until it meets
    /// a prefix: up to as many as blocks run at a time. Merrill & Garland, "Single-pass parallel prefix scan with
    /// decoupled look-back", NVR-2016-002, 2016.
    LookBackThread,
    /// The same with a window of 32 blocks, read and added up by a warp at once, as in the same paper.
    LookBackWarp,
    /// The same with 4 consecutive records for each thread, in registers from load to store, moved in accesses of up to 16
    /// bytes. Work 2n and a little: the threads' own records are added one after the other.
    Coarsened4,
    /// The same with 8 records.
    Coarsened8,
    /// The same with 12 records.
    Coarsened12,
    /// The same with 16 records.
    Coarsened16,
    /// Ours for columns at any address: tiles in shared memory, look-back by groups of fixed tiles, so that floats are rounded the same way in
    /// every run. See [`Schedule::LookBack`](monoscan_codegen::gpu::Schedule::LookBack).
    LookBack,
    /// Ours where blocks can copy in bulk: persistent blocks, a reduction that runs ahead of the replay, and look-ahead. See
    /// [`Schedule::Ring`](monoscan_codegen::gpu::Schedule::Ring).
    Ring,
}

/// The parts of a rung's kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Design {
    /// How the threads of a block put their states together.
    pub(super) block: BlockScan,
    /// How blocks do.
    pub(super) between: Between,
    /// Threads of a block, a power of two.
    pub(super) threads: usize,
    /// Consecutive records of a thread.
    pub(super) records: usize,
}

/// How blocks put their states together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Between {
    ThreePass,
    Chained,
    LookBack(Window),
}

struct Row {
    rung: Rung,
    name: &'static str,
    /// None for ours, which are kernels of their own.
    design: Option<Design>,
}

const SHUFFLE: BlockScan = BlockScan::Warps(Exchange::Shuffle);

/// A rung with a record for each thread.
const fn plain(rung: Rung, name: &'static str, block: BlockScan, between: Between) -> Row {
    Row { rung, name, design: Some(Design { block, between, threads: 512, records: 1 }) }
}

const fn coarsened(rung: Rung, name: &'static str, records: usize) -> Row {
    let between = Between::LookBack(Window::Warp);
    Row { rung, name, design: Some(Design { block: SHUFFLE, between, threads: 256, records }) }
}

const TABLE: [Row; 14] = [
    plain(Rung::HillisSteele, "hillis-steele", BlockScan::HillisSteele, Between::ThreePass),
    plain(Rung::Blelloch, "blelloch", BlockScan::Blelloch(Banks::Plain), Between::ThreePass),
    plain(Rung::BlellochPadded, "blelloch-padded", BlockScan::Blelloch(Banks::Padded), Between::ThreePass),
    plain(Rung::ThreePassShared, "three-pass-shared", BlockScan::Warps(Exchange::Shared), Between::ThreePass),
    plain(Rung::ThreePassShuffle, "three-pass-shuffle", SHUFFLE, Between::ThreePass),
    plain(Rung::Chained, "chained", SHUFFLE, Between::Chained),
    plain(Rung::LookBackThread, "look-back-thread", SHUFFLE, Between::LookBack(Window::Thread)),
    plain(Rung::LookBackWarp, "look-back-warp", SHUFFLE, Between::LookBack(Window::Warp)),
    coarsened(Rung::Coarsened4, "coarsened-4", 4),
    coarsened(Rung::Coarsened8, "coarsened-8", 8),
    coarsened(Rung::Coarsened12, "coarsened-12", 12),
    coarsened(Rung::Coarsened16, "coarsened-16", 16),
    Row { rung: Rung::LookBack, name: "look-back", design: None },
    Row { rung: Rung::Ring, name: "ring", design: None },
];

impl Rung {
    /// All of them, from the bottom of the ladder.
    pub const ALL: [Rung; 14] = {
        let mut all = [Rung::Ring; 14];
        let mut place = 0;
        while place < all.len() {
            all[place] = TABLE[place].rung;
            place += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.rung == self).expect("every rung has a row")
    }

    /// Its name, as in `look-back-warp`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The rung of this name.
    pub fn from_name(name: &str) -> Option<Rung> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.rung)
    }

    /// How often it reads the input. It writes the output once, so it moves as much as a copy where it reads once.
    pub fn reads(self) -> usize {
        match self.design().map(|design| design.between) {
            Some(Between::ThreePass) => 2,
            _ => 1,
        }
    }

    pub(super) fn design(self) -> Option<Design> {
        self.row().design
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_has_a_name_of_its_own() {
        for rung in Rung::ALL {
            assert_eq!(Rung::from_name(rung.name()), Some(rung));
            assert_eq!(rung.to_string(), rung.name());
        }
        assert_eq!(Rung::from_name("look-back-warps"), None);
    }

    #[test]
    fn all_rungs_are_in_the_order_of_the_ladder() {
        let places = Rung::ALL.map(|rung| rung as usize);
        assert!(places.iter().enumerate().all(|(place, &rung)| place == rung), "{places:?}");
    }

    #[test]
    fn only_three_passes_read_twice() {
        let twice: Vec<&str> = Rung::ALL.iter().filter(|rung| rung.reads() == 2).map(|rung| rung.name()).collect();
        assert_eq!(twice, ["hillis-steele", "blelloch", "blelloch-padded", "three-pass-shared", "three-pass-shuffle"]);
    }
}

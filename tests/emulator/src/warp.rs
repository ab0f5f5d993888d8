//! Warps: intrinsics that all 32 lanes call together.

use crate::error::Misuse;
use crate::intrinsic::Intrinsic;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// An intrinsic of a warp while lanes come to it.
#[derive(Clone)]
pub(crate) struct Meeting {
    /// The lanes that have come.
    came: u32,
    /// The call that the first lane came to; the others must come to the same.
    site: u32,
    values: [u32; LANES],
    deltas: [u32; LANES],
}

impl Default for Meeting {
    fn default() -> Meeting {
        Meeting { came: 0, site: 0, values: [0; LANES], deltas: [0; LANES] }
    }
}

impl Meeting {
    /// The call that lanes wait at, if any do, and which ones.
    pub(crate) fn waiting(&self) -> Option<(u32, u32)> {
        (self.came != 0).then_some((self.site, self.came))
    }

    /// A lane comes; says whether all have.
    pub(crate) fn come(&mut self, lane: usize, site: u32, value: u32, delta: u32) -> bool {
        self.site = site;
        self.values[lane] = value;
        self.deltas[lane] = delta;
        self.came |= 1 << lane;
        self.came == u32::MAX
    }

    /// The result of each lane, when all have come; the next meeting may begin.
    pub(crate) fn end(&mut self, intrinsic: Intrinsic) -> Result<[u32; LANES], Misuse> {
        self.came = 0;
        let from = |lane: usize| match intrinsic {
            // As on the hardware, only five bits of a distance count.
            Intrinsic::ShuffleUp => lane.checked_sub(self.deltas[lane] as usize % LANES).unwrap_or(lane),
            Intrinsic::ShuffleDown => {
                Some(lane + self.deltas[lane] as usize % LANES).filter(|&from| from < LANES).unwrap_or(lane)
            }
            Intrinsic::ShuffleFrom => self.deltas[lane] as usize % LANES,
            _ => lane,
        };
        if intrinsic == Intrinsic::ShuffleFrom && self.deltas.iter().any(|&delta| delta != self.deltas[0]) {
            return Err(Misuse::Diverged("they shuffle from different lanes".to_owned()));
        }
        let ballot = self.values.iter().enumerate().fold(0, |word, (lane, &value)| word | (value & 1) << lane);
        Ok(std::array::from_fn(|lane| if intrinsic == Intrinsic::Ballot { ballot } else { self.values[from(lane)] }))
    }
}

//! Intrinsics of words that blocks write for each other.

use super::{aligned, low};
use crate::device::Access;
use crate::error::Misuse;
use crate::jit::Pair;
use crate::machine::{Machine, Next};

impl Machine {
    pub(super) fn load(&mut self, address: u64, bytes: usize, access: Access) -> Result<Next, Misuse> {
        aligned(address, bytes)?;
        let who = self.who(self.current);
        let place = self.device.place(address, bytes)?;
        self.device.check(place, who.block, access)?;
        let mut read = [0; 16];
        self.device.load(place, &mut read[..bytes]);
        self.stores.overlay(who, place, &mut read[..bytes]);
        let both = u128::from_le_bytes(read);
        Ok(self.soon_switch(Pair { low: both as u64, high: (both >> 64) as u64 }))
    }

    pub(super) fn store(&mut self, address: u64, bytes: &[u8]) -> Result<Next, Misuse> {
        self.change();
        aligned(address, bytes.len())?;
        let who = self.who(self.current);
        let place = self.device.place(address, bytes.len())?;
        self.device.claim(place, who.block, Access::ForOthers)?;
        self.stores.push(who, place, bytes);
        Ok(self.maybe_switch(Pair::default()))
    }

    /// Adds to so many bytes.
    pub(super) fn add(&mut self, address: u64, value: u64, bytes: usize) -> Result<Next, Misuse> {
        self.change();
        aligned(address, bytes)?;
        let who = self.who(self.current);
        let place = self.device.place(address, bytes)?;
        self.device.claim(place, who.block, Access::ForOthers)?;
        self.stores.settle(who, place, &mut self.device);
        let mut word = [0; 8];
        self.device.load(place, &mut word[..bytes]);
        let before = u64::from_le_bytes(word);
        self.device.store(place, &before.wrapping_add(value).to_le_bytes()[..bytes]);
        Ok(self.maybe_switch(low(before)))
    }
}

//! Checks of an ordinary load or store.

use super::aligned;
use crate::device;
use crate::error::Misuse;
use crate::machine::Machine;
use crate::site::{Access, Space};

impl Machine {
    pub(super) fn check_access(&mut self, access: Access, address: u64) -> Result<(), Misuse> {
        aligned(address, access.align)?;
        let place = address as usize;
        let arguments = self.arguments.address();
        match access.space {
            Space::Shared => self.touch_shared(access, place),
            Space::Device => self.touch_device(access, address),
            // A generic address is told by its value.
            Space::Generic if self.here().0.shared.offset(place, 1).is_ok() => self.touch_shared(access, place),
            Space::Generic if self.device.place(address, 1).is_ok() => self.touch_device(access, address),
            Space::Generic if (arguments..arguments + self.arguments.len()).contains(&place) => {
                match self.arguments.offset(place, access.bytes) {
                    Some(_) => Ok(()),
                    None => {
                        let place = format!("byte {}", place - arguments);
                        Err(Misuse::Outside { bytes: access.bytes, place, memory: "the arguments" })
                    }
                }
            }
            // The stack of the thread, or a constant of the module.
            Space::Generic => Ok(()),
        }
    }

    fn touch_shared(&mut self, access: Access, address: usize) -> Result<(), Misuse> {
        let Machine { blocks, random, current, threads_per_block, .. } = self;
        let (block, thread) = (&mut blocks[*current / *threads_per_block], *current % *threads_per_block);
        let offset = block.shared.offset(address, access.bytes)?;
        match access.write {
            true => block.shared.write(thread, offset, access.bytes, &block.order),
            false => block.shared.read(thread, offset, access.bytes, &block.order, random),
        }
    }

    fn touch_device(&mut self, access: Access, address: u64) -> Result<(), Misuse> {
        let number = self.here().0.number;
        let place = self.device.place(address, access.bytes)?;
        match access.write {
            true => self.device.claim(place, number, device::Access::Ordinary),
            false => self.device.check(place, number, device::Access::Ordinary),
        }
    }
}

//! Places where matches end in a text that is in the memory of a GPU; they stay there.

use monoscan_runtime::{Device, DeviceError, DynScan, Error as ScanError};

use super::super::compiled::expect_places;
use super::{Engine, PatternSet, PatternSetError};
use crate::scan::{DeviceVec, Plain, Unzipped};

/// Columns of places where matches end, from left to right, in the memory of a GPU: what [`PatternSet::ends_on_device`] gives.
#[derive(Debug)]
pub struct DeviceMatchEnds {
    ends: DeviceVec<u32>,
    sets: DeviceVec<u16>,
}

impl DeviceMatchEnds {
    /// Space for the places of a text, one more than it has bytes, in its stream.
    fn space(text: &DeviceVec<u8>) -> Result<DeviceMatchEnds, ScanError> {
        let places = text.len() + 1;
        Ok(DeviceMatchEnds { ends: DeviceVec::beside(text, places)?, sets: DeviceVec::beside(text, places)? })
    }

    /// The same in this memory, if it is there and large enough.
    fn make_space(&mut self, text: &DeviceVec<u8>) -> Result<(), ScanError> {
        if self.ends.device() != text.device() || self.ends.capacity() <= text.len() {
            *self = DeviceMatchEnds::space(text)?;
        }
        Ok(())
    }

    fn set_len(&mut self, places: usize) {
        self.ends.set_len(places);
        self.sets.set_len(places);
    }

    /// The offset behind the last byte of the matches, for each place.
    pub fn ends(&self) -> &DeviceVec<u32> {
        &self.ends
    }

    /// Which patterns match there, as a number that [`PatternSet::patterns_of`] takes.
    pub fn sets(&self) -> &DeviceVec<u16> {
        &self.sets
    }

    /// How many places.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PatternSet {
    /// Where matches end in a text in the memory of the set's GPU, left there: the places that [`ends`](PatternSet::ends) gives. They
    /// take six bytes of space for each byte of the text, and six more. It is one scan, which is waited for, as the number of places is.
    ///
    /// ```no_run
    /// use monoscan::{Device, DeviceVec, lexer::PatternSet};
    ///
    /// let gpu = Device::cuda(0)?;
    /// let set = PatternSet::new(["a+b", "(?m)b$"])?.on(gpu)?;
    /// let found = set.ends_on_device(&DeviceVec::upload(&gpu, b"aab abb")?)?;
    /// assert_eq!(found.ends().to_vec()?, [3, 6, 7]);
    /// let patterns: Vec<&[usize]> = found.sets().to_vec()?.into_iter().map(|number| set.patterns_of(number)).collect();
    /// assert_eq!(patterns, [[0], [0], [1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PatternSetError::Scan`], with [`DeviceError::Elsewhere`] if the set is for the CPU or for another GPU,
    /// [`ScanError::TextTooLong`] from 4 GB on, or [`ScanError::Cuda`] if the device fails, has too little memory, or the text's stream
    /// is being captured.
    pub fn ends_on_device(&self, text: &DeviceVec<u8>) -> Result<DeviceMatchEnds, PatternSetError> {
        self.expect_here(text)?;
        let mut found = DeviceMatchEnds::space(text)?;
        self.ends_on_device_into(text, &mut found)?;
        Ok(found)
    }

    /// [`ends_on_device`](PatternSet::ends_on_device) into old columns, whose places are dropped; their memory is used again if it is
    /// that of a text at least as long.
    ///
    /// # Errors
    /// Those of [`ends_on_device`](PatternSet::ends_on_device); the columns hold anything then.
    pub fn ends_on_device_into(
        &self,
        text: &DeviceVec<u8>,
        found: &mut DeviceMatchEnds,
    ) -> Result<(), PatternSetError> {
        let scan = self.expect_here(text)?;
        expect_places(text.len())?;
        text.memory().expect_no_capture("one that is not, as the number of places is waited for")?;
        found.make_space(text)?;
        let before = self.write_start(text, found)?;
        found.set_len(before + text.len());
        let DeviceMatchEnds { ends, sets } = &mut *found;
        let columns = (ends.strided_mut(before, 1)?, sets.strided_mut(before, 1)?);
        let places = Plain::<u8, Unzipped<(u32, u16)>>::of(scan).inclusive_into(text, columns)?.wait()?;
        found.set_len(before + places);
        Ok(())
    }

    /// Writes the start of the text as the first place, if a match ends there; gives how many places that were.
    fn write_start(&self, text: &DeviceVec<u8>, found: &mut DeviceMatchEnds) -> Result<usize, ScanError> {
        // Most patterns match no empty string, and nothing is waited for.
        if !self.automaton.has_sets_at_start() {
            return Ok(0);
        }
        let set = self.automaton.set_at_start(text.first()?);
        if set == 0 {
            return Ok(0);
        }
        found.ends.write(&[0])?;
        found.sets.write(&[set])?;
        Ok(1)
    }

    /// The scan of texts in device memory, of which this is one of the set's device.
    fn expect_here(&self, text: &DeviceVec<u8>) -> Result<&DynScan, PatternSetError> {
        let device = match &self.engine {
            Engine::Scan(scan) => *scan.device(),
            Engine::Walk(_) => Device::cpu(),
        };
        if device != text.device() {
            let elsewhere = DeviceError::Elsewhere { side: "text", expected: device, got: text.device() };
            return Err(ScanError::Device(elsewhere).into());
        }
        if let Some(scan) = self.on_device.get() {
            return Ok(scan);
        }
        let made = DynScan::builder(self.column_program()?).device(device).build()?;
        Ok(self.on_device.get_or_init(|| made))
    }
}

//! Records moved about in device memory: what algorithms need between scans, by helper kernels.
//!
//! For `monoscan::algo` alone. Whatever is given to it is ordered by the streams of its memory, as
//! scans are: each call waits for what its columns were last used for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use monoscan_codegen::nvptx::{
    HELPER_THREADS, HelperKernel, MOST_OF_BLOCK, PartitionArguments, SplitArguments, StartsArguments, Width,
};

use super::helpers::{Helpers, Loaded};
use super::variant::Maker;
use crate::cuda::{Device, Stream};
use crate::device::DeviceError;
use crate::device_memory::DeviceMemory;
use crate::error::Error;

/// The kernels that were needed, by the number of their device.
static LOADED: Mutex<Option<HashMap<usize, Arc<OnDevice>>>> = Mutex::new(None);

struct OnDevice {
    maker: Maker,
    helpers: Helpers,
}

fn helper(device: &Device, helper: HelperKernel) -> Result<Arc<Loaded>, Error> {
    let lock = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().as_ref().and_then(|all| all.get(&device.ordinal()).cloned());
    let known = match known {
        Some(known) => known,
        None => {
            let made = Arc::new(OnDevice { maker: Maker::new(device)?, helpers: Helpers::default() });
            lock().get_or_insert_default().entry(device.ordinal()).or_insert(made).clone()
        }
    };
    known.helpers.get(helper, &known.maker)
}

const NO_CAPTURE: &str = "one that is not being captured, for an algorithm";

/// Refuses memory of another device than the stream's, and memory that was last used in another stream which is being captured.
fn expect_here(memory: &DeviceMemory, side: &'static str, stream: &Stream) -> Result<(), Error> {
    let (expected, got) = (stream.device().into(), memory.device());
    if got != expected {
        return Err(DeviceError::Elsewhere { side, expected, got }.into());
    }
    if memory.stream().raw() == stream.raw() { Ok(()) } else { memory.expect_no_capture(NO_CAPTURE) }
}

/// Gives a helper kernel to a stream: after what writes these columns, and before whatever is to write or read them.
///
/// # Safety
/// These are the kernel's arguments, and what they name lies in these columns.
unsafe fn launch(
    (kernel, blocks): (HelperKernel, usize),
    arguments: &[u8],
    stream: &Stream,
    read: &[&DeviceMemory],
    written: &mut [&mut DeviceMemory],
) -> Result<(), Error> {
    in_order(stream, read, written, || {
        // SAFETY: the caller says so. Kernels are kept for good, and memory that is freed waits for the device's work.
        unsafe { helper(stream.device(), kernel)?.launch(blocks, arguments, stream) }
    })
}

/// Gives work to a stream that is not being captured: after what writes these columns, and before whatever is to write or read
/// them.
pub(super) fn in_order(
    stream: &Stream,
    read: &[&DeviceMemory],
    written: &mut [&mut DeviceMemory],
    give: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    // Which context is current is looked up once for all calls of the driver.
    let _bound = stream.device().bind()?;
    stream.expect_no_capture(NO_CAPTURE)?;
    read.iter().try_for_each(|memory| expect_here(memory, "input", stream))?;
    written.iter().try_for_each(|memory| expect_here(memory, "output", stream))?;
    read.iter().copied().chain(written.iter().map(|memory| &**memory)).try_for_each(|memory| memory.before(stream))?;
    give()?;
    read.iter().try_for_each(|memory| memory.after(stream))?;
    written.iter_mut().for_each(|memory| memory.written_in(stream));
    Ok(())
}

/// A digit of the keys of a column, by which records are split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    /// How many records, fewer than 2³².
    pub records: usize,
    /// Bytes of a key: 1, 2, 4 or 8.
    pub key: usize,
    /// Bytes of the values that move along: 4 or 8, or none.
    pub value: Option<usize>,
    /// The bit at which it begins, of the number of a key: the key with `signs` flipped if its highest bit is set, and then
    /// `flips`.
    pub shift: u32,
    /// See `shift`.
    pub signs: u64,
    /// See `shift`.
    pub flips: u64,
}

impl Digit {
    /// Values of a digit.
    pub const COUNT: usize = 256;

    /// How many blocks split the records on this device. Their counts are those of all blocks for the first digit, then for the
    /// next.
    pub fn blocks(&self, device: &Device) -> usize {
        self.records.div_ceil(self.of_block(device))
    }

    /// Records of a block: several tiles, if every multiprocessor has blocks enough.
    fn of_block(&self, device: &Device) -> usize {
        let tile = self.kernel().tile();
        tile * tiles_of_block(self.records, tile, device).min(MOST_OF_BLOCK / tile)
    }

    fn width(&self) -> Width {
        Width::of(self.key).expect("keys are 1, 2, 4 or 8 bytes")
    }

    fn kernel(&self) -> HelperKernel {
        HelperKernel::Split(self.width(), self.value.map(|bytes| Width::of(bytes).expect("values are 4 or 8 bytes")))
    }

    fn arguments(&self, stream: &Stream, keys: &DeviceMemory, counts: &DeviceMemory) -> SplitArguments {
        let counts_needed = 4 * Digit::COUNT * self.blocks(stream.device());
        assert!(keys.len() >= self.records * self.key && counts.len() >= counts_needed, "columns of so many");
        assert!(self.shift as usize + 8 <= 8 * self.key, "a digit of the keys");
        SplitArguments {
            records: self.records as u64,
            of_block: self.of_block(stream.device()) as u64,
            keys: keys.address(),
            shift: self.shift.into(),
            signs: self.signs,
            flips: self.flips,
            counts: counts.address(),
            keys_to: 0,
            values: 0,
            values_to: 0,
        }
    }

    /// Counts the digits of each block.
    ///
    /// # Errors
    /// No kernel could be made, or the driver fails.
    ///
    /// # Panics
    /// A column is too short.
    #[doc(hidden)]
    pub fn count(&self, keys: &DeviceMemory, counts: &mut DeviceMemory) -> Result<(), Error> {
        let stream = keys.stream().clone();
        let arguments = self.arguments(&stream, keys, counts);
        let blocks = self.blocks(stream.device());
        // SAFETY: keys and counts are as long as the kernel takes them to be.
        unsafe {
            let kernel = (HelperKernel::Count(self.width()), blocks);
            launch(kernel, bytemuck::bytes_of(&arguments), &stream, &[keys], &mut [counts])
        }
    }

    /// Moves records by their digits, to where the exclusive sums of their counts say: the keys if `keys_to` is given, and the
    /// values if there are any, which are the records' numbers if no column of them is given.
    ///
    /// # Errors
    /// As [`count`](Digit::count).
    ///
    /// # Panics
    /// A column is too short.
    ///
    /// # Safety
    /// The sums are those of the counts of these keys.
    #[doc(hidden)]
    pub unsafe fn split(
        &self,
        (keys, sums): (&DeviceMemory, &DeviceMemory),
        keys_to: Option<&mut DeviceMemory>,
        values: Option<(Option<&DeviceMemory>, &mut DeviceMemory)>,
    ) -> Result<(), Error> {
        assert_eq!(values.is_some(), self.value.is_some(), "values where they move along");
        let stream = keys.stream().clone();
        let mut arguments = self.arguments(&stream, keys, sums);
        let (mut read, mut written) = (vec![keys, sums], Vec::new());
        if let Some(to) = keys_to {
            assert!(to.len() >= self.records * self.key, "space for all keys");
            arguments.keys_to = to.address();
            written.push(to);
        }
        if let (Some((from, to)), Some(bytes)) = (values, self.value) {
            assert!(to.len() >= self.records * bytes, "space for all values");
            assert!(from.is_none_or(|from| from.len() >= self.records * bytes), "a value for each key");
            arguments.values = from.map_or(0, DeviceMemory::address);
            arguments.values_to = to.address();
            read.extend(from);
            written.push(to);
        }
        let blocks = self.blocks(stream.device());
        // SAFETY: all columns are as long as the kernel takes them to be, and the sums, says the caller, lead into them.
        unsafe { launch((self.kernel(), blocks), bytemuck::bytes_of(&arguments), &stream, &read, &mut written) }
    }
}

/// Records that are parted by flags, a byte each, of which the lowest bit counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// How many records, fewer than 2³².
    pub records: usize,
    /// Bytes of the values that move: 1, 2, 4 or 8.
    pub value: usize,
}

impl Partition {
    /// How many blocks part the records on this device, one at least. Their counts are so many words, and one more.
    pub fn blocks(&self, device: &Device) -> usize {
        self.records.div_ceil(self.of_block(device)).max(1)
    }

    /// Records of a block: several tiles, if every multiprocessor has blocks enough.
    fn of_block(&self, device: &Device) -> usize {
        tiles_of_block(self.records, self.kernel().tile(), device) * self.kernel().tile()
    }

    fn kernel(&self) -> HelperKernel {
        HelperKernel::Partition(Width::of(self.value).expect("values are 1, 2, 4 or 8 bytes"))
    }

    fn arguments(&self, stream: &Stream, flags: &DeviceMemory, counts: &DeviceMemory) -> PartitionArguments {
        let counts_needed = 4 * (self.blocks(stream.device()) + 1);
        assert!(flags.len() >= self.records && counts.len() >= counts_needed, "columns of so many");
        PartitionArguments {
            records: self.records as u64,
            of_block: self.of_block(stream.device()) as u64,
            flags: flags.address(),
            counts: counts.address(),
            values: 0,
            values_to: 0,
            set: 0,
        }
    }

    /// Counts the flags of each block.
    ///
    /// # Errors
    /// As [`Digit::count`].
    ///
    /// # Panics
    /// A column is too short.
    #[doc(hidden)]
    pub fn count(&self, flags: &DeviceMemory, counts: &mut DeviceMemory) -> Result<(), Error> {
        let stream = flags.stream().clone();
        let arguments = self.arguments(&stream, flags, counts);
        let kernel = (HelperKernel::CountFlags, self.blocks(stream.device()));
        // SAFETY: flags and counts are as long as the kernel takes them to be.
        unsafe { launch(kernel, bytemuck::bytes_of(&arguments), &stream, &[flags], &mut [counts]) }
    }

    /// Moves the values of records whose flags are set to the begin of a column, and the others behind them; these are the records'
    /// numbers if no values are given. Tells how many are set, if that is asked.
    ///
    /// # Errors
    /// As [`Digit::count`].
    ///
    /// # Panics
    /// A column is too short.
    ///
    /// # Safety
    /// The sums are those of the counts of these flags.
    #[doc(hidden)]
    pub unsafe fn part(
        &self,
        (flags, sums): (&DeviceMemory, &DeviceMemory),
        (values, to): (Option<&DeviceMemory>, &mut DeviceMemory),
        set: Option<&mut DeviceMemory>,
    ) -> Result<(), Error> {
        assert!(to.len() >= self.records * self.value, "space for all values");
        assert!(values.is_none_or(|values| values.len() >= self.records * self.value), "a value for each flag");
        assert!(set.as_ref().is_none_or(|set| set.len() >= size_of::<u32>()), "space for how many are set");
        let stream = flags.stream().clone();
        let arguments = PartitionArguments {
            values: values.map_or(0, DeviceMemory::address),
            values_to: to.address(),
            set: set.as_ref().map_or(0, |set| set.address()),
            ..self.arguments(&stream, flags, sums)
        };
        let kernel = (self.kernel(), self.blocks(stream.device()));
        let read: Vec<&DeviceMemory> = [flags, sums].into_iter().chain(values).collect();
        let mut written: Vec<&mut DeviceMemory> = [to].into_iter().chain(set).collect();
        // SAFETY: all columns are as long as the kernel takes them to be, and the sums, says the caller, lead into them.
        unsafe { launch(kernel, bytemuck::bytes_of(&arguments), &stream, &read, &mut written) }
    }
}

/// How many tiles a block takes, so that every multiprocessor has blocks enough.
fn tiles_of_block(records: usize, tile: usize, device: &Device) -> usize {
    /// Blocks for a multiprocessor: some run side by side, and the last ones should not leave it idle for long.
    const BLOCKS: usize = 16;
    (records / (tile * BLOCKS * device.facts().multiprocessors as usize)).max(1)
}

/// The record at each of these places, numbered by `u32`; a place behind the last record counts as its own.
///
/// # Errors
/// There is too little memory, no kernel could be made, or the driver fails.
///
/// # Panics
/// There are no records, or fewer places.
pub fn look_up(
    (from, count, bytes): (&DeviceMemory, usize, usize),
    (places, records): (&DeviceMemory, usize),
    to: &mut DeviceMemory,
) -> Result<(), Error> {
    assert!(count > 0 && from.len() >= count * bytes && places.len() >= 4 * records && to.len() >= records * bytes);
    let stream = places.stream().clone();
    let arguments = StartsArguments {
        records: records as u64,
        numbers: places.address(),
        states: from.address(),
        count: count as u64,
        bytes: bytes as u64,
        starts: to.address(),
    };
    let kernel = (HelperKernel::Starts, records.div_ceil(HELPER_THREADS));
    // SAFETY: the columns are as long as the kernel takes them to be; places are held below `count`.
    unsafe { launch(kernel, bytemuck::bytes_of(&arguments), &stream, &[from, places], &mut [to]) }
}

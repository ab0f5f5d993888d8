//! Splits and sorts by the digits of keys.
//!
//! In a split, blocks of records are counted, a scan adds up the counts of all blocks, digit by
//! digit, and each block moves its records. A [`partition`](crate::algo::select::partition) is the
//! split by one bit, which a kernel of its own makes at 0.8 of the speed of memory: flags are read
//! twice, records read and written once. A radix sort splits by each byte of the keys, the least
//! first. Per byte and record of k bytes it reads the key twice and writes it once, so 3 k bytes
//! move; of values 2 bytes for each of theirs. The scan's program is a count ↦ itself, added up.

use monoscan_runtime::DeviceMemory;
use monoscan_runtime::gpu::moves::{Digit, Partition};

use super::{Workspace, encode, expect_no_capture, look_up, look_up_into};
use crate::algo::sort::{Order, SortKey};
use crate::algo::{AlgoError, check_length, compiled_for, counted};
use crate::ops::Sum;
use crate::prelude::*;
use crate::scan::DeviceVec;
use crate::{Device, Error, Rows};

/// The digits of keys, the least first.
fn digits<K: SortKey>(records: usize, order: Order, value: Option<usize>) -> impl Iterator<Item = Digit> {
    let mask = u64::MAX >> (u64::BITS as usize - 8 * size_of::<K>());
    let flips = K::ZERO.ordered();
    // Only a float has other bits that count the other way round, below a sign.
    let signs = if K::IS_FLOAT { flips - 1 } else { 0 };
    let flips = (flips ^ order.flipped()) & mask;
    let digit = move |byte| Digit { records, key: size_of::<K>(), value, shift: 8 * byte as u32, signs, flips };
    (0..size_of::<K>()).map(digit)
}

/// Where each block puts its first record of each digit, once these are counted.
fn sums<K: ScanType>(digit: &Digit, keys: &DeviceVec<K>, space: &mut Workspace) -> Result<DeviceVec<u32>, AlgoError> {
    let device = keys.device();
    let len = Digit::COUNT * digit.blocks(cuda(&device));
    let mut sums = space.take(COUNTS, keys, len)?;
    digit.count(keys.memory(), sums.memory_mut())?;
    scan_of_counts(device)?.exclusive_in_place(&mut sums)?;
    Ok(sums)
}

/// One for keys of all types.
fn scan_of_counts(device: Device) -> Result<&'static Scan<Sum<u32>, (u32,), u32>, Error> {
    compiled_for(device, |device| Scan::<Sum<u32>>::plain()?.on(device))
}

/// The memory that a workspace keeps for splits.
const COUNTS: usize = 0;
const KEYS: usize = 1;
const VALUES: usize = 2;
const OTHER_KEYS: usize = 3;

impl Workspace {
    /// [`sort()`], with this memory.
    ///
    /// # Errors
    /// As there.
    pub fn sort<K: SortKey>(&mut self, keys: &mut DeviceVec<K>, order: Order) -> Result<(), AlgoError> {
        expect_no_capture([keys.memory()])?;
        let len = keys.len();
        counted(len)?;
        let mut spare = self.take(KEYS, keys, len)?;
        let (mut from, mut to) = (&mut *keys, &mut spare);
        for digit in digits::<K>(len, order, None) {
            let sums = sums(&digit, from, self)?;
            // SAFETY: these are the sums of these keys' counts.
            unsafe { digit.split((from.memory(), sums.memory()), Some(to.memory_mut()), None) }?;
            self.keep(COUNTS, sums);
            std::mem::swap(&mut from, &mut to);
        }
        if size_of::<K>() == 1 {
            keys.memory_mut().copy_from(spare.memory(), len)?;
        }
        self.keep(KEYS, spare);
        Ok(())
    }

    /// [`sort_with_values`], with this memory. Values of 4 or 8 bytes move with their keys; others are looked up by their places, in
    /// new vectors.
    ///
    /// # Errors
    /// As there.
    pub fn sort_with_values<K: SortKey, V: ScanType>(
        &mut self,
        keys: &mut DeviceVec<K>,
        values: &mut DeviceVec<V>,
        order: Order,
    ) -> Result<(), AlgoError> {
        expect_no_capture([keys.memory(), values.memory()])?;
        let len = keys.len();
        check_length("values", len, values.len())?;
        counted(len)?;
        if !moves_along::<V>() || size_of::<K>() == 1 {
            let places = argsort(keys, order)?;
            let (sorted, moved) = (look_up(keys, &places)?, look_up(values, &places)?);
            keys.memory_mut().copy_from(sorted.memory(), len * size_of::<K>())?;
            return Ok(values.memory_mut().copy_from(moved.memory(), len * size_of::<V>())?);
        }
        let (mut spare, mut spare_values) = (self.take(KEYS, keys, len)?, self.take(VALUES, keys, len)?);
        let (mut from, mut to) = ((&mut *keys, &mut *values), (&mut spare, &mut spare_values));
        for digit in digits::<K>(len, order, Some(size_of::<V>())) {
            let sums = sums(&digit, from.0, self)?;
            let moved = (Some(from.1.memory()), to.1.memory_mut());
            // SAFETY: these are the sums of these keys' counts.
            unsafe { digit.split((from.0.memory(), sums.memory()), Some(to.0.memory_mut()), Some(moved)) }?;
            self.keep(COUNTS, sums);
            std::mem::swap(&mut from, &mut to);
        }
        self.keep(KEYS, spare);
        self.keep(VALUES, spare_values);
        Ok(())
    }

    /// [`partition`] into a vector of the same length, with this memory; gives how many are set, for which it waits.
    ///
    /// # Errors
    /// As there; also if `parts` is not as long as `x`.
    pub fn partition_into<T: ScanType>(
        &mut self,
        x: &DeviceVec<T>,
        flags: &DeviceVec<bool>,
        parts: &mut DeviceVec<T>,
    ) -> Result<usize, AlgoError> {
        let sums = self.parted(x, flags, parts, None)?;
        let set = sums.memory().word(sums.len() - 1)? as usize;
        self.keep(COUNTS, sums);
        Ok(set)
    }

    /// The same, but how many are set stays on the device, as the one record of `set`, and nobody waits for it.
    ///
    /// # Errors
    /// As there; also if `set` has not one record.
    pub fn partition_on_device<T: ScanType>(
        &mut self,
        x: &DeviceVec<T>,
        flags: &DeviceVec<bool>,
        parts: &mut DeviceVec<T>,
        set: &mut DeviceVec<u32>,
    ) -> Result<(), AlgoError> {
        expect_no_capture([set.memory()])?;
        check_length("set", 1, set.len())?;
        let sums = self.parted(x, flags, parts, Some(set.memory_mut()))?;
        self.keep(COUNTS, sums);
        Ok(())
    }

    /// Records by their flags. Gives how many are set before each block of them, and then of all.
    fn parted<T: ScanType>(
        &mut self,
        x: &DeviceVec<T>,
        flags: &DeviceVec<bool>,
        parts: &mut DeviceVec<T>,
        set: Option<&mut DeviceMemory>,
    ) -> Result<DeviceVec<u32>, AlgoError> {
        expect_no_capture([x.memory(), flags.memory(), parts.memory()])?;
        check_length("flags", x.len(), flags.len())?;
        check_length("parts", x.len(), parts.len())?;
        counted(x.len())?;
        let moves = matches!(size_of::<T>(), 1 | 2 | 4 | 8) && align_of::<T>() == size_of::<T>();
        let value = if moves { size_of::<T>() } else { size_of::<u32>() };
        let partition = Partition { records: x.len(), value };
        let device = flags.device();
        let mut sums = self.take(COUNTS, flags, partition.blocks(cuda(&device)) + 1)?;
        partition.count(flags.memory(), sums.memory_mut())?;
        scan_of_counts(device)?.exclusive_in_place(&mut sums)?;
        let known = (flags.memory(), sums.memory());
        // SAFETY: these are the sums of these flags' counts.
        unsafe {
            if moves {
                partition.part(known, (Some(x.memory()), parts.memory_mut()), set)?;
            } else {
                let mut places = self.take(VALUES, flags, x.len())?;
                partition.part(known, (None, places.memory_mut()), set)?;
                look_up_into(x, &places, parts)?;
                self.keep(VALUES, places);
            }
        }
        Ok(sums)
    }

    /// [`partition3`] into a vector of the same length, with this memory; gives how many there are of each class, for which it waits.
    ///
    /// ```no_run
    /// use monoscan::{Device, DeviceVec, algo::on_gpu::Workspace};
    ///
    /// let x = DeviceVec::upload(&Device::cuda(0)?, &[5, 6, 7, 8])?;
    /// let classes = DeviceVec::upload(&Device::cuda(0)?, &[2u8, 0, 1, 0])?;
    /// let mut parts = x.copied()?;
    /// assert_eq!(Workspace::new().partition3_into(&x, &classes, &mut parts)?, [2, 1, 1]);
    /// assert_eq!(parts.to_vec()?, [6, 8, 7, 5]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// As there; also if `parts` is not as long as `x`. Nothing is written then.
    pub fn partition3_into<T: ScanType>(
        &mut self,
        x: &DeviceVec<T>,
        classes: &DeviceVec<u8>,
        parts: &mut DeviceVec<T>,
    ) -> Result<[usize; 3], AlgoError> {
        expect_no_capture([x.memory(), classes.memory(), parts.memory()])?;
        check_length("classes", x.len(), classes.len())?;
        check_length("parts", x.len(), parts.len())?;
        counted(x.len())?;
        let value = if moves_along::<T>() { size_of::<T>() } else { size_of::<u32>() };
        let digit = Digit { records: x.len(), key: 1, value: Some(value), shift: 0, signs: 0, flips: 0 };
        let sums = sums(&digit, classes, self)?;
        let blocks = sums.len() / Digit::COUNT;
        // Where classes 1, 2 and 3 begin.
        let mut starts = [0; 3];
        for (class, start) in (1..).zip(&mut starts).filter(|_| blocks > 0) {
            *start = sums.memory().word(class * blocks)? as usize;
        }
        let [first, second, third] = starts;
        if third < x.len() {
            let classes = classes.to_vec()?;
            let record = classes.iter().position(|&class| class > 2).unwrap_or_default();
            return Err(AlgoError::Class { record, expected: 3, got: classes[record].into() });
        }
        let keys = (classes.memory(), sums.memory());
        // SAFETY: these are the sums of these classes' counts.
        unsafe {
            if moves_along::<T>() {
                digit.split(keys, None, Some((Some(x.memory()), parts.memory_mut())))?;
            } else {
                let mut places = self.take(VALUES, classes, x.len())?;
                digit.split(keys, None, Some((None, places.memory_mut())))?;
                look_up_into(x, &places, parts)?;
                self.keep(VALUES, places);
            }
        }
        self.keep(COUNTS, sums);
        Ok([first, second - first, third - second])
    }

    /// [`argsort`] into a vector of the same length, with this memory. Does not wait for the device.
    ///
    /// ```no_run
    /// use monoscan::{Device, DeviceVec, algo::{on_gpu::Workspace, sort::Order}};
    ///
    /// let keys = DeviceVec::upload(&Device::cuda(0)?, &[3.5f32, -1.0, 2.0])?;
    /// let mut places = DeviceVec::upload(&Device::cuda(0)?, &[0u32; 3])?;
    /// Workspace::new().argsort_into(&keys, Order::Ascending, &mut places)?;
    /// assert_eq!(places.to_vec()?, [1, 2, 0]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// As there; also if `places` is not as long as `keys`.
    pub fn argsort_into<K: SortKey>(
        &mut self,
        keys: &DeviceVec<K>,
        order: Order,
        places: &mut DeviceVec<u32>,
    ) -> Result<(), AlgoError> {
        expect_no_capture([keys.memory(), places.memory()])?;
        let len = keys.len();
        check_length("places", len, places.len())?;
        counted(len)?;
        let last = size_of::<K>() - 1;
        // Keys go from one of two vectors to the other, as places do; the last split writes no keys, and the places of the caller.
        let space = |given: usize, len| if given <= last { len } else { 0 };
        let (mut from, mut to) =
            (self.take::<K, _>(OTHER_KEYS, keys, space(2, len))?, self.take(KEYS, keys, space(1, len))?);
        let mut spare = self.take::<u32, _>(VALUES, keys, space(1, len))?;
        for (number, digit) in digits::<K>(len, order, Some(4)).enumerate() {
            let keys = if number == 0 { keys } else { &from };
            let sums = sums(&digit, keys, self)?;
            let is_in_places = (last - number).is_multiple_of(2);
            let (known, moved) = if is_in_places { (&spare, &mut *places) } else { (&*places, &mut spare) };
            let known = (number > 0).then(|| known.memory());
            let keys_to = (number < last).then(|| to.memory_mut());
            // SAFETY: these are the sums of these keys' counts.
            unsafe { digit.split((keys.memory(), sums.memory()), keys_to, Some((known, moved.memory_mut()))) }?;
            self.keep(COUNTS, sums);
            std::mem::swap(&mut from, &mut to);
        }
        self.keep(OTHER_KEYS, from);
        self.keep(KEYS, to);
        self.keep(VALUES, spare);
        Ok(())
    }
}

/// The device of memory, as one of CUDA's.
fn cuda(device: &Device) -> &monoscan_runtime::cuda::Device {
    device.as_cuda().expect("it has memory of a device")
}

/// Whether such values move with their keys.
fn moves_along<V: ScanType>() -> bool {
    matches!(size_of::<V>(), 4 | 8) && align_of::<V>() == size_of::<V>()
}

/// Sorts numbers, stably.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn sort<K: SortKey>(keys: &mut DeviceVec<K>, order: Order) -> Result<(), AlgoError> {
    Workspace::new().sort(keys, order)
}

/// Sorts numbers, stably, and values along with them.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one value for each key; [`AlgoError::TooLong`].
pub fn sort_with_values<K: SortKey, V: ScanType>(
    keys: &mut DeviceVec<K>,
    values: &mut DeviceVec<V>,
    order: Order,
) -> Result<(), AlgoError> {
    Workspace::new().sort_with_values(keys, values, order)
}

/// The places of the keys in order: `keys[argsort[0]]` comes first.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn argsort<K: SortKey>(keys: &DeviceVec<K>, order: Order) -> Result<DeviceVec<u32>, AlgoError> {
    expect_no_capture([keys.memory()])?;
    counted(keys.len())?;
    let mut places = DeviceVec::beside(keys, keys.len())?;
    Workspace::new().argsort_into(keys, order, &mut places)?;
    Ok(places)
}

/// The different values, in order, and how often each occurs. Each NaN counts as a value of its own.
///
/// Keys of one byte are counted in one pass, and the 256 counts come to the host. Others are sorted, as a copy, and
/// their runs encoded.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn histogram<K: SortKey>(x: &DeviceVec<K>) -> Result<(DeviceVec<K>, DeviceVec<u32>), AlgoError> {
    expect_no_capture([x.memory()])?;
    if size_of::<K>() == 1 && !x.is_empty() {
        return histogram_of_bytes(x);
    }
    let mut sorted = x.copied()?;
    sort(&mut sorted, Order::Ascending)?;
    encode(&sorted)
}

/// Of keys of one digit, whose counts are all that there is to know.
fn histogram_of_bytes<K: SortKey>(x: &DeviceVec<K>) -> Result<(DeviceVec<K>, DeviceVec<u32>), AlgoError> {
    counted(x.len())?;
    let digit = digits::<K>(x.len(), Order::Ascending, None).next().expect("a key of one byte has one digit");
    let (device, blocks) = (x.device(), digit.blocks(cuda(&x.device())));
    let mut counts = DeviceVec::<u32>::beside(x, Digit::COUNT * blocks)?;
    digit.count(x.memory(), counts.memory_mut())?;
    let of_digits = Rows::new(Digit::COUNT, blocks, blocks)?;
    let totals = scan_of_counts(device)?.rows(of_digits).totals(&counts)?;
    let occurring = totals.iter().zip(0..).filter(|(total, _)| total.0 > 0);
    let (values, counts): (Vec<K>, Vec<u32>) = occurring.map(|(total, digit)| (K::of_ordered(digit), total.0)).unzip();
    Ok((DeviceVec::upload(&device, &values)?, DeviceVec::upload(&device, &counts)?))
}

/// The records whose flags are set, then the others, each in their order; and how many are set.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record; [`AlgoError::TooLong`].
pub fn partition<T: ScanType>(x: &DeviceVec<T>, flags: &DeviceVec<bool>) -> Result<(DeviceVec<T>, usize), AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    let mut parts = DeviceVec::beside(x, x.len())?;
    let set = Workspace::new().partition_into(x, flags, &mut parts)?;
    Ok((parts, set))
}

/// The records of class 0, then those of 1, then those of 2, each in their order; and how many there are of each.
///
/// # Errors
/// As [`partition`]; [`AlgoError::Class`] if a class is above 2.
pub fn partition3<T: ScanType>(
    x: &DeviceVec<T>,
    classes: &DeviceVec<u8>,
) -> Result<(DeviceVec<T>, [usize; 3]), AlgoError> {
    expect_no_capture([x.memory(), classes.memory()])?;
    check_length("classes", x.len(), classes.len())?;
    counted(x.len())?;
    let mut parts = DeviceVec::beside(x, x.len())?;
    let counts = Workspace::new().partition3_into(x, classes, &mut parts)?;
    Ok((parts, counts))
}

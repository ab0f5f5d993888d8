//! Columns: memory that a scan reads or writes, with the layout that says how to.
//!
//! A [`Column`] or [`ColumnMut`] borrows memory and names the layout of the records in it. Safe
//! code makes one from a slice of scalars, or from bytes with a layout; the typed front end makes
//! one from a slice of records whose layout its macro computed. A scan checks every column against
//! its program before any generated code runs.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::OnceLock;

use monoscan_ir::{Layout, Primitive, Type};

use crate::device::{Device, DeviceError};
use crate::engine::repeat;
use crate::error::Error;
use crate::refused::Argument;
use crate::spacing::{self, Bits, Spacing};

/// Records to read.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    pub(crate) base: *const u8,
    pub(crate) len: usize,
    pub(crate) layout: Cow<'a, Layout>,
    pub(crate) device: Device,
    /// None for records one after the other.
    pub(crate) spacing: Option<Spacing>,
    borrowed: PhantomData<&'a [u8]>,
}

/// Records to write.
#[derive(Debug)]
pub struct ColumnMut<'a> {
    pub(crate) base: *mut u8,
    pub(crate) len: usize,
    pub(crate) layout: Cow<'a, Layout>,
    pub(crate) device: Device,
    /// None for records one after the other.
    pub(crate) spacing: Option<Spacing>,
    borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: a column is a shared borrow of memory that is only read as plain bytes.
unsafe impl Send for Column<'_> {}
// SAFETY: as above.
unsafe impl Sync for Column<'_> {}
// SAFETY: a mutable column is an exclusive borrow of memory that is only written as plain bytes.
unsafe impl Send for ColumnMut<'_> {}
// SAFETY: a shared reference to it gives no access to the memory.
unsafe impl Sync for ColumnMut<'_> {}

impl<'a> Column<'a> {
    /// The elements of a slice of scalars.
    pub fn new<T: Primitive>(slice: &'a [T]) -> Column<'a> {
        // SAFETY: these are the slice's elements, which are borrowed.
        unsafe { Column::from_raw(slice.as_ptr().cast(), slice.len(), layout_of(T::TYPE)) }
    }

    /// Bytes that hold records of this layout, one after the other. Any bytes do; no alignment is needed.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn from_bytes(bytes: &'a [u8], layout: &'a Layout) -> Result<Column<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        // SAFETY: so many records are within the bytes, which are borrowed.
        Ok(unsafe { Column::from_raw(bytes.as_ptr(), len, layout) })
    }

    /// `len` records of this layout, the first at byte `first`, each `spacing` bytes from the one before: 0 for the same record
    /// again and again, less than 0 for backwards. Such columns are read record by record, not in vectors.
    ///
    /// ```
    /// use monoscan_ir::{Layout, Type};
    /// use monoscan_runtime::Column;
    /// let (bytes, layout) = ([1u8, 2, 3, 4, 5], Layout::of(Type::U8));
    /// let odd = Column::strided(&bytes, &layout, 0, 2, 3)?; // 1, 3, 5
    /// let backwards = Column::strided(&bytes, &layout, 4, -1, 5)?; // 5, 4, 3, 2, 1
    /// # Ok::<(), monoscan_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Spacing`] if a record lies outside of the bytes.
    pub fn strided(
        bytes: &'a [u8],
        layout: &'a Layout,
        first: usize,
        spacing: isize,
        len: usize,
    ) -> Result<Column<'a>, Error> {
        spacing::check_within(first, spacing, len, layout.size as usize, bytes.len())?;
        let base = bytes.as_ptr().wrapping_add(first);
        // SAFETY: all records are within the bytes, which are borrowed.
        Ok(unsafe { Column::from_raw(base, len, layout).with_spacing(Spacing::Bytes(spacing)) })
    }

    /// Bits as records of `bool`.
    pub fn bits(bits: Bits<'a>) -> Column<'a> {
        let (base, len, spacing) = bits.raw();
        // SAFETY: the bits are borrowed.
        unsafe { Column::from_raw(base, len, layout_of(Type::Bool)).with_spacing(spacing) }
    }

    /// The same records, from the same base on, but spaced so.
    ///
    /// # Safety
    /// For `'a`, the fields of the records that lie there must be initialised and readable, and not written by anyone else;
    /// they are bits only if the layout is that of `bool`, in the memory of this process.
    #[inline]
    pub unsafe fn with_spacing(self, spacing: Spacing) -> Column<'a> {
        Column { spacing: Some(spacing), ..self }
    }

    /// `len` records of this layout from `base` on.
    ///
    /// # Safety
    /// For `'a`, the fields of these `len` records must be initialised and readable, and not written by anyone else.
    #[inline]
    pub unsafe fn from_raw(base: *const u8, len: usize, layout: &'a Layout) -> Column<'a> {
        Column { base, len, layout: Cow::Borrowed(layout), device: Device::cpu(), spacing: None, borrowed: PhantomData }
    }

    /// `len` records of this layout from an address on, in the memory of a device.
    ///
    /// # Safety
    /// For `'a`, and until what is given to streams with it is done, these records lie in the memory of this device (or
    /// in other memory that it can use), and nobody writes them.
    pub unsafe fn on_device_raw(device: Device, address: u64, len: usize, layout: &'a Layout) -> Column<'a> {
        // SAFETY: the caller promises the same of the device's memory.
        Column { device, ..unsafe { Column::from_raw(std::ptr::without_provenance(address as usize), len, layout) } }
    }

    /// The same with a layout of its own.
    ///
    /// # Safety
    /// As for [`on_device_raw`](Column::on_device_raw).
    #[cfg(feature = "cuda")]
    pub(crate) unsafe fn on_device_raw_of(device: Device, address: u64, len: usize, layout: Layout) -> Column<'a> {
        let base = std::ptr::without_provenance(address as usize);
        Column { base, len, layout: Cow::Owned(layout), device, spacing: None, borrowed: PhantomData }
    }

    /// Some of the records, which lie one after the other.
    pub(crate) fn part(&self, records: Range<usize>) -> Column<'_> {
        let base = self.base.wrapping_add(records.start * self.layout.size as usize);
        Column { base, len: records.len(), layout: Cow::Borrowed(&*self.layout), ..*self }
    }

    /// Where the records lie.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'a> ColumnMut<'a> {
    /// Some records of a column whose records lie one after the other.
    pub(crate) fn part(&mut self, records: Range<usize>) -> ColumnMut<'_> {
        let base = self.base.wrapping_add(records.start * self.layout.size as usize);
        ColumnMut { base, len: records.len(), layout: Cow::Borrowed(&*self.layout), ..*self }
    }

    /// Copies the first of these records, of such a column, to the others.
    pub(crate) fn repeat(&mut self, records: Range<usize>) {
        let (size, last) = (self.layout.size as usize, self.len);
        assert!(records.start < records.end && records.end <= last, "these are records of the column");
        // SAFETY: the column has these records, and is borrowed exclusively.
        unsafe { repeat(self.base.add(records.start * size), &self.layout, records.len()) };
    }

    /// The elements of a slice of scalars.
    pub fn new<T: Primitive>(slice: &'a mut [T]) -> ColumnMut<'a> {
        // SAFETY: these are the slice's elements, which are borrowed mutably; programs write valid values of their types.
        unsafe { ColumnMut::from_raw(slice.as_mut_ptr().cast(), slice.len(), layout_of(T::TYPE)) }
    }

    /// Bytes to hold records of this layout, one after the other. Padding keeps what it held.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn from_bytes(bytes: &'a mut [u8], layout: &'a Layout) -> Result<ColumnMut<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        // SAFETY: so many records are within the bytes, which are borrowed mutably.
        Ok(unsafe { ColumnMut::from_raw(bytes.as_mut_ptr(), len, layout) })
    }

    /// `len` records of this layout, the first at byte `first`, each `spacing` bytes from the one before, which may be less than 0.
    /// Records between them stay as they are.
    ///
    /// # Errors
    /// [`Error::Spacing`] if a record lies outside of the bytes, or if records overlap.
    pub fn strided(
        bytes: &'a mut [u8],
        layout: &'a Layout,
        first: usize,
        spacing: isize,
        len: usize,
    ) -> Result<ColumnMut<'a>, Error> {
        spacing::check_within(first, spacing, len, layout.size as usize, bytes.len())?;
        spacing::check_apart(spacing, len, layout.size as usize)?;
        let base = bytes.as_mut_ptr().wrapping_add(first);
        // SAFETY: all records are within the bytes, which are borrowed mutably, and share none.
        Ok(unsafe { ColumnMut::from_raw(base, len, layout).with_spacing(Spacing::Bytes(spacing)) })
    }

    /// The same records, from the same base on, but spaced so.
    ///
    /// # Safety
    /// For `'a`, the records that lie there must be writable, apart from each other, and not accessed by anyone else. They are no
    /// bits.
    #[inline]
    pub unsafe fn with_spacing(self, spacing: Spacing) -> ColumnMut<'a> {
        ColumnMut { spacing: Some(spacing), ..self }
    }

    /// `len` records of this layout from `base` on; they need not be initialised.
    ///
    /// # Safety
    /// For `'a`, these `len` records must be writable, and not accessed by anyone else. Whatever a program with this
    /// output layout writes must be valid for the reads that follow: every field is written, a `bool` as 0 or 1.
    pub unsafe fn from_raw(base: *mut u8, len: usize, layout: &'a Layout) -> ColumnMut<'a> {
        ColumnMut {
            base,
            len,
            layout: Cow::Borrowed(layout),
            device: Device::cpu(),
            spacing: None,
            borrowed: PhantomData,
        }
    }

    /// `len` records of this layout from an address on, in the memory of a device.
    ///
    /// # Safety
    /// For `'a`, and until what is given to streams with it is done, these records lie in the memory of this device (or
    /// in other memory that it can use), and nobody else uses them.
    pub unsafe fn on_device_raw(device: Device, address: u64, len: usize, layout: &'a Layout) -> ColumnMut<'a> {
        // SAFETY: the caller promises the same of the device's memory.
        ColumnMut {
            device,
            ..unsafe { ColumnMut::from_raw(std::ptr::without_provenance_mut(address as usize), len, layout) }
        }
    }

    /// Where the records lie.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

pub(crate) fn whole_records(bytes: usize, layout: &Layout) -> Result<usize, Error> {
    match layout.size as usize {
        0 => Err(Error::PartialRecord { bytes, record: 0 }),
        record if !bytes.is_multiple_of(record) => Err(Error::PartialRecord { bytes, record }),
        record => Ok(bytes / record),
    }
}

/// The layout of a column of scalars, made once for each type.
pub(crate) fn layout_of(ty: Type) -> &'static Layout {
    static LAYOUTS: [OnceLock<(Type, Layout)>; 16] = [const { OnceLock::new() }; 16];
    let made = LAYOUTS.iter().map(|cell| cell.get_or_init(|| (ty, Layout::of(ty))));
    let mut of_type = made.filter(|(made, _)| *made == ty);
    &of_type.next().expect("there are fewer scalar types than places").1
}

/// Whether records laid out as `got` can be taken for `expected`: alignment does not matter to generated code.
pub(crate) fn fits(expected: &Layout, got: &Layout) -> bool {
    std::ptr::eq(expected, got) || (expected.size == got.size && expected.fields == got.fields)
}

/// Checks that these are the input columns of the program, in this memory, and equally long; gives their length.
pub(crate) fn check_inputs(expected: &[Layout], got: &[Column<'_>], device: Device) -> Result<usize, Error> {
    let len = got.first().map_or(0, Column::len);
    check(
        "input",
        expected,
        got.iter().map(|column| (column.device, column.len, &*column.layout)),
        (Some(len), device),
    )?;
    Ok(len)
}

/// Checks that these are the output columns of the program, in this memory, and of this length if one is given.
pub(crate) fn check_outputs(
    expected: &[Layout],
    got: &[ColumnMut<'_>],
    len: Option<usize>,
    device: Device,
) -> Result<(), Error> {
    check("output", expected, got.iter().map(|column| (column.device, column.len, &*column.layout)), (len, device))
}

/// Checks that a column of this side is in this memory.
pub(crate) fn is_on(side: &'static str, got: &Device, expected: Device) -> Result<(), Error> {
    if *got == expected { Ok(()) } else { Err(DeviceError::Elsewhere { side, expected, got: *got }.into()) }
}

/// Checks the columns of one side, by where they are, their lengths and layouts.
#[inline]
fn check<'a>(
    side: &'static str,
    expected: &[Layout],
    got: impl ExactSizeIterator<Item = (Device, usize, &'a Layout)> + Clone,
    (len, device): (Option<usize>, Device),
) -> Result<(), Error> {
    let is_right = |(expected, (on, own, got)): (&Layout, (Device, usize, &Layout))| {
        on == device && len.is_none_or(|len| len == own) && fits(expected, got)
    };
    match expected.len() == got.len() && expected.iter().zip(got.clone()).all(is_right) {
        true => Ok(()),
        false => find_wrong(side, expected, got, (len, device)),
    }
}

/// The first error of such columns: of where they are, how many, of their layouts, then their lengths.
#[cold]
#[inline(never)]
fn find_wrong<'a>(
    side: &'static str,
    expected: &[Layout],
    got: impl ExactSizeIterator<Item = (Device, usize, &'a Layout)> + Clone,
    (len, device): (Option<usize>, Device),
) -> Result<(), Error> {
    got.clone().try_for_each(|(on, ..)| is_on(side, &on, device))?;
    if expected.len() != got.len() {
        return Err(Error::ColumnCount { side, expected: expected.len(), got: got.len() });
    }
    let argument = if side == "input" { Argument::Input } else { Argument::Output };
    for (place, (expected, (_, _, got))) in expected.iter().zip(got.clone()).enumerate() {
        if !fits(expected, got) {
            let (expected, got) = (expected.clone().into(), Layout::clone(got).into());
            return Err(Error::Layout { argument: argument(place), expected, got });
        }
    }
    for (place, (_, got, _)) in got.enumerate() {
        if let Some(expected) = len.filter(|len| *len != got) {
            return Err(Error::Length { argument: argument(place), expected, got });
        }
    }
    Ok(())
}

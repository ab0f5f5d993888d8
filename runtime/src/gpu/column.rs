//! Columns in device memory: [`Column`] and [`ColumnMut`] out of buffers and slices of a device.
//!
//! Scans read and write in a stream, so memory must live until the stream got there: a
//! [`DeviceBuffer`](crate::cuda::DeviceBuffer) waits for that when it is dropped.

use monoscan_ir::{Layout, Primitive};

use crate::column::{Column, ColumnMut, layout_of, whole_records};
use crate::cuda::{DeviceRead, DeviceWrite};
use crate::error::Error;
use crate::spacing::{Spacing, check_apart, check_within};

impl<'a> Column<'a> {
    /// The elements of a device's buffer of scalars.
    pub fn on_device<T: Primitive>(buffer: &'a impl DeviceRead<T>) -> Column<'a> {
        // SAFETY: the buffer is borrowed, and holds so many scalars.
        unsafe { Column::on_device_raw(buffer.device().into(), buffer.address(), buffer.len(), layout_of(T::TYPE)) }
    }

    /// Bytes on a device that hold records of this layout, one after the other, at any address.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn on_device_bytes(bytes: &'a impl DeviceRead<u8>, layout: &'a Layout) -> Result<Column<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        // SAFETY: the bytes are borrowed.
        Ok(unsafe { Column::on_device_raw(bytes.device().into(), bytes.address(), len, layout) })
    }

    /// `len` records of this layout out of a device's bytes, the first at byte `first`, each `spacing` bytes from the one before: 0 for
    /// the same record again and again, less than 0 for backwards.
    ///
    /// A scan gathers them first, in its stream, side by side: each record is written and read once more, in memory of the device that
    /// is kept for the next such scan of the stream. Kernels made ahead of time refuse them.
    ///
    /// # Errors
    /// [`Error::Spacing`] if a record lies outside of the bytes.
    pub fn on_device_strided(
        bytes: &'a impl DeviceRead<u8>,
        layout: &'a Layout,
        first: usize,
        spacing: isize,
        len: usize,
    ) -> Result<Column<'a>, Error> {
        check_within(first, spacing, len, layout.size as usize, bytes.len())?;
        let address = bytes.address() + first as u64;
        // SAFETY: all records are within the bytes, which are borrowed.
        Ok(unsafe {
            Column::on_device_raw(bytes.device().into(), address, len, layout).with_spacing(Spacing::Bytes(spacing))
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.base.addr() as u64
    }
}

impl<'a> ColumnMut<'a> {
    /// The elements of a device's buffer of scalars.
    pub fn on_device<T: Primitive>(buffer: &'a mut impl DeviceWrite<T>) -> ColumnMut<'a> {
        // SAFETY: the buffer is borrowed, and holds so many scalars.
        unsafe { ColumnMut::on_device_raw(buffer.device().into(), buffer.address(), buffer.len(), layout_of(T::TYPE)) }
    }

    /// Bytes on a device to hold records of this layout, one after the other, at any address. Padding keeps what it held.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn on_device_bytes(bytes: &'a mut impl DeviceWrite<u8>, layout: &'a Layout) -> Result<ColumnMut<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        // SAFETY: the bytes are borrowed.
        Ok(unsafe { ColumnMut::on_device_raw(bytes.device().into(), bytes.address(), len, layout) })
    }

    /// `len` records of this layout in a device's bytes, the first at byte `first`, each `spacing` bytes from the one before, which may
    /// be less than 0. What lies between them stays as it is. Results are scattered there after the scan, in its stream; see
    /// [`Column::on_device_strided`].
    ///
    /// # Errors
    /// [`Error::Spacing`] if a record lies outside of the bytes, or if records overlap.
    pub fn on_device_strided(
        bytes: &'a mut impl DeviceWrite<u8>,
        layout: &'a Layout,
        first: usize,
        spacing: isize,
        len: usize,
    ) -> Result<ColumnMut<'a>, Error> {
        check_within(first, spacing, len, layout.size as usize, bytes.len())?;
        check_apart(spacing, len, layout.size as usize)?;
        let address = bytes.address() + first as u64;
        // SAFETY: all records are within the bytes, which are borrowed mutably, and share none.
        Ok(unsafe {
            ColumnMut::on_device_raw(bytes.device().into(), address, len, layout).with_spacing(Spacing::Bytes(spacing))
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.base.addr() as u64
    }
}

//! Columns in device memory: [`Column`] and [`ColumnMut`] out of buffers and slices of a device.
//!
//! What is read and written is done in a stream, so memory must live until the stream got there: a
//! [`DeviceBuffer`](crate::cuda::DeviceBuffer) waits for that when it is dropped.

use monoscan_ir::{Layout, Primitive};

use crate::column::{Column, ColumnMut, layout_of, whole_records};
use crate::cuda::{DeviceRead, DeviceWrite};
use crate::error::Error;

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

    pub(super) fn address(&self) -> u64 {
        self.base.addr() as u64
    }
}

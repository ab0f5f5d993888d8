//! Columns in device memory, with the layout that says how their records lie.
//!
//! As with [`Column`](crate::Column), safe code makes one from memory that is borrowed, and a scan checks it against
//! its program. What is read and written is done in a stream, so memory must live until the stream got there: a
//! [`DeviceBuffer`](crate::cuda::DeviceBuffer) waits for that when it is dropped.

use std::borrow::Cow;
use std::marker::PhantomData;

use monoscan_ir::{Layout, Primitive};

use crate::column::{layout_of, whole_records};
use crate::cuda::{Device, DeviceRead, DeviceWrite};
use crate::error::Error;

/// Records in device memory, to read.
#[derive(Clone, Debug)]
pub struct DeviceColumn<'a> {
    pub(crate) device: Device,
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) layout: Cow<'a, Layout>,
    borrowed: PhantomData<&'a [u8]>,
}

/// Records in device memory, to write.
#[derive(Debug)]
pub struct DeviceColumnMut<'a> {
    pub(crate) device: Device,
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) layout: Cow<'a, Layout>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> DeviceColumn<'a> {
    /// The elements of a buffer of scalars.
    pub fn new<T: Primitive>(buffer: &'a impl DeviceRead<T>) -> DeviceColumn<'a> {
        let layout = Cow::Borrowed(layout_of(T::TYPE));
        let (device, address, len) = (*buffer.device(), buffer.address(), buffer.len());
        DeviceColumn { device, address, len, layout, borrowed: PhantomData }
    }

    /// Bytes that hold records of this layout, one after the other, at any address.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn from_bytes(bytes: &'a impl DeviceRead<u8>, layout: &'a Layout) -> Result<DeviceColumn<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        let (device, address, layout) = (*bytes.device(), bytes.address(), Cow::Borrowed(layout));
        Ok(DeviceColumn { device, address, len, layout, borrowed: PhantomData })
    }

    /// `len` records of this layout from an address on.
    ///
    /// # Safety
    /// For `'a`, and until what is given to streams with it is done, these records lie in the memory of this device (or
    /// in other memory that it can use), and nobody writes them.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize, layout: &'a Layout) -> DeviceColumn<'a> {
        DeviceColumn { device: *device, address, len, layout: Cow::Borrowed(layout), borrowed: PhantomData }
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

impl<'a> DeviceColumnMut<'a> {
    /// The elements of a buffer of scalars.
    pub fn new<T: Primitive>(buffer: &'a mut impl DeviceWrite<T>) -> DeviceColumnMut<'a> {
        let layout = Cow::Borrowed(layout_of(T::TYPE));
        let (device, address, len) = (*buffer.device(), buffer.address(), buffer.len());
        DeviceColumnMut { device, address, len, layout, borrowed: PhantomData }
    }

    /// Bytes to hold records of this layout, one after the other, at any address. Padding keeps what it held.
    ///
    /// # Errors
    /// [`Error::PartialRecord`] if the bytes are no whole number of records.
    pub fn from_bytes(bytes: &'a mut impl DeviceWrite<u8>, layout: &'a Layout) -> Result<DeviceColumnMut<'a>, Error> {
        let len = whole_records(bytes.len(), layout)?;
        let (device, address, layout) = (*bytes.device(), bytes.address(), Cow::Borrowed(layout));
        Ok(DeviceColumnMut { device, address, len, layout, borrowed: PhantomData })
    }

    /// `len` records of this layout from an address on.
    ///
    /// # Safety
    /// For `'a`, and until what is given to streams with it is done, these records lie in the memory of this device (or
    /// in other memory that it can use), and nobody else uses them.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize, layout: &'a Layout) -> DeviceColumnMut<'a> {
        DeviceColumnMut { device: *device, address, len, layout: Cow::Borrowed(layout), borrowed: PhantomData }
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

//! The kernels that the tests launch, and how.

use std::sync::OnceLock;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use monoscan_runtime::cuda::{Device, DeviceBuffer, DeviceRead, Kernel, Module, Stream, Workspace};

/// `add`, `bump` and `spin`, which the file describes.
pub(crate) const PTX: &str = include_str!("kernels.ptx");

/// Sizes around those of vectors, warps and blocks.
pub(crate) const SIZES: [usize; 12] = [0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 4099, 1_000_003];

/// The arguments of all the kernels.
#[repr(C, align(16))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Argument {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) count: u64,
    pub(crate) number: u32,
    pub(crate) padding: u32,
}

pub(crate) fn device() -> Device {
    Device::cuda(0).expect("these tests need a device")
}

pub(crate) fn stream() -> Stream {
    Stream::new(&device()).unwrap()
}

pub(crate) fn kernel(name: &str) -> Kernel {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::from_ptx(&device(), PTX, None).unwrap()).kernel(name).unwrap()
}

/// Launches `add` over all records.
pub(crate) fn add(stream: &Stream, from: &impl DeviceRead<u32>, to: &DeviceBuffer<u32>, number: u32) {
    assert_eq!(from.len(), to.len());
    let argument = Argument { from: from.address(), to: to.address(), count: to.len() as u64, number, padding: 0 };
    let blocks = to.len().div_ceil(256).max(1) as u32;
    // SAFETY: both have so many records, and the test waits before it drops them.
    unsafe { kernel("add").launch(stream, blocks, 256, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

/// Launches `bump` on a workspace.
pub(crate) fn bump(stream: &Stream, workspace: &Workspace, error: u32) {
    let argument = Argument { from: 0, to: workspace.address(), count: 0, number: error, padding: 0 };
    // SAFETY: a workspace has a header, and frees wait for the device.
    unsafe { kernel("bump").launch(stream, 1, 1, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

/// Keeps the stream busy.
pub(crate) fn spin(stream: &Stream, time: Duration) {
    let argument = Argument { count: time.as_nanos() as u64, ..Argument::zeroed() };
    // SAFETY: it uses no memory.
    unsafe { kernel("spin").launch(stream, 1, 1, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

pub(crate) fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

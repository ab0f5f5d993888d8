//! A program on a device, beside its reference.

use monoscan_codegen::gpu::{AccessPattern, Arch, GpuPlan};
use monoscan_codegen::nvptx::KernelPlan;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Program, Verified};
use monoscan_runtime::DynScan;
use monoscan_runtime::cuda::Device;
use scan_kit::calls::{OnHost, Subject};

use crate::uploaded::OnDevice;

/// The device of these tests.
pub(crate) fn device() -> Device {
    Device::cuda(0).expect("these tests need a device")
}

/// The smallest tiles that look-back can have, so that short inputs have many of them.
pub(crate) fn tiny_plan(program: &Verified<Program>) -> GpuPlan {
    let architecture = device().facts().architecture;
    let arch =
        Arch::for_capability(architecture.major, architecture.minor).expect("a device that kernels are made for");
    let lowered = lower(program, Form::default());
    let plan = KernelPlan::new(&lowered, AccessPattern::Any, arch).expect("a tile fits");
    GpuPlan { warps: 1, load_groups: 1, ..plan.plan().clone() }
}

/// A scan on the device of columns of the host, by the only plan for lines that is given, beside the program's reference.
pub(crate) fn on_gpu(program: &Verified<Program>, plan: Option<GpuPlan>) -> Subject {
    Subject::of_scan(&scan(program, plan), Box::new(OnHost))
}

/// The same of columns in the memory of the device.
pub(crate) fn uploaded(program: &Verified<Program>, plan: Option<GpuPlan>) -> Subject {
    Subject::of_scan(&scan(program, plan), Box::new(OnDevice(device())))
}

fn scan(program: &Verified<Program>, plan: Option<GpuPlan>) -> DynScan {
    let builder = DynScan::builder(program.clone()).device(device());
    let builder = plan.into_iter().fold(builder, |builder, plan| builder.gpu_plan(plan));
    builder.build().unwrap_or_else(|error| panic!("{error}\n{}", **program))
}

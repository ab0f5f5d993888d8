//! A program on a device, beside its reference.

use monoscan_codegen::gpu::{AccessPattern, Arch, GpuPlan};
use monoscan_codegen::nvptx::KernelPlan;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Layout, Program, Verified};
use monoscan_runtime::cuda::Device;
use monoscan_runtime::{Call, DeviceError, DynScan, Error, PlanOptions};

use scan_kit::calls::Asked;
use scan_kit::calls::{Subject, columns, columns_mut, poison, same_bytes, same_states};

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

/// A scan on the device with the program's reference.
pub(crate) struct OnGpu {
    pub(crate) subject: Subject,
    pub(crate) scan: DynScan,
}

impl OnGpu {
    pub(crate) fn new(program: &Verified<Program>, plan: Option<GpuPlan>) -> OnGpu {
        let builder = DynScan::builder(program.clone()).device(device());
        let builder = plan.into_iter().fold(builder, |builder, plan| builder.gpu_plan(plan));
        let scan = builder.build().unwrap_or_else(|error| panic!("{error}\n{}", **program));
        OnGpu { subject: Subject::new(program, PlanOptions::default()), scan }
    }

    /// Runs the call from host memory on the device and on the reference, and also reduces it where that is supported.
    pub(crate) fn compare(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Result<(), String> {
        let program = self.scan.program();
        if asked.has_states_of_each() {
            return self.refuses(asked, inputs);
        }
        let fresh = |layout: &Layout| poison(asked.len * layout.size as usize);
        let mut expected: Vec<Vec<u8>> =
            if asked.in_place { inputs.to_vec() } else { program.output.columns.iter().map(fresh).collect() };
        let mut found = expected.clone();
        let given = self.subject.reference.run(asked, inputs, &mut expected);
        let from = columns(inputs.iter().map(Vec::as_slice), &program.inputs);
        let mut to = columns_mut(found.iter_mut().map(Vec::as_mut_slice), &program.output.columns);
        let mut carry = asked.carry.clone();
        let (call, scan) = (asked.call(), &self.scan);
        let count = match (&mut carry, asked.in_place) {
            (Some(carry), false) => scan.resume(&call, carry, &from, &mut to).map(Some),
            (None, false) => scan.run(&call, &from, &mut to).map(Some),
            (Some(carry), true) => scan.resume_in_place(&call, carry, &mut to).map(|()| None),
            (None, true) => scan.run_in_place(&call, &mut to).map(|()| None),
        };
        let count = count.map_err(|error| error.to_string())?;
        if count.is_some_and(|count| count != given.count) {
            return Err(format!("{count:?} records written, not {}", given.count));
        }
        for (column, layout) in program.output.columns.iter().enumerate() {
            same_bytes(column, layout, &found[column], &expected[column])?;
        }
        match carry {
            Some(carry) => same_states("carry", &carry, &given.totals),
            None => {
                let totals = self.scan.reduce(&asked.call(), &from).map_err(|error| error.to_string())?;
                same_states("totals", &totals, &given.totals)
            }
        }
    }

    /// A state for each run is refused, and nothing is written.
    fn refuses(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Result<(), String> {
        let program = self.scan.program();
        let from = columns(inputs.iter().map(Vec::as_slice), &program.inputs);
        let fresh = |layout: &Layout| poison(asked.len * layout.size as usize);
        let before: Vec<Vec<u8>> = program.output.columns.iter().map(fresh).collect();
        let mut found = before.clone();
        let mut to = columns_mut(found.iter_mut().map(Vec::as_mut_slice), &program.output.columns);
        let call = Call { carry: asked.carry.as_deref(), ..asked.call() };
        match self.scan.run(&call, &from, &mut to) {
            Err(Error::Device(DeviceError::StateOfEach { .. })) if found == before => Ok(()),
            other => Err(format!("a state for each run: {other:?}")),
        }
    }

    /// Panics if the device differs from the reference.
    pub(crate) fn must_agree(&self, asked: &Asked, inputs: &[Vec<u8>]) {
        if let Err(difference) = self.compare(asked, inputs) {
            let shown = Asked { over: scan_kit::calls::Over::Line, ..asked.clone() };
            let over = format!("{:?}", asked.over);
            let over: String = over.chars().take(400).collect();
            panic!("{difference}\n{shown:?}\nover {over}\n{}", **self.scan.program());
        }
    }
}

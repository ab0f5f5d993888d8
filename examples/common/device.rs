//! `--device`: where an example runs its scan. On a GPU it is the same program, over the same
//! columns.

use std::time::Duration;

use bytemuck::Pod;
use monoscan_ir::{Primitive, Program, Verified};

use super::Failure;

/// A device of this machine.
#[derive(Clone, Copy, Default)]
pub(crate) enum Device {
    /// All cores of the CPU.
    #[default]
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
}

/// What a scan on a GPU took.
pub(crate) struct OnDevice {
    /// The plan, and how long the kernel took to make.
    pub(crate) explained: String,
    /// From columns of the host to columns of the host.
    pub(crate) with_copies: Duration,
    /// From columns on the device to columns on the device.
    pub(crate) without_copies: Duration,
}

impl OnDevice {
    /// The two times as rivals.
    pub(crate) fn rivals(&self) -> [(&'static str, Duration); 2] {
        [("with copies", self.with_copies), ("on the device", self.without_copies)]
    }
}

impl Device {
    /// The device of this name, if it can be used.
    pub(crate) fn parse(name: &str) -> Result<Device, Failure> {
        if name == "cpu" {
            return Ok(Device::Cpu);
        }
        let number = name.strip_prefix("cuda:").and_then(|number| number.parse().ok());
        let ordinal =
            number.ok_or_else(|| Failure::Usage(format!("unknown device `{name}`: expected `cpu` or `cuda:N`")))?;
        open(ordinal)?;
        Ok(Device::Cuda(ordinal))
    }
}

#[cfg(not(feature = "gpu"))]
fn open(ordinal: usize) -> Result<(), Failure> {
    Err(Failure::Run(format!(
        "cuda:{ordinal} needs the feature `gpu`, which this was built without: use cargo run --release --features gpu"
    )))
}

#[cfg(not(feature = "gpu"))]
pub(crate) fn scan<T: Primitive + Pod>(
    ordinal: usize,
    _program: &Verified<Program>,
    _inputs: &[&[T]],
    _output: &mut [T],
) -> Result<OnDevice, Failure> {
    open(ordinal).map(|()| unreachable!("nothing is opened without the feature"))
}

#[cfg(feature = "gpu")]
fn open(ordinal: usize) -> Result<monoscan::cuda::Device, Failure> {
    Ok(monoscan::cuda::Device::cuda(ordinal)?)
}

/// The inclusive scan of these columns, as often as it takes to time it.
#[cfg(feature = "gpu")]
pub(crate) fn scan<T: Primitive + Pod>(
    ordinal: usize,
    program: &Verified<Program>,
    inputs: &[&[T]],
    output: &mut [T],
) -> Result<OnDevice, Failure> {
    use std::time::Instant;

    use monoscan::cuda::{DeviceBuffer, Event, Stream};
    use monoscan::{Call, Column, ColumnMut, DynScan};

    let device = open(ordinal)?;
    let scan = DynScan::builder(program.clone()).device(device).build()?;
    let explained = format!("{}kernel made in {:.1?}", scan.explain(), scan.kernel()?.times().total());

    let columns: Vec<Column<'_>> = inputs.iter().map(|input| Column::new(input)).collect();
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let start = Instant::now();
        scan.run(&Call::default(), &columns, &mut [ColumnMut::new(output)])?;
        times.push(start.elapsed());
    }
    let with_copies = median(times);

    let stream = Stream::new(&device)?;
    let buffers = inputs.iter().map(|input| DeviceBuffer::from_slice(&stream, input)).collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<Column<'_>> = buffers.iter().map(Column::on_device::<T>).collect();
    let mut result = DeviceBuffer::<T>::uninitialized(&device, output.len())?;
    let (began, ended) = (Event::new(&device)?, Event::new(&device)?);
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        began.record(&stream)?;
        let outputs = &mut [ColumnMut::on_device::<T>(&mut result)];
        let pending = scan.submit(&Call::default(), &columns, outputs, &stream)?;
        ended.record(&stream)?;
        pending.wait()?;
        ended.synchronize()?;
        times.push(Duration::from_secs_f32(ended.milliseconds_since(&began)? / 1e3));
    }
    Ok(OnDevice { explained, with_copies, without_copies: median(times) })
}

/// Runs that count; one more warms up.
#[cfg(feature = "gpu")]
const ROUNDS: usize = 9;

#[cfg(feature = "gpu")]
fn median(mut times: Vec<Duration>) -> Duration {
    times.remove(0);
    times.sort();
    times[times.len() / 2]
}

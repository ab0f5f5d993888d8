//! What is timed: a scan as it is planned, or by a rung of the ladder.

use monoscan::Error;
use monoscan_runtime::cuda::Stream;
use monoscan_runtime::gpu::{DeviceCall, DeviceColumn, DeviceColumnMut, GpuScan, LadderPending, LadderScan, Pending};

/// What scans.
pub(crate) enum Contender {
    Planned(GpuScan),
    Rung(LadderScan),
}

/// A scan that was given to a stream.
pub(crate) enum Given {
    Planned(Box<Pending>),
    Rung(LadderPending, usize),
}

impl Contender {
    /// Gives the scan of a line to a stream.
    pub(crate) fn call(
        &self,
        inputs: &[DeviceColumn<'_>],
        outputs: &mut [DeviceColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Given, Error> {
        match self {
            Contender::Planned(scan) => {
                Ok(Given::Planned(Box::new(scan.call(&DeviceCall::default(), inputs, outputs, stream)?)))
            }
            Contender::Rung(scan) => {
                let records = inputs.first().map_or(0, DeviceColumn::len);
                Ok(Given::Rung(scan.call(inputs, outputs, stream)?, records))
            }
        }
    }
}

impl Given {
    /// Waits until it is done, and gives how many records were written.
    pub(crate) fn wait(&self) -> Result<usize, Error> {
        match self {
            Given::Planned(pending) => Ok(pending.wait()?.written),
            Given::Rung(pending, records) => pending.wait().map(|()| *records),
        }
    }
}

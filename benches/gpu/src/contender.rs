//! Contenders: a scan as it is planned, or by a rung of the ladder.

use gpu_ladder::{LadderPending, LadderScan};
use monoscan_ir::Program;
use monoscan_runtime::cuda::{DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite, Stream};
use monoscan_runtime::gpu::Pending;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan};

use crate::arena::Failure;

/// An implementation of a scan.
pub(crate) enum Contender {
    Planned(Box<DynScan>),
    Rung(LadderScan),
}

/// A scan that was given to a stream.
pub(crate) enum Given {
    Planned(Box<Pending>),
    Rung(LadderPending, usize),
}

impl Contender {
    /// Gives the scan of a line to a stream; columns are the bytes of their records.
    pub(crate) fn call(
        &self,
        program: &Program,
        inputs: &[DeviceSlice<'_, u8>],
        output: &mut DeviceSliceMut<'_, u8>,
        stream: &Stream,
    ) -> Result<Given, Failure> {
        match self {
            Contender::Planned(scan) => {
                let columns = inputs.iter().zip(&program.inputs);
                let columns = columns.map(|(bytes, layout)| Column::on_device_bytes(bytes, layout));
                let columns: Vec<Column<'_>> = columns.collect::<Result<_, _>>()?;
                let written = ColumnMut::on_device_bytes(output, &program.output.columns[0])?;
                let pending = scan.submit(&Call::default(), &columns, &mut [written], stream)?;
                Ok(Given::Planned(Box::new(pending)))
            }
            Contender::Rung(scan) => {
                let first = inputs.first().zip(program.inputs.first());
                let records = first.map_or(0, |(bytes, layout)| bytes.len() / layout.size as usize);
                let inputs: Vec<&dyn DeviceRead<u8>> = inputs.iter().map(|bytes| bytes as _).collect();
                let output: &mut dyn DeviceWrite<u8> = output;
                Ok(Given::Rung(scan.call(&inputs, &mut [output], stream)?, records))
            }
        }
    }
}

impl Given {
    /// Waits until it is done, and gives how many records were written.
    pub(crate) fn wait(&self) -> Result<usize, Failure> {
        match self {
            Given::Planned(pending) => Ok(pending.wait()?.written),
            Given::Rung(pending, records) => {
                pending.wait()?;
                Ok(*records)
            }
        }
    }
}

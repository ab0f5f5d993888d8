//! The columns of the kit's calls in device memory: one record after the other or at any spacing,
//! aligned or not, with segments told there by flags, by keys or by offsets.

use monoscan_runtime::cuda::{CudaError, Device, DeviceBuffer, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, Outcome, Shape};
use scan_kit::calls::{Asked, Form, Memory, Over, Place, Wants};

/// In the memory of this device, by calls that are given to a stream.
pub(crate) struct OnDevice(pub(crate) Device);

/// A column, from this byte of its memory on.
struct Uploaded {
    buffer: DeviceBuffer<u8>,
    from: usize,
}

/// The source that tells segments.
enum Segments {
    None,
    Bytes(DeviceBuffer<u8>),
    Words(DeviceBuffer<u32>),
    Long(DeviceBuffer<u64>),
}

impl Segments {
    fn upload(asked: &Asked, stream: &Stream) -> Result<Segments, CudaError> {
        Ok(match &asked.over {
            Over::Line | Over::Rows { .. } => Segments::None,
            Over::Heads(flags) => {
                let flags: Vec<u8> = flags.iter().map(|&flag| flag.into()).collect();
                Segments::Bytes(DeviceBuffer::from_slice(stream, &flags)?)
            }
            Over::Keys(changes) => {
                let key = |key: &mut u32, &change: &bool| {
                    *key += u32::from(change);
                    Some(*key % 3)
                };
                let keys: Vec<u32> = changes.iter().scan(0, key).collect();
                Segments::Words(DeviceBuffer::from_slice(stream, &keys)?)
            }
            Over::Offsets(offsets) if offsets.len() % 2 == 0 => {
                let offsets: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
                Segments::Words(DeviceBuffer::from_slice(stream, &offsets)?)
            }
            Over::Offsets(offsets) => {
                let offsets: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
                Segments::Long(DeviceBuffer::from_slice(stream, &offsets)?)
            }
        })
    }

    fn column(&self) -> Option<Column<'_>> {
        match self {
            Segments::None => None,
            Segments::Bytes(flags) => Some(Column::on_device::<u8>(flags)),
            Segments::Words(words) => Some(Column::on_device::<u32>(words)),
            Segments::Long(offsets) => Some(Column::on_device::<u64>(offsets)),
        }
    }
}

impl Uploaded {
    /// Columns without gaps are aligned in every other call; all others begin anywhere.
    fn new(memory: &Memory<'_>, asked: &Asked, stream: &Stream) -> Result<Uploaded, CudaError> {
        let is_aligned = asked.threads < 2 && memory.form == Form::Dense;
        let from = if is_aligned { memory.first } else { 0 };
        Ok(Uploaded { buffer: DeviceBuffer::from_slice(stream, &memory.all[from..])?, from })
    }

    fn column<'a>(&'a self, memory: &Memory<'a>) -> Result<Column<'a>, Error> {
        let Memory { first, len, layout, .. } = *memory;
        Column::on_device_strided(&self.buffer, layout, first - self.from, memory.step(), len)
    }

    fn column_mut<'a>(&'a mut self, memory: &Memory<'a>) -> Result<ColumnMut<'a>, Error> {
        let Memory { first, len, layout, .. } = *memory;
        ColumnMut::on_device_strided(&mut self.buffer, layout, first - self.from, memory.step(), len)
    }
}

impl Place for OnDevice {
    fn adapt(&self, asked: Asked) -> Asked {
        let over = match asked.over {
            Over::Heads(flags) if asked.carry.is_none() && flags.len() % 2 == 1 => Over::Keys(flags),
            other => other,
        };
        Asked { over, ..asked }
    }

    fn has_bits(&self) -> bool {
        false
    }

    fn gives_both(&self, over: &Over) -> bool {
        !matches!(over, Over::Keys(_) | Over::Offsets(_))
    }

    fn run(
        &self,
        scan: &DynScan,
        asked: &Asked,
        wants: Wants,
        inputs: &[Memory<'_>],
        outputs: &mut [Memory<'_>],
    ) -> Result<Outcome, Error> {
        let stream = Stream::new(&self.0)?;
        let upload = |memory: &Memory<'_>| Uploaded::new(memory, asked, &stream);
        let from = inputs.iter().map(upload).collect::<Result<Vec<_>, _>>()?;
        let mut to = outputs.iter().map(upload).collect::<Result<Vec<_>, _>>()?;
        let segments = Segments::upload(asked, &stream)?;
        let told_by = segments.column();
        let call = asked.call();
        let shape = match (&asked.over, &told_by) {
            (Over::Heads(_), Some(flags)) => Shape::FlagColumn(flags),
            (Over::Keys(_), Some(keys)) => Shape::KeyColumn(keys),
            (Over::Offsets(_), Some(offsets)) => Shape::OffsetColumn(offsets),
            _ => call.shape,
        };
        let call = Call { shape, carry: asked.carry.as_deref(), totals: wants == Wants::Both, ..call };
        let columns = from.iter().zip(inputs).map(|(column, memory)| column.column(memory));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if wants == Wants::Totals {
            return Ok(Outcome { written: 0, totals: scan.reduce_in_stream(&call, &columns, &stream)? });
        }
        let written = to.iter_mut().zip(&*outputs).map(|(column, memory)| column.column_mut(memory));
        let mut written = written.collect::<Result<Vec<_>, _>>()?;
        let pending = match asked.in_place {
            true => scan.submit_in_place(&call, &mut written, &stream)?,
            false => scan.submit(&call, &columns, &mut written, &stream)?,
        };
        let outcome = pending.wait()?;
        for (column, memory) in to.iter().zip(outputs) {
            memory.all[column.from..].copy_from_slice(&column.buffer.to_vec(&stream)?);
        }
        Ok(outcome)
    }
}

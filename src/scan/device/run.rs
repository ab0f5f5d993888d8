//! Scans of device memory: calls that are given to a stream.

use std::marker::PhantomData;

use monoscan_ir::{Constant, Mode};
use monoscan_runtime::cuda::Stream;
use monoscan_runtime::{Call, Column, ColumnMut, DeviceMemory, DynScan, Error, Shape, gpu};
use smallvec::SmallVec;

use super::DeviceVec;
use crate::lang::{self, ScanType};
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::OnDevice;
use crate::scan::{Request, States};

/// A scan of device memory that was given to a stream. What it writes is there when the stream has come past it: for other
/// scans and copies in the stream, and for [`DeviceVec::to_vec`]. It may be dropped: then nobody learns whether it failed.
#[derive(Debug)]
pub struct Pending(gpu::Pending);

impl Pending {
    /// Waits until it is done, and gives how many records were written: all, or those kept, which come first.
    ///
    /// # Errors
    /// [`Error::Overflowed`] and [`Error::Regrouped`] of a checked scan; [`Error::OutputTooShort`] if more records were kept than
    /// the output has; [`Error::Cuda`] if the device fails.
    pub fn wait(&self) -> Result<usize, Error> {
        Ok(self.0.wait()?.written)
    }

    /// Whether waiting would take no time.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.0.is_done()
    }
}

/// What new columns are made with: the stream that is going to write them.
pub(in crate::scan) type Maker = Stream;

impl<T: ScanType> DeviceVec<T> {
    /// Room for so many records, which are going to be written in this stream.
    pub(in crate::scan) fn room(stream: &Stream, len: usize) -> Result<DeviceVec<T>, Error> {
        let memory = DeviceMemory::uninitialized(stream, len * size_of::<T>())?;
        Ok(DeviceVec { memory, len, records: PhantomData })
    }
}

/// A scan into new memory. If records are kept or not, it is waited for, since their number is the length.
pub(in crate::scan) fn collect<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
) -> Result<Out::Vec<OnDevice>, Error> {
    Ok(collect_and(request, mode, input, false)?.0)
}

/// As [`collect`], with the totals of all sequences, which are waited for.
pub(in crate::scan) fn collect_with_totals<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
) -> Result<(Out::Vec<OnDevice>, Vec<S>), Error> {
    let scan = request.scan().clone();
    let (columns, pending) = collect_and(request, mode, input, true)?;
    Ok((columns, states(&scan, &pending.0.wait()?.totals)))
}

fn collect_and<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
    totals: bool,
) -> Result<(Out::Vec<OnDevice>, Pending), Error> {
    let len = Inputs::of(input).len();
    request.check_covers(len)?;
    let stream = request.stream_of(input);
    let keeps = request.scan().program().output.filter.is_some();
    let mut columns = Out::room::<OnDevice>(&stream, len)?;
    let mut written = Written(SmallVec::new());
    Out::parts::<OnDevice>(&mut columns, len, |part| written.0.push(part));
    let pending = write(request, mode, input, written, totals)?;
    if keeps {
        // SAFETY: so many records were kept of those that there is room for.
        unsafe { Out::set_len::<OnDevice>(&mut columns, pending.wait()?) };
    }
    Ok((columns, pending))
}

pub(in crate::scan) fn fill<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
    output: &mut impl ColumnsMut<Out, Place = OnDevice>,
) -> Result<Pending, Error> {
    write(request, mode, input, Written::of(output), false)
}

fn write<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
    mut outputs: Written<'_>,
    totals: bool,
) -> Result<Pending, Error> {
    let scan = request.scan().clone();
    let stream = request.stream_of(input);
    let inputs = Inputs::of(input);
    let program = scan.program();
    inputs.before(&stream)?;
    let segments = request.segment_memory();
    segments.map_or(Ok(()), |memory| memory.before(&stream))?;
    let columns = inputs.columns(&program.inputs);
    outputs.before(&stream)?;
    let pending = request.submit(mode, |call| {
        if totals {
            check_totals(call)?;
        }
        let call = Call { totals: totals || call.totals, ..call.clone() };
        scan.submit(&call, &columns, &mut outputs.columns(&program.output.columns), &stream)
    })?;
    outputs.written_in(&stream);
    inputs.after(&stream)?;
    Ok(pending)
}

pub(in crate::scan) fn replace<S: States, Out: Outputs>(
    request: Request<'_, S, Out::Record, Out>,
    mode: Mode,
    records: &mut impl ColumnsMut<Out, Place = OnDevice>,
) -> Result<Pending, Error> {
    let scan = request.scan().clone();
    let mut records = Written::of(records);
    let stream = request.in_stream_or_none().unwrap_or_else(|| records.0[0].0.stream().clone());
    records.before(&stream)?;
    let pending = request.submit(mode, |call| {
        scan.submit_in_place(call, &mut records.columns(&scan.program().output.columns), &stream)
    })?;
    records.written_in(&stream);
    Ok(pending)
}

/// The columns that a call writes.
struct Written<'a>(SmallVec<[(&'a mut DeviceMemory, usize); 4]>);

impl<'a> Written<'a> {
    fn of<Out: Outputs>(output: &'a mut impl ColumnsMut<Out, Place = OnDevice>) -> Written<'a> {
        let mut written = SmallVec::new();
        output.parts(|part| written.push(part));
        Written(written)
    }

    fn columns<'c>(&'c mut self, layouts: &'c [monoscan_ir::Layout]) -> Vec<ColumnMut<'c>> {
        let columns = self.0.iter_mut().zip(layouts);
        // SAFETY: each vector has so many records, of a type whose fields the macro laid out.
        columns.map(|((memory, len), layout)| unsafe { memory.column_mut(*len, layout) }).collect()
    }

    fn before(&self, stream: &Stream) -> Result<(), Error> {
        self.0.iter().try_for_each(|(memory, _)| memory.before(stream))
    }

    fn written_in(&mut self, stream: &Stream) {
        self.0.iter_mut().for_each(|(memory, _)| memory.written_in(stream));
    }
}

pub(in crate::scan) fn totals<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    input: &impl Columns<In, Place = OnDevice>,
) -> Result<Vec<S>, Error> {
    let scan = request.scan().clone();
    let stream = request.stream_of(input);
    let inputs = Inputs::of(input);
    inputs.before(&stream)?;
    let columns = inputs.columns(&scan.program().inputs);
    let mut totals: Vec<Constant> = Vec::new();
    request.for_totals(|call| {
        totals = scan.submit_reduce(call, &columns, &stream)?.wait()?.totals;
        Ok(())
    })?;
    Ok(states(&scan, &totals))
}

/// The states in the totals of a call without a carry.
fn states<S: States>(scan: &DynScan, totals: &[Constant]) -> Vec<S> {
    let totals = totals.chunks_exact(scan.program().state_len());
    totals.map(|total| lang::from_constants(total.iter().copied())).collect()
}

/// Refuses totals of segments whose number is known on the device alone.
fn check_totals(call: &Call<'_>) -> Result<(), Error> {
    match call.shape {
        Shape::KeyColumn(_) | Shape::OffsetColumn(_) => Err(monoscan_runtime::Combination::TotalsOnDevice.into()),
        _ => Ok(()),
    }
}

/// The columns that a call reads.
struct Inputs<'a>(SmallVec<[(&'a DeviceMemory, usize); 6]>);

impl<'a> Inputs<'a> {
    fn of<In: Record>(input: &'a impl Columns<In>) -> Inputs<'a> {
        let mut lengths: SmallVec<[usize; 6]> = SmallVec::new();
        input.parts(|part| lengths.push(part.len));
        let mut lengths = lengths.into_iter();
        let mut inputs = SmallVec::new();
        input.memories(|memory| inputs.push((memory, lengths.next().unwrap_or(0))));
        Inputs(inputs)
    }

    fn len(&self) -> usize {
        self.0.first().map_or(0, |&(_, len)| len)
    }

    fn columns(&self, layouts: &'a [monoscan_ir::Layout]) -> Vec<Column<'a>> {
        let columns = self.0.iter().zip(layouts);
        // SAFETY: each vector has so many records, of a type whose fields the macro laid out.
        columns.map(|(&(memory, len), layout)| unsafe { memory.column(len, layout) }).collect()
    }

    fn before(&self, stream: &Stream) -> Result<(), Error> {
        self.0.iter().try_for_each(|(memory, _)| memory.before(stream))
    }

    fn after(&self, stream: &Stream) -> Result<(), Error> {
        self.0.iter().try_for_each(|(memory, _)| memory.after(stream))
    }
}

impl<S: States, In, Out> Request<'_, S, In, Out> {
    /// The stream that was asked for, or that of the first column.
    fn stream_of<R: Record>(&self, input: &impl Columns<R>) -> Stream {
        let mut stream = self.in_stream_or_none();
        input.memories(|memory| {
            stream.get_or_insert_with(|| memory.stream().clone());
        });
        stream.expect("a record has at least one column")
    }

    /// Gives the call to a stream. If a stream of chunks is resumed, it is waited for, since the carry is moved on.
    fn submit(
        self,
        mode: Mode,
        submit: impl FnOnce(&Call<'_>) -> Result<gpu::Pending, Error>,
    ) -> Result<Pending, Error> {
        let mut given = None;
        self.call(mode, |call, carry| {
            let pending = match carry {
                None => submit(call)?,
                Some(carry) => {
                    let pending = submit(&Call { carry: Some(carry), totals: true, ..call.clone() })?;
                    carry.copy_from_slice(&pending.wait()?.totals);
                    pending
                }
            };
            given = Some(Pending(pending));
            Ok(())
        })?;
        Ok(given.expect("the call was given"))
    }

    fn for_totals(self, reduce: impl FnOnce(&Call<'_>) -> Result<(), Error>) -> Result<(), Error> {
        self.call(Mode::Inclusive, |call, carry| match carry {
            None => check_totals(call).and_then(|()| reduce(call)),
            Some(_) => Err(monoscan_runtime::Combination::ResumedTotal.into()),
        })
    }
}

impl<T: ScanType> DeviceVec<T> {
    /// All of it as one column, and the memory that it is in.
    pub(in crate::scan) fn column(&self) -> (Column<'_>, &DeviceMemory) {
        // SAFETY: so many records of this type are there.
        (unsafe { self.memory.column_of(self.len, lang::layout_of::<T>()) }, &self.memory)
    }
}

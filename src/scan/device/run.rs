//! Scans of device memory: calls that are given to a stream.

use std::marker::PhantomData;

use monoscan_ir::{Constant, Layout, Mode};
use monoscan_runtime::cuda::Stream;
use monoscan_runtime::{Call, Column, ColumnMut, DeviceMemory, Error, Shape, gpu};
use smallvec::SmallVec;

use super::DeviceVec;
use crate::lang::{self, ScanType};
#[cfg(feature = "lexer")]
use crate::scan::Plain;
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::{OnDevice, sealed};
use crate::scan::states::states_of;
use crate::scan::totals::{self, Totals};
use crate::scan::{Request, States};

/// A scan of device memory that was given to a stream. What it writes is there when the stream has come past it: for other
/// scans and copies in the stream, and for [`DeviceVec::to_vec`]. It may be dropped: then nobody learns whether it failed.
#[derive(Debug)]
pub struct Pending(gpu::Pending);

impl Pending {
    /// Waits until it is done, and gives how many records were written: all, or those kept, which come first.
    ///
    /// ```no_run
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
    /// let (x, mut y) = (sums.upload(&[3, 1, 4])?, sums.upload(&[0; 3])?);
    /// let pending = sums.inclusive_into(&x, &mut y)?; // the host goes on at once
    /// assert_eq!(pending.wait()?, 3);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflowed`], [`Error::OutOfOrder`] and [`Error::Regrouped`] of a checked scan; [`Error::OutputTooShort`] if more records were kept than
    /// the output has, of which it then holds the first; [`Error::StateCount`] if there are not as many initial states as flags or keys in device memory ask for;
    /// [`Error::Cuda`] if the device fails. After these two the outputs may hold anything.
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

impl<T: ScanType> DeviceVec<T> {
    /// Space for so many records, which are going to be written in this stream.
    pub(in crate::scan) fn space(stream: &Stream, len: usize) -> Result<DeviceVec<T>, Error> {
        let memory = DeviceMemory::uninitialized(stream, len * size_of::<T>())?;
        Ok(DeviceVec { memory, len, records: PhantomData })
    }
}

impl sealed::Place for OnDevice {
    const ON_HOST: bool = false;

    type Part<'a> = (&'a mut DeviceMemory, Part<usize>);
    type Maker = Stream;

    fn space<T: ScanType>(stream: &Stream, len: usize) -> Result<DeviceVec<T>, Error> {
        DeviceVec::space(stream, len)
    }

    fn part<T: ScanType>(space: &mut DeviceVec<T>, len: usize) -> (&mut DeviceMemory, Part<usize>) {
        (&mut space.memory, Part::dense(0, len))
    }

    #[cfg(feature = "lexer")]
    fn collect_through<T: ScanType, M: ScanType, U: ScanType>(
        (first, second): (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = OnDevice>,
    ) -> Result<DeviceVec<U>, Error> {
        let (columns, pending) = through(first, input, |between| {
            let (columns, pending, _) = collect_and(second, Mode::Inclusive, &between, false)?;
            Ok((columns, pending))
        })?;
        pending.wait()?;
        Ok(columns)
    }

    /// Waiting for what it gives waits for both scans.
    #[cfg(feature = "lexer")]
    fn fill_through<T: ScanType, M: ScanType, U: ScanType>(
        (first, second): (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = OnDevice>,
        output: impl ColumnsMut<U, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        let then = |between: &DeviceVec<M>| {
            Ok(((), <OnDevice as sealed::Place>::fill(second, Mode::Inclusive, &between, output)?))
        };
        Ok(through(first, input, then)?.1)
    }

    unsafe fn set_len<T: ScanType>(space: &mut DeviceVec<T>, len: usize) {
        space.len = len;
    }

    /// It is waited for if records are kept or not, since their number is the length, and if waiting alone tells whether it was
    /// right: nobody else will.
    fn collect<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<Out::Vec<OnDevice>, Error> {
        let (columns, pending, _) = collect_and(request, mode, input, false)?;
        if pending.0.may_be_refused() {
            pending.wait()?;
        }
        Ok(columns)
    }

    /// As [`collect`](sealed::Place::collect); totals are waited for.
    fn collect_with_totals<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<(Out::Vec<OnDevice>, Vec<S>), Error> {
        let each = request.components_of_totals();
        let (columns, _, totals) = collect_and(request, mode, input, true)?;
        Ok((columns, states_of(&totals, each).collect()))
    }

    fn fill<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = OnDevice>,
        mut output: impl ColumnsMut<Out, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        let inputs = Inputs::of(&request, input);
        Ok(write(request, mode, inputs, Written::of(&mut output), false)?.0)
    }

    fn replace<S: States, Out: Outputs>(
        request: Request<'_, S, Out::Record, Out>,
        mode: Mode,
        mut records: impl ColumnsMut<Out, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        let scan = request.scan();
        let inputs = Inputs { columns: SmallVec::new(), segments: request.segment_memory() };
        let mut records = Written::of(&mut records);
        let stream = request.in_stream_or_none().unwrap_or_else(|| records.0[0].0.stream().clone());
        records.before(&stream)?;
        let pending = inputs.read_in(&stream, &[], |_| {
            request.submit(mode, |call| {
                scan.submit_in_place(call, &mut records.columns(&scan.program().output.columns), &stream)
            })
        })?;
        records.written_in(&stream);
        Ok(pending)
    }

    fn totals<S: States, In: Record, Out: Outputs>(
        mut request: Request<'_, S, In, Out>,
        input: &impl Columns<In, Place = OnDevice>,
        to: &mut impl Totals<S>,
    ) -> Result<(), Error> {
        let (scan, each) = (request.scan(), request.components_of_totals());
        let inputs = Inputs::of(&request, input);
        let stream = inputs.stream(&request);
        let totals = inputs.read_in(&stream, &scan.program().inputs, |columns| {
            request.call(Mode::Inclusive, |call, carry| {
                if carry.is_some() {
                    return Err(monoscan_runtime::Combination::ResumedTotal.into());
                }
                scan.reduce_in_stream(call, columns, &stream)
            })
        })?;
        totals::put(to, states_of(&totals, each))
    }
}

/// New columns, the call that writes them, and totals if these were asked for.
type Collected<Out> = (<Out as Outputs>::Vec<OnDevice>, Pending, Vec<Constant>);

fn collect_and<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    input: &impl Columns<In, Place = OnDevice>,
    totals: bool,
) -> Result<Collected<Out>, Error> {
    let inputs = Inputs::of(&request, input);
    let len = inputs.len();
    request.check_covers(len)?;
    let stream = inputs.stream(&request);
    let keeps = request.scan().program().output.filter.is_some();
    let mut columns = Out::space::<OnDevice>(&stream, len)?;
    let mut written = Written(SmallVec::new());
    Out::parts::<OnDevice>(&mut columns, len, |part| written.0.push(part));
    let (pending, totals) = write(request, mode, inputs, written, totals)?;
    if keeps {
        let written = pending.wait()?;
        // SAFETY: so many records were kept of those that there is space for.
        unsafe { Out::set_len::<OnDevice>(&mut columns, written) };
    }
    Ok((columns, pending, totals))
}

/// Runs a scan into memory that stays with its stream, and what reads that.
#[cfg(feature = "lexer")]
fn through<T: ScanType, M: ScanType, R>(
    first: Plain<'_, T, M>,
    input: &impl Columns<(T,), Place = OnDevice>,
    then: impl FnOnce(&DeviceVec<M>) -> Result<(R, Pending), Error>,
) -> Result<(R, Pending), Error> {
    let inputs = Inputs::of(&first, input);
    let (len, stream) = (inputs.len(), inputs.stream(&first));
    let (memory, in_order) = DeviceMemory::leased(&stream, len * size_of::<M>())?;
    let mut between = DeviceVec { memory, len, records: PhantomData };
    let before = <OnDevice as sealed::Place>::fill(first, Mode::Inclusive, input, &mut between)?;
    let (results, pending) = then(&between)?;
    drop(in_order);
    Ok((results, Pending(pending.0.after(before.0))))
}

/// Gives the call to a stream, and waits for its totals if these are wanted.
fn write<S: States, In: Record, Out: Outputs>(
    request: Request<'_, S, In, Out>,
    mode: Mode,
    inputs: Inputs<'_>,
    mut outputs: Written<'_>,
    totals: bool,
) -> Result<(Pending, Vec<Constant>), Error> {
    let (scan, stream) = (request.scan(), inputs.stream(&request));
    let program = scan.program();
    outputs.before(&stream)?;
    let mut found = Vec::new();
    let pending = inputs.read_in(&stream, &program.inputs, |columns| {
        request.submit(mode, |call| {
            // Segments whose number the device knows have a total each by another scan.
            let are_apart = matches!(call.shape, Shape::KeyColumn(_) | Shape::OffsetColumn(_));
            let call = Call { totals: totals && !are_apart || call.totals, ..call.clone() };
            let pending = scan.submit(&call, columns, &mut outputs.columns(&program.output.columns), &stream)?;
            if totals {
                found = match are_apart {
                    true => scan.reduce_in_stream(&call, columns, &stream)?,
                    false => scan.as_states(pending.wait()?.totals, call.carry.is_some()),
                };
            }
            Ok(pending)
        })
    })?;
    outputs.written_in(&stream);
    Ok((pending, found))
}

/// The columns that a call writes.
struct Written<'a>(SmallVec<[(&'a mut DeviceMemory, Part<usize>); 4]>);

impl<'a> Written<'a> {
    fn of<Out: Outputs>(output: &'a mut impl ColumnsMut<Out, Place = OnDevice>) -> Written<'a> {
        let mut written = SmallVec::new();
        output.parts(|part| written.push(part));
        Written(written)
    }

    fn columns<'c>(&'c mut self, layouts: &'c [Layout]) -> Vec<ColumnMut<'c>> {
        let columns = self.0.iter_mut().zip(layouts).map(|((memory, part), layout)| {
            let place = (part.base, part.len, part.spacing);
            // SAFETY: each vector has such records, of a type whose fields the macro laid out.
            unsafe { memory.column_mut(place, layout) }
        });
        columns.collect()
    }

    fn before(&self, stream: &Stream) -> Result<(), Error> {
        self.0.iter().try_for_each(|(memory, _)| memory.before(stream))
    }

    fn written_in(&mut self, stream: &Stream) {
        self.0.iter_mut().for_each(|(memory, _)| memory.written_in(stream));
    }
}

/// The memory that a call reads: its columns, and what tells its segments.
struct Inputs<'a> {
    columns: SmallVec<[(&'a DeviceMemory, Part<*const u8>); 6]>,
    segments: Option<&'a DeviceMemory>,
}

impl<'a> Inputs<'a> {
    fn of<S, In: Record, Out>(request: &Request<'a, S, In, Out>, input: &'a impl Columns<In>) -> Inputs<'a> {
        let (mut memories, mut parts) = (SmallVec::<[_; 6]>::new(), SmallVec::<[_; 6]>::new());
        input.memories(|memory| memories.push(memory));
        input.parts(|part| parts.push(part));
        Inputs { columns: memories.into_iter().zip(parts).collect(), segments: request.segment_memory() }
    }

    fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, part)| part.len)
    }

    /// The stream that was asked for, or that of the first column.
    fn stream<S, In, Out>(&self, request: &Request<'_, S, In, Out>) -> Stream {
        let first = || self.columns.first().expect("a record has at least one column").0.stream().clone();
        request.in_stream_or_none().unwrap_or_else(first)
    }

    /// Gives what reads all of it to a stream: after whatever writes it, and before whatever is to write it.
    fn read_in<R>(
        &self,
        stream: &Stream,
        layouts: &[Layout],
        give: impl FnOnce(&[Column<'_>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let memories = || self.columns.iter().map(|&(memory, _)| memory).chain(self.segments);
        memories().try_for_each(|memory| memory.before(stream))?;
        let columns = self.columns.iter().zip(layouts);
        let columns = columns.map(|(&(memory, part), layout)| {
            let place = (part.base.addr(), part.len, part.spacing);
            // SAFETY: each vector has such records, of a type whose fields the macro laid out.
            unsafe { memory.column(place, layout) }
        });
        let columns: Vec<_> = columns.collect();
        let given = give(&columns)?;
        memories().try_for_each(|memory| memory.after(stream))?;
        Ok(given)
    }
}

impl<S: States, In, Out> Request<'_, S, In, Out> {
    /// Gives the call to a stream. If a stream of chunks is resumed, it is waited for, since the carry is moved on.
    fn submit(
        mut self,
        mode: Mode,
        submit: impl FnOnce(&Call<'_>) -> Result<gpu::Pending, Error>,
    ) -> Result<Pending, Error> {
        let mut given = None;
        let scan = self.scan().clone();
        self.call(mode, |call, carry| {
            let pending = match carry {
                None => submit(call)?,
                Some(carry) => {
                    let pending = submit(&Call { carry: Some(carry), totals: true, ..call.clone() })?;
                    carry.copy_from_slice(&scan.as_states(pending.wait()?.totals, true));
                    pending
                }
            };
            given = Some(Pending(pending));
            Ok(())
        })?;
        Ok(given.expect("the call was given"))
    }
}

impl<T: ScanType> DeviceVec<T> {
    /// All of it as one column, and the memory that it is in.
    pub(in crate::scan) fn column(&self) -> (Column<'_>, &DeviceMemory) {
        // SAFETY: so many records of this type are there.
        (unsafe { self.memory.column_of(self.len, lang::layout_of::<T>()) }, &self.memory)
    }
}

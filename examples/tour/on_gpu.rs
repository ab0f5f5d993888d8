//! The algorithms that run in the memory of a GPU, beside plain loops of one core.
//!
//! A time is that of a call until the device is done, with the memory that it takes for its
//! results. Copies of input and of results are not in it.

use std::hint::black_box;
use std::time::Instant;

use monoscan::algo::AlgoError;
use monoscan::cuda::Stream;
use monoscan::prelude::*;
use monoscan::{Device, DeviceVec};

use crate::common::{Failure, say};
use crate::{Table, best_times, row};

mod computing;
mod records;
mod segments;
mod texts;

/// The table, and the stream that all vectors here are written in.
struct There {
    records: usize,
    gpu: Device,
    stream: Stream,
}

fn one<T: ScanType>(found: DeviceVec<T>) -> Result<Vec<T>, AlgoError> {
    Ok(found.to_vec()?)
}

fn two<A: ScanType, B: ScanType>(found: (DeviceVec<A>, DeviceVec<B>)) -> Result<(Vec<A>, Vec<B>), AlgoError> {
    Ok((found.0.to_vec()?, found.1.to_vec()?))
}

/// Records, and how many there are of something.
fn with<T: ScanType, N>((found, count): (DeviceVec<T>, N)) -> Result<(Vec<T>, N), AlgoError> {
    Ok((found.to_vec()?, count))
}

impl There {
    fn upload<T: ScanType>(&self, records: &[T]) -> Result<DeviceVec<T>, Failure> {
        Ok(DeviceVec::upload(&self.gpu, records)?)
    }

    /// Runs both, compares what they give once it was copied by `here`, and prints the line.
    fn line<D, T: PartialEq>(
        &self,
        head: (&str, [&str; 3]),
        ours: impl Fn() -> Result<D, AlgoError>,
        here: impl Fn(D) -> Result<T, AlgoError>,
        rival: (&str, impl Fn() -> T),
    ) -> Result<(), Failure> {
        self.judged(head, (|| Ok(()), |()| ours()), here, rival, T::eq)
    }

    /// The same of a call that takes what is made anew for each, which is not timed, and of results that need not be equal.
    fn judged<P, D, T>(
        &self,
        (name, cost): (&str, [&str; 3]),
        (made, ours): (impl Fn() -> Result<P, AlgoError>, impl Fn(P) -> Result<D, AlgoError>),
        here: impl Fn(D) -> Result<T, AlgoError>,
        (rival, theirs): (&str, impl Fn() -> T),
        is_right: impl Fn(&T, &T) -> bool,
    ) -> Result<(), Failure> {
        if !is_right(&here(ours(made()?)?)?, &theirs()) {
            return Err(Failure::Run(format!("{name} gives something else than {rival}")));
        }
        let mut timed = || {
            let given = made()?;
            self.stream.synchronize()?;
            let start = Instant::now();
            let found = ours(given)?;
            self.stream.synchronize()?;
            let time = start.elapsed();
            drop(found);
            Ok(time)
        };
        row((name, cost), best_times(&mut timed, &mut || drop(black_box(theirs())))?, rival);
        Ok(())
    }
}

/// The algorithms that run there, each on vectors that are there.
pub(crate) fn on_gpu(table: &Table, gpu: Device) -> Result<(), Failure> {
    let cuda = gpu.as_cuda().ok_or_else(|| Failure::Run(format!("{gpu} is no GPU")))?;
    let there = There { records: table.records, gpu, stream: Stream::legacy(cuda)? };
    say!("\non {gpu}, with records that are there: times are of the device's work, without copies there and back\n");
    records::selecting(&there)?;
    records::runs(&there)?;
    records::sorting(&there)?;
    segments::segments(&there)?;
    segments::rows(&there)?;
    computing::series(&there)?;
    computing::computing(&there)?;
    texts::texts(&there)?;
    say!("\non the CPU alone: those for which the documentation of `algo::on_gpu` gives the reason");
    Ok(())
}

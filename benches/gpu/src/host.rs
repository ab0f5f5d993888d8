//! The CPU engine on all cores of this machine, over the same data: users choose between the two.
//!
//! Times are those of the clock, from columns in the host's memory to results there.

use std::time::Instant;

use monoscan_ir::Program;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::arena::words;
use crate::line::{Subject, Written};
use crate::rows::Row;

/// Timed calls, after one that is verified.
const ROUNDS: usize = 5;

/// Bytes in memory that any record may begin in.
struct Bytes(Vec<u128>);

impl Bytes {
    /// So many bytes, each period of them the same; zeros without one.
    fn repeated(period: &[u8], bytes: usize) -> Bytes {
        let mut all = Bytes(vec![0; bytes.div_ceil(size_of::<u128>())]);
        if !period.is_empty() {
            let pieces = bytemuck::cast_slice_mut::<u128, u8>(&mut all.0)[..bytes].par_chunks_mut(period.len());
            pieces.for_each(|piece| piece.copy_from_slice(&period[..piece.len()]));
        }
        all
    }
}

impl Written for Bytes {
    fn read(&mut self, first: usize, bytes: usize) -> Result<&[u8], String> {
        let all: &[u8] = bytemuck::cast_slice(&self.0);
        all.get(first..first + bytes).ok_or_else(|| "results end before that".to_owned())
    }
}

/// The most elements that are scanned: more take long to make and to verify, and no other speed.
pub(crate) const MOST: u64 = 1 << 26;

/// Milliseconds of a scan on all cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The median of those measured.
    pub(crate) measured: f64,
    /// Those that the plan predicts, from the time of one thread.
    pub(crate) predicted: f64,
}

/// The milliseconds that a scan of so many elements takes, all results verified.
///
/// # Errors
/// The fault of the results, or why there are none.
pub(crate) fn measure(row: &Row, subject: &dyn Subject, elements: u64) -> Result<Times, String> {
    let (program, elements) = (subject.program(), elements as usize);
    let scan = DynScan::new(program.clone()).map_err(words)?;
    let inputs: Vec<Bytes> = inputs(program, subject, elements);
    let mut output = Bytes::repeated(&[], elements * row.written);
    let mut run = || {
        let columns = inputs.iter().zip(&program.inputs).map(|(bytes, layout)| {
            let bytes: &[u8] = bytemuck::cast_slice(&bytes.0);
            Column::from_bytes(&bytes[..elements * layout.size as usize], layout)
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let results = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut output.0)[..elements * row.written];
        let results = ColumnMut::from_bytes(results, &program.output.columns[0])?;
        scan.run(&Call::default(), &columns, &mut [results])
    };
    let written = run().map_err(words)?;
    let mut median = || {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            run().map_err(words)?;
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok::<_, String>(times[ROUNDS / 2])
    };
    let one = ThreadPoolBuilder::new().num_threads(1).build().map_err(words)?.install(&mut median)?;
    let measured = median()?;
    match subject.written(elements) {
        expected if written != expected => return Err(format!("{written} records were written, expected {expected}")),
        _ => subject.check(elements, &mut output)?,
    }
    let expected = |threads| scan.plan().expected(threads).0 as f64;
    let predicted = one * expected(1) / expected(rayon::current_num_threads());
    Ok(Times { measured, predicted })
}

fn inputs(program: &Program, subject: &dyn Subject, elements: usize) -> Vec<Bytes> {
    let columns = subject.columns().iter().zip(&program.inputs);
    columns.map(|(period, layout)| Bytes::repeated(period, elements * layout.size as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::PERIOD;
    use crate::rows::ALL;

    #[test]
    fn every_row_is_right_on_the_host() {
        for row in &ALL {
            let subject = (row.make)(7).unwrap();
            let time = measure(row, &*subject, PERIOD as u64 / 8 + 3);
            let Times { measured, predicted } = time.unwrap_or_else(|why| panic!("{}: {why}", row.name));
            assert!(measured > 0.0 && predicted > 0.0, "{}: {measured} {predicted}", row.name);
        }
    }
}

//! The algorithms that run in the memory of a GPU, beside what the cores take for the same.

use monoscan::Device;

use crate::Table;
use crate::common::Failure;

/// The algorithms that run there, each on vectors that are there.
#[cfg(not(feature = "gpu"))]
pub(crate) fn on_gpu(_: &Table, gpu: Device) -> Result<(), Failure> {
    Err(Failure::Run(format!("algorithms on {gpu} need a build with `--features gpu`")))
}

/// The algorithms that run there, each on vectors that are there; and those that do not.
#[cfg(feature = "gpu")]
pub(crate) fn on_gpu(table: &Table, gpu: Device) -> Result<(), Failure> {
    use monoscan::algo::sort::{Order, argsort, sort, sort_with_values};
    use monoscan::algo::{AlgoError, groups, on_gpu, runs, select, series, sparse};
    use monoscan::prelude::*;
    use monoscan::{
        DeviceVec,
        ops::{Max, Sum},
    };

    use super::groups::nearly;
    use crate::common::say;
    use crate::{SCAN, drawn};

    fn pair<A: ScanType, B: ScanType>(found: (DeviceVec<A>, DeviceVec<B>)) -> Result<(Vec<A>, Vec<B>), AlgoError> {
        Ok((found.0.to_vec()?, found.1.to_vec()?))
    }
    const RIGHT: &str = "the input is right";
    const CORES: &str = "all cores";

    say!("\non {gpu}, with records that are there, and copies of the results back; beside the cores\n");
    let x: Vec<i32> = drawn(table.records, 50, |bits| bits as i32);
    let flags: Vec<bool> = drawn(table.records, 51, |bits| bits & 1 == 1);
    let classes: Vec<u8> = drawn(table.records, 53, |bits| bits as u8 % 3);
    let floats: Vec<f64> = drawn(table.records, 54, |bits| bits as f64 - 1e19);
    let mut keys: Vec<u32> = drawn(table.records, 52, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let (dx, dflags, dclasses) =
        (DeviceVec::upload(&gpu, &x)?, DeviceVec::upload(&gpu, &flags)?, DeviceVec::upload(&gpu, &classes)?);
    let (dkeys, dfloats) = (DeviceVec::upload(&gpu, &keys)?, DeviceVec::upload(&gpu, &floats)?);

    table.line(
        ("on_gpu::select", SCAN),
        || Ok::<_, AlgoError>(on_gpu::select(&dx, &dflags)?.to_vec()?),
        (CORES, || select::select(&x, &flags).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::select_with_places", SCAN),
        || pair(on_gpu::select_with_places(&dx, &dflags)?),
        (CORES, || select::select_with_places(&x, &flags).expect(RIGHT)),
    )?;
    let positive = select::Select::by(scan!(|x: i32| -> bool { x > 0 }))?;
    let positive_there = positive.on(gpu)?;
    table.line(
        ("on_gpu::Select::select", SCAN),
        || Ok::<_, AlgoError>(positive_there.select(&dx)?.to_vec()?),
        (CORES, || positive.select(&x).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::Select::select_with_places", SCAN),
        || pair(positive_there.select_with_places(&dx)?),
        (CORES, || positive.select_with_places(&x).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::places", SCAN),
        || Ok::<_, AlgoError>(on_gpu::places(&dflags)?.to_vec()?),
        (CORES, || select::places(&flags).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::partition", ["n", "1", "2"]),
        || on_gpu::partition(&dx, &dflags).and_then(|(parts, set)| Ok((parts.to_vec()?, set))),
        (CORES, || select::partition(&x, &flags).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::partition3", ["n", "1", "2"]),
        || on_gpu::partition3(&dx, &dclasses).and_then(|(parts, counts)| Ok((parts.to_vec()?, counts))),
        (CORES, || select::partition3(&x, &classes).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::encode", SCAN),
        || pair(on_gpu::encode(&dkeys)?),
        (CORES, || runs::encode(&keys).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::unique", SCAN),
        || Ok::<_, AlgoError>(on_gpu::unique(&dkeys)?.to_vec()?),
        (CORES, || runs::unique(&keys).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::unique_by_key", SCAN),
        || pair(on_gpu::unique_by_key(&dkeys, &dx)?),
        (CORES, || runs::unique_by_key(&keys, &x).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::sort i32", ["4 n", "4", "12"]),
        || {
            let mut keys = dx.copied()?;
            on_gpu::sort(&mut keys, Order::Ascending)?;
            Ok::<_, AlgoError>(keys.to_vec()?)
        },
        (CORES, || {
            let mut keys = x.clone();
            sort(&mut keys, Order::Ascending).expect(RIGHT);
            keys
        }),
    )?;
    table.line(
        ("on_gpu::argsort f64", ["8 n", "8", "24"]),
        || Ok::<_, AlgoError>(on_gpu::argsort(&dfloats, Order::Ascending)?.to_vec()?),
        (CORES, || argsort(&floats, Order::Ascending).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::sort_with_values", ["4 n", "4", "12"]),
        || {
            let (mut keys, mut values) = (dx.copied()?, dfloats.copied()?);
            on_gpu::sort_with_values(&mut keys, &mut values, Order::Descending)?;
            pair((keys, values))
        },
        (CORES, || {
            let (mut keys, mut values) = (x.clone(), floats.clone());
            sort_with_values(&mut keys, &mut values, Order::Descending).expect(RIGHT);
            (keys, values)
        }),
    )?;
    table.line(
        ("on_gpu::histogram", ["n", "2", "5"]),
        || pair(on_gpu::histogram(&dclasses)?),
        (CORES, || groups::histogram(&classes).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::sums_by_key", SCAN),
        || pair(on_gpu::sums_by_key(&dkeys, &dx)?),
        (CORES, || groups::sums_by_key(&keys, &x).expect(RIGHT)),
    )?;
    let maxima: Vec<Max<i32>> = x.iter().copied().map(Max).collect();
    let dmaxima = DeviceVec::upload(&gpu, &maxima)?;
    table.line(
        ("on_gpu::totals_by_key", SCAN),
        || pair(on_gpu::totals_by_key(&dkeys, &dmaxima)?),
        (CORES, || groups::totals_by_key(&keys, &maxima).expect(RIGHT)),
    )?;
    table.judged(
        ("on_gpu::moments_by_key", SCAN),
        || pair(on_gpu::moments_by_key(&dkeys, &dfloats)?),
        (CORES, || groups::moments_by_key(&keys, &floats).expect(RIGHT)),
        nearly,
    )?;

    // Rows of 0 to 15 elements.
    let mut offsets = vec![0usize];
    let lengths = drawn(table.records, 55, |bits| bits as usize & 15).into_iter();
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end).filter(|&end| end <= table.records)
    });
    offsets.extend(ends);
    let (rows, len) = (offsets.len() - 1, offsets[offsets.len() - 1]);
    let narrow: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
    let sums: Vec<Sum<i32>> = x[..len].iter().map(|&x| Sum(x)).collect();
    let (doffsets, dsums) = (DeviceVec::upload(&gpu, &narrow)?, DeviceVec::upload(&gpu, &sums)?);
    table.line(
        ("on_gpu::totals_by_offsets", SCAN),
        || Ok::<_, AlgoError>(on_gpu::totals_by_offsets(&doffsets, &dsums)?.to_vec()?),
        (CORES, || groups::totals_by_offsets(&offsets, &sums).expect(RIGHT)),
    )?;
    let columns: Vec<u32> = drawn(len, 56, |bits| (bits % rows.max(1) as u64) as u32);
    let (values, by): (Vec<i32>, Vec<i32>) = (x[..len].to_vec(), drawn(rows, 57, |bits| bits as i32));
    let (dcolumns, dvalues, dby) =
        (DeviceVec::upload(&gpu, &columns)?, DeviceVec::upload(&gpu, &values)?, DeviceVec::upload(&gpu, &by)?);
    let matrix = sparse::Csr::new(&offsets, &columns, &values, rows)?;
    table.line(
        ("on_gpu::Csr::times", SCAN),
        || Ok::<_, AlgoError>(on_gpu::Csr::new(&doffsets, &dcolumns, &dvalues, rows)?.times(&dby)?.to_vec()?),
        (CORES, || matrix.times(&by).expect(RIGHT)),
    )?;

    table.line(
        ("on_gpu::forward_fill", SCAN),
        || Ok::<_, AlgoError>(on_gpu::forward_fill(&dx, &dflags, 0)?.to_vec()?),
        (CORES, || series::forward_fill(&x, &flags, 0).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::backward_fill", SCAN),
        || Ok::<_, AlgoError>(on_gpu::backward_fill(&dx, &dflags, 0)?.to_vec()?),
        (CORES, || series::backward_fill(&x, &flags, 0).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::sessions", SCAN),
        || Ok::<_, AlgoError>(on_gpu::sessions(&dkeys, 0)?.to_vec()?),
        (CORES, || series::sessions(&keys, 0).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::running_argmax", SCAN),
        || Ok::<_, AlgoError>(on_gpu::running_argmax(&dx)?.to_vec()?),
        (CORES, || series::running_argmax(&x).expect(RIGHT)),
    )?;
    table.line(
        ("on_gpu::line_of_sight", SCAN),
        || Ok::<_, AlgoError>(on_gpu::line_of_sight(&dfloats)?.to_vec()?),
        (CORES, || series::line_of_sight(&floats).expect(RIGHT)),
    )?;
    say!(
        "\non the CPU alone: run-length decoding, quicksort, long integers, recurrences, lists, trees, brackets and\n\
         text, which are blocks and loops there"
    );
    Ok(())
}

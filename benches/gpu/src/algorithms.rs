//! The algorithms of `monoscan::algo::on_gpu`, with the copy of the bytes that each must read and
//! write, and CUB and cuSPARSE beside them: the program that `benches/peers/cub_algorithms.cu` is
//! compiled to, which makes the same data.
//!
//! Times are those between two events of the stream, around one call that takes no memory from the
//! driver; waits for the host within a call are in them.

use std::path::Path;
use std::process::Command;

use monoscan::algo::on_gpu::{self, Csr, Workspace};
use monoscan::algo::sort::{Order, SortKey};
use monoscan::cuda::{DeviceSlice, DeviceSliceMut, Event, Stream};
use monoscan::prelude::*;
use monoscan::{Device, DeviceVec};
use rayon::prelude::*;

use crate::arena::{Failure, words};
use crate::cub::{Time, line};
use crate::options::{Options, Size};

const WARM: usize = 3;
const ROUNDS: usize = 15;

/// Matrices have up to 2 to this power rows, of some sixty elements: sums of more are no longer exact.
const MOST_ROWS: u32 = 20;

/// Random bits of a number, as the rivals draw them.
fn mix(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn made<T: Send>(len: usize, of: impl Fn(u64) -> T + Sync + Send) -> Vec<T> {
    (0..len as u64).into_par_iter().map(of).collect()
}

/// The times of one algorithm at one size.
struct Line {
    name: &'static str,
    power: u32,
    milliseconds: f64,
    copy: f64,
}

/// The devices and data that run them.
struct Bench<'a> {
    device: Device,
    stream: Stream,
    events: [Event; 2],
    lines: Vec<Line>,
    options: &'a Options,
    wrong: usize,
}

/// Runs all algorithms that were asked for. Whether all results were right.
///
/// # Errors
/// The error of a device.
pub(crate) fn measure(device: &Device, options: &Options) -> Result<bool, String> {
    let cub = match &options.cub {
        Some(program) => rivals(program, &powers(options)),
        None => Err("not asked for".to_owned()),
    };
    let cub = cub.unwrap_or_else(|why| {
        println!("rivals are absent: {why}");
        Vec::new()
    });
    let cuda = device.as_cuda().ok_or("algorithms on a device need one")?;
    let event = || Event::new(cuda).map_err(words);
    let (stream, events) = (Stream::legacy(cuda).map_err(words)?, [event()?, event()?]);
    let mut bench = Bench { device: *device, stream, events, lines: Vec::new(), options, wrong: 0 };
    for power in powers(options) {
        bench.at(power).map_err(words)?;
    }
    println!("{}", table(&bench.lines, &cub));
    Ok(bench.wrong == 0)
}

fn powers(options: &Options) -> Vec<u32> {
    let asked = options.sizes.iter().filter_map(|size| match size {
        Size::Power(power) => Some(*power),
        Size::Largest => None,
    });
    let asked: Vec<u32> = asked.collect();
    if asked.is_empty() { vec![20, 24, 28] } else { asked }
}

fn rivals(program: &Path, powers: &[u32]) -> Result<Vec<(String, u64, Time)>, String> {
    let sizes: Vec<String> = powers.iter().map(u32::to_string).collect();
    let output = Command::new(program).args(["--sizes", &sizes.join(",")]).output().map_err(words)?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    match output.status.success() {
        true => Ok(text.lines().filter_map(line).collect()),
        false => Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr))),
    }
}

fn table(lines: &[Line], cub: &[(String, u64, Time)]) -> String {
    let mut text =
        "\n| algorithm | n | ms | of the copy | rival, ms | rival's time over ours |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for Line { name, power, milliseconds, copy } in lines {
        let rival = cub.iter().find(|(of, size, _)| of == name && *size == 1 << power);
        let beside = match rival {
            Some((.., time)) => format!("{:.4} | {:.2}", time.milliseconds, time.milliseconds / milliseconds),
            None => "– | –".to_owned(),
        };
        text += &format!("| {name} | 2^{power} | {milliseconds:.4} | {:.2} | {beside} |\n", copy / milliseconds);
    }
    text
}

/// Copies the first bytes of one vector to another.
fn copy<T: ScanType>(
    stream: &Stream,
    (from, to): (&DeviceVec<T>, &mut DeviceVec<T>),
    bytes: usize,
) -> Result<(), Failure> {
    assert!(from.len().min(to.len()) * size_of::<T>() >= bytes);
    let device = stream.device();
    // SAFETY: both vectors have so many bytes, are borrowed, and were last used in this stream.
    let (from, mut to) = unsafe {
        let from = DeviceSlice::<u8>::from_raw(device, from.address(), bytes);
        (from, DeviceSliceMut::<u8>::from_raw(device, to.address(), bytes))
    };
    Ok(to.copy_from_device(stream, &from)?)
}

impl Bench<'_> {
    fn upload<T: ScanType>(&self, records: &[T]) -> Result<DeviceVec<T>, Failure> {
        Ok(DeviceVec::upload(&self.device, records)?)
    }

    /// Times a call, and a copy of half of these bytes.
    fn time(
        &mut self,
        (name, power): (&'static str, u32),
        bytes: f64,
        mut call: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.time_after((name, power), bytes, |is_timed| if is_timed { call() } else { Ok(()) })
    }

    /// The same of a call that something goes before which is not timed.
    fn time_after(
        &mut self,
        (name, power): (&'static str, u32),
        bytes: f64,
        mut call: impl FnMut(bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let milliseconds = self.median(&mut call)?;
        let half = bytes as usize / 2;
        let (from, mut to) = (self.upload(&vec![0u8; half])?, self.upload(&vec![0u8; half])?);
        let stream = self.stream.clone();
        let copied =
            self.median(&mut |is_timed| if is_timed { copy(&stream, (&from, &mut to), half) } else { Ok(()) })?;
        println!(
            "{name:<24} n=2^{power:<3} {milliseconds:9.4} ms   copy {copied:8.4} ms  ratio {:.3}",
            copied / milliseconds
        );
        self.lines.push(Line { name, power, milliseconds, copy: copied });
        Ok(())
    }

    fn median(&self, call: &mut impl FnMut(bool) -> Result<(), Failure>) -> Result<f64, Failure> {
        let mut times = Vec::new();
        for round in 0..WARM + ROUNDS {
            call(false)?;
            self.events[0].record(&self.stream)?;
            call(true)?;
            self.events[1].record(&self.stream)?;
            self.events[1].synchronize()?;
            if round >= WARM {
                times.push(f64::from(self.events[1].milliseconds_since(&self.events[0])?));
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times[ROUNDS / 2])
    }

    /// Compares a result with that of a plain loop.
    fn check<T: PartialEq>(&mut self, name: &str, found: &[T], expected: &[T]) {
        if found != expected {
            self.wrong += 1;
            println!("  BAD: {name} gives something else than the plain loop");
        }
    }

    fn at(&mut self, power: u32) -> Result<(), Failure> {
        let len = 1usize << power;
        let wants = |name: &str| self.options.wants(name);
        if wants("select") || wants("partition") || wants("sumsByKey") {
            self.kept(power, len)?;
        }
        if self.options.wants("encode") {
            self.encode("encode.u8", power, &made(len, |i| mix(i >> 2) as u8))?;
            self.encode("encode.u16", power, &made(len, |i| mix(i >> 2) as u16))?;
            self.encode("encode.u32", power, &made(len, |i| (mix(i >> 2) & 0xffff) as u32))?;
            self.encode("encode.u64", power, &made(len, |i| mix(i >> 2)))?;
            self.encode("encode.u8.long", power, &made(len, |i| mix(i >> 6) as u8))?;
            self.encode("encode.u32.long", power, &made(len, |i| mix(i >> 6) as u32))?;
        }
        if self.options.wants("sort") {
            self.sorts("sort.u32", power, &made(len, |i| mix(i) as u32), |x| x.par_sort_unstable())?;
            self.sorts("sort.u64", power, &made(len, mix), |x| x.par_sort_unstable())?;
            self.sorts("sort.f32", power, &made(len, |i| mix(i) as i32 as f32), |x| {
                x.par_sort_unstable_by(f32::total_cmp);
            })?;
            self.pairs(power, len)?;
        }
        if wants("totalsOfOne") {
            self.one_segment(power, len)?;
        }
        if power <= MOST_ROWS && (self.options.wants("totals") || self.options.wants("spmv")) {
            self.rows(power, len)?;
        }
        Ok(())
    }

    fn kept(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let x = made(len, |i| mix(i) as i32);
        let flags = made(len, |i| mix(i + (1 << 40)) & 1 == 1);
        let of = |set: bool| x.par_iter().zip(&flags).filter(move |(_, flag)| **flag == set).map(|(x, _)| *x);
        let (kept, others): (Vec<i32>, Vec<i32>) = (of(true).collect(), of(false).collect());
        let (dx, dflags) = (self.upload(&x)?, self.upload(&flags)?);
        self.check("select", &on_gpu::select(&dx, &dflags)?.to_vec()?, &kept);
        let (parts, set) = on_gpu::partition(&dx, &dflags)?;
        self.check("partition", &parts.to_vec()?, &[&kept[..], &others].concat());
        self.check("partition", &[set], &[kept.len()]);
        let mut out = self.upload(&x)?;
        self.time(("select.i32", power), 5.0 * len as f64 + 4.0 * kept.len() as f64, || {
            on_gpu::select_into(&dx, &dflags, &mut out)?;
            Ok(())
        })?;
        self.check("select_into", &out.to_vec()?[..kept.len()], &kept);
        let mut space = Workspace::new();
        let mut set = self.upload(&[0u32])?;
        self.time(("partition.i32", power), 9.0 * len as f64, || {
            Ok(space.partition_on_device(&dx, &dflags, &mut out, &mut set)?)
        })?;
        self.check("partition_on_device", &out.to_vec()?, &[&kept[..], &others].concat());
        self.check("partition_on_device", &set.to_vec()?, &[kept.len() as u32]);
        let keys = made(len, |i| (i / 10) as u32);
        let sums: Vec<i32> = x.par_chunks(10).map(|x| x.iter().fold(0, |a, b| a.wrapping_add(*b))).collect();
        let dkeys = self.upload(&keys)?;
        self.check("sumsByKey", &on_gpu::sums_by_key(&dkeys, &dx)?.1.to_vec()?, &sums);
        let (mut dk, mut ds) = (self.upload(&keys)?, self.upload(&x)?);
        self.time(("sumsByKey.u32.i32", power), 8.8 * len as f64, || {
            on_gpu::sums_by_key_into((&dkeys, &dx), &mut dk, &mut ds)?;
            Ok(())
        })?;
        self.check("sums_by_key_into", &dk.to_vec()?[..sums.len()], &made(sums.len(), |i| i as u32));
        self.check("sums_by_key_into", &ds.to_vec()?[..sums.len()], &sums);
        Ok(())
    }

    fn encode<T: ScanType + PartialEq>(&mut self, name: &'static str, power: u32, x: &[T]) -> Result<(), Failure> {
        let (mut values, mut lengths) = (Vec::new(), Vec::new());
        for run in x.chunk_by(|a, b| a == b) {
            values.push(run[0]);
            lengths.push(run.len() as u32);
        }
        let dx = self.upload(x)?;
        let (found, found_lengths) = on_gpu::encode(&dx)?;
        self.check(name, &found.to_vec()?, &values);
        self.check(name, &found_lengths.to_vec()?, &lengths);
        let (mut dv, mut dl) = (self.upload(x)?, self.upload(&vec![0u32; lengths.len()])?);
        let bytes = size_of_val(x) + lengths.len() * (size_of::<T>() + 4);
        self.time((name, power), bytes as f64, || {
            on_gpu::encode_into(&dx, &mut dv, &mut dl)?;
            Ok(())
        })?;
        self.check(name, &dv.to_vec()?[..values.len()], &values);
        self.check(name, &dl.to_vec()?, &lengths);
        Ok(())
    }

    fn sorts<K: SortKey>(
        &mut self,
        name: &'static str,
        power: u32,
        x: &[K],
        sort: impl Fn(&mut [K]),
    ) -> Result<(), Failure> {
        let mut expected = x.to_vec();
        sort(&mut expected);
        let (dx, mut keys) = (self.upload(x)?, self.upload(x)?);
        let mut space = Workspace::new();
        let stream = self.stream.clone();
        // Each round sorts the same numbers, not sorted ones.
        let bytes = size_of_val(x);
        self.time_after((name, power), 2.0 * bytes as f64, |is_timed| {
            if is_timed { Ok(space.sort(&mut keys, Order::Ascending)?) } else { copy(&stream, (&dx, &mut keys), bytes) }
        })?;
        self.check(name, &keys.to_vec()?, &expected);
        Ok(())
    }

    fn pairs(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let x = made(len, |i| mix(i) as u32);
        let mut expected = made(len, |i| i as u32);
        expected.par_sort_by_key(|&place| x[place as usize]);
        let dx = self.upload(&x)?;
        self.check("argsort", &on_gpu::argsort(&dx, Order::Ascending)?.to_vec()?, &expected);
        let places = self.upload(&made(len, |i| i as u32))?;
        let (mut keys, mut values) = (self.upload(&x)?, self.upload(&x)?);
        let (mut space, stream) = (Workspace::new(), self.stream.clone());
        self.time_after(("sortPairs.u32.u32", power), 16.0 * len as f64, |is_timed| {
            if is_timed {
                return Ok(space.sort_with_values(&mut keys, &mut values, Order::Ascending)?);
            }
            copy(&stream, (&dx, &mut keys), 4 * len)?;
            copy(&stream, (&places, &mut values), 4 * len)
        })?;
        self.check("sortPairs", &values.to_vec()?, &expected);
        Ok(())
    }

    /// All records in one segment.
    fn one_segment(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let x = made(len, |i| monoscan::ops::Sum(mix(i) as i32));
        let sum = x.par_iter().map(|x| x.0).reduce(|| 0, i32::wrapping_add);
        let (dx, offsets) = (self.upload(&x)?, self.upload(&[0, len as u32])?);
        let mut out = self.upload(&x[..1])?;
        self.time(("totalsOfOne.i32", power), 4.0 * len as f64, || {
            Ok(on_gpu::totals_by_offsets_into(&offsets, &dx, &mut out)?)
        })?;
        self.check("totalsOfOne", &[out.to_vec()?[0].0], &[sum]);
        Ok(())
    }

    /// Rows of unequal length: the first has about as many elements as 4 in each row.
    fn rows(&mut self, power: u32, rows: usize) -> Result<(), Failure> {
        let mut offsets = vec![0u32];
        for row in 0..rows {
            offsets.push(offsets[row] + (8 + 4 * rows / (row + 1)) as u32);
        }
        let len = offsets[rows] as usize;
        let doffsets = self.upload(&offsets)?;
        let row_of = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;

        let x = made(len, |i| monoscan::ops::Sum(mix(i) as i32));
        let sum = |row: usize| x[row_of(row)].iter().fold(0i32, |sum, x| sum.wrapping_add(x.0));
        let sums: Vec<i32> = (0..rows).into_par_iter().map(sum).collect();
        let dx = self.upload(&x)?;
        let mut out = self.upload(&x[..rows])?;
        on_gpu::totals_by_offsets_into(&doffsets, &dx, &mut out)?;
        let found: Vec<i32> = out.to_vec()?.into_iter().map(|sum| sum.0).collect();
        self.check("totalsByOffsets", &found, &sums);
        self.time(("totalsByOffsets.i32", power), 4.0 * len as f64 + 8.0 * rows as f64, || {
            Ok(on_gpu::totals_by_offsets_into(&doffsets, &dx, &mut out)?)
        })?;

        let columns = made(len, |i| (mix(i) % rows as u64) as u32);
        // So small that all sums are exact.
        let (values, x) = (made(len, |i| (mix(i) >> 62) as f32), made(rows, |i| (mix(i) >> 62) as f32));
        let product = |row: usize| row_of(row).map(|i| values[i] * x[columns[i] as usize]).sum();
        let products: Vec<f32> = (0..rows).into_par_iter().map(product).collect();
        let (dcolumns, dvalues, dx) = (self.upload(&columns)?, self.upload(&values)?, self.upload(&x)?);
        let matrix = Csr::new(&doffsets, &dcolumns, &dvalues, rows)?;
        let mut y = matrix.times(&dx)?;
        self.check("spmv", &y.to_vec()?, &products);
        self.time(("spmv.f32", power), 8.0 * len as f64 + 12.0 * rows as f64, || Ok(matrix.times_into(&dx, &mut y)?))
    }
}

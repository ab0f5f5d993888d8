//! The algorithms of `monoscan::algo::on_gpu`, with the copy of the bytes that each must read and
//! write, and CUB and cuSPARSE beside them: the program that `benches/peers/cub_algorithms.cu` is
//! compiled to, which makes the same data.
//!
//! Times are those between two events of the stream, around one call that takes no memory from the
//! driver, but for the histogram; waits for the host within a call are in them.

mod kept;
mod segments;
mod sorted;

use std::path::Path;
use std::process::Command;

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
        // Of several ways to do the same, as `name.alg1` and `name.alg2`, the fastest counts.
        let is_rival = |of: &str| of.strip_prefix(name).is_some_and(|way| way.is_empty() || way.starts_with(".alg"));
        let rivals = cub.iter().filter(|(of, size, _)| is_rival(of) && *size == 1 << power).map(|(.., time)| time);
        let beside = match rivals.min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds)) {
            Some(time) => format!("{:.4} | {:.2}", time.milliseconds, time.milliseconds / milliseconds),
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
            "{name:<28} n=2^{power:<3} {milliseconds:9.4} ms   copy {copied:8.4} ms  ratio {:.3}",
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
        self.kept(power, len)?;
        self.runs(power, len)?;
        self.sorted(power, len)?;
        self.segments(power, len)?;
        if power <= MOST_ROWS { self.rows(power, len) } else { Ok(()) }
    }

    fn wants(&self, name: &str) -> bool {
        self.options.wants(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_way_of_a_rival_counts_and_no_other_row() {
        let cub = [("spmv.f32.alg1", 3.0), ("spmv.f32.alg2", 2.0), ("spmv.f32.half.alg1", 1.0)];
        let cub = cub.map(|(name, milliseconds)| (name.to_owned(), 1 << 20, Time { milliseconds, of_copy: 1.0 }));
        let line = |name| Line { name, power: 20, milliseconds: 1.0, copy: 0.5 };
        let text = table(&[line("spmv.f32"), line("spmv.f64")], &cub);
        assert!(text.contains("| spmv.f32 | 2^20 | 1.0000 | 0.50 | 2.0000 | 2.00 |"), "{text}");
        assert!(text.contains("| spmv.f64 | 2^20 | 1.0000 | 0.50 | – | – |"), "{text}");
    }
}

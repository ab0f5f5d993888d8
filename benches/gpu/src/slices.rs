//! Scans of slices in the memory of the host: on a GPU, to which they are carried and back, and on
//! all cores of the host. The copies alone are `DeviceVec::write` and `read` of the same bytes.
//!
//! Times are those of the clock; the median. All results are compared with those of the CPU engine.

use std::time::Instant;

use monoscan::lexer::{Lexer, RULE_SETS, Rules};
use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Device, DeviceVec, Error};

use bench_shared::data;
use bench_shared::report::power;

use crate::arena::words;
use crate::options::{Options, Size};

/// Timed calls, after one that is verified.
const ROUNDS: usize = 9;

/// A call on a device: its results, as bytes, go to the slice.
type Call<'a> = Box<dyn FnMut(&mut [u8]) -> Result<(), String> + 'a>;

/// Makes a call for a device, over so many elements.
type Make = for<'a> fn(&Device, &'a [u8]) -> Result<Call<'a>, String>;

/// The name of a row, the bytes that an element of it has and that its result has, the input, and the call.
struct Row {
    name: &'static str,
    read: usize,
    written: usize,
    input: fn(usize) -> Vec<u8>,
    make: Make,
}

const ROWS: [Row; 4] = [
    Row {
        name: "sum-i32",
        read: 4,
        written: 4,
        input: numbers,
        make: |device, x| {
            let (sums, x) = sums(device, x)?;
            Ok(Box::new(move |y| {
                sums.inclusive_into(x, bytemuck::cast_slice_mut::<u8, i32>(y)).map(drop).map_err(words)
            }))
        },
    },
    Row {
        name: "reduce-i32",
        read: 4,
        written: 0,
        input: numbers,
        make: |device, x| {
            let (sums, x) = sums(device, x)?;
            Ok(Box::new(move |_| sums.reduce(x).map(drop).map_err(words)))
        },
    },
    Row { name: "labels-json", read: 1, written: 1, input: json, make: |device, text| labels(device, text, "json") },
    Row { name: "labels-c", read: 1, written: 1, input: c, make: |device, text| labels(device, text, "c") },
];

/// Plain sums.
type Sums = Scan<Sum<i32>, (i32,), i32>;

/// The scan of sums on a device, and the numbers that these bytes are.
fn sums<'a>(device: &Device, x: &'a [u8]) -> Result<(Sums, &'a [i32]), String> {
    let sums = Scan::<Sum<i32>>::plain().and_then(|scan| scan.on(*device)).map_err(words)?;
    Ok((sums, bytemuck::cast_slice(x)))
}

fn numbers(len: usize) -> Vec<u8> {
    (0..len as u32).flat_map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7).to_le_bytes()).collect()
}

fn json(len: usize) -> Vec<u8> {
    repeated(&data::json(1 << 20), len)
}

fn c(len: usize) -> Vec<u8> {
    repeated(&include_bytes!("../../peers/cub_scan.cu").repeat(64), len)
}

fn repeated(period: &[u8], len: usize) -> Vec<u8> {
    period.iter().copied().cycle().take(len).collect()
}

fn labels<'a>(device: &Device, text: &'a [u8], rules: &str) -> Result<Call<'a>, String> {
    let rules = RULE_SETS.into_iter().find(|(name, _)| *name == rules).ok_or("there are no such rules")?.1;
    let lexer = Lexer::new(Rules::parse(rules).map_err(words)?).map_err(words)?.on(*device).map_err(words)?;
    Ok(Box::new(move |labels| lexer.labels_into(text, labels).map(drop).map_err(words)))
}

/// Prints the speed of each. Whether all results were right.
///
/// # Errors
/// The error of a device or a scan.
pub(crate) fn measure(device: &Device, options: &Options) -> Result<bool, String> {
    println!("\n| row | n | GPU, GB/s there and back | the copies alone | all cores of the host |");
    println!("|---|---|---|---|---|");
    let mut all_right = true;
    for row in ROWS.iter().filter(|row| options.wants(row.name)) {
        for size in options.slice_sizes() {
            let Size::Power(power) = size else { return Err("slices have 2^n elements, and max is none".to_owned()) };
            match row.line(device, 1 << power) {
                Ok(line) => println!("{line}"),
                Err(why) => {
                    all_right = false;
                    println!("| {} | 2^{power} | BAD: {why} | | |", row.name);
                }
            }
        }
    }
    Ok(all_right)
}

impl Row {
    fn line(&self, device: &Device, elements: usize) -> Result<String, String> {
        let input = (self.input)(elements);
        let bytes = elements * (self.read + self.written);
        let [mut expected, mut found] = [vec![0; elements * self.written], vec![1; elements * self.written]];
        let on_cpu = median(&mut *(self.make)(&Device::cpu(), &input)?, &mut expected)?;
        let on_gpu = median(&mut *(self.make)(device, &input)?, &mut found)?;
        if found != expected {
            return Err("results differ from those of the CPU".to_owned());
        }
        let mut there = DeviceVec::upload(device, &input).map_err(words)?;
        let back = DeviceVec::upload(device, &found).map_err(words)?;
        let copies = &mut |results: &mut [u8]| {
            let both: Result<(), Error> = there.write(&input).and_then(|()| back.read(results));
            both.map_err(words)
        };
        let copies = median(copies, &mut found)?;
        let [on_gpu, copies, on_cpu] = [on_gpu, copies, on_cpu].map(|seconds| bytes as f64 / seconds / 1e9);
        let size = power(elements as u64);
        Ok(format!("| {} | {size} | {on_gpu:.1} | {copies:.1} | {on_cpu:.1} |", self.name))
    }
}

/// Seconds of a call, after one that is not timed.
fn median(call: &mut dyn FnMut(&mut [u8]) -> Result<(), String>, results: &mut [u8]) -> Result<f64, String> {
    call(results)?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        call(results)?;
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

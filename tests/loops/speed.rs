//! Every derived loop of the suites beside the loop itself. Times are no test of a machine that
//! others use, so this is run by hand, in a build that is optimised:
//!
//! ```text
//! cargo test --release --test loops no_scan_is_slower -- --ignored --nocapture
//! ```
//!
//! `MONOSCAN_LOOP=CRC` takes those alone that have this in their names, `MONOSCAN_SIZES=12,20` the
//! logarithms of how many records. Calls take 2^20 records in turn: a processor learns the branches
//! of fewer, which users' records do not repeat. `MONOSCAN_SAME=1` gives each call the same.
//! `MONOSCAN_ALL=1` prints every loop.

use std::hint::black_box;
use std::time::Instant;

use monoscan::ir::derive::derive;
use scan_kit::Random;

use crate::entry::{Entry, Plain};
use crate::times::entries;

const ROUNDS: usize = 9;

/// Records that differ.
const DIFFERENT: usize = 1 << 20;

/// Calls of short lines after which a scan knows which code is faster.
const DECIDING: usize = 160;

/// How many times as fast as the loop a scan has to be.
const LEAST: f64 = 0.95;

/// Bytes that begin where any value may.
struct Aligned(Vec<u128>, usize);

impl Aligned {
    fn new(bytes: &[u8]) -> Aligned {
        let mut aligned = Aligned(vec![0; bytes.len().div_ceil(16)], bytes.len());
        aligned.bytes_mut().copy_from_slice(bytes);
        aligned
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: there are as many bytes.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.1) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.1) }
    }
}

/// A loop's records, and what is made of them.
struct Race<'a> {
    entry: &'a Entry,
    columns: Vec<Aligned>,
    states: Aligned,
    len: usize,
}

impl Race<'_> {
    fn new(entry: &Entry, len: usize) -> Race<'_> {
        let mut random = Random(7);
        let different = if std::env::var_os("MONOSCAN_SAME").is_some() { len.min(DIFFERENT) } else { DIFFERENT };
        let records: Vec<_> = (0..different).map(|_| entry.element(&mut random)).collect();
        let mut place = 0;
        let columns = entry.program.inputs.iter().map(|layout| {
            let own = place..place + layout.fields.len();
            place = own.end;
            let bytes: Vec<u8> = records.iter().flat_map(|record| layout.to_bytes(&record[own.clone()])).collect();
            Aligned::new(&bytes.repeat((len / records.len()).max(1)))
        });
        let columns = columns.collect();
        let states = Aligned::new(&vec![0; len * entry.program.output.columns[0].size as usize]);
        Race { entry, columns, states, len }
    }

    /// Nanoseconds a record of the loop and of the scan, in the same rounds: the states after each record, or after the last.
    fn times(&mut self, scanned: &Plain, is_total: bool) -> [f64; 2] {
        let size = self.entry.program.output.columns[0].size as usize;
        let calls = (1 << 14 >> self.len.ilog2().min(14)).max(1);
        let parts = self.columns.iter().zip(&self.entry.program.inputs).map(|(column, layout)| {
            let size = layout.size as usize;
            // Columns without bytes are the same in each call.
            let parts = column.bytes().len() / (self.len * size).max(1);
            (0..parts.max(1)).map(|part| &column.bytes()[part * self.len * size..][..self.len * size]).collect()
        });
        let parts: Vec<Vec<&[u8]>> = parts.collect();
        let in_turn = |call: usize| parts.iter().map(|parts| parts[call % parts.len()]).collect::<Vec<&[u8]>>();
        let inputs: Vec<Vec<&[u8]>> = (0..DIFFERENT.div_ceil(self.len)).map(in_turn).collect();
        let states = self.states.bytes_mut();
        let mut best = [f64::INFINITY; 2];
        // Before the first round come the calls by which a scan decides who takes short lines.
        let first = DECIDING.min((1 << 19) / self.len);
        for round in 0..2 * (ROUNDS + 1) {
            let calls = if round < 2 { calls.max(first) } else { calls };
            let start = Instant::now();
            for call in 0..calls {
                let part = (round / 2 * calls + call) % inputs.len();
                let states = black_box(&mut *states);
                let states = if is_total { &mut states[..size] } else { states };
                (if round % 2 == 0 { &self.entry.plain } else { scanned })(&inputs[part], states);
            }
            let time = start.elapsed().as_secs_f64() * 1e9 / (calls * self.len) as f64;
            // The first round fills caches.
            if round > 1 {
                best[round % 2] = best[round % 2].min(time);
            }
        }
        best
    }
}

#[test]
#[ignore = "a time, of an optimised build on a quiet machine"]
fn no_scan_is_slower_than_its_loop() {
    let sizes = std::env::var("MONOSCAN_SIZES").unwrap_or_else(|_| "12,20".to_owned());
    let sizes: Vec<u32> = sizes.split(',').map(|size| size.parse().expect("a logarithm")).collect();
    let mut slower = Vec::new();
    let all = std::env::var_os("MONOSCAN_ALL").is_some();
    for size in sizes {
        let mut ratios: [Vec<f64>; 2] = Default::default();
        for entry in entries().iter().filter(|entry| derive(&entry.program).is_ok()) {
            let scanned = (entry.scanned)();
            let mut race = Race::new(entry, 1 << size);
            for (is_total, ratios) in [false, true].into_iter().zip(&mut ratios) {
                let [plain, scan] = race.times(&scanned, is_total);
                ratios.push(plain / scan);
                let what = if is_total { "total" } else { "states" };
                if all {
                    println!("2^{size} {what} {}: {plain:.3} {scan:.3}", entry.name);
                }
                if plain / scan < LEAST {
                    slower.push((plain / scan, format!("2^{size}, {what}: {} {plain:.2}, {scan:.2} ns", entry.name)));
                }
            }
        }
        for (what, mut ratios) in ["states", "totals"].into_iter().zip(ratios) {
            ratios.sort_unstable_by(f64::total_cmp);
            let below = ratios.iter().filter(|&&ratio| ratio < LEAST).count();
            let [least, median, most] = [0, ratios.len() / 2, ratios.len() - 1].map(|place| ratios[place]);
            println!("2^{size}, {what}: {below} of {} below {LEAST}; {least:.2}, {median:.2}, {most:.2}", ratios.len());
        }
    }
    slower.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    slower.iter().for_each(|(ratio, what)| println!("  {ratio:.2}  {what}"));
    assert!(slower.is_empty(), "{} scans and totals are slower than their loops", slower.len());
}

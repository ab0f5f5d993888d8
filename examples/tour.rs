//! Each family of algorithms in `monoscan::algo`, beside what one would write instead.
//!
//! ```text
//! cargo run --release --example tour -- [--records N] [--device cpu|cuda:N]
//! ```
//!
//! Each line: the algorithm, its work, depth and passes for n records, its time, and that of a
//! plain loop or of the standard library, whose result must be the same. With a GPU, algorithms
//! that are one scan run there too, on vectors that stay there.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Failure, device, finish, say};
use monoscan::Device;
use monoscan::algo::brackets::{Side, partners};
use monoscan::algo::lists::{NONE, rank, rank_by_jumping};
use monoscan::algo::sort::{Order, argsort, quicksort, sort, sort_with_values};
use monoscan::algo::sparse::Csr;
use monoscan::algo::trees::Tour;
use monoscan::algo::{groups, numbers, runs, select, series, text};

mod common;

fn main() -> ExitCode {
    finish(chosen().and_then(|(records, device)| run(records, device)), "tour [--records N] [--device cpu|cuda:N]")
}

fn chosen() -> Result<(usize, Device), Failure> {
    let mut chosen = (1 << 20, Device::cpu());
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| Failure::Usage(format!("{argument} needs a value")));
        match argument.as_str() {
            "--records" => {
                let records = value()?;
                let parsed = records.parse().ok().filter(|&records| (1..1 << 30).contains(&records));
                chosen.0 =
                    parsed.ok_or_else(|| Failure::Usage(format!("`{records}` is no number from 1 to 2^30 - 1")))?;
            }
            "--device" => chosen.1 = device(&value()?)?,
            _ => return Err(Failure::Usage(format!("unknown argument `{argument}`"))),
        }
    }
    Ok(chosen)
}

/// The table, line by line.
struct Table {
    records: usize,
}

/// Times are the best of so many rounds, or of those that fit this time, and of one at least.
const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_millis(300);

impl Table {
    /// Runs both, compares what they give, and prints the line. `cost` is work, depth and passes.
    fn line<T: PartialEq, E: Into<Failure>>(
        &self,
        (name, cost): (&str, [&str; 3]),
        ours: impl Fn() -> Result<T, E>,
        (rival, theirs): (&str, impl Fn() -> T),
    ) -> Result<(), Failure> {
        if ours().map_err(Into::into)? != theirs() {
            return Err(Failure::Run(format!("{name} gives something else than {rival}")));
        }
        let (mut best, mut rivals) = (Duration::MAX, Duration::MAX);
        let began = Instant::now();
        for round in 0..ROUNDS {
            if round > 0 && began.elapsed() > PATIENCE {
                break;
            }
            let start = Instant::now();
            black_box(ours().map_err(Into::into)?);
            best = best.min(start.elapsed());
            let start = Instant::now();
            black_box(theirs());
            rivals = rivals.min(start.elapsed());
        }
        let [work, depth, passes] = cost;
        let ratio = rivals.as_secs_f64() / best.as_secs_f64();
        let [best, rivals] = [best, rivals].map(|time| time.as_secs_f64() * 1e3);
        say!("{name:<20} {work:>8} {depth:>8} {passes:>6} {best:9.2} {rivals:9.2} {ratio:6.2}×  {rival}");
        Ok(())
    }
}

/// Random bits (SplitMix64).
fn bits(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn drawn<T>(records: usize, seed: u64, of: impl Fn(u64) -> T) -> Vec<T> {
    let mut bits = bits(seed);
    (0..records).map(|_| of(bits())).collect()
}

fn run(records: usize, device: Device) -> Result<(), Failure> {
    let table = Table { records };
    say!("{records} records, times in ms; every result is that of the plain loop beside it\n");
    say!(
        "{:<20} {:>8} {:>8} {:>6} {:>9} {:>9} {:>7}  beside",
        "algorithm",
        "work",
        "depth",
        "passes",
        "monoscan",
        "the loop",
        "ratio"
    );
    ordering(&table)?;
    ragged(&table)?;
    computing(&table)?;
    linked(&table)?;
    texts(&table)?;
    if device.is_cpu() { Ok(()) } else { on_gpu(&table, device) }
}

fn ordering(table: &Table) -> Result<(), Failure> {
    let x: Vec<u32> = drawn(table.records, 1, |bits| bits as u32);
    let floats: Vec<f64> = drawn(table.records, 2, |bits| bits as f64 - 1e19);
    let flags: Vec<bool> = drawn(table.records, 3, |bits| bits & 1 == 1);
    let mut value = 0;
    let repeated = |bits: u64| {
        value = if bits.is_multiple_of(4) { bits as u32 >> 24 } else { value };
        value
    };
    let few: Vec<u32> = drawn(table.records, 4, |bits| bits).into_iter().map(repeated).collect();

    let flagged = || x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x).collect::<Vec<_>>();
    table.line(("select", ["n", "1", "1"]), || select::select(&x, &flags), ("filter", flagged))?;
    table.line(
        ("partition", ["n", "1", "2"]),
        || select::partition(&x, &flags),
        ("two filters", || {
            let kept = flagged();
            let others = x.iter().zip(&flags).filter(|(_, flag)| !**flag).map(|(x, _)| *x);
            let len = kept.len();
            (kept.into_iter().chain(others).collect(), len)
        }),
    )?;
    let (values, lengths) = runs::encode(&few)?;
    table.line(
        ("run-length encode", ["n", "1", "1"]),
        || runs::encode(&few),
        ("chunk_by", || few.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).unzip()),
    )?;
    table.line(
        ("run-length decode", ["n", "1", "2"]),
        || runs::decode(&values, &lengths),
        ("extend", || {
            let runs = values.iter().zip(&lengths);
            runs.flat_map(|(value, length)| std::iter::repeat_n(*value, *length as usize)).collect()
        }),
    )?;
    table.line(
        ("unique", ["n", "1", "1"]),
        || runs::unique(&few),
        ("dedup", || {
            let mut few = few.clone();
            few.dedup();
            few
        }),
    )?;

    fn done<T, E>(mut x: Vec<T>, sort: impl Fn(&mut [T]) -> Result<(), E>) -> Result<Vec<T>, E> {
        sort(&mut x)?;
        Ok(x)
    }
    let sorted = || {
        let mut x = x.clone();
        x.sort_unstable();
        x
    };
    table.line(
        ("radix sort u32", ["4 n", "4", "6"]),
        || done(x.clone(), |x| sort(x, Order::Ascending)),
        ("sort_unstable", sorted),
    )?;
    table.line(
        ("radix sort f64", ["8 n", "8", "10"]),
        || done(floats.clone(), |x| sort(x, Order::Ascending)),
        ("sort_unstable_by", || {
            let mut x = floats.clone();
            x.sort_unstable_by(f64::total_cmp);
            x
        }),
    )?;
    let by_key = || {
        let mut places: Vec<u32> = (0..x.len() as u32).collect();
        places.sort_by_key(|&place| x[place as usize]);
        places
    };
    table.line(("argsort u32", ["4 n", "4", "6"]), || argsort(&x, Order::Ascending), ("sort_by_key", by_key))?;
    table.line(
        ("sort with values", ["4 n", "4", "8"]),
        || {
            let (mut keys, mut places) = (x.clone(), (0..x.len() as u32).collect::<Vec<_>>());
            sort_with_values(&mut keys, &mut places, Order::Ascending).map(|()| places)
        },
        ("sort_by_key", by_key),
    )?;
    table.line(
        ("quicksort by scans", ["n log n", "log n", "5 log n"]),
        || done(x.clone(), |x| quicksort(x).map(drop)),
        ("sort_unstable", sorted),
    )
}

fn ragged(table: &Table) -> Result<(), Failure> {
    let mut keys: Vec<u32> = drawn(table.records, 5, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let amounts: Vec<i64> = drawn(table.records, 6, |bits| bits as i64 >> 40);
    table.line(
        ("sums by key", ["n", "1", "1"]),
        || groups::sums_by_key(&keys, &amounts),
        ("a loop", || {
            let mut sums: (Vec<u32>, Vec<i64>) = Default::default();
            for (key, amount) in keys.iter().zip(&amounts) {
                if sums.0.last() == Some(key) {
                    *sums.1.last_mut().expect("as many sums as keys") += amount;
                } else {
                    sums.0.push(*key);
                    sums.1.push(*amount);
                }
            }
            sums
        }),
    )?;
    let shuffled: Vec<u16> = drawn(table.records, 7, |bits| bits as u16 % 1000);
    table.line(
        ("histogram", ["n", "2", "2"]),
        || groups::histogram(&shuffled),
        ("counters", || {
            let mut counts = vec![0; 1000];
            shuffled.iter().for_each(|&value| counts[value as usize] += 1);
            (0..).zip(counts).filter(|(_, count)| *count > 0).unzip()
        }),
    )?;
    let is_there: Vec<bool> = drawn(table.records, 8, |bits| bits % 3 > 0);
    table.line(
        ("forward fill", ["n", "1", "1"]),
        || series::forward_fill(&amounts, &is_there, 0),
        ("a loop", || {
            let mut last = 0;
            let fill = |(&x, &is_there): (&i64, &bool)| {
                last = if is_there { x } else { last };
                last
            };
            amounts.iter().zip(&is_there).map(fill).collect()
        }),
    )?;
    let mut now = 0;
    let after = |pause| {
        now += pause;
        now
    };
    let times: Vec<u64> = drawn(table.records, 9, |bits| bits % 40).into_iter().map(after).collect();
    table.line(
        ("sessions", ["n", "1", "1"]),
        || series::sessions(&times, 37),
        ("a loop", || {
            let mut session = 0;
            let ends = times.windows(2).map(|pair| {
                session += (pair[1] - pair[0] > 37) as u32;
                session
            });
            [0].into_iter().chain(ends).collect()
        }),
    )?;
    let hills: Vec<f64> = drawn(table.records, 10, |bits| (bits % 100_000) as f64);
    table.line(
        ("line of sight", ["n", "1", "1"]),
        || series::line_of_sight(&hills),
        ("a loop", || {
            let mut steepest = f64::NEG_INFINITY;
            let sees = |(i, &hill): (usize, &f64)| {
                let slope = if i == 0 { f64::NEG_INFINITY } else { (hill - hills[0]) / i as f64 };
                let sees = i == 0 || slope > steepest;
                steepest = steepest.max(slope);
                sees
            };
            hills.iter().enumerate().map(sees).collect()
        }),
    )?;
    table.line(
        ("running arg-max", ["n", "1", "1"]),
        || series::running_argmax(&amounts),
        ("a loop", || {
            let mut highest = 0;
            let places = (0..amounts.len()).map(|i| {
                highest = if amounts[i] > amounts[highest] { i } else { highest };
                highest as u32
            });
            places.collect()
        }),
    )?;

    // Rows of 0 to 6 values, and one in a thousand of 3000.
    let (mut offsets, mut bits) = (vec![0], bits(11));
    while offsets[offsets.len() - 1] < table.records {
        let length = if bits() % 1000 == 0 { 3000 } else { bits() as usize % 7 };
        offsets.push((offsets[offsets.len() - 1] + length).min(table.records));
    }
    let width = 1 + table.records / 8;
    let columns: Vec<u32> = drawn(table.records, 12, |bits| (bits % width as u64) as u32);
    let values: Vec<f64> = drawn(table.records, 13, |bits| (bits % 100) as f64);
    let x: Vec<f64> = drawn(width, 14, |bits| (bits % 100) as f64);
    let matrix = Csr::new(&offsets, &columns, &values, width)?;
    table.line(
        ("sparse matrix · x", ["n", "1", "1"]),
        || matrix.times(&x),
        ("a loop", || {
            let dot = |ends: &[usize]| (ends[0]..ends[1]).map(|k| values[k] * x[columns[k] as usize]).sum();
            offsets.windows(2).map(dot).collect()
        }),
    )
}

fn computing(table: &Table) -> Result<(), Failure> {
    let digits = |seed| drawn(table.records, seed, |bits| if bits % 2 == 0 { u64::MAX } else { bits });
    let (a, b) = (digits(20), digits(21));
    let by_loop = |of: fn(u64, u64, bool) -> (u64, bool)| {
        let mut carry = false;
        let digit = |(&a, &b): (&u64, &u64)| {
            let digit;
            (digit, carry) = of(a, b, carry);
            digit
        };
        let digits: Vec<u64> = a.iter().zip(&b).map(digit).collect();
        (digits, carry)
    };
    table.line(
        ("add integers", ["n", "1", "1"]),
        || numbers::add(&a, &b),
        ("a loop", || by_loop(u64::carrying_add)),
    )?;
    table.line(
        ("subtract integers", ["n", "1", "1"]),
        || numbers::subtract(&a, &b),
        ("a loop", || by_loop(u64::borrowing_sub)),
    )?;
    let horner = || a.iter().fold(0u64, |y, a| y.wrapping_mul(3).wrapping_add(*a));
    table.line(("Horner's rule", ["n", "1", "1"]), || numbers::horner(&a, 3), ("a loop", horner))?;
    let x: Vec<u32> = drawn(table.records, 22, |bits| bits as u32);
    let recurrence = numbers::Modular::<2, 998_244_353>::new([1, 1])?;
    table.line(
        ("order 2 modulo m", ["12 n", "1", "1"]),
        || recurrence.run(&x),
        ("a loop", || {
            let (mut y, mut before) = (0, 0);
            let step = |&x: &u32| {
                (y, before) = ((u64::from(x) + y + before) % 998_244_353, y);
                y as u32
            };
            x.iter().map(step).collect()
        }),
    )
}

fn linked(table: &Table) -> Result<(), Failure> {
    let mut order: Vec<u32> = (0..table.records as u32).collect();
    let mut draw = bits(30);
    for i in (1..order.len()).rev() {
        order.swap(i, draw() as usize % (i + 1));
    }
    let mut next = vec![NONE; order.len()];
    order.windows(2).for_each(|pair| next[pair[0] as usize] = pair[1]);
    let walk = || {
        let (mut ranks, mut element) = (vec![0; next.len()], order[0]);
        for rank in 0.. {
            ranks[element as usize] = rank;
            element = next[element as usize];
            if element == NONE {
                break;
            }
        }
        ranks
    };
    table.line(("list ranking", ["3 n", "1", "4"]), || rank(&next), ("a walk", walk))?;
    let jumping = ("pointer jumping", ["n log n", "log n", "log n"]);
    table.line(jumping, || rank_by_jumping(&next), ("a walk", walk))?;

    let sides: Vec<Side> = drawn(table.records, 31, |bits| {
        *[Side::Open, Side::Close, Side::Neither].get(bits as usize % 3).unwrap_or(&Side::Open)
    });
    table.line(
        ("bracket matching", ["n", "1", "2"]),
        || partners(&sides),
        ("a stack", || {
            let (mut partners, mut stack) = (vec![NONE; sides.len()], Vec::new());
            for (place, side) in (0u32..).zip(&sides) {
                match side {
                    Side::Open => stack.push(place),
                    Side::Close => {
                        if let Some(open) = stack.pop() {
                            (partners[open as usize], partners[place as usize]) = (place, open);
                        }
                    }
                    Side::Neither => {}
                }
            }
            partners
        }),
    )?;

    let parents: Vec<u32> = {
        let mut bits = bits(32);
        (0..table.records as u64).map(|node| if node == 0 { NONE } else { (bits() % node) as u32 }).collect()
    };
    let values: Vec<i64> = drawn(table.records, 33, |bits| bits as i64 >> 40);
    table.line(
        ("tour of parents", ["n", "2", "4"]),
        || Tour::of_parents(&parents).map(|tour| (tour.sizes(), tour.preorder(), tour.depths())),
        ("three loops", || {
            let (mut sizes, mut preorder, mut depths) =
                (vec![1; parents.len()], vec![0; parents.len()], vec![0; parents.len()]);
            for node in (1..sizes.len()).rev() {
                sizes[parents[node] as usize] += sizes[node];
            }
            let mut next = vec![1; parents.len()];
            for node in 1..sizes.len() {
                let parent = parents[node] as usize;
                preorder[node] = next[parent];
                next[parent] += sizes[node];
                next[node] = preorder[node] + 1;
            }
            for node in 1..sizes.len() {
                depths[node] = depths[parents[node] as usize] + 1;
            }
            (sizes, preorder, depths)
        }),
    )?;
    let tour = Tour::of_parents(&parents)?;
    table.line(
        ("sums of subtrees", ["n", "1", "3"]),
        || tour.subtree_sums(&values),
        ("a loop", || {
            let mut sums = values.clone();
            for node in (1..sums.len()).rev() {
                sums[parents[node] as usize] += sums[node];
            }
            sums
        }),
    )?;
    table.line(
        ("sums of paths", ["2 n", "2", "6"]),
        || tour.path_sums(&values),
        ("a loop", || {
            let mut sums = values.clone();
            for node in 1..sums.len() {
                sums[node] += sums[parents[node] as usize];
            }
            sums
        }),
    )
}

fn texts(table: &Table) -> Result<(), Failure> {
    let mut bits = bits(40);
    let mut csv = String::new();
    while csv.len() < table.records {
        csv += &format!("{},\"name, {}\",{}\n", bits() as i32, bits() % 1000, (bits() % 100_000) as f64 / 8.0);
    }
    let csv = csv.as_bytes();
    table.line(
        ("lines and columns", ["n", "1", "1"]),
        || text::lines_and_columns(csv),
        ("a loop", || {
            let (mut line, mut column) = (0, 0);
            let place = |&byte: &u8| {
                let here = (line, column);
                (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
                here
            };
            csv.iter().map(place).unzip()
        }),
    )?;
    let mixed = "aß∮\u{10ffff}".repeat(table.records / 10 + 1);
    let is_text = || std::str::from_utf8(mixed.as_bytes()).is_ok();
    table.line(
        ("UTF-8", ["n", "1", "1"]),
        || text::check_utf8(mixed.as_bytes()).map(|()| true),
        ("from_utf8", is_text),
    )?;
    table.line(
        ("fields of CSV", ["n", "1", "3"]),
        || text::csv(csv, b',').map(|fields| (fields.starts, fields.ends, fields.rows)),
        ("a loop", || {
            let (mut quoted, mut start, mut fields) = (false, 0, (Vec::new(), Vec::new(), vec![0]));
            for (place, &byte) in (0..).zip(csv) {
                quoted ^= byte == b'"';
                if !quoted && (byte == b',' || byte == b'\n') {
                    fields.0.push(start);
                    fields.1.push(place);
                    start = place + 1;
                    if byte == b'\n' {
                        fields.2.push(fields.0.len() as u32);
                    }
                }
            }
            fields
        }),
    )?;
    let fields = text::csv(csv, b',')?;
    table.line(
        ("decimals to f64", ["n", "0", "1"]),
        || fields.floats(csv, 0, 2),
        ("parse", || {
            let third = |line: &[u8]| std::str::from_utf8(line).ok()?.rsplit(',').next()?.parse().ok();
            csv.split(|&byte| byte == b'\n').filter_map(third).collect()
        }),
    )
}

/// The algorithms that are one scan, on vectors that stay on the device.
fn on_gpu(table: &Table, gpu: Device) -> Result<(), Failure> {
    say!("\non {gpu}, with records that are there; the loop runs on the CPU\n");
    let x: Vec<i32> = drawn(table.records, 50, |bits| bits as i32);
    let flags: Vec<bool> = drawn(table.records, 51, |bits| bits & 1 == 1);
    let mut keys: Vec<u32> = drawn(table.records, 52, |bits| bits as u32 % 10_000);
    keys.sort_unstable();

    let selects = select::scan::<i32>()?.on(gpu)?;
    let (dx, dflags) = (selects.upload(&x)?, selects.upload(&flags)?);
    table.line(
        ("select", ["n", "1", "1"]),
        || selects.inclusive((&dflags, &dx))?.to_vec(),
        ("filter", || x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x).collect()),
    )?;
    let encodes = runs::scan::<u32>()?.on(gpu)?;
    let dkeys = encodes.upload(&keys)?;
    let runs = || -> (Vec<u32>, Vec<u32>) {
        let begins = |&place: &u32| place == 0 || keys[place as usize - 1] != keys[place as usize];
        (0..keys.len() as u32).filter(begins).map(|place| (keys[place as usize], place)).unzip()
    };
    table.line(
        ("run-length encode", ["n", "1", "1"]),
        || {
            let (firsts, starts) = encodes.inclusive(&dkeys)?;
            Ok::<_, monoscan::Error>((firsts.to_vec()?, starts.to_vec()?))
        },
        ("a loop", runs),
    )?;
    let sums = groups::scan::<u32, i32>()?.on(gpu)?;
    let dsums = || sums.inclusive((&dkeys, &dx))?.1.to_vec();
    table.line(
        ("sums by key", ["n", "1", "1"]),
        dsums,
        ("a loop", || {
            let mut at = 0;
            let sum = |run: &[u32]| {
                at += run.len();
                x[at - run.len()..at].iter().fold(0i32, |sum, x| sum.wrapping_add(*x))
            };
            keys.chunk_by(|a, b| a == b).map(sum).collect()
        }),
    )
}

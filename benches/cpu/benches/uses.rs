//! Each workload beside its plain loop, on all cores and more elements than a near cache holds.
//! They show a contributor a regression in minutes: `cargo bench --bench uses`, or `cargo bench
//! --bench uses -- affine` for some of them.
//!
//! `benches/cpu` has the rivals and the speed of memory. Both take their data, scans and loops from
//! `benches/shared`.

use std::time::Duration;

use bench_shared::{data, loops, scans};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monoscan::lexer::{Lexer, Rules};
use monoscan::recurrence::Precision;
use monoscan::{Column, ColumnMut};

/// Elements of every benchmark.
const LEN: usize = 1 << 22;

/// The two sides of a workload.
fn compare<S, P>(c: &mut Criterion, name: &str, mut scan: impl FnMut() -> S, mut plain: impl FnMut() -> P) {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(LEN as u64));
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("scan", |bench| bench.iter(&mut scan));
    group.bench_function("loop", |bench| bench.iter(&mut plain));
    group.finish();
}

fn threads() -> usize {
    rayon::current_num_threads()
}

fn sum_i32(c: &mut Criterion) {
    let (scan, x) = (scans::sum_i32(threads()).unwrap(), data::small_integers(LEN));
    let (mut y, mut z) = (vec![0; LEN], vec![0; LEN]);
    compare(c, "sum i32", || scan.inclusive_into(&x, &mut y).unwrap(), || loops::sum_i32(&x, &mut z));
}

fn sum_f32(c: &mut Criterion) {
    let (scan, x) = (scans::sum_f32(threads()).unwrap(), data::small_integers(LEN));
    let (mut y, mut z) = (vec![0.0; LEN], vec![0.0; LEN]);
    compare(c, "sum f32", || scan.inclusive_into(&x, &mut y).unwrap(), || loops::sum_f32(&x, &mut z));
}

fn affine_f32(c: &mut Criterion) {
    let scan = scans::affine_f32(threads()).unwrap();
    let a: Vec<f32> = data::factors(LEN).map(|a| a as f32).collect();
    let b: Vec<f32> = data::samples(LEN).map(|b| b as f32).collect();
    let (mut y, mut z) = (vec![0.0; LEN], vec![0.0; LEN]);
    compare(c, "affine f32", || scan.inclusive_into((&a, &b), &mut y).unwrap(), || loops::affine_f32(&a, &b, &mut z));
}

fn affine_f64(c: &mut Criterion) {
    let scan = scans::affine_f64(threads()).unwrap();
    let (a, b): (Vec<f64>, Vec<f64>) = (data::factors(LEN).collect(), data::samples(LEN).collect());
    let (mut y, mut z) = (vec![0.0; LEN], vec![0.0; LEN]);
    compare(c, "affine f64", || scan.inclusive_into((&a, &b), &mut y).unwrap(), || loops::affine_f64(&a, &b, &mut z));
}

fn biquad_f32(c: &mut Criterion) {
    let scan = scans::biquad_f32(loops::HIGH_PASS, Precision::Samples, threads()).unwrap();
    let x: Vec<f32> = data::samples(LEN).map(|x| x as f32).collect();
    let (mut y, mut z) = (vec![0.0; LEN], vec![0.0; LEN]);
    compare(
        c,
        "biquad f32",
        || scan.inclusive_into(&[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap(),
        || loops::biquad_f32(loops::HIGH_PASS, &x, &mut z),
    );
}

fn states(c: &mut Criterion) {
    let (moves, x) = (data::automaton(), data::bytes(LEN));
    let (scan, by_state) = (scans::states(&moves, threads()).unwrap(), data::by_state(&moves));
    let (mut y, mut z) = (vec![0; LEN], vec![0; LEN]);
    compare(c, "16 states", || scan.inclusive_into(&x[..], &mut y).unwrap(), || loops::states(&by_state, &x, &mut z));
}

fn segmented_i32(c: &mut Criterion) {
    let (scan, heads, x) = (scans::segmented_i32(threads()).unwrap(), data::heads(LEN), data::small_integers(LEN));
    let (mut y, mut z) = (vec![0; LEN], vec![0; LEN]);
    compare(
        c,
        "segmented sum i32",
        || scan.inclusive_into((&heads, &x), &mut y).unwrap(),
        || loops::segmented_i32(&heads, &x, &mut z),
    );
}

/// A label a byte, and then the tokens that the labels spell; the loop finds the labels only.
fn json(c: &mut Criterion) {
    let lexer = Lexer::new(Rules::json()).unwrap();
    let scan = scans::labels(&lexer, threads()).unwrap();
    let text = data::json(LEN);
    let (mut labels, mut again) = (vec![0; LEN], vec![0; LEN]);
    let plain = || lexer.tables().expect("one pass lexes JSON").label_sequentially(&text);
    let label = |labels: &mut [u8]| scan.inclusive_into(&[Column::new(&text)], &mut [ColumnMut::new(labels)]).unwrap();
    compare(c, "json labels", || label(&mut labels), plain);
    let mut tokens = Vec::with_capacity(LEN);
    let gather = || {
        label(&mut again);
        tokens.clear();
        tokens.extend(lexer.tokens(&again));
    };
    compare(c, "json tokens", gather, plain);
}

criterion_group!(benches, sum_i32, sum_f32, affine_f32, affine_f64, biquad_f32, states, segmented_i32, json);
criterion_main!(benches);

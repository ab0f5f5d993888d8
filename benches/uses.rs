//! The three uses beside their sequential loops, for a contributor to see a regression in minutes:
//! `cargo bench --bench uses`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monoscan::lexer::{Lexer, Rules};
use monoscan::prelude::*;
use monoscan::recurrence::{Recurrence, filter_sequentially};

/// Elements of every benchmark: more than a cache holds.
const LEN: usize = 1 << 22;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Affine {
    a: f32,
    b: f32,
}

#[scan_monoid]
impl Monoid for Affine {
    fn identity() -> Self {
        Affine { a: 1.0, b: 0.0 }
    }
    fn combine(self, next: Self) -> Self {
        Affine { a: next.a * self.a, b: next.a * self.b + next.b }
    }
}

#[scan_fn]
fn step(a: f32, b: f32) -> Affine {
    Affine { a, b }
}

#[scan_fn]
fn value(state: Affine) -> f32 {
    state.b
}

fn affine(c: &mut Criterion) {
    let solve = Scan::<Affine>::builder().lift(step {}).project(value {}).build().unwrap();
    let a: Vec<f32> = (0..LEN).map(|i| 0.5 + (i % 7) as f32 / 16.0).collect();
    let b: Vec<f32> = (0..LEN).map(|i| (i % 13) as f32).collect();
    let mut y = vec![0.0; LEN];
    let mut group = c.benchmark_group("affine f32");
    group.throughput(Throughput::Elements(LEN as u64));
    group.bench_function("scan", |bench| bench.iter(|| solve.inclusive_into((&a, &b), &mut y).unwrap()));
    group.bench_function("loop", |bench| {
        bench.iter(|| {
            let mut state = 0.0;
            for ((a, b), y) in a.iter().zip(&b).zip(&mut y) {
                state = a * state + b;
                *y = state;
            }
        });
    });
    group.finish();
}

fn lexer(c: &mut Criterion) {
    let lexer = Lexer::new(Rules::json()).unwrap();
    let text = br#"{"name": "monoscan", "sizes": [1, -2.5e3, 1048576], "ok": true, "none": null}, "#.repeat(LEN / 79);
    let mut labels = vec![0; text.len()];
    let mut group = c.benchmark_group("lexer json");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("scan", |bench| bench.iter(|| lexer.labels_into(&text, &mut labels).unwrap()));
    group.bench_function("loop", |bench| bench.iter(|| lexer.tables().label_sequentially(&text)));
    group.finish();
}

fn recurrence(c: &mut Criterion) {
    let signature = "0.04 : 1.6, -0.64".parse().unwrap();
    let filter = Recurrence::<f64>::new(&signature).unwrap();
    let x: Vec<f64> = (0..LEN).map(|i| (i % 100) as f64).collect();
    let mut y = vec![0.0; LEN];
    let mut group = c.benchmark_group("recurrence f64");
    group.throughput(Throughput::Elements(LEN as u64));
    group.bench_function("scan", |bench| bench.iter(|| filter.filter_into(&x, &mut y).unwrap()));
    group.bench_function("loop", |bench| bench.iter(|| filter_sequentially(&signature, &x, &mut y)));
    group.finish();
}

criterion_group!(benches, affine, lexer, recurrence);
criterion_main!(benches);

//! Scans inside rayon pools of any size, inside parallel iterators, and from many threads at once.

use monoscan::prelude::*;
use rayon::prelude::*;

use super::reference::{Ask, Runs, tiny};
use scan_kit::zoo::*;

fn scan() -> Scan<Hash> {
    Scan::<Hash>::builder().plan(tiny(4, 8, 2, 10)).threads(4).build().unwrap()
}

fn records(n: u64) -> Vec<Hash> {
    (0..n).map(|hash| Hash { hash, power: 31 }).collect()
}

fn asks(n: usize) -> Vec<Ask<Hash>> {
    let flags = (0..n).map(|place| place % 100 == 0).collect();
    let init = Some(Hash { hash: 5, power: 3 });
    vec![
        Ask::line(),
        Ask { reversed: true, ..Ask::line() },
        Ask { init, runs: Runs::Heads(flags), ..Ask::line() },
        Ask { init, runs: Runs::Offsets(vec![0, 1, 1, n / 2, n]), reversed: true },
    ]
}

fn check(scan: &Scan<Hash>, ask: &Ask<Hash>, x: &[Hash]) {
    let expected: Vec<Hash> = ask.answer(x).after.into_iter().flatten().collect();
    assert!(ask.request(scan).inclusive(x).unwrap() == expected, "{ask:?}");
}

#[test]
fn a_pool_of_any_size_will_do() {
    let (scan, x) = (scan(), records(5000));
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for ask in asks(x.len()) {
            pool.install(|| check(&scan, &ask, &x));
        }
    }
}

#[test]
fn scans_nest_in_parallel_iterators() {
    let (scan, x) = (scan(), records(1000));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| {
        (0..40).into_par_iter().for_each(|round| {
            let asks = asks(x.len());
            check(&scan, &asks[round % asks.len()], &x);
            rayon::join(|| check(&scan, &asks[0], &x), || check(&scan, &asks[1], &x[round..]));
        });
    });
}

#[test]
fn one_scan_serves_many_threads_at_once() {
    let (scan, x) = (scan(), records(3000));
    std::thread::scope(|threads| {
        for start in 0..8 {
            let (scan, x) = (&scan, &x[start..]);
            threads.spawn(move || asks(x.len()).iter().for_each(|ask| (0..5).for_each(|_| check(scan, ask, x))));
        }
    });
}

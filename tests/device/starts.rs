//! On a device: starts and totals of each segment and row, columns whose records lie apart, results
//! in several columns. Each beside the same call on the CPU.

use monoscan::ops::{Semigroup, Sum, WithIdentity};
use monoscan::{Bits, Combination, DeviceVec, Request, Rows, Strided, StridedMut, by_key};

use super::on_gpu::{LENGTHS, columns, gpu};
use super::*;

/// The part of a call that both devices are asked for.
fn asked(scan: &Scan<Affine, (u32, u16), u32>, reversed: bool) -> Request<'_, Affine, (u32, u16), u32> {
    if reversed { scan.reversed() } else { scan.request() }
}

/// So many states, no two the same.
fn states(count: usize) -> Vec<Affine> {
    (0..count as u32).map(|i| Affine { a: 2 * i + 1, b: 7 * i }).collect()
}

/// A start and a total for each segment, wherever its flags, keys or offsets are.
#[test]
#[ignore = "needs a CUDA device"]
fn segments_have_their_own_starts_and_totals_on_a_device() {
    let cpu = solve();
    let scan = cpu.on(gpu()).unwrap();
    for len in LENGTHS {
        let (a, b) = columns(len);
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        let keys: Vec<u64> = (0..len as u64).map(|i| i / 7 * (i / 100 % 3)).collect();
        let heads: Vec<bool> = (0..len).map(|i| i > 0 && keys[i] != keys[i - 1] || i == len / 2).collect();
        let mut offsets: Vec<u32> = (0..len as u32 / 5).map(|i| 5 * (i / 2 * 2)).collect();
        offsets.insert(0, 0);
        offsets.push(len as u32);
        let (dk, dh, dn) = (scan.upload(&keys).unwrap(), scan.upload(&heads).unwrap(), scan.upload(&offsets).unwrap());
        let begun = |heads: &[bool]| 1 + (1..len).filter(|&i| heads[i]).count();
        let (by_heads, by_offsets) = (states(begun(&heads)), states(offsets.len() - 1));
        let changes: Vec<bool> = (0..len).map(|i| i > 0 && keys[i] != keys[i - 1]).collect();
        // No keys are no segments.
        let by_keys = states(begun(&changes).min(len));
        for reversed in [false, true] {
            let (here, there) = (|| asked(&cpu, reversed), || asked(&scan, reversed));
            let expected = here().segmented(&heads).init_each(&by_heads).inclusive((&a, &b)).unwrap();
            let found = there().segmented(&dh).init_each(&by_heads).inclusive((&da, &db)).unwrap();
            assert_eq!(found.to_vec().unwrap(), expected, "{len} {reversed}");
            let found = there().segmented(&heads).init_each(&by_heads).inclusive((&a, &b)).unwrap();
            assert_eq!(found, expected, "{len} {reversed}");
            let expected = here().segmented(&offsets).init_each(&by_offsets).exclusive((&a, &b)).unwrap();
            let found = there().segmented(&dn).init_each(&by_offsets).exclusive((&da, &db)).unwrap();
            assert_eq!(found.to_vec().unwrap(), expected, "{len} {reversed}");
            let found = there().segmented(&offsets).init_each(&by_offsets).exclusive((&a, &b)).unwrap();
            assert_eq!(found, expected, "{len} {reversed}");
            let totals = here().segmented(&offsets).init_each(&by_offsets).totals((&a, &b)).unwrap();
            let found = there().segmented(&dn).init_each(&by_offsets).totals((&da, &db)).unwrap();
            assert_eq!(found, totals, "{len} {reversed}");
            let (expected, totals) = here().segmented(&offsets).inclusive_with_totals((&a, &b)).unwrap();
            let (y, found) = there().segmented(&dn).inclusive_with_totals((&da, &db)).unwrap();
            assert_eq!((y.to_vec().unwrap(), found), (expected, totals), "{len} {reversed}");
            let expected = here().segmented(by_key(&keys)).init_each(&by_keys).inclusive((&a, &b)).unwrap();
            let found = there().segmented(by_key(&dk)).init_each(&by_keys).inclusive((&da, &db)).unwrap();
            assert_eq!(found.to_vec().unwrap(), expected, "{len} {reversed}");
            let (expected, totals) = here().segmented(by_key(&keys)).inclusive_with_totals((&a, &b)).unwrap();
            let (y, found) = there().segmented(by_key(&dk)).inclusive_with_totals((&da, &db)).unwrap();
            assert_eq!((y.to_vec().unwrap(), found), (expected, totals), "{len} {reversed}");
        }
        // Segments of equal keys are no stream; and have one total only if there is one segment.
        let mut carry = Affine { a: 3, b: 5 };
        let error = scan.segmented(by_key(&dk)).resuming(&mut carry).inclusive((&da, &db)).unwrap_err();
        assert!(matches!(error, Error::Combination(Combination::ResumedKeys)), "{error}");
        let is_total_of = |reduced: Result<Affine, Error>, totals: Vec<Affine>| match reduced {
            Ok(total) => assert_eq!(vec![total], totals, "{len}"),
            Err(Error::Combination(Combination::OneTotal { sequences })) => {
                assert!(totals.len() != 1 && sequences == totals.len(), "{len}");
            }
            Err(error) => panic!("{error}"),
        };
        let totals = cpu.segmented(by_key(&keys)).totals((&a, &b)).unwrap();
        is_total_of(scan.segmented(by_key(&dk)).reduce((&da, &db)), totals);
        let totals = cpu.segmented(&offsets).totals((&a, &b)).unwrap();
        is_total_of(scan.segmented(&dn).reduce((&da, &db)), totals);
        // Chunks of a stream take a state for each flag.
        let flagged = states(heads.iter().filter(|&&head| head).count());
        let (mut carry, mut there) = (Affine { a: 3, b: 5 }, Affine { a: 3, b: 5 });
        let expected = cpu.segmented(&heads).init_each(&flagged).resuming(&mut carry).inclusive((&a, &b)).unwrap();
        let found = scan.segmented(&dh).init_each(&flagged).resuming(&mut there).inclusive((&da, &db)).unwrap();
        assert_eq!((found.to_vec().unwrap(), there), (expected, carry), "{len}");
        // Another number of states is known once the flags are counted.
        let more = states(by_heads.len() + 1);
        let error = scan.segmented(&dh).init_each(&more).inclusive((&da, &db)).unwrap_err();
        let (expected, got) = (by_heads.len(), more.len());
        assert!(
            matches!(error, Error::StateCount { argument: "init_each", expected: e, got: g } if (e, g) == (expected, got)),
            "{error}"
        );
    }
}

/// Rows with their own starts, and streams of rows, side by side and one after the other, wherever the columns are.
#[test]
#[ignore = "needs a CUDA device"]
fn rows_have_their_own_starts_on_a_device() {
    let cpu = solve();
    let scan = cpu.on(gpu()).unwrap();
    for (shape, axis) in [([30, 40], 0), ([30, 40], 1), ([1, 5000], 1), ([3, 70_000], 1), ([2000, 9], 1)] {
        let (a, b) = columns(shape[0] * shape[1]);
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        let init = states(shape[1 - axis]);
        for reversed in [false, true] {
            let here = asked(&cpu, reversed).axis(&shape, axis).init_each(&init);
            let there = || asked(&scan, reversed).axis(&shape, axis).init_each(&init);
            let (y, totals) = here.inclusive_with_totals((&a, &b)).unwrap();
            let (found, of_rows) = there().inclusive_with_totals((&da, &db)).unwrap();
            assert_eq!((&found.to_vec().unwrap(), &of_rows), (&y, &totals));
            assert_eq!(there().inclusive_with_totals((&a, &b)).unwrap(), (y, totals));
        }
        let rows = Rows::axis(&shape, axis).unwrap();
        let (mut here, mut there) = (cpu.stream_of_rows(init.len()), scan.stream_of_rows(init.len()));
        for _ in 0..3 {
            let expected = here.feed(rows, (&a, &b)).unwrap();
            assert_eq!(there.feed(rows, (&da, &db)).unwrap().to_vec().unwrap(), expected);
            assert_eq!(there.states(), here.states());
        }
        assert_eq!(there.feed(rows, (&a, &b)).unwrap(), here.feed(rows, (&a, &b)).unwrap());
    }
}

/// Slices whose records lie apart, and bits: gathered on their way there, scattered on their way back.
#[test]
#[ignore = "needs a CUDA device"]
fn spaced_slices_are_columns_on_a_device() {
    let sums = Scan::<Sum<u32>>::builder()
        .lift(scan!(|x: u32, flag: bool| -> Sum<u32> { if flag { Sum(x) } else { Sum(1) } }))
        .project(scan!(|sum: Sum<u32>| -> u32 { sum.0 }))
        .build()
        .unwrap();
    let scan = sums.on(gpu()).unwrap();
    for len in LENGTHS {
        let (x, flags) = (columns(3 * len + 1).0, columns(len / 8 + 3).0);
        let bytes: Vec<u8> = flags.iter().map(|&flag| (flag * 31) as u8).collect();
        let bits = Bits::new(&bytes, 5, len).unwrap();
        for (start, step) in [(0, 3), (3 * len, -3), (0, 0)] {
            let column = || match step {
                0 => Strided::repeated(&x[start], len),
                _ => Strided::new(&x, start, step).unwrap().take(len),
            };
            let expected = sums.inclusive((column(), bits)).unwrap();
            assert_eq!(scan.inclusive((column(), bits)).unwrap(), expected, "{len} {step}");
            let rows = sums.axis(&[len, 1], 0).exclusive((column(), bits)).unwrap();
            assert_eq!(scan.axis(&[len, 1], 0).exclusive((column(), bits)).unwrap(), rows, "{len} {step}");
            assert_eq!(scan.reduce((column(), bits)).unwrap(), sums.reduce((column(), bits)).unwrap());
            if step == 0 {
                continue;
            }
            let [mut here, mut there] = [0, 1].map(|_| vec![7u32; 3 * len + 1]);
            let to = StridedMut::new(&mut here, start, step).unwrap().take(len);
            sums.reversed().inclusive_into((column(), bits), to).unwrap();
            let to = StridedMut::new(&mut there, start, step).unwrap().take(len);
            scan.reversed().inclusive_into((column(), bits), to).unwrap();
            assert_eq!(there, here, "{len} {step}");
        }
    }
}

/// The first and the last of some records: nothing is an identity.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Ends {
    first: u32,
    last: u16,
}

impl Semigroup for Ends {
    #[scan_fn]
    fn append(self, next: Self) -> Self {
        Ends { first: self.first, last: next.last }
    }
}

/// Operators without an identity, which need a value to start exclusive scans from.
#[test]
#[ignore = "needs a CUDA device"]
fn operators_without_an_identity_on_a_device() {
    let cpu = Scan::<Ends>::new().unwrap();
    let scan = cpu.on(gpu()).unwrap();
    let init = WithIdentity::of(Ends { first: 7, last: 9 });
    for len in LENGTHS {
        let (a, b) = columns(len);
        let x: Vec<Ends> = a.into_iter().zip(b).map(|(first, last)| Ends { first, last }).collect();
        let heads: Vec<bool> = (0..len).map(|i| i % 37 == 5).collect();
        let (dx, flags) = (scan.upload(&x).unwrap(), scan.upload(&heads).unwrap());
        let expected = cpu.inclusive(&x).unwrap();
        assert_eq!(scan.inclusive(&x).unwrap(), expected);
        assert_eq!(scan.inclusive(&dx).unwrap().to_vec().unwrap(), expected);
        assert_eq!(scan.reduce(&dx).unwrap(), cpu.reduce(&x).unwrap());
        let expected = cpu.reversed().segmented(&heads).inclusive(&x).unwrap();
        assert_eq!(scan.reversed().segmented(&flags).inclusive(&dx).unwrap().to_vec().unwrap(), expected);
        let expected = cpu.init(init).segmented(&heads).exclusive(&x).unwrap();
        assert_eq!(scan.init(init).segmented(&flags).exclusive(&dx).unwrap().to_vec().unwrap(), expected);
        let error = scan.exclusive(&dx).unwrap_err();
        assert!(matches!(error, Error::Combination(Combination::NoIdentity)), "{error}");
    }
}

/// Results in several columns, all of them and those that are kept.
#[test]
#[ignore = "needs a CUDA device"]
fn several_columns_of_results_on_a_device() {
    #[scan_fn]
    fn row(sum: Sum<u64>, x: u32) -> (u64, u32, bool) {
        (sum.0, x, sum.0 & 1 == 0)
    }
    #[scan_fn]
    fn is_large(e: Element<u32, Sum<u64>>) -> bool {
        e.record > 2
    }
    let builder = || {
        let builder = Scan::<Sum<u64>>::builder().lift(scan!(|x: u32| -> Sum<u64> { Sum(x as u64) }));
        builder.project_with_record(row {}).unzip()
    };
    for cpu in [builder().build().unwrap(), builder().filter(is_large {}).build().unwrap()] {
        let scan = cpu.on(gpu()).unwrap();
        for len in LENGTHS {
            let x = columns(len).0;
            let dx = scan.upload(&x).unwrap();
            let expected = cpu.inclusive(&x).unwrap();
            assert_eq!(scan.inclusive(&x).unwrap(), expected, "{len}");
            let (sums, records, even) = scan.inclusive(&dx).unwrap();
            let there = (sums.to_vec().unwrap(), records.to_vec().unwrap(), even.to_vec().unwrap());
            assert_eq!(there, expected, "{len}");
            let mut sums = DeviceVec::upload(&gpu(), &vec![0u64; len]).unwrap();
            let mut records = DeviceVec::upload(&gpu(), &vec![0u32; len]).unwrap();
            let mut even = DeviceVec::upload(&gpu(), &vec![false; len]).unwrap();
            let done = scan.inclusive_into(&dx, (&mut sums, &mut records, &mut even)).unwrap();
            let written = done.wait().unwrap();
            assert_eq!(written, expected.0.len());
            assert_eq!(sums.to_vec().unwrap()[..written], expected.0);
            assert_eq!(records.to_vec().unwrap()[..written], expected.1);
            assert_eq!(even.to_vec().unwrap()[..written], expected.2);
        }
    }
}

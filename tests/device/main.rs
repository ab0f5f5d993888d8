//! Scans of device memory give what the CPU gives, method by method; and what says so where there
//! is no device.

use monoscan::prelude::*;
use monoscan::{Device, Error};

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine {
    a: u32,
    b: u32,
}

#[scan_monoid]
impl Monoid for Affine {
    fn identity() -> Self {
        Affine { a: 1, b: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Affine { a: next.a.wrapping_mul(self.a), b: next.a.wrapping_mul(self.b).wrapping_add(next.b) }
    }
}

#[scan_fn]
fn step(a: u32, b: u16) -> Affine {
    Affine { a, b: b as u32 }
}

#[scan_fn]
fn value(state: Affine) -> u32 {
    state.b
}

fn solve() -> Scan<Affine, (u32, u16), u32> {
    Scan::<Affine>::builder().lift(step {}).project(value {}).build().unwrap()
}

#[test]
#[cfg(not(feature = "cuda"))]
fn a_build_without_the_feature_says_what_to_do() {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, Error::Device(monoscan::DeviceError::NoCuda { ordinal: 0 })));
    assert_eq!(
        error.to_string(),
        "cuda:0 needs the feature `gpu`, which this build lacks: build with `--features gpu`"
    );
}

#[test]
fn the_cpu_has_no_device_memory() {
    let error = solve().upload(&[1u32]).unwrap_err();
    assert!(matches!(error, Error::Device(monoscan::DeviceError::NotOnGpu)), "{error}");
    let on_cpu = solve().on(Device::cpu()).unwrap();
    assert!(on_cpu.device().is_cpu());
    assert_eq!(on_cpu.inclusive((&[2u32, 3], &[1u16, 1])).unwrap(), [1, 4]);
}

#[cfg(feature = "gpu")]
mod algorithms;
#[cfg(feature = "gpu")]
mod lexers;
#[cfg(feature = "gpu")]
mod rows;
#[cfg(feature = "gpu")]
mod spaced;
#[cfg(feature = "gpu")]
mod starts;
#[cfg(feature = "gpu")]
mod transfers;

#[cfg(feature = "gpu")]
mod on_gpu {
    use super::*;
    use monoscan::cuda::{Graph, Stream};
    use monoscan::ops::Sum;
    use monoscan::{DeviceVec, by_key};

    pub(crate) const LENGTHS: [usize; 6] = [0, 1, 3, 1000, 70_001, 3_000_000];

    fn evens() -> Scan<Sum<u32>, (u32,), u32> {
        #[scan_fn]
        fn is_even(e: Element<u32, Sum<u32>>) -> bool {
            e.record & 1 == 0
        }
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }))
            .filter(is_even {})
            .project(scan!(|sum: Sum<u32>| -> u32 { sum.0 }))
            .build()
            .unwrap()
    }

    pub(crate) fn gpu() -> Device {
        Device::cuda(0).unwrap()
    }

    pub(crate) fn columns(len: usize) -> (Vec<u32>, Vec<u16>) {
        ((0..len as u32).map(|i| i.wrapping_mul(77) % 9).collect(), (0..len).map(|i| (i * 13 % 251) as u16).collect())
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn every_method_takes_slices_and_device_columns() {
        let cpu = solve();
        let scan = cpu.on(gpu()).unwrap();
        let init = Affine { a: 3, b: 5 };
        for len in LENGTHS {
            let (a, b) = columns(len);
            let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
            let expected = cpu.inclusive((&a, &b)).unwrap();
            assert_eq!(scan.inclusive((&a, &b)).unwrap(), expected);
            let y: DeviceVec<u32> = scan.inclusive((&da, &db)).unwrap();
            assert_eq!((y.len(), y.to_vec().unwrap()), (len, expected));
            let before = cpu.exclusive((&a, &b)).unwrap();
            assert_eq!(scan.exclusive((&da, &db)).unwrap().to_vec().unwrap(), before);
            let mut out = scan.upload(&vec![7u32; len]).unwrap();
            assert_eq!(scan.exclusive_into((&da, &db), &mut out).unwrap().wait().unwrap(), len);
            assert_eq!(out.to_vec().unwrap(), before);
            assert_eq!(scan.reduce((&da, &db)).unwrap(), cpu.reduce((&a, &b)).unwrap());
            let back = cpu.init(init).reversed().inclusive((&a, &b)).unwrap();
            assert_eq!(scan.init(init).reversed().inclusive((&da, &db)).unwrap().to_vec().unwrap(), back);
            let heads: Vec<bool> = (0..len).map(|i| i % 37 == 5).collect();
            let flags = scan.upload(&heads).unwrap();
            let segments = cpu.segmented(&heads).exclusive((&a, &b)).unwrap();
            assert_eq!(scan.segmented(&flags).exclusive((&da, &db)).unwrap().to_vec().unwrap(), segments);
            let (mut carry, mut expected) = (init, init);
            let y = scan.resume(&mut carry, (&da, &db)).unwrap();
            assert_eq!(y.to_vec().unwrap(), cpu.resume(&mut expected, (&a, &b)).unwrap());
            assert_eq!(carry, expected);
        }
    }

    /// Keys and offsets in device memory, whatever the direction and the initial state, beside those of slices on the CPU.
    #[test]
    #[ignore = "needs a CUDA device"]
    fn segments_by_keys_and_by_offsets_on_a_device() {
        let cpu = solve();
        let scan = cpu.on(gpu()).unwrap();
        let init = Affine { a: 3, b: 5 };
        for len in LENGTHS {
            let (a, b) = columns(len);
            let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
            let keys: Vec<u64> = (0..len as u64).map(|i| i / 7 * (i / 100 % 3)).collect();
            let pairs: Vec<(u8, f32)> = keys.iter().map(|&key| (key as u8, (key / 9) as f32)).collect();
            let mut offsets: Vec<u32> = (0..len as u32 / 5).map(|i| 5 * (i / 2 * 2)).collect();
            offsets.insert(0, 0);
            offsets.push(len as u32);
            let wide: Vec<u64> = offsets.iter().map(|&offset| offset.into()).collect();
            let (dk, dp) = (scan.upload(&keys).unwrap(), scan.upload(&pairs).unwrap());
            let (dn, dw) = (scan.upload(&offsets).unwrap(), scan.upload(&wide).unwrap());
            for (reversed, is_init) in [(false, false), (true, false), (false, true), (true, true)] {
                fn asked<'a>(
                    scan: &'a Scan<Affine, (u32, u16), u32>,
                    init: Option<Affine>,
                    reversed: bool,
                ) -> monoscan::Request<'a, Affine, (u32, u16), u32> {
                    let request = if reversed { scan.reversed() } else { scan.request() };
                    init.into_iter().fold(request, |request, init| request.init(init))
                }
                let init = is_init.then_some(init);
                let (here, there) = (|| asked(&cpu, init, reversed), || asked(&scan, init, reversed));
                let by_keys = here().segmented(by_key(&keys)).inclusive((&a, &b)).unwrap();
                let found = there().segmented(by_key(&dk)).inclusive((&da, &db)).unwrap();
                assert_eq!(found.to_vec().unwrap(), by_keys);
                let by_pairs = here().segmented(by_key(&pairs)).exclusive((&a, &b)).unwrap();
                let found = there().segmented(by_key(&dp)).exclusive((&da, &db)).unwrap();
                assert_eq!(found.to_vec().unwrap(), by_pairs);
                let between = here().segmented(&offsets).inclusive((&a, &b)).unwrap();
                for found in [
                    there().segmented(&dn).inclusive((&da, &db)).unwrap(),
                    there().segmented(&dw).inclusive((&da, &db)).unwrap(),
                ] {
                    assert_eq!(found.to_vec().unwrap(), between);
                }
            }
        }
    }

    /// The record before, and parameters: on lines, within segments, over slices in pieces and from chunk to chunk.
    #[test]
    #[ignore = "needs a CUDA device"]
    fn the_record_before_and_parameters_on_a_device() {
        #[scan_fn]
        fn jump(least: u32, e: Element<u32, Sum<u32>>) -> bool {
            e.first || e.record.wrapping_sub(e.prev) > least
        }
        #[scan_fn]
        fn difference(e: Element<u32>) -> Sum<u32> {
            Sum(e.record.wrapping_mul(3).wrapping_sub(e.prev))
        }
        #[scan_fn]
        fn scaled(factor: u32, sum: Sum<u32>) -> u32 {
            sum.0.wrapping_mul(factor)
        }
        let builder = || Scan::<Sum<u32>>::builder().lift_at(difference {});
        let every = builder().project_with(3, scaled {}).build().unwrap();
        let kept = builder().filter_with(7, jump {}).project_with(3, scaled {}).build().unwrap();
        for len in LENGTHS {
            let x: Vec<u32> = columns(len)
                .0
                .iter()
                .scan(0u32, |sum, &x| {
                    Some({
                        *sum += x * x;
                        *sum
                    })
                })
                .collect();
            let heads: Vec<bool> = (0..len).map(|i| i % 91 == 5).collect();
            for factor in [1u32, 10] {
                let (cpu, gpu) = (every.with(factor).unwrap(), every.on(gpu()).unwrap().with(factor).unwrap());
                let (dx, flags) = (gpu.upload(&x).unwrap(), gpu.upload(&heads).unwrap());
                let expected = cpu.inclusive(&x).unwrap();
                assert_eq!(gpu.inclusive(&x).unwrap(), expected);
                assert_eq!(gpu.inclusive(&dx).unwrap().to_vec().unwrap(), expected);
                assert_eq!(gpu.reduce(&x).unwrap(), cpu.reduce(&x).unwrap());
                assert_eq!(gpu.reduce(&dx).unwrap(), cpu.reduce(&x).unwrap());
                let back = cpu.reversed().exclusive(&x).unwrap();
                assert_eq!(gpu.reversed().exclusive(&dx).unwrap().to_vec().unwrap(), back);
                let segments = cpu.segmented(&heads).inclusive(&x).unwrap();
                assert_eq!(gpu.segmented(&flags).inclusive(&dx).unwrap().to_vec().unwrap(), segments);
                let (mut carry, mut expected_carry) = (Sum(5), Sum(5));
                let expected_both = cpu.resuming(&mut expected_carry).inclusive_with_totals(&x).unwrap();
                let (y, totals) = gpu.resuming(&mut carry).inclusive_with_totals(&dx).unwrap();
                assert_eq!((y.to_vec().unwrap(), totals), expected_both);
                assert_eq!(carry, expected_carry);
                let (mut stream, mut all) = (gpu.stream(), Vec::new());
                for chunk in x.chunks(len / 3 + 1) {
                    all.extend(stream.feed(chunk).unwrap());
                }
                assert_eq!(all, expected);
                let (cpu, gpu) = (kept.with((20u32, factor)).unwrap(), kept.on(super::on_gpu::gpu()).unwrap());
                let gpu = gpu.with((20u32, factor)).unwrap();
                assert_eq!(gpu.inclusive(&x).unwrap(), cpu.inclusive(&x).unwrap());
                assert_eq!(gpu.inclusive(&dx).unwrap().to_vec().unwrap(), cpu.inclusive(&x).unwrap());
            }
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn rows_in_place_and_kept_records_on_a_device() {
        let cpu = solve();
        let scan = cpu.on(gpu()).unwrap();
        let (a, b) = columns(1200);
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        for axis in [0, 1] {
            let rows = cpu.axis(&[30, 40], axis).inclusive((&a, &b)).unwrap();
            assert_eq!(scan.axis(&[30, 40], axis).inclusive((&da, &db)).unwrap().to_vec().unwrap(), rows);
            let totals = cpu.axis(&[30, 40], axis).totals((&a, &b)).unwrap();
            assert_eq!(scan.axis(&[30, 40], axis).totals((&da, &db)).unwrap(), totals);
        }
        let sums = Scan::<Sum<u32>>::new().unwrap();
        let on_gpu = sums.on(gpu()).unwrap();
        let mut x: Vec<Sum<u32>> = a.iter().map(|&a| Sum(a)).collect();
        let mut dx = on_gpu.upload(&x).unwrap();
        sums.inclusive_in_place(&mut x).unwrap();
        on_gpu.inclusive_in_place(&mut dx).unwrap();
        assert_eq!(dx.to_vec().unwrap(), x);
        let (kept, kept_there) = (evens(), evens().on(gpu()).unwrap());
        let y = kept_there.inclusive(&da).unwrap();
        assert_eq!(y.to_vec().unwrap(), kept.inclusive(&a).unwrap());
        let mut short = on_gpu.upload(&vec![0u32; y.len() - 1]).unwrap();
        let error = kept_there.inclusive_into(&da, &mut short).unwrap().wait().unwrap_err();
        assert!(matches!(error, Error::OutputTooShort { expected, .. } if expected == y.len()), "{error}");
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn streams_of_several_columns_wait_for_each_other_and_graphs_replay() {
        let scan = solve().on(gpu()).unwrap();
        let (a, b) = columns(100_000);
        let expected = solve().inclusive((&a, &b)).unwrap();
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        let stream = Stream::new(scan.device().as_cuda().unwrap()).unwrap();
        let y = scan.in_stream(&stream).inclusive((&da, &db)).unwrap();
        let sums = Scan::<Sum<u32>>::builder().lift(scan!(|x: u32| -> Sum<u32> { Sum(x) })).build().unwrap();
        let there = sums.on(gpu()).unwrap();
        // The first column was written in another stream than the second.
        assert_eq!(there.inclusive(&y).unwrap().to_vec().unwrap(), sums.inclusive(&expected).unwrap());
        let mut out = scan.upload(&vec![0u32; a.len()]).unwrap();
        let graph = Graph::capture(&stream, || scan.in_stream(&stream).inclusive_into((&da, &db), &mut out).map(drop));
        // SAFETY: the columns live until the stream was waited for, and nobody else uses them.
        unsafe { graph.unwrap().launch(&stream) }.unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    }

    /// Flags that are written in another stream than the columns, before a scan and after it.
    #[test]
    #[ignore = "needs a CUDA device"]
    fn streams_of_segments_wait_for_each_other() {
        let is_head = scan!(|sum: Sum<u32>| -> bool { sum.0 % 1000 < 9 });
        let lift = scan!(|x: u32| -> Sum<u32> { Sum(x) });
        let flagged = Scan::<Sum<u32>>::builder().lift(lift).project(is_head).build().unwrap();
        let sums = Scan::<Sum<u32>>::plain().unwrap();
        let (x, _) = columns(8_000_000);
        let backwards: Vec<u32> = x.iter().rev().copied().collect();
        let heads = flagged.inclusive(&x).unwrap();
        let expected = sums.segmented(&heads).inclusive(&x).unwrap();
        let total = sums.segmented(&heads).reduce(&x).unwrap();
        let (flagged, sums) = (flagged.on(gpu()).unwrap(), sums.on(gpu()).unwrap());
        let (here, there) = (
            Stream::new(sums.device().as_cuda().unwrap()).unwrap(),
            Stream::new(sums.device().as_cuda().unwrap()).unwrap(),
        );
        let (from, dx) = (sums.upload(&x).unwrap(), sums.upload(&x).unwrap());
        let other = sums.upload(&backwards).unwrap();
        for _ in 0..5 {
            let mut dy = sums.upload(&x).unwrap();
            let mut flags = flagged.in_stream(&there).inclusive(&from).unwrap();
            sums.in_stream(&here).segmented(&flags).inclusive_in_place(&mut dy).unwrap();
            assert_eq!(dy.to_vec().unwrap(), expected);

            flagged.in_stream(&there).inclusive_into(&from, &mut flags).unwrap();
            assert_eq!(sums.in_stream(&here).segmented(&flags).reduce(&dx).unwrap(), total);

            // The flags are written again in their stream, which waits for the scan that reads them.
            let y = sums.in_stream(&here).segmented(&flags).inclusive(&dx).unwrap();
            flagged.in_stream(&there).inclusive_into(&other, &mut flags).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected);
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn lexers_recurrences_totals_and_streams_on_a_device() {
        use monoscan::lexer::{Lexer, Rules};
        use monoscan::recurrence::Recurrence;

        let text = br#"{"key": [1, 2.5e3, true, "a\"b"]} "#.repeat(5000);
        let lexer = Lexer::new(Rules::json()).unwrap();
        let there = lexer.on(gpu()).unwrap();
        let labels = lexer.labels(&text).unwrap();
        assert_eq!(there.labels(&text).unwrap(), labels);
        let dtext = DeviceVec::upload(&gpu(), &text).unwrap();
        assert_eq!(there.labels(&dtext).unwrap().to_vec().unwrap(), labels);
        assert_eq!(there.lex(&text).unwrap(), lexer.lex(&text).unwrap());
        assert_eq!(there.with_skips().lex(&text).unwrap(), lexer.with_skips().lex(&text).unwrap());

        // Whole numbers: exact in any order.
        let sums_of_sums = Recurrence::<f64>::new(&"1 : 2, -1".parse().unwrap()).unwrap();
        let x: Vec<f64> = (0..70_000).map(|i| f64::from(i % 5 - 2)).collect();
        let y = sums_of_sums.filter(&x).unwrap();
        let there = sums_of_sums.on(gpu()).unwrap();
        assert_eq!(there.filter(&x).unwrap(), y);
        let dx = DeviceVec::upload(&gpu(), &x).unwrap();
        assert_eq!(there.filter(&dx).unwrap().to_vec().unwrap(), y);

        let (scan, (a, b)) = (solve().on(gpu()).unwrap(), columns(50_000));
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        let (y, total) = scan.inclusive_with_total((&da, &db)).unwrap();
        assert_eq!((y.to_vec().unwrap(), total), solve().inclusive_with_total((&a, &b)).unwrap());
        let mut stream = scan.stream();
        let mut found = stream.feed((&a[..20_000], &b[..20_000])).unwrap();
        let rest = (scan.upload(&a[20_000..]).unwrap(), scan.upload(&b[20_000..]).unwrap());
        found.extend(stream.feed((&rest.0, &rest.1)).unwrap().to_vec().unwrap());
        assert_eq!((found, stream.state()), (y.to_vec().unwrap(), total));
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn columns_elsewhere_are_errors() {
        let cpu = solve();
        let scan = cpu.on(gpu()).unwrap();
        let (da, db) = (scan.upload(&[1u32]).unwrap(), scan.upload(&[1u16]).unwrap());
        assert!(matches!(cpu.inclusive((&da, &db)), Err(Error::Device(monoscan::DeviceError::NotOnGpu))));
        let host_flags = scan.segmented(&[true]).inclusive((&da, &db)).unwrap_err();
        assert!(matches!(host_flags, Error::Device(monoscan::DeviceError::Segments { .. })), "{host_flags}");
        let flags = scan.upload(&[true]).unwrap();
        let device_flags = scan.segmented(&flags).inclusive((&[1u32], &[1u16])).unwrap_err();
        assert!(matches!(device_flags, Error::Device(monoscan::DeviceError::Segments { .. })), "{device_flags}");
    }
}

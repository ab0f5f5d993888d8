//! Records that are kept, parted or counted by runs.

use std::fmt::Debug;

use monoscan::algo::on_gpu::{self, Workspace};
use monoscan::algo::select::Select;
use monoscan::prelude::*;
use monoscan::{DeviceVec, Error, algo::AlgoError};
use scan_kit::Random;

use super::{drawn, flags, here, lengths, pair, same, shapes, there, with_random};

/// Whether a vector was refused that has space for one record less than `expected`.
pub(super) fn is_too_short(error: &AlgoError, expected: usize) -> bool {
    let AlgoError::Scan(Error::OutputTooShort { expected: asked, got, .. }) = error else { return false };
    *asked == expected && *got + 1 == expected
}

/// Asks for results into a vector that has space for all records, one for those that are kept, and one with less, which stays
/// as it was.
#[track_caller]
pub(super) fn into_any_space<T: ScanType + PartialEq + Debug>(
    (len, expected): (usize, &[T]),
    filling: &[T],
    mut into: impl FnMut(&mut DeviceVec<T>) -> Result<usize, AlgoError>,
) {
    for space in [len, expected.len()] {
        let mut kept = there(&filling[..space]);
        assert_eq!(into(&mut kept).unwrap(), expected.len());
        same(&here(kept)[..expected.len()], expected);
    }
    if let Some(short) = expected.len().checked_sub(1) {
        let mut kept = there(&filling[..short]);
        let error = into(&mut kept).unwrap_err();
        assert!(is_too_short(&error, expected.len()), "{error}");
        same(&here(kept), &filling[..short]);
    }
}

fn keeps<T: ScanType + PartialEq + Debug>(random: &mut Random, len: usize, of: fn(u64) -> T) {
    let (x, filling) = (drawn(random, len, of), drawn(random, len, of));
    let dx = there(&x);
    let mut space = Workspace::new();
    for flags in flags(random, len) {
        let dflags = there(&flags);
        let (mut set, mut clear, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..len {
            if flags[i] {
                set.push(x[i]);
                places.push(i as u32);
            } else {
                clear.push(x[i]);
            }
        }
        same(&here(on_gpu::select(&dx, &dflags).unwrap()), &set);
        same(&here(on_gpu::places(&dflags).unwrap()), &places);
        let (kept, kept_places) = pair(on_gpu::select_with_places(&dx, &dflags).unwrap());
        same(&kept, &set);
        same(&kept_places, &places);
        into_any_space((len, &set), &filling, |kept| on_gpu::select_into(&dx, &dflags, kept));

        let parted = [&set[..], &clear].concat();
        let (parts, count) = on_gpu::partition(&dx, &dflags).unwrap();
        assert_eq!(count, set.len());
        same(&here(parts), &parted);
        let mut parts = there(&filling);
        assert_eq!(space.partition_into(&dx, &dflags, &mut parts).unwrap(), set.len());
        same(&here(parts), &parted);
        let (mut parts, mut count) = (there(&filling), there(&[7u32]));
        space.partition_on_device(&dx, &dflags, &mut parts, &mut count).unwrap();
        same(&here(parts), &parted);
        assert_eq!(here(count), [set.len() as u32]);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn flagged_records_are_kept_and_parted() {
    with_random(|random| {
        for len in lengths(random) {
            keeps(random, len, |bits| bits as u8);
            keeps(random, len, |bits| bits as i16);
            keeps(random, len, |bits| bits as i32);
            keeps(random, len, |bits| bits);
            keeps(random, len, |bits| (bits, bits as u16));
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn records_are_kept_by_a_predicate() {
    with_random(|random| {
        let least = random.below(1u32 << 31);
        let by = Select::by(scan!(|x: u32| -> bool { x >= least })).unwrap().on(super::gpu()).unwrap();
        for len in lengths(random) {
            // All of them, none, and whichever are drawn.
            for of in [|bits| bits as u32, |_| 0, |_| u32::MAX] {
                let (x, filling) = (drawn(random, len, of), drawn(random, len, |bits| bits as u32));
                let dx = there(&x);
                let places: Vec<u32> = (0..len as u32).filter(|&i| x[i as usize] >= least).collect();
                let expected: Vec<u32> = places.iter().map(|&i| x[i as usize]).collect();
                same(&here(by.select(&dx).unwrap()), &expected);
                let (kept, kept_places) = pair(by.select_with_places(&dx).unwrap());
                same(&kept, &expected);
                same(&kept_places, &places);
                into_any_space((len, &expected), &filling, |kept| by.select_into(&dx, kept));
            }
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn records_of_three_classes_are_parted() {
    fn parts<T: ScanType + PartialEq + Debug>(random: &mut Random, classes: &[u8], of: fn(u64) -> T) {
        let x = drawn(random, classes.len(), of);
        let mut expected: [Vec<T>; 3] = Default::default();
        x.iter().zip(classes).for_each(|(x, &class)| expected[class as usize].push(*x));
        let (parts, counts) = on_gpu::partition3(&there(&x), &there(classes)).unwrap();
        assert_eq!(counts, expected.each_ref().map(Vec::len));
        same(&here(parts), &expected.concat());
        let mut parts = there(&x);
        let counts = Workspace::new().partition3_into(&there(&x), &there(classes), &mut parts).unwrap();
        assert_eq!(counts, expected.each_ref().map(Vec::len));
        same(&here(parts), &expected.concat());
    }
    with_random(|random| {
        for len in lengths(random) {
            let any = drawn(random, len, |bits| (bits % 3) as u8);
            for classes in [any, vec![0; len], vec![1; len], vec![2; len]] {
                parts(random, &classes, |bits| bits as u8);
                parts(random, &classes, |bits| bits as i32);
                parts(random, &classes, |bits| (bits, bits as u16));
            }
        }
    });
}

fn encodes<T: ScanType + PartialEq + Debug>(random: &mut Random, len: usize, of: fn(usize) -> T) {
    let wide = drawn(random, len, |bits| (bits, bits as u16));
    let dwide = there(&wide);
    for x in shapes(random, len) {
        let x: Vec<T> = x.into_iter().map(of).collect();
        let dx = there(&x);
        let (mut values, mut lengths, mut seconds) = (Vec::new(), Vec::<u32>::new(), Vec::new());
        for i in 0..len {
            if i > 0 && x[i] == x[i - 1] {
                *lengths.last_mut().unwrap() += 1;
            } else {
                values.push(x[i]);
                lengths.push(1);
                seconds.push(wide[i]);
            }
        }
        let (found, found_lengths) = pair(on_gpu::encode(&dx).unwrap());
        same(&found, &values);
        same(&found_lengths, &lengths);
        same(&here(on_gpu::unique(&dx).unwrap()), &values);
        let (found, found_seconds) = pair(on_gpu::unique_by_key(&dx, &dwide).unwrap());
        same(&found, &values);
        same(&found_seconds, &seconds);

        into_any_space((len, &values), &x, |firsts| on_gpu::unique_into(&dx, firsts));
        // Either of two vectors may be the short one.
        into_any_space((len, &values), &x, |keys| on_gpu::unique_by_key_into((&dx, &dwide), keys, &mut there(&wide)));
        into_any_space((len, &seconds), &wide, |values| {
            on_gpu::unique_by_key_into((&dx, &dwide), &mut there(&x), values)
        });
        into_any_space((len, &values), &x, |values| on_gpu::encode_into(&dx, values, &mut there(&vec![7; len])));
        into_any_space((len, &lengths), &vec![7; len], |lengths| on_gpu::encode_into(&dx, &mut there(&x), lengths));
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn runs_are_encoded_and_made_unique() {
    with_random(|random| {
        for len in lengths(random) {
            encodes(random, len, |run| run as u8);
            encodes(random, len, |run| run as i16);
            encodes(random, len, |run| run as u32);
            encodes(random, len, |run| run as u64 * 77_777_777_777);
            encodes(random, len, |run| run as f64);
            encodes(random, len, |run| (run as u8, run as u32));
        }
    });
}

/// Equal records may differ: encoding gives the last one of a run.
#[test]
#[ignore = "needs a CUDA device"]
fn a_run_of_zeros_of_either_sign_has_the_last_one() {
    with_random(|random| {
        let x = drawn(random, 100_000, |bits| [0.0f32, -0.0, 1.0][(bits % 3) as usize]);
        let (values, lengths) = pair(on_gpu::encode(&there(&x)).unwrap());
        let runs: Vec<&[f32]> = x.chunk_by(|a, b| a == b).collect();
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        same(&bits(&values), &runs.iter().map(|run| run[run.len() - 1].to_bits()).collect::<Vec<_>>());
        same(&lengths, &runs.iter().map(|run| run.len() as u32).collect::<Vec<_>>());
    });
}

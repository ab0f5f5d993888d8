//! Selecting and parting.

use std::fmt::Debug;

use monoscan::Error;
use monoscan::algo::AlgoError;
use monoscan::algo::select::{
    Select, partition, partition_into, partition3, partition3_into, places, places_into, select, select_into,
    select_with_places, select_with_places_into,
};
use monoscan::prelude::*;

use super::common::{for_lengths, generator};

/// Flags of many densities: none, all, one in two, one in many, all but a few, and runs.
fn flags(len: usize) -> Vec<Vec<bool>> {
    let mut random = generator(len);
    let mut drawn: Vec<Vec<bool>> =
        [2, 50, 5000].map(|one_in| (0..len).map(|_| random.chance(one_in)).collect()).into();
    drawn.push(drawn[1].iter().map(|flag| !flag).collect());
    drawn.extend([vec![false; len], vec![true; len], (0..len).map(|i| i / 1000 % 2 == 0).collect()]);
    drawn
}

fn are_selected<T: ScanType + PartialEq + Debug>(of: impl Fn(u64) -> T + Sync) {
    for_lengths(100_003, |len| {
        let mut random = generator(len);
        let x: Vec<T> = (0..len).map(|_| of(random.bits())).collect();
        for flags in flags(len) {
            let expected: Vec<u32> = (0..len as u32).filter(|&i| flags[i as usize]).collect();
            let records: Vec<T> = expected.iter().map(|&i| x[i as usize]).collect();
            assert_eq!(places(&flags).unwrap(), expected);
            assert_eq!(select(&x, &flags).unwrap(), records);
            assert_eq!(select_with_places(&x, &flags).unwrap(), (records.clone(), expected.clone()));
            // With space for what is kept alone, and with more than for all records.
            for space in [records.len(), len + 5] {
                let (mut kept, mut kept_too, mut at) = (vec![of(0); space], vec![of(0); space], vec![7; space]);
                assert_eq!(select_into(&x, &flags, &mut kept).unwrap(), records.len());
                assert_eq!(kept[..records.len()], records);
                assert_eq!(select_with_places_into((&x, &flags), &mut kept_too, &mut at).unwrap(), records.len());
                assert!(kept_too[..records.len()] == records && at[..records.len()] == expected);
                at.fill(7);
                assert_eq!(places_into(&flags, &mut at).unwrap(), records.len());
                assert_eq!(at[..records.len()], expected);
            }
        }
    });
}

#[test]
fn what_is_flagged_is_selected_with_its_places() {
    are_selected(|bits| bits as i64);
    are_selected(|bits| bits as u8);
    are_selected(|bits| bits as u16);
    are_selected(|bits| bits as f32);
    are_selected(|bits| bits % 2 == 0);
    are_selected(|bits| (bits as u8, (bits >> 8) as u32));
    are_selected(|bits| [bits, !bits, bits / 3]);
}

#[test]
fn a_predicate_selects_records_of_several_fields_and_sees_captured_values() {
    for_lengths(70_001, |len| {
        for limit in [3u32, 700] {
            let by = Select::by(scan!(|x: (u32, f32)| -> bool { x.0 % 1000 < limit })).unwrap();
            let x: Vec<(u32, f32)> = (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761), i as f32)).collect();
            let kept: Vec<u32> = (0..len as u32).filter(|&i| x[i as usize].0 % 1000 < limit).collect();
            let records: Vec<(u32, f32)> = kept.iter().map(|&i| x[i as usize]).collect();
            assert_eq!(by.select(&x).unwrap(), records);
            let mut output = vec![(7, 7.0); records.len()];
            assert_eq!(by.select_into(&x, &mut output).unwrap(), records.len());
            assert_eq!(output, records);
            let mut at = vec![7; records.len()];
            output.fill((7, 7.0));
            assert_eq!(by.select_with_places_into(&x, &mut output, &mut at).unwrap(), records.len());
            assert!(output == records && at == kept);
            assert_eq!(by.select_with_places(&x).unwrap(), (records, kept));
        }
    });
}

#[test]
fn partitions_are_stable() {
    // More than one thread moves.
    for_lengths(140_001, |len| {
        let x: Vec<u16> = (0..len).map(|i| i as u16).collect();
        for flags in flags(len) {
            let of = |wanted| (0..len).filter(|&i| flags[i] == wanted).map(|i| x[i]).collect::<Vec<u16>>();
            let (set, others) = (of(true), of(false));
            assert_eq!(partition(&x, &flags).unwrap(), ([&set[..], &others].concat(), set.len()));
            let mut parts = vec![0; len];
            assert_eq!(partition_into(&x, &flags, &mut parts).unwrap(), set.len());
            assert_eq!(parts, [&set[..], &others].concat());

            let classes: Vec<u8> = (0..len).map(|i| if flags[i] { 1 } else { (i % 2 * 2) as u8 }).collect();
            let parts: Vec<Vec<u16>> =
                (0..3).map(|class| (0..len).filter(|&i| classes[i] == class).map(|i| x[i]).collect()).collect();
            let counts = [parts[0].len(), parts[1].len(), parts[2].len()];
            assert_eq!(partition3(&x, &classes).unwrap(), (parts.concat(), counts));
            let mut together = vec![7; len];
            assert_eq!(partition3_into(&x, &classes, &mut together).unwrap(), counts);
            assert_eq!(together, parts.concat());
        }
    });
}

#[test]
fn bad_input_is_refused_with_what_was_expected() {
    let expected = |error| matches!(error, AlgoError::Length { argument: "flags", expected: 3, got: 2 });
    assert!(expected(select(&[1, 2, 3], &[true, false]).unwrap_err()));
    assert!(expected(select_with_places(&[1, 2, 3], &[true, false]).unwrap_err()));
    assert!(expected(partition(&[1, 2, 3], &[true, false]).unwrap_err()));
    let mut parts = [7; 2];
    let error = partition_into(&[1, 2, 3], &[true; 3], &mut parts).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "parts", expected: 3, got: 2 }), "{error}");
    assert_eq!(parts, [7; 2]);
    let error = partition3(&[1, 2, 3], &[0]).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "classes", expected: 3, got: 1 }), "{error}");
    let error = partition3(&[1, 2, 3], &[0, 3, 4]).unwrap_err();
    assert!(matches!(error, AlgoError::Class { record: 1, expected: 3, got: 3 }));
    let error = partition3_into(&[1, 2, 3], &[0; 3], &mut parts).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "parts", expected: 3, got: 2 }), "{error}");
    let mut three = [7; 3];
    let error = partition3_into(&[1, 2, 3], &[0, 1, 9], &mut three).unwrap_err();
    assert!(matches!(error, AlgoError::Class { record: 2, expected: 3, got: 9 }), "{error}");
    assert_eq!((parts, three), ([7; 2], [7; 3]));
    // Parts of classes are looked at by threads.
    let mut classes = vec![2; 200_000];
    (classes[70_000], classes[150_000]) = (5, 6);
    let error = partition3(&vec![0u8; classes.len()], &classes).unwrap_err();
    assert!(matches!(error, AlgoError::Class { record: 70_000, expected: 3, got: 5 }), "{error}");
    // Columns with space for all.
    let (mut kept, mut at) = ([7; 3], [7; 3]);
    assert!(expected(select_into(&[1, 2, 3], &[true; 2], &mut kept).unwrap_err()));
    assert!(expected(select_with_places_into((&[1, 2, 3], &[true; 2]), &mut kept, &mut at).unwrap_err()));
    assert!(expected(partition_into(&[1, 2, 3], &[true; 2], &mut kept).unwrap_err()));
    let error = select_with_places_into((&[1, 2, 3], &[true; 3]), &mut kept, &mut at[..2]).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::OutputTooShort { column: 1, expected: 3, got: 2 })), "{error}");
    let odd = Select::by(scan!(|x: i32| -> bool { x % 2 == 1 })).unwrap();
    let error = odd.select_with_places_into(&[1, 2, 3], &mut kept, &mut at[..1]).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::OutputTooShort { column: 1, expected: 2, got: 1 })), "{error}");
    assert_eq!((kept, at), ([7; 3], [7; 3]));
    let mut output = [7; 1];
    let error = select_into(&[1, 2, 3], &[true, false, true], &mut output).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::OutputTooShort { .. })), "{error}");
    let mut at = [7; 1];
    let error = places_into(&[true; 3], &mut at).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::OutputTooShort { column: 0, expected: 3, got: 1 })), "{error}");
    assert_eq!((output, at), ([7], [7]));
}

//! Runs of equal records.

use std::fmt::Debug;

use monoscan::Error;
use monoscan::algo::AlgoError;
use monoscan::algo::runs::{
    decode, decode_into, encode, encode_into, unique, unique_by_key, unique_by_key_into, unique_into,
};
use monoscan::prelude::*;

use super::common::{for_lengths, generator};

/// Records whose runs have about this mean length; one run; and no two that are equal.
fn inputs(len: usize) -> Vec<Vec<u32>> {
    let mut random = generator(len);
    let mut inputs = vec![vec![5; len], (0..len as u32).collect()];
    for mean in [2, 10, 3000] {
        let mut value = 0;
        inputs.push(
            (0..len)
                .map(|_| {
                    value = if random.chance(mean) { random.below(9u32) } else { value };
                    value
                })
                .collect(),
        );
    }
    inputs
}

fn are_encoded_decoded_and_made_unique<T: ScanType + PartialEq + Debug>(x: &[T], of: impl Fn(u32) -> T) {
    let runs: Vec<&[T]> = x.chunk_by(|a, b| a == b).collect();
    let values: Vec<T> = runs.iter().map(|run| run[0]).collect();
    let lengths: Vec<u32> = runs.iter().map(|run| run.len() as u32).collect();
    assert_eq!(encode(x).unwrap(), (values.clone(), lengths.clone()));
    assert_eq!(unique(x).unwrap(), values);
    assert_eq!(decode(&values, &lengths).unwrap(), x);

    // With space for the runs alone, and with space for all records and more.
    for space in [runs.len(), x.len() + 9] {
        let (mut first, mut second, mut records) = (vec![of(7); space], vec![7; space], vec![of(7); x.len() + space]);
        assert_eq!(encode_into(x, &mut first, &mut second).unwrap(), runs.len());
        assert_eq!((&first[..runs.len()], &second[..runs.len()]), (&values[..], &lengths[..]));
        first.fill(of(7));
        assert_eq!(unique_into(x, &mut first).unwrap(), runs.len());
        assert_eq!(first[..runs.len()], values);
        assert_eq!(decode_into(&values, &lengths, &mut records).unwrap(), x.len());
        assert!(records[..x.len()] == *x && records[x.len()..].iter().all(|&record| record == of(7)));
    }

    let places: Vec<u64> = (0..x.len() as u64).collect();
    let is_first = |&place: &u64| place == 0 || x[place as usize] != x[place as usize - 1];
    let firsts: Vec<u64> = places.iter().copied().filter(is_first).collect();
    let (mut keys, mut places_of_keys) = (vec![of(7); runs.len()], vec![7; runs.len()]);
    assert_eq!(unique_by_key_into((x, &places), &mut keys, &mut places_of_keys).unwrap(), runs.len());
    assert!(keys == values && places_of_keys == firsts);
    assert_eq!(unique_by_key(x, &places).unwrap(), (values, firsts));
}

#[test]
fn runs_are_encoded_decoded_and_made_unique() {
    fn each<T: ScanType + PartialEq + Debug>(x: &[u32], of: fn(u32) -> T) {
        are_encoded_decoded_and_made_unique(&x.iter().map(|&x| of(x)).collect::<Vec<T>>(), of);
    }
    for_lengths(70_001, |len| {
        for x in inputs(len) {
            each(&x, |x| x);
            each(&x, |x| x as u8);
            each(&x, |x| -i64::from(x));
            each(&x, |x| x as f32 / 8.0);
            each(&x, |x| (x as u16 / 2, x % 2 == 0));
        }
    });
}

/// Parts of the output begin within runs and groups of runs, behind runs of no records, and a run may fill several parts.
#[test]
fn decoded_runs_are_those_of_a_loop_wherever_parts_begin() {
    let mut random = generator(64);
    for round in 0..60 {
        let runs = [1, 3, 63, 64, 65, 200, 5000][round % 7];
        let longest = [1, 2, 40, 3000, 70_000][round % 5];
        let lengths: Vec<u32> = (0..runs)
            .map(|_| if random.below(3) == 0 { 0 } else { random.below(longest + 1) as u32 })
            .scan(1_000_000u32, |left, length| {
                let length = length.min(*left);
                *left -= length;
                Some(length)
            })
            .collect();
        let values: Vec<u16> = (0..runs).map(|run| run as u16).collect();
        let records =
            values.iter().zip(&lengths).flat_map(|(&value, &length)| std::iter::repeat_n(value, length as usize));
        assert!(decode(&values, &lengths).unwrap().into_iter().eq(records), "{runs} runs of up to {longest}");
    }
}

#[test]
fn runs_of_length_0_decode_to_nothing_wherever_they_are() {
    let decoded = decode(&['a', 'b', 'c', 'd'], &[0, 2, 0, 0]).unwrap();
    assert_eq!(decoded, ['b', 'b']);
    assert_eq!(decode(&['a'], &[0]).unwrap(), []);
    let long = decode(&[1u8, 2, 3], &[0, 100_000, 0]).unwrap();
    assert_eq!(long, vec![2; 100_000]);
}

/// Of records without bytes there may be more than memory has.
#[test]
fn records_without_bytes_are_decoded_however_many_they_are() {
    let lengths = vec![u32::MAX; 1 << 12];
    let values = vec![(); lengths.len()];
    assert_eq!(decode(&values, &lengths).unwrap().len(), lengths.len() * u32::MAX as usize);
    let mut records = [(); usize::MAX];
    assert_eq!(decode_into(&values, &lengths, &mut records).unwrap(), lengths.len() * u32::MAX as usize);
    let numbers = vec![0u64; lengths.len()];
    assert!(matches!(decode(&numbers, &lengths), Err(AlgoError::Scan(Error::OutOfMemory { .. }))));
}

#[test]
fn nan_begins_a_run_of_its_own() {
    assert_eq!(encode(&[f64::NAN, f64::NAN, 0.0, -0.0]).unwrap().1, [1, 1, 2]);
}

#[test]
fn slices_that_are_too_short_are_refused_and_not_written() {
    let too_short = |error, columns: [usize; 3]| match error {
        AlgoError::Scan(Error::OutputTooShort { column, expected, got }) => [column, expected, got] == columns,
        _ => false,
    };
    let x = [1, 1, 2, 3, 3];
    let (mut values, mut lengths, mut records) = ([7; 4], [7; 2], [7; 4]);
    assert!(too_short(encode_into(&x, &mut values, &mut lengths).unwrap_err(), [1, 3, 2]));
    assert!(too_short(unique_into(&x, &mut records[..2]).unwrap_err(), [0, 3, 2]));
    let first_pairs = unique_by_key_into((&x, &x), &mut records, &mut values[..2]);
    assert!(too_short(first_pairs.unwrap_err(), [1, 3, 2]));
    assert!(too_short(decode_into(&[1, 2, 3], &[2, 1, 2], &mut records).unwrap_err(), [0, 5, 4]));
    assert!(too_short(decode_into(&[1; 2], &[u32::MAX; 2], &mut records).unwrap_err(), [0, (1 << 33) - 2, 4]));
    assert_eq!((values, lengths, records), ([7; 4], [7; 2], [7; 4]));
}

#[test]
fn lengths_that_disagree_are_refused() {
    let error = decode(&[1, 2], &[1]).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "lengths", expected: 2, got: 1 }));
    let error = decode_into(&[1, 2], &[1], &mut [0; 9]).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "lengths", expected: 2, got: 1 }));
    let into = unique_by_key_into((&[1, 2], &[1]), &mut [7; 2], &mut [7; 2]).map(drop);
    for error in [unique_by_key(&[1, 2], &[1]).map(drop), into] {
        assert!(matches!(error, Err(AlgoError::Length { argument: "values", expected: 2, got: 1 })));
    }
}

//! Records that are selected, parted, sorted or made unique.

use std::cmp::Reverse;

use monoscan::algo::sort::Order;
use monoscan::algo::{on_gpu, select};
use monoscan::prelude::*;

use super::super::loops::{by_key, three_parts};
use super::{There, one, two, with};
use crate::common::Failure;
use crate::{LOOP, SCAN, drawn};

pub(super) fn selecting(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let flags: Vec<bool> = drawn(there.records, 51, |bits| bits & 1 == 1);
    let classes: Vec<u8> = drawn(there.records, 53, |bits| (bits % 3) as u8);
    let (dx, dflags, dclasses) = (there.upload(&x)?, there.upload(&flags)?, there.upload(&classes)?);
    let of = |set: bool| x.iter().zip(&flags).filter(move |(_, flag)| **flag == set).map(|(x, _)| *x);
    there.line(("on_gpu::select", SCAN), || on_gpu::select(&dx, &dflags), one, ("a filter", || of(true).collect()))?;
    there.line(
        ("on_gpu::select_with_places", SCAN),
        || on_gpu::select_with_places(&dx, &dflags),
        two,
        ("a filter", || {
            (0u32..).zip(&x).zip(&flags).filter(|(_, flag)| **flag).map(|((place, x), _)| (*x, place)).unzip()
        }),
    )?;
    there.line(
        ("on_gpu::places", SCAN),
        || on_gpu::places(&dflags),
        one,
        ("a filter", || (0..).zip(&flags).filter(|(_, flag)| **flag).map(|(place, _)| place).collect()),
    )?;
    let positive = select::Select::by(scan!(|x: i32| -> bool { x > 0 }))?.on(there.gpu)?;
    there.line(
        ("on_gpu::Select::select", SCAN),
        || positive.select(&dx),
        one,
        ("a filter", || x.iter().copied().filter(|&x| x > 0).collect()),
    )?;
    there.line(
        ("on_gpu::Select::select_with_places", SCAN),
        || positive.select_with_places(&dx),
        two,
        ("a filter", || x.iter().copied().zip(0u32..).filter(|(x, _)| *x > 0).unzip()),
    )?;
    there.line(
        ("on_gpu::partition", ["n", "1", "2"]),
        || on_gpu::partition(&dx, &dflags),
        with,
        ("two filters", || (of(true).chain(of(false)).collect(), of(true).count())),
    )?;
    there.line(
        ("on_gpu::partition3", ["n", "1", "2"]),
        || on_gpu::partition3(&dx, &dclasses),
        with,
        ("three pushes", || three_parts(&x, &classes)),
    )
}

pub(super) fn runs(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let mut keys: Vec<u32> = drawn(there.records, 52, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let (dx, dkeys) = (there.upload(&x)?, there.upload(&keys)?);
    there.line(
        ("on_gpu::encode", SCAN),
        || on_gpu::encode(&dkeys),
        two,
        ("chunk_by", || keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).unzip()),
    )?;
    there.line(
        ("on_gpu::unique", SCAN),
        || on_gpu::unique(&dkeys),
        one,
        ("dedup", || {
            let mut keys = keys.clone();
            keys.dedup();
            keys
        }),
    )?;
    there.line(
        ("on_gpu::unique_by_key", SCAN),
        || on_gpu::unique_by_key(&dkeys, &dx),
        two,
        ("a loop", || by_key(&keys, &x, |x| *x, |_, _| ())),
    )
}

/// A digit of a byte is counted, and moves its records: two passes for each.
pub(super) fn sorting(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let floats: Vec<f64> = drawn(there.records, 54, |bits| bits as f64 - 1e19);
    let classes: Vec<u8> = drawn(there.records, 53, |bits| (bits % 3) as u8);
    let (dx, dfloats, dclasses) = (there.upload(&x)?, there.upload(&floats)?, there.upload(&classes)?);
    there.judged(
        ("on_gpu::sort i32", ["4 n", "4", "8"]),
        (
            || Ok(dx.copied()?),
            |mut keys| {
                on_gpu::sort(&mut keys, Order::Ascending)?;
                Ok(keys)
            },
        ),
        one,
        ("sort_unstable", || {
            let mut keys = x.clone();
            keys.sort_unstable();
            keys
        }),
        Vec::eq,
    )?;
    there.line(
        ("on_gpu::argsort f64", ["8 n", "8", "16"]),
        || on_gpu::argsort(&dfloats, Order::Ascending),
        one,
        ("sort_by", || {
            let mut places: Vec<u32> = (0..floats.len() as u32).collect();
            places.sort_by(|&a, &b| floats[a as usize].total_cmp(&floats[b as usize]));
            places
        }),
    )?;
    there.judged(
        ("on_gpu::sort_with_values", ["4 n", "4", "8"]),
        (
            || Ok((dx.copied()?, dfloats.copied()?)),
            |(mut keys, mut values)| {
                on_gpu::sort_with_values(&mut keys, &mut values, Order::Descending)?;
                Ok((keys, values))
            },
        ),
        two,
        ("sort_by_key", || {
            let mut pairs: Vec<(i32, f64)> = x.iter().copied().zip(floats.iter().copied()).collect();
            pairs.sort_by_key(|&(key, _)| Reverse(key));
            pairs.into_iter().unzip()
        }),
        PartialEq::eq,
    )?;
    there.line(
        ("on_gpu::histogram u8", LOOP),
        || on_gpu::histogram(&dclasses),
        two,
        ("counters", || {
            let mut counts = vec![0u32; 256];
            classes.iter().for_each(|&class| counts[class as usize] += 1);
            (0..=u8::MAX).zip(counts).filter(|(_, count)| *count > 0).unzip()
        }),
    )
}

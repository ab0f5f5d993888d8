//! Chunks of a stream, one after the other, are the whole.

use monoscan::Rows;
use monoscan::ops::Sum;
use monoscan::prelude::*;

use super::reference::{Ask, Runs, SIZES, plans};
use scan_kit::Random;
use scan_kit::zoo::*;

fn records(n: usize, r: &mut Random) -> Vec<Bicyclic> {
    (0..n).map(|_| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 }).collect()
}

/// Cuts n records at random, some chunks being empty.
fn chunks(n: usize, r: &mut Random) -> Vec<std::ops::Range<usize>> {
    let mut ends = vec![0, 0];
    while ends[ends.len() - 1] < n {
        ends.push((ends[ends.len() - 1] + r.below(9) as usize).min(n));
    }
    ends.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

fn states(states: Vec<Option<Bicyclic>>) -> Vec<Bicyclic> {
    states.into_iter().flatten().collect()
}

#[test]
fn chunks_of_a_line_give_the_line() {
    let mut r = Random(1);
    for plan in plans() {
        let scan = Scan::<Bicyclic>::builder().plan(plan).threads(2).build().unwrap();
        for n in SIZES {
            let x = records(n, &mut r);
            let answer = Ask::line().answer(&x);
            let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
            let mut in_place = x.clone();
            let mut carries = [scan.identity(); 3];
            for chunk in chunks(n, &mut r) {
                let x = &x[chunk.clone()];
                inclusive.extend(scan.resume(&mut carries[0], x).unwrap());
                exclusive.extend(scan.resuming(&mut carries[1]).exclusive(x).unwrap());
                scan.resuming(&mut carries[2]).inclusive_in_place(&mut in_place[chunk]).unwrap();
                assert_eq!(carries, [carries[0]; 3]);
            }
            assert_eq!(inclusive, states(answer.after));
            assert_eq!(exclusive, states(answer.before));
            assert_eq!(in_place, inclusive);
            assert_eq!(carries[0], answer.totals[0]);
        }
    }
}

#[test]
fn a_reversed_stream_comes_from_its_end() {
    let mut r = Random(2);
    for plan in plans() {
        let scan = Scan::<Bicyclic>::builder().plan(plan).threads(2).build().unwrap();
        for n in SIZES {
            let x = records(n, &mut r);
            let ask = Ask { reversed: true, ..Ask::line() };
            let answer = ask.answer(&x);
            let mut y = x.clone();
            let mut carry = scan.identity();
            for chunk in chunks(n, &mut r).into_iter().rev() {
                scan.resuming(&mut carry).reversed().inclusive_into(&x[chunk.clone()], &mut y[chunk]).unwrap();
            }
            assert_eq!(y, states(answer.after));
            assert_eq!(carry, answer.totals[0]);
        }
    }
}

#[test]
fn segments_go_on_from_chunk_to_chunk_unless_flagged() {
    let mut r = Random(3);
    let init = Bicyclic { closing: 4, opening: 9 };
    for plan in plans() {
        let scan = Scan::<Bicyclic>::builder().plan(plan).threads(2).build().unwrap();
        for n in SIZES {
            let x = records(n, &mut r);
            let flags: Vec<bool> = (0..n).map(|_| r.below(4) == 0).collect();
            let ask = Ask { reversed: false, init: Some(init), runs: Runs::Heads(flags.clone()) };
            let answer = ask.answer(&x);
            let mut y = Vec::new();
            // What enters record 0 is the carry; later heads start from the initial state.
            let mut carry = init;
            for chunk in chunks(n, &mut r) {
                let request = scan.resuming(&mut carry).init(init).segmented(&flags[chunk.clone()]);
                y.extend(request.exclusive(&x[chunk]).unwrap());
            }
            assert_eq!(y, states(answer.before));
            assert_eq!(carry, answer.totals[0]);
        }
    }
}

#[test]
fn a_chunk_that_is_refused_leaves_the_carry() {
    let scan = Scan::<Bicyclic>::new().unwrap();
    let x = records(5, &mut Random(4));
    let mut carry = Bicyclic { closing: 1, opening: 2 };
    let mut output = x[..4].to_vec();
    assert!(scan.resuming(&mut carry).inclusive_into(&x, &mut output).is_err());
    assert!(scan.resuming(&mut carry).segmented(&[true; 4]).inclusive(&x).is_err());
    assert!(scan.resuming(&mut carry).reduce(&x).is_err());
    assert_eq!(carry, Bicyclic { closing: 1, opening: 2 });
    assert_eq!(output, x[..4]);
}

#[test]
fn a_stream_of_chunks_is_one_scan_and_knows_the_record_before() {
    #[scan_fn]
    fn changed(e: Element<u8>) -> Sum<u32> {
        Sum(if e.first || e.prev != e.record { 1 } else { 0 })
    }
    let scan = Scan::<Sum<u32>>::builder().lift_at(changed {}).build().unwrap();
    let text = b"aabbbbcaaaddddddx";
    let (expected, total) = scan.inclusive_with_total(text).unwrap();
    assert_eq!((&expected, total), (&scan.inclusive(text).unwrap(), scan.reduce(text).unwrap()));
    for size in 1..text.len() {
        let (mut stream, mut found) = (scan.stream(), Vec::new());
        assert_eq!(stream.state(), scan.identity());
        for (place, chunk) in text.chunks(size).enumerate() {
            if place % 2 == 0 {
                found.extend(stream.feed(chunk).unwrap());
            } else {
                let mut out = vec![Sum(0); chunk.len()];
                assert_eq!(stream.feed_into(chunk, &mut out).unwrap(), chunk.len());
                found.extend(out);
            }
            // What is refused leaves the stream as it was.
            assert!(stream.feed_into(chunk, &mut []).is_err());
        }
        assert_eq!((&found, stream.state()), (&expected, total), "chunks of {size}");
    }
}

/// Chunks of rows, given as vectors and as slices in turn, by a scan that has all its kernels for short rows.
#[test]
fn chunks_of_rows_give_the_rows() {
    let mut r = Random(5);
    for plan in plans() {
        let scan = Scan::<Bicyclic>::builder().plan(plan).threads(2).build().unwrap();
        for (rows, n) in [(1, 9), (2, 40), (3, 5), (7, 300)] {
            let all: Vec<Vec<Bicyclic>> = (0..rows).map(|_| records(n, &mut r)).collect();
            let answers: Vec<_> = all.iter().map(|row| Ask::line().answer(row)).collect();
            let cut = chunks(n, &mut r);
            let (mut stream, mut found) = (scan.stream_of_rows(rows), vec![Vec::new(); rows]);
            for (place, chunk) in cut.into_iter().enumerate() {
                let x: Vec<Bicyclic> = all.iter().flat_map(|row| &row[chunk.clone()]).copied().collect();
                let shape = Rows::new(rows, chunk.len(), chunk.len()).unwrap();
                // Rows that start from the identity, by whatever kernel such chunks may take.
                let fresh = scan.rows(shape).inclusive(&x).unwrap();
                assert_eq!(fresh.len(), x.len());
                let y = if place % 2 == 0 {
                    stream.feed(shape, &x).unwrap()
                } else {
                    let mut y = x.clone();
                    assert_eq!(stream.feed_into(shape, &x, &mut y).unwrap(), x.len());
                    y
                };
                for (row, found) in found.iter_mut().enumerate() {
                    found.extend_from_slice(&y[row * chunk.len()..][..chunk.len()]);
                }
            }
            for ((found, answer), state) in found.into_iter().zip(answers).zip(stream.states()) {
                assert_eq!(state, answer.totals[0]);
                assert_eq!(found, states(answer.after));
            }
        }
    }
}

//! The recurrence as a command.

use std::fs;
use std::path::Path;

use crate::{Scratch, doubles, failure, run, stdout};

#[test]
fn the_recurrence_filters_raw_samples() {
    let scratch = Scratch::new("recurrence-raw");
    let raw = scratch.file("in.f64", &doubles(&[1.0, 0.0, 0.0, 2.0]));
    let out = scratch.path("out.f64");
    stdout(&run("recurrence", &["--signature", "1 : 0.5", "--raw", &raw, "--out", &out]));
    assert_eq!(fs::read(&out).unwrap(), doubles(&[1.0, 0.5, 0.25, 2.125]));

    let singles: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let raw = scratch.file("in.f32", &singles);
    stdout(&run("recurrence", &["--signature", "1 : 1", "--f32", "--raw", &raw, "--out", &out]));
    let sums: Vec<u8> = [1.0f32, 3.0, 6.0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    assert_eq!(fs::read(&out).unwrap(), sums);
}

#[test]
fn the_recurrence_refuses_bad_input_and_writes_nothing() {
    let scratch = Scratch::new("recurrence-bad");
    let out = scratch.path("out.f64");
    let partial = scratch.file("partial", &[0; 13]);
    let message = failure(&run("recurrence", &["--raw", &partial, "--out", &out]), 1);
    assert!(message.contains("13 bytes"), "{message}");
    for signature in ["1, 2", "1 : x", ": 1", "1 : inf"] {
        let message = failure(&run("recurrence", &["--signature", signature, "--out", &out]), 2);
        assert!(message.contains(signature), "{message}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn the_recurrence_filters_nothing_and_single_samples_and_leaves_an_unusable_place_alone() {
    let scratch = Scratch::new("recurrence-short");
    let out = scratch.path("out.f64");
    for (input, output) in [(&[][..], &[][..]), (&[4.0], &[2.0]), (&[4.0, 4.0], &[2.0, 4.0])] {
        let raw = scratch.file("in.f64", &doubles(input));
        stdout(&run("recurrence", &["--signature", "(0.5 : 1)", "--raw", &raw, "--out", &out]));
        assert_eq!(fs::read(&out).unwrap(), doubles(output));
    }
    let nowhere = scratch.path("no/such/folder");
    let refused = run("recurrence", &["--raw", &out, "--out", &nowhere]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with(&nowhere));
    let message = failure(&run("recurrence", &["--signature", "1 : 100000, 1", "--raw", &out, "--out", &nowhere]), 1);
    assert!(message.contains("unstable"), "{message}");
}

#[test]
fn the_recurrence_is_judged_by_exact_arithmetic_where_the_plain_loop_loses_its_digits() {
    let scratch = Scratch::new("recurrence-exact");
    let samples: Vec<f64> =
        (0..200_000).map(|i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / 1e6 - 8.0).collect();
    let raw = scratch.file("in.f64", &doubles(&samples));
    let said = stdout(&run("recurrence", &["--signature", "1 : 3, -3, 1", "--raw", &raw]));
    assert!(said.contains("200000 of 200000 samples compared"), "{said}");
    let endless = scratch.file("inf.f64", &doubles(&[f64::INFINITY, 1.0, 1.0]));
    for signature in ["1 :", "1, 1 :", "1 : 0.5"] {
        let said = stdout(&run("recurrence", &["--signature", signature, "--raw", &endless]));
        assert!(said.contains("0 of 3 samples compared"), "{said}");
    }
    let subnormal = scratch.file("small.f32", &1e-42f32.to_le_bytes().repeat(10));
    stdout(&run("recurrence", &["--signature", "0.2 : 0.8", "--f32", "--raw", &subnormal]));
}

//! Long lines, of which the first one is what functions and generated code are raced over. Results
//! are the same whichever of the two wins, and where functions panic. A build with debug assertions
//! tries no function: `cargo test --release --test native long` has the race.

use super::*;

/// Lengths around the one from which lines are long, of one thread and of several.
const LENGTHS: [usize; 7] = [1023, 1024, 1025, 2047, 5000, 20_000, 300_000];

/// Records of which some overflow: none, all, those of the first part of a line, one far behind.
fn lines(random: &mut Random, len: usize) -> [Vec<Corner>; 4] {
    let mut small = || {
        let mut number = || random.below(3) - 1;
        Corner { a: number(), b: number(), corner: number() }
    };
    let calm: Vec<Corner> = (0..len).map(|_| small()).collect();
    let (mut early, mut late) = (calm.clone(), calm.clone());
    early[100].corner = i32::MAX;
    early[101].corner = i32::MAX;
    late[len - 2].corner = i32::MAX;
    late[len - 1].corner = i32::MAX;
    [calm, corners(random, len), early, late]
}

/// The plan chooses, and each scan is new, so that each line is the first.
#[test]
fn first_long_lines_give_what_generated_code_gives() {
    let mut random = Random(11);
    let generated =
        Scan::<Corner>::builder().plan(PlanOptions { native: Some(false), ..PlanOptions::default() }).build().unwrap();
    for len in LENGTHS {
        for (kind, x) in lines(&mut random, len).iter().enumerate() {
            let new = || Scan::<Corner>::new().unwrap();
            assert!(new().inclusive(x).unwrap() == generated.inclusive(x).unwrap(), "{len}, {kind}");
            assert!(new().exclusive(x).unwrap() == generated.exclusive(x).unwrap(), "{len}, {kind}");
            assert_eq!(new().reduce(x).unwrap(), generated.reduce(x).unwrap(), "{len}, {kind}");
            let (mut one, mut other) = (x.clone(), x.clone());
            new().inclusive_in_place(&mut one).unwrap();
            generated.inclusive_in_place(&mut other).unwrap();
            assert!(one == other, "{len}, {kind}");
            let mut carries = [Corner { a: 3, b: 7, corner: 5 }; 2];
            let one = new().resuming(&mut carries[0]).inclusive(x).unwrap();
            let other = generated.resuming(&mut carries[1]).inclusive(x).unwrap();
            assert!(one == other && carries[0] == carries[1], "{len}, {kind}");
        }
    }
}

/// A line of one record again and again says nothing of others, and lines of both kinds come before and behind each other.
#[test]
fn what_was_scanned_before_does_not_matter() {
    let mut random = Random(12);
    let (scan, same) = (Scan::<Corner>::new().unwrap(), vec![Corner::identity(); 3000]);
    let lines: Vec<Vec<Corner>> = [10, 3000, 200, 60_000].map(|len| corners(&mut random, len)).into();
    for _ in 0..3 {
        for x in [&same].into_iter().chain(&lines).chain(lines.iter().rev()) {
            let new = Scan::<Corner>::new().unwrap();
            assert!(scan.inclusive(x).unwrap() == new.inclusive(x).unwrap(), "{}", x.len());
            assert_eq!(scan.reduce(x).unwrap(), new.reduce(x).unwrap(), "{}", x.len());
        }
    }
}

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

#[scan_fn]
fn three_states(s: (f64, f64, f64), x: f64, y: f64, z: f64) -> (f64, f64, f64) {
    (
        (s.0 * 0.8 + s.1 * 0.1 + s.2 * 0.1) * x,
        (s.0 * 0.1 + s.1 * 0.8 + s.2 * 0.1) * y,
        (s.0 * 0.1 + s.1 * 0.1 + s.2 * 0.8) * z,
    )
}

/// A race writes results of several words to memory of its own, wherever the line's are, from as many columns as there are.
#[test]
fn loops_of_several_columns_are_raced() {
    let mut random = Random(13);
    let mut column = |len: usize| (0..len).map(|_| 0.5 + random.below(100) as f64 / 100.0).collect::<Vec<f64>>();
    for len in [1024, 7000, 50_000] {
        let (x, y, z) = (column(len), column(len), column(len));
        let mut state = (0.5, 0.5, 0.1);
        let steps = (0..len).map(|i| {
            state = three_states(state, x[i], y[i], z[i]);
            state
        });
        let expected: Vec<(f64, f64, f64)> = steps.collect();
        let new = || Scan::loop_builder(three_states {}, (0.5, 0.5, 0.1)).threads(1).build().unwrap();
        assert!(new().inclusive((&x, &y, &z)).unwrap() == expected, "{len}");
        assert!(new().exclusive((&x, &y, &z)).unwrap()[1..] == expected[..len - 1], "{len}");
        assert_eq!(new().reduce((&x, &y, &z)).unwrap().0, state, "{len}");
    }
}

/// Two operators of one order and cost. Equal programs share kernels, and these are not equal.
macro_rules! means {
    ($($mean:ident $sum:ident $add:ident;)+) => { $(
        #[scan_monoid]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct $mean {
            sum: f32,
            n: u32,
        }

        #[scan_monoid]
        impl Monoid for $mean {
            fn identity() -> Self {
                $mean { sum: 0.0, n: 0 }
            }

            fn combine(self, later: Self) -> Self {
                $mean { sum: self.sum + later.sum, n: self.n.$add(later.n) }
            }
        }

        #[scan_fn]
        fn $sum(mean: $mean) -> f32 {
            mean.sum
        }
    )+ };
}

means! {
    Counted counted_sum wrapping_add;
    Joined joined_sum max;
}

/// The kernel of resumed lines combines in another order than that of short ones, and must not take theirs.
#[test]
fn what_was_resumed_before_does_not_matter() {
    let mut random = Random(14);
    let sums: Vec<f32> = (0..300).map(|_| random.below(1000) as f32 / 7.0).collect();
    let counted: Vec<Counted> = sums.iter().map(|&sum| Counted { sum, n: 1 }).collect();
    let joined: Vec<Joined> = sums.iter().map(|&sum| Joined { sum, n: 1 }).collect();
    let scan = Scan::<Counted>::builder().project(counted_sum {}).build().unwrap();
    let fresh = Scan::<Joined>::builder().project(joined_sum {}).build().unwrap();
    scan.resuming(&mut Counted::identity()).exclusive(&counted).unwrap();
    for len in 0..sums.len() {
        assert!(scan.exclusive(&counted[..len]).unwrap() == fresh.exclusive(&joined[..len]).unwrap(), "{len}");
    }
}

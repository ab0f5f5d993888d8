//! The ready monoids: the verdict on the laws of each is the one that its documentation states, and
//! its scans are those of the native sequential loop, at sizes below and above one tile.

use std::fmt::Debug;

use monoscan::ops::*;
use monoscan::prelude::*;
use scan_kit::Random;

/// In [0, 1), in steps of 1/1024, so that some values come twice.
fn fraction(random: &mut Random) -> f64 {
    random.below(1024) as f64 / 1024.0
}

const SIZES: [usize; 4] = [0, 1, 1000, 70_000];

/// The scans of states that `make` gives, against the native fold; `same` compares a result with the fold's.
fn check<M: Monoid + Debug>(make: impl Fn(&mut Random, usize) -> M, same: impl Fn(&M, &M) -> bool) {
    let scan = Scan::<M>::new().unwrap();
    let mut random = Random(1);
    let states: Vec<M> = (0..SIZES[3]).map(|i| make(&mut random, i)).collect();
    let mut prefixes = vec![M::identity()];
    for &state in &states {
        prefixes.push(prefixes[prefixes.len() - 1].combine(state));
    }
    for n in SIZES {
        let compare = |got: Vec<M>, expected: &[M]| {
            assert_eq!(got.len(), n);
            if let Some(i) = (0..n).find(|&i| !same(&got[i], &expected[i])) {
                panic!("n = {n}, element {i}: {:?} for {:?}", got[i], expected[i]);
            }
        };
        compare(scan.inclusive(&states[..n]).unwrap(), &prefixes[1..]);
        compare(scan.exclusive(&states[..n]).unwrap(), &prefixes);
    }
}

fn exactly<M: PartialEq>(a: &M, b: &M) -> bool {
    a == b
}

/// Close on the scale of what they are sums of.
fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-10 * (1.0 + a.abs().max(b.abs()))
}

fn proved<M: Monoid>() {
    let judgement = Scan::<M>::new().unwrap().judgement().clone();
    assert!(judgement.verdict().is_proved(), "{}\n{judgement}", std::any::type_name::<M>());
}

/// Not refuted, or there would be no scan; and no proof is known that the documentation should boast of.
fn tested<M: Monoid>() {
    let judgement = Scan::<M>::new().unwrap().judgement().clone();
    assert!(!judgement.verdict().is_proved(), "{}\n{judgement}", std::any::type_name::<M>());
}

#[test]
fn numbers_and_bits_are_proved_over_every_scalar() {
    macro_rules! all {
        ($($scalar:ident)*) => {$(
            proved::<Sum<$scalar>>();
            proved::<Product<$scalar>>();
            proved::<Min<$scalar>>();
            proved::<Max<$scalar>>();
        )*};
    }
    all!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    proved::<Minimum<f32>>();
    proved::<Maximum<f64>>();
    macro_rules! bits {
        ($($scalar:ident)*) => {$(
            proved::<And<$scalar>>();
            proved::<Or<$scalar>>();
            proved::<Xor<$scalar>>();
        )*};
    }
    bits!(bool i8 i64 u8 u16 u32 u64);
    proved::<All>();
    proved::<Any>();
    proved::<Carry>();
}

#[test]
fn maps_are_proved() {
    proved::<Affine<f32>>();
    proved::<Affine<u16>>();
    proved::<MaxPlus<f32>>();
    proved::<MaxPlus<f64>>();
    proved::<Matrix<f32, 1>>();
    proved::<Matrix<i32, 2>>();
    proved::<Matrix<f64, 4>>();
    proved::<Complex<f32>>();
    proved::<Complex<i64>>();
    proved::<Quaternion<f64>>();
    proved::<Quaternion<i8>>();
    proved::<RabinKarp>();
    proved::<StateMap<2>>();
    proved::<StateMap<7>>();
    proved::<StateMap<16>>();
}

#[test]
fn what_is_only_tested_says_so() {
    tested::<ArgMin<f32>>();
    tested::<ArgMax<u64>>();
    tested::<Moments<f32>>();
    tested::<Moments<f64>>();
    tested::<LogSumExp<f32>>();
    tested::<LogSumExp<f64>>();
    tested::<BracketDepth>();
    tested::<LongestRun>();
    tested::<WithIdentity<Ends>>();
}

#[test]
fn wrappers_inherit_proofs() {
    proved::<Pair<Sum<i32>, Max<f32>>>();
    proved::<Triple<Sum<u32>, Affine<f64>, Xor<u8>>>();
    proved::<Segmented<Affine<f32>>>();
    proved::<Segmented<Segmented<Sum<u64>>>>();
    proved::<Dual<Matrix<i32, 2>>>();
}

#[test]
fn sums_products_and_extremes_are_those_of_the_loop() {
    check(|r, _| Sum(r.below(1000) as i64 - 500), exactly);
    check(|r, _| Sum(fraction(r)), |a, b| close(a.0, b.0));
    check(|r, _| Product(*r.pick(&[1i32, -1])), exactly);
    check(|r, _| Product(1.0 + (fraction(r) - 0.5) / 1000.0), |a: &Product<f64>, b| close(a.0, b.0));
    check(|r, _| Min(r.below(1 << 30)), exactly);
    check(|r, _| Max(fraction(r)), exactly);
}

#[test]
fn extremes_skip_nan() {
    let or_nan = |r: &mut Random| if r.below(3) == 0 { f32::NAN } else { fraction(r) as f32 };
    check(|r, _| Min(or_nan(r)), exactly);
    check(|r, i| ArgMax { value: or_nan(r), index: i as u32 }, exactly);
    let nothing = [ArgMin { value: f64::NAN, index: 3 }; 2];
    let least = Scan::<ArgMin<f64>>::new().unwrap().inclusive(&nothing).unwrap();
    assert_eq!(least[1], ArgMin::identity());
}

#[test]
fn ties_keep_the_leftmost() {
    check(|r, i| ArgMin { value: 20 - (i / 10_000) as i32 + r.below(3), index: i as u32 }, exactly);
    check(|r, i| ArgMax { value: (i / 10_000) as f32 + r.below(3) as f32, index: i as u32 }, exactly);
    let level: Vec<_> = (0..70_000).map(|index| ArgMax { value: 7u8, index }).collect();
    let highest = Scan::<ArgMax<u8>>::new().unwrap().inclusive(&level).unwrap();
    assert!(highest.iter().all(|state| state.index == 0));
    // Zeros of either sign are equal; the end of the type is a value as any other.
    let zeros = [ArgMin { value: 0.0f32, index: 0 }, ArgMin { value: -0.0, index: 1 }];
    assert_eq!(Scan::<ArgMin<f32>>::new().unwrap().inclusive(&zeros).unwrap()[1].index, 0);
    let ends = [ArgMax { value: i8::MIN, index: 5 }, ArgMax { value: i8::MIN, index: 6 }];
    assert_eq!(Scan::<ArgMax<i8>>::new().unwrap().inclusive(&ends).unwrap()[1].index, 5);
}

#[test]
fn bits_and_flags_are_those_of_the_loop() {
    check(|r, _| And(!(1u64 << r.below(64)) | 1 << r.below(64)), exactly);
    check(|r, i| Or(if i % 900 == 0 { 1u32 << r.below(32) } else { 0 }), exactly);
    check(|r, _| Xor(r.below(1 << 16) as u16), exactly);
    check(|r, _| Xor(r.chance(2)), exactly);
    check(|_, i| All(i != 60_000), exactly);
    check(|_, i| Any(i == 60_000), exactly);
}

#[test]
fn carries_ripple_through_whole_tiles() {
    let digit = |r: &mut Random, i: usize| if (20_000..50_000).contains(&i) { u64::MAX } else { r.below(2) as u64 };
    check(|r, i| Carry::of(digit(r, i), if i == 20_000 { 1 } else { 0 }), exactly);
    assert_eq!(Carry::of(u64::MAX, 1), Carry { generate: true, propagate: false });
    assert_eq!(Carry::of(u64::MAX - 1, 1), Carry { generate: false, propagate: true });
    assert_eq!(Carry::of(1, 1), Carry { generate: false, propagate: false });
}

#[test]
fn affine_maps_are_those_of_the_loop() {
    check(|r, _| Affine { a: *r.pick(&[1i64, -1, 0]), b: r.below(100) as i64 }, exactly);
    let fraction = |r: &mut Random| Affine { a: fraction(r), b: fraction(r) };
    check(|r, _| fraction(r), |x, y| close(x.a, y.a) && close(x.b, y.b));
    let map = |r: &mut Random| MaxPlus { a: r.below(9) as f64 - 4.0, b: *r.pick(&[f64::NEG_INFINITY, 0.0, 5.0]) };
    check(|r, _| map(r), exactly);
}

/// Finite groups, none of which commutes, so that the native loop does not overflow.
#[test]
fn matrices_and_quaternions_keep_their_order() {
    const SWAP: Matrix<i32, 3> = Matrix { rows: [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] };
    const TURN: Matrix<i32, 3> = Matrix { rows: [[0, 0, 1], [1, 0, 0], [0, 1, 0]] };
    assert_ne!(SWAP.combine(TURN), TURN.combine(SWAP));
    check(|r, _| *r.pick(&[SWAP, TURN]), exactly);
    check(|r, _| Dual(*r.pick(&[SWAP, TURN])), exactly);
    let unit = |w, x, y, z| Quaternion { w, x, y, z };
    check(|r, _| *r.pick(&[unit(0, 1, 0, 0), unit(0, 0, 1, 0), unit(0, 0, 0, -1), unit(-1, 0, 0, 0)]), exactly);
    check(|r, _| *r.pick(&[(1i16, 0), (0, 1), (0, -1)].map(|(re, im)| Complex { re, im })), exactly);
    let turn = |r: &mut Random| Complex { re: fraction(r).cos(), im: fraction(r).sin() };
    let same = |a: &Complex<f64>, b: &Complex<f64>| close(a.re, b.re) && close(a.im, b.im);
    check(|r, _| turn(r), same);
}

#[test]
fn a_quaternion_turns_space_as_its_factors_do_one_after_the_other() {
    let q = [Quaternion { w: 1, x: 2, y: -1, z: 3 }, Quaternion { w: -2, x: 1, y: 4, z: 1 }];
    let turn = |q: Quaternion<i32>, v: Quaternion<i32>| {
        let back = Quaternion { w: q.w, x: -q.x, y: -q.y, z: -q.z };
        back.combine(v).combine(q) // q·v·q̄
    };
    let v = Quaternion { w: 0, x: 1, y: 5, z: -2 };
    assert_eq!(turn(q[0].combine(q[1]), v), turn(q[1], turn(q[0], v)));
}

#[test]
fn moments_do_not_cancel_and_nothing_has_none() {
    let same =
        |a: &Moments<f64>, b: &Moments<f64>| a.count == b.count && close(a.mean, b.mean) && close(a.squares, b.squares);
    check(|r, _| Moments::of(fraction(r)), same);
    check(|r, _| if r.chance(2) { Moments::of(fraction(r)) } else { Moments::identity() }, same);
    let shifted: Vec<_> = (0..70_000).map(|i| Moments::of(1e9 + (i % 3) as f64)).collect();
    let end = Scan::<Moments<f64>>::new().unwrap().inclusive(&shifted).unwrap()[69_999 - 1];
    assert!((end.variance() - 2.0 / 3.0).abs() < 1e-3, "{end:?}");
    assert_eq!(Moments::<f32>::identity().variance(), 0.0);
}

#[test]
fn logarithms_of_sums_hold_zeros_and_infinity() {
    let same = |a: &LogSumExp<f64>, b: &LogSumExp<f64>| close(a.0, b.0);
    check(|r, _| LogSumExp(-700.0 - 300.0 * fraction(r)), same);
    check(|r, i| LogSumExp(if i < 30_000 { f64::NEG_INFINITY } else { fraction(r) }), same);
    let ends = [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, 0.0, f32::INFINITY].map(LogSumExp);
    let sums = Scan::<LogSumExp<f32>>::new().unwrap().inclusive(&ends).unwrap();
    let expected = [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::INFINITY, f32::INFINITY];
    assert_eq!(sums, expected.map(LogSumExp));
    let nan = Scan::<LogSumExp<f64>>::new().unwrap().inclusive(&[1.0, f64::NAN, 1.0].map(LogSumExp)).unwrap();
    assert!(nan[1].0.is_nan() && nan[2].0.is_nan(), "what is not known is not left out");
}

#[test]
fn hashes_depths_and_runs_are_those_of_the_loop() {
    check(|r, _| RabinKarp::of(r.below(256) as u8, 0x9e37_79b9_7f4a_7c15), exactly);
    check(|r, _| *r.pick(&[BracketDepth::OPEN, BracketDepth::CLOSE, BracketDepth::NEITHER]), exactly);
    check(|r, _| LongestRun::of(r.below(100) != 0), exactly);
    check(|_, i| LongestRun::of(i != 65_000), exactly);
}

#[test]
fn maps_of_states_are_those_of_the_loop() {
    fn some<const N: usize>(r: &mut Random) -> StateMap<N> {
        let mut map = StateMap::identity();
        if r.chance(2) {
            map.to.swap(r.below(N as u32) as usize, r.below(N as u32) as usize);
        } else if r.below(500) == 0 {
            map.to[r.below(N as u32) as usize] = r.below(N as u32) as u8;
        }
        map
    }
    check(|r, _| some::<2>(r), exactly);
    check(|r, _| some::<3>(r), exactly);
    check(|r, _| some::<8>(r), exactly);
    check(|r, _| some::<13>(r), exactly);
    check(|r, _| some::<16>(r), exactly);
    check(|r, _| Segmented { start: r.below(50) == 0, value: some::<5>(r) }, exactly);
    check(|r, _| Dual(some::<4>(r)), exactly);
}

#[test]
fn segments_restart_where_they_should() {
    check(|r, _| Segmented { start: r.below(40) == 0, value: LongestRun::of(r.chance(2)) }, exactly);
    let nested = |r: &mut Random| Segmented {
        start: r.below(200) == 0,
        value: Segmented { start: r.below(5) == 0, value: Affine { a: *r.pick(&[1i32, -1]), b: 1 } },
    };
    check(|r, _| nested(r), exactly);
    // One segment, and a segment each.
    check(|_, _| Segmented { start: false, value: Sum(1u32) }, exactly);
    check(|_, i| Segmented { start: true, value: Sum(i as u32) }, exactly);
}

#[test]
fn parts_of_pairs_and_triples_do_not_touch() {
    check(|r, _| Pair(Sum(r.below(9)), Min(r.below(1 << 20))), exactly);
    check(|r, _| Triple(Sum(1u64), BracketDepth::CLOSE, Pair(Max(fraction(r)), Any(r.below(10_000) == 0))), exactly);
}

/// The first and the last: a semigroup in which nothing is an identity.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Ends {
    first: u32,
    last: f32,
}

impl Semigroup for Ends {
    #[scan_fn]
    fn append(self, next: Self) -> Self {
        Ends { first: self.first, last: next.last }
    }
}

#[test]
fn a_semigroup_gets_an_identity_that_no_value_is() {
    let ends = |r: &mut Random| WithIdentity::of(Ends { first: r.below(9), last: r.below(9) as f32 });
    check(|r, _| ends(r), exactly);
    check(|r, _| if r.below(50) == 0 { ends(r) } else { WithIdentity::identity() }, exactly);
    check(|r, _| Segmented { start: r.below(20) == 0, value: ends(r) }, exactly);
    let zeros = WithIdentity::of(Ends { first: 0, last: 0.0 });
    let before = Scan::<WithIdentity<Ends>>::new().unwrap().exclusive(&[zeros; 2]).unwrap();
    assert_eq!([before[0].get(), before[1].get()], [None, zeros.get()]);
}

//! A family of typed operators, made of random operations on random types: each over lines, rows,
//! flagged segments and reductions, by the functions and by generated code, beside the interpreter.
//!
//! They need not be associative: what is compared is one pass, element after element.

use std::fmt::Debug;

use monoscan::lang::to_constants;
use monoscan::{Request, Rows, prelude::*};
use monoscan_ir::{Constant, interp};
use scan_kit::Random;

use super::{is_native, plan};

/// Values that floats treat otherwise than other numbers, and integers at their bounds.
pub(super) const BOUNDS: [f64; 10] =
    [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e300, -1.5, 128.0, -2e9];

/// Any number of a type.
macro_rules! any {
    ($random:ident, $t:ty) => {
        if $random.below(2) == 0 { $random.bits() as $t } else { *$random.pick(&$crate::typed::BOUNDS) as $t }
    };
}
pub(super) use any;

/// A state of two components, of which one is chosen by a comparison.
macro_rules! chosen {
    ($($name:ident: $x:ident $y:ident, $one:tt $two:tt $three:tt $than:tt;)*) => {$(
        #[scan_monoid]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct $name {
            x: $x,
            y: $y,
        }

        #[scan_monoid]
        impl Monoid for $name {
            fn identity() -> Self {
                $name { x: 0 as $x, y: 1 as $y }
            }
            fn combine(self, next: Self) -> Self {
                let mixed = (self.x $one next.x) $two (next.y as $x);
                let other = self.y $three (next.x as $y);
                $name { x: mixed, y: if self.x $than next.x { other } else { next.y } }
            }
        }

        #[test]
        #[expect(non_snake_case, reason = "tests have the names of their operators")]
        fn $name() {
            super::compare(|random| $name { x: random.below(7) as $x, y: random.below(5) as $y });
            super::compare(|random| $name { x: any!(random, $x), y: any!(random, $y) });
        }
    )*};
}

/// A state of three components, each of which waits for the one before.
macro_rules! chained {
    ($($name:ident: $t:ident, $one:tt $two:tt $three:tt;)*) => {$(
        #[scan_monoid]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct $name {
            flag: bool,
            a: $t,
            b: [$t; 2],
        }

        #[scan_monoid]
        impl Monoid for $name {
            fn identity() -> Self {
                $name { flag: false, a: 1 as $t, b: [0 as $t, 2 as $t] }
            }
            fn combine(self, next: Self) -> Self {
                let a = if next.flag { next.a } else { self.a $one next.b[0] };
                let first = (a $two self.b[1]) $three next.a;
                $name { flag: self.flag ^ next.flag, a, b: [first, next.b[1] $one self.b[0]] }
            }
        }

        #[test]
        #[expect(non_snake_case, reason = "tests have the names of their operators")]
        fn $name() {
            super::compare(|random| $name {
                flag: random.below(3) == 0,
                a: random.below(4) as $t,
                b: [random.below(3) as $t, random.below(6) as $t],
            });
            super::compare(|random| $name {
                flag: random.below(3) == 0,
                a: any!(random, $t),
                b: [any!(random, $t), any!(random, $t)],
            });
        }
    )*};
}

mod chosen {
    use monoscan::prelude::*;

    chosen! {
        BytesAndWords: u8 u32, + ^ + <;
        WordsAndBytes: u32 i8, ^ | & >=;
        Signed: i32 i64, - + ^ !=;
        Wide: i64 u16, ^ - | >;
        Unsigned: u64 u64, | + & ==;
        Halves: i16 i16, & - ^ <=;
        Floats: f32 f64, + - * <;
        Doubles: f64 f32, * + - >;
        OfBoth: f64 i32, - * + >=;
        ToFloats: u8 f32, ^ + * !=;
    }
}

mod chained {
    use monoscan::prelude::*;

    chained! {
        SumsOfBytes: u8, + ^ |;
        SumsOfHalves: i16, - ^ &;
        SumsOfWords: u32, ^ + |;
        SumsOfSigned: i32, + - ^;
        SumsOfWide: i64, - & +;
        SumsOfUnsigned: u64, | ^ +;
        SumsOfFloats: f32, + * -;
        SumsOfDoubles: f64, - + *;
    }
}

/// Rows of so many elements: of straight-line code, and longer ones.
const ROWS: [usize; 6] = [1, 2, 3, 7, 16, 21];

/// One pass in every kind of call.
fn compare<M: Monoid + Debug + PartialEq>(make: impl Fn(&mut Random) -> M) {
    let build = |native| Scan::<M>::builder().assume_associative().plan(plan(native)).build().unwrap();
    let scans = [true, false].map(build);
    assert!(is_native(&scans[0].explain()) && !is_native(&scans[1].explain()));
    let mut random = Random(5);
    for len in [0, 1, 2, 17, 64] {
        let x: Vec<M> = (0..len).map(|_| make(&mut random)).collect();
        lines(&scans, &x);
        let flags: Vec<bool> = (0..len).map(|_| random.below(4) == 0).collect();
        for scan in &scans {
            let line = Folded::new(scan, &x, |_| false);
            line.check(&scan.inclusive(&x).unwrap(), &scan.exclusive(&x).unwrap());
            assert!(line.is_total(&scan.reduce(&x).unwrap()));
            let mut carry = scan.identity();
            line.check(&scan.resume(&mut carry, &x).unwrap(), &scan.exclusive(&x).unwrap());
            assert!(line.is_total(&carry));
            let [inclusive, exclusive] = both(scan.segmented(&flags), scan.segmented(&flags), &x);
            Folded::new(scan, &x, |place| flags[place]).check(&inclusive, &exclusive);
            for row in ROWS {
                rows(scan, &x, row);
            }
        }
    }
}

/// Lines over their input, by a scan that was not used before too; backwards; and from a state.
fn lines<M: Monoid + Debug + PartialEq>(scans: &[Scan<M>], x: &[M]) {
    let build = |native| Scan::<M>::builder().assume_associative().plan(plan(native)).build().unwrap();
    let new = [true, false].map(build);
    let mut behind: Vec<M> = x.to_vec();
    behind.reverse();
    for scan in scans.iter().chain(&new) {
        let line = Folded::new(scan, x, |_| false);
        let mut replaced = [x.to_vec(), x.to_vec()];
        scan.exclusive_in_place(&mut replaced[0]).unwrap();
        scan.inclusive_in_place(&mut replaced[1]).unwrap();
        line.check(&replaced[1], &replaced[0]);
        let reversed = Folded::new(scan, &behind, |_| false);
        let mut written = [scan.reversed().inclusive(x).unwrap(), scan.reversed().exclusive(x).unwrap()];
        written.iter_mut().for_each(|written| written.reverse());
        reversed.check(&written[0], &written[1]);
        let Some((&first, rest)) = x.split_first() else { continue };
        let [inclusive, exclusive] = both(scan.init(first), scan.init(first), rest);
        Folded::from(scan, to_constants(&first), rest, |_| false).check(&inclusive, &exclusive);
    }
}

/// Rows one behind the other, into new memory and in place, and rows with a record between them, which stays.
fn rows<M: Monoid + Debug + PartialEq>(scan: &Scan<M>, x: &[M], row: usize) {
    let x = &x[..x.len() / row * row];
    let dense = Rows::new(x.len() / row, row, row).unwrap();
    let folded = Folded::new(scan, x, |place| place % row == 0);
    // Later calls go another way than the first.
    for _ in 0..2 {
        let [inclusive, exclusive] = both(scan.rows(dense), scan.rows(dense), x);
        folded.check(&inclusive, &exclusive);
    }
    let mut replaced = x.to_vec();
    scan.rows(dense).inclusive_in_place(&mut replaced).unwrap();
    folded.check(&replaced, &folded.exclusive());

    let (count, junk) = (x.len() / (row + 1), scan.identity());
    let apart = Rows::new(count, row, row + 1).unwrap();
    let x = &x[..apart.records()];
    let mut written = vec![junk; x.len()];
    scan.rows(apart).inclusive_into(x, &mut written).unwrap();
    for start in (0..count).map(|number| number * (row + 1)) {
        let own = Folded::new(scan, &x[start..][..row], |_| false);
        own.check(&written[start..][..row], &own.exclusive());
        assert!(written.get(start + row).is_none_or(|beside| *beside == junk));
    }
}

fn both<M: Monoid>(one: Request<'_, M, (M,), M>, other: Request<'_, M, (M,), M>, x: &[M]) -> [Vec<M>; 2] {
    [one.inclusive(x).unwrap(), other.exclusive(x).unwrap()]
}

/// The states before and after each element, by the interpreter.
pub(super) struct Folded {
    before: Vec<Vec<Constant>>,
    after: Vec<Vec<Constant>>,
    total: Vec<Constant>,
}

impl Folded {
    pub(super) fn new<M: Monoid>(scan: &Scan<M>, x: &[M], begins: impl Fn(usize) -> bool) -> Folded {
        Folded::from(scan, scan.as_dyn().program().stages[0].identity.clone(), x, begins)
    }

    /// The same from a state; where sequences begin, from the identity.
    pub(super) fn from<M: Monoid>(
        scan: &Scan<M>,
        total: Vec<Constant>,
        x: &[M],
        begins: impl Fn(usize) -> bool,
    ) -> Folded {
        let program = scan.as_dyn().program();
        let stage = &program.stages[0];
        let mut folded = Folded { before: Vec::new(), after: Vec::new(), total };
        for (place, record) in x.iter().enumerate() {
            let before = if begins(place) { stage.identity.clone() } else { folded.total };
            folded.total =
                interp::call(&stage.combine, &[before.clone(), to_constants(record)].concat(), &program.tables);
            folded.before.push(before);
            folded.after.push(folded.total.clone());
        }
        folded
    }

    fn exclusive<M: ScanType>(&self) -> Vec<M> {
        self.before.iter().map(|state| monoscan::lang::from_constants(state.iter().copied())).collect()
    }

    pub(super) fn check<M: ScanType + Debug>(&self, inclusive: &[M], exclusive: &[M]) {
        assert_eq!((inclusive.len(), exclusive.len()), (self.after.len(), self.before.len()));
        for (expected, got) in self.after.iter().zip(inclusive).chain(self.before.iter().zip(exclusive)) {
            assert!(is(expected, got), "{got:?} instead of {expected:?}");
        }
    }

    pub(super) fn is_total<M: ScanType>(&self, got: &M) -> bool {
        is(&self.total, got)
    }
}

/// Bit by bit, one NaN being as good as another.
fn is<M: ScanType>(expected: &[Constant], got: &M) -> bool {
    expected.iter().zip(to_constants(got)).all(|(expected, got)| expected.same(got))
}

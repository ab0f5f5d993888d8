//! Scan functions: as values, calling each other, with tables and captured locals.

use monoscan::lang::trace::trace_fn;
use monoscan::prelude::*;

use super::agree::{function, monoid};
use super::generic::Affine;

mod tools {
    use monoscan::prelude::*;

    pub const MASK: u64 = (1 << 61) - 1;

    #[scan_fn]
    pub fn fold61(x: u64) -> u64 {
        let y = (x & MASK) + (x >> 61);
        if y >= MASK { y - MASK } else { y }
    }

    #[scan_fn]
    pub fn pick<T: Real>(c: bool, a: T, b: T) -> T {
        if c { a } else { b }
    }

    /// A function of this name is no monoid's `combine`.
    #[scan_fn]
    pub fn combine(a: i64, b: i64) -> i64 {
        a - b
    }

    pub mod deep {
        use monoscan::prelude::*;

        #[scan_fn]
        pub(crate) fn twice(x: f32) -> f32 {
            super::pick(x > 0.0, x, -x) + self::one()
        }

        #[scan_fn]
        fn one() -> f32 {
            1.0
        }

        pub fn plain(n: u32) -> f32 {
            n as f32 * 0.25
        }
    }
}

use tools::{deep, fold61};

#[scan_fn]
fn calls(x: u64, y: f32, c: bool) -> (u64, f32, f32, f32) {
    let z = tools::pick::<f32>(c, y, 2.0);
    // A plain function of constants is a constant.
    (fold61(x ^ 5), deep::twice(z), tools::pick(!c, z, 1.0), y * deep::plain(3))
}

#[scan_fn]
fn named_combine(a: i64, b: i64) -> i64 {
    tools::combine(b, a >> 1)
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Complex<T> {
    re: T,
    im: T,
}

impl<T: Real> Complex<T> {
    #[scan_fn]
    fn new(re: T, im: T) -> Self {
        Complex { re, im }
    }

    #[scan_fn]
    pub fn times(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }

    #[scan_fn(associated)]
    fn half(x: T) -> T {
        x * T::from_f64(0.5)
    }

    #[scan_fn]
    fn conjugate(mut self) -> Complex<T> {
        self.im = -self.im;
        self
    }
}

#[scan_fn]
fn complex(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let c = Complex::times(a, Complex::conjugate(b));
    Complex { re: Complex::<f64>::half(c.re), ..c }
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Product(Complex<f32>);

#[scan_monoid]
impl Monoid for Product {
    fn identity() -> Self {
        Product(Complex::new(1.0, 0.0))
    }

    fn combine(self, next: Self) -> Self {
        Product(Complex::times(self.0, next.0))
    }
}

#[scan_fn]
fn step(classes: Table<u8>, x: u8) -> u8 {
    classes.get(x as u32) ^ 1
}

#[scan_fn]
fn two_tables(classes: Table<'_, u8>, moves: Table<(u16, [i8; 2])>, x: u8, y: u16) -> (u16, i8) {
    let class = step(classes, x);
    let (next, [low, high]) = moves.get(class as u32 & 3);
    let handle = moves;
    (next ^ y, if y > 9 { low } else { handle.get(0).1[1] | high })
}

const SQUARES: Table<u32> = Table::new(&[0, 1, 4, 9, 16]);

#[scan_fn]
fn constant_table(x: u32) -> u32 {
    SQUARES.get(x) + SQUARES.get(2)
}

#[test]
fn calls_across_modules_agree() {
    function(calls {});
    function(tools::deep::twice {});
    function(named_combine {});
    function::<_, (bool, f64, f64)>(tools::pick {});
}

#[test]
fn associated_functions_agree() {
    function(complex {});
    monoid::<Product>();
}

#[test]
fn tables_agree_and_clamp() {
    let classes: Vec<u8> = (0..100u32).map(|i| (i * 7 % 5) as u8).collect();
    let moves = [(1, [2, 3]), (4, [-5, 6]), (7, [8, -9])];
    function::<_, (u8,)>(step {}.with_table(&classes));
    function::<_, (u8, u16)>(two_tables {}.with_table(&classes).with_table(&moves));
    function(constant_table {});
    let traced = trace_fn::<_, (u8, u16)>(&two_tables {}.with_table(&classes).with_table(&moves)).unwrap();
    assert_eq!(traced.tables.len(), 4, "one for each component, shared by all look-ups");
    assert_eq!(step(Table::new(&[5, 6]), 200), 7);
}

#[test]
fn closures_capture_constants() {
    let (dt, gains, n) = (0.25f32, [1.0f32, 2.0], 3usize);
    function(scan!(|x: f32, u: f32| -> Affine<f32> {
        let k = if x > dt { x - dt } else { gains[1] };
        let mut sum = 0.0;
        for i in 0..n {
            sum += x * i as f32;
        }
        Affine { a: k, b: u * dt + sum }
    }));
    function(scan!(|(a, b): (u8, u8), mut c: u8| -> u8 {
        c ^= a;
        c & b
    }));
    function(scan!(|s: Affine<f64>| -> f64 { s.b }));
    function::<_, ()>(scan!(|| -> f32 { dt }));
}

#[test]
fn captured_tables_are_looked_up() {
    static WEIGHTS: [f32; 4] = [0.5, 0.25, 2.0, -1.0];
    let weights = Table::new(&WEIGHTS);
    function(scan!(|x: u8, y: f32| -> f32 { y * weights.get(x as u32) }));
}

#[test]
fn functions_are_values_of_their_own_type() {
    fn takes<F: ScanFn<(f32,)>>(f: F) -> F::Out {
        f.call((2.0,))
    }
    assert_eq!(takes(deep::twice {}), 3.0);
    assert_eq!(deep::twice(2.0), 3.0);
    assert_eq!(format!("{:?}", fold61 {}), "fold61");
}

//! Operators of the newer methods are judged like others: accepted where the laws hold, refused
//! where they do not.

use monoscan::{Error, prelude::*};

macro_rules! operators {
    ($($name:ident($type:ty) $identity:expr; |$a:ident, $b:ident| $combine:expr; $valid:expr;)*) => {$(
        #[scan_monoid]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct $name($type);

        #[scan_monoid]
        impl Monoid for $name {
            fn identity() -> Self {
                $name($identity)
            }

            fn combine(self, next: Self) -> Self {
                let ($a, $b) = (self.0, next.0);
                $name($combine)
            }

            fn valid(self) -> bool {
                let $a = self.0;
                $valid
            }
        }
    )*};
}

operators! {
    Product(u32) 1; |a, b| a.saturating_mul(b); a.leading_zeros() <= 32;
    SignedProduct(i32) 1; |a, b| a.saturating_mul(b); a.leading_zeros() <= 32;
    Norm(f64) 0.0; |a, b| (a.powf(3.0) + b.powf(3.0)).powf(1.0 / 3.0); a >= 0.0;
    Growth(f64) 0.0; |a, b| (a.exp_m1() + b.exp_m1()).ln_1p(); a >= 0.0;
    Sine(f64) 0.0; |a, b| a.sin() + b; !a.is_nan();
    Turned(f32) 0.0; |a, b| (a + b).tan(); !a.is_nan();
    Squares(f64) 0.0; |a, b| (a.powi(2) + b.powi(2)).sqrt(); a >= 0.0;
    Remainder(u32) 0; |a, b| (a + b).rem_euclid(97); a < 97;
    Widest(u32) 1; |a, b| if a.ilog2() >= b.ilog2() { a } else { b }; a > 0;
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Switch {
    Unset,
    Off,
    On,
}

#[scan_monoid]
impl Monoid for Switch {
    fn identity() -> Self {
        Switch::Unset
    }

    fn combine(self, next: Self) -> Self {
        match next {
            Switch::Unset => self,
            Switch::Off => Switch::Off,
            Switch::On => Switch::On,
        }
    }
}

/// `On` beats what comes before it only.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Unset,
    Off,
    On,
}

#[scan_monoid]
impl Monoid for Wrong {
    fn identity() -> Self {
        Wrong::Unset
    }

    fn combine(self, next: Self) -> Self {
        match (self, next) {
            (Wrong::Unset, x) => x,
            (x, Wrong::Unset) => x,
            (Wrong::Off, Wrong::On) => Wrong::Off,
            (Wrong::On, Wrong::On) => Wrong::Off,
            _ => Wrong::On,
        }
    }
}

/// The composition of maps of three states, looked up in a constant array: a table of the symmetric group.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Permutation(u8);

const PRODUCTS: [[u8; 6]; 6] = [
    [0, 1, 2, 3, 4, 5],
    [1, 0, 4, 5, 2, 3],
    [2, 3, 0, 1, 5, 4],
    [3, 2, 5, 4, 0, 1],
    [4, 5, 1, 0, 3, 2],
    [5, 4, 3, 2, 1, 0],
];

#[scan_monoid]
impl Monoid for Permutation {
    fn identity() -> Self {
        Permutation(0)
    }

    fn combine(self, next: Self) -> Self {
        Permutation(PRODUCTS[self.0 as usize][next.0 as usize])
    }

    fn valid(self) -> bool {
        self.0 < 6
    }
}

/// A place and a direction, as steps of a robot compose.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pose<T> {
    x: T,
    y: T,
    direction: T,
}

#[scan_monoid]
impl<T: Real> Monoid for Pose<T> {
    fn identity() -> Self {
        Pose { x: T::ZERO, y: T::ZERO, direction: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        let (sine, cosine) = (self.direction.sin(), self.direction.cos());
        Pose {
            x: self.x + cosine * next.x - sine * next.y,
            y: self.y + sine * next.x + cosine * next.y,
            direction: self.direction + next.direction,
        }
    }
}

/// Whether all laws are proved; none if the operator is refused.
fn proved<M: Monoid>() -> Option<bool> {
    match Scan::<M>::new() {
        Ok(scan) => Some(scan.judgement().verdict().is_proved()),
        Err(Error::NotAMonoid { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn operators_that_obey_the_laws_are_accepted() {
    let accepted = [
        proved::<Product>(),
        proved::<Norm>(),
        proved::<Growth>(),
        proved::<Squares>(),
        proved::<Remainder>(),
        proved::<Widest>(),
        proved::<Permutation>(),
        proved::<Pose<f32>>(),
        proved::<Pose<f64>>(),
        proved::<Switch>(),
    ];
    assert!(accepted.iter().all(Option::is_some), "{accepted:?}");
}

#[test]
fn operators_that_break_a_law_are_refused() {
    let refused = [proved::<SignedProduct>(), proved::<Sine>(), proved::<Turned>(), proved::<Wrong>()];
    assert!(refused.iter().all(Option::is_none), "{refused:?}");
}

#[test]
fn laws_of_enums_are_proved_on_their_variants() {
    assert_eq!(proved::<Switch>(), Some(true));
}

/// The sine of a large number grows an error in the last place of `exp`: that is no mistake of the translation.
#[test]
fn ill_conditioned_functions_are_accepted() {
    use monoscan::ops::Sum;
    let lift = scan!(|x: f64, y: f32| -> Sum<f64> { Sum(x.exp().sin() + f64::from((y.exp() * 37.0).tan())) });
    assert!(Scan::<Sum<f64>>::builder().lift(lift).build().is_ok());
}

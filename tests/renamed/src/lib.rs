//! Uses monoscan as another crate would that knows it by another name: every macro takes `crate =
//! path`.

use other_name::prelude::*;

pub mod nameable;

/// The path that the macros are told: one of this crate works as well as the dependency's name.
pub mod names {
    pub use other_name as scans;
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[scan_type(crate = other_name)]
pub struct Record {
    /// A weight.
    pub weight: f32,
    /// A key.
    pub key: [u8; 2],
}

/// A weighted sum.
#[scan_monoid(crate = crate::names::scans)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum<T> {
    /// So far.
    pub total: T,
    /// How many.
    pub count: u32,
}

#[scan_monoid(crate = other_name)]
impl<T: Num> Monoid for Sum<T> {
    fn identity() -> Self {
        Sum { total: T::ZERO, count: 0 }
    }

    fn combine(self, next: Self) -> Self {
        let count = if next.count > 0 { self.count + next.count } else { self.count };
        Sum { total: self.total + next.total, count }
    }
}

/// Looks the weight up.
#[scan_fn(crate = other_name)]
pub fn lift(weights: Table<f32>, record: Record) -> Sum<f32> {
    let [low, high] = record.key;
    Sum { total: record.weight * weights.get((low ^ high) as u32), count: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use other_name::lang::{trace_combine, trace_fn};

    #[test]
    fn the_macros_work_under_another_name() {
        let gain = 2.0f32;
        let mean = scan!(crate = other_name; |s: Sum<f32>| -> f32 { gain * s.total / s.count as f32 });
        let weights = [1.0, 0.5];
        let lift = super::lift {}.with_table(&weights);
        assert_eq!(trace_combine::<Sum<f64>>().unwrap().function.params.len(), 4);
        assert_eq!(trace_fn::<_, (Record,)>(&lift).unwrap().tables.len(), 1);
        assert!(trace_fn::<_, (Sum<f32>,)>(&mean).is_ok());
        let one = lift.call((Record { weight: 3.0, key: [1, 0] },));
        assert_eq!(mean.call((one.combine(one),)), 3.0);
    }
}

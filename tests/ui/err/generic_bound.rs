use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Product<T>(T);

trait One {
    fn one() -> Self;
}

#[scan_monoid]
impl<T: ScanType + One + std::ops::Mul<Output = T>> Monoid for Product<T> {
    fn identity() -> Self {
        Product(T::one())
    }

    fn combine(self, next: Self) -> Self {
        Product(self.0 * next.0)
    }
}

fn main() {}

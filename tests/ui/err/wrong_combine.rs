use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Sum(u32);

#[scan_monoid]
impl Monoid for Sum {
    fn identity() -> Self {
        Sum(0)
    }
}

#[scan_monoid]
#[derive(Clone, Copy)]
struct Product(u32);

#[scan_monoid]
impl Monoid for Product {
    fn identity() -> Self {
        Product(1)
    }

    fn combine(&self, next: Self) -> Self {
        Product(self.0 * next.0)
    }
}

fn main() {}

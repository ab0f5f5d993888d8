use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Sum(u32);

impl Monoid for Sum {
    fn identity() -> Self {
        Sum(0)
    }

    fn combine(self, next: Self) -> Self {
        Sum(self.0 + next.0)
    }
}

fn main() {}

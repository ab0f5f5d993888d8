use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Runs {
    count: u32,
}

impl Runs {
    fn joined(self, next: Runs) -> u32 {
        self.count + next.count
    }
}

#[scan_monoid]
impl Monoid for Runs {
    fn identity() -> Self {
        Runs { count: 0 }
    }

    fn combine(self, next: Self) -> Self {
        Runs { count: self.joined(next) }
    }
}

fn main() {}

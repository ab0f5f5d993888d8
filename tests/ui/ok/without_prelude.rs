// Only what is named is needed, by any path.
#[monoscan::prelude::scan_monoid]
#[derive(Clone, Copy)]
struct Max(i32);

#[monoscan::prelude::scan_monoid]
impl monoscan::prelude::Monoid for Max {
    fn identity() -> Self {
        Max(i32::MIN)
    }

    fn combine(self, next: Self) -> Self {
        Max(self.0.max(next.0))
    }
}

mod inner {
    #[monoscan::prelude::scan_fn]
    pub(super) fn lift(x: i32) -> super::Max {
        super::Max(x)
    }
}

pub(crate) fn main() {
    let _ = inner::lift {};
    assert_eq!(inner::lift(3).0, 3);
}

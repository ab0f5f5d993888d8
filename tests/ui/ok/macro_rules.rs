use monoscan::prelude::*;

macro_rules! operators {
    ($($name:ident($a:ident, $b:ident) = $e:expr;)*) => {$(
        #[scan_monoid]
        #[derive(Clone, Copy)]
        pub struct $name(pub u32);

        #[scan_monoid]
        impl Monoid for $name {
            fn identity() -> Self {
                $name(0)
            }

            fn combine(self, next: Self) -> Self {
                let ($a, $b) = (self.0, next.0);
                let local = $e;
                $name(local)
            }
        }
    )*};
}

operators! {
    Or(x, y) = x | y;
    Xor(a, b) = a ^ b;
    Sum(x, y) = x.wrapping_add(y);
}

pub(crate) fn main() {
    assert_eq!(Sum(1).combine(Sum(2)).0, 3);
    assert_eq!(monoscan::lang::trace_combine::<Xor>().unwrap().function.insts.len(), 1);
}

mod outer {
    pub mod inner {
        use monoscan::prelude::*;

        #[derive(Clone, Copy, ScanType)]
        pub struct S {
            a: f32,
            pub(super) b: f32,
            pub(crate) c: f32,
        }

        #[scan_fn]
        pub(super) fn make(a: f32) -> S {
            S { a, b: a, c: a }
        }

        #[scan_fn]
        pub fn read(s: S) -> f32 {
            s.a
        }
    }

    use monoscan::prelude::*;

    #[scan_fn]
    pub fn through(a: f32) -> f32 {
        let s = inner::make(a);
        s.b + s.c
    }
}

// One `use` brings the function and its type.
use outer::{inner::read, through};

pub(crate) fn main() {
    let _ = (through {}, read {});
    assert_eq!(through(1.0), 2.0);
}

use monoscan::prelude::*;

// `a` is a parameter of the function, and a variable inside the macro.
macro_rules! make {
    ($name:ident, $product:ident, $op:tt) => {
        #[scan_fn]
        fn $name(a: f32, b: f32) -> f32 {
            let $product = a $op b;
            let a = 2.0;
            $product + a
        }
    };
}

make!(times, a, *);

fn main() {}

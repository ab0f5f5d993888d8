use monoscan::prelude::*;

#[scan_fn]
fn helper(x: f32) -> f32 {
    x
}

fn main() {
    #[scan_fn]
    fn helper(x: f32) -> f32 {
        -x
    }

    #[scan_fn]
    fn calls_one_of_them(x: f32) -> f32 {
        helper(x)
    }
}

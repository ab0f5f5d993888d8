//! The plain loops with `mul_add`, compiled for processors that have the instruction: the least
//! that a user who knows of it would write. One rounding less an element, and a shorter way from
//! carry to carry.

use bench_shared::loops::Biquad;

/// Whether `mul_add` is an instruction here, not a call.
fn native() -> Result<(), String> {
    #[cfg(target_arch = "x86_64")]
    let native = is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let native = cfg!(target_arch = "aarch64");
    if native { Ok(()) } else { Err("this processor has no fused multiply-add".into()) }
}

macro_rules! affine {
    ($name:ident, $ty:ty) => {
        /// `y[i] = a[i]·y[i−1] + b[i]`, if `mul_add` is an instruction here.
        pub(crate) fn $name() -> Result<fn(&[$ty], &[$ty], &mut [$ty]), String> {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
            fn run(a: &[$ty], b: &[$ty], y: &mut [$ty]) {
                let mut state: $ty = 0.0;
                for ((a, b), y) in a.iter().zip(b).zip(y) {
                    state = a.mul_add(state, *b);
                    *y = state;
                }
            }
            // SAFETY: the processor has the instruction.
            #[allow(unused_unsafe, reason = "it is needed where the loop asks for the instruction")]
            native().map(|()| (|a: &[$ty], b: &[$ty], y: &mut [$ty]| unsafe { run(a, b, y) }) as fn(&_, &_, &mut _))
        }
    };
}

affine! { affine_f32, f32 }
affine! { affine_f64, f64 }

/// A loop over samples that knows its filter.
pub(crate) type Filter = fn(Biquad, &[f32], &mut [f32]);

/// A biquad in direct form I, the newest output last: one multiply-add from carry to carry.
pub(crate) fn biquad_f32() -> Result<Filter, String> {
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
    fn run(Biquad { a: [a0, a1, a2], b: [b1, b2] }: Biquad, x: &[f32], y: &mut [f32]) {
        let (mut x1, mut x2, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0);
        for (&x0, y) in x.iter().zip(y) {
            let forward = f32::mul_add(a2, x2, f32::mul_add(a1, x1, a0 * x0));
            let y0 = f32::mul_add(b1, y1, f32::mul_add(b2, y2, forward));
            *y = y0;
            (x1, x2, y1, y2) = (x0, x1, y0, y1);
        }
    }
    // SAFETY: the processor has the instruction.
    #[allow(unused_unsafe, reason = "it is needed where the loop asks for the instruction")]
    native().map(|()| (|filter: Biquad, x: &[f32], y: &mut [f32]| unsafe { run(filter, x, y) }) as Filter)
}

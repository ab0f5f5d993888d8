//! Functions that generated code calls where the machine lacks an instruction: a fused
//! multiply-add, rounding, a byte shuffle.
//!
//! Cranelift names these by [`LibCall`], and gets the functions here, so that nothing depends on
//! which C library the process has.

use cranelift_codegen::ir::LibCall;

/// The address of a function of these floats.
macro_rules! function {
    (|$($a:ident),+: $ty:ty| $result:expr) => {{
        extern "C" fn function($($a: $ty),+) -> $ty {
            $result
        }
        function as *const u8
    }};
}

/// Where the code of a library call is; none if kernels never make it.
pub(crate) fn address(call: LibCall) -> Option<*const u8> {
    Some(match call {
        LibCall::FmaF32 => function!(|a, b, c: f32| a.mul_add(b, c)),
        LibCall::FmaF64 => function!(|a, b, c: f64| a.mul_add(b, c)),
        LibCall::FloorF32 => function!(|a: f32| a.floor()),
        LibCall::FloorF64 => function!(|a: f64| a.floor()),
        LibCall::CeilF32 => function!(|a: f32| a.ceil()),
        LibCall::CeilF64 => function!(|a: f64| a.ceil()),
        LibCall::TruncF32 => function!(|a: f32| a.trunc()),
        LibCall::TruncF64 => function!(|a: f64| a.trunc()),
        LibCall::NearestF32 => function!(|a: f32| a.round_ties_even()),
        LibCall::NearestF64 => function!(|a: f64| a.round_ties_even()),
        #[cfg(target_arch = "x86_64")]
        LibCall::X86Pshufb => pshufb as *const u8,
        _ => return None,
    })
}

// Generated code passes its `i8x16` in a vector register, which is where Rust takes a `__m128i`.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "the layout of `__m128i` is that of the register")]
extern "C" fn pshufb(a: std::arch::x86_64::__m128i, b: std::arch::x86_64::__m128i) -> std::arch::x86_64::__m128i {
    // SAFETY: both types are 16 bytes, any of which is valid.
    let [a, b] = [a, b].map(|lanes| unsafe { std::mem::transmute::<std::arch::x86_64::__m128i, [u8; 16]>(lanes) });
    let lanes: [u8; 16] = std::array::from_fn(|i| if b[i] < 128 { a[usize::from(b[i] & 15)] } else { 0 });
    // SAFETY: as above.
    unsafe { std::mem::transmute::<[u8; 16], std::arch::x86_64::__m128i>(lanes) }
}

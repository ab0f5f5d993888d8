//! Functions that generated code calls where the machine lacks an instruction: a fused
//! multiply-add, rounding, a byte shuffle.
//!
//! Cranelift names these by [`LibCall`], and gets the functions here, so that nothing depends on
//! which C library the process has.

use cranelift_codegen::ir::LibCall;

/// Where the code of a library call is; none if kernels never make it.
pub(crate) fn address(call: LibCall) -> Option<*const u8> {
    Some(match call {
        LibCall::FmaF32 => fma_f32 as *const u8,
        LibCall::FmaF64 => fma_f64 as *const u8,
        LibCall::FloorF32 => floor_f32 as *const u8,
        LibCall::FloorF64 => floor_f64 as *const u8,
        LibCall::CeilF32 => ceil_f32 as *const u8,
        LibCall::CeilF64 => ceil_f64 as *const u8,
        LibCall::TruncF32 => trunc_f32 as *const u8,
        LibCall::TruncF64 => trunc_f64 as *const u8,
        LibCall::NearestF32 => nearest_f32 as *const u8,
        LibCall::NearestF64 => nearest_f64 as *const u8,
        #[cfg(target_arch = "x86_64")]
        LibCall::X86Pshufb => pshufb as *const u8,
        _ => return None,
    })
}

extern "C" fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

extern "C" fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn floor_f32(a: f32) -> f32 {
    a.floor()
}

extern "C" fn floor_f64(a: f64) -> f64 {
    a.floor()
}

extern "C" fn ceil_f32(a: f32) -> f32 {
    a.ceil()
}

extern "C" fn ceil_f64(a: f64) -> f64 {
    a.ceil()
}

extern "C" fn trunc_f32(a: f32) -> f32 {
    a.trunc()
}

extern "C" fn trunc_f64(a: f64) -> f64 {
    a.trunc()
}

extern "C" fn nearest_f32(a: f32) -> f32 {
    a.round_ties_even()
}

extern "C" fn nearest_f64(a: f64) -> f64 {
    a.round_ties_even()
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

//! Instructions for a processor's caches: to fetch lines ahead of their use, and to order stores
//! past the caches. Neither changes a result.

/// Bytes that are fetched together.
pub const CACHE_LINE: usize = 64;

/// Calls `ask` for the address of each cache line that so many bytes from an address on touch.
#[inline]
pub fn each_line(address: *const u8, bytes: usize, ask: impl Fn(*const u8)) {
    (0..bytes).step_by(CACHE_LINE).for_each(|offset| ask(address.wrapping_add(offset)));
}

/// Asks for a line that will be read, in the second-level cache: the first is in use.
#[inline]
pub fn to_read(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has this instruction; it accesses nothing, at whatever address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for a line that will be written.
#[inline]
pub fn to_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a processor without this hint takes it for nothing; it accesses nothing, at whatever address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Puts the stores past the caches that this thread has made before all that it does next: to be called before another thread is told
/// of them.
#[inline]
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    }
}

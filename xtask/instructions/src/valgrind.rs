//! A request to the valgrind that runs this program: callgrind is to look at instructions from now
//! on.

/// `CALLGRIND_START_INSTRUMENTATION` of `callgrind.h`.
#[cfg(target_arch = "x86_64")]
const START: u64 = ((b'C' as u64) << 24 | (b'T' as u64) << 16) + 4;

/// Callgrind looks at every instruction from now on, where it was told not to before
/// (`--instr-atstart=no`). Outside of valgrind this does nothing.
#[cfg(target_arch = "x86_64")]
pub(crate) fn look() {
    let request = [START, 0, 0, 0, 0, 0];
    // SAFETY: these instructions change no register but the flags, and `rdx` under valgrind, which knows the sequence and reads
    // the request (`valgrind.h`, "Trapdoor mechanism").
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") 0u64 => _,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn look() {}

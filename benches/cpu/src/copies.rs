//! The speed of memory: as many bytes copied as a workload reads and writes, which no scan can
//! beat.

use std::cell::RefCell;

use crate::race::{Field, Judge};
use crate::report::Role;

/// A block to copy and where to.
pub(crate) struct Copies {
    from: Vec<u64>,
    to: RefCell<Vec<u64>>,
}

impl Copies {
    /// For `bytes` of reading and writing together: half of that is copied.
    pub(crate) fn new(bytes: usize) -> Copies {
        let words = (bytes / 2).div_ceil(8).max(1);
        Copies { from: (1..=words as u64).collect(), to: RefCell::new(vec![0; words]) }
    }

    /// Enters memcpy and the copy past the caches, on one thread and on two.
    pub(crate) fn enter<'a>(&'a self, field: &mut Field<'a>) {
        for threads in [1, 2] {
            field.enter((Role::Copy, "memcpy", threads), self, move || self.run(threads, <[u64]>::copy_from_slice));
            #[cfg(target_arch = "x86_64")]
            field.enter((Role::Copy, "non-temporal copy", threads), self, move || self.run(threads, stream));
        }
    }

    fn run(&self, threads: usize, copy: fn(&mut [u64], &[u64])) {
        let to = &mut *self.to.borrow_mut();
        match threads {
            1 => copy(to, &self.from),
            _ => {
                let middle = to.len() / 2;
                let ((low, high), (from_low, from_high)) = (to.split_at_mut(middle), self.from.split_at(middle));
                rayon::join(|| copy(low, from_low), || copy(high, from_high));
            }
        }
    }
}

impl Judge for Copies {
    fn spoil(&self) {
        self.to.borrow_mut().fill(0);
    }

    fn check(&self) -> Result<(), String> {
        if *self.to.borrow() == self.from { Ok(()) } else { Err("the copy differs".into()) }
    }
}

/// Copies with stores that go past the caches, whole cache lines at a time: the line is not read before it is written.
#[cfg(target_arch = "x86_64")]
fn stream(to: &mut [u64], from: &[u64]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    let start = to.as_ptr().align_offset(64).min(to.len());
    let ((head, body), (from_head, from_body)) = (to.split_at_mut(start), from.split_at(start));
    head.copy_from_slice(from_head);
    let (mut lines, from_lines) = (body.chunks_exact_mut(8), from_body.chunks_exact(8));
    for (line, from) in lines.by_ref().zip(from_lines.clone()) {
        for place in [0, 2, 4, 6] {
            // SAFETY: two words from `place` on are within both lines, and the one written starts at a multiple of 64 bytes.
            unsafe {
                let words = _mm_loadu_si128(from.as_ptr().add(place).cast());
                _mm_stream_si128(line.as_mut_ptr().add(place).cast(), words);
            }
        }
    }
    lines.into_remainder().copy_from_slice(from_lines.remainder());
    // SAFETY: every x86-64 processor has this instruction. It orders those stores before all later ones.
    unsafe { _mm_sfence() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn streamed_copies_are_copies_wherever_they_start() {
        let from: Vec<u64> = (1..100).collect();
        for start in 0..9 {
            for end in start..from.len() {
                let mut to = vec![0; from.len()];
                stream(&mut to[start..end], &from[start..end]);
                assert_eq!(to[start..end], from[start..end]);
                assert!(to[..start].iter().chain(&to[end..]).all(|&word| word == 0));
            }
        }
    }
}

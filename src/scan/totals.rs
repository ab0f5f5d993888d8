//! Memory that the totals of a request go to: a new vector, or a slice of the caller's.

use monoscan_runtime::Error;

use super::states::States;

/// Memory for totals.
pub trait Totals<S: States> {
    /// Where so many totals go: memory for them, which is this one's alone.
    ///
    /// # Errors
    /// There is no space for so many.
    fn space(&mut self, count: usize) -> Result<*mut S, Error>;

    /// Says that so many are there.
    ///
    /// # Safety
    /// There was space for so many, and they were written there.
    unsafe fn written(&mut self, count: usize);
}

/// Puts totals there.
///
/// # Errors
/// There is no space for them.
pub(super) fn put<S: States>(to: &mut impl Totals<S>, totals: impl ExactSizeIterator<Item = S>) -> Result<(), Error> {
    let count = totals.len();
    let space = to.space(count)?;
    let mut written = 0;
    for total in totals.take(count) {
        // SAFETY: there is space for so many.
        unsafe { space.add(written).write(total) };
        written += 1;
    }
    // SAFETY: so many were written.
    unsafe { to.written(written) };
    Ok(())
}

impl<S: States> Totals<S> for Vec<S> {
    fn space(&mut self, count: usize) -> Result<*mut S, Error> {
        let bytes = count.saturating_mul(size_of::<S>());
        self.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes })?;
        Ok(self.as_mut_ptr())
    }

    unsafe fn written(&mut self, count: usize) {
        // SAFETY: the caller says so.
        unsafe { self.set_len(count) };
    }
}

/// A slice of the caller's, and how many totals were written there.
pub(super) struct Borrowed<'a, S> {
    totals: &'a mut [S],
    pub(super) count: usize,
}

impl<'a, S> Borrowed<'a, S> {
    pub(super) fn new(totals: &'a mut [S]) -> Borrowed<'a, S> {
        Borrowed { totals, count: 0 }
    }
}

impl<S: States> Totals<S> for Borrowed<'_, S> {
    fn space(&mut self, count: usize) -> Result<*mut S, Error> {
        match count <= self.totals.len() {
            true => Ok(self.totals.as_mut_ptr()),
            false => Err(Error::TotalsTooShort { expected: count, got: self.totals.len() }),
        }
    }

    unsafe fn written(&mut self, count: usize) {
        self.count = count;
    }
}

//! [`Verified`]: a program that the verifier accepted is of another type than one that it has not
//! seen.

use std::ops::Deref;

use super::Program;
use crate::function::Function;

/// Proof that the verifier accepted a value. Such a program never makes an engine panic or trap. Made by [`verify`](crate::verify()); read through `Deref`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    pub(crate) fn trust(value: T) -> Verified<T> {
        Verified(value)
    }

    /// The value, no longer marked.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Verified<Program> {
    /// The same program with integer overflow meant in all its functions.
    pub fn wrapping(self) -> Verified<Program> {
        Verified(self.0.map_functions(Function::wrapping))
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Programs that the [interpreter](crate::interp) runs: [verified](Verified) ones, and what
/// [`lower`](crate::transform::lower) makes of them. All their functions and mappings are well typed.
pub trait WellTyped: Deref<Target = Program> + sealed::Sealed {}

impl WellTyped for Verified<Program> {}

mod sealed {
    /// Nothing outside of this crate says of a program that it is well typed.
    pub trait Sealed {}
    impl Sealed for super::Verified<crate::program::Program> {}
    impl Sealed for crate::transform::Lowered {}
}

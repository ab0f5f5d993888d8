//! The step of a loop as rustc compiled it, beside which its scan is derived: on samples, the scan
//! has to give the states that this function goes through.

use std::marker::PhantomData;
use std::sync::OnceLock;

use monoscan_ir::derive::NativeStep;
use monoscan_ir::{Constant, interp};
use monoscan_runtime::Error;

use super::translation::{Native, compare, run};
use crate::lang::{self, Inputs, ScanFn, Traced};

/// A step of Rust, and its program.
pub(super) struct Witness {
    name: &'static str,
    traced: Traced,
    /// How many of the arguments stand before the state: the parameters.
    parameters: usize,
    /// How many components the state has.
    state: usize,
    functions: Box<dyn Functions>,
    /// Set where samples ended: by a panic, or by results that are not those of the program.
    ended: OnceLock<Option<Error>>,
}

/// A function of Rust whose arguments and results are constants.
trait Functions: Send + Sync {
    fn valid(&self, arguments: &[Constant]) -> Vec<Constant>;
    fn call(&self, arguments: &[Constant]) -> Vec<Constant>;
}

struct Own<F, Args>(F, PhantomData<fn(Args)>);

impl<F: ScanFn<Args>, Args: Inputs> Functions for Own<F, Args> {
    fn valid(&self, arguments: &[Constant]) -> Vec<Constant> {
        lang::to_constants(&lang::from_constants::<Args>(arguments.iter().copied()))
    }

    fn call(&self, arguments: &[Constant]) -> Vec<Constant> {
        lang::to_constants(&self.0.call(lang::from_constants(arguments.iter().copied())))
    }
}

impl Witness {
    /// Of this step and its trace, whose first arguments are so many components of parameters.
    pub(super) fn new<F: ScanFn<Args>, Args: Inputs>(step: F, traced: &Traced, parameters: usize) -> Witness {
        Witness {
            name: std::any::type_name::<F>(),
            traced: traced.clone(),
            parameters,
            state: traced.function.results.len(),
            functions: Box::new(Own(step, PhantomData)),
            ended: OnceLock::new(),
        }
    }

    /// Where the function did something else than its program, if it did.
    pub(super) fn into_difference(self) -> Option<Error> {
        self.ended.into_inner().flatten()
    }

    /// Arguments of the function, of those that the loop's step has: the state stands first there.
    fn own(&self, mut arguments: Vec<Constant>) -> Vec<Constant> {
        arguments[..self.state + self.parameters].rotate_left(self.state);
        arguments
    }
}

impl NativeStep for Witness {
    fn valid(&self, arguments: Vec<Constant>) -> Vec<Constant> {
        let mut valid = self.functions.valid(&self.own(arguments));
        valid[..self.state + self.parameters].rotate_left(self.parameters);
        valid
    }

    fn step(&self, arguments: &[Constant], next: &[Constant]) -> Option<Vec<Constant>> {
        if self.ended.get().is_some() {
            return None;
        }
        let arguments = self.own(arguments.to_vec());
        let compiled: Native<'_> = &|arguments| interp::call(&self.traced.function, arguments, &self.traced.tables);
        let native = run(&|arguments| self.functions.call(arguments), &arguments);
        let compare = |native: &Vec<_>| compare(&|| self.name.to_owned(), &arguments, native, next, compiled);
        let end = native.as_ref().map_or(Some(None), |native| compare(native).err().map(Some));
        match end {
            None => native,
            Some(why) => {
                // Nothing was set before, as a step after the end is not taken.
                _ = self.ended.set(why);
                None
            }
        }
    }
}

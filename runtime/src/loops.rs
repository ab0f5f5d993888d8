//! Scans that were derived from a loop: their callers see the loop's states.
//!
//! A derived program carries functions of the state, and a state of the loop is a constant one
//! ([`monoscan_ir::derive`]). So initial states and carries are changed on the way in, and totals
//! and carries on the way out. Every sequence starts from the loop's initial state, unless a call
//! gives another.

use std::sync::Arc;

use monoscan_ir::derive::{Derivation, Derived, LoopProgram, NativeStep, Refusal, derive, derive_beside};
use monoscan_ir::{Constant, Type, interp, verify, verify_loop};
use smallvec::SmallVec;

use crate::call::{Call, Init};
use crate::dynscan::{DynScan, DynScanBuilder};
use crate::error::Error;

/// The states of a loop, and those of its scan.
pub(crate) struct LoopStates {
    derivation: Derivation,
    types: Vec<Type>,
    /// The scan's state that stands for the initial one.
    start: Vec<Constant>,
    /// Beyond the states, what a carry has of the record before.
    rest: Vec<Constant>,
    /// Whether an integer may overflow in the loop.
    may_overflow: bool,
}

/// Components of states, of which there are few.
pub(crate) type States = SmallVec<[Constant; 8]>;

impl LoopStates {
    fn new(of: &LoopProgram, derivation: Derivation) -> Result<LoopStates, Error> {
        let program = &derivation.program;
        let mut mappings = [&of.step, &of.output.project].into_iter().chain(&of.output.filter);
        let start = interp::call(&derivation.seed, &derivation.initial, &program.tables);
        let starts_from_nan = |name: &String| {
            let place = of.names.iter().position(|own| own == name);
            place.is_some_and(|place| derivation.initial[place].is_nan())
        };
        let is_excluded =
            |group: &Derived| group.trust.conditions().no_nan && group.components.iter().any(starts_from_nan);
        if derivation.groups.iter().any(is_excluded) || !stays(&derivation, &start) {
            return Err(Error::LoopStart { got: derivation.initial });
        }
        Ok(LoopStates {
            types: derivation.initial.iter().map(|constant| constant.ty()).collect(),
            start,
            rest: program.first_carry().split_off(program.state_len()),
            may_overflow: mappings.any(|mapping| mapping.function.may_panic()),
            derivation,
        })
    }

    /// The types of the components of the loop's state.
    pub(crate) fn types(&self) -> &[Type] {
        &self.types
    }

    /// How many components the loop's state has.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// The state that a stream starts from.
    pub(crate) fn first_carry(&self) -> Vec<Constant> {
        [&self.derivation.initial[..], &self.rest].concat()
    }

    pub(crate) fn derivation(&self) -> &Derivation {
        &self.derivation
    }

    /// Whether an integer may overflow in the loop.
    pub(crate) fn may_overflow(&self) -> bool {
        self.may_overflow
    }

    /// States of the scan for these of the loop, one after the other, each with such constants behind it.
    fn seeds(&self, argument: &'static str, states: &[Constant], rest: &[Constant]) -> Result<States, Error> {
        let mut seeds = States::new();
        for state in states.chunks(self.len() + rest.len()) {
            self.check_types(argument, state, rest)?;
            let (own, behind) = state.split_at(self.len());
            seeds.extend(self.seed(argument, own)?);
            seeds.extend_from_slice(behind);
        }
        Ok(seeds)
    }

    fn check_types(&self, argument: &'static str, state: &[Constant], rest: &[Constant]) -> Result<(), Error> {
        let expected = || self.types.iter().copied().chain(rest.iter().map(|constant| constant.ty()));
        let got = || state.iter().map(|constant| constant.ty());
        if got().eq(expected()) {
            return Ok(());
        }
        Err(Error::State { argument, expected: expected().collect(), got: got().collect() })
    }

    /// The state of the scan for one of the loop, which stands for it.
    fn seed(&self, argument: &'static str, state: &[Constant]) -> Result<Vec<Constant>, Error> {
        let tables = &self.derivation.program.tables;
        let seed = interp::call(&self.derivation.seed, state, tables);
        let value = interp::call(&self.derivation.value, &seed, tables);
        if value.iter().zip(state).all(|(a, b)| a.same(*b)) {
            return Ok(seed);
        }
        Err(Error::LoopState { argument, got: state.to_vec() })
    }

    /// Whether a call gives one state at most to start a line from, and one at most to go on from.
    pub(crate) fn is_of_line(&self, call: &Call<'_>) -> bool {
        let is_one = |state: &[Constant]| state.len() == self.len();
        !matches!(call.init, Init::Each(_)) && call.init.same().is_none_or(is_one) && call.carry.is_none_or(is_one)
    }

    /// Checks the states of such a call, which stay those of the loop; of these it `takes_any`, or those that states of the scan stand
    /// for.
    pub(crate) fn check(&self, call: &Call<'_>, takes_any: bool) -> Result<(), Error> {
        call.go_on()?;
        let init = call.init.same().map(|state| ("init", state));
        for (argument, state) in init.into_iter().chain(call.carry.map(|carry| ("carry", carry))) {
            self.check_types(argument, state, &[])?;
            if !takes_any {
                self.seed(argument, state)?;
            }
        }
        Ok(())
    }

    /// States of the loop for these of the scan, one after the other, each with so much behind it.
    fn values(&self, states: &[Constant], rest: usize) -> Vec<Constant> {
        let program = &self.derivation.program;
        let own = program.state_len();
        let mut values = Vec::with_capacity(states.len() / (own + rest).max(1) * (self.len() + rest));
        for state in states.chunks_exact(own + rest) {
            values.extend(interp::call(&self.derivation.value, &state[..own], &program.tables));
            values.extend_from_slice(&state[own..]);
        }
        values
    }

    /// Runs a call of the loop's states on those of the scan.
    pub(crate) fn with<R>(&self, call: &Call<'_>, run: impl FnOnce(&Call<'_>) -> Result<R, Error>) -> Result<R, Error> {
        let init = match call.init {
            Init::Identity => States::from_slice(&self.start),
            Init::Same(state) if state.len() != self.len() => {
                let got = state.iter().map(|constant| constant.ty()).collect();
                return Err(Error::State { argument: "init", expected: self.types.clone(), got });
            }
            Init::Same(state) => self.seeds("init", state, &[])?,
            Init::Each(states) => self.seeds("init_each", states, &[])?,
        };
        let resumed = call.carry.map(|carry| self.seeds("carry", carry, &self.rest)).transpose()?;
        run(&Call {
            init: if matches!(call.init, Init::Each(_)) { Init::Each(&init) } else { Init::Same(&init) },
            carry: resumed.as_deref(),
            ..call.clone()
        })
    }
}

/// Whether the loop's initial state stays as it is beside identities, with which blocks begin. The larger of two sums of floats, as
/// one, does not stay NaN.
fn stays(derivation: &Derivation, start: &[Constant]) -> bool {
    let program = &derivation.program;
    let identities = program.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect::<Vec<Constant>>();
    [[start, &identities], [&identities, start]].into_iter().all(|[first, second]| {
        let mut place = 0;
        let combined = program.stages.iter().flat_map(|stage| {
            let own = place..place + stage.state.len();
            place = own.end;
            interp::call(&stage.combine, &[&first[own.clone()], &second[own]].concat(), &program.tables)
        });
        let combined: Vec<Constant> = combined.collect();
        are_same(&interp::call(&derivation.value, &combined, &program.tables), &derivation.initial)
    })
}

/// Whether two states of a loop have the same numbers, of whatever sign zeros are.
fn are_same(a: &[Constant], b: &[Constant]) -> bool {
    let is_zero = |number: &Constant| number.ty().is_float() && number.as_f64() == 0.0;
    a.iter().zip(b).all(|(a, b)| a.same(*b) || (is_zero(a) && is_zero(b)))
}

impl DynScan {
    /// The scan of a sequential loop: derived, judged, planned and compiled. Initial states, carries and totals of its calls are
    /// states of the loop, and sequences start from the loop's initial state.
    ///
    /// Integers under minima and maxima of sums are composed in `i64`, or in their own type where a sum has both bounds. Sums of
    /// floats are regrouped, as in every scan.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the loop is [malformed](verify_loop); [`Error::NotAScan`] with the component, the operation and the reason;
    /// [`Error::LoopStart`]; else as [`new`](DynScan::new).
    pub fn from_loop(of: &LoopProgram) -> Result<DynScan, Error> {
        DynScan::loop_builder(of)?.build()
    }

    /// The same, for options.
    ///
    /// # Errors
    /// [`Error::NotAScan`]; [`Error::LoopStart`]; [`Error::Invalid`] if the loop is [malformed](verify_loop).
    pub fn loop_builder(of: &LoopProgram) -> Result<DynScanBuilder, Error> {
        verify_loop(of)?;
        DynScan::loop_builder_of(of, derive(of))
    }

    /// The same, where samples are taken by a step that is not interpreted.
    #[doc(hidden)]
    pub fn loop_builder_beside(of: &LoopProgram, native: &dyn NativeStep) -> Result<DynScanBuilder, Error> {
        verify_loop(of)?;
        DynScan::loop_builder_of(of, derive_beside(of, native))
    }

    fn loop_builder_of(of: &LoopProgram, derived: Result<Derivation, Refusal>) -> Result<DynScanBuilder, Error> {
        let derivation = derived.map_err(|refusal| Error::NotAScan(Box::new(refusal)))?;
        let program = verify(derivation.program.clone())?;
        Ok(DynScan::builder(program).derived(Arc::new(LoopStates::new(of, derivation)?)))
    }

    /// How the loop became a scan, if it was one.
    pub fn derivation(&self) -> Option<&Derivation> {
        self.loop_states().map(LoopStates::derivation)
    }

    /// How many components states have that a caller gives or gets: those of all stages, or of the loop.
    pub fn state_len(&self) -> usize {
        self.loop_states().map_or_else(|| self.program().state_len(), LoopStates::len)
    }

    /// The carry that a stream starts from: as the program's [first carry](monoscan_ir::Program::first_carry), or for a loop its initial
    /// state and what it reads of the record before.
    pub fn first_carry(&self) -> Vec<Constant> {
        if let Some(states) = self.loop_states() {
            return states.first_carry();
        }
        let mut carry = self.program().first_carry();
        if self.is_of_loop() {
            let start = self.program().start().concat();
            carry[..start.len()].copy_from_slice(&start);
        }
        carry
    }

    /// Whether the program has the loop that it was derived from as it was written.
    pub(crate) fn has_written_loop(&self) -> bool {
        self.program().sequential.as_ref().is_some_and(|of| of.checked.is_some())
    }

    /// Whether its sequences start from the initial state of a loop: the program was derived from one here, or says so itself.
    pub(crate) fn is_of_loop(&self) -> bool {
        self.loop_states().is_some() || self.program().sequential.is_some()
    }

    /// The totals of a call as states that a caller gets, each with what a carry has behind it, if `is_carry`.
    #[doc(hidden)]
    pub fn as_states<S: AsRef<[Constant]> + FromIterator<Constant>>(&self, totals: S, is_carry: bool) -> S {
        match self.loop_states() {
            Some(states) => {
                states.values(totals.as_ref(), if is_carry { states.rest.len() } else { 0 }).into_iter().collect()
            }
            None => totals,
        }
    }

    /// The state of the program for one that a caller's sequence has reached.
    pub(crate) fn reached(&self, state: &[Constant]) -> States {
        match self.loop_states() {
            Some(states) => {
                let Derivation { seed, program, .. } = &states.derivation;
                interp::call(seed, state, &program.tables).into()
            }
            None => state.into(),
        }
    }

    /// Runs a call of states as callers give them on those of the program.
    pub(crate) fn with_states<R>(
        &self,
        call: &Call<'_>,
        run: impl FnOnce(&Call<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self.loop_states() {
            Some(_) if self.settings().checked && !self.has_written_loop() => Err(Error::CheckedLoop),
            Some(states) => states.with(call, run),
            None if self.is_of_loop() && call.init == Init::Identity => {
                let start = self.program().start().concat();
                run(&Call { init: Init::Same(&start), ..call.clone() })
            }
            None => run(call),
        }
    }
}

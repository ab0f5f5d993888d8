//! A [`Request`] as the [`Call`] of an engine, with the states of starts and carry as components.

use std::mem::ManuallyDrop;

use monoscan_ir::{Constant, Mode};
use monoscan_runtime::{Call, Combination, Error, Init};
use smallvec::SmallVec;

use super::{Boundaries, Carry, Request, Sequences, Start};
use crate::lang;
use crate::scan::states::{States, states_of};

impl<S: States, In, Out> Request<'_, S, In, Out> {
    /// Whether every sequence starts from the identity, goes forwards and is not interrupted.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.is_fresh() && !self.reversed
    }

    /// The same, in either direction.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        matches!((&self.init, &self.carry), (Start::Identity, Carry::None)) && self.interrupt.is_none()
    }

    /// Drops it, where it is: moved, it would be written to memory and read again, which takes as long as a short call. Lines and rows own
    /// nothing.
    ///
    /// # Safety
    /// It is not used or dropped afterwards.
    #[inline(always)]
    pub(super) unsafe fn end(request: &mut ManuallyDrop<Self>) {
        if !matches!(
            request.sequences,
            Ok(Sequences::Line | Sequences::Rows(_) | Sequences::Segments(Boundaries::Heads(_)))
        ) {
            // SAFETY: the caller says so.
            unsafe { ManuallyDrop::drop(request) }
        }
    }

    /// The state that a line starts from, if one was given; a short line may leave another there.
    #[inline]
    pub(super) fn start(&mut self) -> Option<&mut S> {
        let is_line = matches!(self.sequences, Ok(Sequences::Line)) && !self.reversed && self.interrupt.is_none();
        let start = match (&mut self.carry, &mut self.init) {
            (Carry::States([carry]), Start::Identity | Start::Same(_)) => Some(carry),
            (Carry::None, Start::Same(init)) => Some(init),
            _ => None,
        };
        start.filter(|_| is_line)
    }

    /// Hands the call over, with the components of the carry, and stores these in the carry if all went well. To be called once.
    pub(in crate::scan) fn call<R>(
        &mut self,
        mode: Mode,
        run: impl FnOnce(&Call<'_>, Option<&mut [Constant]>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if mode == Mode::Exclusive && self.scan.needs_start() {
            self.check_starts()?;
        }
        let states = self.init.states();
        let init = match self.init {
            Start::Identity => Init::Identity,
            Start::Same(_) => Init::Same(&states),
            Start::Each(_) => Init::Each(&states),
        };
        let sequences = std::mem::replace(&mut self.sequences, Ok(Sequences::Line))?;
        let call = Call {
            mode,
            reversed: self.reversed,
            init,
            shape: sequences.shape()?,
            interrupt: self.interrupt,
            ..Call::default()
        };
        let run = |carry: Option<&mut [Constant]>| run(&call, carry).map_err(|error| sequences.in_callers_terms(error));
        let carry = match std::mem::replace(&mut self.carry, Carry::None) {
            Carry::None => return run(None),
            Carry::Whole(carry) => return run(Some(carry)),
            Carry::States(carry) => carry,
        };
        // Of the record before, which a carry of the engine has too, this chunk has none.
        let first = self.scan.first_carry();
        let own = self.scan.state_len();
        let mut all: SmallVec<[Constant; 4]> = SmallVec::new();
        for state in &*carry {
            all.extend(lang::components(state));
            all.extend_from_slice(&first[own..]);
        }
        let result = run(Some(&mut all))?;
        carry.iter_mut().zip(states_of(&all, first.len())).for_each(|(to, state)| *to = state);
        Ok(result)
    }
}

impl<S: States, In, Out> Request<'_, S, In, Out> {
    /// Refuses sequences that start from no value, of a last operator without an identity: the first component of its state
    /// says whether there is one.
    fn check_starts(&self) -> Result<(), Error> {
        let last = self.scan.program().stages.last().map_or(0, |stage| stage.state.len());
        let flag = self.scan.state_len() - last;
        let is_value = |state: &S| lang::components(state).into_iter().nth(flag) == Some(Constant::from(true));
        let goes_on = match &self.carry {
            Carry::None => false,
            Carry::States(all) => all.iter().all(is_value),
            Carry::Whole(all) => states_of(all, self.components_of_totals()).all(|state| is_value(&state)),
        };
        let begins = match &self.init {
            Start::Identity => false,
            Start::Same(state) => is_value(state),
            Start::Each(all) => all.iter().all(is_value),
        };
        let is_right = match (&self.carry, &self.sequences) {
            (Carry::None, _) => begins,
            (_, Ok(Sequences::Line | Sequences::Rows(_))) => goes_on,
            _ => goes_on && begins,
        };
        if is_right { Ok(()) } else { Err(Combination::NoIdentity.into()) }
    }
}

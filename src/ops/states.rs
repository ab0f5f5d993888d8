//! Maps of a few states to themselves, as a vector of bytes.
//!
//! Scan code has no byte vectors, so this monoid's two bodies are written by hand; everything else
//! about it is as the macro would have it.

use monoscan_ir::{Constant, Opcode, Type, Value};

use crate::lang::{Components, Constants, MonoidIr, V, trace};
use crate::prelude::*;

/// The effect of some input on an automaton of N states, 2 to 16: state s goes to `to[s]`. Composing two maps is one byte
/// permutation. Law verdict: proved.
///
/// Every `to[s]` must be below N, else results are unspecified.
///
/// ```
/// use monoscan::{ops::StateMap, prelude::*};
/// // Inside a comment or not: `#` starts one, a newline ends it, and all else keeps the state.
/// let mut moves = [StateMap { to: [0, 1] }; 256];
/// moves[b'#' as usize] = StateMap { to: [1, 1] };
/// moves[b'\n' as usize] = StateMap { to: [0, 0] };
///
/// #[scan_fn]
/// fn step(moves: Table<StateMap<2>>, byte: u8) -> StateMap<2> { moves.get(byte as u32) }
///
/// let comments = Scan::<StateMap<2>>::builder()
///     .lift(step {}.with_table(&moves))
///     .project(scan!(|map: StateMap<2>| -> u8 { StateMap::from_start(map) }))
///     .build()?;
/// assert_eq!(comments.inclusive(b"a # b\nc")?, [0, 0, 1, 1, 1, 0, 0]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct StateMap<const N: usize> {
    /// Where each state goes.
    pub to: [u8; N],
}

impl<const N: usize> StateMap<N> {
    /// One lane for each state.
    const LANES: Type = match Type::bytes(N) {
        Some(ty) if N >= 2 => ty,
        _ => panic!("a `StateMap` has 2 to 16 states"),
    };

    /// Where state 0 goes: the state of an automaton that started in 0. Scan code calls it as
    /// `StateMap::from_start(map)`.
    pub fn from_start(self) -> u8 {
        self.to[0]
    }

    #[doc(hidden)]
    pub fn __scan_from_start(map: V<Self>) -> V<u8> {
        V::of(trace::emit(|f| f.lane(*map, 0)))
    }
}

impl<const N: usize> Monoid for StateMap<N> {
    fn identity() -> Self {
        StateMap { to: std::array::from_fn(|state| state as u8) }
    }

    fn combine(self, next: Self) -> Self {
        StateMap { to: self.to.map(|state| next.to.get(state as usize).copied().unwrap_or(0)) }
    }

    fn valid(self) -> bool {
        self.to.iter().all(|&state| (state as usize) < N)
    }
}

impl<const N: usize> MonoidIr for StateMap<N> {
    fn trace_combine(earlier: V<Self>, later: V<Self>) -> V<Self> {
        V::of(trace::emit(|f| f.binary(Opcode::Permute, *later, *earlier)))
    }

    fn trace_valid(state: V<Self>) -> Option<V<bool>> {
        let within = trace::emit(|f| {
            let greatest = f.constant(Constant::vector(&[N as u8 - 1; N]));
            let clamped = f.binary(Opcode::Min, *state, greatest);
            f.binary(Opcode::Eq, clamped, *state)
        });
        Some(V::of(within))
    }
}

// SAFETY: the one component is a vector of N bytes, which is the whole value; any bytes are one.
unsafe impl<const N: usize> ScanType for StateMap<N> {
    type Traced = Value;

    fn describe(components: &mut Components) {
        components.scalar(Self::LANES);
    }

    fn build(next: &mut dyn FnMut(Type) -> Value) -> Value {
        next(Self::LANES)
    }

    fn flatten(parts: &Value, values: &mut Vec<Value>) {
        values.push(*parts);
    }

    fn store(value: &Self, constants: &mut Constants) {
        constants.push(Constant::vector(&value.to));
    }

    fn load(constants: &mut dyn Iterator<Item = Constant>) -> Self {
        let bytes = constants.next().unwrap_or(Self::LANES.zero()).to_bytes();
        StateMap { to: std::array::from_fn(|state| bytes.get(state).copied().unwrap_or(0)) }
    }
}

//! The states of a range while they are led on through a chunk. Where some have met, one goes on
//! for all of them: of most ranges one or two are left soon.

use super::passes::TOGETHER;
use super::{Chunk, PIECE};
use crate::gpu::UNUSED_STATE;
use crate::nvptx::emit::{Builder, Ty, Value, Var};

/// A function for each symbol.
pub(super) type Step<'s, 'k> = &'s dyn Fn(Value<'k>);

/// The memory of a thread for them.
pub(super) struct Led<'k> {
    /// Those that are led on, of two bytes each.
    states: Value<'k>,
    /// How many.
    count: Var<'k>,
    /// For each state of the range, a byte: its place among them.
    places: Value<'k>,
    /// How many states the range has.
    of_range: Value<'k>,
}

/// A half of a word.
pub(super) fn half(pair: Value<'_>, place: usize) -> Value<'_> {
    if place == 0 { pair & 0xffff } else { pair >> 16 }
}

impl<'k> Led<'k> {
    /// Bytes that a thread takes for those of a range, behind a piece in which it tells others where its chunk begins.
    pub(super) fn bytes(most_states: usize) -> usize {
        PIECE + 3 * most_states
    }

    /// The states of a range.
    pub(super) fn of(chunk: &Chunk<'k>, range: Value<'k>) -> Led<'k> {
        let (k, most) = (chunk.k, chunk.kernel.most_states);
        let states = chunk.told(chunk.lane).at(PIECE);
        let places = states.at(2 * most);
        let count = k.var(k.i32(0));
        k.when(chunk.is_there, || {
            k.range(k.i32(0), k.i32(most / TOGETHER), k.i32(1), |pair| {
                let both = range.byte(pair * 4).load_constant(Ty::I32, 4);
                for place in 0..TOGETHER {
                    let (state, number) = (half(both, place), pair * TOGETHER + place);
                    let is_used = state.is_not(k.i32(UNUSED_STATE.into()));
                    let state = is_used.select(state, k.i32(0));
                    states.byte(number * 2).store(state.resize(Ty::Int(16)), 2);
                    places.byte(number).store(number.resize(Ty::I8), 1);
                    count.set(count.get() + is_used.resize(Ty::I32));
                }
            });
        });
        Led { states, count, places, of_range: count.get() }
    }

    fn state(&self, place: Value<'k>) -> Value<'k> {
        self.states.byte(place * 2).load(Ty::Int(16), 2).resize(Ty::I32)
    }

    /// Leads each on, some at a time, through what calls a function for each symbol.
    pub(super) fn go_on(&self, chunk: &Chunk<'k>, symbols: &dyn Fn(Step<'_, 'k>)) {
        let k = chunk.k;
        k.range(k.i32(0), self.count.get(), k.i32(TOGETHER), |place| {
            let at = self.states.byte(place * 2);
            let pair = at.load(Ty::I32, 4);
            let states = chunk.states(|number| half(pair, number));
            symbols(&|symbol| states.iter().for_each(|state| state.set(chunk.next(state.get(), symbol))));
            at.store(states[0].get() | states[1].get() << 16, 4);
        });
    }

    /// Leaves one of those that are the same, if there are more than are led on at a time.
    pub(super) fn merge(&self, k: &'k Builder) {
        k.when(self.count.get().at_least(k.i32(TOGETHER + 1)), || {
            let place = k.var(k.i32(1));
            k.repeat_while(
                || place.get().below(self.count.get()),
                || {
                    let (own, same) = (self.state(place.get()), k.var(k.i32(0)));
                    k.repeat_while(|| self.state(same.get()).is_not(own), || same.set(same.get() + 1));
                    k.either(
                        same.get().is(place.get()),
                        || place.set(place.get() + 1),
                        || self.replace(k, place.get(), same.get()),
                    );
                },
            );
        });
    }

    /// Leaves out the state at a place, which is also at another one. The last comes to its place.
    fn replace(&self, k: &'k Builder, place: Value<'k>, same: Value<'k>) {
        let last = self.count.get() - 1;
        self.count.set(last);
        self.states.byte(place * 2).store(self.state(last).resize(Ty::Int(16)), 2);
        k.range(k.i32(0), self.of_range, k.i32(1), |number| {
            let at = self.places.byte(number);
            let own = at.load(Ty::I8, 1).resize(Ty::I32);
            let own = own.is(place).select(same, own.is(last).select(place, own));
            at.store(own.resize(Ty::I8), 1);
        });
    }

    /// For each state of the range its number, and the state that it is led to.
    pub(super) fn each(&self, k: &'k Builder, act: impl Fn(Value<'k>, Value<'k>)) {
        k.range(k.i32(0), self.of_range, k.i32(1), |number| {
            let place = self.places.byte(number).load(Ty::I8, 1).resize(Ty::I32);
            act(number, self.state(place));
        });
    }
}

//! A warp at work on the states of a level: shuffles, scans and folds across its 32 lanes.

use crate::nvptx::emit::{Builder, Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::state::{Packing, State, select};

/// A warp, and the level whose states it combines.
#[derive(Clone, Copy)]
pub struct Lanes<'k, 'a> {
    pub k: &'k Builder,
    pub args: KernelArguments<'k, 'a>,
    pub recipe: &'a Recipe,
    pub level: usize,
    /// The number of the lane.
    pub lane: Value<'k>,
}

impl<'k, 'a> Lanes<'k, 'a> {
    pub fn packing(&self) -> &'a Packing {
        &self.recipe.levels[self.level].1
    }

    pub fn identity(&self) -> State<'k> {
        self.recipe.identity(self.k, self.level)
    }

    pub fn combine(&self, earlier: &[Value<'k>], later: &[Value<'k>]) -> State<'k> {
        self.recipe.combine(self.args, self.level, earlier, later)
    }

    /// Whether this is the first lane.
    pub fn is_first(&self) -> Value<'k> {
        self.lane.is(self.k.i32(0))
    }

    /// The value of the lane so many below; of a lane that has none below, its own.
    pub fn shifted_up(&self, state: &[Value<'k>], distance: usize) -> State<'k> {
        self.packing().map(self.k, state, |word| self.k.shuffle_up(word, self.k.i32(distance)))
    }

    /// The inclusive scan over the first lanes; what the others get means nothing.
    pub fn scan(&self, state: State<'k>, lanes: usize) -> State<'k> {
        let mut state = state;
        for distance in (0..).map(|step| 1usize << step).take_while(|&distance| distance < lanes) {
            let both = self.combine(&self.shifted_up(&state, distance), &state);
            state = select(self.lane.at_least(self.k.i32(distance)), &both, &state);
        }
        state
    }

    /// The fold over all lanes, in order, in each of them. Lane l + d counts where `reaches` says so of d.
    pub fn fold(&self, state: State<'k>, reaches: impl Fn(usize) -> Value<'k>) -> State<'k> {
        let k = self.k;
        let mut fold = state;
        for distance in [1, 2, 4, 8, 16] {
            let above = self.packing().map(k, &fold, |word| k.shuffle_down(word, k.i32(distance)));
            let both = self.combine(&fold, &above);
            fold = select(reaches(distance), &both, &fold);
        }
        self.packing().map(k, &fold, |word| k.shuffle_from(word, k.i32(0)))
    }
}

/// A state in variables.
pub fn variables<'k>(state: &[Value<'k>]) -> Vec<Var<'k>> {
    state.iter().map(|&value| value.emit().var(value)).collect()
}

pub fn get<'k>(state: &[Var<'k>]) -> State<'k> {
    state.iter().map(|var| var.get()).collect()
}

pub fn set<'k>(state: &[Var<'k>], values: &[Value<'k>]) {
    state.iter().zip(values).for_each(|(var, &value)| var.set(value));
}

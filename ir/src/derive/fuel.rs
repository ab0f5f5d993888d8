//! [`Fuel`]: the work that a derivation may take, in all that it tries.

use std::cell::Cell;
use std::rc::Rc;

/// How many values a derivation may look at, in all that it tries: some tens of milliseconds.
const ALL_FUEL: usize = 4_000_000;

/// The rest of the work that a whole derivation may take.
#[derive(Clone)]
pub(super) struct Fuel(Rc<Cell<usize>>);

impl Default for Fuel {
    fn default() -> Fuel {
        Fuel(Rc::new(Cell::new(ALL_FUEL)))
    }
}

impl Fuel {
    pub(super) fn spend(&self, values: usize) {
        self.0.set(self.0.get().saturating_sub(values));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

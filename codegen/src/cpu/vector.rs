//! Which kernels of a program work in vectors.

/// For each kind of kernel whether it does, where the program has such a form. What is reduced in vectors may be replayed
/// without, and the other way round; each choice fixes an order of combination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Vector {
    /// Reductions, one block after the other.
    pub reduce: bool,
    /// The reduction of a whole line in one pass, which elements may take one after the other by what replays do.
    pub reduce_one: bool,
    /// The replay of W blocks, one after the other.
    pub scan: bool,
    /// The replay of one block.
    pub scan_one: bool,
    /// Short rows, one in each lane, which changes no order of combination.
    pub rows: bool,
}

impl Vector {
    /// No kernel does.
    pub const NONE: Vector = Vector { reduce: false, reduce_one: false, scan: false, scan_one: false, rows: false };
    /// Whether any kernel works in vectors along the elements of a block.
    pub(crate) fn is_along(self) -> bool {
        self.reduce || self.reduce_one || self.scan || self.scan_one
    }

    /// One pass over a line does.
    pub const ALONE: Vector = Vector { scan_one: true, ..Vector::NONE };

    /// Every kernel does.
    pub const ALL: Vector = Vector { reduce: true, reduce_one: true, scan: true, scan_one: true, rows: true };
}

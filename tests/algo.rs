//! The algorithms of [`monoscan::algo`], each against plain Rust, on several threads, for lengths
//! from 0 on, and for shapes that are made to hurt.

mod algo {
    mod common;
    mod groups;
    mod limits;
    mod linked;
    mod networks;
    mod numbers;
    #[cfg(feature = "gpu")]
    mod plans;
    mod runs;
    mod select;
    mod series;
    mod sort;
    mod sparse;
    mod split;
    mod text;
    mod trees;
}

//! Every entry point of [`Scan`](monoscan::Scan) in every combination, against plain Rust written
//! from the formulas.

mod entry {
    mod arrays;
    mod asked_for;
    mod cascades;
    mod combinations;
    mod hostile;
    mod messages;
    mod outputs;
    mod places;
    mod pools;
    mod reference;
    mod restarts;
    mod rows;
    mod semigroups;
    mod short;
    mod short_sequences;
    mod streams;
    mod views;
}

//! A new user's first tries: operators from many fields, written plainly, each judged as a
//! mathematician would and each scan held to the same Rust function folded sequentially; operators
//! that are wrong on purpose; and careless use.

#![allow(clippy::needless_range_loop, reason = "operators are written with the indexes of their formulas")]

mod acceptance {
    mod careless;
    mod discrete;
    mod harness;
    mod modular;
    mod numeric;
    mod refused;
}

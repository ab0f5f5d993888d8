//! Parts that the tests of several packages share.
//!
//! | module | what it has | feature |
//! |---|---|---|
//! | [`random`] | random numbers, programs and loops, the same in every run | |
//! | [`programs`] | programs in text form whose results show what a call did | |
//! | [`opcodes`] | every opcode on the operands that it treats specially | |
//! | [`families`] | families of operators with a native meaning, and changes that mostly break their laws | |
//! | [`json`] | automata of 16 states that read JSON | |
//! | [`ptxas`] | NVIDIA's assembler | |
//! | `calls` | calls drawn at random, the reference that gives their results, and the comparison with an engine | `calls` |
//! | `loops` | checked scans beside the sequential loop, run natively | `calls` |
//! | `checked_loops` | checked scans of derived loops beside the loops, run by the interpreter | `calls` |
//! | [`loop_step`] | what the step of a loop reads at a record | |
//! | `munch` | lexing as a textbook writes it, and texts made for rules | `munch` |
//! | [`scripts`] | texts of many scripts | |
//! | `by_hand` | operators written by hand, which others derive from loops | `zoo` |
//! | `zoo` | monoids that catch what sums cannot | `zoo` |

#![allow(missing_docs, reason = "a field of a test's operator says enough by its name")]

#[cfg(feature = "zoo")]
pub mod by_hand;
#[cfg(feature = "calls")]
pub mod calls;
#[cfg(feature = "calls")]
pub mod checked_loops;
pub mod families;
pub mod json;
pub mod loop_step;
#[cfg(feature = "calls")]
pub mod loops;
#[cfg(feature = "munch")]
pub mod munch;
pub mod opcodes;
pub mod programs;
pub mod ptxas;
pub mod random;
pub mod scripts;
#[cfg(feature = "zoo")]
pub mod zoo;

pub use random::Random;

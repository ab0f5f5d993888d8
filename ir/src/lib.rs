//! The intermediate representation of monoscan: what a scan *is*, with no word about the machine
//! that runs it.
//!
//! A [`Program`] is a cascade of one to three scans over columns of records. Each scan ([`Stage`])
//! has a state, an `identity`, an associative `combine`, and a `lift` that turns an element into a
//! state; the program's output reads the states. All of these are straight-line [`Function`]s over
//! scalars and small byte vectors: no blocks, no loops, no calls, and every [`Opcode`] is total, so
//! that nothing a program does can trap.
//!
//! Around that, a file or folder each: the [builder](FunctionBuilder), the [text form](text) with
//! printer and parser, the [verifier](verify()), the [interpreter](interp), and the simplifier.
//! Plans are made from [facts], and engines look up [automata](automaton). The
//! [transforms](transform) lower a program for an engine, and the [laws] say whether an operator is
//! associative at all.

#![warn(clippy::missing_errors_doc)]

pub mod automaton;
mod builder;
mod constant;
pub mod derive;
mod eval;
pub mod facts;
mod function;
pub mod interp;
pub mod laws;
mod layout;
pub mod math;
mod opcode;
mod program;
pub mod random;
mod simplify;
pub mod text;
pub mod transform;
mod types;
pub mod verify;

pub use builder::FunctionBuilder;
pub use eval::{evaluate, overflows};
pub use function::{Function, Inst, Payload, Value};
pub use interp::Mode;
pub use opcode::{Class, Opcode, Rule};
pub use program::{
    Field, Layout, MAX_COLUMNS, MAX_INSTS, MAX_PARAMS, MAX_RECORD_BYTES, MAX_STAGES, MAX_STATE_BYTES, MAX_TABLE_BYTES,
    Mapping, Output, OwnFold, Program, Sequential, Source, Stage, Table, Verified, WellTyped, Written,
};
pub use simplify::simplify;
pub use types::{Constant, Lanes, Primitive, Type};
pub use verify::{Diagnostic, Diagnostics, verify, verify_function, verify_loop};

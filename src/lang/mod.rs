//! The library behind the macros: scan code as ordinary Rust values that build IR while they run.
//!
//! `#[scan_monoid]` and `#[scan_fn]` leave the user's function alone and emit a second body beside
//! it, in which every run-time value is a handle [`V<X>`](V) instead of an `X`. Running that body
//! once *traces* it. Each operator is a call of a plain generic function in [`ops`] or [`methods`]
//! that appends an instruction to the function being built. Loops over constant ranges, indexes and
//! constants stay ordinary Rust that simply runs. rustc infers every type of the second body by the
//! rules, and from the spans, of the first.
//!
//! | file | what it holds |
//! |---|---|
//! | `scan_type.rs` | [`ScanType`]: how a Rust type lies in memory, and what its handles look like; [`V`] |
//! | `scalars.rs`, `composite.rs` | the scan types that Rust brings: numbers, `bool`, arrays, tuples |
//! | `numbers.rs` | [`Num`], [`Real`], [`Int`], [`BitLike`], [`Scalar`]: what generic operators are written against |
//! | `enumeration.rs` | enums whose variants hold nothing |
//! | `ops.rs`, `equality.rs`, `methods.rs` | operators, `==`, and the numeric methods people use |
//! | `monoid.rs`, `function.rs`, `table.rs` | [`Monoid`], [`ScanFn`], [`Table`] |
//! | `trace.rs` | the functions under construction, and the entry points that give finished IR |

pub mod composite;
pub mod enumeration;
pub mod equality;
pub mod function;
pub mod methods;
pub mod monoid;
pub mod numbers;
pub mod ops;
pub mod scalars;
pub mod scan_type;
pub mod table;
pub mod trace;

pub use enumeration::Enumeration;
pub use function::{Argument, Arguments, BindTable, Closure, Inputs, ScanFn, WithTable};
pub use monoid::{Monoid, MonoidIr};
pub use numbers::{BitLike, Half, Int, Num, Real, Scalar};
pub use scan_type::{Component, Components, ScanType, V};
pub use scan_type::{Constants, component_names, components, from_constants, layout_of, to_constants};
pub use table::{Table, TableHandle};
pub use trace::{Traced, identity_constants, is_restricted, trace_combine, trace_fn, trace_follows, trace_valid};

/// IR vocabulary that macro output names.
#[doc(hidden)]
pub use monoscan_ir::{Constant, Type, Value};

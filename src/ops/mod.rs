//! Ready monoids, written with `#[scan_monoid]` as you would write your own: read a few, then write
//! one.
//!
//! ```
//! use monoscan::ops::{ArgMax, Max, Pair, Segmented, Sum};
//! use monoscan::prelude::*;
//!
//! // Running sums. States are records: `Scan::new` needs no lift.
//! let sums = Scan::<Sum<i64>>::new()?.inclusive(&[Sum(3), Sum(-1), Sum(4)])?;
//! assert_eq!(sums, [Sum(3), Sum(2), Sum(6)]);
//!
//! // Plain numbers in and out: a lift wraps, a project unwraps. Pairs scan twice in one pass.
//! let both = Scan::<Pair<Sum<i32>, Max<i32>>>::builder()
//!     .lift(scan!(|x: i32| -> Pair<Sum<i32>, Max<i32>> { Pair(Sum(x), Max(x)) }))
//!     .project(scan!(|s: Pair<Sum<i32>, Max<i32>>| -> (i32, i32) { ((s.0).0, (s.1).0) }))
//!     .build()?;
//! assert_eq!(both.inclusive(&[3, -1, 4])?, [(3, 3), (2, 3), (6, 4)]);
//!
//! // Any monoid, started over at each flag.
//! let runs = Scan::<Segmented<ArgMax<f32>>>::new()?;
//! # let _ = runs;
//! # Ok::<(), monoscan::Error>(())
//! ```
//!
//! The *law verdict* of each says what [`Scan`](crate::Scan) finds out about it before it is
//! compiled: *proved*, or *tested* on some thousand states where a proof is not known. Floats are
//! judged over the reals, since regrouping a sum changes how it rounds and not what it means.
//!
//! Where a state is a map, as in [`Affine`] or [`Matrix`], the earlier one is applied first:
//! combining f and then g gives x ↦ g(f(x)). [`Dual`] is the other order. Integers wrap in a scan;
//! `combine` called natively is Rust's own `+` and `*`.
//!
//! | file | monoids |
//! |---|---|
//! | `numbers.rs` | [`Sum`] [`Product`] [`Min`] [`Max`] [`Minimum`] [`Maximum`] [`ArgMin`] [`ArgMax`] |
//! | `bits.rs` | [`And`] [`Or`] [`Xor`] [`All`] [`Any`] [`Carry`] |
//! | `maps.rs` | [`Affine`] [`MaxPlus`] [`Matrix`] [`Complex`] [`Quaternion`] |
//! | `statistics.rs` | [`Moments`] [`LogSumExp`] |
//! | `sequences.rs` | [`RabinKarp`] [`BracketDepth`] [`LongestRun`] |
//! | `plain.rs` | [`Plain`]: those that wrap one value |
//! | `states.rs` | [`StateMap`] |
//! | `combinators.rs` | [`Pair`] [`Triple`] [`Segmented`] [`Dual`] [`WithIdentity`] of a [`Semigroup`] |

mod bits;
mod combinators;
mod maps;
mod numbers;
mod plain;
mod sequences;
mod states;
mod statistics;

pub use bits::{All, And, Any, Carry, Or, Xor};
pub use combinators::{Dual, Pair, Segmented, Semigroup, Triple, WithIdentity};
pub use maps::{Affine, Complex, Matrix, MaxPlus, Quaternion};
pub use numbers::{ArgMax, ArgMin, Max, Maximum, Min, Minimum, Product, Sum};
pub use plain::Plain;
pub use sequences::{BracketDepth, LongestRun, RabinKarp};
pub use states::StateMap;
pub use statistics::{LogSumExp, Moments};

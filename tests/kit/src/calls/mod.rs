//! Calls of a scan: drawn at random, given to an engine and to a reference, compared, and made
//! simpler where they differ.

mod asked;
mod memory;
mod place;
mod reference;
mod sequences;
mod subject;

pub use asked::{Asked, Over, boundary};
pub use memory::{Form, Memory};
pub use place::{OnHost, Place, Wants};
pub use reference::{Given, Reference};
pub use sequences::{Sequence, Start};
pub use subject::{Subject, columns, columns_mut, poison, same_bytes, same_states, tiles};

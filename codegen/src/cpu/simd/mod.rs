//! Kernels in 128-bit vectors, *along* the elements of one block, or *across* short rows, for scans
//! whose operator has a form in lanes.
//!
//! | file | what |
//! |---|---|
//! | `form` | whether a program has such a form, and what it is made of |
//! | `forms` | which instructions work lane by lane |
//! | `cost` | what a kernel costs |
//! | `kernel` | the loop over groups of records |
//! | `group_code` | the code of one group |
//! | `access` | what a group reads and writes |
//! | `rows` | the loop over groups of short rows |
//! | `side_by_side` | the loop down neighbouring rows |
//! | `compress` | records that are kept, side by side |
//! | `lanes`, `arithmetic` | instructions, lane by lane |
//! | `group` | records in memory ↔ vectors |
//! | `shuffle` | lanes moved within and between vectors |
//!
//! The tree by which elements are combined follows from the length of the block alone, not from
//! where it lies.

mod access;
mod arithmetic;
mod compress;
mod cost;
mod form;
mod forms;
mod group;
mod group_code;
mod kernel;
mod lanes;
mod rows;
mod shuffle;
mod side_by_side;

pub(crate) use cost::Cost;
pub(crate) use form::LaneForm;
pub(crate) use forms::has_lane_form;
pub(crate) use kernel::{Bases, Progress, Work, groups};
pub(crate) use lanes::{Lanes, lower_lanes, vector_type};
pub(crate) use rows::{RowForm, rows};
pub(crate) use shuffle::Shape;
pub(crate) use side_by_side::{
    Down, MOST_ROWS, Memory, Slots, folds, many_side_by_side, of_neighbours, side_by_side, takes,
};

//! Strategies: how a pass takes a thread's items, one by one, four bytes at a time, by the ids of
//! maps, or by marks.

pub(crate) mod fold;
pub(crate) mod map_ids;
pub(crate) mod marks;
pub(crate) mod neighbours;
pub(crate) mod packed;
pub(crate) mod replay;

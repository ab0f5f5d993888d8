//! Strategies: how a pass takes a thread's items, one by one, four bytes at a time, or by the ids
//! of maps.

pub(crate) mod fold;
pub(crate) mod map_ids;
pub(crate) mod packed;
pub(crate) mod replay;

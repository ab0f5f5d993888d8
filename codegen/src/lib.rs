//! From a verified program to a schedule and machine code. This crate runs nothing.
//!
//! [`target`] says what is known of the machine, [`plan`] turns facts about a program into a schedule for that machine,
//! and [`network`] holds the circuits that schedules are made of.

pub mod cpu;
pub mod gpu;
pub mod network;
#[cfg(feature = "ptx")]
pub mod nvptx;
pub mod plan;
pub mod target;

//! From a verified program to a schedule and machine code. This crate runs nothing.
//!
//! [`target`] says what is known of the machine, and [`plan`] turns facts about a program into a
//! schedule for that machine.

#![warn(clippy::missing_errors_doc)]

pub mod cpu;
pub mod gpu;
#[cfg(feature = "ptx")]
pub mod nvptx;
pub mod plan;
pub mod target;

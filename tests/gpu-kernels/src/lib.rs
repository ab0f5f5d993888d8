//! Kernels for GPUs, checked without one, in the emulator and by NVIDIA's assembler; and the same
//! launches on a device.
//!
//! ```text
//! programs.rs   programs, each with records that it takes; those of bytes, floats, wide states and automata in files of their own
//! subject.rs    a kernel of a program, by a plan
//! call.rs       what a launch is asked for, drawn at random around the boundaries of the plan
//! expected.rs   what it must write, by the interpreter of programs
//! machine.rs    the emulator or a device
//! launch.rs     what it writes there
//! draw.rs       schedules, plans and forms
//! ```
//!
//! The tests draw kernels and calls from these.

mod automata;
mod bytes;
mod call;
mod draw;
mod expected;
mod floats;
mod launch;
mod machine;
mod programs;
mod subject;
mod wide;

pub use call::Call;
pub use draw::{CASCADES, RING, SCHEDULES, SHIFTED, form, small_plan};
pub use floats::of_floats;
pub use launch::Failure;
pub use machine::OnDevice;
pub use programs::{
    Case, by_hand, marked_cases, of_algorithms, of_bytes, of_expansions, of_loops, of_rule_sets, of_the_zoo,
    random_cases,
};
pub use subject::Subject;
pub use wide::{of_wide_states, wide_sums};

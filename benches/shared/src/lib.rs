//! Parts that the benchmarks of CPUs and GPUs share.
//!
//! | module | what it has |
//! |---|---|
//! | [`data`] | input data, the same on every machine and in every run |
//! | [`scans`] [`loops`] | the workloads of the CPU by monoscan, and by plain loops |
//! | [`options`] | what both command lines take |
//! | [`report`] | sizes as text, and files of results |
//! | [`plot`] | pictures: panels of lines, as SVG |

#![allow(missing_docs, reason = "a column of a workload says enough by its name")]

pub mod data;
pub mod loops;
pub mod options;
pub mod plot;
pub mod report;
pub mod scans;

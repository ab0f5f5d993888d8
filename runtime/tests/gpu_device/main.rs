//! Scans on a GPU against the reference that the CPU engine is held to, and what only a device can show: streams,
//! graphs, floats that are rounded the same way in every run. Run with `--ignored` on a machine that has one; the
//! driver and nothing else is needed there.

mod ahead;
#[allow(dead_code, reason = "shared with the tests of the CPU engine, which draw calls for its plans")]
#[path = "../calls/asked.rs"]
mod asked;
#[allow(dead_code, reason = "as above")]
#[path = "../calls/check.rs"]
mod check;
mod checked;
mod cubins;
mod every_call;
#[allow(dead_code, reason = "shared with the tests of the CUDA layer")]
#[path = "../cuda_device/kernels.rs"]
mod kernels;
mod ladder;
mod limits;
#[path = "../checked/loops.rs"]
mod loops;
mod on_device;
#[allow(dead_code, reason = "as above")]
#[path = "../calls/programs.rs"]
mod programs;
#[path = "../calls/random.rs"]
mod random;
#[allow(dead_code, reason = "as above")]
#[path = "../calls/reference.rs"]
mod reference;
#[path = "../calls/runs.rs"]
mod runs;
mod streams;
mod subject;
mod together;

//! Scans on a GPU against the reference that the CPU engine is held to, and what only a device can
//! show: streams, graphs, floats that are rounded the same way in every run. Run with `--ignored`
//! on a machine that has one; the driver and nothing else is needed there.

mod ahead;
mod checked;
mod cubins;
mod every_call;
mod limits;
mod on_device;
mod spaced;
mod streams;
mod subject;
mod together;
mod transducers;
mod uploaded;

//! The CUDA layer on a device, with small kernels written by hand. Run with `--ignored` on a
//! machine that has one; only the first test of `device` is for all machines.

mod device;
mod graphs;
mod kernels;
mod memory;
mod modules;
mod streams;
mod workspaces;

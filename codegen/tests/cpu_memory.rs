//! Code is unmapped when its owner is dropped. Alone in its process, since it looks at what the
//! process has mapped.
#![cfg(target_os = "linux")]

use monoscan_codegen::cpu::{Access, Compiled};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::verify;
use scan_kit::random::{Options, random_program};

/// Bytes of address space this process has mapped.
fn mapped() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').next().unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn dropped_code_is_unmapped() {
    let program = lower(&verify(random_program(1, &Options::default())).unwrap(), Form::default());
    let compile = || drop(Compiled::new(&program, Access::Line, 1).unwrap());
    (0..20).for_each(|_| compile());
    let before = mapped();
    (0..1000).for_each(|_| compile());
    // A page for each of the three kernels would be 12 MB.
    assert!(mapped() < before + (4 << 20), "{} bytes more are mapped", mapped() - before);
}

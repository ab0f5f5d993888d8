//! Kernels whose machine code is on disk already: found without LLVM, and made anew where the file
//! is of no use.

use std::fs;
use std::path::Path;
use std::time::Duration;

use monoscan_ir::{Program, Verified};
use monoscan_runtime::cuda::CubinCache;
use monoscan_runtime::gpu::CompileTimes;
use monoscan_runtime::{Column, DynScan};

use crate::on_device::{numbers, solved};
use crate::subject::device;
use scan_kit::programs::{RECURRENCE, parse};

/// The recurrence under a name that no other test uses: scans of equal programs share kernels while there are any.
fn program() -> Verified<Program> {
    parse(&RECURRENCE.replace("program ", "program kept_on_disk_"))
}

/// Scans with a kernel from this directory, as another process would, and gives how long the kernel took.
fn scanned(directory: &Path) -> CompileTimes {
    let cache = CubinCache::open(directory).unwrap();
    let scan = DynScan::builder(program()).device(device()).cubins(cache).build().unwrap();
    let times = scan.kernel().unwrap().times();
    let x = numbers(100_000);
    assert!(scan.inclusive::<u32>(&[Column::new(&x)]).unwrap() == solved(&x, 0));
    times
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_kernel_on_disk_needs_no_llvm_and_one_that_is_of_no_use_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let cubins = directory.path().join("cubins");
    let files = || fs::read_dir(&cubins).unwrap().map(|entry| entry.unwrap().path());
    let cold = scanned(&cubins);
    let kept: Vec<_> = files().map(|file| (fs::read(&file).unwrap(), file)).collect();
    let found = scanned(&cubins);
    println!("cold {cold:?}, found {found:?}");
    // LLVM alone takes longer than that.
    assert!(found.total() < Duration::from_millis(20).min(cold.ptx), "{found:?} after {cold:?}");
    for damaged in [&b""[..], b"no cubin", &kept[0].0[..kept[0].0.len() / 2]] {
        files().for_each(|file| fs::write(file, damaged).unwrap());
        scanned(&cubins);
        assert!(kept.iter().all(|(whole, file)| fs::read(file).unwrap().len() == whole.len()));
    }
}

//! Modules: what the driver refuses, what kernels use, and cubins on disk.

use std::fs;

use bytemuck::Zeroable;
use monoscan_runtime::cuda::{CubinCache, CudaError, Module};
use sha2::{Digest, Sha256};

use crate::kernels::{Argument, PTX, device, stream};

#[test]
#[ignore = "needs a CUDA device"]
fn refused_ptx_comes_with_the_drivers_log() {
    let line = PTX.lines().position(|line| line.contains("setp.ge.u64")).unwrap() + 1;
    let error = Module::link(&device(), &PTX.replace("setp.ge.u64", "setp.ge.nonsense")).unwrap_err();
    println!("{error}");
    let CudaError::Refused { log, .. } = error else { panic!("{error}") };
    assert!(log.contains(&format!("line {line}")), "expected line {line} in {log}");
    let newer = Module::link(&device(), &PTX.replace(".version 8.0", ".version 99.0")).unwrap_err();
    println!("{newer}");
    assert!(matches!(newer, CudaError::Refused { .. }));
    let other = Module::link(&device(), &PTX.replace("sm_80", "sm_999")).unwrap_err();
    assert!(matches!(other, CudaError::WrongArchitecture { .. }), "{other}");
    // SAFETY: the driver looks at the magic number first.
    let image = unsafe { Module::load(&device(), &[0; 4096]) }.unwrap_err();
    println!("{image}");
    assert!(matches!(image, CudaError::Refused { .. } | CudaError::WrongArchitecture { .. }));
}

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_tell_what_they_use_and_impossible_launches_are_refused() {
    let module = Module::from_ptx(&device(), PTX, None).unwrap();
    assert!(matches!(module.kernel("nothing"), Err(CudaError::Argument { .. })));
    let kernel = module.kernel("spin").unwrap();
    println!("{:?}", kernel.facts());
    assert!(kernel.facts().registers > 0 && kernel.facts().local_bytes == 0 && kernel.facts().most_threads == 1024);
    let most = device().facts().shared_per_block;
    assert!(kernel.blocks_per_multiprocessor(128, 0).unwrap() > 1);
    let stream = stream();
    let argument = Argument::zeroed();
    // SAFETY: it uses no memory.
    let launch =
        |blocks, threads, shared, argument: &[u8]| unsafe { kernel.launch(&stream, blocks, threads, shared, argument) };
    let whole = bytemuck::bytes_of(&argument);
    assert!(launch(1, 32, most, whole).is_err(), "not without `allow_shared`");
    kernel.allow_shared(most).unwrap();
    assert_eq!(kernel.blocks_per_multiprocessor(128, most).unwrap(), 1);
    launch(1, 32, most, whole).unwrap();
    assert!(matches!(kernel.allow_shared(most + 1), Err(CudaError::Argument { .. })));
    assert!(matches!(launch(0, 32, 0, whole), Err(CudaError::Argument { .. })));
    assert!(matches!(launch(1, 0, 0, whole), Err(CudaError::Argument { .. })));
    assert!(matches!(launch(1, 1025, 0, whole), Err(CudaError::Argument { .. })));
    assert!(matches!(launch(1, 32, most + 1, whole), Err(CudaError::Argument { .. })));
    stream.synchronize().unwrap();
}

#[test]
#[ignore = "needs a CUDA device"]
fn cubins_come_back_from_disk() {
    let directory = tempfile::tempdir().unwrap();
    let cache = |name: &str| CubinCache::open(directory.path().join(name)).unwrap();
    let file = |name: &str| {
        let mut files = fs::read_dir(directory.path().join(name)).unwrap();
        let file = files.next().expect("a cubin was kept").unwrap().path();
        assert!(files.next().is_none());
        file
    };
    let renamed = PTX.replace(".entry add", ".entry plus");
    Module::from_ptx(&device(), PTX, Some(&cache("add"))).unwrap().kernel("add").unwrap();
    Module::from_ptx(&device(), &renamed, Some(&cache("plus"))).unwrap().kernel("plus").unwrap();
    // A forged file, with the other module, shows that it is read and that nothing is linked.
    let (whole, other) = (fs::read(file("add")).unwrap(), fs::read(file("plus")).unwrap());
    let (magic, image) = (&other[..16], &other[48..]);
    let name = file("add").file_stem().unwrap().to_str().unwrap().to_owned();
    let key: Vec<u8> = (0..32).map(|byte| u8::from_str_radix(&name[2 * byte..2 * byte + 2], 16).unwrap()).collect();
    let hash = Sha256::new().chain_update(key).chain_update(image).finalize();
    fs::write(file("add"), [magic, &hash, image].concat()).unwrap();
    Module::from_ptx(&device(), PTX, Some(&cache("add"))).unwrap().kernel("plus").unwrap();
    // One that is damaged, or another's as it is, is linked and written anew.
    for wrong in [&whole[..whole.len() - 1], &other] {
        fs::write(file("add"), wrong).unwrap();
        Module::from_ptx(&device(), PTX, Some(&cache("add"))).unwrap().kernel("add").unwrap();
        assert!(fs::read(file("add")).unwrap().len() == whole.len());
    }
}

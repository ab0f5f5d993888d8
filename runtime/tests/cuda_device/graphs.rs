//! Graphs: work that is captured, what it keeps, and captures that fail.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use monoscan_runtime::cuda::{CudaError, DeviceBuffer, Graph, Header, KernelFault, Stream, Workspace, keep_with_graph};

use crate::kernels::{add, bump, device, kernel, numbers, spin, stream};

#[test]
#[ignore = "needs a CUDA device"]
fn a_captured_graph_owns_its_workspace_and_is_launched_again_and_again() {
    let stream = stream();
    let size = 10_000;
    let from = DeviceBuffer::from_slice(&stream, &numbers(size)).unwrap();
    let to = DeviceBuffer::zeroed(&stream, size).unwrap();
    let pooled = Workspace::lease(&stream, 1, 1000).unwrap();
    kernel("bump");
    let mut captured = None;
    let graph = Graph::capture::<CudaError>(&stream, || {
        assert!(stream.is_capturing()?);
        // SAFETY: the stream outlives it.
        let same = unsafe { Stream::from_raw(&device(), stream.raw()) }?;
        let workspace = Workspace::lease(&same, 1, 1000)?;
        assert!(workspace.is_captured());
        bump(&stream, &workspace, 0);
        add(&stream, &from, &to, 1);
        // Allocating and waiting elsewhere spoil no capture, nor does what cannot be captured.
        DeviceBuffer::from_slice(&Stream::new(&device())?, &[1u8])?;
        assert!(matches!(stream.synchronize(), Err(CudaError::Argument { .. })));
        captured = Some(workspace);
        Ok(())
    })
    .unwrap();
    let workspace = captured.unwrap();
    assert_ne!(workspace.address(), pooled.address());
    assert_eq!(to.to_vec(&stream).unwrap(), vec![0; size], "captured work is not done yet");
    let expected: Vec<u32> = numbers(size).iter().map(|number| number.wrapping_add(1)).collect();
    for launch in 1..=3 {
        // SAFETY: all that it uses is here.
        unsafe { graph.launch(&stream) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(workspace.header().unwrap(), Header { ticket: launch, epoch: launch, ..Header::default() });
    }
    assert_eq!(to.to_vec(&stream).unwrap(), expected);
    // Without the handle, the graph still has its memory.
    drop(workspace);
    // SAFETY: as above.
    unsafe { graph.launch(&stream) }.unwrap();
    stream.synchronize().unwrap();
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_a_graph_keeps_lives_as_long_as_the_graph() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Told;
    impl Drop for Told {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let told = || Arc::new(Told) as Arc<dyn Any + Send + Sync>;
    let stream = stream();
    assert!(!keep_with_graph(&stream, told()).unwrap());
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1, "outside of a capture nothing is kept");
    let graph = Graph::capture::<CudaError>(&stream, || {
        assert!(keep_with_graph(&stream, told())?);
        spin(&stream, Duration::from_millis(1));
        Ok(())
    })
    .unwrap();
    // SAFETY: it uses no memory.
    unsafe { graph.launch(&stream) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    drop(graph);
    // The driver tells when it is done with the graph, in its own time; allocations then drop what was kept.
    for _ in 0..1000 {
        if DROPPED.load(Ordering::Relaxed) == 2 {
            return;
        }
        DeviceBuffer::<u8>::uninitialized(&device(), 1).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("what the graph kept was not dropped within a second");
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_capture_whose_work_fails_ends() {
    let stream = stream();
    let error = Graph::capture(&stream, || Err(CudaError::KernelFailed(KernelFault::GivenUp))).unwrap_err();
    assert_eq!(error, CudaError::KernelFailed(KernelFault::GivenUp));
    let panics = std::panic::AssertUnwindSafe(|| Graph::capture::<CudaError>(&stream, || panic!("in a capture")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert!(!stream.is_capturing().unwrap());
    stream.synchronize().unwrap();
}

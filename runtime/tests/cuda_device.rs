//! The CUDA layer on a device, with small kernels written by hand. Run with `--ignored` on a machine that has one; only the
//! first test is for all machines.

use std::any::Any;
use std::fs;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;
use scan_runtime::cuda::{
    CubinCache, CudaError, Device, DeviceBuffer, DeviceRead, Event, Graph, Header, Kernel, Module, PinnedBuffer,
    Stream, Workspace, keep_with_graph,
};

/// `add` writes `from[i] + number` to `to[i]` for `i < count`; `bump` takes a ticket, counts the epoch up and stores `number`
/// as the error of the header at `to`; `spin` waits for `count` nanoseconds.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64

.visible .entry add(.param .align 16 .b8 argument[32])
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [argument];
    ld.param.u64 %rd2, [argument+8];
    ld.param.u64 %rd3, [argument+16];
    ld.param.u32 %r1, [argument+24];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mul.wide.u32 %rd4, %r2, %r3;
    cvt.u64.u32 %rd5, %r4;
    add.u64 %rd4, %rd4, %rd5;
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra DONE;
    shl.b64 %rd6, %rd4, 2;
    add.u64 %rd7, %rd1, %rd6;
    add.u64 %rd8, %rd2, %rd6;
    ld.global.u32 %r5, [%rd7];
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%rd8], %r5;
DONE:
    ret;
}

.visible .entry bump(.param .align 16 .b8 argument[32])
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [argument+8];
    ld.param.u32 %r1, [argument+24];
    cvta.to.global.u64 %rd1, %rd1;
    atom.global.add.u32 %r2, [%rd1], 1;
    ld.global.u32 %r3, [%rd1+4];
    add.u32 %r4, %r3, 1;
    st.global.u32 [%rd1+4], %r4;
    st.global.u32 [%rd1+8], %r1;
    ret;
}

.visible .entry spin(.param .align 16 .b8 argument[32])
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [argument+16];
    mov.u64 %rd2, %globaltimer;
AGAIN:
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra AGAIN;
    ret;
}
";

/// Sizes around those of vectors, warps and blocks.
const SIZES: [usize; 12] = [0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 4099, 1_000_003];

/// What all the kernels take.
#[repr(C, align(16))]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Argument {
    from: u64,
    to: u64,
    count: u64,
    number: u32,
    padding: u32,
}

fn device() -> Device {
    Device::cuda(0).expect("these tests need a device")
}

fn stream() -> Stream {
    Stream::new(&device()).unwrap()
}

fn kernel(name: &str) -> Kernel {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::from_ptx(&device(), PTX, None).unwrap()).kernel(name).unwrap()
}

/// Launches `add` over all records.
fn add(stream: &Stream, from: &impl DeviceRead<u32>, to: &DeviceBuffer<u32>, number: u32) {
    assert_eq!(from.len(), to.len());
    let argument = Argument { from: from.address(), to: to.address(), count: to.len() as u64, number, padding: 0 };
    let blocks = to.len().div_ceil(256).max(1) as u32;
    // SAFETY: both have so many records, and the test waits before it drops them.
    unsafe { kernel("add").launch(stream, blocks, 256, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

/// Launches `bump` on a workspace.
fn bump(stream: &Stream, workspace: &Workspace, error: u32) {
    let argument = Argument { from: 0, to: workspace.address(), count: 0, number: error, padding: 0 };
    // SAFETY: a workspace has a header, and frees wait for the device.
    unsafe { kernel("bump").launch(stream, 1, 1, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

/// Keeps the stream busy.
fn spin(stream: &Stream, time: Duration) {
    let argument = Argument { count: time.as_nanos() as u64, ..Argument::zeroed() };
    // SAFETY: it uses no memory.
    unsafe { kernel("spin").launch(stream, 1, 1, 0, bytemuck::bytes_of(&argument)) }.unwrap();
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let error = Device::cuda(usize::MAX).unwrap_err();
    match Device::count() {
        Ok(count) => assert_eq!(error, CudaError::NoSuchDevice { ordinal: usize::MAX, count }),
        Err(why) => {
            assert_eq!(error, why);
            assert!(matches!(
                why,
                CudaError::NoDriver { .. } | CudaError::DriverTooOld { .. } | CudaError::Driver { .. }
            ));
        }
    }
    assert_eq!(scan_runtime::Error::from(error.clone()).to_string(), error.to_string());
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_device_tells_what_it_is() {
    let facts = device().facts();
    println!("{facts:?}");
    assert!(facts.architecture.major >= 5 && facts.multiprocessors > 0 && !facts.name.is_empty());
    assert!(facts.shared_per_block >= 48 << 10 && facts.shared_per_multiprocessor >= facts.shared_per_block);
    assert!(facts.l2_bytes > 0 && facts.driver_version >= 12_000);
    let (free, total) = device().memory().unwrap();
    assert!(0 < free && free <= total && total <= facts.memory);
    assert_eq!(device(), Device::cuda(0).unwrap());
    assert!(ptr::eq(device().facts(), Device::cuda(0).unwrap().facts()));
    let count = Device::count().unwrap();
    assert_eq!(Device::cuda(count).unwrap_err(), CudaError::NoSuchDevice { ordinal: count, count });
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_round_trips_at_all_sizes() {
    let stream = stream();
    for size in SIZES {
        let records = numbers(size);
        let mut buffer = DeviceBuffer::from_slice(&stream, &records).unwrap();
        assert_eq!(buffer.to_vec(&stream).unwrap(), records);
        let copy = {
            let mut copy = DeviceBuffer::<u32>::zeroed(&stream, size).unwrap();
            assert_eq!(copy.to_vec(&stream).unwrap(), vec![0; size]);
            copy.as_slice_mut().copy_from_device(&stream, &buffer).unwrap();
            copy
        };
        buffer.as_slice_mut().fill_zero(&stream).unwrap();
        assert_eq!(copy.to_vec(&stream).unwrap(), records);
        assert_eq!(buffer.to_vec(&stream).unwrap(), vec![0; size]);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn sub_slices_are_their_part_and_no_more() {
    let stream = stream();
    let mut bytes: Vec<u8> = (0..251).collect();
    let mut buffer = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
    buffer.slice_mut(3..10).unwrap().copy_from(&stream, &[200; 7]).unwrap();
    bytes[3..10].fill(200);
    assert_eq!(buffer.to_vec(&stream).unwrap(), bytes);
    let part = buffer.slice(5..=100).unwrap().slice(7..).unwrap();
    let mut got = vec![0; part.len()];
    part.copy_to(&stream, &mut got).unwrap();
    assert_eq!(got, bytes[12..=100]);
    let (left, right) = buffer.as_slice_mut().split_at(100).unwrap();
    let from = right.as_slice().slice(..50).unwrap();
    left.slice(..50).unwrap().copy_from_device(&stream, &from).unwrap();
    bytes.copy_within(100..150, 0);
    assert_eq!(buffer.to_vec(&stream).unwrap(), bytes);
    assert!(matches!(buffer.slice(..252), Err(CudaError::Argument { .. })));
    assert!(matches!(buffer.slice_mut(..).unwrap().copy_from(&stream, &[1]), Err(CudaError::Argument { .. })));
}

#[test]
#[ignore = "needs a CUDA device"]
fn pinned_memory_is_copied_without_waiting_and_in_order() {
    let stream = stream();
    let size = 1 << 20;
    let from = PinnedBuffer::from_slice(&device(), &numbers(size)).unwrap();
    let mut to = PinnedBuffer::<u32>::new(&device(), size).unwrap();
    assert!(to.iter().all(|&number| number == 0));
    let (mut one, two) =
        (DeviceBuffer::uninitialized(&device(), size).unwrap(), DeviceBuffer::uninitialized(&device(), size).unwrap());
    spin(&stream, Duration::from_millis(20));
    // SAFETY: all four live until the stream was waited for, and nobody uses them before.
    unsafe { one.as_slice_mut().copy_from_async(&stream, &from) }.unwrap();
    add(&stream, &one, &two, 5);
    // SAFETY: as above.
    unsafe { two.as_slice().copy_to_async(&stream, &mut to) }.unwrap();
    stream.synchronize().unwrap();
    assert!(to.iter().zip(from.iter()).all(|(to, from)| *to == from.wrapping_add(5)));
}

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_run_in_owned_legacy_and_borrowed_streams() {
    let owner = stream();
    // SAFETY: `owner` outlives it.
    let borrowed = unsafe { Stream::from_raw(&device(), owner.raw()) }.unwrap();
    for stream in [owner.clone(), Stream::legacy(&device()).unwrap(), borrowed] {
        for size in SIZES {
            let records = numbers(size);
            let from = DeviceBuffer::from_slice(&stream, &records).unwrap();
            let to = DeviceBuffer::zeroed(&stream, size).unwrap();
            add(&stream, &from, &to, 3);
            let expected: Vec<u32> = records.iter().map(|number| number.wrapping_add(3)).collect();
            assert_eq!(to.to_vec(&stream).unwrap(), expected);
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_stream_waits_for_an_event_of_another() {
    let (first, second) = (stream(), stream());
    let size = 100_000;
    let from = DeviceBuffer::from_slice(&first, &numbers(size)).unwrap();
    let (middle, to) = (DeviceBuffer::zeroed(&first, size).unwrap(), DeviceBuffer::zeroed(&second, size).unwrap());
    let ready = Event::without_times(&device()).unwrap();
    spin(&first, Duration::from_millis(50));
    add(&first, &from, &middle, 1);
    ready.record(&first).unwrap();
    second.wait_for(&ready).unwrap();
    add(&second, &middle, &to, 1);
    let expected: Vec<u32> = numbers(size).iter().map(|number| number.wrapping_add(2)).collect();
    assert_eq!(to.to_vec(&second).unwrap(), expected);
}

#[test]
#[ignore = "needs a CUDA device"]
fn events_tell_times_and_waits_are_bounded() {
    let stream = stream();
    let (start, end) = (Event::new(&device()).unwrap(), Event::new(&device()).unwrap());
    assert_eq!(end.is_done(), Ok(true), "an event that marks nothing is done");
    // The kernels are loaded before the time is taken.
    spin(&stream, Duration::ZERO);
    start.record(&stream).unwrap();
    spin(&stream, Duration::from_millis(200));
    end.record(&stream).unwrap();
    assert_eq!(end.is_done(), Ok(false));
    let late = end.synchronize_within(Duration::from_millis(5), "the spinning kernel").unwrap_err();
    assert!(matches!(&late, CudaError::DidNotFinish { what, .. } if what == "the spinning kernel"), "{late}");
    end.synchronize_within(Duration::from_secs(10), "the spinning kernel").unwrap();
    let milliseconds = end.milliseconds_since(&start).unwrap();
    assert!((150.0..2_000.0).contains(&milliseconds), "{milliseconds} ms");
    stream.synchronize().unwrap();
}

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
    // Another cubin in the place of this one shows that it is read and not linked.
    let whole = fs::read(file("add")).unwrap();
    fs::copy(file("plus"), file("add")).unwrap();
    Module::from_ptx(&device(), PTX, Some(&cache("add"))).unwrap().kernel("plus").unwrap();
    // A damaged one is linked and written anew.
    fs::write(file("add"), &whole[..whole.len() - 1]).unwrap();
    Module::from_ptx(&device(), PTX, Some(&cache("add"))).unwrap().kernel("add").unwrap();
    assert!(fs::read(file("add")).unwrap().len() == whole.len());
}

#[test]
#[ignore = "needs a CUDA device"]
fn workspaces_belong_to_a_stream_and_a_layout() {
    let (one, other) = (stream(), stream());
    let lease = |stream: &Stream, key| Workspace::lease(stream, key, 1000).unwrap();
    let first = lease(&one, 1);
    assert!(first.address() % 256 == 0 && first.states() == first.address() + 64 && first.state_bytes() >= 1000);
    assert_eq!(first.address(), lease(&one, 1).address());
    assert_eq!(first.leases(), 2);
    assert_ne!(first.address(), lease(&one, 2).address());
    assert_ne!(first.address(), lease(&other, 1).address());
    bump(&one, &first, 0);
    bump(&one, &lease(&one, 1), 0);
    let header = first.report().unwrap().wait().unwrap();
    assert_eq!(header, Header { ticket: 2, epoch: 2, ..Header::default() });
    // A larger one is new, and starts from zeros.
    let grown = Workspace::lease(&one, 1, 1 << 20).unwrap();
    one.synchronize().unwrap();
    assert_ne!(grown.address(), first.address());
    assert_eq!(grown.header().unwrap(), Header::default());
    bump(&one, &grown, 0);
    grown.zero().unwrap();
    assert_eq!(grown.report().unwrap().wait().unwrap(), Header::default());
    assert_eq!(grown.leases(), 1);
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_workspace_in_which_a_kernel_failed_is_zeroed() {
    let stream = stream();
    let failed = Workspace::lease(&stream, 1, 1000).unwrap();
    bump(&stream, &failed, 7);
    let report = failed.report().unwrap();
    // What was launched before anybody knew of the failure sees it too.
    let next = Workspace::lease(&stream, 1, 1000).unwrap();
    let seen = next.report().unwrap();
    assert_eq!(report.wait().unwrap().error, 7);
    assert_eq!(seen.wait_within(Duration::from_secs(10), "a copy").unwrap().error, 7);
    let fresh = Workspace::lease(&stream, 1, 1000).unwrap();
    assert_eq!(fresh.address(), failed.address());
    assert_eq!(fresh.report().unwrap().wait().unwrap(), Header::default());
}

#[test]
#[ignore = "needs a CUDA device"]
fn reports_that_nobody_waits_for_do_not_overwrite_others() {
    let (slow, fast) = (stream(), stream());
    let (one, other) = (Workspace::lease(&slow, 1, 64).unwrap(), Workspace::lease(&fast, 1, 64).unwrap());
    spin(&slow, Duration::from_millis(50));
    bump(&slow, &one, 9);
    drop(one.report().unwrap());
    let report = other.report().unwrap();
    slow.synchronize().unwrap();
    assert_eq!(report.wait().unwrap(), Header::default());
}

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
        assert!(matches!(workspace.report(), Err(CudaError::Argument { .. })));
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
    let error = Graph::capture(&stream, || Err(CudaError::KernelFailed { what: "this".into() })).unwrap_err();
    assert_eq!(error, CudaError::KernelFailed { what: "this".into() });
    let panics = std::panic::AssertUnwindSafe(|| Graph::capture::<CudaError>(&stream, || panic!("in a capture")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert!(!stream.is_capturing().unwrap());
    stream.synchronize().unwrap();
}

#[test]
#[ignore = "needs a CUDA device"]
fn too_little_memory_is_an_error() {
    let absurd = DeviceBuffer::<u8>::uninitialized(&device(), 1 << 50).unwrap_err();
    println!("{absurd}");
    assert!(matches!(absurd, CudaError::OutOfMemory { bytes, total, .. } if bytes == 1 << 50 && total > 0));
    // As much as the device has, part of which is taken.
    let all = DeviceBuffer::<u8>::uninitialized(&device(), device().facts().memory).unwrap_err();
    println!("{all}");
    assert!(matches!(all, CudaError::OutOfMemory { .. }));
    let beyond = DeviceBuffer::<u64>::uninitialized(&device(), usize::MAX).unwrap_err();
    assert!(matches!(beyond, CudaError::OutOfMemory { .. }));
    let workspace = Workspace::lease(&stream(), 1, usize::MAX).unwrap_err();
    assert!(matches!(workspace, CudaError::OutOfMemory { .. }));
    assert!(DeviceBuffer::<u8>::uninitialized(&device(), 1 << 20).is_ok());
}

#[test]
#[ignore = "needs a CUDA device"]
fn eight_threads_use_a_device_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            scope.spawn(move || {
                let stream = stream();
                for round in 0..50 {
                    let size = 1000 * round as usize + thread as usize;
                    let from = DeviceBuffer::from_slice(&stream, &numbers(size)).unwrap();
                    let to = DeviceBuffer::zeroed(&stream, size).unwrap();
                    let workspace = Workspace::lease(&stream, 1, 100).unwrap();
                    add(&stream, &from, &to, thread);
                    bump(&stream, &workspace, 0);
                    assert_eq!(workspace.report().unwrap().wait().unwrap().epoch, round + 1);
                    let expected: Vec<u32> = numbers(size).iter().map(|number| number.wrapping_add(thread)).collect();
                    assert_eq!(to.to_vec(&stream).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_current_context_of_another_library_stays_current() {
    let stream = stream();
    let mut foreign = ptr::null_mut();
    let mut handle = 0;
    let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let current = || {
        let mut current = ptr::null_mut();
        // SAFETY: `current` is a place for the result.
        assert_eq!(unsafe { sys::cuCtxGetCurrent(&mut current) }, sys::CUresult::CUDA_SUCCESS);
        current
    };
    // SAFETY: all are places for results; other tests' captures do not matter to this thread.
    unsafe {
        sys::cuThreadExchangeStreamCaptureMode(&mut mode).result().unwrap();
        sys::cuDeviceGet(&mut handle, 0).result().unwrap();
        sys::cuCtxCreate_v2(&mut foreign, 0, handle).result().unwrap();
    }
    assert_eq!(current(), foreign);
    assert_eq!(DeviceBuffer::from_slice(&stream, &[1u8, 2]).unwrap().to_vec(&stream).unwrap(), [1, 2]);
    assert!(matches!(Module::link(&device(), "nonsense"), Err(CudaError::Refused { .. })));
    assert_eq!(current(), foreign);
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is a place for the result; the stream is destroyed with its context, after its last use.
    let borrowed = unsafe {
        sys::cuStreamCreate(&mut raw, 0).result().unwrap();
        Stream::from_raw(&device(), raw)
    };
    assert!(matches!(borrowed, Err(CudaError::Argument { .. })), "a stream of another context");
    // SAFETY: it was made above.
    unsafe { sys::cuCtxDestroy_v2(foreign).result().unwrap() };
}

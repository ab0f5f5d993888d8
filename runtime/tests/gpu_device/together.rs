//! Scans at the same moment: on two devices, in many streams, and beside a kernel that holds most
//! of a device.

use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use monoscan_runtime::cuda::{Device, DeviceBuffer, Module, Stream};
use monoscan_runtime::gpu::Pending;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan};

use crate::on_device::{numbers, solved};
use crate::subject::device;
use scan_kit::programs::{RECURRENCE, parse};

/// A line of records on a device, which may be scanned again and again.
struct Line {
    scan: DynScan,
    stream: Stream,
    from: DeviceBuffer<u32>,
    to: DeviceBuffer<u32>,
    call: Call<'static>,
    expected: Vec<u32>,
}

impl Line {
    /// So many records, others than those of lines of other lengths. Once this returns, the kernel and all memory that a scan
    /// needs are there.
    fn new(device: &Device, count: usize, reversed: bool) -> Line {
        let (scan, stream) =
            (DynScan::builder(parse(RECURRENCE)).device(device).build().unwrap(), Stream::new(device).unwrap());
        let mut x: Vec<u32> = numbers(count).iter().map(|x| x.wrapping_add(count as u32)).collect();
        let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
        let to = DeviceBuffer::zeroed(&stream, count).unwrap();
        let call = Call { reversed, ..Call::default() };
        let mut expected = Vec::new();
        if reversed {
            x.reverse();
            expected.extend(solved(&x, 0).into_iter().rev());
        } else {
            expected.extend(solved(&x, 0));
        }
        let mut line = Line { scan, stream, from, to, call, expected };
        line.start().wait().unwrap();
        line.check("alone");
        line
    }

    /// Scans it into an output that holds zeros.
    fn start(&mut self) -> Pending {
        self.to.as_slice_mut().fill_zero(&self.stream).unwrap();
        let (inputs, outputs) =
            ([Column::on_device::<u32>(&self.from)], &mut [ColumnMut::on_device::<u32>(&mut self.to)]);
        self.scan.submit(&self.call, &inputs, outputs, &self.stream).unwrap()
    }

    fn check(&self, when: &str) {
        assert!(self.to.to_vec(&self.stream).unwrap() == self.expected, "{} records {when}", self.expected.len());
    }
}

/// On a machine with one device, the second one is missing, and this shows nothing.
#[test]
#[ignore = "needs two CUDA devices"]
fn two_devices_at_the_same_moment() {
    if Device::count().unwrap() < 2 {
        println!("there is one device only");
        return;
    }
    let lines = [0, 1].map(|ordinal| Line::new(&Device::cuda(ordinal).unwrap(), (1 << 20) + 17 * ordinal, false));
    let moment = Barrier::new(lines.len());
    thread::scope(|threads| {
        for (ordinal, mut line) in lines.into_iter().enumerate() {
            let moment = &moment;
            threads.spawn(move || {
                moment.wait();
                for round in 0..50 {
                    let all: Vec<Pending> = (0..20).map(|_| line.start()).collect();
                    all.iter().for_each(|pending| drop(pending.wait().unwrap()));
                    line.check(&format!("on device {ordinal} in round {round}"));
                }
            });
        }
    });
}

/// Together the launches have many times the blocks that the device runs at once, and nobody waits before all are given.
#[test]
#[ignore = "needs a CUDA device"]
fn many_launches_in_each_of_many_streams() {
    let counts = (0..16).map(|stream| 100 + (stream * stream * 20_011));
    let mut lines: Vec<Line> = counts.map(|count| Line::new(&device(), count, count % 3 == 0)).collect();
    for round in 0..5 {
        let mut all = Vec::new();
        for _ in 0..20 {
            all.extend(lines.iter_mut().map(Line::start));
        }
        all.iter().for_each(|pending| drop(pending.wait().unwrap()));
        lines.iter().for_each(|line| line.check(&format!("in round {round}")));
    }
}

/// After this time multiprocessors are free again, whatever a test does.
const MOST_HELD: Duration = Duration::from_secs(20);

/// A kernel whose blocks hold a multiprocessor each, since each wants all of its shared memory.
struct Hold {
    /// Whether it may end, and how many blocks run.
    words: DeviceBuffer<u32>,
    aside: Stream,
    _alone: MutexGuard<'static, ()>,
}

impl Hold {
    /// Takes so many multiprocessors, and returns when it has them.
    fn new(multiprocessors: u32) -> Hold {
        // Two of them would wait for each other.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let [stream, aside] = [(); 2].map(|()| Stream::new(&device()).unwrap());
        let words = DeviceBuffer::<u32>::zeroed(&stream, 2).unwrap();
        stream.synchronize().unwrap();
        static MODULE: OnceLock<Module> = OnceLock::new();
        let module = MODULE.get_or_init(|| Module::from_ptx(&device(), include_str!("hold.ptx"), None).unwrap());
        let (hold, shared) = (module.kernel("hold").unwrap(), device().facts().shared_per_block);
        hold.allow_shared(shared).unwrap();
        let count = MOST_HELD.as_nanos() as u64;
        let argument = [words.address(), words.address() + 4, count, 1];
        // SAFETY: the words are freed after the device's work, and the module stays loaded.
        unsafe { hold.launch(&stream, multiprocessors, 1, shared, bytemuck::bytes_of(&argument)) }.unwrap();
        let began = Instant::now();
        while words.to_vec(&aside).unwrap()[1] != multiprocessors {
            assert!(began.elapsed() < MOST_HELD, "blocks that hold a multiprocessor each do not run");
        }
        Hold { words, aside, _alone }
    }

    fn release(mut self) {
        self.words.slice_mut(..1).unwrap().copy_from(&self.aside, &[1]).unwrap();
    }
}

/// Blocks of a scan that do not run hold nobody up: those that do take all tiles.
#[test]
#[ignore = "needs a CUDA device"]
fn a_scan_beside_a_kernel_that_holds_most_multiprocessors() {
    for reversed in [false, true] {
        let mut line = Line::new(&device(), (1 << 22) + 5, reversed);
        for free in [4, 1] {
            // As below, tests beside this one may make everybody wait.
            let was_beside = (0..10).any(|_| {
                let (hold, began) = (Hold::new(device().facts().multiprocessors - free), Instant::now());
                line.start().wait().unwrap();
                let was_beside = began.elapsed() < MOST_HELD / 2;
                hold.release();
                line.check(&format!("on {free} multiprocessors, reversed: {reversed}"));
                was_beside
            });
            assert!(was_beside, "the scan waited for a kernel that leaves {free} multiprocessors");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_scan_behind_a_kernel_that_holds_all_multiprocessors() {
    let mut line = Line::new(&device(), (1 << 22) + 5, false);
    // Tests beside this one load modules, for which the driver waits until the kernel has ended, and everybody else with it.
    let was_held = (0..10).any(|_| {
        let (hold, began) = (Hold::new(device().facts().multiprocessors), Instant::now());
        let pending = line.start();
        let is_done = pending.is_done().unwrap();
        let was_held = began.elapsed() < MOST_HELD / 2;
        assert!(!(is_done && was_held), "the scan is done, and the multiprocessors were held");
        hold.release();
        pending.wait().unwrap();
        line.check("after all multiprocessors were held");
        was_held
    });
    assert!(was_held, "the multiprocessors were not held");
}

//! How often a call asks the driver: on the host, that is most of what a short scan costs.

use monoscan_ir::{Layout, Mode};
use scan_kit::programs;

use super::totals::Totals;
use crate::DynScan;
use crate::call::{Call, Init, Rows, Shape};
use crate::column::{Column, ColumnMut};
use crate::cuda::{DeviceBuffer, Stream, fake};
use crate::device_memory::DeviceMemory;

const LEN: usize = 1 << 16;

/// The calls of the driver that every call makes: it looks which context is current, makes its own so and gives the other back,
/// asks whether the stream is captured, launches, and marks the place behind.
const LAUNCH: [(&str, usize); 6] = [
    ("cuCtxGetCurrent", 1),
    ("cuCtxPopCurrent_v2", 1),
    ("cuCtxPushCurrent_v2", 1),
    ("cuEventRecord", 1),
    ("cuLaunchKernel", 1),
    ("cuStreamIsCapturing", 1),
];

/// The driver's calls for the third call of a scan, the first ones being those that make things.
fn calls_of(program: &str, call: &Call<'_>, waits: bool) -> Vec<(&'static str, usize)> {
    let device = fake::device();
    let stream = Stream::new(&device).unwrap();
    let input = DeviceBuffer::<u64>::uninitialized(&device, LEN).unwrap();
    let mut output = DeviceBuffer::<u64>::uninitialized(&device, LEN).unwrap();
    let scan = DynScan::builder(programs::parse(program)).device(device).build().unwrap();
    let mut give = || {
        let given = scan.submit(call, &[Column::on_device(&input)], &mut [ColumnMut::on_device(&mut output)], &stream);
        let given = given.unwrap();
        if waits {
            given.wait().unwrap();
        }
    };
    give();
    give();
    fake::calls(give)
}

fn rows() -> Shape<'static> {
    Shape::Rows(Rows::new(LEN / 64, 64, 64).unwrap())
}

#[test]
fn a_call_that_is_not_waited_for_is_one_launch_and_one_event() {
    let init = [7u64.into(), 10u64.into()];
    let calls = [
        Call::default(),
        Call { mode: Mode::Exclusive, init: Init::Same(&init), ..Call::default() },
        Call { reversed: true, ..Call::default() },
        Call { shape: rows(), ..Call::default() },
    ];
    for call in &calls {
        assert_eq!(calls_of(programs::DIGITS, call, false), LAUNCH, "{call:?}");
    }
}

#[test]
fn totals_come_to_the_host_with_faults() {
    let calls = |program: &str, call: &Call<'_>, copies| {
        let waited =
            [("cuEventSynchronize", 1), ("cuMemcpyDtoHAsync_v2", copies), ("cuThreadExchangeStreamCaptureMode", 2)];
        let mut expected: Vec<_> = LAUNCH.into_iter().chain(waited).filter(|(_, count)| *count > 0).collect();
        // Who waits looks again which context is current.
        expected.iter_mut().filter(|(name, _)| name.starts_with("cuCtx")).for_each(|(_, count)| *count = 2);
        expected.sort();
        assert_eq!(calls_of(program, call, true), expected, "{call:?}");
    };
    // The kernel writes both to memory of the host.
    calls(&programs::odd_digits(), &Call::default(), 0);
    calls(programs::DIGITS, &Call { totals: true, ..Call::default() }, 0);
    // More than fit in a header are copied, and the header with them.
    calls(programs::DIGITS, &Call { totals: true, shape: rows(), ..Call::default() }, 2);
}

#[test]
fn totals_that_stay_on_the_device_ask_once_which_context_is_current() {
    let device = fake::device();
    let stream = Stream::new(&device).unwrap();
    let program = programs::parse(programs::DIGITS);
    let column = |bytes| DeviceMemory::uninitialized(&stream, bytes).unwrap();
    let (x, offsets, mut to) = (column(8 * LEN), column(4 * (LEN + 1)), column(16 * LEN));
    let of = Totals::new(&device, &program, None, &Layout::packed(&program.stages[0].state)).unwrap();
    // SAFETY: nothing runs.
    let mut give = || unsafe { of.submit((&[&x], None), (&offsets, LEN + 1), LEN, &mut to) }.unwrap();
    give();
    // Two launches and the memory between them each ask whether the stream is captured.
    let expected = [
        ("cuCtxGetCurrent", 1),
        ("cuCtxPopCurrent_v2", 1),
        ("cuCtxPushCurrent_v2", 1),
        ("cuLaunchKernel", 2),
        ("cuStreamIsCapturing", 5),
    ];
    assert_eq!(fake::calls(give), expected);
}

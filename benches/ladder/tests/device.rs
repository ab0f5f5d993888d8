//! Every rung of the ladder on a device, around its tiles and over many of them, twice in one
//! workspace, and in a graph.

use std::time::Duration;

use gpu_ladder::{ColumnsError, LadderError, LadderScan, Rung};
use monoscan_runtime::cuda::{Device, DeviceBuffer, Graph, Stream};
use scan_kit::programs::{RECURRENCE, parse};

/// The results of [`RECURRENCE`].
fn solved(x: &[u32]) -> Vec<u32> {
    let mut y = 0u32;
    let step = |&x: &u32| {
        y = y.wrapping_mul(3).wrapping_add(x);
        y
    };
    x.iter().map(step).collect()
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect()
}

fn device() -> Device {
    Device::cuda(0).expect("these tests need a device")
}

fn scan(source: &str, rung: Rung) -> Result<LadderScan, LadderError> {
    let program = parse(source);
    LadderScan::new(&program, rung, &device(), Duration::from_secs(10))
}

/// The recurrence by each rung that this device has.
fn each_rung(mut test: impl FnMut(Rung, LadderScan)) {
    for rung in Rung::ALL {
        match scan(RECURRENCE, rung) {
            Ok(by_rung) => test(rung, by_rung),
            Err(LadderError::Unfit(why)) if rung == Rung::Ring => println!("{rung}: {why}"),
            Err(error) => panic!("{rung}: {error}"),
        }
    }
}

fn bytes(x: &[u32]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_of_few_and_of_many_tiles() {
    let stream = Stream::new(&device()).unwrap();
    each_rung(|rung, scan| {
        let tile = scan.kernels().tile;
        for count in [0, 1, 31, 33, tile - 1, tile, tile + 1, 5 * tile + 7, 300 * tile + 5, (1 << 22) + 3] {
            let x = numbers(count);
            let from = DeviceBuffer::from_slice(&stream, &bytes(&x)).unwrap();
            let mut to = DeviceBuffer::<u8>::zeroed(&stream, 4 * count).unwrap();
            for time in ["first", "second"] {
                to.as_slice_mut().fill_zero(&stream).unwrap();
                scan.call(&[&from], &mut [&mut to], &stream).unwrap().wait().unwrap();
                assert!(to.to_vec(&stream).unwrap() == bytes(&solved(&x)), "{rung}, {count} records, the {time} time");
            }
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn launches_of_a_rung_are_a_graph() {
    let stream = Stream::new(&device()).unwrap();
    let x = numbers(1_000_003);
    let from = DeviceBuffer::from_slice(&stream, &bytes(&x)).unwrap();
    each_rung(|rung, scan| {
        let mut to = DeviceBuffer::<u8>::zeroed(&stream, 4 * x.len()).unwrap();
        let mut pending = None;
        let graph = Graph::capture::<LadderError>(&stream, || {
            pending = Some(scan.call(&[&from], &mut [&mut to], &stream)?);
            Ok(())
        })
        .unwrap();
        for _ in 0..3 {
            to.as_slice_mut().fill_zero(&stream).unwrap();
            // SAFETY: the buffers live until the stream was waited for.
            unsafe { graph.launch(&stream) }.unwrap();
            assert!(to.to_vec(&stream).unwrap() == bytes(&solved(&x)), "{rung}");
            pending.as_ref().unwrap().wait().unwrap();
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_a_rung_does_not_do_is_refused() {
    let stream = Stream::new(&device()).unwrap();
    let keep = "filter (%0 = record.0: u32) {\n %1 = const.u32 5\n %2 = gt.bool %0, %1\n return %2 }\n    project";
    let keeps = RECURRENCE.replace("write", "emit").replace("project", keep);
    assert!(matches!(scan(&keeps, Rung::Chained), Err(LadderError::Unfit(_))));
    let scan = scan(RECURRENCE, Rung::Chained).unwrap();
    let from = DeviceBuffer::<u8>::zeroed(&stream, 400).unwrap();
    let mut to = DeviceBuffer::<u8>::zeroed(&stream, 400).unwrap();
    let (from, mut to) = (from.slice(4..200).unwrap(), to.slice_mut(4..200).unwrap());
    let refused = scan.call(&[&from], &mut [&mut to], &stream);
    assert!(matches!(refused, Err(LadderError::Columns(ColumnsError::Unaligned { .. }))));
}

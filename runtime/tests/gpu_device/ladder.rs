//! Every rung of the ladder on a device, around its tiles and over many of them, twice in one workspace, and in a graph.

use monoscan_codegen::nvptx::ladder::Rung;
use monoscan_runtime::Error;
use monoscan_runtime::cuda::{CudaError, DeviceBuffer, Graph, Stream};
use monoscan_runtime::gpu::{DeviceColumn, DeviceColumnMut, GpuScan, LadderScan};

use crate::on_device::{numbers, solved};
use crate::subject::device;
use scan_kit::programs::{RECURRENCE, odd_digits, parse};

/// The recurrence by each rung that this device has.
fn each_rung(mut test: impl FnMut(Rung, LadderScan)) {
    let scan = GpuScan::new(parse(RECURRENCE), &device()).unwrap();
    for rung in Rung::ALL {
        match scan.by_rung(rung) {
            Ok(by_rung) => test(rung, by_rung),
            Err(Error::Nvptx(why)) if rung == Rung::Ring => println!("{rung}: {why}"),
            Err(error) => panic!("{rung}: {error}"),
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_of_few_and_of_many_tiles() {
    let stream = Stream::new(&device()).unwrap();
    each_rung(|rung, scan| {
        let tile = scan.kernels().tile;
        for count in [0, 1, 31, 33, tile - 1, tile, tile + 1, 5 * tile + 7, 300 * tile + 5, (1 << 22) + 3] {
            let x = numbers(count);
            let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
            let mut to = DeviceBuffer::<u32>::zeroed(&stream, count).unwrap();
            for time in ["first", "second"] {
                to.as_slice_mut().fill_zero(&stream).unwrap();
                let (inputs, outputs) =
                    ([DeviceColumn::new::<u32>(&from)], &mut [DeviceColumnMut::new::<u32>(&mut to)]);
                scan.call(&inputs, outputs, &stream).unwrap().wait().unwrap();
                assert!(to.to_vec(&stream).unwrap() == solved(&x, 0), "{rung}, {count} records, the {time} time");
            }
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn launches_of_a_rung_are_a_graph() {
    let stream = Stream::new(&device()).unwrap();
    let x = numbers(1_000_003);
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    each_rung(|rung, scan| {
        let mut to = DeviceBuffer::<u32>::zeroed(&stream, x.len()).unwrap();
        let mut pending = None;
        let graph = Graph::capture::<Error>(&stream, || {
            let (inputs, outputs) = ([DeviceColumn::new::<u32>(&from)], &mut [DeviceColumnMut::new::<u32>(&mut to)]);
            pending = Some(scan.call(&inputs, outputs, &stream)?);
            Ok(())
        })
        .unwrap();
        for _ in 0..3 {
            to.as_slice_mut().fill_zero(&stream).unwrap();
            // SAFETY: the buffers live until the stream was waited for.
            unsafe { graph.launch(&stream) }.unwrap();
            assert!(to.to_vec(&stream).unwrap() == solved(&x, 0), "{rung}");
            pending.as_ref().unwrap().wait().unwrap();
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_a_rung_does_not_do_is_refused() {
    let stream = Stream::new(&device()).unwrap();
    let keeps = GpuScan::new(parse(&odd_digits()), &device()).unwrap();
    assert!(matches!(keeps.by_rung(Rung::Chained), Err(Error::Nvptx(_))));
    let scan = GpuScan::new(parse(RECURRENCE), &device()).unwrap().by_rung(Rung::Chained).unwrap();
    let from = DeviceBuffer::<u32>::zeroed(&stream, 100).unwrap();
    let mut to = DeviceBuffer::<u32>::zeroed(&stream, 100).unwrap();
    let (from, mut to) = (from.slice(1..50).unwrap(), to.slice_mut(1..50).unwrap());
    let refused = scan.call(&[DeviceColumn::new::<u32>(&from)], &mut [DeviceColumnMut::new::<u32>(&mut to)], &stream);
    assert!(matches!(refused, Err(Error::Cuda(CudaError::Argument { argument: "a column's address", .. }))));
}

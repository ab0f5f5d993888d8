//! Floats that are rounded the same way in every run, graphs, and several streams.

use std::thread;

use monoscan_runtime::cuda::{DeviceBuffer, Graph, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error};

use crate::subject::device;
use scan_kit::programs::parse;

const SUM: &str = "
program float_sum
  input { size 4, align 4, f32 @ 0 }
  stage (f32)
    identity (-0.0)
    lift (%0 = record.0: f32) { return %0 }
    combine (%0: f32, %1: f32) {
      %2 = add.f32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, f32 @ 0 }
    project (%0 = state.0: f32) { return %0 }
";

fn sum() -> DynScan {
    DynScan::builder(parse(SUM)).device(device()).build().unwrap()
}

fn floats(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 65536.0 - 100.0).collect()
}

fn scanned(scan: &DynScan, from: &DeviceBuffer<f32>, stream: &Stream) -> Vec<f32> {
    let mut to = DeviceBuffer::<f32>::zeroed(stream, from.len()).unwrap();
    let (inputs, outputs) = ([Column::on_device::<f32>(from)], &mut [ColumnMut::on_device::<f32>(&mut to)]);
    scan.submit(&Call::default(), &inputs, outputs, stream).unwrap().wait().unwrap();
    to.to_vec(stream).unwrap()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
#[ignore = "needs a CUDA device"]
fn floats_are_the_same_in_a_hundred_runs() {
    let (scan, stream) = (sum(), Stream::new(&device()).unwrap());
    let x = floats(3_000_017);
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let first = scanned(&scan, &from, &stream);
    let mut exact = 0f64;
    for (place, (&x, &y)) in x.iter().zip(&first).enumerate() {
        exact += f64::from(x);
        assert!((f64::from(y) - exact).abs() <= 1e-3 * (1.0 + place as f64), "{y} for {exact} at {place}");
    }
    for run in 1..100 {
        assert!(bits(&scanned(&scan, &from, &stream)) == bits(&first), "run {run}");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_graph_scans_what_is_there_when_it_is_launched() {
    let (scan, stream) = (sum(), Stream::new(&device()).unwrap());
    let x = floats(500_000);
    let mut from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let mut to = DeviceBuffer::<f32>::zeroed(&stream, x.len()).unwrap();
    let expected = scanned(&scan, &from, &stream);
    let mut pending = None;
    let graph = Graph::capture::<Error>(&stream, || {
        let (inputs, outputs) = ([Column::on_device::<f32>(&from)], &mut [ColumnMut::on_device::<f32>(&mut to)]);
        let call = Call { totals: true, ..Call::default() };
        pending = Some(scan.submit(&call, &inputs, outputs, &stream)?);
        Ok(())
    })
    .unwrap();
    for _ in 0..5 {
        // SAFETY: the buffers live until the stream was waited for.
        unsafe { graph.launch(&stream) }.unwrap();
        assert!(bits(&to.to_vec(&stream).unwrap()) == bits(&expected));
        // A total is combined in another order than the last output.
        let total = f32::from_bits(pending.as_ref().unwrap().wait().unwrap().totals[0].bits() as u32);
        let last = expected[x.len() - 1];
        assert!((total - last).abs() <= 1e-3 * last.abs().max(1.0), "{total} for {last}");
    }
    from.as_slice_mut().copy_from(&stream, &vec![1.0; x.len()]).unwrap();
    // SAFETY: as above.
    unsafe { graph.launch(&stream) }.unwrap();
    assert_eq!(to.to_vec(&stream).unwrap()[x.len() - 1], x.len() as f32);
}

#[test]
#[ignore = "needs a CUDA device"]
fn many_streams_at_once() {
    let scan = sum();
    let expected = {
        let stream = Stream::new(&device()).unwrap();
        let from = DeviceBuffer::from_slice(&stream, &floats(200_000)).unwrap();
        bits(&scanned(&scan, &from, &stream))
    };
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let stream = Stream::new(&device()).unwrap();
                let from = DeviceBuffer::from_slice(&stream, &floats(200_000)).unwrap();
                for _ in 0..50 {
                    assert!(bits(&scanned(&scan, &from, &stream)) == expected);
                }
            });
        }
    });
}

//! On a device: columns there whose records are not one after the other, beside those of slices on
//! the CPU.

use monoscan::cuda::{Graph, Stream};
use monoscan::{Strided, StridedMut};

use super::on_gpu::{columns, gpu};
use super::*;

#[test]
#[ignore = "needs a CUDA device"]
fn every_spacing_of_device_columns_and_graphs_of_them() {
    let cpu = solve();
    let scan = cpu.on(gpu()).unwrap();
    assert!(scan.explain().contains("gathered before"), "{}", scan.explain());
    for len in [1, 3, 1000, 70_001, 1_000_000] {
        let (a, b) = columns(len);
        let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
        for (start, step) in [(0, 1), (0, 3), (len - 1, -1), (len - 1, -2), (len / 2, 2)] {
            let (of_a, of_b) = (Strided::new(&a, start, step).unwrap(), Strided::repeated(&b[len / 2], len));
            let some = of_a.len();
            let expected = cpu.inclusive((of_a, of_b.take(some))).unwrap();
            let columns = || (da.strided(start, step).unwrap(), db.repeated(len / 2, len).unwrap().take(some));
            assert_eq!(scan.inclusive(columns()).unwrap().to_vec().unwrap(), expected, "{len} {start} {step}");
            assert_eq!(scan.reduce(columns()).unwrap(), cpu.reduce((of_a, of_b.take(some))).unwrap());
            let mut host = vec![9u32; len];
            cpu.inclusive_into((of_a, of_b.take(some)), StridedMut::new(&mut host, start, step).unwrap()).unwrap();
            let mut out = scan.upload(&vec![9u32; len]).unwrap();
            let done = scan.inclusive_into(columns(), out.strided_mut(start, step).unwrap()).unwrap();
            assert_eq!(done.wait().unwrap(), some);
            assert_eq!(out.to_vec().unwrap(), host, "{len} {start} {step}");
        }
        assert!(da.strided(len + 1, 1).is_err() && da.strided(0, 0).is_err() && da.repeated(len, 1).is_err());
    }
    let stream = Stream::new(gpu().as_cuda().unwrap()).unwrap();
    let (a, b) = columns(10_000);
    let (da, db) = (scan.upload(&a).unwrap(), scan.upload(&b).unwrap());
    let mut out = scan.upload(&vec![9u32; 10_000]).unwrap();
    let graph = Graph::capture(&stream, || {
        let columns = (da.strided(9_999, -2)?, db.strided(0, 2)?);
        scan.in_stream(&stream).inclusive_into(columns, out.strided_mut(1, 2)?).map(drop)
    });
    let graph = graph.unwrap();
    // SAFETY: the columns live until the stream was waited for, and nobody else uses them.
    (0..2).for_each(|_| unsafe { graph.launch(&stream) }.unwrap());
    stream.synchronize().unwrap();
    let mut host = vec![9u32; 10_000];
    let columns = (Strided::new(&a, 9_999, -2).unwrap(), Strided::new(&b, 0, 2).unwrap());
    cpu.inclusive_into(columns, StridedMut::new(&mut host, 1, 2).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), host);
}

//! Lines of transducers, which go by chunks: in both directions, at odd addresses, beyond the
//! numbers of 32 bits; and calls that do not, in place and exclusive, on the same scan.

use monoscan_ir::{Layout, Mode, Type};
use monoscan_runtime::cuda::{DeviceBuffer, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Transducer};

use crate::subject::device;
use scan_kit::programs::parse;

/// The sum of all bytes up to each, modulo 4.
const RESIDUES: &str = "
program residues
  input { size 1, align 1, u8 @ 0 }
  stage (u8)
    identity (0)
    lift (%0 = record.0: u8) {
      return %0
    }
    combine (%0: u8, %1: u8) {
      %2 = add.u8 %0, %1
      return %2
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u8) {
      %1 = const.u8 3
      %2 = and.u8 %0, %1
      return %2
    }
";

/// The same as an automaton of four states, from the end of a text or over symbols from the first on.
fn residues(from_end: bool) -> DynScan {
    let class_of = from_end.then(|| std::array::from_fn(|byte| byte as u8 % 4));
    let cells: Vec<u16> = (0..4).flat_map(|symbol| (0..4).map(move |state| (state + symbol) % 4)).collect();
    let transducer = Transducer { class_of, states: 4, symbols: 4, next: cells.clone(), output: cells };
    DynScan::builder(parse(RESIDUES)).device(device()).transducer(transducer).build().unwrap()
}

fn symbols(count: usize) -> Vec<u8> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 30) as u8).collect()
}

/// The results of the loop.
fn expected(symbols: &[u8], from_end: bool, exclusive: bool) -> Vec<u8> {
    let mut sum = 0u8;
    let mut step = |&symbol: &u8| {
        let before = sum;
        sum = sum.wrapping_add(symbol);
        (if exclusive { before } else { sum }) & 3
    };
    if !from_end {
        return symbols.iter().map(step).collect();
    }
    let mut residues: Vec<u8> = symbols.iter().rev().map(&mut step).collect();
    residues.reverse();
    residues
}

#[test]
#[ignore = "needs a CUDA device"]
fn transducers_give_what_a_loop_gives_in_every_call() {
    let stream = Stream::new(&device()).unwrap();
    let layout = Layout::of(Type::U8);
    for from_end in [false, true] {
        let scan = residues(from_end);
        assert!(scan.explain().contains("a thread for each chunk"), "{}", scan.explain());
        let call = Call { reversed: from_end, ..Call::default() };
        for (count, offset) in [(0, 0), (1, 0), (63, 0), (64, 16), (300_000, 0), (300_001, 3), (30_000_000, 0)] {
            let x = symbols(count);
            let bytes = [&vec![0xee; offset][..], &x].concat();
            let mut from = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
            let mut to = DeviceBuffer::from_slice(&stream, &vec![0xee; offset + count]).unwrap();
            for mode in [Mode::Inclusive, Mode::Exclusive] {
                let part = from.slice(offset..).unwrap();
                let mut written = to.slice_mut(offset..).unwrap();
                let outputs = &mut [ColumnMut::on_device_bytes(&mut written, &layout).unwrap()];
                let inputs = [Column::on_device_bytes(&part, &layout).unwrap()];
                scan.submit(&Call { mode, ..call.clone() }, &inputs, outputs, &stream).unwrap().wait().unwrap();
                let right = expected(&x, from_end, mode == Mode::Exclusive);
                let found = to.to_vec(&stream).unwrap();
                assert!(found[offset..] == right && found[..offset] == vec![0xee; offset], "{count} {mode:?}");
            }
            let mut part = from.slice_mut(offset..).unwrap();
            let columns = &mut [ColumnMut::on_device_bytes(&mut part, &layout).unwrap()];
            scan.submit_in_place(&call, columns, &stream).unwrap().wait().unwrap();
            assert!(from.to_vec(&stream).unwrap()[offset..] == expected(&x, from_end, false), "{count} in place");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_line_of_a_transducer_beyond_the_numbers_of_32_bits() {
    let stream = Stream::new(&device()).unwrap();
    let count = (1usize << 32) + 12_345;
    // Of bytes 0 with a 1 at each end and one in the middle, every residue tells how many of these there are so far.
    let mut from = DeviceBuffer::<u8>::zeroed(&stream, count).unwrap();
    for at in [0, count / 2, count - 1] {
        from.slice_mut(at..at + 1).unwrap().copy_from(&stream, &[1]).unwrap();
    }
    let mut to = DeviceBuffer::<u8>::zeroed(&stream, count).unwrap();
    for reversed in [false, true] {
        let call = Call { reversed, ..Call::default() };
        let (inputs, outputs) = ([Column::on_device::<u8>(&from)], &mut [ColumnMut::on_device::<u8>(&mut to)]);
        residues(reversed).submit(&call, &inputs, outputs, &stream).unwrap().wait().unwrap();
        for start in [0, count / 2 - 500, (1 << 32) - 500, count - 1000] {
            let mut found = vec![0u8; 1000];
            to.slice(start..start + 1000).unwrap().copy_to(&stream, &mut found).unwrap();
            let right = |i: usize| {
                let ones = [0, count / 2, count - 1];
                ones.into_iter().filter(|&one| if reversed { one >= i } else { one <= i }).count() as u8
            };
            assert!(found.iter().enumerate().all(|(i, &found)| found == right(start + i)), "at {start}");
        }
    }
}

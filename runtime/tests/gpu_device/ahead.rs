//! Kernels made ahead of time, through their texts, beside the same scans compiled for the call.

use monoscan_codegen::gpu::{AccessPattern, Arch};
use monoscan_codegen::nvptx::{AotFiles, compile_ahead};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Mode};
use monoscan_runtime::cuda::{DeviceBuffer, Stream};
use monoscan_runtime::gpu::{AotError, AotKernel};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, Init, Rows, Shape};

use crate::subject::device;
use scan_kit::programs;

fn ahead(form: Form, pattern: AccessPattern) -> DynScan {
    let facts = device().facts();
    let arch = Arch::for_capability(facts.architecture.major, facts.architecture.minor).unwrap();
    let program = programs::parse(programs::RECURRENCE);
    let AotFiles { ptx, manifest } = compile_ahead(&program, (form, true), pattern, arch).unwrap();
    let kernel = AotKernel::from_texts(ptx.leak(), manifest.to_string().leak());
    // SAFETY: both texts were just made together.
    unsafe { DynScan::from_kernels(device(), &[kernel]) }.unwrap()
}

fn agree(form: Form, pattern: AccessPattern, call: &Call<'_>) {
    let (ahead, stream) = (ahead(form, pattern), Stream::new(&device()).unwrap());
    let compiled = DynScan::builder(programs::parse(programs::RECURRENCE)).device(device()).build().unwrap();
    let x: Vec<u32> = (0..(1 << 20) + 12).map(|i: u32| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let [mut found, mut expected] = [(); 2].map(|()| DeviceBuffer::<u32>::zeroed(&stream, x.len()).unwrap());
    let inputs = &[Column::on_device::<u32>(&from)];
    let outcome = ahead.submit(call, inputs, &mut [ColumnMut::on_device::<u32>(&mut found)], &stream).unwrap().wait();
    let reference =
        compiled.submit(call, inputs, &mut [ColumnMut::on_device::<u32>(&mut expected)], &stream).unwrap().wait();
    assert_eq!(outcome.unwrap(), reference.unwrap());
    assert!(found.to_vec(&stream).unwrap() == expected.to_vec(&stream).unwrap(), "{form:?} {pattern:?} {call:?}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_from_texts_do_what_compiled_ones_do() {
    let init = [Constant::from(3u32), Constant::from(5u32)];
    let line = Call { totals: true, ..Call::default() };
    let exclusive = Form { mode: Mode::Exclusive, ..Form::default() };
    agree(Form::default(), AccessPattern::Aligned, &line);
    agree(exclusive, AccessPattern::Aligned, &Call { mode: Mode::Exclusive, ..line.clone() });
    agree(Form::default(), AccessPattern::Aligned, &Call { init: Init::Same(&init), ..line.clone() });
    agree(Form::default(), AccessPattern::Any, &Call { reversed: true, ..line.clone() });
    let rows = |axis| Shape::Rows(Rows::axis(&[1 << 10, 1 << 10], axis).unwrap());
    agree(Form::default(), AccessPattern::Any, &Call { shape: rows(1), ..line.clone() });
    agree(Form::default(), AccessPattern::Columnar, &Call { shape: rows(0), ..line });
}

#[test]
#[ignore = "needs a CUDA device"]
fn segments_are_those_of_the_flags() {
    let stream = Stream::new(&device()).unwrap();
    let flags: Vec<u8> = (0..(1 << 20) + 12).map(|i: u32| u8::from(i.is_multiple_of(1000))).collect();
    let flags = DeviceBuffer::from_slice(&stream, &flags).unwrap();
    let form = Form { heads: true, ..Form::default() };
    let shape = Shape::FlagColumn(&Column::on_device::<u8>(&flags));
    agree(form, AccessPattern::Any, &Call { shape, ..Call::default() });
    agree(form, AccessPattern::Any, &Call { shape, reversed: true, ..Call::default() });
}

#[test]
#[ignore = "needs a CUDA device"]
fn other_calls_are_refused() {
    let (ahead, stream) = (ahead(Form::default(), AccessPattern::Any), Stream::new(&device()).unwrap());
    let from = DeviceBuffer::<u32>::zeroed(&stream, 100).unwrap();
    let mut to = DeviceBuffer::<u32>::zeroed(&stream, 100).unwrap();
    let call = Call { mode: Mode::Exclusive, ..Call::default() };
    let outputs = &mut [ColumnMut::on_device::<u32>(&mut to)];
    let refused = ahead.submit(&call, &[Column::on_device::<u32>(&from)], outputs, &stream);
    assert!(matches!(refused, Err(Error::Aot(AotError::Call { .. }))));
}

#[test]
#[ignore = "needs a CUDA device"]
fn host_columns_take_the_same_kernels_piece_by_piece() {
    let program = || programs::parse(programs::RECURRENCE);
    let kernels = ahead(Form::default(), AccessPattern::Aligned);
    let on_cpu = DynScan::new(program()).unwrap();
    let x: Vec<u32> = (0..(9 << 20) + 12).map(|i: u32| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
    let inputs = &[Column::new(&x)];
    assert!(kernels.inclusive::<u32>(inputs).unwrap() == on_cpu.inclusive::<u32>(inputs).unwrap());
    assert!(matches!(kernels.reduce(&Call::default(), inputs), Err(Error::Aot(AotError::Call { .. }))));
    let mut carries = [(); 2].map(|()| program().first_carry());
    let [mut found, mut expected] = [(); 2].map(|()| vec![0u32; x.len()]);
    for (scan, carry, to) in [(&kernels, 0, &mut found), (&on_cpu, 1, &mut expected)] {
        scan.resume(&Call::default(), &mut carries[carry], inputs, &mut [ColumnMut::new(to)]).unwrap();
    }
    assert_eq!(carries[0], carries[1]);
    assert!(found == expected);
}

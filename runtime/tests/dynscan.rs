//! [`DynScan`] on what callers may hand it: odd addresses, wrong columns, programs that the engine does not run.

use scan_ir::interp::{self, Request};
use scan_ir::random::{Options, random_program};
use scan_ir::{Constant, Layout, Mode, Program, text, verify};
use scan_runtime::{Column, ColumnMut, DynScan, Error, PlanOptions, Stage};

const RUNNING_SUM: &str = "
program running_sum
  input { size 4, align 4, i32 @ 0 }
  stage (i32)
    identity (0)
    lift (%0 = record.0: i32) { return %0 }
    combine (%0: i32, %1: i32) {
      %2 = add.i32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, i32 @ 0 }
    project (%0 = state.0: i32) { return %0 }
";

fn parse(source: &str) -> Program {
    text::parse(source).unwrap()
}

fn running_sum() -> DynScan {
    DynScan::new(verify(parse(RUNNING_SUM)).unwrap()).unwrap()
}

#[test]
fn nothing_in_gives_nothing_out() {
    assert!(running_sum().inclusive::<i32>(&[Column::new::<i32>(&[])]).unwrap().is_empty());
    assert!(running_sum().exclusive::<i32>(&[Column::new::<i32>(&[])]).unwrap().is_empty());
}

#[test]
fn records_may_lie_at_odd_addresses() {
    let options = PlanOptions { ways: Some(4), block: Some(3), strips: Some(2), direct: Some(0) };
    let scan = DynScan::builder(verify(parse(RUNNING_SUM)).unwrap()).plan(options).threads(3).build().unwrap();
    let layout = Layout::of(scan_ir::Type::I32);
    let values: Vec<i32> = (0..1000).map(|i| i * i - 7).collect();
    let mut total = 0i32;
    let expected: Vec<u8> = values
        .iter()
        .flat_map(|x| {
            total = total.wrapping_add(*x);
            total.to_ne_bytes()
        })
        .collect();
    for shift in 0..5 {
        let mut input = vec![0xaa; shift];
        input.extend(values.iter().flat_map(|x| x.to_ne_bytes()));
        let mut output = vec![0x55; 4000 + 8];
        let at = 7 - shift;
        let from = Column::from_bytes(&input[shift..], &layout).unwrap();
        let to = ColumnMut::from_bytes(&mut output[at..at + 4000], &layout).unwrap();
        scan.inclusive_into(&[from], &mut [to]).unwrap();
        assert_eq!(&output[at..at + 4000], &expected[..]);
        assert!(output[..at].iter().chain(&output[at + 4000..]).all(|&byte| byte == 0x55), "beyond the column");
    }
}

#[test]
fn wrong_columns_are_errors_that_name_the_argument_and_write_nothing() {
    let scan = running_sum();
    let (x, mut y) = ([1i32, 2, 3], [9i32; 3]);
    let error = scan.inclusive_into(&[], &mut [ColumnMut::new(&mut y)]).unwrap_err();
    assert_eq!(error.to_string(), "expected 1 input column(s), got 0");
    let error = scan.inclusive_into(&[Column::new(&x)], &mut []).unwrap_err();
    assert_eq!(error.to_string(), "expected 1 output column(s), got 0");
    let error = scan.inclusive_into(&[Column::new(&[1.0f64; 3])], &mut [ColumnMut::new(&mut y)]).unwrap_err();
    assert!(matches!(error, Error::Layout { ref argument, .. } if argument == "input column 0"), "{error}");
    let error = scan.inclusive_into(&[Column::new(&x[..2])], &mut [ColumnMut::new(&mut y)]).unwrap_err();
    assert!(matches!(error, Error::Length { ref argument, expected: 2, got: 3 } if argument == "output column 0"));
    let error = scan.inclusive::<u64>(&[Column::new(&x)]).unwrap_err();
    assert!(matches!(error, Error::Layout { ref argument, .. } if argument == "output column 0"), "{error}");
    assert_eq!(y, [9; 3]);
}

#[test]
fn bytes_that_end_within_a_record_are_refused() {
    let layout = Layout::of(scan_ir::Type::I32);
    let error = Column::from_bytes(&[0; 7], &layout).unwrap_err();
    assert_eq!(error.to_string(), "7 bytes are not a whole number of records of 4 bytes");
    let nothing = Layout::default();
    assert!(matches!(Column::from_bytes(&[0; 7], &nothing), Err(Error::PartialRecord { record: 0, .. })));
}

#[test]
fn programs_that_the_engine_does_not_run_are_refused_by_name() {
    let mut cascade = parse(RUNNING_SUM);
    cascade.stages.push(cascade.stages[0].clone());
    let error = DynScan::new(verify(cascade).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)) && error.to_string().contains("2 stages"), "{error}");

    let emits = RUNNING_SUM
        .replace("output write", "output emit")
        .replace("    project", "    keep (%0 = last: bool) { return %0 }\n    project");
    let error = DynScan::new(verify(parse(&emits)).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)) && error.to_string().contains("emit"), "{error}");
}

#[test]
fn an_operator_that_is_not_associative_is_refused_unless_that_is_assumed() {
    let subtraction = verify(parse(&RUNNING_SUM.replace("add.i32", "sub.i32"))).unwrap();
    let error = DynScan::builder(subtraction.clone()).component_names(vec!["total".into()]).build().unwrap_err();
    assert!(matches!(error, Error::NotAMonoid { .. }) && error.to_string().contains("total"), "{error}");
    let scan = DynScan::builder(subtraction).assume_associative().threads(1).build().unwrap();
    assert!(scan.explain().contains("assumed"), "{}", scan.explain());
}

#[test]
fn every_stage_can_be_shown() {
    let scan = running_sum();
    assert_eq!(text::parse(&scan.emit(Stage::Ir)).unwrap(), **scan.program());
    assert!(scan.emit(Stage::Clif).contains("iadd"));
    assert!(scan.emit(Stage::Asm).contains("ret"));
}

#[test]
fn random_programs_give_what_the_interpreter_gives_in_tiles_and_on_any_number_of_threads() {
    for seed in 0..60 {
        let program = verify(random_program(seed, &Options::default())).unwrap();
        let records = [0, 1, 5, 24, 25, 300][seed as usize % 6];
        let mut bytes = seed;
        let inputs: Vec<Vec<u8>> = program
            .inputs
            .iter()
            .map(|layout| {
                let byte = |_| {
                    bytes = bytes.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (bytes >> 56) as u8
                };
                (0..layout.size as usize * records).map(byte).collect()
            })
            .collect();
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            let expected = interp::run(&program, &slices, &Request { mode, seeds: None }).unwrap().outputs;
            for (ways, threads) in [(1, 2), (4, 1), (2, 3), (8, 2)] {
                let options = PlanOptions { ways: Some(ways), block: Some(3), strips: Some(2), direct: Some(0) };
                let scan = DynScan::builder(program.clone()).plan(options).threads(threads).build().unwrap();
                let columns: Vec<Column<'_>> = slices
                    .iter()
                    .zip(&program.inputs)
                    .map(|(bytes, l)| Column::from_bytes(bytes, l).unwrap())
                    .collect();
                let mut outputs: Vec<Vec<u8>> = expected.iter().map(|bytes| vec![0; bytes.len()]).collect();
                let mut to: Vec<ColumnMut<'_>> = outputs
                    .iter_mut()
                    .zip(&program.output.columns)
                    .map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).unwrap())
                    .collect();
                scan.scan_into(mode, &columns, &mut to).unwrap();
                for ((found, expected), layout) in outputs.iter().zip(&expected).zip(&program.output.columns) {
                    let size = layout.size as usize;
                    for (i, (found, expected)) in found.chunks(size).zip(expected.chunks(size)).enumerate() {
                        for field in &layout.fields {
                            let value = |bytes: &[u8]| Constant::from_bytes(field.ty, &bytes[field.offset as usize..]);
                            let (found, expected) = (value(found), value(expected));
                            assert!(
                                found.same(expected),
                                "seed {seed}, record {i}: {found} for {expected}\n{program:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

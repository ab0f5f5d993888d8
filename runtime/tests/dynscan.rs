//! [`DynScan`] on what callers may pass it: odd addresses, wrong columns, programs that the engine
//! does not run.

use monoscan_ir::interp::{self, Request};
use monoscan_ir::{Constant, Layout, Mode, Program, Source, text, verify};
use monoscan_runtime::{
    Argument, Call, Column, ColumnMut, DynScan, Error, Init, PlanOptions, Representation, Rows, Shape,
};
use scan_kit::programs::RUNNING_SUM;
use scan_kit::random::{Options, random_program};

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
    let options =
        PlanOptions { interleave: Some(4), block: Some(3), strips: Some(2), direct: Some(0), ..PlanOptions::default() };
    let scan = DynScan::builder(verify(parse(RUNNING_SUM)).unwrap()).plan(options).threads(3).build().unwrap();
    let layout = Layout::of(monoscan_ir::Type::I32);
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
    assert!(matches!(error, Error::Layout { ref argument, .. } if *argument == Argument::Input(0)), "{error}");
    let error = scan.inclusive_into(&[Column::new(&x[..2])], &mut [ColumnMut::new(&mut y)]).unwrap_err();
    assert!(matches!(error, Error::Length { ref argument, expected: 2, got: 3 } if *argument == Argument::Output(0)));
    let error = scan.inclusive::<u64>(&[Column::new(&x)]).unwrap_err();
    assert!(matches!(error, Error::Layout { ref argument, .. } if *argument == Argument::Output(0)), "{error}");
    assert_eq!(y, [9; 3]);
}

#[test]
fn bytes_that_end_within_a_record_are_refused() {
    let layout = Layout::of(monoscan_ir::Type::I32);
    let error = Column::from_bytes(&[0; 7], &layout).unwrap_err();
    assert_eq!(error.to_string(), "7 bytes are not a whole number of records of 4 bytes");
    let nothing = Layout::default();
    assert!(matches!(Column::from_bytes(&[0; 7], &nothing), Err(Error::PartialRecord { record: 0, .. })));
}

/// Small runs of every kind, worked out by hand.
#[test]
fn every_part_of_a_call_does_what_it_says() {
    let scan = DynScan::new(verify(parse(RUNNING_SUM)).unwrap()).unwrap();
    let x = [1, 2, 3, 4, 5, 6];
    let run = |call: Call<'_>| scan.collect::<i32>(&call, &[Column::new(&x)]).unwrap();
    let line = Call::default();
    let exclusive = Call { mode: Mode::Exclusive, ..Call::default() };
    let ten = [Constant::from(10i32)];
    let heads = Shape::Heads(&[false, false, true, false, false, true]);
    let offsets = Shape::Offsets(&[0, 0, 2, 5, 5, 6]);
    assert_eq!(run(line.clone()), [1, 3, 6, 10, 15, 21]);
    assert_eq!(run(exclusive.clone()), [0, 1, 3, 6, 10, 15]);
    assert_eq!(run(Call { init: Init::Same(&ten), ..exclusive.clone() }), [10, 11, 13, 16, 20, 25]);
    assert_eq!(run(Call { reversed: true, ..line.clone() }), [21, 20, 18, 15, 11, 6]);
    assert_eq!(run(Call { reversed: true, ..exclusive.clone() }), [20, 18, 15, 11, 6, 0]);
    for shape in [heads, offsets] {
        assert_eq!(run(Call { shape, ..line.clone() }), [1, 3, 3, 7, 12, 6]);
        assert_eq!(run(Call { shape, ..exclusive.clone() }), [0, 1, 0, 3, 7, 0]);
        assert_eq!(run(Call { shape, init: Init::Same(&ten), ..line.clone() }), [11, 13, 13, 17, 22, 16]);
        assert_eq!(run(Call { shape, reversed: true, ..line.clone() }), [3, 2, 12, 9, 5, 6]);
    }
    let rows = |rows: Result<Rows, Error>| Shape::Rows(rows.unwrap());
    assert_eq!(run(Call { shape: rows(Rows::axis(&[2, 3], 1)), ..line.clone() }), [1, 3, 6, 4, 9, 15]);
    assert_eq!(run(Call { shape: rows(Rows::axis(&[2, 3], 0)), ..line.clone() }), [1, 2, 3, 5, 7, 9]);
    let totals = |shape| {
        let call = Call { shape, init: Init::Same(&ten), ..Call::default() };
        let totals = scan.reduce(&call, &[Column::new(&x)]).unwrap();
        totals.into_iter().map(|total| total.bits() as i32).collect::<Vec<_>>()
    };
    assert_eq!(totals(Shape::Line), [31]);
    assert_eq!(totals(heads), [16]);
    assert_eq!(totals(offsets), [10, 13, 22, 10, 16]);
    assert_eq!(totals(rows(Rows::axis(&[2, 3], 0))), [15, 17, 19]);

    let (mut carry, mut y) = (ten, [0; 6]);
    let written = scan.resume(&line, &mut carry, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap();
    assert_eq!((written, y, carry), (6, [11, 13, 16, 20, 25, 31], [Constant::from(31i32)]));
    scan.resume_in_place(&exclusive, &mut carry, &mut [ColumnMut::new(&mut y)]).unwrap();
    assert_eq!((y, carry), ([31, 42, 55, 71, 91, 116], [Constant::from(147i32)]));
}

#[test]
fn cascades_and_kept_records_are_one_scan() {
    // The sum of the running sums; of those, the even ones.
    let mut cascade = parse(RUNNING_SUM);
    cascade.stages.push(cascade.stages[0].clone());
    cascade.stages[1].lift.reads = vec![Source::After { stage: 0, component: 0 }];
    let even = "filter (%0 = state.0: i32) {
        %1 = const.i32 1
        %2 = and.i32 %0, %1
        %3 = const.i32 0
        %4 = eq.bool %2, %3
        return %4
      }
      project";
    let emits = RUNNING_SUM.replace("output write", "output emit").replace("project", even);
    let (x, sums): (Vec<i32>, Vec<i32>) = (0..1000).map(|i| (i % 7, 0)).unzip();
    let mut y = sums.clone();
    let (mut sum, mut of_sums) = (0, 0);
    let (sums, sums_of_sums): (Vec<i32>, Vec<i32>) = x
        .iter()
        .map(|x| {
            sum += x;
            of_sums += sum;
            (sum, of_sums)
        })
        .unzip();
    let evens: Vec<i32> = sums.into_iter().filter(|sum| sum % 2 == 0).collect();
    for threads in [1, 2, 3] {
        let plan = PlanOptions {
            interleave: Some(2),
            block: Some(5),
            strips: Some(3),
            direct: Some(0),
            ..PlanOptions::default()
        };
        let build = |program| DynScan::builder(program).plan(plan.clone()).threads(threads).build().unwrap();
        let cascade = build(verify(cascade.clone()).unwrap());
        assert_eq!(cascade.inclusive::<i32>(&[Column::new(&x)]).unwrap(), sums_of_sums);
        let emits = build(verify(parse(&emits)).unwrap());
        assert_eq!(emits.inclusive::<i32>(&[Column::new(&x)]).unwrap(), evens);
        let written = emits.run(&Call::default(), &[Column::new(&x)], &mut [ColumnMut::new(&mut y[..evens.len()])]);
        assert_eq!((written.unwrap(), &y[..evens.len()]), (evens.len(), &evens[..]));
        let short = &mut [ColumnMut::new(&mut y[..evens.len() - 1])];
        let error = emits.run(&Call::default(), &[Column::new(&x)], short).unwrap_err();
        assert!(matches!(error, Error::OutputTooShort { expected, .. } if expected == evens.len()), "{error}");
    }
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
    assert_eq!(text::parse(&scan.emit(Representation::Ir)).unwrap(), **scan.program());
    assert!(scan.emit(Representation::Clif).contains("iadd"));
    assert!(scan.emit(Representation::Asm).contains("ret"));
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
            let expected = interp::run(&program, &slices, &Request { mode, ..Default::default() }).unwrap().outputs;
            for (interleave, threads) in [(1, 2), (4, 1), (2, 3), (8, 2)] {
                let options = PlanOptions {
                    interleave: Some(interleave),
                    block: Some(3),
                    strips: Some(2),
                    direct: Some(0),
                    ..PlanOptions::default()
                };
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
                scan.run(&Call { mode, ..Call::default() }, &columns, &mut to).unwrap();
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

/// A program may read the state that its sequence starts from.
#[test]
fn sequences_read_the_states_that_they_start_from() {
    let project = "project (%0 = state.0: i32, %1 = init.0.0: i32) {
      %2 = sub.i32 %0, %1
      return %2
    }";
    let source = RUNNING_SUM.replace("project (%0 = state.0: i32) { return %0 }", project);
    let scan = DynScan::new(verify(parse(&source)).unwrap()).unwrap();
    let starts: Vec<Constant> = (0..12).map(|start| Constant::from(100 * start)).collect();
    let x: Vec<i32> = (0..3600).collect();
    let run = |call: Call<'_>, len: usize| {
        let mut y = vec![0; len];
        scan.run(&call, &[Column::new(&x[..len])], &mut [ColumnMut::new(&mut y)]).unwrap();
        y
    };
    let sums: Vec<i32> = x
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect();
    let line = Call { init: Init::Each(&starts[3..4]), ..Call::default() };
    assert_eq!(run(line, 3600), sums);
    for columns in 1..=12 {
        let rows = Rows::planes(1, 0, 300, columns).unwrap();
        let call = Call { init: Init::Each(&starts[..columns]), shape: Shape::Rows(rows), ..Call::default() };
        let own = |i: usize| (0..=i / columns).map(|row| x[row * columns + i % columns]).sum::<i32>();
        assert_eq!(run(call, 300 * columns), (0..300 * columns).map(own).collect::<Vec<i32>>(), "{columns}");
    }
}

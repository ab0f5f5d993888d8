//! Calls that do not fit their program or their columns: each is an error that says what was
//! expected and what came, found before anything is written. Outputs and carries are what they
//! were.

use monoscan_ir::{Constant, Layout, Type};
use monoscan_runtime::{
    Argument, Call, Column, ColumnMut, Combination, DynScan, Error, InPlaceError, Init, Mode, Rows, RowsError, Shape,
};

use scan_kit::calls::{poison, tiles};
use scan_kit::programs::{AROUND, CASCADE, DIGITS, odd_digits, parse};

const RECORDS: [u64; 6] = [1, 2, 3, 4, 5, 6];

/// Tiles of two records: a call that is not refused in time writes something.
fn scan(source: &str) -> DynScan {
    DynScan::builder(parse(source)).plan(tiles(2, 1, 1)).build().unwrap()
}

fn of(shape: Shape<'_>) -> Call<'_> {
    Call { shape, ..Call::default() }
}

/// The error of a call over columns, after every entry point was found to refuse it in the same words, in all modes, and
/// to leave everything as it was.
fn refused(scan: &DynScan, call: &Call<'_>, inputs: &[Column<'_>], outputs: &[usize]) -> Error {
    let mut errors = Vec::new();
    for (mode, reversed) in [(Mode::Inclusive, false), (Mode::Exclusive, true)] {
        let call = Call { mode, reversed, ..call.clone() };
        let before: Vec<Vec<u64>> = outputs.iter().map(|&len| vec![u64::from_ne_bytes([0xa5; 8]); len]).collect();
        let mut memory = before.clone();
        let mut columns: Vec<ColumnMut<'_>> = memory.iter_mut().map(|column| ColumnMut::new(column)).collect();
        let start: Vec<Constant> = scan.program().stages.iter().flat_map(|stage| stage.identity.clone()).collect();
        let mut carry = start.clone();
        errors.push(scan.run(&call, inputs, &mut columns).unwrap_err());
        errors.push(scan.resume(&call, &mut carry, inputs, &mut columns).unwrap_err());
        assert_eq!((memory, carry), (before, start));
    }
    let words = errors[0].to_string();
    errors.iter().for_each(|error| assert_eq!(error.to_string(), words));
    errors.swap_remove(0)
}

/// As [`refused`], by a reduction too.
fn refused_and_reduced(scan: &DynScan, call: &Call<'_>, inputs: &[Column<'_>], outputs: &[usize]) -> Error {
    let error = refused(scan, call, inputs, outputs);
    assert_eq!(scan.reduce(call, inputs).unwrap_err().to_string(), error.to_string());
    error
}

/// The error of a call in place, after both entry points were found to leave everything as it was.
fn refused_in_place(scan: &DynScan, call: &Call<'_>, layouts: &[Layout]) -> Error {
    let before: Vec<Vec<u8>> = layouts.iter().map(|layout| poison(6 * layout.size as usize)).collect();
    let mut memory = before.clone();
    let pairs = memory.iter_mut().zip(layouts);
    let mut columns: Vec<ColumnMut<'_>> =
        pairs.map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).unwrap()).collect();
    let start: Vec<Constant> = scan.program().stages.iter().flat_map(|stage| stage.identity.clone()).collect();
    let mut carry = start.clone();
    let error = scan.run_in_place(call, &mut columns).unwrap_err();
    let resumed = scan.resume_in_place(call, &mut carry, &mut columns).unwrap_err();
    assert_eq!(error.to_string(), resumed.to_string());
    assert_eq!((memory, carry), (before, start));
    error
}

fn number() -> Layout {
    Layout::of(Type::U64)
}

#[test]
fn columns_that_are_too_many_or_too_few() {
    let (scan, x) = (scan(DIGITS), Column::new(&RECORDS));
    let two = [Column::new(&RECORDS), Column::new(&RECORDS)];
    let error = refused_and_reduced(&scan, &Call::default(), &[], &[6]);
    assert!(matches!(error, Error::ColumnCount { side: "input", expected: 1, got: 0 }), "{error}");
    let error = refused_and_reduced(&scan, &Call::default(), &two, &[6]);
    assert!(matches!(error, Error::ColumnCount { side: "input", expected: 1, got: 2 }), "{error}");
    let error = refused(&scan, &Call::default(), &[x], &[6, 6]);
    assert!(matches!(error, Error::ColumnCount { side: "output", expected: 1, got: 2 }), "{error}");
    let error = refused_in_place(&scan, &Call::default(), &[]);
    assert!(matches!(error, Error::ColumnCount { expected: 1, got: 0, .. }), "{error}");
    let error = refused_in_place(&scan, &Call::default(), &[number(), number()]);
    assert!(matches!(error, Error::ColumnCount { expected: 1, got: 2, .. }), "{error}");
}

#[test]
fn columns_of_other_records() {
    let scan = scan(DIGITS);
    let floats = [1.0f64; 6];
    let error = refused_and_reduced(&scan, &Call::default(), &[Column::new(&floats)], &[6]);
    assert!(matches!(&error, Error::Layout { argument, .. } if *argument == Argument::Input(0)), "{error}");
    let error =
        scan.run(&Call::default(), &[Column::new(&RECORDS)], &mut [ColumnMut::new(&mut [0i64; 6])]).unwrap_err();
    assert!(matches!(&error, Error::Layout { argument, .. } if *argument == Argument::Output(0)), "{error}");
    let error = refused_in_place(&scan, &Call::default(), &[Layout::of(Type::F64)]);
    assert!(matches!(&error, Error::Layout { .. }), "{error}");
}

#[test]
fn columns_of_other_lengths() {
    let (one, two) = (
        scan(DIGITS),
        scan(&DIGITS.replace(
            "  input { size 8, align 8, u64 @ 0 }",
            "  input { size 8, align 8, u64 @ 0 }\n  input { size 8, align 8, u64 @ 0 }",
        )),
    );
    let five = [1u64; 5];
    let error = refused_and_reduced(&two, &Call::default(), &[Column::new(&RECORDS), Column::new(&five)], &[6]);
    assert!(
        matches!(&error, Error::Length { argument, expected: 6, got: 5 } if *argument == Argument::Input(1)),
        "{error}"
    );
    for len in [0, 5, 7] {
        let error = refused(&one, &Call::default(), &[Column::new(&RECORDS)], &[len]);
        let names = |argument: &Argument| *argument == Argument::Output(0);
        assert!(
            matches!(&error, Error::Length { argument, expected: 6, got } if names(argument) && *got == len),
            "{error}"
        );
    }
}

#[test]
fn flags_that_are_too_many_or_too_few() {
    for source in [DIGITS.to_owned(), CASCADE.to_owned(), odd_digits()] {
        for len in [0, 5, 7] {
            let error = refused_and_reduced(
                &scan(&source),
                &of(Shape::Heads(&vec![true; len])),
                &[Column::new(&RECORDS)],
                &[6],
            );
            assert!(matches!(error, Error::Length { expected: 6, got, .. } if got == len), "{error}");
            assert!(error.to_string().contains("flags"), "{error}");
        }
    }
    let error = refused_in_place(&scan(DIGITS), &of(Shape::Heads(&[true; 5])), &[number()]);
    assert!(matches!(error, Error::Length { expected: 6, got: 5, .. }), "{error}");
}

#[test]
fn offsets_that_cut_nothing() {
    let cases: [(&[usize], usize, usize); 7] = [
        (&[1, 6], 0, 1),
        (&[0, 5], 1, 5),
        (&[0, 7], 1, 7),
        (&[0, 4, 3, 6], 2, 3),
        (&[0, 7, 6], 1, 7),
        (&[0, usize::MAX, 6], 1, usize::MAX),
        (&[0, 3, 6, 5], 3, 5),
    ];
    for source in [DIGITS.to_owned(), CASCADE.to_owned(), odd_digits()] {
        let scan = scan(&source);
        for (offsets, wrong, value) in cases {
            let error = refused_and_reduced(&scan, &of(Shape::Offsets(offsets)), &[Column::new(&RECORDS)], &[6]);
            let Error::Offsets { place, got, .. } = error else { panic!("{offsets:?}: {error}") };
            // Where two offsets are in the wrong order, either may be called the wrong one.
            assert!(place == wrong || place == wrong + 1, "{offsets:?}: {error}");
            assert!(offsets.get(place) == Some(&got) && (place != wrong || got == value), "{offsets:?}: {error}");
        }
        for few in [&[][..], &[0], &[6]] {
            let error = refused_and_reduced(&scan, &of(Shape::Offsets(few)), &[Column::new(&RECORDS)], &[6]);
            assert!(matches!(error, Error::TooFewOffsets { records: 6 }), "{few:?}: {error}");
        }
    }
    let error = refused_in_place(&scan(DIGITS), &of(Shape::Offsets(&[0, 5])), &[number()]);
    assert!(matches!(error, Error::Offsets { place: 1, got: 5, .. }), "{error}");
}

#[test]
fn rows_that_are_none() {
    for rows in [
        Rows::new(2, 3, 2),
        Rows::planes(2, 5, 2, 3),
        Rows::planes(3, usize::MAX / 2, 1, 1),
        Rows::planes(1, 0, usize::MAX, 2),
        Rows::axis(&[2, 3], 2),
        Rows::axis(&[], 0),
        Rows::axis(&[usize::MAX, 2, 2], 1),
        Rows::planes(usize::MAX, 0, 0, 2),
    ] {
        assert!(matches!(rows, Err(Error::Rows(_))), "{rows:?}");
    }
    assert!(Rows::new(usize::MAX, 1, 1).is_ok() && Rows::new(usize::MAX, 0, 0).is_ok());
}

#[test]
fn rows_beyond_the_columns() {
    for source in [DIGITS.to_owned(), CASCADE.to_owned()] {
        let scan = scan(&source);
        for rows in [
            Rows::new(1, 7, 7),
            Rows::new(2, 3, 4),
            Rows::new(7, 1, 1),
            Rows::planes(1, 8, 4, 2),
            Rows::new(usize::MAX, 1, 1),
        ] {
            let rows = rows.unwrap();
            let error = refused_and_reduced(&scan, &of(Shape::Rows(rows)), &[Column::new(&RECORDS)], &[6]);
            let expected = RowsError::TooFew { rows: rows.count(), expected: rows.records(), got: 6 };
            assert!(matches!(&error, Error::Rows(why) if *why == expected), "{error}");
        }
    }
    // Rows without records need none, wherever they would begin.
    let (empty, scan_of_digits) = (Rows::new(3, 0, 400).unwrap(), scan(DIGITS));
    let totals = scan_of_digits.reduce(&of(Shape::Rows(empty)), &[Column::new(&RECORDS)]).unwrap();
    assert_eq!(totals, scan_of_digits.program().stages[0].identity.repeat(3));
    let error = refused_in_place(&scan(DIGITS), &of(Shape::Rows(Rows::new(1, 7, 7).unwrap())), &[number()]);
    assert!(matches!(error, Error::Rows(RowsError::TooFew { rows: 1, expected: 7, got: 6 })), "{error}");
}

#[test]
fn initial_states_and_carries_that_are_no_states() {
    let wrong: [&[Constant]; 5] = [
        &[],
        &[Constant::new(Type::U64, 1)],
        &[Constant::new(Type::U64, 1), Constant::new(Type::I64, 1)],
        &[Constant::new(Type::U64, 1), Constant::new(Type::U32, 1)],
        &[Constant::new(Type::U64, 1), Constant::new(Type::U64, 1), Constant::new(Type::U64, 1)],
    ];
    let scan = scan(DIGITS);
    for state in wrong {
        let call = Call { init: Init::Same(state), ..Call::default() };
        let types: Vec<Type> = state.iter().map(|component| component.ty()).collect();
        let error = refused_and_reduced(&scan, &call, &[Column::new(&RECORDS)], &[6]);
        let Error::State { argument: "init", expected, got } = &error else { panic!("{error}") };
        assert_eq!((&expected[..], got), (&[Type::U64; 2][..], &types));
        assert!(matches!(refused_in_place(&scan, &call, &[number()]), Error::State { argument: "init", .. }));

        let (mut carry, mut y) = (state.to_vec(), [7u64; 6]);
        let error = scan
            .resume(&Call::default(), &mut carry, &[Column::new(&RECORDS)], &mut [ColumnMut::new(&mut y)])
            .unwrap_err();
        assert!(matches!(&error, Error::State { argument: "carry", got, .. } if *got == types), "{error}");
        let error = scan.resume_in_place(&Call::default(), &mut carry, &mut [ColumnMut::new(&mut y)]).unwrap_err();
        assert!(matches!(&error, Error::State { argument: "carry", .. }), "{error}");
        assert_eq!((&carry[..], y), (state, [7; 6]));
    }
}

#[test]
fn programs_that_cannot_run_in_place() {
    let wider = DIGITS.replace("column { size 8, align 8, u64 @ 0 }", "column { size 16, align 8, u64 @ 8 }");
    let error = refused_in_place(&scan(&wider), &Call::default(), &[number()]);
    assert!(matches!(error, Error::InPlace(InPlaceError::OtherColumns { .. })), "{error}");

    let more = DIGITS
        .replace("    column { size 8, align 8, u64 @ 0 }", &"    column { size 8, align 8, u64 @ 0 }\n".repeat(2))
        .replace("project (%0 = state.0: u64) { return %0 }", "project (%0 = state.0: u64) { return %0, %0 }");
    let error = refused_in_place(&scan(&more), &Call::default(), &[number()]);
    assert!(matches!(error, Error::InPlace(InPlaceError::OtherColumns { .. })), "{error}");

    let next = AROUND
        .replace("    column { size 8, align 8, u64 @ 0 }\n", "")
        .replace("    column { size 1, align 1, bool @ 0 }\n", "")
        .replace(
            "(%0 = index: u64, %1 = next.0: u8, %2 = last: bool) { return %0, %1, %2 }",
            "(%0 = next.0: u8) { return %0 }",
        );
    let error = refused_in_place(&scan(&next), &Call::default(), &[Layout::of(Type::U8)]);
    assert!(matches!(error, Error::InPlace(InPlaceError::ReadsNeighbour)), "{error}");

    let error = refused_in_place(&scan(&odd_digits()), &Call::default(), &[number()]);
    assert!(matches!(error, Error::InPlace(InPlaceError::Keeps)), "{error}");
}

#[test]
fn as_many_states_as_runs_that_begin() {
    let scan = scan(DIGITS);
    let states = |count: usize| vec![Constant::new(Type::U64, 1); 2 * count];
    let rows = Rows::new(2, 3, 3).unwrap();
    let heads = [false, false, true, false, true, true];
    for (shape, begun, resumed) in [
        (Shape::Line, 1, Some(0)),
        (Shape::Heads(&heads), 4, Some(3)),
        (Shape::Heads(&[true; 6]), 6, Some(6)),
        (Shape::Offsets(&[0, 0, 4, 6]), 3, None),
        (Shape::Rows(rows), 2, Some(0)),
    ] {
        let carries = if matches!(shape, Shape::Rows(_)) { 2 } else { 1 };
        let (carry, mut y) = (states(carries), [7u64; 6]);
        for (carry, right) in [(None, Some::<usize>(begun)), (Some(&carry), resumed)] {
            let Some(right) = right else { continue };
            let run = |count: usize, y: &mut [u64]| {
                let all = states(count);
                let call = Call { init: Init::Each(&all), carry: carry.map(|carry| &carry[..]), ..of(shape) };
                scan.run(&call, &[Column::new(&RECORDS)], &mut [ColumnMut::new(y)])
            };
            for count in [right + 1, right + 7].into_iter().chain(right.checked_sub(1)) {
                let error = run(count, &mut y).unwrap_err();
                let Error::StateCount { argument: "init_each", expected, got } = error else { panic!("{error}") };
                assert_eq!((expected, got, y), (right, count, [7; 6]));
            }
            assert_eq!(run(right, &mut y.clone()).unwrap(), 6);
        }
    }
    for count in [0, 1, 3] {
        let (mut carry, mut y) = (states(count), [7u64; 6]);
        let error = scan
            .resume(&of(Shape::Rows(rows)), &mut carry, &[Column::new(&RECORDS)], &mut [ColumnMut::new(&mut y)])
            .unwrap_err();
        assert!(matches!(error, Error::StateCount { argument: "carry", expected: 2, got } if got == count), "{error}");
        assert_eq!((carry, y), (states(count), [7; 6]));
    }
    // Components that are no states.
    let odd = [Constant::new(Type::U64, 1); 3];
    let call = Call { init: Init::Each(&odd), ..of(Shape::Rows(rows)) };
    let error = refused_and_reduced(&scan, &call, &[Column::new(&RECORDS)], &[6]);
    assert!(matches!(error, Error::State { argument: "init_each", .. }), "{error}");
}

#[test]
fn calls_that_have_no_meaning() {
    let scan = scan(DIGITS);
    let start = vec![Constant::new(Type::U64, 0), Constant::new(Type::U64, 1)];
    let rows = Rows::new(2, 3, 3).unwrap();
    // Where a stream of segments goes on is not known from its end; offsets are no stream.
    let heads = Call { reversed: true, ..of(Shape::Heads(&[false; 6])) };
    for (call, why) in [
        (heads, Combination::ResumedFromEnd),
        (of(Shape::Offsets(&[0, 2, 6])), Combination::ResumedOffsets { segments: 2 }),
    ] {
        let is_refused = |error: &Error| matches!(error, Error::Combination(refused) if *refused == why);
        let (mut carry, mut y) = (start.clone(), RECORDS);
        let error =
            scan.resume(&call, &mut carry, &[Column::new(&[1u64; 6])], &mut [ColumnMut::new(&mut y)]).unwrap_err();
        assert!(is_refused(&error), "{error}");
        let error = scan.resume_in_place(&call, &mut carry, &mut [ColumnMut::new(&mut y)]).unwrap_err();
        assert!(is_refused(&error), "{error}");
        assert_eq!((carry, y), (start.clone(), RECORDS));
    }
    let mut y = RECORDS;
    let error = self::scan(&odd_digits())
        .run(&of(Shape::Rows(rows)), &[Column::new(&[1u64; 6])], &mut [ColumnMut::new(&mut y)])
        .unwrap_err();
    assert!(matches!(error, Error::Combination(Combination::KeptOfRows { rows: 2 })), "{error}");
    assert_eq!(y, RECORDS);
}

#[test]
fn more_empty_rows_than_can_be_counted_up() {
    let (x, mut y) = ([1u64; 6], RECORDS);
    let rows = Rows::new(usize::MAX, 0, 0).unwrap();
    let count = scan(DIGITS).run(&of(Shape::Rows(rows)), &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap();
    assert_eq!((count, y), (0, RECORDS));
    let error = scan(DIGITS).reduce(&of(Shape::Rows(rows)), &[Column::new(&x)]).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn too_little_space_for_what_is_kept() {
    let plan = tiles(4, 2, 2);
    for threads in [1, 3] {
        let scan = DynScan::builder(parse(&odd_digits())).plan(plan.clone()).threads(threads).build().unwrap();
        for (records, kept) in [(6u64, 3), (1, 1), (101, 51)] {
            let x: Vec<u64> = (1..=records).collect();
            for capacity in [0, kept - 1] {
                let error = refused(&scan, &Call::default(), &[Column::new(&x)], &[capacity]);
                let fits = matches!(error, Error::OutputTooShort { column: 0, expected, got } if expected == kept && got == capacity);
                assert!(fits, "{error}");
            }
            let mut y = vec![0u64; kept];
            let count = scan.run(&Call::default(), &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap();
            assert_eq!((count, y[kept - 1] % 2), (kept, 1));
        }
    }
}

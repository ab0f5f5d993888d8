//! The meaning of each part of a call, by small cases worked out by hand: on the reference, and on
//! engines of several plans.
//!
//! Most scan digits, appending each to the number before it, so that a result shows what was
//! combined in which order.

use bytemuck::{AnyBitPattern, NoUninit, cast_slice, pod_read_unaligned};
use monoscan_ir::{Constant, Mode};
use monoscan_runtime::PlanOptions;

use scan_kit::calls::{Asked, Over, Reference, Subject, tiles};
use scan_kit::programs::*;

/// Everything sequentially; and blocks so small that a few records are several tiles.
fn plans() -> [PlanOptions; 3] {
    [PlanOptions::default(), tiles(2, 1, 1), tiles(1, 2, 2)]
}

/// The results of a call, from the reference, after engines were found to give the same.
struct Answer {
    columns: Vec<Vec<u8>>,
    /// Of a resumed stream, the carry afterwards.
    totals: Vec<Constant>,
}

fn ask<T: NoUninit>(source: &str, records: &[T], asked: Asked) -> Answer {
    let program = parse(source);
    let inputs = [cast_slice::<T, u8>(records).to_vec()];
    for plan in plans() {
        Subject::new(&program, plan).must_agree(&asked, &inputs);
    }
    let reference = Reference::new(&program);
    let layouts = program.output.columns.iter();
    let mut columns: Vec<Vec<u8>> = layouts.map(|layout| vec![0; layout.size as usize * records.len()]).collect();
    let given = reference.run(&asked, &inputs, &mut columns);
    if program.output.filter.is_some() {
        let layouts = program.output.columns.iter();
        columns.iter_mut().zip(layouts).for_each(|(bytes, layout)| bytes.truncate(layout.size as usize * given.count));
    }
    Answer { columns, totals: given.totals }
}

impl Answer {
    fn column<T: NoUninit + AnyBitPattern>(&self, place: usize) -> Vec<T> {
        self.columns[place].chunks(size_of::<T>()).map(pod_read_unaligned).collect()
    }
}

/// The digits 1 to n.
fn digits(asked: Asked) -> Vec<u64> {
    let records: Vec<u64> = (1..=asked.len as u64).collect();
    ask(DIGITS, &records, asked).column(0)
}

fn state(number: u64) -> Option<Vec<Constant>> {
    let scale = number.checked_ilog10().map_or(1, |digits| 10u64.pow(digits + 1));
    Some(vec![number.into(), scale.into()])
}

fn reversed(asked: Asked) -> Asked {
    Asked { reversed: true, ..asked }
}

fn exclusive(asked: Asked) -> Asked {
    Asked { mode: Mode::Exclusive, ..asked }
}

fn from_init(asked: Asked) -> Asked {
    Asked { init: state(9), ..asked }
}

fn resumed(asked: Asked) -> Asked {
    Asked { carry: state(8), ..asked }
}

/// Heads at 1, 2 and 5: segments of the digits 1, 2, 345 and 67.
fn heads() -> Asked {
    let over = Over::Heads(vec![false, true, true, false, false, true, false]);
    Asked { over, ..Asked::line(7) }
}

/// Offsets with empty segments at all places: the digits none, 12, none, 345, none.
fn offsets() -> Asked {
    Asked { over: Over::Offsets(vec![0, 0, 2, 2, 5, 5]), ..Asked::line(5) }
}

/// A matrix of 2 × 3, along an axis.
fn matrix(axis: usize) -> Asked {
    let over = match axis {
        0 => Over::Rows { planes: 1, pitch: 6, len: 2, step: 3 },
        _ => Over::Rows { planes: 2, pitch: 3, len: 3, step: 1 },
    };
    Asked { over, ..Asked::line(6) }
}

#[test]
fn inclusive_and_exclusive() {
    assert_eq!(digits(Asked::line(4)), [1, 12, 123, 1234]);
    assert_eq!(digits(exclusive(Asked::line(4))), [0, 1, 12, 123]);
    assert!(digits(Asked::line(0)).is_empty());
}

#[test]
fn a_reversed_scan_combines_from_the_last_record_to_the_first() {
    assert_eq!(digits(reversed(Asked::line(4))), [4321, 432, 43, 4]);
    assert_eq!(digits(reversed(exclusive(Asked::line(4)))), [432, 43, 4, 0]);
}

#[test]
fn an_initial_state_is_before_everything() {
    assert_eq!(digits(from_init(Asked::line(3))), [91, 912, 9123]);
    assert_eq!(digits(from_init(exclusive(Asked::line(3)))), [9, 91, 912]);
    assert_eq!(digits(from_init(reversed(Asked::line(3)))), [9321, 932, 93]);
    assert_eq!(digits(from_init(reversed(exclusive(Asked::line(3))))), [932, 93, 9]);
}

#[test]
fn a_head_begins_a_segment() {
    assert_eq!(digits(heads()), [1, 2, 3, 34, 345, 6, 67]);
    assert_eq!(digits(exclusive(heads())), [0, 0, 0, 3, 34, 0, 6]);
    assert_eq!(digits(from_init(heads())), [91, 92, 93, 934, 9345, 96, 967]);
    assert_eq!(digits(from_init(exclusive(heads()))), [9, 9, 9, 93, 934, 9, 96]);
}

#[test]
fn a_reversed_scan_starts_at_the_last_record_of_a_segment() {
    assert_eq!(digits(reversed(heads())), [1, 2, 543, 54, 5, 76, 7]);
    assert_eq!(digits(reversed(exclusive(heads()))), [0, 0, 54, 5, 0, 7, 0]);
    assert_eq!(digits(from_init(reversed(heads()))), [91, 92, 9543, 954, 95, 976, 97]);
    assert_eq!(digits(from_init(reversed(exclusive(heads())))), [9, 9, 954, 95, 9, 97, 9]);
    assert_eq!(digits(from_init(reversed(offsets()))), [921, 92, 9543, 954, 95]);
}

#[test]
fn segments_between_offsets_may_be_empty() {
    assert_eq!(digits(offsets()), [1, 12, 3, 34, 345]);
    assert_eq!(digits(exclusive(offsets())), [0, 1, 0, 3, 34]);
    assert_eq!(digits(from_init(offsets())), [91, 912, 93, 934, 9345]);
    let none = Asked { over: Over::Offsets(vec![0]), ..Asked::line(0) };
    assert!(digits(none).is_empty());
}

#[test]
fn rows_go_along_any_axis() {
    assert_eq!(digits(matrix(1)), [1, 12, 123, 4, 45, 456]);
    assert_eq!(digits(matrix(0)), [1, 2, 3, 14, 25, 36]);
    assert_eq!(digits(reversed(matrix(0))), [41, 52, 63, 4, 5, 6]);
    assert_eq!(digits(exclusive(from_init(matrix(0)))), [9, 9, 9, 91, 92, 93]);
    assert_eq!(digits(from_init(reversed(matrix(1)))), [9321, 932, 93, 9654, 965, 96]);
}

/// From the digits of a word, one for each run that begins.
fn from_each(digits: u64, asked: Asked) -> Asked {
    let states = digits.to_string().into_bytes().into_iter().flat_map(|digit| state(u64::from(digit - b'0')).unwrap());
    Asked { init_each: Some(states.collect()), ..asked }
}

#[test]
fn each_run_may_start_from_a_state_of_its_own() {
    assert_eq!(digits(from_each(9, Asked::line(3))), [91, 912, 9123]);
    assert_eq!(digits(from_each(6789, heads())), [61, 72, 83, 834, 8345, 96, 967]);
    assert_eq!(digits(from_each(6789, exclusive(heads()))), [6, 7, 8, 83, 834, 9, 96]);
    assert_eq!(digits(from_each(6789, reversed(heads()))), [61, 72, 8543, 854, 85, 976, 97]);
    // Segments between offsets have a start each, empty ones too.
    assert_eq!(digits(from_each(56789, offsets())), [61, 612, 83, 834, 8345]);
    assert_eq!(digits(from_each(56789, reversed(exclusive(offsets())))), [62, 6, 854, 85, 8]);
    assert_eq!(digits(from_each(89, matrix(1))), [81, 812, 8123, 94, 945, 9456]);
    assert_eq!(digits(from_each(789, reversed(matrix(0)))), [741, 852, 963, 74, 85, 96]);
}

#[test]
fn runs_that_go_on_from_a_carry_take_no_initial_state() {
    assert_eq!(digits(resumed(from_each(679, heads()))), [81, 62, 73, 734, 7345, 96, 967]);
    let head = Asked { over: Over::Heads(vec![true, false, true]), ..Asked::line(3) };
    assert_eq!(digits(resumed(from_each(67, head))), [61, 612, 73]);
    let none = Asked { init_each: Some(Vec::new()), ..Asked::line(2) };
    assert_eq!(digits(resumed(none)), [81, 812]);
}

#[test]
fn each_row_of_a_stream_goes_on_from_its_own_carry() {
    let carry = |digits| from_each(digits, Asked::line(0)).init_each;
    let rows = |asked| Asked { carry: carry(89), ..asked };
    let answer = ask(DIGITS, &[1u64, 2, 3, 4, 5, 6], rows(matrix(1)));
    assert_eq!(answer.column::<u64>(0), [81, 812, 8123, 94, 945, 9456]);
    assert_eq!(answer.totals, [state(8123).unwrap(), state(9456).unwrap()].concat());
    assert_eq!(digits(from_init(rows(exclusive(reversed(matrix(1)))))), [832, 83, 8, 965, 96, 9]);
    let empty = Asked { over: Over::Rows { planes: 2, pitch: 0, len: 0, step: 1 }, ..Asked::line(0) };
    assert_eq!(ask::<u64>(DIGITS, &[], rows(empty)).totals, carry(89).unwrap());
}

#[test]
fn records_between_planes_are_not_written() {
    let padded = Asked { over: Over::Rows { planes: 2, pitch: 3, len: 2, step: 1 }, ..Asked::line(6) };
    assert_eq!(digits(padded), [1, 12, 0, 4, 45, 0]);
    let nothing = Asked { over: Over::Rows { planes: 2, pitch: 3, len: 0, step: 1 }, ..Asked::line(3) };
    assert_eq!(digits(nothing), [0, 0, 0]);
}

#[test]
fn a_resumed_stream_goes_on_from_its_carry_and_leaves_one() {
    let answer = ask(DIGITS, &[1u64, 2, 3], resumed(Asked::line(3)));
    assert_eq!(answer.column::<u64>(0), [81, 812, 8123]);
    assert_eq!(answer.totals, state(8123).unwrap());
    assert_eq!(digits(resumed(exclusive(Asked::line(3)))), [8, 81, 812]);
    let answer = ask(DIGITS, &[1u64, 2, 3], resumed(reversed(Asked::line(3))));
    assert_eq!(answer.column::<u64>(0), [8321, 832, 83]);
    assert_eq!(answer.totals, state(8321).unwrap());
    let nothing = ask::<u64>(DIGITS, &[], resumed(from_init(Asked::line(0))));
    assert_eq!(nothing.totals, state(8).unwrap());
}

#[test]
fn a_resumed_segment_goes_on_unless_its_first_record_is_a_head() {
    assert_eq!(digits(resumed(from_init(heads()))), [81, 92, 93, 934, 9345, 96, 967]);
    assert_eq!(digits(resumed(from_init(exclusive(heads())))), [8, 9, 9, 93, 934, 9, 96]);
    let head = Asked { over: Over::Heads(vec![true, false, true]), ..Asked::line(3) };
    assert_eq!(digits(resumed(from_init(head.clone()))), [91, 912, 93]);
    assert_eq!(digits(resumed(head)), [1, 12, 3]);
}

#[test]
fn totals_are_of_runs() {
    let totals = |asked: Asked| {
        let records: Vec<u64> = (1..=asked.len as u64).collect();
        let totals = ask(DIGITS, &records, asked).totals;
        totals.chunks(2).map(|state| state[0].as_int() as u64).collect::<Vec<u64>>()
    };
    assert_eq!(totals(Asked::line(4)), [1234]);
    assert_eq!(totals(reversed(Asked::line(4))), [4321]);
    assert_eq!(totals(from_init(Asked::line(0))), [9]);
    assert_eq!(totals(heads()), [67]);
    assert_eq!(totals(from_init(reversed(heads()))), [91]);
    assert_eq!(totals(offsets()), [0, 12, 0, 345, 0]);
    assert_eq!(totals(from_init(reversed(offsets()))), [9, 921, 9, 9543, 9]);
    assert_eq!(totals(matrix(0)), [14, 25, 36]);
    assert_eq!(totals(from_init(reversed(matrix(1)))), [9321, 9654]);
    let nothing = Asked { over: Over::Rows { planes: 2, pitch: 0, len: 0, step: 1 }, ..Asked::line(0) };
    assert_eq!(totals(from_init(nothing.clone())), [9, 9]);
    assert_eq!(totals(from_each(56789, offsets())), [5, 612, 7, 8345, 9]);
    assert_eq!(totals(from_each(6789, heads())), [967]);
    assert_eq!(totals(from_each(789, matrix(0))), [714, 825, 936]);
    assert_eq!(totals(from_each(78, nothing)), [7, 8]);
}

#[test]
fn what_an_element_sees_around_it_is_in_the_order_of_the_scan() {
    let around = |asked: Asked| {
        let records: Vec<u8> = (1..=asked.len as u8).collect();
        let answer = ask(AROUND, &records, asked);
        (answer.column::<u64>(0), answer.column::<u8>(1), answer.column::<u8>(2))
    };
    assert_eq!(around(Asked::line(3)), (vec![0, 1, 2], vec![2, 3, 0], vec![0, 0, 1]));
    assert_eq!(around(reversed(Asked::line(3))), (vec![2, 1, 0], vec![0, 1, 2], vec![1, 0, 0]));
    let two = Asked { over: Over::Heads(vec![true, false, true, false]), ..Asked::line(4) };
    assert_eq!(around(two.clone()), (vec![0, 1, 2, 3], vec![2, 0, 4, 0], vec![0, 1, 0, 1]));
    assert_eq!(around(reversed(two)), (vec![3, 2, 1, 0], vec![0, 1, 0, 3], vec![1, 0, 1, 0]));
    assert_eq!(around(matrix(1)), (vec![0, 1, 2, 0, 1, 2], vec![2, 3, 0, 5, 6, 0], vec![0, 0, 1, 0, 0, 1]));
    assert_eq!(around(reversed(matrix(0))), (vec![1, 1, 1, 0, 0, 0], vec![0, 0, 0, 1, 2, 3], vec![1, 1, 1, 0, 0, 0]));
}

#[test]
fn every_stage_of_a_cascade_starts_over_with_a_run() {
    let cascade = |asked: Asked| {
        let records: Vec<u64> = (1..=asked.len as u64).collect();
        ask(CASCADE, &records, asked).column::<u64>(0)
    };
    assert_eq!(cascade(Asked::line(4)), [0, 1, 13, 136]);
    assert_eq!(cascade(heads()), [0, 0, 0, 3, 37, 0, 6]);
    let from_init = |asked| Asked { init: Some(vec![9u64.into(), 10u64.into(), 1000u64.into()]), ..asked };
    assert_eq!(cascade(from_init(heads())), [1009, 1009, 1009, 1102, 2036, 1009, 1105]);
    assert_eq!(cascade(from_init(reversed(exclusive(matrix(1))))), [1102, 1009, 1000, 1105, 1009, 1000]);
}

#[test]
fn what_is_kept_is_written_densely_in_the_order_of_the_scan() {
    let kept = |asked: Asked| {
        let records: Vec<u64> = (1..=asked.len as u64).collect();
        ask(&odd_digits(), &records, asked).column::<u64>(0)
    };
    assert_eq!(kept(Asked::line(5)), [1, 123, 12345]);
    assert_eq!(kept(reversed(Asked::line(5))), [5, 543, 54321]);
    assert_eq!(kept(exclusive(Asked::line(5))), [0, 12, 1234]);
    assert_eq!(kept(heads()), [1, 3, 345, 67]);
    assert_eq!(kept(reversed(heads())), [7, 5, 543, 1]);
    assert_eq!(kept(from_init(offsets())), [91, 93, 9345]);
    assert_eq!(kept(resumed(Asked::line(3))), [81, 8123]);
}

#[test]
fn run_lengths_are_one_scan() {
    let answer = ask(RUN_LENGTHS, b"aabbbca", Asked::line(7));
    assert_eq!((answer.column::<u8>(0), answer.column::<u64>(1)), (b"abca".to_vec(), vec![2, 3, 1, 1]));
}

#[test]
fn an_initial_state_may_be_what_no_lift_gives() {
    let answer = ask(BOUNDED, &[3u8, 200, 7], Asked { init: Some(vec![70_000u32.into()]), ..Asked::line(3) });
    assert_eq!((answer.column::<u32>(0), answer.column::<u8>(1)), (vec![70_000; 3], vec![0; 3]));
    let init = Some(vec![5u32.into(), 1u32.into()]);
    let answer = ask(&powers(), &[1u32, 1, 1], Asked { init, ..Asked::line(3) });
    assert_eq!((answer.column::<u32>(0), answer.column::<u32>(1)), (vec![15, 45, 135], vec![4, 13, 40]));
}

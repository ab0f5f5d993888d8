//! Series: gaps that are filled, sessions, lines of sight, running maxima.

use monoscan::algo::AlgoError;
use monoscan::algo::series::{
    backward_fill, backward_fill_into, forward_fill, forward_fill_into, line_of_sight, line_of_sight_into,
    running_argmax, running_argmax_into, sessions, sessions_into,
};
use monoscan::prelude::*;

use super::common::{for_lengths, generator};

#[test]
fn gaps_are_filled_from_both_sides() {
    for_lengths(70_001, |len| {
        for one_in in [1, 3, 900, usize::MAX] {
            let mut random = generator(len);
            let x: Vec<(u8, f32)> = (0..len).map(|i| (i as u8, i as f32)).collect();
            let is_there: Vec<bool> = (0..len).map(|_| random.chance(one_in)).collect();
            let fill = |places: &mut dyn Iterator<Item = usize>| {
                let (mut filled, mut last) = (vec![(9, -1.0); len], (9, -1.0));
                for i in places {
                    last = if is_there[i] { x[i] } else { last };
                    filled[i] = last;
                }
                filled
            };
            let (forwards, backwards) = (fill(&mut (0..len)), fill(&mut (0..len).rev()));
            assert_eq!(forward_fill(&x, &is_there, (9, -1.0)).unwrap(), forwards);
            assert_eq!(backward_fill(&x, &is_there, (9, -1.0)).unwrap(), backwards);
            let mut filled = vec![(7, 7.0); len];
            forward_fill_into((&x, &is_there), (9, -1.0), &mut filled).unwrap();
            assert_eq!(filled, forwards);
            backward_fill_into((&x, &is_there), (9, -1.0), &mut filled).unwrap();
            assert_eq!(filled, backwards);
        }
    });
}

#[test]
fn sessions_sight_and_maxima_are_those_of_the_loop() {
    for_lengths(100_003, |len| {
        let mut random = generator(len);
        let mut time = 5u32;
        let mut next = || {
            time += random.below(40u32);
            time
        };
        let times: Vec<u32> = (0..len).map(|_| next()).collect();
        for gap in [0, 30, 38, 100] {
            let mut session = 0;
            let expected: Vec<u32> = (0..len)
                .map(|i| {
                    session += (i > 0 && times[i] - times[i - 1] > gap) as u32;
                    session
                })
                .collect();
            assert_eq!(sessions(&times, gap).unwrap(), expected, "{len} {gap}");
            let mut numbers = vec![7; len];
            sessions_into(&times, gap, &mut numbers).unwrap();
            assert_eq!(numbers, expected);
        }

        let hills: Vec<f64> = (0..len).map(|i| i as f64 * (i as f64 / 900.0).sin() + random.unit() * 50.0).collect();
        let visible = sight(&hills);
        let mut seen = vec![true; len];
        line_of_sight_into(&hills, &mut seen).unwrap();
        assert_eq!(seen, visible);
        assert_eq!(line_of_sight(&hills).unwrap(), visible);
        // Whole altitudes, of which several are as steep.
        let hills: Vec<f32> = hills.into_iter().map(|hill| hill.round() as f32).collect();
        assert_eq!(line_of_sight(&hills).unwrap(), sight(&hills));

        let few: Vec<i32> = (0..len).map(|i| i as i32 / 50 + random.below(3u8) as i32).collect();
        let mut places = vec![7; len];
        running_argmax_into(&few, &mut places).unwrap();
        assert_eq!(places, highest(&few));
        assert_eq!(running_argmax(&few).unwrap(), places);
        let few: Vec<u8> = few.into_iter().map(|x| (x / 8) as u8).collect();
        assert_eq!(running_argmax(&few).unwrap(), highest(&few));
        let few: Vec<f32> = few.into_iter().map(f32::from).collect();
        assert_eq!(running_argmax(&few).unwrap(), highest(&few));
    });
}

fn sight<T: Real>(hills: &[T]) -> Vec<bool> {
    let mut steepest = T::NEG_INFINITY;
    let sees = |(i, &hill): (usize, &T)| {
        let slope = if i == 0 { T::NEG_INFINITY } else { (hill - hills[0]) / T::from_f64(i as f64) };
        let sees = i == 0 || slope > steepest;
        steepest = steepest.max(slope);
        sees
    };
    hills.iter().enumerate().map(sees).collect()
}

fn highest<T: PartialOrd>(x: &[T]) -> Vec<u32> {
    let mut highest = 0;
    let place = |i| {
        highest = if x[i] > x[highest] { i } else { highest };
        highest as u32
    };
    (0..x.len()).map(place).collect()
}

#[test]
fn times_that_fall_belong_to_the_session_before() {
    assert_eq!(sessions(&[100u64, 50, 60, 200], 30).unwrap(), [0, 0, 0, 1]);
    assert_eq!(sessions(&[0.0, f64::NAN, 100.0], 30.0).unwrap(), [0, 0, 0]);
    assert_eq!(running_argmax(&[f32::NAN, -1.0, f32::NAN, 2.0]).unwrap(), [u32::MAX, 1, 1, 3]);
}

#[test]
fn a_pause_longer_than_the_type_of_times_counts() {
    assert_eq!(sessions(&[-100i8, 100], 30).unwrap(), [0, 1]);
    assert_eq!(sessions(&[i64::MIN, 0, i64::MAX], i64::MAX).unwrap(), [0, 1, 1]);
    assert_eq!(sessions(&[i32::MIN, -1, 30, i32::MAX], 30).unwrap(), [0, 1, 2, 3]);
    assert_eq!(sessions(&[0u8, 200, 255], 100).unwrap(), [0, 1, 1]);
}

#[test]
fn nan_hides_nothing() {
    assert_eq!(line_of_sight(&[0.0, f64::NAN, 1.0]).unwrap(), [true, false, true]);
    assert_eq!(line_of_sight(&[f64::NAN, 1.0, 2.0]).unwrap(), [true, false, false]);
    assert_eq!(line_of_sight(&[0.0, f64::NEG_INFINITY, 1.0]).unwrap(), [true, false, true]);
}

#[test]
fn a_fill_wants_a_flag_for_each_record() {
    for fill in [forward_fill::<i32>, backward_fill::<i32>] {
        assert!(matches!(fill(&[1], &[], 0), Err(AlgoError::Length { argument: "is_there", expected: 1, got: 0 })));
    }
}

#[test]
fn series_of_another_length_are_refused_and_not_written() {
    let is_refused = |result: Result<(), AlgoError>, name: &str| match result {
        Err(AlgoError::Length { argument, expected: 3, got: 2 }) => assert_eq!(argument, name),
        other => panic!("{other:?}"),
    };
    let (mut filled, mut three, mut numbers, mut visible) = ([7; 2], [7; 3], [7; 2], [true; 2]);
    for fill in [forward_fill_into::<i32>, backward_fill_into::<i32>] {
        is_refused(fill((&[1, 2, 3], &[false; 3]), 0, &mut filled), "filled");
        is_refused(fill((&[1, 2, 3], &[true; 2]), 0, &mut three), "is_there");
    }
    is_refused(sessions_into(&[1, 2, 3], 0, &mut numbers), "sessions");
    is_refused(running_argmax_into(&[1, 2, 3], &mut numbers), "places");
    is_refused(line_of_sight_into(&[1.0, 0.0, 3.0], &mut visible), "visible");
    assert_eq!((filled, three, numbers, visible), ([7; 2], [7; 3], [7; 2], [true; 2]));
}

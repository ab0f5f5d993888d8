//! Tables have the states that are reached, wherever their values lie.

use monoscan::prelude::*;
use monoscan::{Error, PlanOptions, State};
use scan_kit::Random;

/// Strips of a few elements, so that stretches are composed.
fn in_blocks() -> PlanOptions {
    PlanOptions { direct: Some(0), block: Some(4), strips: Some(1), ..PlanOptions::default() }
}

/// A scan in blocks, in one pass, and from each of these states; from the others it is refused.
macro_rules! assert_table {
    ($step:ident, $start:expr, $states:expr, $reached:expr, $others:expr, $x:expr) => {{
        let x = $x;
        for plan in [PlanOptions::default(), in_blocks()] {
            let scan = Scan::loop_builder($step {}, $start).plan(plan).threads(2).build()?;
            let explained = scan.explain();
            assert!(explained.contains(&format!("table of {} states", $states)), "{explained}");
            for start in $reached {
                let mut state = start;
                let after = x.iter().map(|&x| {
                    state = $step(state, x);
                    state
                });
                let expected: Vec<_> = after.collect();
                assert_eq!(scan.init(State(start)).inclusive(&x)?, expected, "from {start:?}");
                assert_eq!(scan.init(State(start)).reduce(&x)?, State(state), "from {start:?}");
            }
            for other in $others {
                let error = scan.init(State(other)).inclusive(&x).unwrap_err();
                assert!(matches!(error, Error::LoopState { argument: "init", .. }), "from {other:?}: {error}");
            }
        }
    }};
}

/// A component that is tested: whether it is below 100 stands beside it in the scan's state.
#[scan_fn]
fn below(s: i32, x: i32) -> i32 {
    if s < 100 { x % 50 } else { 0 }
}

/// A state whose test no state from the start has is refused, or taken as the loop takes it: never as another.
#[test]
fn a_state_with_a_test_that_is_never_reached_is_no_other_state() -> Result<(), Error> {
    for len in [1, 2, 100, 5000, 100_000] {
        let x: Vec<i32> = (0..len).map(|place| 101 + place % 40).collect();
        for plan in [PlanOptions::default(), in_blocks()] {
            let scan = Scan::loop_builder(below {}, 0).plan(plan).threads(2).build()?;
            for start in [0, 49, 100, 119, i32::MAX] {
                let mut state = start;
                let expected = x.iter().map(|&x| {
                    state = below(state, x);
                    state
                });
                let expected: Vec<i32> = expected.collect();
                match scan.init(State(start)).inclusive(&x) {
                    Ok(states) => assert!(states == expected, "{len} from {start}"),
                    Err(error) => {
                        assert!(matches!(error, Error::LoopState { argument: "init", .. }) && start >= 50, "{error}")
                    }
                }
            }
        }
    }
    Ok(())
}

fn bytes(len: usize) -> Vec<u8> {
    let mut random = Random(7);
    (0..len).map(|_| random.below(5) as u8).collect()
}

const FAR: [u64; 4] = [0, 1000, 65_000, 1 << 40];

#[scan_fn]
fn far(s: u64, x: u8) -> u64 {
    match (s, x) {
        (0, 0) => 1000,
        (1000, 1) => 65_000,
        (65_000, 2) => 1 << 40,
        (_, 3) => 0,
        _ => s,
    }
}

const HASHES: [u32; 4] = [0x811c_9dc5, 0x050c_5d1f, 0xe40c_292c, 7];

#[scan_fn]
fn hashed(s: u32, x: u8) -> u32 {
    if s == 7 || x == 1 { HASHES[(x % 4) as usize] } else { s }
}

/// A counter and a flag that read each other: the flag turns round at the ends, where alone it may be set.
#[scan_fn]
fn corners(s: (i8, bool), x: u8) -> (i8, bool) {
    let up = (x < 2) != s.1;
    let count = if up && s.0 < 3 {
        s.0 + 1
    } else if !up && s.0 > -3 {
        s.0 - 1
    } else {
        s.0
    };
    (count, (count == 3 || count == -3) && (s.1 || x == 4))
}

/// 0, 2 and 3: as many lanes as a map of three states takes.
#[scan_fn]
fn gapped(s: u8, x: u8) -> u8 {
    match (s, x) {
        (0, 0) => 2,
        (2, 1) => 3,
        (3, 2) => 0,
        _ => s,
    }
}

/// Two components of which one is far from the other's values.
#[scan_fn]
fn joined(s: (i64, u16), x: u8) -> (i64, u16) {
    match x {
        0 if s.1 == 9 => (i64::MIN, 60_000),
        1 if s.0 == i64::MIN => (i64::MAX, 9),
        2 if s.0 == i64::MAX => (-1, 9),
        3 => (s.0, if s.0 == -1 { 9 } else { s.1 }),
        _ => s,
    }
}

#[test]
fn values_may_be_anywhere() -> Result<(), Error> {
    let x = bytes(300);
    assert_table!(far, 0, 4, FAR, [1, 64, 999, 1001, u64::MAX], x.clone());
    assert_table!(hashed, 7, 4, HASHES, [0, 6, 8, 0x811c_9dc4], x.clone());
    let reached = [(i64::MIN, 60_000), (i64::MAX, 9), (-1, 9)];
    let others = [(i64::MIN, 9), (-1, 60_000), (0, 9), (0, 0), (i64::MAX, 10)];
    assert_table!(joined, (-1, 9), 3, reached, others, x.clone());
    Ok(())
}

#[test]
fn joint_states_that_are_not_reached_have_no_number() -> Result<(), Error> {
    let x = bytes(300);
    assert_table!(gapped, 0, 3, [0, 2, 3], [1, 4, 5, 255], x.clone());
    // The flag is set at the lower end alone, as only there the record that sets it moves nothing.
    let reached = [(0, false), (3, false), (-3, false), (-3, true), (-1, false)];
    let others = [(3, true), (0, true), (2, true), (4, false), (-4, true), (127, false)];
    assert_table!(corners, (0, false), 8, reached, others, x);
    Ok(())
}

/// A table and a sum until the sum has passed a bound in one of the table's states.
#[scan_fn]
fn stopping(s: (i64, u8, bool), x: u8) -> (i64, u8, bool) {
    if s.2 {
        return s;
    }
    let sum = s.0 + x as i64;
    let mode = match (s.1, x) {
        (0, 1) => 2,
        (2, 1) => 3,
        (3, 1) => 0,
        _ => s.1,
    };
    (sum, mode, sum > 100 && mode == 2)
}

#[test]
fn states_of_a_loop_that_stops_are_those_of_its_copy() -> Result<(), Error> {
    let x = bytes(300);
    for plan in [PlanOptions::default(), in_blocks()] {
        let scan = Scan::loop_builder(stopping {}, (0i64, 0u8, false)).plan(plan).threads(2).build()?;
        for start in [(0, 0, false), (7, 2, false), (-50, 3, false), (9, 3, true), (101, 2, true)] {
            let mut state = start;
            let after = x.iter().map(|&x| {
                state = stopping(state, x);
                state
            });
            let expected: Vec<_> = after.collect();
            assert_eq!(scan.init(State(start)).inclusive(&x)?, expected, "from {start:?}");
        }
        for other in [(0, 7, false), (0, 1, false)] {
            let error = scan.init(State(other)).inclusive(&x).unwrap_err();
            assert!(matches!(error, Error::LoopState { argument: "init", .. }), "from {other:?}: {error}");
        }
    }
    Ok(())
}

#[test]
fn bits_and_bounds_take_any_state_though_few_are_reached() -> Result<(), Error> {
    let x: Vec<bool> = bytes(300).iter().map(|&x| x == 3).collect();
    let bits = Scan::from_loop(scan!(|s: u64, x: bool| -> u64 { s | if x { 1 << 40 } else { 0 } }), 0)?;
    let expected: Vec<u64> =
        x.iter().scan(3, |s, &x| Some(std::mem::replace(s, *s | u64::from(x) << 40) | u64::from(x) << 40)).collect();
    assert_eq!(bits.init(State(3)).inclusive(&x)?, expected);
    let bounds = Scan::from_loop(scan!(|s: u64, x: bool| -> u64 { s.max(if x { 5 } else { 0 }) }), 0)?;
    assert_eq!(bounds.init(State(4)).reduce(&x)?, State(5));
    assert_eq!(bounds.init(State(1 << 50)).reduce(&x)?, State(1 << 50));
    Ok(())
}

static LOOKED_UP: [u8; 40] = {
    let mut all = [0; 40];
    let mut place = 0;
    while place < 40 {
        all[place] = place as u8;
        place += 1;
    }
    all
};

#[scan_fn]
fn looking_up(table: Table<u8>, s: (u8, u8), x: u8) -> (u8, u8) {
    (if s.1 == 1 { table.get((x & 1) as u32) } else { s.0 }, if s.0 == 1 { 1 } else { x & 1 })
}

#[test]
fn what_is_looked_up_is_within_what_the_index_allows() -> Result<(), Error> {
    let step = looking_up {}.with_table(&LOOKED_UP);
    let scan = Scan::loop_builder(step, (0u8, 0u8)).plan(in_blocks()).threads(2).build()?;
    assert!(scan.explain().contains("table of 4 states"), "{}", scan.explain());
    let x = bytes(300);
    let mut s = (0u8, 0u8);
    let step = |s: (u8, u8), x: u8| (if s.1 == 1 { x & 1 } else { s.0 }, if s.0 == 1 { 1 } else { x & 1 });
    let after = x.iter().map(|&x| {
        s = step(s, x);
        s
    });
    let expected: Vec<_> = after.collect();
    assert_eq!(scan.inclusive(&x)?, expected);
    Ok(())
}

/// Eight of the table's elements, by an index that is no bit.
#[scan_fn]
fn looking_up_eight(table: Table<u8>, s: (u8, bool), x: u8) -> (u8, bool) {
    (if s.1 { table.get((x & 7) as u32) } else { s.0 }, (s.0 == 1) != (x > 2))
}

#[test]
fn eight_elements_of_a_large_table_are_eight_values() -> Result<(), Error> {
    let scan = Scan::loop_builder(looking_up_eight {}.with_table(&LOOKED_UP), (0u8, false));
    let scan = scan.plan(in_blocks()).threads(2).build()?;
    assert!(scan.explain().contains("table of 16 states"), "{}", scan.explain());
    let x: Vec<u8> = bytes(300).iter().zip(0u16..).map(|(&x, place)| x + (place as u8 & 4)).collect();
    let mut s = (0u8, false);
    let after = x.iter().map(|&x| {
        s = (if s.1 { x & 7 } else { s.0 }, (s.0 == 1) != (x > 2));
        s
    });
    let expected: Vec<_> = after.collect();
    assert_eq!(scan.inclusive(&x)?, expected);
    Ok(())
}

/// A timer that is never below 0 is a maximum. Below 0 it is none, so it does not start there.
#[test]
fn a_test_of_what_is_reached_alone_takes_no_other_state() -> Result<(), Error> {
    let step = scan!(|s: i32, x: bool| -> i32 {
        if x {
            1000
        } else if s > 0 {
            s - 1
        } else {
            s
        }
    });
    for plan in [PlanOptions::default(), in_blocks()] {
        let scan = Scan::loop_builder(step, 0).plan(plan).threads(2).build()?;
        let explained = scan.explain();
        assert!(explained.contains("written otherwise: a test of what is reached alone"), "{explained}");
        let x: Vec<bool> = (0..3000).map(|i| i % 1501 == 7).collect();
        for start in [0, 1, 5, 1000, 70_000] {
            let mut state = start;
            let after = x.iter().map(|&x| {
                state = if x { 1000 } else { (state - 1).max(0) };
                state
            });
            let expected: Vec<i32> = after.collect();
            assert_eq!(scan.init(State(start)).inclusive(&x)?, expected, "from {start}");
        }
        for start in [-1, -70_000, i32::MIN] {
            let error = scan.init(State(start)).inclusive(&x).unwrap_err();
            assert!(matches!(error, Error::LoopState { argument: "init", .. }), "from {start}: {error}");
        }
    }
    // From a start below 0 it is no maximum: the states below stay.
    let refused = Scan::from_loop(step, -5).unwrap_err().to_string();
    assert!(refused.contains("which arm is taken depends on the state in `if (s > 0) {"), "{refused}");
    Ok(())
}

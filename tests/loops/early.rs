//! Loops that stop: behind an absorbing state nothing is read, and all results are the same.

use monoscan::ir::Constant;
use monoscan::prelude::*;
use monoscan::{Call, Column, ColumnMut, Error, Init, PlanOptions, State};

/// The sum until it is more than 1000.
#[scan_fn]
fn until(s: (i32, bool), x: i32) -> (i32, bool) {
    (if s.1 { s.0 } else { s.0 + x }, s.1 || s.0 + x > 1000)
}

/// Where the first value other than 0 is.
#[scan_fn]
fn first(s: (bool, u32), x: i32, place: u32) -> (bool, u32) {
    (s.0 && x == 0, if x != 0 && s.0 { place } else { s.1 })
}

/// The largest value before the first that is not a number.
#[scan_fn]
fn valid(s: (bool, f64), x: f64) -> (bool, f64) {
    (s.0 || x.is_nan(), if s.0 || x.is_nan() { s.1 } else { s.1.max(x) })
}

/// The first value that is not -1.
#[scan_fn]
fn value(s: i32, x: i32) -> i32 {
    if s == -1 { x } else { s }
}

/// How many values there are, of which the sum stops: no state is absorbing.
#[scan_fn]
fn counted(s: (bool, i32, u32), x: i32) -> (bool, i32, u32) {
    (s.0 || x > 1000, if s.0 { s.1 } else { s.1 + x }, s.2 + 1)
}

/// Lengths around those where a schedule changes, and where the element is that stops the loop: nowhere, if that is beyond.
const LENGTHS: [usize; 9] = [0, 1, 127, 128, 129, 300, 5000, 50_000, 300_000];
const STOPS: [usize; 10] = [0, 1, 127, 128, 129, 383, 4999, 44_444, 200_000, usize::MAX];

/// The plans that engines are tried with: as chosen, in small tiles, and the user's function wherever it may be.
fn plans() -> [PlanOptions; 3] {
    let small = PlanOptions { block: Some(7), strips: Some(2), direct: Some(20), ..PlanOptions::default() };
    [PlanOptions::default(), small, PlanOptions { native: Some(true), ..PlanOptions::default() }]
}

/// A scan gives what its loop gives, of which `$next` is the state behind record `$i`.
macro_rules! assert_is_loop {
    ($scan:expr, $initial:expr, $len:expr, $columns:expr, |$s:ident, $i:ident| $next:expr) => {{
        let (scan, len) = ($scan, $len);
        let mut states = vec![$initial];
        (0..len).for_each(|$i| {
            let $s = states[$i];
            states.push($next);
        });
        assert!(scan.inclusive($columns)? == states[1..], "{len} records: {}", scan.explain_verbose());
        assert!(scan.exclusive($columns)? == states[..len], "{len} records");
        assert!(scan.reduce($columns)? == State(states[len]), "{len} records");
        // From a state on the way, which may be absorbing.
        let (between, mut $s) = (states[len / 2], states[len / 2]);
        let mut carry = State(between);
        let resumed = scan.resume(&mut carry, $columns)?;
        (0..len).for_each(|$i| {
            $s = $next;
            assert!(resumed[$i] == $s, "record {} of {len}", $i);
        });
        assert!(carry == State($s) && scan.init(State(between)).reduce($columns)? == State($s), "{len} records");
    }};
}

/// Values of which that at `stop` is `last`.
fn stopping<T: Copy>(len: usize, stop: usize, value: impl Fn(usize) -> T, last: T) -> Vec<T> {
    (0..len).map(|place| if place == stop { last } else { value(place) }).collect()
}

#[test]
fn all_results_are_those_of_the_loop() -> Result<(), Error> {
    for plan in plans() {
        macro_rules! of_loop {
            ($step:ident, $initial:expr) => {
                Scan::loop_builder($step {}, $initial).plan(plan.clone()).threads(2).build()?
            };
        }
        let until_more = of_loop!(until, (0, false));
        let places = of_loop!(first, (true, 7));
        let largest = of_loop!(valid, (false, 0.5));
        let values = of_loop!(value, -1);
        let counts = of_loop!(counted, (false, 0, 0));
        let running = Scan::loop_builder(until {}, (0, false)).output(scan!(|s: (i32, bool)| -> i32 { s.0 }));
        let running = running.plan(plan.clone()).build()?;
        for (len, stop) in LENGTHS.into_iter().flat_map(|len| STOPS.map(|stop| (len, stop))) {
            let x = stopping(len, stop, |place| place as i32 % 5 - 2, 2000);
            assert_is_loop!(&until_more, (0, false), len, &x, |s, i| until(s, x[i]));
            assert_is_loop!(&counts, (false, 0, 0), len, &x, |s, i| counted(s, x[i]));
            let (sums, mut replaced) = (running.inclusive(&x)?, x.clone());
            running.inclusive_in_place(&mut replaced)?;
            assert!(replaced == sums, "{len} records");
            let x = stopping(len, stop, |_| -1, 5);
            assert_is_loop!(&values, -1, len, &x, |s, i| value(s, x[i]));
            let (x, place) = (stopping(len, stop, |_| 0, 3), stopping(len, stop, |place| place as u32, 9));
            assert_is_loop!(&places, (true, 7), len, (&x[..], &place[..]), |s, i| first(s, x[i], place[i]));
            let x = stopping(len, stop, |place| (place % 1000) as f64, f64::NAN);
            assert_is_loop!(&largest, (false, 0.5), len, &x, |s, i| valid(s, x[i]));
        }
    }
    Ok(())
}

#[test]
fn wrong_states_are_refused_by_name() -> Result<(), Error> {
    let scan = Scan::from_loop(until {}, (0, false))?;
    let (scan, wrong) = (scan.as_dyn(), [Constant::from(1i32)]);
    for len in [0, 5, 300_000] {
        let x = vec![0i32; len];
        let reduce = |init| scan.reduce(&Call { init, ..Call::default() }, &[Column::new(&x)]);
        assert!(matches!(reduce(Init::Same(&wrong)), Err(Error::State { argument: "init", .. })), "{len}");
        assert!(matches!(reduce(Init::Each(&wrong)), Err(Error::State { argument: "init_each", .. })), "{len}");
        let mut carry = wrong.to_vec();
        let mut states = vec![0u64; len];
        let layout = &scan.program().output.columns[0];
        let to = ColumnMut::from_bytes(bytemuck::cast_slice_mut(&mut states), layout).unwrap();
        let resumed = scan.resume(&Call::default(), &mut carry, &[Column::new(&x)], &mut [to]);
        assert!(matches!(resumed, Err(Error::State { argument: "carry", .. })), "{len}");
    }
    Ok(())
}

/// Memory of which a part must not be read.
#[cfg(target_os = "linux")]
mod guarded {
    use std::ptr;

    use monoscan::ir::{Layout, Type};

    use super::*;

    /// Memory that may be read up to a page's end, and not beyond.
    struct Guarded {
        base: *mut libc::c_void,
        bytes: usize,
    }

    impl Guarded {
        fn new(readable: usize, bytes: usize) -> Guarded {
            // SAFETY: new memory, which nothing else has.
            unsafe {
                let (access, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
                let base = libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0);
                assert!(base != libc::MAP_FAILED, "there are so many addresses");
                assert_eq!(libc::mprotect(base, readable, libc::PROT_READ | libc::PROT_WRITE), 0);
                Guarded { base, bytes }
            }
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: nothing borrows it any more.
            unsafe { libc::munmap(self.base, self.bytes) };
        }
    }

    /// A loop that stops reads what it looks for, and at most a share of that beyond it. Nothing else of a terabyte may be read.
    #[test]
    fn what_is_behind_a_stop_is_not_read() -> Result<(), Error> {
        const READABLE: usize = 1 << 22;
        let memory = Guarded::new(READABLE, 1 << 40);
        let scan = Scan::from_loop(until {}, (0, false))?;
        let layout = Layout::of(Type::I32);
        for stop in [0, 100, 5000, READABLE / 4 / 6] {
            let x = memory.base.cast::<i32>();
            // SAFETY: it may be written up to there. Of what is behind it a read is what the test looks for: it would end the process.
            let column = unsafe {
                *x.add(stop) = 2000;
                Column::from_raw(x.cast(), 1 << 38, &layout)
            };
            let state = scan.as_dyn().reduce(&Call::default(), &[column])?;
            assert_eq!(state, [Constant::from(2000i32), Constant::from(true)]);
            // SAFETY: as above.
            unsafe { *x.add(stop) = 0 };
        }
        Ok(())
    }
}

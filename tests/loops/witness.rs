//! The step as rustc compiled it, beside which a loop is derived.

use monoscan::ir::derive::Compared;
use monoscan::lang::{Arguments, V};
use monoscan::prelude::*;
use monoscan::{DynScan, Error};

#[scan_fn]
fn sum(s: i32, x: i32) -> i32 {
    s + x
}

/// The program of `sum`, and something else in Rust.
struct Other(fn(i32, i32) -> i32);

impl ScanFn<(i32, i32)> for Other {
    type Out = i32;

    fn call(&self, (s, x): (i32, i32)) -> i32 {
        self.0(s, x)
    }

    fn trace(&self, arguments: <(i32, i32) as Arguments>::Handles) -> V<i32> {
        ScanFn::<(i32, i32)>::trace(&sum {}, arguments)
    }
}

/// None of the states that functions are tried on alone is one on which these differ.
#[test]
fn a_step_that_differs_from_its_program_on_the_way_of_the_loop_is_refused() {
    let other = Other(|s, x| if (4..=6).contains(&s) || (8..100).contains(&s) { s } else { s + x });
    let error = Scan::from_loop::<(i32, i32), _>(other, 0).unwrap_err();
    assert!(matches!(&error, Error::Mistranslated { native, compiled, .. } if native != compiled), "{error}");
}

#[test]
fn nothing_is_proved_of_a_step_that_cannot_be_run() -> Result<(), Error> {
    let scan = Scan::from_loop::<(i32, i32), _>(Other(|_, _| panic!("on purpose")), 0)?;
    let derivation = scan.as_dyn().derivation().expect("it was derived");
    assert!(derivation.is_step_proved() && !derivation.is_proved());
    // Its program was compared all the same.
    assert!(matches!(derivation.native, Some(Compared { records: 100.., native: 0 })), "{:?}", derivation.native);
    let verdict = "is the loop: the step and the laws are proved, of its program: the function itself could not be run";
    assert!(scan.explain().contains(verdict), "{}", scan.explain());
    Ok(())
}

#[test]
fn a_step_is_run_on_samples() -> Result<(), Error> {
    let scan = Scan::from_loop(sum {}, 0)?;
    let derivation = scan.as_dyn().derivation().expect("it was derived");
    let Compared { records, native } = derivation.native.expect("there is a function");
    assert!(records > 100 && native == records && derivation.is_proved());
    assert!(scan.explain().contains(&format!("the function itself agrees on {records} records")), "{}", scan.explain());
    // A program is all that there is to know of a loop that is one.
    let scan = DynScan::from_loop(&Scan::loop_builder(sum {}, 0).program()?)?;
    let derivation = scan.derivation().expect("it was derived");
    assert!(derivation.native.is_none() && derivation.is_proved());
    Ok(())
}

//! Compares the IR with the Rust code that it was made from, on some states and records:
//! microseconds, and it catches what a mistake in the macro would otherwise turn into a wrong
//! answer.
//!
//! Skipped are arguments on which Rust would panic in a build with overflow checks, since the
//! user's crate may be one, and those on which it panics for another reason: what the IR gives
//! there is unspecified. The first such panic ends the comparison, so that it is reported once.
//! Where a panic ends the process (`panic = "abort"`), nothing is compared: whether Rust panics is
//! not known before.
//!
//! Floats may differ in the last places: `exp` and its like are the platform's natively and
//! monoscan's in the IR. Where that is blown up, as in `x.exp().sin()`, a result may differ by what
//! it changes when the last place of an argument does.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use monoscan_ir::laws::sample_states;
use monoscan_ir::{Constant, Stage, Table, Type, interp};
use monoscan_runtime::Error;

use crate::lang::{self, Inputs, Monoid, ScanFn, Traced};

const SAMPLES: usize = 24;

/// Most instructions of `combine` that are interpreted, of a large one for a few states at least.
const WORK: usize = 10_000;
const LEAST: usize = 4;

/// The results of a function of Rust for these arguments.
pub(super) type Native<'n> = &'n dyn Fn(&[Constant]) -> Vec<Constant>;

/// The results of its IR, and whether arithmetic overflows there.
type Compiled<'c> = &'c dyn Fn(&[Constant]) -> (Vec<Constant>, bool);

/// Checks `combine`, `valid` and `follows` of `M` on valid states.
pub(super) fn check_monoid<M: Monoid>(stage: &Stage, tables: &[Table]) -> Result<(), Error> {
    let state = |state: &[Constant]| lang::from_constants::<M>(state.iter().copied());
    let both = |states: &[Constant]| {
        let (left, right) = states.split_at(states.len() / 2);
        (state(left), state(right))
    };
    let functions: [(&str, Native<'_>); 3] = [
        ("combine", &|states| {
            let (left, right) = both(states);
            lang::to_constants(&left.combine(right))
        }),
        ("valid", &|left| vec![state(left).valid().into()]),
        ("follows", &|states| {
            let (left, right) = both(states);
            vec![left.follows(right).into()]
        }),
    ];
    check_stage(type_name::<M>(), stage, tables, functions)
}

/// Checks the functions of a monoid of this name: `combine`, `valid` and `follows`.
fn check_stage(monoid: &str, stage: &Stage, tables: &[Table], natives: [(&str, Native<'_>); 3]) -> Result<(), Error> {
    let samples = (WORK / stage.combine.insts.len().max(1)).clamp(LEAST, SAMPLES);
    let states = sample_states(stage, tables, samples, 0);
    for (i, left) in states.iter().enumerate() {
        let right = &states[(7 * i + 3) % states.len()];
        let both = [&left[..], right].concat();
        let arguments = [&both, left, &both];
        let functions = [Some(&stage.combine), stage.valid.as_ref(), stage.follows.as_ref()];
        for (((name, native), function), arguments) in natives.iter().zip(functions).zip(arguments) {
            let call = |arguments: &[Constant]| match function {
                Some(function) => interp::call_checked(function, arguments, tables),
                // What is always true has no IR, and nor has a `precedes` without `#[scan_fn]`.
                None => (vec![Constant::from(true)], false),
            };
            if !agree_on(&|| format!("{monoid}::{name}"), arguments, native, &call)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Checks a lift or project on small arguments.
pub(super) fn check_function<F: ScanFn<Args>, Args: Inputs>(f: &F, traced: &Traced) -> Result<(), Error> {
    // Not every number is a variant of an enum.
    let taken = |arguments: &[Constant]| lang::from_constants::<Args>(arguments.iter().copied());
    let valid: Native<'_> = &|arguments| lang::to_constants(&taken(arguments));
    check_on_samples(type_name::<F>(), traced, valid, &|arguments| lang::to_constants(&f.call(taken(arguments))))
}

/// Checks a function of this name on small arguments, as `valid` makes them ones of their types.
fn check_on_samples(name: &str, traced: &Traced, valid: Native<'_>, native: Native<'_>) -> Result<(), Error> {
    let types = &traced.function.params;
    for sample in 0..SAMPLES {
        let arguments: Vec<Constant> = types.iter().enumerate().map(|(place, &ty)| value(ty, sample, place)).collect();
        let call = |arguments: &[Constant]| interp::call_checked(&traced.function, arguments, &traced.tables);
        if !agree_on(&|| name.to_owned(), &valid(&arguments), native, &call)? {
            break;
        }
    }
    Ok(())
}

/// Compares both on these arguments, unless the IR overflows on them; false if the native function panics.
fn agree_on(
    name: &dyn Fn() -> String,
    arguments: &[Constant],
    native: Native<'_>,
    call: Compiled<'_>,
) -> Result<bool, Error> {
    let (compiled, overflow) = call(arguments);
    if overflow {
        return Ok(true);
    }
    let Some(result) = run(native, arguments) else { return Ok(false) };
    compare(name, arguments, &result, &compiled, &|arguments| call(arguments).0)?;
    Ok(true)
}

/// The results of a function of Rust; none if it panics, or if a panic would end the process.
pub(super) fn run(native: Native<'_>, arguments: &[Constant]) -> Option<Vec<Constant>> {
    let is_abort = cfg!(panic = "abort");
    if is_abort { None } else { catch_unwind(AssertUnwindSafe(|| native(arguments))).ok() }
}

/// A small argument: each sample gives each place another one.
fn value(ty: Type, sample: usize, place: usize) -> Constant {
    const SMALL: [i64; 8] = [0, 1, 2, -1, 3, 7, -5, 100];
    let pick = SMALL[(sample * (2 * place + 1) + place + sample / SMALL.len()) % SMALL.len()];
    let half = |whole: Constant| whole.as_f64() + 0.25 * (sample % 4) as f64;
    match ty {
        Type::F32 => Constant::from(half(ty.of_i64(pick)) as f32),
        Type::F64 => Constant::from(half(ty.of_i64(pick))),
        _ => ty.of_i64(pick),
    }
}

/// Compares results of Rust with those of the IR, which `run` gives for other arguments too.
pub(super) fn compare(
    function: &dyn Fn() -> String,
    arguments: &[Constant],
    native: &[Constant],
    compiled: &[Constant],
    run: Native<'_>,
) -> Result<(), Error> {
    let differs = |place: &usize| !agree(native[*place], compiled[*place]);
    if native.len() == compiled.len() {
        let places: Vec<usize> = (0..native.len()).filter(differs).collect();
        if places.is_empty() {
            return Ok(());
        }
        let near = [1, -1].map(|step| run(&nudged(arguments, step)));
        let follows = |&place: &usize| near.iter().any(|near| moves(native[place], compiled[place], near[place]));
        if places.iter().all(follows) {
            return Ok(());
        }
    }
    let [arguments, native, compiled] = [arguments, native, compiled].map(<[Constant]>::to_vec);
    Err(Error::Mistranslated { function: function(), arguments, native, compiled })
}

/// The arguments with each float moved by one in its last place.
fn nudged(arguments: &[Constant], step: i64) -> Vec<Constant> {
    let nudge = |argument: &Constant| match argument.ty() {
        ty if ty.is_float() => Constant::new(ty, (argument.bits() as i64).wrapping_add(step) as u128),
        _ => *argument,
    };
    arguments.iter().map(nudge).collect()
}

/// Whether the result for near arguments is about as far from the result as the native one is.
fn moves(native: Constant, compiled: Constant, near: Constant) -> bool {
    if !near.ty().is_float() {
        return !near.same(compiled);
    }
    (native.as_f64() - compiled.as_f64()).abs() <= 4.0 * (near.as_f64() - compiled.as_f64()).abs()
}

fn agree(a: Constant, b: Constant) -> bool {
    if a.ty() == b.ty() && a.ty().is_float() && a.as_f64().is_finite() {
        let tolerance = if a.ty() == Type::F32 { 1e-4 } else { 1e-10 };
        let (a, b) = (a.as_f64(), b.as_f64());
        return (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0);
    }
    a.same(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_an_error_that_shows_both_results() {
        let one = [Constant::from(1i32)];
        let two = [Constant::from(2i32)];
        let run = |_: &[Constant]| two.to_vec();
        assert!(compare(&|| "f".into(), &one, &one, &one, &run).is_ok());
        let error = compare(&|| "f".into(), &one, &one, &two, &run).unwrap_err().to_string();
        assert!(error.contains("Rust gives (1)") && error.contains("the IR gives (2)"), "{error}");
    }

    #[test]
    fn a_result_may_differ_by_what_the_last_place_of_an_argument_does() {
        let argument = [Constant::from(100f64)];
        let (native, compiled) = ([Constant::from(0.25f64)], [Constant::from(-0.5f64)]);
        let steep = |near: &[Constant]| vec![Constant::from(if near[0].as_f64() > 100.0 { 0.75f64 } else { -0.5 })];
        let flat = |_: &[Constant]| vec![Constant::from(-0.5f64)];
        assert!(compare(&|| "f".into(), &argument, &native, &compiled, &steep).is_ok());
        assert!(compare(&|| "f".into(), &argument, &native, &compiled, &flat).is_err());
    }

    #[test]
    fn floats_may_differ_in_the_last_places_only() {
        assert!(agree(1.0f32.into(), 1.000_000_1f32.into()));
        assert!(!agree(1.0f32.into(), 1.01f32.into()));
        assert!(agree(f32::NAN.into(), f32::NAN.into()));
        assert!(!agree(f32::INFINITY.into(), 1.0f32.into()));
    }
}

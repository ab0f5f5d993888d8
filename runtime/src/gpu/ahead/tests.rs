//! Kernels from texts and files: damage and calls that they were not made for are refused before
//! anything is loaded.

use super::calls::choose;
use super::*;
use crate::backend::Settings;
use crate::call::{Init, Rows, Shape};
use crate::column::{Column, ColumnMut};
use crate::parameters::Parameters;
use crate::spacing::Spacing;
use monoscan_codegen::gpu::{GpuPlan, Schedule, sha256};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Constant, Layout, Mode, Type};

static NONE: AotKernel = crate::include_kernel!("kernels/none");

#[test]
fn kernels_come_with_the_program_or_from_files() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu/ahead/kernels/none");
    assert_eq!(AotKernel::from_files(path).unwrap(), NONE);
    let manifest = NONE.manifest().unwrap();
    assert_eq!((&*manifest.program.name, manifest.arch.name()), ("none", "sm_90"));
    assert!(format!("{NONE:?}").starts_with("AotKernel none, "));
}

#[test]
fn files_that_are_not_there_are_named() {
    let error = AotKernel::from_files("/no/such.name").unwrap_err();
    assert!(error.to_string().starts_with("/no/such.name.manifest: "), "{error}");
}

#[test]
fn damage_is_found_before_anything_is_loaded() {
    let changed = AotKernel { ptx: format!("{} ", NONE.ptx).into(), ..NONE.clone() };
    let AotError::Hash { expected, got } = changed.manifest().unwrap_err() else { panic!("another error") };
    assert_eq!((expected, got), (sha256(&*NONE.ptx), sha256(&*changed.ptx)));
    let manifest = NONE.manifest.replace("threads 352", "threads many");
    let error = AotKernel { manifest: manifest.into(), ..NONE.clone() }.manifest().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the kernel's manifest: line 15: expected `threads` and a number from 1 to 1024, got `threads many`"
    );
    let manifest = NONE.manifest.replace("const.i32 100", "const.i32 101");
    let error = AotKernel { manifest: manifest.into(), ..NONE.clone() }.manifest().unwrap_err();
    assert!(error.to_string().contains("make it again"), "{error}");
}

/// Which of these kernels a call of 24 records takes, whose columns begin at this address.
fn chosen_at(address: u64, kernels: &[AotManifest], call: &Call<'_>) -> Result<usize, AotError> {
    let layout = Layout::of(Type::I32);
    let device = crate::Device::cpu();
    // SAFETY: nobody reads or writes there.
    let (input, output) = unsafe {
        (Column::on_device_raw(device, address, 24, &layout), ColumnMut::on_device_raw(device, address, 24, &layout))
    };
    let settings = Settings { parameters: &Parameters::default(), checked: false };
    let program = &*kernels[0].program;
    let task = Task::new((program, device), (call, settings), &[input], &[output]).unwrap();
    choose(kernels.iter(), &task)
}

#[test]
fn spaced_columns_are_refused_before_anything_is_launched() {
    let (layout, device, call) = (Layout::of(Type::I32), crate::Device::cpu(), Call::default());
    let kernels = [with(|_| ())];
    let settings = Settings { parameters: &Parameters::default(), checked: false };
    // SAFETY: nobody reads or writes there.
    let (input, output) = unsafe {
        (Column::on_device_raw(device, 256, 24, &layout), ColumnMut::on_device_raw(device, 512, 24, &layout))
    };
    let outputs = [output.spaced(Some(Spacing::Bytes(8)))];
    let task = Task::new((&*kernels[0].program, device), (&call, settings), &[input], &outputs).unwrap();
    let refused = choose(kernels.iter(), &task).unwrap_err();
    assert!(matches!(refused, AotError::Helper { makes: Helper::Copies }));
    assert!(refused.to_string().contains("records are one after the other"), "{refused}");
}

fn refused(manifest: &AotManifest, call: &Call<'_>) -> String {
    let chosen = chosen_at(256, std::slice::from_ref(manifest), call);
    chosen.map_or_else(|error| error.to_string(), |_| "not refused".into())
}

fn with(change: impl FnOnce(&mut AotManifest)) -> AotManifest {
    let mut manifest = NONE.manifest().unwrap();
    change(&mut manifest);
    manifest
}

fn of_form(form: Form) -> AotManifest {
    with(|manifest| manifest.lowered = lower(&manifest.program, form))
}

#[test]
fn calls_that_a_kernel_was_not_made_for_are_refused() {
    let ring = with(|_| ());
    let line = Call::default();
    assert_eq!(refused(&ring, &line), "not refused");
    let exclusive = Call { mode: Mode::Exclusive, ..line.clone() };
    assert_eq!(
        refused(&ring, &exclusive),
        "the call asks for exclusive scans of a line, forwards, and kernels were made ahead of time for inclusive scans of \
         lines, forwards, in columns at multiples of 16 bytes"
    );
    assert_eq!(refused(&of_form(Form { mode: Mode::Exclusive, ..Form::default() }), &exclusive), "not refused");
    let segmented = of_form(Form { heads: true, ..Form::default() });
    assert!(refused(&segmented, &line).contains("flagged segments"));
    let odd = chosen_at(4, std::slice::from_ref(&ring), &line).unwrap_err();
    assert!(odd.to_string().contains("other addresses than multiples of 16 bytes"), "{odd}");

    let side_by_side = Call { shape: Shape::Rows(Rows::axis(&[4, 6], 0).unwrap()), ..line.clone() };
    let one_by_one = Call { shape: Shape::Rows(Rows::axis(&[4, 6], 1).unwrap()), ..line.clone() };
    let one = Call { shape: Shape::Rows(Rows::axis(&[1, 24], 1).unwrap()), ..line.clone() };
    let look_back = with(|manifest| manifest.launch.plan.schedule = Schedule::LookBack);
    let columnar = with(|manifest| manifest.launch.plan = GpuPlan::columnar(4));
    assert!(refused(&ring, &one_by_one).contains("asks for inclusive scans of 4 rows one after the other"));
    assert_eq!(refused(&ring, &one), "not refused");
    assert!(refused(&ring, &Call { reversed: true, ..line.clone() }).contains("of a line, reversed"));
    assert_eq!(refused(&look_back, &Call { reversed: true, ..line.clone() }), "not refused");
    assert_eq!(refused(&look_back, &one_by_one), "not refused");
    assert!(refused(&look_back, &side_by_side).contains("6 rows side by side"));
    assert_eq!(refused(&columnar, &side_by_side), "not refused");
    assert!(refused(&columnar, &line).contains("for inclusive scans of rows"));
}

#[test]
fn a_call_takes_the_first_kernel_that_was_made_for_it() {
    let kernels = [
        with(|_| ()),
        with(|manifest| manifest.launch.plan.schedule = Schedule::LookBack),
        with(|manifest| manifest.launch.plan = GpuPlan::columnar(4)),
    ];
    let line = Call::default();
    let side_by_side = Call { shape: Shape::Rows(Rows::axis(&[4, 6], 0).unwrap()), ..line.clone() };
    assert_eq!(chosen_at(256, &kernels, &line), Ok(0));
    assert_eq!(chosen_at(4, &kernels, &line), Ok(1));
    assert_eq!(chosen_at(256, &kernels, &Call { reversed: true, ..line.clone() }), Ok(1));
    assert_eq!(chosen_at(256, &kernels, &side_by_side), Ok(2));
    let none = chosen_at(256, &kernels, &Call { mode: Mode::Exclusive, ..line }).unwrap_err();
    assert_eq!(none.to_string().matches("; and for ").count(), 2, "{none}");
}

#[test]
fn states_that_a_kernel_takes_for_impossible_are_refused() {
    let manifest = NONE.manifest().unwrap();
    let (within, beyond) = ([Constant::from(100)], [Constant::from(101)]);
    assert_eq!(refused(&manifest, &Call { init: Init::Same(&within), ..Call::default() }), "not refused");
    let call = Call { carry: Some(&beyond), ..Call::default() };
    assert_eq!(
        refused(&manifest, &call),
        "component 0 of the carry is 101, expected one in 0..=100: make the kernel for any states"
    );
    let any = with(|manifest| manifest.lowered = manifest.lowered.clone().for_any_states());
    assert_eq!(chosen_at(256, &[manifest, any], &call), Ok(1));
}

//! Kernels from texts and files: damage and calls that they were not made for are refused before
//! anything is loaded.

use super::*;
use crate::call::Rows;
use monoscan_codegen::gpu::GpuPlan;
use monoscan_ir::Constant;

static NONE: AotKernel = crate::include_kernel!("kernels/none");

#[test]
fn kernels_come_with_the_program_or_from_files() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu/aot/kernels/none");
    assert_eq!(AotKernel::from_files(path).unwrap(), NONE);
    let manifest = NONE.manifest().unwrap();
    assert_eq!((&*manifest.program, manifest.arch.name()), ("none", "sm_90"));
    assert_eq!(manifest.state().collect::<Vec<_>>(), [Type::I32]);
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
    assert_eq!(expected, NONE.manifest().unwrap().ptx_sha256);
    assert_ne!(got, expected);
    let manifest = NONE.manifest.replace("threads 352", "threads many");
    let error = AotKernel { manifest: manifest.into(), ..NONE.clone() }.manifest().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the kernel's manifest: line 14: expected `threads` and a number from 1 to 1024, got `threads many`"
    );
}

fn refused(manifest: &AotManifest, call: &Call<'_>) -> String {
    let line = Span { rows: 1, records: 100, pitch: 100, step: 1 };
    let span = if let Shape::Rows(rows) = call.shape { Span::of(rows) } else { line };
    let way = || expect_way(manifest, call, span);
    let result = expect_form(manifest, call).and_then(|()| expect_states(manifest, call)).and_then(|()| way());
    result.map_or_else(|error| error.to_string(), |()| "not refused".into())
}

#[test]
fn calls_that_a_kernel_was_not_made_for_are_refused() {
    let ring = NONE.manifest().unwrap();
    let with = |change: fn(&mut AotManifest)| {
        let mut manifest = ring.clone();
        change(&mut manifest);
        manifest
    };
    let line = Call::default();
    assert_eq!(refused(&ring, &line), "not refused");
    let exclusive = Call { mode: Mode::Exclusive, ..line.clone() };
    let message = "the kernel was made for inclusive scans, and the call asks for exclusive scans";
    assert_eq!(refused(&ring, &exclusive), message);
    assert_eq!(refused(&with(|manifest| manifest.form.mode = Mode::Exclusive), &exclusive), "not refused");
    assert!(refused(&with(|manifest| manifest.form.heads = true), &line).contains("flagged segments"));

    let side_by_side = Call { shape: Shape::Rows(Rows::axis(&[4, 6], 0).unwrap()), ..line.clone() };
    let one_by_one = Call { shape: Shape::Rows(Rows::axis(&[4, 6], 1).unwrap()), ..line.clone() };
    let look_back = with(|manifest| manifest.launch.plan.schedule = Schedule::LookBack);
    let columnar = with(|manifest| manifest.launch.plan = GpuPlan::columnar());
    assert!(refused(&ring, &one_by_one).contains("made for lines"));
    assert!(refused(&ring, &Call { reversed: true, ..line.clone() }).contains("a reversed scan"));
    assert_eq!(refused(&look_back, &Call { reversed: true, ..line.clone() }), "not refused");
    assert_eq!(refused(&look_back, &one_by_one), "not refused");
    assert!(refused(&look_back, &side_by_side).contains("rows side by side"));
    assert_eq!(refused(&columnar, &side_by_side), "not refused");
    assert!(refused(&columnar, &line).contains("made for rows"));
}

#[test]
fn states_that_a_kernel_takes_for_impossible_are_refused() {
    let manifest = NONE.manifest().unwrap();
    let (within, beyond) = ([Constant::from(100)], [Constant::from(101)]);
    assert_eq!(refused(&manifest, &Call { init: Some(&within), ..Call::default() }), "not refused");
    assert_eq!(
        refused(&manifest, &Call { carry: Some(&beyond), ..Call::default() }),
        "component 0 of the carry is 101, expected one in 0..=100: make the kernel for any states"
    );
}

#[test]
fn the_column_of_flags_is_not_one_of_the_program() {
    let mut manifest = NONE.manifest().unwrap();
    manifest.launch.inputs.push(Layout::of(Type::Bool));
    assert_eq!(inputs(&manifest).len(), 2);
    manifest.form.heads = true;
    assert_eq!(inputs(&manifest).len(), 1);
}

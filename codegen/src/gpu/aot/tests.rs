//! Manifests round-trip through their text, and no text makes the parser panic.

use super::*;
use crate::gpu::{Arguments, GpuPlan, Schedule};
use monoscan_ir::transform::lower;
use monoscan_ir::{Mode, Program, Verified, random, text, verify};

/// The manifest of a kernel that nobody made: what is told of it is right all the same.
fn manifest(program: &Verified<Program>, form: Form, plan: GpuPlan) -> AotManifest {
    let lowered = lower(program, form);
    let launch = Manifest {
        plan,
        threads: 352,
        shared_bytes: 200_000,
        tile_state_bytes: 24,
        arguments: Arguments::of(&lowered),
        inputs: lowered.inputs.clone(),
        outputs: lowered.output.columns.clone(),
    };
    AotManifest::new(&lowered, Arch::Sm90, launch, "0123456789abcdef".repeat(4))
}

/// A plan of each schedule.
fn plans() -> [GpuPlan; 4] {
    let [ring, shifted] = [false, true].map(|shifted| Schedule::Ring { buffers: 5, ahead: 3, shifted });
    let plan = |schedule| GpuPlan { schedule, warps: 8, load_group: 4, load_groups: 9 };
    [plan(ring), plan(shifted), plan(Schedule::LookBack), GpuPlan::columnar()]
}

fn affine() -> AotManifest {
    let source = include_str!("../../../../ir/tests/files/facts/affine.scan");
    let program = verify(text::parse(source).unwrap()).unwrap();
    manifest(&program, Form::default(), plans()[0].clone())
}

#[test]
fn manifests_of_all_sorts_of_programs_round_trip() {
    for seed in 0..200 {
        let options = random::Options { allow_parameters: seed % 2 == 0, ..Default::default() };
        let program = verify(random::random_program(seed, &options)).unwrap();
        for form in [
            Form::default(),
            Form { mode: Mode::Exclusive, heads: true, init: true, checked: false, previous: false },
            Form { heads: true, ..Form::default() },
        ] {
            for plan in plans() {
                let manifest = manifest(&program, form, plan);
                let text = manifest.to_string();
                let read: AotManifest = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(read.to_string(), text);
                // Constants that are no numbers differ from themselves, but not in their bits.
                assert_eq!(format!("{read:?}"), format!("{manifest:?}"));
            }
        }
    }
}

#[test]
fn components_say_where_they_come_from() {
    let source = include_str!("../../../../ir/tests/files/facts/run_starts.scan");
    let program = verify(text::parse(source).unwrap()).unwrap();
    let form = Form { heads: true, ..Form::default() };
    let manifest = manifest(&program, form, GpuPlan::columnar());
    let own = manifest.components.iter().filter(|component| component.role == Role::User).count();
    assert_eq!(own, program.stages.iter().map(|stage| stage.state.len()).sum::<usize>());
    let ranks = manifest.components.iter().filter(|component| component.role == Role::Rank).count();
    assert_eq!((manifest.keeps, ranks), (program.output.filter.is_some(), usize::from(manifest.keeps)));
    assert!(manifest.components.iter().any(|component| component.role == Role::SegmentFlag));
}

#[test]
fn a_name_is_one_line() {
    let mut named = affine();
    named.program = "two\nlines".escape_debug().to_string();
    assert_eq!(named.to_string().parse::<AotManifest>().unwrap(), named);
}

#[test]
fn comments_and_blank_lines_mean_nothing() {
    let affine = affine();
    let text = affine.to_string().replace('\n', "\r\n\n# a comment\n");
    assert_eq!(text.parse::<AotManifest>().unwrap(), affine);
}

/// The error for the text in which a line that begins with `key` is replaced.
fn refusal(key: &str, line: &str) -> ManifestError {
    let text = affine().to_string();
    let lines: Vec<&str> = text.lines().map(|known| if known.starts_with(key) { line } else { known }).collect();
    lines.join("\n").parse::<AotManifest>().unwrap_err()
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = refusal("threads", "threads 0");
    assert_eq!(error.to_string(), "line 14: expected `threads` and a number from 1 to 1024, got `threads 0`");
    assert_eq!(
        refusal("monoscan-kernel", "monoscan-kernel 1").to_string().split(", got").next(),
        Some("line 1: expected `monoscan-kernel` and 2")
    );
    assert!(refusal("arch", "arch sm_70").expected.contains("`sm_80`"));
    assert!(refusal("ptx-sha256", "ptx-sha256 abc").expected.contains("64 hexadecimal digits"));
    assert_eq!(refusal("mode", "mode both").line, 6);
    assert_eq!(refusal("heads", "init true").got, "`init true`");
    assert!(refusal("schedule", "schedule ring buffers 3 ahead 3").expected.contains("look-back"));
    assert_eq!(refusal("load-groups", "load-groups 99999999999999999999").line, 13);
    assert!(refusal("states", "states { size 2, align 4, f32 @ 0 }").expected.contains("layout"));
    assert!(refusal("component", "component own 0.5").expected.contains("literal of type f32"));
    assert!(refusal("column", "colum").expected.contains("`end`"));
    assert!(refusal("end", "end\nend").expected.contains("nothing after"));
}

#[test]
fn no_cut_and_no_damage_makes_the_parser_panic() {
    let text = affine().to_string();
    for cut in 0..text.len() - 1 {
        assert!(text[..cut].parse::<AotManifest>().is_err(), "{}", &text[..cut]);
    }
    for place in 0..text.len() {
        for byte in [b'0', b' ', b'\n', b'-', b'9', b'{'] {
            let mut damaged = text.clone().into_bytes();
            damaged[place] = byte;
            _ = String::from_utf8(damaged).unwrap().parse::<AotManifest>();
        }
    }
}

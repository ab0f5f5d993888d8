//! Manifests round-trip through their text, and no text makes the parser panic.

use super::*;
use crate::gpu::{GpuPlan, Schedule};
use monoscan_ir::transform::SegmentStart;
use monoscan_ir::{Mode, text, verify};
use scan_kit::random;

/// The manifest of a kernel that nobody made: what is told of it is right all the same.
fn manifest(program: &Verified<Program>, form: Form, plan: GpuPlan) -> AotManifest {
    let lowered = lowered_for(program, (form, form.heads));
    let launch = launch(&lowered, plan, [352, 200_000, 24]);
    AotManifest::new(program.clone(), lowered, Arch::Sm90, launch, "0123456789abcdef".repeat(4))
}

/// A plan of each schedule.
fn plans() -> [GpuPlan; 4] {
    let [ring, shifted] = [false, true].map(|shifted| Schedule::Ring { buffers: 5, ahead: 3, shifted });
    let plan = |schedule| GpuPlan { schedule, warps: 8, load_group: 4, load_groups: 9 };
    [plan(ring), plan(shifted), plan(Schedule::LookBack), GpuPlan::columnar(4)]
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
            Form { mode: Mode::Exclusive, heads: true, start: SegmentStart::Init, ..Form::default() },
            Form { heads: true, ..Form::default() },
            Form { checked: true, ..Form::default() },
            Form { checked: true, heads: true, start: SegmentStart::Each, ..Form::default() },
        ] {
            let form = Form { previous: program.reads_previous(), ..form };
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
fn comments_and_blank_lines_mean_nothing() {
    let affine = affine();
    let text = affine.to_string();
    let (head, program) = text.split_at(text.find("program").unwrap());
    let text = head.replace('\n', "\r\n\n# a comment\n") + &program.replace('\n', "\r\n\n");
    assert_eq!(text.parse::<AotManifest>().unwrap(), affine);
}

#[test]
fn a_kernel_of_a_version_that_lowers_in_another_way_is_refused() {
    let other = "fedcba9876543210".repeat(4);
    let text = affine().to_string();
    let lines = text.lines().map(|line| match line.split_once(' ') {
        Some(("lowered-sha256", _)) => format!("lowered-sha256 {other}\n"),
        Some(("version", _)) => "version 0.0.9\n".into(),
        _ => format!("{line}\n"),
    });
    let error = lines.collect::<String>().parse::<AotManifest>().unwrap_err();
    assert_eq!(error, ManifestError::Lowered { version: "0.0.9".into() });
}

/// The error for the text in which a line that begins with `key` is replaced.
fn refusal(key: &str, line: &str) -> ManifestError {
    let text = affine().to_string();
    let lines: Vec<&str> = text.lines().map(|known| if known.starts_with(key) { line } else { known }).collect();
    lines.join("\n").parse::<AotManifest>().unwrap_err()
}

/// Which line is wrong, what was expected there, and what is there.
fn wrong_line(key: &str, line: &str) -> (usize, String, String) {
    match refusal(key, line) {
        ManifestError::Line { line, expected, got } => (line, expected.to_string(), got.to_string()),
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = refusal("threads", "threads 0");
    assert_eq!(error.to_string(), "line 15: expected `threads` and a number from 1 to 1024, got `threads 0`");
    assert_eq!(
        refusal("monoscan-kernel", "monoscan-kernel 1").to_string().split(", got").next(),
        Some("line 1: expected `monoscan-kernel` and 6")
    );
    assert!(wrong_line("arch", "arch sm_70").1.contains("`sm_80`"));
    assert!(wrong_line("ptx-sha256", "ptx-sha256 abc").1.contains("64 hexadecimal digits"));
    assert_eq!(wrong_line("mode", "mode both").0, 6);
    assert_eq!(wrong_line("heads", "start init").2, "`start init`");
    assert_eq!(wrong_line("start", "start").1, "`start` and `identity`, `init` or `each`");
    assert_eq!(wrong_line("checked", "checked").1, "`checked` and `true` or `false`");
    assert!(wrong_line("schedule", "schedule ring buffers 3 ahead 3").1.contains("look-back"));
    assert_eq!(wrong_line("load-groups", "load-groups 99999999999999999999").0, 14);
    assert!(wrong_line("program", "progam").1.contains("`program`"));
    assert_eq!(wrong_line("end", "").1, "`end`");
    assert!(matches!(refusal("  stage", "  stag (f32)"), ManifestError::Program { line: 18, .. }));
    assert!(matches!(refusal("    identity", "    identity (1)"), ManifestError::Invalid(_)));
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

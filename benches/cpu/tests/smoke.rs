//! The benchmark as a command: all entrants in Rust are right, and its results can be kept and
//! shown again.

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cpu-bench")).args(arguments).output().unwrap()
}

#[test]
fn all_entrants_in_rust_are_right() {
    let output = bench(&["--verify", "--sizes", "0,5,6,12,17", "--rust-only"]);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}\n{errors}");
    for entrant in ["plain loop", "monoscan", "rayon two-pass", "rayon-scan", "premultiplied table", "logos", "memcpy"]
    {
        let verified = |line: &&str| line.starts_with(entrant) && line.trim_end().ends_with("verified");
        assert!(text.lines().any(|line| verified(&line)), "{entrant}:\n{text}");
    }
}

#[test]
fn results_are_timed_kept_and_shown_again() {
    let folder = std::env::temp_dir().join(format!("cpu-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (file("results.csv"), file("plot.svg"));
    let run = ["--quick", "--workload", "sum-i32", "--sizes", "10,12", "--rust-only", "--csv", &csv];
    assert!(bench(&run).status.success());
    let shown = bench(&["--from", &csv, "--bars", "--svg", &svg]);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success() && text.contains("sum i32, 2^12 elements"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("sum-i32") && line.contains("2^10")), "{text}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("sum i32"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn busy_machines_many_threads_and_more_cores_than_there_are_have_tables() {
    let few = ["--sizes", "10", "--budget", "0", "--workload", "sum-i32", "--workload", "run-lengths"];
    for (table, columns) in
        [(&["--busy", "--strangers", "1"][..], "strangers"), (&["--scaling"], "copy"), (&["--simulate"], "tiles")]
    {
        let output = bench(&[table, &few].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(columns), "{text}");
        assert!(text.contains("sum-i32") && text.contains("run-lengths") && !text.contains("states-16"), "{text}");
    }
}

#[test]
fn short_lines_of_the_zoo_have_a_table() {
    let output = bench(&["--small", "--verify", "--sizes", "6", "--workload", "zoo", "--workload", "segments"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.contains("wrong"), "{text}");
    for operator in ["Gaps", "Segmented<Words>", "segments of 4 f64, offsets"] {
        let verified = |line: &&str| line.starts_with(operator) && line.ends_with("verified");
        assert_eq!(text.lines().filter(verified).count(), 2, "{operator}:\n{text}");
    }
}

#[test]
fn a_wrong_command_line_is_refused_and_what_is_wrong_is_named() {
    for arguments in
        [&["--fast"][..], &["--workload", "nonsense"], &["--sizes", "ten"], &["--elements", "0"], &["--csv"]]
    {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(why.contains(arguments[0]) && why.contains("--help"), "{why}");
    }
}

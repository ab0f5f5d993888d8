//! The examples as commands: what they print, what they refuse, and that bad input writes nothing.

mod built;
mod tour;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The folder of the built examples.
fn examples() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built::build(&["--examples"]).join("examples"))
}

fn run(example: &str, arguments: &[&str]) -> Output {
    Command::new(examples().join(example)).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn failure(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of this test's own, emptied at the start.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.0.join(name), bytes).unwrap();
        self.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn the_lexer_prints_tokens_with_byte_offsets_and_errors_as_runs() {
    let scratch = Scratch::new("lexer-tokens");
    let text = scratch.file("text.json", b"{\"a\": [1, -2.5e3, tru] @#\xff \"open");
    let tokens = stdout(&run("lexer", &["--tokens", &text]));
    let expected = "0 1 LBRACE\n1 4 STRING\n4 5 COLON\n6 7 LBRACKET\n7 8 NUMBER\n8 9 COMMA\n10 16 NUMBER\n16 17 COMMA\n\
                    18 21 PART_WORD\n21 22 RBRACKET\n23 26 ERROR\n27 32 OPEN_STRING\n";
    assert_eq!(tokens, expected);
}

#[test]
fn the_lexer_takes_rules_from_a_file() {
    let scratch = Scratch::new("lexer-rules");
    let rules = scratch.file("rules", b"# words and numbers\nIF if\nWORD [a-z]+\nNUMBER [0-9]+\nskip BLANK [ \\n]+\n");
    let text = scratch.file("text", b"if ifs 42!!\n");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &text]));
    assert_eq!(tokens, "0 2 IF\n3 6 WORD\n7 9 NUMBER\n9 11 ERROR\n");
}

#[test]
fn the_lexer_counts_kinds_and_lexes_nothing_at_all() {
    let scratch = Scratch::new("lexer-counts");
    let counts = stdout(&run("lexer", &[&scratch.file("text", b"[[], 1]")]));
    let lines: Vec<Vec<&str>> = counts.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["LBRACKET", "2"]) && counts.contains("memcpy"), "{counts}");
    assert_eq!(stdout(&run("lexer", &["--tokens", &scratch.file("empty", b"")])), "");
}

#[test]
fn the_lexer_takes_a_long_text_in_chunks() {
    let scratch = Scratch::new("lexer-long");
    // Borders of chunks of 8 MB lie within numbers.
    let counts = stdout(&run("lexer", &[&scratch.file("text", &b"[1234567]\n\n".repeat(6_200_000))]));
    let lines: Vec<Vec<&str>> = counts.lines().map(|line| line.split_whitespace().collect()).collect();
    for kind in ["LBRACKET", "NUMBER", "RBRACKET"] {
        assert!(lines.contains(&vec![kind, "6200000"]), "{kind}: {counts}");
    }
    assert!(counts.contains("68200000 bytes") && counts.contains("was not compared"), "{counts}");
}

#[test]
fn the_lexer_shows_the_first_tokens_and_what_bounds_it_and_no_progress_where_nobody_watches() {
    let scratch = Scratch::new("lexer-shows");
    let text = format!("[\"a\\\"\u{7f}b\", \"{}\"]", "x".repeat(100));
    let output = run("lexer", &[&scratch.file("text", text.as_bytes())]);
    let said = stdout(&output);
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let long = format!("\"{}…", "x".repeat(47));
    for line in [["0", "LBRACKET", "["], ["1", "STRING", "\"a\\\"·b\""], ["8", "COMMA", ","], ["10", "STRING", &long]]
    {
        assert!(lines.contains(&line.to_vec()), "{line:?}: {said}");
    }
    assert!(said.contains("bound"), "{said}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_lexer_takes_rules_that_look_further_ahead_and_refuses_wrong_ones() {
    let scratch = Scratch::new("lexer-ahead");
    let rules = scratch.file("rules", b"INT [0-9]+\nFLOAT [0-9]+e[0-9]+\nNAME [a-z]+\n");
    let text = scratch.file("text", b"1e5e");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &text]));
    assert_eq!(tokens, "0 3 FLOAT\n3 4 NAME\n");
    let message = failure(&run("lexer", &["--rules", &scratch.file("bad", b"WORD [a-z\n"), &text]), 1);
    assert!(message.contains("line 1, column 6"), "{message}");
}

#[test]
fn pretokenise_cuts_a_text_by_named_and_other_patterns() {
    let scratch = Scratch::new("pretokenise");
    let text = scratch.file("text", "it's  42é".as_bytes());
    let pieces = |pattern: &str| stdout(&run("pretokenise", &["--pattern", pattern, "--pieces", &text]));
    assert_eq!(pieces("cl100k"), "\"it\"\n\"'s\"\n\" \"\n\" \"\n\"42\"\n\"é\"\n");
    assert_eq!(pieces("cl100k-tiktoken"), pieces("cl100k"));
    assert_eq!(pieces("o200k"), "\"it's\"\n\" \"\n\" \"\n\"42\"\n\"é\"\n");
    assert_eq!(pieces("[a-z]|[0-9]+"), "\"i\"\n\"t\"\n\"s\"\n\"42\"\n");
    assert!(stdout(&run("pretokenise", &[&text])).contains("into 6 pieces"));
    let message = failure(&run("pretokenise", &["--pattern", "a|b*", &text]), 1);
    assert!(message.contains("alternative 2"), "{message}");
    assert!(failure(&run("pretokenise", &["--pattern"]), 2).contains("--pattern needs"));
}

#[test]
fn the_lexer_has_rules_for_languages_and_prints_chosen_kinds_only() {
    let scratch = Scratch::new("lexer-only");
    let text = scratch.file("text", b"if (x) /* note */ return 1.5;");
    let tokens = stdout(&run("lexer", &["--rules", "c", "--tokens", "--only", "return,FLOAT", &text]));
    assert_eq!(tokens, "18 24 return\n25 28 FLOAT\n");
    let message = failure(&run("lexer", &["--rules", "csv", "--only", "COMA", &text]), 2);
    assert!(message.contains("COMA") && message.contains("COMMA"), "{message}");
}

#[test]
fn the_lexer_says_how_it_is_used_and_which_file_is_missing() {
    assert!(failure(&run("lexer", &["--nonsense"]), 2).contains("usage: lexer"));
    assert!(failure(&run("lexer", &["a", "b"]), 2).contains("one file"));
    assert!(failure(&run("lexer", &["/no/such/file"]), 1).contains("/no/such/file"));
}

#[test]
fn the_lexer_reads_rules_with_any_line_ends_and_a_hash_in_a_regex() {
    let scratch = Scratch::new("lexer-line-ends");
    let rules = scratch.file("rules", b"# tags\r\n\r\nTAG #[a-z]+\r\nHASH #\r\nskip BLANK [ ]");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &scratch.file("text", b"#ab # \r#")]));
    assert_eq!(tokens, "0 3 TAG\n4 5 HASH\n6 7 ERROR\n7 8 HASH\n");
}

#[test]
fn the_lexer_names_the_file_that_it_cannot_use() {
    let scratch = Scratch::new("lexer-files");
    let text = scratch.file("text", b"a");
    let folder = scratch.0.to_str().unwrap();
    let latin = scratch.file("latin", b"A \xe9\n");
    let nothing = scratch.file("nothing", b"");
    for rules in [folder, &latin, &nothing] {
        let message = failure(&run("lexer", &["--rules", rules, &text]), 1);
        assert!(message.starts_with(&format!("{rules}: ")), "{message}");
    }
    assert!(failure(&run("lexer", &[folder]), 1).starts_with(&format!("{folder}: ")));
    assert!(failure(&run("lexer", &["--rules"]), 2).contains("--rules needs a file"));
}

#[test]
fn a_reader_may_close_the_pipe_of_tokens() {
    let scratch = Scratch::new("lexer-pipe");
    let text = scratch.file("text", "1 ".repeat(200_000).as_bytes());
    let mut lexer = Command::new(examples().join("lexer"));
    let mut lexer = lexer.args(["--tokens", &text]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(lexer.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let end = lexer.wait_with_output().unwrap();
    assert_eq!(first, "0 1 NUMBER\n");
    assert!(end.status.success() && end.stderr.is_empty(), "{}", String::from_utf8_lossy(&end.stderr));
}

fn doubles(samples: &[f64]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

#[test]
fn the_recurrence_filters_raw_samples() {
    let scratch = Scratch::new("recurrence-raw");
    let raw = scratch.file("in.f64", &doubles(&[1.0, 0.0, 0.0, 2.0]));
    let out = scratch.path("out.f64");
    stdout(&run("recurrence", &["--signature", "1 : 0.5", "--raw", &raw, "--out", &out]));
    assert_eq!(fs::read(&out).unwrap(), doubles(&[1.0, 0.5, 0.25, 2.125]));

    let singles: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let raw = scratch.file("in.f32", &singles);
    stdout(&run("recurrence", &["--signature", "1 : 1", "--f32", "--raw", &raw, "--out", &out]));
    let sums: Vec<u8> = [1.0f32, 3.0, 6.0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    assert_eq!(fs::read(&out).unwrap(), sums);
}

#[test]
fn the_recurrence_refuses_bad_input_and_writes_nothing() {
    let scratch = Scratch::new("recurrence-bad");
    let out = scratch.path("out.f64");
    let partial = scratch.file("partial", &[0; 13]);
    let message = failure(&run("recurrence", &["--raw", &partial, "--out", &out]), 1);
    assert!(message.contains("13 bytes"), "{message}");
    for signature in ["1, 2", "1 : x", ": 1", "1 : inf"] {
        let message = failure(&run("recurrence", &["--signature", signature, "--out", &out]), 2);
        assert!(message.contains(signature), "{message}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn the_recurrence_filters_nothing_and_single_samples_and_leaves_an_unusable_place_alone() {
    let scratch = Scratch::new("recurrence-short");
    let out = scratch.path("out.f64");
    for (input, output) in [(&[][..], &[][..]), (&[4.0], &[2.0]), (&[4.0, 4.0], &[2.0, 4.0])] {
        let raw = scratch.file("in.f64", &doubles(input));
        stdout(&run("recurrence", &["--signature", "(0.5 : 1)", "--raw", &raw, "--out", &out]));
        assert_eq!(fs::read(&out).unwrap(), doubles(output));
    }
    let nowhere = scratch.path("no/such/folder");
    let refused = run("recurrence", &["--raw", &out, "--out", &nowhere]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with(&nowhere));
    let message = failure(&run("recurrence", &["--signature", "1 : 100000, 1", "--raw", &out, "--out", &nowhere]), 1);
    assert!(message.contains("unstable"), "{message}");
}

#[test]
fn the_recurrence_is_judged_by_exact_arithmetic_where_the_plain_loop_loses_its_digits() {
    let scratch = Scratch::new("recurrence-exact");
    let samples: Vec<f64> =
        (0..200_000).map(|i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / 1e6 - 8.0).collect();
    let raw = scratch.file("in.f64", &doubles(&samples));
    let said = stdout(&run("recurrence", &["--signature", "1 : 3, -3, 1", "--raw", &raw]));
    assert!(said.contains("200000 of 200000 samples compared"), "{said}");
    let endless = scratch.file("inf.f64", &doubles(&[f64::INFINITY, 1.0, 1.0]));
    for signature in ["1 :", "1, 1 :", "1 : 0.5"] {
        let said = stdout(&run("recurrence", &["--signature", signature, "--raw", &endless]));
        assert!(said.contains("0 of 3 samples compared"), "{said}");
    }
    let subnormal = scratch.file("small.f32", &1e-42f32.to_le_bytes().repeat(10));
    stdout(&run("recurrence", &["--signature", "0.2 : 0.8", "--f32", "--raw", &subnormal]));
}

#[test]
fn the_tour_has_a_line_for_every_algorithm() {
    let is_on_gpu = |name: &String| name.starts_with("on_gpu::") || name.ends_with("_on_device");
    let (on_gpu, on_cpu): (Vec<_>, Vec<_>) = tour::algorithms().into_iter().partition(is_on_gpu);
    let on_cpu: BTreeSet<&str> = on_cpu.iter().map(String::as_str).collect();
    for records in ["1", "2", "1000"] {
        let said = stdout(&run("tour", &["--records", records]));
        let first_words = said.lines().filter_map(|line| line.split_whitespace().next());
        let printed = first_words.filter(|word| word.contains("::")).collect::<BTreeSet<&str>>();
        let differing: Vec<_> = printed.symmetric_difference(&on_cpu).collect();
        assert!(differing.is_empty(), "not both public and in the tour: {differing:?}");
    }
    // No GPU runs these here.
    let source = concat!(
        include_str!("../examples/tour/on_gpu/records.rs"),
        include_str!("../examples/tour/on_gpu/segments.rs"),
        include_str!("../examples/tour/on_gpu/computing.rs"),
        include_str!("../examples/tour/on_gpu/texts.rs"),
    );
    for name in on_gpu {
        assert!(['"', ' '].iter().any(|end| source.contains(&format!("(\"{name}{end}"))), "{name}");
    }
}

#[test]
fn the_tour_refuses_wrong_arguments() {
    for wrong in [&["--records", "0"][..], &["--records", "many"], &["--records"], &["--all"]] {
        assert!(failure(&run("tour", wrong), 2).contains(wrong[wrong.len() - 1]));
    }
}

#[cfg(unix)]
#[test]
fn examples_end_quietly_when_their_reader_has_seen_enough_and_keep_their_output() {
    use std::os::unix::ffi::OsStrExt;
    use std::process::Stdio;
    let scratch = Scratch::new("closed-pipe");
    let raw = scratch.file("in.f64", &doubles(&[1.0, 2.0]));
    let out = scratch.path("out.f64");
    let mut child = Command::new(examples().join("recurrence"))
        .args(["--raw", &raw, "--out", &out])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read(&out).unwrap().len(), 16);

    let strange = std::ffi::OsStr::from_bytes(b"\xff");
    let output = Command::new(examples().join("recurrence")).arg("--raw").arg(strange).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn examples_import_monoscan_alone() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")];
    let mut count = 0;
    while let Some(file) = open.pop() {
        if file.is_dir() {
            open.extend(fs::read_dir(file).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("monoscan_"), "{} imports a part of monoscan", file.display());
        count += 1;
    }
    assert!(count >= 12);
}

#[test]
fn devices_that_there_are_not_are_refused() {
    let scratch = Scratch::new("devices");
    let raw = scratch.file("in.f64", &doubles(&[1.0]));
    let all = [
        ("affine", &[][..]),
        ("lexer", &["--tokens", &raw]),
        ("recurrence", &["--raw", &raw]),
        ("tour", &["--records", "100"]),
    ];
    for (example, arguments) in all {
        let run = |device: &str| run(example, &[&["--device", device], arguments].concat());
        for unknown in ["gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "CPU", ""] {
            let message = failure(&run(unknown), 2);
            assert!(message.contains(&format!("unknown device `{unknown}`: expected `cpu` or `cuda:N`")), "{message}");
        }
        assert!(failure(&self::run(example, &["--device"]), 2).contains("--device needs a value"));
        // No machine has so many.
        let message = failure(&run("cuda:4096"), 1);
        match cfg!(feature = "gpu") {
            false => assert!(message.contains("needs the feature `gpu`"), "{message}"),
            true => {
                let typed = ["no CUDA driver", "driver is too old", "there is no CUDA device 4096", "failed with"];
                assert!(typed.iter().any(|known| message.contains(known)), "{message}");
            }
        }
    }
    assert!(failure(&run("affine", &["--devices"]), 2).contains("unknown argument `--devices`"));
    assert!(stdout(&run("recurrence", &["--device", "cpu", "--raw", &raw])).contains("samples compared"));
}

#[cfg(feature = "ptx")]
mod kernels {
    use super::*;
    use monoscan::nvptx::AotManifest;

    #[test]
    fn emit_writes_kernels_with_their_manifests() {
        let scratch = Scratch::new("emit");
        let out = scratch.path("kernels");
        for (program, arch) in [("sum_i32", "sm_90"), ("affine_f32", "sm_80"), ("json", "sm_120")] {
            stdout(&run("emit", &["--program", program, "--arch", arch, "--out", &out]));
            let ptx = fs::read_to_string(format!("{out}/{program}.ptx")).unwrap();
            assert!(ptx.contains(&format!(".target {arch}")) && ptx.contains(".entry scan("));
            let text = fs::read_to_string(format!("{out}/{program}.manifest")).unwrap();
            let manifest: AotManifest = text.parse().unwrap();
            assert_eq!((&*manifest.program.name, manifest.arch.name(), manifest.to_string()), (program, arch, text));
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/ir/tests/files/facts/segmented_sum.scan");
        stdout(&run("emit", &["--program", file, "--exclusive", "--any", "--out", &out]));
        let text = fs::read_to_string(format!("{out}/segmented_sum.manifest")).unwrap();
        assert!(text.contains("mode exclusive\n") && text.contains("schedule look-back\n"), "{text}");
    }

    #[test]
    fn emit_names_what_it_does_not_know() {
        let scratch = Scratch::new("emit-refused");
        let out = scratch.path("kernels");
        assert!(failure(&run("emit", &["--program", "sum", "--out", &out]), 2).contains("sum_i32, "));
        assert!(failure(&run("emit", &["--arch", "sm_70", "--out", &out]), 2).contains("one of sm_80, "));
        let bad = scratch.file("bad.scan", b"program p\n  imput");
        let message = failure(&run("emit", &["--program", &bad, "--out", &out]), 1);
        assert!(message.starts_with(&format!("{bad}: 2:3: expected")), "{message}");
        assert!(!Path::new(&out).exists());
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn kernels_are_checked_before_a_device_is_asked_for() {
        let scratch = Scratch::new("run-kernel");
        let out = scratch.path("kernels");
        stdout(&run("emit", &["--out", &out]));
        let kernel = format!("{out}/sum_i32");
        let message = failure(&run("run_kernel", &["--kernel", &kernel, "--device", "4096"]), 1);
        assert!(message.contains("driver") || message.contains("there is no CUDA device 4096"), "{message}");
        let ptx = format!("{kernel}.ptx");
        fs::write(&ptx, fs::read_to_string(&ptx).unwrap() + "\n").unwrap();
        assert!(failure(&run("run_kernel", &["--kernel", &kernel]), 1).contains("SHA-256"));
        fs::write(format!("{kernel}.manifest"), "monoscan-kernel 9\n").unwrap();
        assert!(failure(&run("run_kernel", &["--kernel", &kernel]), 1).contains("line 1: expected"));
        assert!(failure(&run("run_kernel", &["--kernel", &out]), 1).contains(".manifest: "));
        assert!(failure(&run("run_kernel", &[]), 2).contains("--kernel is missing"));
    }
}

//! The examples as commands: what they print, what they refuse, and that bad input writes nothing.

mod built;
mod examples {
    mod lexer;
    mod recurrence;
}
mod tour;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
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

/// Samples as a file has them.
fn doubles(samples: &[f64]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
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

//! Each target on its corpus, and on as many random inputs as take about a second.

use std::fs;
use std::path::Path;

use crate::{calls, engine, parser};
use scan_kit::Random;

/// Runs a target on the files of a folder, of which there must be some.
fn corpus(folder: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        // A panic's message follows; this says which file it is about.
        println!("{}", file.display());
        target(&fs::read(&file).unwrap());
    }
}

fn random_inputs(count: u64, target: fn(&[u8])) {
    for seed in 0..count {
        println!("random input {seed}");
        let mut random = Random(seed);
        let len = random.below(200);
        target(&random.bytes(len));
    }
}

#[test]
fn the_parser_keeps_its_promises() {
    corpus("corpus/parser", parser);
    for folder in ["text", "text/bad", "verify", "interp", "facts"] {
        corpus(&format!("../ir/tests/files/{folder}"), parser);
    }
    random_inputs(2500, parser);
}

#[test]
fn compiled_code_keeps_its_promises() {
    corpus("corpus/engine", engine);
    random_inputs(400, engine);
}

#[test]
fn calls_keep_their_promises() {
    corpus("corpus/calls", calls);
    random_inputs(600, calls);
}

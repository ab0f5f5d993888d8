//! Parts of the tests of facts and interpreter: files of programs with their expectations, random
//! inputs, and comparing columns.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};

use monoscan_ir::{Constant, Program, Type, Verified, text, verify};
use scan_kit::Random;

/// Checks every program under `files/FOLDER`: the comments `;= …` at its end must be what `actual` says of it, given
/// the rest of the file.
pub(crate) fn check_files(folder: &str, actual: impl Fn(&Verified<Program>, &str) -> String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let body: String = source.split_inclusive('\n').filter(|line| !line.starts_with(";=")).collect();
        let program = text::parse(&body).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let program = verify(program).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let found: String = actual(&program, &body).lines().map(|line| format!(";= {line}\n")).collect();
        let expected = body.clone() + &found;
        if std::env::var_os("MONOSCAN_BLESS").is_some() {
            std::fs::write(&file, &expected).unwrap();
        } else {
            assert_eq!(source, expected, "{}: MONOSCAN_BLESS=1 accepts the new text", file.display());
        }
    }
}

/// Columns of `count` records for a program: small numbers and extremes as well as arbitrary bits.
pub(crate) fn random_inputs(program: &Program, count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let mut random = move || random.bits();
    let column = |layout: &monoscan_ir::Layout| {
        let mut bytes = vec![0xa5; layout.size as usize * count];
        for record in bytes.chunks_exact_mut(layout.size as usize) {
            for field in &layout.fields {
                let value = match (random() % 4, field.ty) {
                    (0, ty) => ty.of_i64((random() % 8) as i64 - 3),
                    (1, ty) => Constant::new(ty, u128::MAX << (random() % 128)),
                    (_, Type::F32) => Constant::from((random() as i32) as f32 / 1e6),
                    (_, Type::F64) => Constant::from((random() as i64) as f64 / 1e9),
                    (_, ty) => Constant::new(ty, ((random() as u128) << 64) | random() as u128),
                };
                let at = field.offset as usize;
                record[at..at + field.ty.size()].copy_from_slice(&value.to_bytes());
            }
        }
        bytes
    };
    program.inputs.iter().map(column).collect()
}

/// Asserts that output columns hold these rows, any NaN being as good as another.
pub(crate) fn compare_columns(program: &Program, columns: &[Vec<u8>], rows: &[Vec<Constant>], what: &str) {
    let mut component = 0;
    for (layout, bytes) in program.output.columns.iter().zip(columns) {
        let size = layout.size as usize;
        assert_eq!(bytes.len(), size * rows.len(), "{what}: length of a column");
        for field in &layout.fields {
            for (i, row) in rows.iter().enumerate() {
                let expected = Constant::from_bytes(field.ty, &bytes[i * size + field.offset as usize..]);
                assert!(expected.same(row[component]), "{what}, element {i}: {expected:?} {:?}", row[component]);
            }
            component += 1;
        }
    }
}

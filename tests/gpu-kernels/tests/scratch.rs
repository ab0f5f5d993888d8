use monoscan::lexer::{LexerTables, Rules};
use monoscan::ops::StateMap;
use monoscan::prelude::*;
use scan_codegen::gpu::{Arch, Way};
use scan_codegen::nvptx::KernelIr;
use scan_ir::facts::Facts;
use scan_ir::transform::{Form, lower};
use scan_ir::{Program, Verified};

#[scan_fn]
fn move_of(moves: Table<StateMap<16>>, byte: u8) -> StateMap<16> {
    moves.get(byte as u32)
}
fn tokens(state: u8, byte: u8) -> u8 {
    match (state, byte) {
        (1 | 14, b'"') => 3,
        (1 | 14, b'\\') => 2,
        (1 | 14, _) => 1,
        (2, b'u') => 14,
        (2, _) => 1,
        (_, b'"') => 1,
        (5 | 6, b'0'..=b'9') => 5,
        (7, b'0'..=b'9') => 7,
        (_, b'0'..=b'9') => 4,
        (6, b'+' | b'-') => 5,
        (_, b'-') => 4,
        (4, b'.') => 5,
        (4 | 5 | 6, b'e' | b'E') => 6,
        (_, b'a'..=b'z' | b'A'..=b'Z') => 7,
        (_, b'{' | b'[') => 8,
        (_, b'}' | b']') => 9,
        (_, b':') => 10,
        (_, b',') => 11,
        (_, b' ' | b'\n' | b'\t' | b'\r') => 13,
        _ => 12,
    }
}
fn dump(name: &str, program: &Verified<Program>) {
    let program = lower(program, Form::default());
    let facts = Facts::of(&program);
    for plan in Way::Plain.plans(&program, Arch::Sm90) {
        match KernelIr::new(&program, &facts, &plan, Arch::Sm90) {
            Ok(ir) => {
                println!("{name}: {plan} shared {}", ir.manifest.shared_bytes);
                std::fs::write(format!("/tmp/ptx/{name}.ptx"), ir.compile().unwrap()).unwrap();
                return;
            }
            Err(e) => println!("{name}: {plan}: {e}"),
        }
    }
}
#[test]
fn scratch() {
    let moves: Vec<StateMap<16>> =
        (0..=255u8).map(|byte| StateMap { to: std::array::from_fn(|s| tokens(s as u8, byte)) }).collect();
    let scan = Scan::<StateMap<16>>::builder()
        .lift(move_of {}.with_table(&moves))
        .project(scan!(|map: StateMap<16>| -> u8 { StateMap::from_start(map) }))
        .build()
        .unwrap();
    dump("tokens", scan.as_dyn().program());
    let tables = LexerTables::new(&Rules::json()).unwrap();
    dump("lexer", &tables.program());
    for case in scan_gpu_kernels::by_hand() {
        if case.program.name == "automaton_of_json" {
            dump("json", &case.program);
        }
    }
}

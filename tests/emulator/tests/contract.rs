//! The emulator and `atoms.ll` agree on what atoms there are, and other functions are refused.

use scan_emulator::{Atom, CompileError, Kernel};

const CONTRACT: &str = include_str!("../../../scan-codegen/src/nvptx/atoms.ll");

#[test]
fn every_atom_of_the_contract_has_a_body_here_and_no_other_has() {
    let names = CONTRACT.lines().filter(|line| line.starts_with("define ")).map(|line| {
        let name = line.split_once('@').unwrap().1;
        name.split_once('(').unwrap().0
    });
    assert_eq!(names.collect::<Vec<_>>(), Atom::ALL.iter().map(|atom| atom.name()).collect::<Vec<_>>());
}

fn refusal(text: &str) -> CompileError {
    Kernel::compile(text, "kernel").err().unwrap()
}

#[test]
fn an_atom_of_another_type_is_refused() {
    let error = refusal("declare i64 @scan.thread()\ndefine void @kernel(ptr %args) { ret void }");
    assert!(matches!(error, CompileError::Signature { .. }), "{error}");
}

#[test]
fn a_function_that_is_no_atom_is_refused() {
    let error = refusal("declare i32 @tid()\ndefine void @kernel(ptr %args) { ret void }");
    assert_eq!(error, CompileError::UnknownFunction("tid".to_owned()));
}

#[test]
fn atomic_instructions_and_machine_code_are_refused() {
    for instruction in [
        "fence acquire",
        "%old = atomicrmw add ptr %args, i32 1 monotonic",
        "call void asm sideeffect \"bar.sync 0;\", \"\"()",
        "%word = load atomic i64, ptr %args monotonic, align 8",
    ] {
        let error = refusal(&format!("define void @kernel(ptr %args) {{\n  {instruction}\n  ret void\n}}"));
        assert!(matches!(error, CompileError::Refused { .. }), "{instruction}: {error}");
    }
}

#[test]
fn a_kernel_of_another_name_or_type_is_refused() {
    assert_eq!(refusal("define void @other(ptr %args) { ret void }"), CompileError::NoKernel("kernel".to_owned()));
    let error = refusal("define void @kernel(i32 %count) { ret void }");
    assert!(matches!(error, CompileError::Entry { .. }), "{error}");
}

#[test]
fn text_that_is_no_ir_is_an_error() {
    assert!(matches!(refusal("kernel"), CompileError::Parse(_)));
}

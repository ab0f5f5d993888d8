//! Any text at all: parsed, printed, verified, looked into, run.

use monoscan_ir::interp::{self, Request};
use monoscan_ir::laws::{self, Overflow};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Mode, Program, Verified, simplify, text, verify};
use scan_kit::random::Options;

use crate::bytes::Bytes;
use crate::edit;

/// The bytes as text, and as decisions on how to damage the text of a grown program.
///
/// # Panics
/// If one of the promises is broken.
pub fn parser(data: &[u8]) {
    read(&String::from_utf8_lossy(data), data);
    let mut bytes = Bytes::new(data);
    let options = Options { stages: 3, allow_emit: true, associative: false, ..Options::default() };
    let program = edit::grown(&mut bytes, &options);
    read(&edit::edited(&mut bytes, &program), data);
}

fn read(source: &str, data: &[u8]) {
    let program = match text::parse(source) {
        Ok(program) => program,
        Err(errors) => return assert!(!errors.to_string().is_empty(), "a refusal without a reason"),
    };
    let printed = program.to_string();
    let again = text::parse(&printed).unwrap_or_else(|errors| panic!("does not parse back: {errors}\n{printed}"));
    assert!(again == program, "parses back as another program:\n{printed}\n{again}");
    match verify(program) {
        Ok(program) => look_into(&program, data),
        Err(diagnostics) => assert!(!diagnostics.to_string().is_empty(), "a refusal without a reason"),
    }
}

/// Nothing that is done with a verified program may panic.
fn look_into(program: &Verified<Program>, data: &[u8]) {
    let _ = lower(program, Form { heads: true, ..Form::default() });
    for stage in &program.stages {
        let _ = laws::judge(stage, &program.tables, Overflow::default());
        let _ = simplify(&stage.combine, &program.tables);
    }
    let mut bytes = Bytes::new(data);
    let columns: Vec<Vec<u8>> = program.inputs.iter().map(|layout| bytes.fill(3 * layout.size as usize)).collect();
    let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        let run = interp::run(program, &columns, &Request { mode, ..Request::default() }).expect("whole columns");
        assert!(run.count <= 3 && (program.output.filter.is_some() || run.count == 3));
    }
}

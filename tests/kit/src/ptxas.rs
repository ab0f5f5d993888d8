//! NVIDIA's assembler, which checks every PTX text that monoscan makes. It needs no GPU.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where it is: as `MONOSCAN_PTXAS` says, where `cargo xtask ptxas` puts it, or on `PATH`.
///
/// # Panics
/// If it is nowhere.
fn ptxas() -> PathBuf {
    if let Some(path) = std::env::var_os("MONOSCAN_PTXAS") {
        return path.into();
    }
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    if let Some(fetched) = folders.map(|folder| folder.join("target/tools/ptxas")).find(|path| path.exists()) {
        return fetched;
    }
    let version = Command::new("ptxas").arg("--version").output();
    assert!(version.is_ok_and(|output| output.status.success()), "there is no `ptxas`: run `cargo xtask ptxas`");
    "ptxas".into()
}

/// Assembles a module for a processor (`sm_90`), and gives what the assembler reports: for each kernel its registers,
/// its stack and its spills.
pub fn assemble(ptx: &str, processor: &str) -> Result<String, String> {
    let arguments = ["-", "--output-file", "/dev/null", "--verbose", "--gpu-name", processor];
    let mut child = Command::new(ptxas())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut input = child.stdin.take().expect("it has a standard input");
    let written = input.write_all(ptx.as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let report = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    match (output.status.success(), written) {
        (true, Ok(())) => Ok(report),
        (true, Err(error)) => Err(error.to_string()),
        (false, _) => Err(report),
    }
}

//! `cargo xtask ptxas`: NVIDIA's assembler, which tests run on every PTX text that monoscan makes.
//! It needs neither a GPU nor a driver.
//!
//! It comes out of a wheel of PyPI, 37 MB, where a CUDA toolkit would be some gigabytes. Version
//! and hash are pinned, because what tests expect of registers and spills is true of one version.
//! `curl`, `sha256sum` and `unzip` do the work: small programs that most machines have, while
//! crates for them would make xtask itself the longest build of all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::install::{self, Policy};
use crate::run::root;

/// Where it lies in the workspace, and tests look for it. `CARGO_TARGET_DIR` does not move it: tests find it from where their
/// package is, and all builds of a checkout share one.
const PLACE: &str = "target/tools/ptxas";

/// The version that `ptxas --version` of the wheels says.
const VERSION: &str = "V13.0.88";

/// Where the wheels have it.
const MEMBER: &str = "nvidia/cu13/bin/ptxas";

/// A wheel of `nvidia-cuda-nvcc`.
struct Wheel {
    /// The operating system and processor it is for, as Rust names them.
    system: (&'static str, &'static str),
    url: &'static str,
    sha256: &'static str,
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        system: ("linux", "x86_64"),
        url: "https://files.pythonhosted.org/packages/71/8b/a546c12881fffeba927d810598987df25d74b8b241788c7db8dfc93b0173/nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
    },
    Wheel {
        system: ("linux", "aarch64"),
        url: "https://files.pythonhosted.org/packages/9f/06/996d5cdc5ea45fb4a6111a1be4f0caf6556c0cb1bf9684a7252d8771797a/nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
        sha256: "c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f",
    },
];

/// The command: prints where it is, and nothing else on the standard output.
pub(crate) fn print(policy: Policy) -> ExitCode {
    match fetch(policy) {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Makes sure that it is there, and says where. What is there already costs no network.
pub(crate) fn fetch(policy: Policy) -> Result<PathBuf, String> {
    let path = root().join(PLACE);
    if is_current(&path) {
        return Ok(path);
    }
    if policy == Policy::OnlySay {
        return Err(format!("{PLACE} {VERSION} is missing (it checks the PTX that monoscan makes): cargo xtask ptxas"));
    }
    let here = (std::env::consts::OS, std::env::consts::ARCH);
    let wheel = WHEELS.iter().find(|wheel| wheel.system == here).ok_or_else(|| {
        format!("PyPI has no ptxas for {} on {}: put that of CUDA 13.0 at {}", here.0, here.1, path.display())
    })?;
    install::fetching_tools(policy)?;
    // Another run may do the same: each works in a folder of its own, and moves what is whole and right into place.
    let folder = root().join(format!("target/tools/ptxas-{}", std::process::id()));
    let fetched = wheel.unpack(&folder).and_then(|found| put(&found, &path));
    let _ = fs::remove_dir_all(&folder);
    fetched.map(|()| path).map_err(|why| format!("ptxas from {}: {why}", wheel.url))
}

impl Wheel {
    /// Downloads the wheel into a new folder, and takes ptxas out of it.
    fn unpack(&self, folder: &Path) -> Result<PathBuf, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let in_folder =
            |program: &str, arguments: &[&str]| output(Command::new(program).args(arguments).current_dir(folder));
        eprintln!("fetching ptxas {VERSION}");
        let patience = ["--retry", "5", "--retry-connrefused", "--connect-timeout", "30", "--speed-time", "60"];
        let request = ["--fail", "--silent", "--show-error", "--proto", "=https", "--output", "wheel", self.url];
        in_folder("curl", &[&patience[..], &request[..]].concat())?;
        self.is(&in_folder("sha256sum", &["wheel"])?)?;
        in_folder("unzip", &["-q", "wheel", MEMBER])?;
        Ok(folder.join(MEMBER))
    }

    /// Compares what `sha256sum` prints, the hash and the name of a file.
    fn is(&self, line: &str) -> Result<(), String> {
        match line.split_whitespace().next() {
            Some(hash) if hash == self.sha256 => Ok(()),
            found => Err(format!("its SHA-256 is {}, not {}", found.unwrap_or("unknown"), self.sha256)),
        }
    }
}

/// Moves it into place, if it runs.
fn put(found: &Path, path: &Path) -> Result<(), String> {
    if !is_current(found) {
        return Err(format!("it does not run here, or is not {VERSION}"));
    }
    fs::rename(found, path).map_err(|error| format!("{}: {error}", path.display()))
}

fn is_current(path: &Path) -> bool {
    output(Command::new(path).arg("--version")).is_ok_and(|text| text.contains(VERSION))
}

/// The output of a command; or its message where it fails.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{program}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_with_another_hash_is_refused() {
        let wheel = &WHEELS[0];
        assert_eq!(wheel.is(&format!("{}  wheel\n", wheel.sha256)), Ok(()));
        for line in ["", "wheel", &format!("{}  wheel\n", WHEELS[1].sha256)] {
            let why = wheel.is(line).unwrap_err();
            assert!(why.contains(wheel.sha256), "{why}");
        }
    }

    #[test]
    fn the_wheels_are_those_of_the_version() {
        let number = VERSION.trim_start_matches('V');
        for Wheel { system, url, .. } in &WHEELS {
            assert!(url.contains(&format!("-{number}-")) && url.ends_with(&format!("_{}.whl", system.1)), "{url}");
        }
    }
}

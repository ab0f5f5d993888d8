//! LLVM 22, which makes PTX of kernels: found, installed, or where to get it.
//!
//! It is linked as a shared library. That needs the library of C++ and libffi to link with, and no
//! more: `g++` has the one, the package of LLVM asks for the other; linked statically, LLVM would
//! need the packages of half a dozen libraries. Debian from 12 and Ubuntu from 26.04 have it. For
//! other releases LLVM's own archive does; whether to trust one more archive is for the owner of a
//! machine to decide, so that is said and not done.

use std::fs;
use std::process::Command;

use crate::install::{self, Policy};

/// The packages that bring `llvm-config-22` and the library.
const PACKAGE: &str = "llvm-22-dev";

/// A folder of LLVM that its user chose: `llvm-sys` looks there and nowhere else.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

/// Makes sure that LLVM is where `llvm-sys` looks for it.
pub(crate) fn install(policy: Policy) -> Result<(), String> {
    if let Ok(prefix) = std::env::var(PREFIX) {
        let chosen = format!("{prefix}/bin/llvm-config");
        return if is_22(&chosen) {
            Ok(())
        } else {
            Err(format!("{PREFIX} is set, but {chosen} is not that of LLVM 22"))
        };
    }
    install::packages_for(policy, PACKAGE, is_there).map_err(|by_hand| {
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        format!("LLVM 22 is missing (it makes PTX): {by_hand}\n{}", elsewhere(&release))
    })
}

/// Whether an LLVM is there that `llvm-sys` finds.
pub(crate) fn is_there() -> bool {
    match std::env::var(PREFIX) {
        Ok(prefix) => is_22(&format!("{prefix}/bin/llvm-config")),
        Err(_) => is_22("llvm-config-22") || is_22("llvm-config"),
    }
}

fn is_22(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success() && output.stdout.starts_with(b"22."))
}

/// How to install LLVM 22 where apt has no package of it, given the text of `/etc/os-release`.
fn elsewhere(release: &str) -> String {
    let field = |name: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.map(|value| value.trim_matches('"')).filter(|value| !value.is_empty())
    };
    // Derivatives of Ubuntu name the release of Ubuntu that they are built on.
    match field("UBUNTU_CODENAME").or_else(|| field("VERSION_CODENAME")) {
        Some(codename) => format!(
            "\
where apt has no {PACKAGE}, LLVM's own archive for {codename} has it; as root:
  apt-get install curl ca-certificates
  curl --fail --create-dirs --output /etc/apt/keyrings/apt.llvm.org.asc https://apt.llvm.org/llvm-snapshot.gpg.key
  echo \"deb [signed-by=/etc/apt/keyrings/apt.llvm.org.asc] https://apt.llvm.org/{codename}/ llvm-toolchain-{codename}-22 main\" > /etc/apt/sources.list.d/llvm-22.list
  apt-get update
  apt-get install --no-install-recommends {PACKAGE}"
        ),
        None => format!("without apt: install LLVM 22 with its shared library, and set {PREFIX} to its folder"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_that_of_the_release() {
        let noble = elsewhere("ID=ubuntu\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n");
        assert!(noble.contains("https://apt.llvm.org/noble/ llvm-toolchain-noble-22 main"), "{noble}");
        let trixie = elsewhere("ID=debian\nVERSION_CODENAME=\"trixie\"\n");
        assert!(trixie.contains("https://apt.llvm.org/trixie/ llvm-toolchain-trixie-22 main"), "{trixie}");
    }

    #[test]
    fn a_derivative_of_ubuntu_uses_the_archive_of_its_ubuntu() {
        let mint = elsewhere("ID=linuxmint\nVERSION_CODENAME=xia\nUBUNTU_CODENAME=noble\n");
        assert!(mint.contains("llvm-toolchain-noble-22") && !mint.contains("xia"), "{mint}");
    }

    #[test]
    fn a_system_without_releases_names_the_variable() {
        for release in ["", "ID=arch\n", "VERSION_CODENAME=\n"] {
            let how = elsewhere(release);
            assert!(how.contains(PREFIX) && !how.contains("apt.llvm.org"), "{how}");
        }
    }
}

//! The programs that the steps need beside cargo itself, and how to get those that are missing.

use crate::report::Shell;

/// A program, how to see that it is there, and where it comes from.
struct Tool {
    name: &'static str,
    probe: &'static str,
    /// The component of a toolchain that rustup manages.
    component: Option<&'static str>,
    /// Packages of Debian and its relatives.
    packages: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool { name: "rustfmt", probe: "cargo fmt --version", component: Some("rustfmt"), packages: "rustfmt" },
    Tool { name: "clippy", probe: "cargo clippy --version", component: Some("clippy"), packages: "rust-clippy" },
    Tool { name: "a C linker", probe: "cc --version", component: None, packages: "gcc libc6-dev" },
];

/// Checks every tool and, if allowed, installs those that are missing.
///
/// # Errors
/// Names the tools that are still missing, each with the command that would install it.
pub(crate) fn check(shell: &Shell, install: bool) -> Result<(), String> {
    let mut missing = Vec::new();
    for tool in TOOLS.iter().filter(|tool| !shell.succeeds(tool.probe)) {
        let command = tool.installation(shell);
        if install {
            println!("{} is missing: {command}", tool.name);
            // Whether it worked is what the probe says.
            let _ = shell.run(&command);
        }
        if !shell.succeeds(tool.probe) {
            missing.push(format!("{} is missing ({} fails); install it with: {command}", tool.name, tool.probe));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n    ")) }
}

impl Tool {
    /// The command that installs it here.
    fn installation(&self, shell: &Shell) -> String {
        match self.component {
            Some(component) if shell.succeeds("rustup --version") => format!("rustup component add {component}"),
            _ => {
                let sudo = if shell.succeeds("test \"$(id -u)\" = 0") { "" } else { "sudo -n " };
                let apt = format!("{sudo}env DEBIAN_FRONTEND=noninteractive apt-get");
                format!("{apt} update && {apt} install -y --no-install-recommends {}", self.packages)
            }
        }
    }
}

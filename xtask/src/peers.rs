//! `cargo xtask peers`: builds the benchmark's rivals in C++ and Python into `target/peers`. One
//! that cannot be built is noted there with the reason, which the benchmark shows in its place.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::install::{self, Policy};
use crate::run::{Runner, execute, root};

/// Something to build.
struct Peer {
    name: &'static str,
    /// Debian packages that it needs, and a command that fails where they are missing.
    packages: &'static str,
    probe: &'static str,
    /// Command lines, run in the root of the workspace.
    build: &'static [&'static str],
}

/// How C++ is compiled: as fast as this processor allows.
macro_rules! shared_object {
    ($name:literal) => {
        concat!(
            "g++ -std=c++17 -O3 -march=native -Wall -Wextra -Werror -shared -fPIC benches/peers/",
            $name,
            ".cpp -o target/peers/lib",
            $name,
            ".so -ltbb"
        )
    };
}

const TBB: &str = "g++ libtbb-dev";
const FINDS_TBB: &str = "g++ -E -x c++ -include tbb/parallel_scan.h -o /dev/null /dev/null";

/// parlaylib at the commit that was measured; it is a library of headers.
const PARLAYLIB: &str = "git clone --quiet https://github.com/cmuparlay/parlaylib target/peers/parlaylib";
const PINNED: &str = "git -C target/peers/parlaylib checkout --quiet 51017699dcc421f80479cdb238d3092233ad0d26";

const PEERS: &[Peer] = &[
    Peer { name: "std_scan", packages: TBB, probe: FINDS_TBB, build: &[shared_object!("std_scan")] },
    Peer { name: "tbb_scan", packages: TBB, probe: FINDS_TBB, build: &[shared_object!("tbb_scan")] },
    Peer {
        name: "gmp_add",
        packages: "g++ libgmp-dev",
        probe: "g++ -E -x c++ -include gmp.h -o /dev/null /dev/null",
        build: &["g++ -std=c++17 -O3 -march=native -Wall -Wextra -Werror -shared -fPIC benches/peers/gmp_add.cpp \
             -o target/peers/libgmp_add.so -lgmp"],
    },
    Peer {
        name: "parlay_scan",
        packages: "g++ git",
        probe: "git --version",
        build: &[
            "rm -rf target/peers/parlaylib",
            PARLAYLIB,
            PINNED,
            "g++ -std=c++17 -O3 -march=native -Wall -Wextra -isystem target/peers/parlaylib/include \
             benches/peers/parlay_scan.cpp -o target/peers/parlay_scan -pthread",
        ],
    },
    Peer {
        name: "python",
        packages: "python3 python3-venv",
        probe: "python3 -c \"import venv, ensurepip\"",
        build: &[
            "python3 -m venv target/peers/venv",
            "target/peers/venv/bin/python -m pip install --quiet --disable-pip-version-check numpy scipy polars",
            "target/peers/venv/bin/python -c \"import numpy, scipy.signal, polars\"",
        ],
    },
];

/// Builds all of them; the exit status says whether all could be built.
pub(crate) fn build(policy: Policy) -> ExitCode {
    let mut runner = Runner::default();
    for peer in PEERS {
        runner.step(peer.name, || {
            let folder = root().join("target/peers");
            fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            let built = peer.build(policy);
            let (note, other) = match &built {
                Ok(()) => (peer.note("ok"), peer.note("failed")),
                Err(_) => (peer.note("failed"), peer.note("ok")),
            };
            let _ = fs::remove_file(other);
            let why = built.as_ref().err().map_or("", String::as_str);
            fs::write(&note, why).map_err(|error| format!("{}: {error}", note.display()))?;
            built
        });
    }
    runner.finish()
}

impl Peer {
    fn build(&self, policy: Policy) -> Result<(), String> {
        install::packages_for(policy, self.packages, || execute(self.probe, &[]).is_ok())?;
        self.build.iter().try_for_each(|line| execute(line, &[]).map_err(|why| format!("`{line}`: {why}")))
    }

    /// The file that says how building it ended.
    fn note(&self, outcome: &str) -> PathBuf {
        root().join(format!("target/peers/{}.{outcome}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_there() {
        for peer in PEERS {
            let sources = peer.build.iter().flat_map(|line| line.split(' ')).filter(|word| word.ends_with(".cpp"));
            for source in sources {
                assert!(root().join(source).is_file(), "{}: {source}", peer.name);
            }
        }
    }
}

//! CUB, in a process of its own: the program that `benches/peers/cub_scan.cu` is compiled to.

use std::path::Path;
use std::process::Command;

use crate::options::Options;
use crate::rows::{ALL, Row};

/// The line that CUB's program printed of one row at one size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Time {
    pub(crate) milliseconds: f64,
    /// The time of a copy of the same bytes, in the same process, over it.
    pub(crate) of_copy: f64,
}

/// All that it printed.
#[derive(Default)]
pub(crate) struct Times(Vec<(String, u64, Time)>);

impl Times {
    /// Runs the program for the rows and sizes that were asked for.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn of(program: &Path, options: &Options) -> Result<Times, String> {
        let rows: Vec<&str> = ALL.iter().filter(|row| options.wants(row.name)).filter_map(|row| row.cub).collect();
        let sizes: Vec<String> = options.sizes().iter().map(|size| size.name()).collect();
        if rows.is_empty() {
            return Ok(Times::default());
        }
        let failed = |why: String| format!("{}: {why}", program.display());
        let output = Command::new(program)
            .args(["--rows", &rows.join(","), "--sizes", &sizes.join(",")])
            .output()
            .map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        print!("{text}");
        if !output.status.success() {
            return Err(failed(format!("{}, {}", output.status, String::from_utf8_lossy(&output.stderr))));
        }
        Ok(Times(text.lines().filter_map(line).collect()))
    }

    /// The time of a row at a size.
    pub(crate) fn get(&self, row: &Row, elements: u64) -> Option<Time> {
        let name = row.cub?;
        self.0.iter().find(|(of, size, _)| of == name && *size == elements).map(|&(.., time)| time)
    }
}

/// Reads a line like `sum.i32.inclusive   n=2^12.0 B/elem=8.0  0.0122 ms … ratio 0.510`.
pub(crate) fn line(line: &str) -> Option<(String, u64, Time)> {
    let (name, rest) = line.split_once("n=2^")?;
    let mut words = rest.split_whitespace();
    let power: f64 = words.next()?.parse().ok()?;
    let words: Vec<&str> = words.collect();
    let milliseconds = words.windows(2).find(|pair| pair[1] == "ms")?[0].parse().ok()?;
    let of_copy = words.windows(2).find(|pair| pair[0] == "ratio")?[1].parse().ok()?;
    Some((name.trim().to_owned(), 1 << power.round() as u32, Time { milliseconds, of_copy }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_program_are_read() {
        let text = "affine.f32 SoA->y (8B->4B)   n=2^28.0 B/elem=12.0     2.8687 ms   1123.0 GB/s    93.57 Gelem/s  \
                    copy   0.7745 ms  ratio 0.270";
        let time = Time { milliseconds: 2.8687, of_copy: 0.27 };
        assert_eq!(line(text), Some(("affine.f32 SoA->y (8B->4B)".to_owned(), 1 << 28, time)));
        assert_eq!(line("NVIDIA H200 sm_90 SMs 132 L2 60 MB  CUB 300001"), None);
    }
}

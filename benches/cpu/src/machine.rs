//! Facts that a Linux machine says about itself.

use std::fs::read_to_string;
use std::thread::available_parallelism;

/// Bytes of memory that may be had, if that is known.
pub(crate) fn free_memory() -> Option<u64> {
    let info = read_to_string("/proc/meminfo").ok()?;
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = available.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes * 1024)
}

/// The processor, its cores, and how many tasks there were for them in the last minute: with more than none, figures are
/// those of a busy machine.
pub(crate) fn describe() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, model)| model);
    let cores = available_parallelism().map_or(1, usize::from);
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown");
    format!("{}, {cores} cores, load {load}", model.unwrap_or("a processor without a name"))
}

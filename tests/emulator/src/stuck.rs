//! Which threads wait on what, for the message of a launch that does not end.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::machine::{Machine, Wait};

/// A line for all threads that wait for the same.
pub(crate) fn describe(machine: &Machine) -> String {
    let mut groups: BTreeMap<(u32, String), Vec<u32>> = BTreeMap::new();
    for (thread, state) in machine.threads.iter().enumerate() {
        let block = &machine.blocks[thread / machine.threads_per_block];
        let what = match state.wait {
            Wait::Ended => continue,
            Wait::Nothing => "keep running".to_owned(),
            Wait::Warp => "wait for the other lanes of their warp".to_owned(),
            Wait::Block => {
                format!("wait for the block, of which {} of {} came,", block.at_barrier, machine.threads_per_block)
            }
            Wait::Phase(at) => match block.barriers.get(&at) {
                Some(barrier) => format!("wait for {},", barrier.describe()),
                None => "wait for a barrier that is gone".to_owned(),
            },
            Wait::Reads => "wait for their bulk stores to read".to_owned(),
            Wait::Stores => "wait for their bulk stores to land".to_owned(),
            Wait::Sleep => "sleep".to_owned(),
        };
        let place = machine.code.sites().get(state.site as usize).map_or("its start", |site| &site.text);
        let who = machine.who(thread);
        groups.entry((who.block, format!("{what} at `{place}`"))).or_default().push(who.thread);
    }
    let mut text = String::new();
    for ((block, what), threads) in groups {
        let _ = writeln!(text, "block {block}: threads {} {what}", ranges(&threads));
    }
    text
}

/// Ascending numbers as `0-31, 64`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            run => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    shown.join(", ")
}

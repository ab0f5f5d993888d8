//! A plan in words: what was chosen, why, and what it costs.

use std::fmt;

use super::{Association, Plan, busy_cycles};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { ways, block, strips, direct, association, reasons, .. } = self;
        let (tile, bytes) = (self.tile(), reasons.bytes());
        if !reasons.chosen {
            writeln!(f, "plan: overridden in part by request")?;
        }
        writeln!(
            f,
            "ways: {ways} blocks side by side; a step takes {} cycles from carry to carry in the reduction, {} in the \
             replay, and keeps the core busy for {}",
            reasons.fold_latency,
            reasons.replay_latency,
            busy_cycles(reasons.fold_work.max(reasons.replay_work))
        )?;
        writeln!(
            f,
            "tile: {tile} elements, {strips} strips of {ways} × {block}; a strip is {} KiB read and written, a tile {}",
            ways * block * bytes / 1024,
            tile * bytes / 1024
        )?;
        if reasons.most_factors.is_some() {
            writeln!(f, "blocks are short, since products over long ones would run into denormal numbers")?;
        }
        writeln!(f, "direct: up to {direct} elements in one sequential pass")?;
        writeln!(
            f,
            "state: {} bytes; the reduction carries {} components, the replay {}",
            reasons.state_bytes, reasons.carried.0, reasons.carried.1
        )?;
        let order = match association {
            Association::Any if !self.pays_alone => "exact in any association, so one thread alone scans sequentially",
            Association::Any => "exact in any association",
            Association::Fixed => "rounded, so the same tree of combinations for any number of threads",
        };
        writeln!(f, "order: left to right; {order}")?;
        writeln!(
            f,
            "work: {} + {} operations an element (reduction + replay), at most {} a block",
            reasons.fold_work, reasons.replay_work, reasons.combine_work
        )?;
        writeln!(
            f,
            "depth: {} steps within a tile, then {} combines from tile to tile, n/{tile} times in a chain",
            2 * strips * block,
            ways * strips
        )?;
        write!(
            f,
            "bytes: {} read and {} written an element, once from and to memory; the replay reads from cache",
            reasons.read_bytes(),
            reasons.write_bytes()
        )
    }
}

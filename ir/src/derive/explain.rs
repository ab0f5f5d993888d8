//! A derivation as one would explain it on a board.

use std::fmt;

use super::{Conditions, Derivation, Derived, Family, Trust};
use crate::laws::{Overflow, judge};
use crate::opcode::Opcode;
use crate::program::Stage;

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Family::Last => f.write_str("last value"),
            Family::Latch => f.write_str("latch: kept, or set"),
            Family::Moves => f.write_str("moves of values"),
            Family::Accumulate { operation, restarts } => {
                match operation {
                    Opcode::Add => f.write_str("running sum")?,
                    Opcode::Mul => f.write_str("running product")?,
                    Opcode::Min => f.write_str("minimum")?,
                    Opcode::Max => f.write_str("maximum")?,
                    Opcode::AddSat => f.write_str("sum that saturates")?,
                    other => write!(f, "running `{}`", other.name())?,
                }
                f.write_str(if restarts { ", may start again" } else { "" })
            }
            Family::Table { states } => write!(f, "table of {states} states"),
            Family::Clamp { scaled, lower, upper } => {
                let inner = if scaled { "a·u + b" } else { "u + b" };
                match (lower, upper) {
                    (true, true) => write!(f, "{inner}, clamped"),
                    (true, false) => write!(f, "max({inner}, lower bound)"),
                    _ => write!(f, "min({inner}, upper bound)"),
                }
            }
            Family::Affine { components: 1, constant } => {
                write!(f, "a·u + b{}", if constant { ", a follows from the length" } else { "" })
            }
            Family::Affine { components, constant } => {
                write!(f, "A·u + b of {components}{}", if constant { ", A follows from the length" } else { "" })
            }
            Family::Tropical { components, maxima } => {
                let which = if maxima { "maxima" } else { "minima" };
                write!(f, "{which} of sums, {components} × {components}")
            }
            Family::Modular { modulus, scaled } => {
                write!(f, "{} mod {modulus}", if scaled { "a·u + b" } else { "u + b" })
            }
            Family::Bits => f.write_str("bits: (u & a) ^ b"),
            Family::Interval => f.write_str("interval: a·[low, high] and b"),
            Family::Quotient => f.write_str("(a·u + b) / (c·u + d)"),
            Family::Linear => f.write_str("bits: M·u ^ b, M follows from the length"),
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trust::Proved { .. } => "proved",
            Trust::Construction => "by construction",
            Trust::Tested { .. } => "tested on samples",
        })?;
        write!(f, "{}", self.conditions())
    }
}

/// A clause behind what holds under them; nothing if there are none.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.no_overflow, self.no_nan) {
            (true, true) => " where nothing overflows or is NaN",
            (true, false) => " where nothing overflows",
            (false, true) => " where nothing is NaN",
            (false, false) => "",
        })
    }
}

impl Derivation {
    /// Whether it is proved that the scan is the loop: that an element does [what the step does](Derivation::is_step_proved), and
    /// the laws of all stages, under its [conditions](Derivation::conditions). Judges these, which takes some milliseconds. Samples,
    /// which every derivation was compared on, prove nothing; but nothing is proved of a [native step](super::derive_beside) that could not be run on any.
    pub fn is_proved(&self) -> bool {
        let is_lawful = |stage: &Stage| judge(stage, &self.program.tables, Overflow::NeverOccurs).verdict().is_proved();
        self.native.is_none_or(|compared| compared.native > 0)
            && self.is_step_proved()
            && self.program.stages.iter().all(is_lawful)
    }

    /// Whether the effect of an element was proved to be the step, for every component.
    pub fn is_step_proved(&self) -> bool {
        !self.groups.iter().any(|group| matches!(group.trust, Trust::Tested { .. }))
    }

    /// The conditions under which an element does what the step does: those of all groups.
    pub fn conditions(&self) -> Conditions {
        self.groups.iter().fold(Conditions::default(), |all, group| all.and(group.trust.conditions()))
    }

    /// How many stages the scan has.
    pub fn levels(&self) -> usize {
        self.program.stages.len()
    }

    /// The groups by level, with their families, sizes, and how each is known to be the step; a line for each.
    pub fn explain(&self) -> String {
        let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let bytes: usize = self.groups.iter().map(|group| group.bytes).sum();
        let mut lines = vec![format!(
            "{}: {}, {}, state {}; {} a step, {} an element of a reduction",
            if self.program.name == "loop" { "loop".to_owned() } else { format!("loop {}", self.program.name) },
            plural(self.initial.len(), "component"),
            plural(self.levels(), "level"),
            plural(bytes, "byte"),
            plural(self.work.0, "instruction"),
            self.work.1,
        )];
        let names = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let own = |group: &Derived| names(&group.components);
        let width = self.groups.iter().map(|group| own(group).chars().count()).max().unwrap_or(0);
        for group in &self.groups {
            let pad = " ".repeat(width - own(group).chars().count());
            let reads = if group.reads.is_empty() { String::new() } else { format!(", reads {}", names(&group.reads)) };
            lines.push(format!(
                "  level {}  {}{pad}  {}, {}{reads}; {}",
                group.level,
                own(group),
                group.family,
                plural(group.bytes, "byte"),
                group.trust
            ));
        }
        if self.groups.iter().any(|group| group.family == Family::Quotient) {
            lines.push("  quotients hold over the reals, with infinity, where the loop divides by 0 too".to_owned());
        }
        lines.extend(self.rewritten.iter().map(|rewritten| format!("  written otherwise: {rewritten}")));
        lines.join("\n")
    }
}

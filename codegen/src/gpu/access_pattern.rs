//! Access patterns: how the records of a call lie.

/// How the records of a call are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessPattern {
    /// One line, forwards, in columns at multiples of 16 bytes.
    Aligned,
    /// One line, forwards, in columns at [natural](super::natural) addresses.
    Shifted,
    /// One short line, at any address and in any direction.
    Short,
    /// Lines and rows, at any address and in any direction.
    Any,
    /// Rows side by side, and short ones behind each other.
    Columnar,
}

impl AccessPattern {
    /// All of them.
    pub const ALL: [AccessPattern; 5] = [
        AccessPattern::Aligned,
        AccessPattern::Shifted,
        AccessPattern::Short,
        AccessPattern::Any,
        AccessPattern::Columnar,
    ];
}

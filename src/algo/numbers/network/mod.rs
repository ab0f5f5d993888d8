//! Prefix networks: fixed circuits of ⊕ that turn w lanes into their w inclusive prefixes.
//!
//! A network is data: levels of gates, where a gate replaces `lane[to]` by `lane[from] ⊕ lane[to]`,
//! and all gates of a level read what the lanes held before it. The kinds trade three numbers
//! against each other. *Depth*, the number of levels, is latency. *Size*, the number of gates, is
//! work. *Fan-out*, the number of places that one value must reach in a level, is wires in a
//! circuit and broadcasts in a warp. For n = 2^L lanes:
//!
//! | kind | depth | size | fan-out |
//! |---|---|---|---|
//! | Kogge–Stone | L | n·L − n + 1 | 2 |
//! | Sklansky | L | (n/2)·L | n/2 + 1 |
//! | Brent–Kung | 2L − 2 (n = 2: 1) | 2n − 2 − L | 3 (n = 2: 2) |
//! | Han–Carlson | L + 1 (n = 2: 1) | (n/2)·L | 2 |
//! | Ladner–Fischer(k) | min(L + k, 2L − 2) (n = 2: 1) | 2n(1 + 2^−k) − F(5 + L − k) + 1 − k | k = 0: n/2 + 1; else max(3, n/2^(k+1)) (n = 2: 2) |
//!
//! with F the Fibonacci numbers, F(1) = F(2) = 1, and k ≤ L. Fan-out counts as Harris does: the
//! gates of one level that read a lane as their earlier operand, and one more for the lane itself,
//! which passes its value on or combines it. Ladner–Fischer's fan-out for k ≥ 1 was read off these
//! networks, up to width 1024, and is from no paper. Brent–Kung is often drawn with one level more
//! and fan-out 2; here its first distributing level runs beside the last collecting one, as both
//! only need that half of the lanes is done.
//!
//! [`add_by`], [`subtract_by`] and [`compare_by`] take integers through one, as a circuit does: a
//! lane for each digit. Programs [`add`](super::add()) by a scan, which is what a network is with
//! as many lanes as there are digits.
//!
//! A width that is no power of two gets the network of the next one without the gates beyond the
//! last lane: a prefix never depends on later lanes.
//!
//! Sources: Kogge and Stone, *A parallel algorithm for the efficient solution of a general class of
//! recurrence equations*, IEEE Trans. Computers, 1973. Sklansky, *Conditional-sum addition logic*,
//! IRE Trans. Electronic Computers, 1960. Ladner and Fischer, *Parallel prefix computation*, J. ACM
//! 27(4), 1980. Brent and Kung, *A regular layout for parallel adders*, IEEE Trans. Computers,
//! 1982. Han and Carlson, *Fast area-efficient VLSI adders*, IEEE Symp. Computer Arithmetic, 1987.
//! Harris, *A taxonomy of parallel prefix networks*, Asilomar, 2003.

mod adders;
mod kinds;
mod svg;

use std::fmt;
use std::str::FromStr;

pub use adders::{add_by, compare_by, subtract_by};
use kinds::{as_late_as_possible, han_carlson, kogge_stone, ladner_fischer, sklansky};

use crate::algo::{AlgoError, check_length};

/// The published families of prefix networks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NetworkKind {
    /// Every lane looks back 1, 2, 4, … lanes: least depth and constant fan-out for the most gates.
    KoggeStone,
    /// Halves joined by one lane that feeds the whole later half: least depth, few gates, large fan-out.
    Sklansky,
    /// Collect up a tree, distribute down it: the fewest gates for about twice the depth.
    BrentKung,
    /// Kogge–Stone on the odd lanes between a pairing level and a level for the even ones.
    HanCarlson,
    /// From least depth (k = 0) to the fewest gates (k = log₂ of the width; a larger k changes nothing).
    LadnerFischer(u32),
}

impl fmt::Display for NetworkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkKind::KoggeStone => f.write_str("Kogge–Stone"),
            NetworkKind::Sklansky => f.write_str("Sklansky"),
            NetworkKind::BrentKung => f.write_str("Brent–Kung"),
            NetworkKind::HanCarlson => f.write_str("Han–Carlson"),
            NetworkKind::LadnerFischer(k) => write!(f, "Ladner–Fischer({k})"),
        }
    }
}

/// By the name that is printed, in upper or lower case, with `-` for `–` or without.
///
/// ```
/// use monoscan::algo::numbers::NetworkKind;
/// assert_eq!("brent-kung".parse::<NetworkKind>()?, NetworkKind::BrentKung);
/// assert_eq!("Ladner–Fischer(2)".parse::<NetworkKind>()?, NetworkKind::LadnerFischer(2));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
impl FromStr for NetworkKind {
    type Err = AlgoError;

    /// # Errors
    /// [`AlgoError::Network`], which lists the names.
    fn from_str(name: &str) -> Result<NetworkKind, AlgoError> {
        let unknown = || AlgoError::Network { got: name.to_owned() };
        let (family, k) = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
            Some((family, k)) if k.bytes().all(|digit| digit.is_ascii_digit()) => (family, Some(k)),
            Some(_) => return Err(unknown()),
            None => (name, None),
        };
        match (family.to_lowercase().replace('–', "-").as_str(), k) {
            ("kogge-stone" | "koggestone", None) => Ok(NetworkKind::KoggeStone),
            ("sklansky", None) => Ok(NetworkKind::Sklansky),
            ("brent-kung" | "brentkung", None) => Ok(NetworkKind::BrentKung),
            ("han-carlson" | "hancarlson", None) => Ok(NetworkKind::HanCarlson),
            ("ladner-fischer" | "ladnerfischer", Some(k)) => {
                k.parse().map(NetworkKind::LadnerFischer).map_err(|_| unknown())
            }
            _ => Err(unknown()),
        }
    }
}

/// `lane[to] = lane[from] ⊕ lane[to]`, with `from < to`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gate {
    /// The lane with the earlier operand; it keeps its value.
    pub from: usize,
    /// The lane with the later operand, which takes the result.
    pub to: usize,
}

/// A network of one kind for a number of lanes.
///
/// ```
/// use monoscan::algo::numbers::{Network, NetworkKind};
///
/// let network = Network::new(NetworkKind::Sklansky, 8);
/// assert_eq!((network.depth(), network.size(), network.fan_out()), (3, 12, 5));
///
/// assert_eq!(network.to_string(), "Sklansky of 8 lanes: depth 3, size 12, fan-out 5");
///
/// let mut lanes = ["a", "b", "c", "d", "e", "f", "g", "h"].map(String::from);
/// network.apply(&mut lanes, |earlier, later| format!("{earlier}{later}"))?;
/// assert_eq!(lanes[4], "abcde");
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Network {
    kind: NetworkKind,
    width: usize,
    levels: Vec<Vec<Gate>>,
}

impl Network {
    /// The network of this kind for `width` lanes; with one lane or none it has no gates.
    pub fn new(kind: NetworkKind, width: usize) -> Network {
        let n = width.next_power_of_two();
        let levels = match kind {
            NetworkKind::KoggeStone => kogge_stone(n),
            NetworkKind::Sklansky => sklansky(n),
            NetworkKind::HanCarlson => han_carlson(n),
            NetworkKind::BrentKung => as_late_as_possible(n, &ladner_fischer(n, n.ilog2())),
            NetworkKind::LadnerFischer(k) => as_late_as_possible(n, &ladner_fischer(n, k)),
        };
        let inside = |level: Vec<Gate>| -> Vec<Gate> { level.into_iter().filter(|gate| gate.to < width).collect() };
        let levels = levels.into_iter().map(inside).filter(|level| !level.is_empty()).collect();
        Network { kind, width, levels }
    }

    /// Which kind it is.
    pub fn kind(&self) -> NetworkKind {
        self.kind
    }

    /// How many lanes it has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The gates that run at once, level after level.
    pub fn levels(&self) -> &[Vec<Gate>] {
        &self.levels
    }

    /// How many levels: ⊕ on the critical path.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// How many gates: ⊕ in all.
    pub fn size(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// The most places that one lane's value goes to in one level: the gates that read it as their earlier operand, and
    /// the lane itself.
    pub fn fan_out(&self) -> usize {
        let most_readers = |level: &Vec<Gate>| {
            let mut readers = vec![0; self.width];
            level.iter().for_each(|gate| readers[gate.from] += 1);
            readers.into_iter().max().unwrap_or(0)
        };
        1 + self.levels.iter().map(most_readers).max().unwrap_or(0)
    }

    /// Runs the network: afterwards lane i holds lane 0 ⊕ … ⊕ lane i.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there are not as many lanes as the network has.
    pub fn apply<T>(&self, lanes: &mut [T], mut combine: impl FnMut(&T, &T) -> T) -> Result<(), AlgoError> {
        check_length("lanes", self.width, lanes.len())?;
        for level in &self.levels {
            let results: Vec<T> = level.iter().map(|gate| combine(&lanes[gate.from], &lanes[gate.to])).collect();
            for (gate, result) in level.iter().zip(results) {
                lanes[gate.to] = result;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, depth, size) = (self.kind, self.depth(), self.size());
        write!(f, "{kind} of {} lanes: depth {depth}, size {size}, fan-out {}", self.width, self.fan_out())
    }
}

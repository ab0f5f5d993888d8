//! Prefix networks: fixed circuits of ⊕ that turn w lanes into their w inclusive prefixes.
//!
//! A network is data: levels of gates, where a gate replaces `lane[to]` by `lane[from] ⊕ lane[to]`,
//! and all gates of a level read what the lanes held before it. The kinds trade three things
//! against each other: how many levels there are (*depth*, which is latency), how many gates there
//! are (*size*, which is work), and how many places one value must reach in a level (*fan-out*,
//! which is wires in a circuit and broadcasts in a warp). For n = 2^L lanes:
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
//! A width that is no power of two gets the network of the next one without the gates beyond the
//! last lane: a prefix never depends on later lanes.
//!
//! Sources: Kogge and Stone, *A parallel algorithm for the efficient solution of a general class of
//! recurrence equations*, IEEE Trans. Computers, 1973. Sklansky, *Conditional-sum addition logic*,
//! IRE Trans. Electronic Computers, 1960. Ladner and Fischer, *Parallel prefix computation*, J. ACM
//! 27(4), 1980. Brent and Kung, *A regular layout for parallel adders*, IEEE Trans. Computers,
//! 1982. Han and Carlson, *Fast area-efficient VLSI adders*, IEEE Symp. Computer Arithmetic, 1987.
//! Harris, *A taxonomy of parallel prefix networks*, Asilomar, 2003.

use std::fmt;

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
/// use gpu_ladder::network::{Network, NetworkKind};
///
/// let network = Network::new(NetworkKind::Sklansky, 8);
/// assert_eq!((network.depth(), network.size(), network.fan_out()), (3, 12, 5));
///
/// let mut lanes = ["a", "b", "c", "d", "e", "f", "g", "h"].map(String::from);
/// network.apply(&mut lanes, |earlier, later| format!("{earlier}{later}"));
/// assert_eq!(lanes[4], "abcde");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Network {
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
        Network { width, levels }
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

    /// Runs the network: afterwards lane i holds lane 0 ⊕ … ⊕ lane i. The reference for generated code.
    ///
    /// # Panics
    /// If `lanes` does not have exactly `width` elements.
    pub fn apply<T>(&self, lanes: &mut [T], mut combine: impl FnMut(&T, &T) -> T) {
        assert_eq!(lanes.len(), self.width, "a network runs on as many lanes as it has");
        for level in &self.levels {
            let results: Vec<T> = level.iter().map(|gate| combine(&lanes[gate.from], &lanes[gate.to])).collect();
            for (gate, result) in level.iter().zip(results) {
                lanes[gate.to] = result;
            }
        }
    }
}

/// 1, 2, 4, … below `n`.
fn powers_below(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(distance * 2)).take_while(move |&distance| distance < n)
}

fn kogge_stone(n: usize) -> Vec<Vec<Gate>> {
    let level = |distance| (distance..n).map(|to| Gate { from: to - distance, to }).collect();
    powers_below(n).map(level).collect()
}

/// At distance d, the later half of every 2d lanes reads the last lane of the earlier half.
fn sklansky(n: usize) -> Vec<Vec<Gate>> {
    let level = |distance: usize| {
        let later = (0..n).filter(|to| to & distance != 0);
        later.map(|to| Gate { from: to / distance * distance - 1, to }).collect()
    };
    powers_below(n).map(level).collect()
}

fn han_carlson(n: usize) -> Vec<Vec<Gate>> {
    let odd = |pair: usize| 2 * pair + 1;
    let pairs = (0..n / 2).map(|pair| Gate { from: 2 * pair, to: odd(pair) }).collect();
    let spread = |gate: Gate| Gate { from: odd(gate.from), to: odd(gate.to) };
    let on_odd_lanes = kogge_stone(n / 2).into_iter().map(|level| level.into_iter().map(spread).collect());
    let evens = (1..n / 2).map(|pair| Gate { from: odd(pair - 1), to: 2 * pair }).collect();
    std::iter::once(pairs).chain(on_odd_lanes).chain([evens]).collect()
}

/// Ladner and Fischer's P_k on `n` lanes, a power of two, as a sequence of gates that runs in this order.
///
/// P_0 joins P_1 of the earlier half with P_0 of the later half; P_k combines pairs, solves them by P_(k−1), and then
/// completes the lanes between. P_1 has its last prefix ready one level before its others: that is what P_0 lives on.
/// With k = log₂ n only the second rule is used, which is Brent and Kung's network.
fn ladner_fischer(n: usize, k: u32) -> Vec<Gate> {
    fn extend(gates: &mut Vec<Gate>, lanes: &[usize], k: u32) {
        let n = lanes.len();
        if n < 2 {
            return;
        }
        if k == 0 {
            let (earlier, later) = lanes.split_at(n / 2);
            extend(gates, earlier, 1);
            extend(gates, later, 0);
            gates.extend(later.iter().map(|&to| Gate { from: earlier[n / 2 - 1], to }));
        } else {
            gates.extend(lanes.chunks_exact(2).map(|pair| Gate { from: pair[0], to: pair[1] }));
            let odd: Vec<usize> = lanes.iter().copied().skip(1).step_by(2).collect();
            extend(gates, &odd, k - 1);
            gates.extend(lanes[1..n - 1].chunks_exact(2).map(|pair| Gate { from: pair[0], to: pair[1] }));
        }
    }
    let mut gates = Vec::new();
    extend(&mut gates, &(0..n).collect::<Vec<_>>(), k);
    gates
}

/// Puts a sequence of gates into the fewest levels, each gate in the last level that allows it: a lane is then read
/// over many levels instead of by all its readers at once.
fn as_late_as_possible(width: usize, gates: &[Gate]) -> Vec<Vec<Gate>> {
    let depth = depth_of_sequence(width, gates);
    // From the last gate to the first, for every lane: the first level that reads the value it has now, and the level
    // that replaces that value. A gate runs before the former for its result, and not after the latter for its operand.
    let mut read_in = vec![depth; width];
    let mut replaced_in = vec![depth; width];
    let mut levels = vec![Vec::new(); depth];
    for &gate in gates.iter().rev() {
        let level = (read_in[gate.to] - 1).min(replaced_in[gate.from]);
        levels[level].push(gate);
        read_in[gate.to] = level;
        replaced_in[gate.to] = level;
        read_in[gate.from] = read_in[gate.from].min(level);
    }
    levels.iter_mut().for_each(|level| level.sort_by_key(|gate| gate.to));
    levels
}

/// How many levels a sequence of gates needs when each runs as soon as its operands are there.
fn depth_of_sequence(width: usize, gates: &[Gate]) -> usize {
    let mut ready = vec![0; width];
    for gate in gates {
        ready[gate.to] = 1 + ready[gate.from].max(ready[gate.to]);
    }
    ready.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POWERS: std::ops::RangeInclusive<u32> = 1..=10;

    fn kinds() -> impl Iterator<Item = NetworkKind> {
        use NetworkKind::*;
        [KoggeStone, Sklansky, BrentKung, HanCarlson].into_iter().chain((0..=9).map(LadnerFischer))
    }

    fn of(kind: NetworkKind, log: u32) -> Network {
        Network::new(kind, 1 << log)
    }

    #[test]
    fn every_lane_gets_each_earlier_lane_once_and_in_order() {
        for kind in kinds() {
            for width in 0..=130 {
                // Half-open intervals; pieces that do not touch must not meet.
                let mut lanes: Vec<(usize, usize)> = (0..width).map(|lane| (lane, lane + 1)).collect();
                Network::new(kind, width).apply(&mut lanes, |earlier, later| {
                    assert_eq!(earlier.1, later.0, "{kind} of {width} lanes joins {earlier:?} and {later:?}");
                    (earlier.0, later.1)
                });
                assert!(
                    lanes.iter().enumerate().all(|(lane, &piece)| piece == (0, lane + 1)),
                    "{kind} of {width} lanes"
                );
            }
        }
    }

    #[test]
    fn no_level_writes_a_lane_twice_or_is_empty() {
        for network in kinds().flat_map(|kind| (0..=70).map(move |width| Network::new(kind, width))) {
            for level in network.levels() {
                assert!(!level.is_empty());
                assert!(level.windows(2).all(|pair| pair[0].to < pair[1].to));
                assert!(level.iter().all(|gate| gate.from < gate.to && gate.to < network.width()));
            }
        }
    }

    #[test]
    fn kogge_stone_meets_its_formulas() {
        for log in POWERS {
            let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::KoggeStone, log));
            assert_eq!((network.depth(), network.size(), network.fan_out()), (l, n * l + 1 - n, 2), "{n} lanes");
        }
    }

    #[test]
    fn sklansky_meets_its_formulas() {
        for log in POWERS {
            let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::Sklansky, log));
            assert_eq!((network.depth(), network.size(), network.fan_out()), (l, n / 2 * l, n / 2 + 1), "{n} lanes");
        }
    }

    #[test]
    fn brent_kung_meets_its_formulas() {
        for log in POWERS {
            let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::BrentKung, log));
            let (depth, fan_out) = if n == 2 { (1, 2) } else { (2 * l - 2, 3) };
            assert_eq!(
                (network.depth(), network.size(), network.fan_out()),
                (depth, 2 * n - 2 - l, fan_out),
                "{n} lanes"
            );
        }
    }

    #[test]
    fn han_carlson_meets_its_formulas() {
        for log in POWERS {
            let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::HanCarlson, log));
            let depth = if n == 2 { 1 } else { l + 1 };
            assert_eq!((network.depth(), network.size(), network.fan_out()), (depth, n / 2 * l, 2), "{n} lanes");
        }
    }

    #[test]
    fn ladner_fischer_meets_its_recurrence_and_its_closed_form() {
        fn recurrence(n: usize, k: u32) -> usize {
            match (n, k) {
                (1, _) => 0,
                (_, 0) => recurrence(n / 2, 1) + recurrence(n / 2, 0) + n / 2,
                _ => recurrence(n / 2, k - 1) + n - 1,
            }
        }
        fn fibonacci(i: u32) -> usize {
            (1..i).fold((0, 1), |(a, b), _| (b, a + b)).1
        }
        for log in POWERS {
            for k in 0..=log {
                let (n, network) = (1usize << log, of(NetworkKind::LadnerFischer(k), log));
                let closed = 2 * n + ((2 * n) >> k) + 1 - fibonacci(5 + log - k) - k as usize;
                let depth = if n == 2 { 1 } else { (log + k).min(2 * log - 2) as usize };
                assert_eq!(network.depth(), depth, "{n} lanes, k = {k}");
                assert_eq!(network.size(), recurrence(n, k), "{n} lanes, k = {k}");
                assert_eq!(network.size(), closed, "{n} lanes, k = {k}");
                let fan_out = match (n, k) {
                    (2, _) => 2,
                    (_, 0) => n / 2 + 1,
                    _ => (n >> (k + 1)).max(3),
                };
                assert_eq!(network.fan_out(), fan_out, "{n} lanes, k = {k}");
            }
        }
    }

    #[test]
    fn ladner_fischer_ends_as_brent_kung() {
        for log in POWERS {
            let all_the_way = of(NetworkKind::LadnerFischer(log), log);
            assert_eq!(all_the_way, of(NetworkKind::BrentKung, log));
            assert_eq!(all_the_way, of(NetworkKind::LadnerFischer(log + 5), log));
        }
    }

    #[test]
    fn a_width_between_powers_is_never_deeper_than_the_next_power() {
        for kind in kinds() {
            for width in 1..=130usize {
                let (network, full) = (Network::new(kind, width), Network::new(kind, width.next_power_of_two()));
                assert!(network.depth() <= full.depth() && network.size() <= full.size(), "{kind} of {width} lanes");
            }
        }
    }
}

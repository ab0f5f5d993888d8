//! The levels of each kind of network, for n lanes, a power of two.

use super::Gate;

/// 1, 2, 4, … below `n`.
fn powers_below(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(distance * 2)).take_while(move |&distance| distance < n)
}

pub(super) fn kogge_stone(n: usize) -> Vec<Vec<Gate>> {
    let level = |distance| (distance..n).map(|to| Gate { from: to - distance, to }).collect();
    powers_below(n).map(level).collect()
}

/// At distance d, the later half of every 2d lanes reads the last lane of the earlier half.
pub(super) fn sklansky(n: usize) -> Vec<Vec<Gate>> {
    let level = |distance: usize| {
        let later = (0..n).filter(|to| to & distance != 0);
        later.map(|to| Gate { from: to / distance * distance - 1, to }).collect()
    };
    powers_below(n).map(level).collect()
}

pub(super) fn han_carlson(n: usize) -> Vec<Vec<Gate>> {
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
pub(super) fn ladner_fischer(n: usize, k: u32) -> Vec<Gate> {
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
pub(super) fn as_late_as_possible(width: usize, gates: &[Gate]) -> Vec<Vec<Gate>> {
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

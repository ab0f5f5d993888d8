//! Symbols that munch need not tell apart, since no text brings it to the states where they differ.
//!
//! A state of munch is *possible* at a symbol if some text leads munch to that state right before a
//! byte for which the oracle gives that symbol. A symbol tells much of the text that follows, so at
//! many of them few states are possible. Symbols that do the same to each state that is possible at
//! both become one. It does to a state what that symbol does at which the state is possible.
//!
//! That spares most rules a third of their symbols or more: C has 251 instead of 355, and Rust 205
//! instead of 729. So a symbol is a byte, and the tables of munch are small.
//!
//! GPUs begin chunks of a text with the states that the symbols before them may lead to, which are
//! to be few. So of two symbols, one of which leads to one state or two, none is made that leads to
//! more; and of two others none that leads to more states than the one that leads to the most.

use super::transducer::Transducer;

/// Symbols that lead to at most so many states become none that leads to more.
const FEW: usize = 2;

/// Most comparisons of what symbols do to a state. Symbols that come later stay as they are.
const MOST_COMPARED: usize = 1 << 26;

/// The step of a symbol from a state: where it leads, and what it gives. None where the state is not possible.
type Cell = Option<(u16, u16)>;

/// One symbol of several.
struct Merged {
    cells: Vec<Cell>,
    /// To how many states it leads those that are possible.
    image: usize,
    /// The first of them.
    first: usize,
}

/// Merges symbols of munch, which reads what the oracle gives; and says which one each became.
pub(super) fn merge_symbols(oracle: &Transducer, munch: &Transducer) -> (Transducer, Vec<usize>) {
    let possible = possible(oracle, munch);
    let mut merged: Vec<Merged> = Vec::new();
    let mut compared = 0;
    let of = |symbol: usize| {
        let cell = |state: usize| {
            possible[symbol * munch.states + state]
                .then(|| (munch.next(symbol, state) as u16, munch.output(symbol, state)))
        };
        let cells: Vec<Cell> = (0..munch.states).map(cell).collect();
        let own = Merged { image: image(&cells), cells, first: symbol };
        let others = if compared < MOST_COMPARED { &mut merged[..] } else { &mut [] };
        others.iter_mut().position(|other| other.takes(&own, &mut compared)).unwrap_or_else(|| {
            merged.push(own);
            merged.len() - 1
        })
    };
    let became: Vec<usize> = (0..munch.symbols).map(of).collect();
    let cells = merged.iter().flat_map(|symbol| {
        let unused = |state: usize| (munch.next(symbol.first, state) as u16, munch.output(symbol.first, state));
        symbol.cells.iter().enumerate().map(move |(state, cell)| cell.unwrap_or_else(|| unused(state)))
    });
    let (next, output) = cells.unzip();
    (Transducer { states: munch.states, symbols: merged.len(), next, output }, became)
}

impl Merged {
    /// Takes another symbol in, if both do the same to what is possible at both, and small images do not grow.
    fn takes(&mut self, other: &Merged, compared: &mut usize) -> bool {
        let differs = |(own, other): (&Cell, &Cell)| matches!((own, other), (Some(own), Some(other)) if own != other);
        let difference = self.cells.iter().zip(&other.cells).position(differs);
        *compared += difference.map_or(self.cells.len(), |place| place + 1);
        if difference.is_some() {
            return false;
        }
        let cells: Vec<Cell> = self.cells.iter().zip(&other.cells).map(|(own, other)| own.or(*other)).collect();
        let (image, few, many) = (image(&cells), self.image.min(other.image), self.image.max(other.image));
        let takes = image <= if few <= FEW { few } else { many };
        if takes {
            *self = Merged { cells, image, ..*self };
        }
        takes
    }
}

/// How many states cells lead to.
fn image(cells: &[Cell]) -> usize {
    let mut states: Vec<u16> = cells.iter().flatten().map(|&(to, _)| to).collect();
    states.sort_unstable();
    states.dedup();
    states.len()
}

/// Whether munch may be in a state before a byte of a symbol, at `symbol * states + state`.
///
/// Between two bytes of a text, munch is in a state that follows from the bytes before, and the oracle in one that follows from those
/// behind. So the pairs of states that arise are followed from the first byte on: there munch is in its first state, and the oracle in
/// any.
fn possible(oracle: &Transducer, munch: &Transducer) -> Vec<bool> {
    // For each state of the oracle the symbols of the byte behind which it may be, and its state behind that byte.
    let mut steps: Vec<Vec<(u16, usize)>> = vec![Vec::new(); oracle.states];
    for (class, behind) in (0..oracle.symbols).flat_map(|class| (0..oracle.states).map(move |behind| (class, behind))) {
        steps[oracle.next(class, behind)].push((oracle.output(class, behind), behind));
    }
    for steps in &mut steps {
        steps.sort_unstable();
        steps.dedup();
    }
    let mut possible = vec![false; munch.symbols * munch.states];
    let mut is_met = vec![false; munch.states * oracle.states];
    let mut met: Vec<(usize, usize)> = (0..oracle.states).map(|ahead| (0, ahead)).collect();
    met.iter().for_each(|&(_, ahead)| is_met[ahead] = true);
    while let Some((state, ahead)) = met.pop() {
        for &(symbol, behind) in &steps[ahead] {
            let symbol = usize::from(symbol);
            possible[symbol * munch.states + state] = true;
            let to = munch.next(symbol, state);
            if !std::mem::replace(&mut is_met[to * oracle.states + behind], true) {
                met.push((to, behind));
            }
        }
    }
    possible
}

#[cfg(test)]
mod tests {
    use scan_kit::Random;

    use super::super::Rules;
    use super::super::dfa::TokenDfa;
    use super::super::label::Codes;
    use super::super::oracle::Oracle;
    use super::super::tests::{engines, sets};
    use super::*;

    /// The symbol of each byte.
    fn symbols(class_of: &[u8; 256], oracle: &Transducer, text: &[u8]) -> Vec<usize> {
        let classes = text.iter().rev().map(|&byte| usize::from(class_of[usize::from(byte)]));
        let mut symbols: Vec<usize> = oracle.run(classes).map(usize::from).collect();
        symbols.reverse();
        symbols
    }

    #[test]
    fn fewer_symbols_give_the_same_labels_and_texts_lead_to_possible_states_alone() {
        let mut fewer = 0;
        for set in sets::SETS {
            let rules = Rules::parse(set.rules).expect("they parse");
            let dfa = TokenDfa::new(&rules).expect("it is small enough");
            let Ok(all) = Oracle::with_all_symbols(&dfa, Codes::of(rules.len())) else { continue };
            let (merged, possible) = (all.merged(), possible(&all.oracle, &all.munch));
            let (_, became) = merge_symbols(&all.oracle, &all.munch);
            fewer += usize::from(merged.munch.symbols < all.munch.symbols);
            if ["c", "rust"].contains(&set.name) {
                assert!(all.munch.symbols > 256 && merged.munch.symbols <= 256, "{}", set.name);
            }
            for (symbol, &became) in became.iter().enumerate() {
                let [before, after] = [all.munch.image(symbol), merged.munch.image(became)].map(|image| image.len());
                assert!(before > FEW || after <= before, "{}: {symbol} leads to {before}, {after}", set.name);
            }
            let mut random = Random(83);
            for most in [0, 1, 2, 10, 100, 400].repeat(4) {
                let text = engines::text(&mut random, &set, most);
                let symbols_of = |both: &Oracle| symbols(&dfa.class_of, &both.oracle, &text);
                let labels = |both: &Oracle| both.munch.run(symbols_of(both).into_iter()).collect::<Vec<_>>();
                assert_eq!(labels(&all), labels(&merged), "{}: {}", set.name, text.escape_ascii());
                let mut state = 0;
                for symbol in symbols_of(&all) {
                    assert!(possible[symbol * all.munch.states + state], "{}: {}", set.name, text.escape_ascii());
                    state = all.munch.next(symbol, state);
                }
            }
        }
        assert!(fewer > 8, "{fewer}");
    }
}

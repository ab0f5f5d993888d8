//! Transducers over texts in the memory of the CPU: pieces of the text, several of them walked side
//! by side, as each look-up of a walk waits for the one before it.
//!
//! A piece begins in the state that a few symbols before it lead to from the first state. Most
//! automata forget what came before that (Jiang and Agrawal, PPoPP 2017). Where the piece before
//! ended in another state, the piece is walked again from both, until both are in one state. So
//! results are those of one walk, and no text takes more than some twice its time.

use super::transducer::Transducer;
use crate::parallel;

/// Pieces that a thread walks side by side.
const BESIDE: usize = 4;

/// Symbols of a piece.
const PIECE: usize = 8 << 10;

/// So many symbols before a piece are looked at.
const LOOK: usize = 64;

/// Texts of so many symbols are worth more than one thread.
const WORTH_THREADS: usize = 512 << 10;

/// A transducer as a walk looks it up.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Where the row of each input symbol begins.
    rows: Vec<u32>,
    /// In the row of a symbol, for each state: the next one, and the output 16 bits above it.
    cells: Vec<u32>,
    /// From the last symbol to the first.
    backwards: bool,
}

/// The state before a piece and the one behind it.
#[derive(Clone, Copy, Debug)]
struct Walked {
    from: u32,
    to: u32,
}

impl Walk {
    /// Of a transducer over these symbols, each given by an input symbol's number.
    pub(super) fn new(transducer: &Transducer, symbols: impl Iterator<Item = usize>, backwards: bool) -> Walk {
        let cells = transducer.next.iter().zip(&transducer.output);
        Walk {
            rows: symbols.map(|symbol| (symbol * transducer.states) as u32).collect(),
            cells: cells.map(|(&next, &output)| u32::from(next) | u32::from(output) << 16).collect(),
            backwards,
        }
    }

    /// Bytes of its tables.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.rows[..]) + size_of_val(&self.cells[..])
    }

    /// The output for each symbol, as `give` makes it, from the first state.
    pub(super) fn outputs<I, O>(&self, input: &[I], output: &mut [O], give: impl Fn(u16) -> O + Sync)
    where
        I: Copy + Into<usize> + Sync,
        O: Send,
    {
        self.outputs_from(0, input, output, give);
    }

    /// The same from any state; gives the state behind the last symbol that is walked.
    pub(super) fn outputs_from<I, O>(
        &self,
        state: u32,
        input: &[I],
        output: &mut [O],
        give: impl Fn(u16) -> O + Sync,
    ) -> u32
    where
        I: Copy + Into<usize> + Sync,
        O: Send,
    {
        self.in_pieces::<PIECE, I, O>(state, input, output, &give)
    }

    fn in_pieces<const LEN: usize, I, O>(
        &self,
        first_state: u32,
        input: &[I],
        output: &mut [O],
        give: &(impl Fn(u16) -> O + Sync),
    ) -> u32
    where
        I: Copy + Into<usize> + Sync,
        O: Send,
    {
        let group = |place: usize, output: &mut [O]| {
            let first = place * BESIDE * LEN;
            let froms = std::array::from_fn(|lane| self.guess(first_state, input, first + lane * LEN, LEN));
            self.group::<LEN, I, O>(froms, &input[first..first + output.len()], output, give)
        };
        let groups: Vec<[Walked; BESIDE]> = match input.len() >= WORTH_THREADS {
            true => parallel::map(output.chunks_mut(BESIDE * LEN), group),
            false => (0..).zip(output.chunks_mut(BESIDE * LEN)).map(|(place, output)| group(place, output)).collect(),
        };
        let pieces = groups.concat().into_iter().zip(input.chunks(LEN).zip(output.chunks_mut(LEN)));
        let mut pieces: Vec<_> = pieces.collect();
        if self.backwards {
            pieces.reverse();
        }
        let mut state = first_state;
        for (Walked { from, to }, (input, output)) in pieces {
            state = if from == state { to } else { self.again([from, state], to, input, output, give) };
        }
        state
    }

    /// The state that a piece seems to begin in, where the whole begins in `from`.
    fn guess<I: Copy + Into<usize>>(&self, from: u32, input: &[I], first: usize, piece: usize) -> u32 {
        let step = |state, &symbol: &I| self.step(state, symbol).0;
        match self.backwards {
            false => input[first.saturating_sub(LOOK).min(input.len())..first.min(input.len())].iter().fold(from, step),
            true => {
                let end = (first + piece).min(input.len());
                input[end..(end + LOOK).min(input.len())].iter().rev().fold(from, step)
            }
        }
    }

    #[inline]
    fn step<I: Into<usize>>(&self, state: u32, symbol: I) -> (u32, u16) {
        let cell = self.cells[(self.rows[symbol.into()] + state) as usize];
        (cell & 0xffff, (cell >> 16) as u16)
    }

    /// Walks as many pieces as there are from these states.
    fn group<const LEN: usize, I: Copy + Into<usize>, O>(
        &self,
        froms: [u32; BESIDE],
        input: &[I],
        output: &mut [O],
        give: &impl Fn(u16) -> O,
    ) -> [Walked; BESIDE] {
        let mut states = froms;
        if let ([a, b, c, d], []) = input.as_chunks::<LEN>()
            && let ([p, q, r, s], []) = output.as_chunks_mut::<LEN>()
        {
            match self.backwards {
                false => self.beside::<LEN, false, I, O>(&mut states, [a, b, c, d], [p, q, r, s], give),
                true => self.beside::<LEN, true, I, O>(&mut states, [a, b, c, d], [p, q, r, s], give),
            }
        } else {
            for (state, (input, output)) in states.iter_mut().zip(input.chunks(LEN).zip(output.chunks_mut(LEN))) {
                self.each(input.len(), |place| {
                    let (to, given) = self.step(*state, input[place]);
                    (*state, output[place]) = (to, give(given));
                    true
                });
            }
        }
        std::array::from_fn(|lane| Walked { from: froms[lane], to: states[lane] })
    }

    fn beside<const LEN: usize, const BACKWARDS: bool, I: Copy + Into<usize>, O>(
        &self,
        states: &mut [u32; BESIDE],
        inputs: [&[I; LEN]; BESIDE],
        outputs: [&mut [O; LEN]; BESIDE],
        give: &impl Fn(u16) -> O,
    ) {
        for place in 0..LEN {
            let place = if BACKWARDS { LEN - 1 - place } else { place };
            for lane in 0..BESIDE {
                let (to, given) = self.step(states[lane], inputs[lane][place]);
                (states[lane], outputs[lane][place]) = (to, give(given));
            }
        }
    }

    /// Walks a piece again that began in the first state and ended in `to`, from the second one; where it ends then.
    fn again<I: Copy + Into<usize>, O>(
        &self,
        [mut wrong, mut right]: [u32; 2],
        to: u32,
        input: &[I],
        output: &mut [O],
        give: &impl Fn(u16) -> O,
    ) -> u32 {
        self.each(input.len(), |place| {
            let (next, given) = self.step(right, input[place]);
            (wrong, right, output[place]) = (self.step(wrong, input[place]).0, next, give(given));
            wrong != right
        });
        if wrong == right { to } else { right }
    }

    /// Goes over places in order, while it is told to go on.
    fn each(&self, len: usize, mut go_on: impl FnMut(usize) -> bool) {
        _ = match self.backwards {
            false => (0..len).all(go_on),
            true => (0..len).rev().all(&mut go_on),
        };
    }
}

#[cfg(test)]
mod tests {
    use scan_kit::Random;

    use super::*;

    /// Pieces that forget what came before, and pieces that do not.
    #[test]
    fn pieces_are_walked_as_a_whole_is() {
        let mut random = Random(83);
        for round in 0..60 {
            let (states, symbols) = (1 + random.below(9), 1 + random.below(5));
            // Half of the automata only permute their states, so that two of them never meet.
            let next: Vec<u16> = (0..symbols)
                .flat_map(|symbol| (0..states).map(move |state| (state, symbol)))
                .map(|(state, symbol)| match round % 2 {
                    0 => random.below(states) as u16,
                    _ => ((state + symbol) % states) as u16,
                })
                .collect();
            let output = next.iter().map(|_| random.below(1000) as u16).collect();
            let transducer = Transducer { states, symbols, next, output };
            // The last two texts are worth more than one thread.
            let most = if round < 58 { 400 } else { 4 * WORTH_THREADS };
            let text: Vec<u8> = (0..most - random.below(most / 2)).map(|_| random.below(symbols) as u8).collect();
            for backwards in [false, true] {
                let walk = Walk::new(&transducer, 0..symbols, backwards);
                let mut expected: Vec<u16> = match backwards {
                    false => transducer.run(text.iter().map(|&symbol| symbol.into())).collect(),
                    true => transducer.run(text.iter().rev().map(|&symbol| symbol.into())).collect(),
                };
                if backwards {
                    expected.reverse();
                }
                let mut found = vec![0; text.len()];
                let end = walk.in_pieces::<3, u8, u16>(0, &text, &mut found, &|output| output);
                assert_eq!(found, expected, "pieces of 3, {backwards}");
                found.fill(0);
                assert_eq!(walk.in_pieces::<100, u8, u16>(0, &text, &mut found, &|output| output), end);
                assert_eq!(found, expected, "pieces of 100, {backwards}");
                // Two parts, each from where the other ended.
                found.fill(0);
                let (left, right) = text.split_at(random.below(text.len() + 1));
                let (left_found, right_found) = found.split_at_mut(left.len());
                let parts = [(left, left_found), (right, right_found)];
                let mut state = 0;
                for (part, found) in
                    if backwards { Vec::from(parts).into_iter().rev().collect() } else { Vec::from(parts) }
                {
                    state = walk.in_pieces::<7, u8, u16>(state, part, found, &|output| output);
                }
                assert_eq!((&found, state), (&expected, end), "two parts, {backwards}");
                found.fill(0);
                walk.outputs(&text, &mut found, |output| output);
                assert_eq!(found, expected, "pieces of {PIECE}, {backwards}");
            }
        }
    }
}

//! Where a token seems to begin, near a place in the middle of a text.

use monoscan_codegen::cpu::lexer::LexAutomaton;
use smallvec::SmallVec;

/// How many bytes before the place are looked at.
const WINDOW: usize = 192;

/// A token that does not end within so many bytes is no reason to go on looking.
pub(super) const LONGEST: usize = 1 << 16;

/// The weight of an error, and that of a token in favour.
const ERROR: i32 = 1000;
const TOKEN: i32 = -1;

/// A token could not have ended yet, or too long ago.
const NEVER: u8 = u8::MAX;

/// Most bytes that a guess goes back; a place further back is forgotten.
const MOST_BACK: u8 = 15;

/// A state that may hold, and what speaks against it.
#[derive(Clone, Copy)]
struct Seen {
    state: u16,
    cost: i32,
    /// How many bytes ago its token could last have ended, or [`NEVER`].
    since: u8,
}

/// The first place where a token seems to begin, from `at` on or a few bytes before; no further than `longest` bytes behind it.
///
/// All states are tried on the bytes before it. The state that makes fewest errors is taken, and of these the one that makes most
/// tokens: a string may be open anywhere, but then no token ends.
pub(super) fn token_start(automaton: &LexAutomaton, text: &[u8], at: usize, longest: usize) -> usize {
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    let mut seen = seen_before(automaton, &text[at.saturating_sub(WINDOW)..at]);
    for (place, &byte) in (at..).zip(&text[at..text.len().min(at + longest)]) {
        let next = automaton.step(seen.state, byte);
        if next == LexAutomaton::DEAD {
            return if seen.since == NEVER { place } else { place.saturating_sub(usize::from(seen.since)) };
        }
        seen = seen.at(automaton, next);
    }
    (at + longest).min(text.len())
}

/// The state that seems to hold behind some bytes.
fn seen_before(automaton: &LexAutomaton, bytes: &[u8]) -> Seen {
    let start = Seen { state: LexAutomaton::START, cost: 0, since: NEVER };
    let mut states: SmallVec<[Seen; 64]> = (1..automaton.states()).map(|state| start.at(automaton, state)).collect();
    let mut next: SmallVec<[Seen; 64]> = SmallVec::new();
    // At which place of `next` a state is.
    let mut places = vec![usize::MAX; usize::from(automaton.states())];
    for place in 0..bytes.len() {
        for seen in &states {
            let to = seen.behind(automaton, &bytes[..=place]);
            let known = &mut places[usize::from(to.state)];
            match next.get_mut(*known).filter(|known| known.state == to.state) {
                Some(known) if known.cost <= to.cost => {}
                Some(known) => *known = to,
                None => {
                    *known = next.len();
                    next.push(to);
                }
            }
        }
        std::mem::swap(&mut states, &mut next);
        next.clear();
    }
    states.into_iter().min_by_key(|seen| seen.cost).unwrap_or(start)
}

impl Seen {
    /// The same token one byte further on, in this state.
    #[inline]
    fn at(self, automaton: &LexAutomaton, state: u16) -> Seen {
        let since = match automaton.accept(state) {
            Some(_) => automaton.back(state),
            None if self.since < MOST_BACK => self.since + 1,
            None => NEVER,
        };
        Seen { state, since, ..self }
    }

    /// The same behind the last of these bytes. If the token cannot go on by it, the token ended where it last could, and the bytes
    /// since are read again. A token among those that would have to go back too counts as an error.
    #[inline]
    fn behind(self, automaton: &LexAutomaton, bytes: &[u8]) -> Seen {
        let on = automaton.step(self.state, bytes[bytes.len() - 1]);
        if on != LexAutomaton::DEAD {
            return self.at(automaton, on);
        }
        let (cost, back) = if self.since == NEVER { (ERROR, 0) } else { (TOKEN, usize::from(self.since)) };
        let mut seen = Seen { state: LexAutomaton::START, cost: self.cost + cost, since: NEVER };
        for &byte in &bytes[(bytes.len() - 1).saturating_sub(back)..] {
            let on = automaton.step(seen.state, byte);
            if on != LexAutomaton::DEAD {
                seen = seen.at(automaton, on);
                continue;
            }
            if seen.state != LexAutomaton::START {
                seen.cost += if seen.since == 0 { TOKEN } else { ERROR };
            }
            seen = match automaton.step(LexAutomaton::START, byte) {
                LexAutomaton::DEAD => Seen { state: LexAutomaton::START, cost: seen.cost + ERROR, since: NEVER },
                first => Seen { since: NEVER, ..seen }.at(automaton, first),
            };
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[0-9]+`, `[0-9]+[.][0-9]+`, `[.]`, `[.][.]`, `"[^"]*"`, `a+`.
    fn automaton() -> LexAutomaton {
        let mut class_of = [0; 256];
        class_of[usize::from(b'0')..=usize::from(b'9')].fill(1);
        for (byte, class) in [(b'.', 2), (b'"', 3), (b'a', 4)] {
            class_of[usize::from(byte)] = class;
        }
        // States: dead, start, `1`, `1.`, `1.1`, `.`, `..`, `"…`, `"…"`, `a`.
        let next = [
            [0; 5],
            [0, 2, 5, 7, 9],
            [0, 2, 3, 0, 0],
            [0, 4, 0, 0, 0],
            [0, 4, 0, 0, 0],
            [0, 0, 6, 0, 0],
            [0; 5],
            [7, 7, 7, 8, 7],
            [0; 5],
            [0, 0, 0, 0, 9],
        ];
        let kinds = [None, None, Some(0), None, Some(1), Some(2), Some(3), None, Some(4), Some(5)];
        LexAutomaton {
            class_of,
            classes: 5,
            next: next.concat(),
            accept: kinds.to_vec(),
            back: vec![0; 10],
            at_end: kinds.to_vec(),
            kept: vec![true; 6],
            keeps_errors: true,
            words: Vec::new(),
        }
    }

    /// `1.` of `1..2` is no error, after which an open string would seem likelier.
    #[test]
    fn a_token_may_have_ended_some_bytes_ago() {
        let automaton = automaton();
        let text = b"1..2a3.5a".repeat(60);
        // Of the nine bytes, where tokens begin: `1`, `..`, `2`, `a`, `3.5`, `a`.
        let begins = [true, true, false, true, true, true, false, false, true];
        for at in 1..text.len() - 9 {
            let start = token_start(&automaton, &text, at, LONGEST);
            assert!(begins[start % 9] && (at.saturating_sub(1)..at + 3).contains(&start), "{start}, from {at}");
        }
    }
}

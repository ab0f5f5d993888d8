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

/// The first place from `at` on where a token seems to begin.
///
/// All states are tried on the bytes before it. The state that makes fewest errors is taken, and of these the one that makes most
/// tokens: a string may be open anywhere, but then no token ends.
pub(super) fn token_start(automaton: &LexAutomaton, text: &[u8], at: usize) -> usize {
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    let mut state = state_before(automaton, &text[at.saturating_sub(WINDOW)..at]);
    for (place, &byte) in (at..).zip(&text[at..text.len().min(at + LONGEST)]) {
        let next = automaton.step(state, byte);
        if next == LexAutomaton::DEAD {
            return place.saturating_sub(usize::from(automaton.back(state)));
        }
        state = next;
    }
    (at + LONGEST).min(text.len())
}

/// The state that seems to hold behind some bytes.
fn state_before(automaton: &LexAutomaton, bytes: &[u8]) -> u16 {
    let mut states: SmallVec<[(u16, i32); 64]> = (1..automaton.states()).map(|state| (state, 0)).collect();
    let mut next: SmallVec<[(u16, i32); 64]> = SmallVec::new();
    // At which place of `next` a state is.
    let mut places = vec![usize::MAX; usize::from(automaton.states())];
    for &byte in bytes {
        for &(state, cost) in &states {
            let (to, cost) = step(automaton, state, byte, cost);
            let place = &mut places[usize::from(to)];
            match next.get_mut(*place).filter(|(known, _)| *known == to) {
                Some(known) => known.1 = known.1.min(cost),
                None => {
                    *place = next.len();
                    next.push((to, cost));
                }
            }
        }
        std::mem::swap(&mut states, &mut next);
        next.clear();
    }
    states.into_iter().min_by_key(|&(_, cost)| cost).map_or(LexAutomaton::START, |(state, _)| state)
}

/// Where a byte leads if a token that it does not belong to ends before it, and what that counts.
fn step(automaton: &LexAutomaton, state: u16, byte: u8, cost: i32) -> (u16, i32) {
    let on = automaton.step(state, byte);
    if on != LexAutomaton::DEAD {
        return (on, cost);
    }
    let cost = if automaton.accept(state).is_some() { cost + TOKEN } else { cost + ERROR };
    match automaton.step(LexAutomaton::START, byte) {
        LexAutomaton::DEAD => (LexAutomaton::START, cost + ERROR),
        first => (first, cost),
    }
}

//! The lexing automaton: the token DFA, made to restart by itself where a token ends.
//!
//! # What it computes
//!
//! *Maximal munch*: from the current position, the longest non-empty match of any rule is the next
//! token, the earlier rule winning a tie; where no rule matches, that one byte is an error. Either
//! way lexing goes on right behind. The automaton gives each byte a *label*: the kind of what the
//! bytes pending so far are, and whether something ends with this byte ([`ENDS`]). A label depends
//! on the bytes up to its own and on the one after it.
//!
//! # When that is exact
//!
//! Call a state of the token DFA *live* if some rule may still match. All states but the dead one
//! are. The automaton exists if
//!
//! - (a) no live state that does not accept is entered from an accepting state, and
//! - (b) a live state that does not accept is entered from the start only, and the start is not
//!   entered at all.
//!
//! Then it reads byte `b` in state `q` so: where δ(q, b) is live it goes there. Else what was
//! pending has ended before `b`, and it goes to δ(start, b). If that is dead, `b` itself is an
//! error, and nothing is pending.
//!
//! *This is maximal munch.* Claim: whenever the automaton has read some bytes, the tokens and
//! errors that it has ended are those of maximal munch on the whole input. The pending bytes w,
//! read from the start of the DFA, lead to q where nothing is pending or
//!
//! 1. q accepts, or
//! 2. q does not accept, and w is a single byte: the state was entered from the start by (b), and
//!    the start never holds pending bytes.
//!
//! Let `b` come next. If δ(q, b) is live, then no match that maximal munch could choose has been
//! given up, and the new pending bytes are w·b. By (a) and (b) δ(q, b) accepts, as q is not the
//! start: case 1. If δ(q, b) is dead, no rule matches anything longer than w. In case 1, w is a
//! match and the longest, so it is the next token, and q accepts for the earliest rule. In case 2,
//! no rule matches the single byte w, so it is an error. Both times maximal munch goes on at `b`,
//! as the automaton does: δ(start, b) accepts (case 1), does not (case 2), or is dead. Then no rule
//! begins with `b`, and it is an error of its own, ended at once. The end of the input is a byte
//! after which every state is dead: what is pending ends there, as a token in case 1 and as one
//! error in case 2. ∎
//!
//! *Nothing else can be.* If (a) fails there are a token w, and v such that w·v is a token, but
//! w·v′ is none for some proper non-empty prefix v′ of v, with the first byte of v live and not
//! accepting. Whether w ends before that byte depends on bytes after it. If (b) fails in another
//! way, two or more bytes are pending that are no token and may become one: whether the first is an
//! error depends on more than the byte after it. So these rules take an oracle, which reads the
//! text from its end ([`super::oracle`]); a rule for the incomplete forms spares it.
//!
//! No minimisation follows: states that the DFA tells apart end at different bytes, or as different
//! kinds, here too.

use super::dfa::{State, TokenDfa};
use super::label::Codes;
use super::lookahead;

/// The automaton of the module documentation.
pub(super) struct LexAutomaton {
    pub(super) class_of: [u8; 256],
    pub(super) classes: usize,
    /// The move of a byte of class `c` in state `q`, at `q * classes + c`.
    moves: Vec<Move>,
    /// The label of the byte that led to a state, at the end of the input.
    last_labels: Vec<u16>,
    pub(super) codes: Codes,
}

/// The move of one byte.
#[derive(Clone, Copy)]
struct Move {
    /// Where the moves from the next state begin.
    row: u32,
    /// The label of the byte *before* this one: now it is known whether something ended there.
    label: u16,
}

impl LexAutomaton {
    /// Nothing is pending: before the first byte, and behind an error byte.
    pub(super) const IDLE: State = TokenDfa::DEAD;

    /// None if the DFA does not satisfy (a) and (b).
    pub(super) fn of(dfa: &TokenDfa, codes: Codes) -> Option<LexAutomaton> {
        lookahead::is_decided(dfa).then(|| LexAutomaton::restarting(dfa, codes))
    }

    /// Folds the restart into a DFA that satisfies (a) and (b). The DFA's dead state becomes [`Self::IDLE`]; its start
    /// stays without being entered.
    fn restarting(dfa: &TokenDfa, codes: Codes) -> LexAutomaton {
        let row = |q: State| (q.index() * dfa.classes) as u32;
        let ended = |q: State| codes.ended(dfa.accept(q));
        let moves = |q: State| {
            (0..dfa.classes).map(move |class| match dfa.next(q, class) {
                TokenDfa::DEAD => Move { row: row(dfa.next(TokenDfa::START, class)), label: ended(q) },
                to => Move { row: row(to), label: codes.goes_on(dfa.accept(q)) },
            })
        };
        LexAutomaton {
            class_of: dfa.class_of,
            classes: dfa.classes,
            moves: dfa.states().flat_map(moves).collect(),
            last_labels: dfa.states().map(ended).collect(),
            codes,
        }
    }

    /// States that hold after some byte, and [`Self::IDLE`].
    pub(super) fn states(&self) -> impl Iterator<Item = State> + use<> {
        (0..self.last_labels.len()).map(State::new).filter(|&q| q != TokenDfa::START)
    }

    pub(super) fn next(&self, state: State, class: usize) -> State {
        State::new(self.moves[state.index() * self.classes + class].row as usize / self.classes)
    }

    /// The label of the byte that led to `state`, given the class of the byte after it, or none at the end of the input.
    pub(super) fn label(&self, state: State, next_class: Option<usize>) -> u16 {
        match next_class {
            Some(class) => self.moves[state.index() * self.classes + class].label,
            None => self.last_labels[state.index()],
        }
    }

    /// The labels of a text, one byte after the other: a lookup a byte.
    pub(super) fn label_text<L>(&self, text: &[u8], of_code: impl Fn(u16) -> L) -> Vec<L> {
        let step = |row: u32, byte: u8| self.moves[row as usize + usize::from(self.class_of[usize::from(byte)])];
        let idle = (Self::IDLE.index() * self.classes) as u32;
        let Some((&first, rest)) = text.split_first() else { return Vec::new() };
        let mut row = step(idle, first).row;
        let mut labels = Vec::with_capacity(text.len());
        labels.extend(rest.iter().map(|&byte| {
            let step = step(row, byte);
            row = step.row;
            of_code(step.label)
        }));
        labels.push(of_code(self.last_labels[row as usize / self.classes]));
        labels
    }
}

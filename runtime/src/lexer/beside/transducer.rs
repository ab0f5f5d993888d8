//! The automaton as a transducer: for each byte one look-up, which gives the next state and at most
//! one token that has ended.
//!
//! A token has ended once a byte leads nowhere. If its last state did not accept, it ended some
//! bytes before, and these bytes are lexed again. Here they are lexed ahead: a state of the
//! transducer is that of the pending token, and the outcome of lexing the bytes behind the place
//! where that token could last have ended. Such an outcome is tokens and a pending token, which may
//! have an outcome of its own. Where a state gives bytes back (trailing context), the bytes that it
//! may give back are lexed ahead as well.
//!
//! A byte may end several tokens, as in `word' `. They wait in the state, and each byte gives one.
//!
//! States are made when a text first leads to them, as automata with much look-ahead have many, and
//! texts reach few. Where a token could last have ended too many bytes ago, where bytes begin no
//! token, and where there are too many states, the transducer gives up.

use std::sync::Arc;

use monoscan_codegen::cpu::lexer::LexAutomaton;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most kinds of tokens that cells tell apart.
const MOST_KINDS: usize = 1 << 7;

/// A token that ended more bytes ago is not given.
const MOST_AGO: u8 = 63;

/// Most cells.
const MOST_CELLS: usize = 1 << 18;

/// Most pending tokens that are told apart.
const MOST_PENDING: usize = 1 << 16;

/// An automaton as it is looked up.
#[derive(Debug)]
pub(super) struct Transducer {
    automaton: Arc<LexAutomaton>,
    /// In the row of a state, for each class: where the row of the next state begins (18 bits), how many bytes ago the token ended (6),
    /// its kind (7), and whether one did (1). Zeros are not made yet: they lead to the row of zeros, which is the first.
    cells: Vec<u32>,
    states: Vec<State>,
    known_states: FxHashMap<State, u32>,
    pending: Vec<Pending>,
    known_pending: FxHashMap<Pending, u32>,
    /// For each state of the automaton, how many bytes a state that it leads to may have given back of those read so far.
    returns: Vec<SmallVec<[u8; 4]>>,
    /// A byte of each class.
    bytes: Vec<u8>,
}

/// A state of the transducer: tokens that are not given yet, and the token that is pending.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    waiting: Tokens,
    pending: u32,
}

/// A token that ended so many bytes ago.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Ended {
    kind: u16,
    ago: u8,
}

type Tokens = SmallVec<[Ended; 4]>;

/// The outcome of lexing some bytes: the tokens that ended, and the number of the one that is pending.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Outcome {
    ended: Tokens,
    pending: u32,
}

/// A pending token.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pending {
    /// The state of the automaton.
    state: u16,
    /// The outcome if no byte leads on: the token that ended last, and what is behind it. None if the state accepts all bytes so far,
    /// which says it all, or if no token ended.
    ended: Option<Outcome>,
    /// For numbers of bytes that may be given back, the outcome of lexing so many last bytes, if it is known.
    returned: SmallVec<[(u8, Option<Outcome>); 2]>,
}

/// The number of the pending token that has no byte.
const NOTHING: u32 = 0;

/// Whether an automaton has no words beside it, and few enough kinds.
pub(in crate::lexer) fn is_supported(automaton: &LexAutomaton) -> bool {
    automaton.words.is_empty() && automaton.kept.len() <= MOST_KINDS
}

impl Transducer {
    /// Of an automaton that is supported.
    pub(super) fn new(automaton: &Arc<LexAutomaton>) -> Transducer {
        let mut bytes = vec![0; automaton.classes];
        (0..=255).for_each(|byte: u8| bytes[usize::from(automaton.class_of[usize::from(byte)])] = byte);
        let mut transducer = Transducer {
            automaton: automaton.clone(),
            // Zeros, and the row of what gives up.
            cells: [vec![0; automaton.classes], vec![automaton.classes as u32; automaton.classes]].concat(),
            states: Vec::new(),
            known_states: FxHashMap::default(),
            pending: Vec::new(),
            known_pending: FxHashMap::default(),
            returns: returns(automaton),
            bytes,
        };
        transducer.number(Pending { state: LexAutomaton::START, ended: None, returned: SmallVec::new() });
        transducer.row_of(State { waiting: Tokens::new(), pending: NOTHING });
        transducer
    }

    /// The row of the state before the first byte of a token.
    pub(super) fn start(&self) -> u32 {
        2 * self.automaton.classes as u32
    }

    pub(super) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The cell of a byte in a row, which is made if it was not.
    pub(super) fn cell(&mut self, row: u32, byte: u8) -> u32 {
        let class = usize::from(self.automaton.class_of[usize::from(byte)]);
        let place = row as usize + class;
        if self.cells[place] == 0 {
            let state = self.states[row as usize / self.automaton.classes - 2].clone();
            let cell = self.step(&state, class).unwrap_or(self.automaton.classes as u32);
            self.cells[place] = cell;
        }
        self.cells[place]
    }

    /// The cell of a class in a state, unless it gives up.
    fn step(&mut self, state: &State, class: usize) -> Option<u32> {
        let Outcome { mut ended, pending } =
            self.further(&Outcome { ended: state.waiting.clone(), pending: state.pending }, class)?;
        let given = (!ended.is_empty()).then(|| ended.remove(0));
        let row = self.row_of(State { waiting: ended, pending })?;
        Some(given.map_or(row, |Ended { kind, ago }| 1 << 31 | u32::from(kind) << 24 | u32::from(ago) << 18 | row))
    }

    fn row_of(&mut self, state: State) -> Option<u32> {
        if let Some(&row) = self.known_states.get(&state) {
            return Some(row);
        }
        let row = self.cells.len();
        if row + self.automaton.classes > MOST_CELLS {
            return None;
        }
        self.cells.resize(row + self.automaton.classes, 0);
        self.states.push(state.clone());
        self.known_states.insert(state, row as u32);
        Some(row as u32)
    }

    fn number(&mut self, pending: Pending) -> u32 {
        if let Some(&number) = self.known_pending.get(&pending) {
            return number;
        }
        let number = self.pending.len() as u32;
        self.pending.push(pending.clone());
        self.known_pending.insert(pending, number);
        number
    }

    /// The outcome with a byte of this class behind, unless it is not known.
    fn further(&mut self, Outcome { ended, pending }: &Outcome, class: usize) -> Option<Outcome> {
        let older = |&Ended { kind, ago }: &Ended| (ago < MOST_AGO).then_some(Ended { kind, ago: ago + 1 });
        let mut ended = ended.iter().map(older).collect::<Option<Tokens>>()?;
        let behind = self.read(*pending, class)?;
        ended.extend(behind.ended);
        Some(Outcome { ended, pending: behind.pending })
    }

    /// The outcome of a pending token and a byte.
    fn read(&mut self, pending: u32, class: usize) -> Option<Outcome> {
        if self.pending.len() >= MOST_PENDING {
            return None;
        }
        let Pending { state, ended, returned } = self.pending[pending as usize].clone();
        let ended = match self.automaton.accept(state) {
            Some(kind) if self.automaton.back(state) == 0 => {
                Some(Outcome { ended: [Ended { kind, ago: 0 }].into_iter().collect(), pending: NOTHING })
            }
            _ => ended,
        };
        let to = self.automaton.step(state, self.bytes[class]);
        if to == LexAutomaton::DEAD {
            return self.further(&ended?, class);
        }
        let nothing = Outcome { ended: Tokens::new(), pending: NOTHING };
        let mut behind: SmallVec<[(u8, Option<Outcome>); 2]> = SmallVec::new();
        for bytes in self.returns[usize::from(to)].clone() {
            let before = match bytes {
                1 => Some(&nothing),
                _ => returned.iter().find(|(of, _)| *of == bytes - 1).and_then(|(_, outcome)| outcome.as_ref()),
            };
            behind.push((bytes, before.and_then(|before| self.further(before, class))));
        }
        let ended = match (self.automaton.accept(to), self.automaton.back(to)) {
            (Some(_), 0) => None,
            (Some(kind), back) => {
                let rest = behind.iter().find(|(of, _)| *of == back).and_then(|(_, outcome)| outcome.clone());
                rest.map(|Outcome { mut ended, pending }| {
                    ended.insert(0, Ended { kind, ago: back });
                    Outcome { ended, pending }
                })
            }
            (None, _) => ended.and_then(|ended| self.further(&ended, class)),
        };
        let pending = self.number(Pending { state: to, ended, returned: behind });
        Some(Outcome { pending, ..nothing })
    }
}

/// Whether a token has ended, as 1 or 0.
#[inline]
pub(super) fn ends(cell: u32) -> u32 {
    cell >> 31
}

/// Where the row of the next state begins.
#[inline]
pub(super) fn row(cell: u32) -> u32 {
    cell & (MOST_CELLS as u32 - 1)
}

/// How many bytes ago the token ended, that of the cell among them.
#[inline]
pub(super) fn ago(cell: u32) -> usize {
    (cell >> 18 & u32::from(MOST_AGO)) as usize
}

#[inline]
pub(super) fn kind(cell: u32) -> u16 {
    (cell >> 24 & (MOST_KINDS as u32 - 1)) as u16
}

/// For each state, how many of the bytes read so far may be given back, there or further on.
fn returns(automaton: &LexAutomaton) -> Vec<SmallVec<[u8; 4]>> {
    // Bit `n` of a state: `n` bytes.
    let mut masks: Vec<u32> =
        automaton.back.iter().map(|&back| 1u32.checked_shl(back.into()).unwrap_or(0) & !1).collect();
    let mut changes = masks.iter().any(|&mask| mask > 0);
    while std::mem::take(&mut changes) {
        for (state, row) in automaton.next.chunks(automaton.classes).enumerate() {
            let further = row.iter().fold(0, |all, &to| all | masks[usize::from(to)] >> 1) & !1;
            changes |= masks[state] | further != masks[state];
            masks[state] |= further;
        }
    }
    masks.iter().map(|mask| (1..32).filter(|n| mask >> n & 1 == 1).collect()).collect()
}

//! Transducers: automata that give an output for each symbol they read (Mealy machines).

/// An automaton that gives an output for each symbol, from the state before it. State 0 is the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transducer {
    /// The class of each byte, which is its symbol, where a text is read, from its end; else symbols are read, from the first on.
    pub class_of: Option<[u8; 256]>,
    /// How many states it has.
    pub states: usize,
    /// How many symbols there are.
    pub symbols: usize,
    /// Where symbol `s` leads state `q`, at `s * states + q`.
    pub next: Vec<u16>,
    /// And what it gives there.
    pub output: Vec<u16>,
}

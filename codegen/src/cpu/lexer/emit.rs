//! The lexer as one function: a block for each state of the automaton.
//!
//! The place `p` in the text is the only state that matters between tokens. A block for state `q`
//! is entered with `p` at the byte that led there. Where `q` leads to itself by many bytes, it
//! skips 16 at a time, so the length of a run is data and mispredicts no branch. A byte that leads
//! nowhere ends the token, if `q` accepts: its kind's block stores it and goes on by a dispatch of
//! its own, so that the processor predicts what follows each kind of token. If `q` does not accept,
//! the lexer goes back to the last place where the token could have ended. That place is remembered
//! by the edges from states that accept to states that do not; rules without such edges pay
//! nothing.

mod errors;
mod states;

use std::collections::BTreeMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AbiParam, Block, InstBuilder, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};

use super::automaton::LexAutomaton;
use super::dispatch::Dispatch;
use super::walked::Walked;
use super::words::WordTable;
use super::{LexArgs, NONE, Status, Widths};
use crate::cpu::memory::data_flags;

/// The parts of the code that emits a function.
pub(super) struct Source<'a> {
    pub(super) automaton: &'a LexAutomaton,
    pub(super) words: Option<&'a WordTable>,
    /// States that have no block, if there are such.
    pub(super) walked: Option<&'a Walked>,
    /// How what begins next is found where a token ends.
    pub(super) dispatch: Dispatch,
    /// Bytes of the numbers in the columns.
    pub(super) widths: Widths,
    /// Whether the machine looks up bytes in a vector.
    pub(super) shuffles: bool,
}

/// A function being emitted.
pub(super) struct Emitter<'a, 'b> {
    pub(super) b: FunctionBuilder<'b>,
    pub(super) source: &'b Source<'a>,
    args: Value,
    pub(super) text: Value,
    until: Value,
    pub(super) len: Value,
    /// The last place with 16 bytes from it on, −1 or less if there is none.
    pub(super) safe: Value,
    /// The columns kinds, starts and ends.
    columns: [Value; 3],
    /// The place in the text.
    pub(super) p: Variable,
    /// Where the token, or the run of errors, begins.
    pub(super) s: Variable,
    /// How many tokens were written.
    n: Variable,
    /// The last place where the token could have ended, if it is behind `s`; and the kind that it would have had.
    accepted: Variable,
    accepted_kind: Variable,
    /// Where the row of the walked state begins.
    pub(super) row: Variable,
    /// A block for each live state; those of walked states are not used.
    states: Vec<Block>,
    /// A block for each kind, where its tokens end.
    ends: BTreeMap<u16, Block>,
    /// The same for tokens that ended so many bytes before `p`.
    ends_back: BTreeMap<(u16, u8), Block>,
    /// Edges whose blocks are not filled yet.
    edges: Vec<Edge>,
    pub(super) shared: Shared,
}

/// A way from a state that accepts to one that does not, or to walked states.
struct Edge {
    block: Block,
    from: u16,
    to: u16,
}

/// Blocks that there are once.
pub(super) struct Shared {
    /// A token may begin at `p`.
    begin: Block,
    /// The byte at `p` leads nowhere, and the pending text is no token.
    pub(super) fail: Block,
    /// The byte at `p` led to a walked state.
    pub(super) walk: Block,
    /// The byte at `p` begins no token; `s` is where the run of such bytes began.
    errors: Block,
    /// The text goes on behind what can be seen, and the pending token may too.
    undecided: Block,
    /// Done: the status, and where a run of errors began that is still open.
    leave: Block,
}

/// Writes the lexer into an empty function.
pub(super) fn emit(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    frontend: TargetFrontendConfig,
    source: &Source<'_>,
) {
    func.signature.params.push(AbiParam::new(types::I64));
    func.signature.returns.push(AbiParam::new(types::I64));
    let mut emitter = Emitter::enter(FunctionBuilder::new(func, context), source);
    emitter.begin_once();
    for state in source.automaton.live() {
        if emitter.target(state) == state {
            emitter.state(state);
        }
    }
    if let Some(walked) = source.walked {
        emitter.walk(walked);
    }
    for kind in emitter.ends.keys().copied().collect::<Vec<_>>() {
        emitter.end(kind);
    }
    emitter.end_back();
    emitter.remember();
    emitter.failure();
    emitter.error_run();
    emitter.leave();
    emitter.b.seal_all_blocks();
    emitter.b.finalize(frontend);
}

impl<'a, 'b> Emitter<'a, 'b> {
    /// Reads the arguments, and goes on with the run of errors that is open, or where a token may begin.
    fn enter(mut b: FunctionBuilder<'b>, source: &'b Source<'a>) -> Emitter<'a, 'b> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let args = b.block_params(entry)[0];
        let mut word = |offset: usize| b.ins().load(types::I64, data_flags(), args, offset as i32);
        let [text, from, until, len] = [
            offset_of!(LexArgs, text),
            offset_of!(LexArgs, from),
            offset_of!(LexArgs, until),
            offset_of!(LexArgs, len),
        ]
        .map(&mut word);
        let columns =
            [offset_of!(LexArgs, kinds), offset_of!(LexArgs, starts), offset_of!(LexArgs, ends)].map(&mut word);
        let error = word(offset_of!(LexArgs, error));
        let safe = b.ins().iadd_imm_s(len, -16);
        let [p, s, n, accepted, accepted_kind, row] = std::array::from_fn(|_| b.declare_var(types::I64));
        let zero = b.ins().iconst(types::I64, 0);
        for variable in [n, accepted, accepted_kind, row] {
            b.def_var(variable, zero);
        }
        b.def_var(p, from);
        b.def_var(s, error);
        let states = source.automaton.live().map(|_| b.create_block()).collect();
        let ends = source.automaton.kinds().into_iter().map(|kind| (kind, b.create_block())).collect();
        let ends_back = BTreeMap::new();
        let [begin, fail, walk, errors, undecided, leave] = std::array::from_fn(|_| b.create_block());
        b.set_cold_block(fail);
        b.set_cold_block(undecided);
        let shared = Shared { begin, fail, walk, errors, undecided, leave };
        let none = b.ins().icmp_imm_s(IntCC::Equal, error, NONE as i64);
        b.ins().brif(none, begin, &[], errors, &[]);
        Emitter {
            b,
            source,
            args,
            text,
            until,
            len,
            safe,
            columns,
            p,
            s,
            n,
            accepted,
            accepted_kind,
            row,
            states,
            ends,
            ends_back,
            edges: Vec::new(),
            shared,
        }
    }

    pub(super) fn automaton(&self) -> &'a LexAutomaton {
        self.source.automaton
    }

    pub(super) fn get(&mut self, variable: Variable) -> Value {
        self.b.use_var(variable)
    }

    /// The address of the byte at `p`.
    fn here(&mut self) -> Value {
        let p = self.get(self.p);
        self.b.ins().iadd(self.text, p)
    }

    /// The byte at `p`.
    pub(super) fn byte(&mut self) -> Value {
        let address = self.here();
        self.b.ins().load(types::I8, data_flags(), address, 0)
    }

    pub(super) fn advance(&mut self, by: i64) {
        let p = self.get(self.p);
        let p = self.b.ins().iadd_imm_s(p, by);
        self.b.def_var(self.p, p);
    }

    /// Emits the block that all tokens may begin in.
    fn begin_once(&mut self) {
        self.b.switch_to_block(self.shared.begin);
        self.begin(self.source.dispatch == Dispatch::ByByte);
    }

    /// A token may begin at `p`.
    fn begin(&mut self, by_byte: bool) {
        let p = self.get(self.p);
        self.b.def_var(self.s, p);
        let [go, stop] = std::array::from_fn(|_| self.b.create_block());
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, p, self.until);
        self.b.ins().brif(more, go, &[], stop, &[]);
        self.b.set_cold_block(stop);
        self.b.switch_to_block(stop);
        self.exit(Status::Done, None);
        self.b.switch_to_block(go);
        let byte = self.byte();
        self.dispatch(LexAutomaton::START, byte, true, by_byte);
    }

    /// Where the lexer goes if a byte leads from a state nowhere.
    pub(super) fn over(&mut self, state: u16) -> Block {
        let back = self.automaton().back(state);
        match self.automaton().accept(state) {
            Some(kind) if back > 0 => *self.ends_back.entry((kind, back)).or_insert_with(|| self.b.create_block()),
            Some(kind) => self.ends[&kind],
            None if state == LexAutomaton::START => self.shared.errors,
            None => self.shared.fail,
        }
    }

    /// Where the lexer goes if the text ends in a state.
    pub(super) fn over_at_end(&self, state: u16) -> Block {
        self.automaton().at_end(state).map_or(self.shared.fail, |kind| self.ends[&kind])
    }

    /// A token of a kind ends before `p`.
    fn end(&mut self, kind: u16) {
        self.b.switch_to_block(self.ends[&kind]);
        match self.source.words {
            Some(words) if words.concerns(kind) => self.put_word(words, kind),
            _ if self.automaton().keeps(kind) => {
                let kind = self.b.ins().iconst(types::I32, i64::from(kind));
                let one = self.b.ins().iconst(types::I64, 1);
                self.put(kind, one);
            }
            _ => {}
        }
        match self.source.dispatch {
            Dispatch::Shared => {
                self.b.ins().jump(self.shared.begin, &[]);
            }
            dispatch => self.begin(dispatch == Dispatch::ByByte),
        }
    }

    /// Tokens that ended some bytes before `p`.
    fn end_back(&mut self) {
        for ((kind, back), block) in std::mem::take(&mut self.ends_back) {
            self.b.switch_to_block(block);
            self.advance(-i64::from(back));
            self.b.ins().jump(self.ends[&kind], &[]);
        }
    }

    /// Writes the token from `s` to `p` behind those that count. If `count` is 1 it counts too; if it is 0 the next one takes its place.
    pub(super) fn put(&mut self, kind: Value, count: Value) {
        let [n, s, p] = [self.n, self.s, self.p].map(|variable| self.get(variable));
        let [kinds, starts, ends] = self.columns;
        let Widths { kind: of_kind, place: of_place } = self.source.widths;
        self.store(of_kind, kind, kinds, n);
        self.store(of_place, s, starts, n);
        self.store(of_place, p, ends, n);
        let n = self.b.ins().iadd(n, count);
        self.b.def_var(self.n, n);
    }

    /// The address of a column's number at a place, if each has so many bytes.
    fn entry(&mut self, bytes: u8, column: Value, place: Value) -> Value {
        let offset = self.b.ins().ishl_imm_u(place, i64::from(bytes.trailing_zeros()));
        self.b.ins().iadd(column, offset)
    }

    /// Writes a number of so many bytes.
    fn store(&mut self, bytes: u8, number: Value, column: Value, place: Value) {
        let address = self.entry(bytes, column, place);
        match bytes {
            1 => self.b.ins().istore8(data_flags(), number, address, 0),
            2 => self.b.ins().istore16(data_flags(), number, address, 0),
            4 => self.b.ins().istore32(data_flags(), number, address, 0),
            _ => self.b.ins().store(data_flags(), number, address, 0),
        };
    }

    /// Reads a number of so many bytes.
    fn load(&mut self, bytes: u8, column: Value, place: Value) -> Value {
        let address = self.entry(bytes, column, place);
        match bytes {
            1 => self.b.ins().uload8(types::I64, data_flags(), address, 0),
            2 => self.b.ins().uload16(types::I64, data_flags(), address, 0),
            4 => self.b.ins().uload32(data_flags(), address, 0),
            _ => self.b.ins().load(types::I64, data_flags(), address, 0),
        }
    }

    fn exit(&mut self, status: Status, error: Option<Value>) {
        let status = self.b.ins().iconst(types::I64, status as i64);
        let error = error.unwrap_or_else(|| self.b.ins().iconst(types::I64, NONE as i64));
        self.b.ins().jump(self.shared.leave, &[status.into(), error.into()]);
    }

    fn leave(&mut self) {
        for _ in 0..2 {
            self.b.append_block_param(self.shared.leave, types::I64);
        }
        self.b.switch_to_block(self.shared.leave);
        let &[status, error] = self.b.block_params(self.shared.leave) else { unreachable!("two were appended") };
        let p = self.get(self.p);
        let results = [
            (status, offset_of!(LexArgs, status)),
            (error, offset_of!(LexArgs, error)),
            (p, offset_of!(LexArgs, from)),
        ];
        for (value, offset) in results {
            self.b.ins().store(data_flags(), value, self.args, offset as i32);
        }
        let n = self.get(self.n);
        self.b.ins().return_(&[n]);
    }
}

//! Lexers as direct code: an automaton of tokens becomes one function with a block for each state.
//!
//! The function lexes the tokens that begin in a part of a text, and gives where the next one
//! begins. Nothing else is known between tokens, so parts of a text can be lexed apart if it is
//! known, or guessed and verified, where a token begins. It is exact for all regular rules: where
//! the longest match is found only by reading on, it goes back (`emit`). What it reads in vain is
//! bounded by a budget; the caller takes other code when that is spent.

mod automaton;
mod bytes;
mod dispatch;
mod emit;
mod walked;
mod words;

use std::fmt;
use std::sync::Arc;

pub use automaton::{ERROR, LexAutomaton};
pub use dispatch::Dispatch;
pub use words::MAX_WORD;

use super::code::Code;
use super::error::CodegenError;
use super::isa::HostIsa;
use walked::Walked;
use words::WordTable;

/// So many states have blocks at most: code would be large, and slow to make. In a larger automaton, states that neither accept
/// nor lead to themselves have none; one with too many others is not compiled.
pub const MAX_DIRECT_STATES: usize = 600;

/// Code for how what begins next is found may take about so many bytes.
const DISPATCH_BYTES: usize = 112 << 10;

/// In [`LexArgs::error`]: no run of errors is open.
pub const NONE: usize = usize::MAX;

/// The argument of a lexer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LexArgs {
    /// The text; offsets count from here.
    pub text: *const u8,
    /// In: where a token begins. Out: where the next one does.
    pub from: usize,
    /// Tokens that begin before it are lexed.
    pub until: usize,
    /// How many bytes of the text may be read.
    pub len: usize,
    /// 1 if the text ends there, 0 if more is to come.
    pub last: usize,
    /// Where the kinds of tokens are written, in numbers of [`Widths::kind`] bytes.
    pub kinds: *mut u8,
    /// Where their starts are, in numbers of [`Widths::place`] bytes.
    pub starts: *mut u8,
    /// Where their ends are, likewise.
    pub ends: *mut u8,
    /// In and out: where the run of errors began that `from` ends for now, or [`NONE`].
    pub error: usize,
    /// In and out: how many bytes may be read in vain, all together.
    pub budget: i64,
    /// Out: a [`Status`].
    pub status: u64,
}

/// How many bytes the numbers in columns of tokens have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Widths {
    /// A kind has one byte or two. [`ERROR`] is the greatest number of either.
    pub kind: u8,
    /// A place has four bytes or eight.
    pub place: u8,
}

/// Why a lexer stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Status {
    /// All tokens that begin before `until` were lexed.
    Done = 0,
    /// The token at `from` may go on behind what can be read.
    Undecided = 1,
    /// The budget is spent; the token at `from` was not lexed.
    Vain = 2,
}

/// The code of a lexer.
pub struct LexCode {
    code: Code,
    dispatch: Dispatch,
    states: usize,
    table_bytes: usize,
    /// Generated code points at these.
    _automaton: Arc<LexAutomaton>,
    _words: Option<Box<WordTable>>,
    _walked: Option<Box<Walked>>,
}

impl LexCode {
    /// Compiles an automaton for this machine: in milliseconds, some forty for a programming language.
    ///
    /// # Errors
    /// [`CodegenError::LexerTooLarge`] if more than [`MAX_DIRECT_STATES`] states need blocks; or if code cannot be generated for the machine.
    ///
    /// # Panics
    /// Those of [`LexAutomaton::check`], and if there are no such widths, or too many kinds for one byte.
    pub fn new(automaton: Arc<LexAutomaton>, widths: Widths) -> Result<LexCode, CodegenError> {
        automaton.check();
        assert!(matches!(widths, Widths { kind: 1 | 2, place: 4 | 8 }), "expected 1 or 2 bytes, and 4 or 8");
        assert!(widths.kind == 2 || automaton.kept.len() <= usize::from(u8::MAX), "a byte is too short for the kinds");
        let states = automaton.accept.len();
        let walked = Walked::of(&automaton).map(Box::new);
        let direct = walked.as_ref().map_or(states, |walked| walked.direct());
        if direct > MAX_DIRECT_STATES {
            return Err(CodegenError::LexerTooLarge { states: direct, most: MAX_DIRECT_STATES });
        }
        let isa = HostIsa::native()?;
        let words = WordTable::new(&automaton).map(Box::new);
        let dispatch = dispatch::choose(&automaton, DISPATCH_BYTES);
        let source = emit::Source {
            automaton: &automaton,
            words: words.as_deref(),
            walked: walked.as_deref(),
            dispatch,
            widths,
            shuffles: isa.x86 && isa.pshufb,
        };
        let code = Code::new(&isa, |context, func| {
            emit::emit(func, context, isa.isa.frontend_config(), &source);
            Ok(())
        })?;
        let table_bytes = automaton.class_of.len() + words.as_ref().map_or(0, |words| words.bytes());
        let table_bytes = table_bytes + walked.as_ref().map_or(0, |walked| walked.bytes());
        Ok(LexCode { code, dispatch, states, table_bytes, _automaton: automaton, _words: words, _walked: walked })
    }

    /// Lexes the tokens that begin in a part of the text; returns how many were written.
    ///
    /// # Safety
    /// `text` points to `len` bytes, `from <= until <= len`, places are of a type that holds `len`, and each column has space for `until − from` tokens, and one
    /// more if `error` is not [`NONE`], that nobody else reads or writes. Columns need no alignment.
    pub unsafe fn lex(&self, args: &mut LexArgs) -> usize {
        // SAFETY: the code was compiled with this signature, lives as long as `self`, and needs what the caller promises.
        unsafe {
            let code =
                std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut LexArgs) -> usize>(self.code.address());
            code(args)
        }
    }

    /// How the first byte of a token leads to its state.
    pub fn dispatch(&self) -> Dispatch {
        self.dispatch
    }

    /// Bytes of code, its tables of jumps included.
    pub fn code_bytes(&self) -> usize {
        self.code.bytes()
    }

    /// Bytes of the tables that the code reads.
    pub fn table_bytes(&self) -> usize {
        self.table_bytes
    }
}

impl fmt::Debug for LexCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LexCode")
            .field("states", &self.states)
            .field("dispatch", &self.dispatch)
            .field("code_bytes", &self.code_bytes())
            .field("table_bytes", &self.table_bytes)
            .finish_non_exhaustive()
    }
}

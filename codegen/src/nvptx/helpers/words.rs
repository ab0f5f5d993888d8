//! Words among tokens in device memory: of those of some kinds the text is looked up, and where it
//! is a word, the token gets that word's kind.
//!
//! A thread has several tokens, so that its loads wait together. Texts of at most eight bytes are
//! read in three words; the others, and those at the ends of the text, byte by byte.

use bytemuck::{Pod, Zeroable};

use super::{HELPER_THREADS, argument};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::words::{Packed, PerfectHash, pack};

/// Tokens of a thread.
const TOGETHER: usize = 4;

/// Tokens of a block.
pub(super) const TILE: usize = TOGETHER * HELPER_THREADS;

/// Bytes of a word as it is compared first, and of all else that is known of it.
const FIRST: usize = 8;
const REST: usize = 16;

/// Words that tokens of some kinds may be, as the kernel looks them up.
#[derive(Clone, Debug)]
pub struct WordsTable {
    hash: PerfectHash,
    bytes: Vec<u8>,
    /// A bit for each kind of token that may be a word.
    kinds: [u64; 2],
    shortest: usize,
    longest: usize,
}

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct WordsArguments {
    /// How many tokens, at least one.
    pub tokens: u64,
    /// Where the text is, and how many bytes it has.
    pub text: u64,
    /// See `text`.
    pub text_bytes: u64,
    /// Where tokens begin and end, a `u32` each.
    pub starts: u64,
    /// See `starts`.
    pub ends: u64,
    /// Where their kinds are, a byte each, below 128.
    pub kinds: u64,
    /// Where the table is, at a multiple of 16.
    pub table: u64,
    /// How many slots it has.
    pub slots: u64,
    /// The factors of the halves of a text, for its slot.
    pub factors: [u64; 2],
    /// By how many bits their combination is shifted right.
    pub shift: u64,
    /// A bit for each kind of token that may be a word.
    pub may_be_words: [u64; 2],
    /// Bytes of the shortest word, and of the longest.
    pub shortest: u64,
    /// See `shortest`.
    pub longest: u64,
}

impl WordsTable {
    /// Of words of one to [`MAX_WORD`](crate::cpu::lexer::MAX_WORD) bytes, none twice, and their kinds. Only tokens of these kinds may be words, and none is
    /// a word with zeros behind it. None if there are no words.
    ///
    /// # Panics
    /// A kind is 128 or more.
    pub fn new(words: &[(Vec<u8>, u8)], of_kinds: &[u8]) -> Option<WordsTable> {
        let packed: Vec<Packed> = words.iter().map(|(word, _)| pack(word)).collect();
        let hash = PerfectHash::of(&packed)?;
        let slots = hash.placed(packed.iter().zip(words).map(|(&word, &(_, kind))| (word, (word, kind))));
        let first = slots.iter().flat_map(|(word, _)| word[0].to_le_bytes());
        let rest = slots.iter().flat_map(|(word, kind)| [word[1], u64::from(*kind)]).flat_map(u64::to_le_bytes);
        let bits = of_kinds.iter().fold(0u128, |bits, &kind| {
            assert!(kind < 128, "a label has seven bits for a kind");
            bits | 1 << kind
        });
        let lengths = || words.iter().map(|(word, _)| word.len());
        Some(WordsTable {
            hash,
            bytes: first.chain(rest).collect(),
            kinds: [bits as u64, (bits >> 64) as u64],
            shortest: lengths().min()?,
            longest: lengths().max()?,
        })
    }

    /// The table, which is to be in device memory.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Those arguments that follow from the words; the others are of a launch.
    pub fn arguments(&self) -> WordsArguments {
        WordsArguments {
            slots: self.hash.slots() as u64,
            factors: self.hash.factors,
            shift: self.hash.shift.into(),
            may_be_words: self.kinds,
            shortest: self.shortest as u64,
            longest: self.longest as u64,
            ..WordsArguments::default()
        }
    }
}

pub(super) fn write(k: &Builder) {
    let count = argument!(k, WordsArguments.tokens);
    let first = k.block().resize(Ty::I64) * TILE + k.thread().resize(Ty::I64);
    let tokens: Vec<Token<'_>> =
        (0..TOGETHER).map(|turn| Token::load(k, first + turn * HELPER_THREADS, count)).collect();
    let texts: Vec<Text<'_>> = tokens.iter().map(Token::text).collect();
    let first_halves: Vec<Value<'_>> = texts.iter().map(|text| text.looked_up(&[text.low])).collect();
    for ((token, text), found) in tokens.iter().zip(&texts).zip(first_halves) {
        k.when(text.is_short & found.is(text.low), || token.name(text, [text.low, k.i64(0)]));
        k.when(token.is_asked & !text.is_short, || {
            let halves = token.bytes();
            k.when(text.looked_up(&halves).is(halves[0]), || token.name(text, halves));
        });
    }
}

/// A token of a thread.
struct Token<'k> {
    k: &'k Builder,
    kind: Value<'k>,
    start: Value<'k>,
    length: Value<'k>,
    /// Whether it may be a word.
    is_asked: Value<'k>,
}

/// The text of a token, if it is short.
struct Text<'k> {
    k: &'k Builder,
    is_short: Value<'k>,
    /// Its bytes, zeros behind them.
    low: Value<'k>,
}

impl<'k> Token<'k> {
    fn load(k: &'k Builder, place: Value<'k>, count: Value<'k>) -> Token<'k> {
        let near = place.umin(count - 1);
        let word = |column: Value<'k>| column.as_global().byte(near * 4).load_constant(Ty::I32, 4);
        let (start, end) = (word(argument!(k, WordsArguments.starts)), word(argument!(k, WordsArguments.ends)));
        let kind = argument!(k, WordsArguments.kinds).as_global().byte(near);
        let number = kind.load(Ty::I8, 1).resize(Ty::I64);
        let [low, high] = [0, 8].map(|at| super::word(k, std::mem::offset_of!(WordsArguments, may_be_words) + at));
        let kinds = number.below(k.i64(64)).select(low, high);
        let may_be = ((kinds >> (number & 63)) & 1).is(k.i64(1));
        let (length, limit) = (end - start, |limit: Value<'k>| limit.resize(Ty::I32));
        let fits = length.at_least(limit(argument!(k, WordsArguments.shortest)))
            & limit(argument!(k, WordsArguments.longest)).at_least(length);
        Token { k, kind, start: start.resize(Ty::I64), length, is_asked: place.below(count) & may_be & fits }
    }

    /// Loads it where all words that have bytes of it are in the text, if it is asked for.
    fn text(&self) -> Text<'k> {
        let (k, text) = (self.k, argument!(self.k, WordsArguments.text));
        let end = text + argument!(k, WordsArguments.text_bytes);
        let address = text + self.start;
        let from = address - (address & 3);
        let is_inside = from.at_least(text) & end.at_least(from + 12);
        let is_short = self.is_asked & k.i32(FIRST).at_least(self.length) & is_inside;
        let from = is_short.select(from, argument!(k, WordsArguments.table)).as_global();
        let words = [0, 4, 8].map(|byte| from.at(byte).load_constant(Ty::I32, 4));
        let begin = (address & 3).resize(Ty::I32) * 8;
        let [low, high] = [0, 1].map(|place| words[place + 1].math("fshr", &[words[place], begin]).resize(Ty::I64));
        // Bits behind it: of others, any number.
        let behind = ((k.i32(8 * FIRST) - self.length * 8) & (8 * FIRST - 1)).resize(Ty::I64);
        Text { k, is_short, low: ((low | high << 32) << behind) >> behind }
    }

    /// The halves of its text, byte by byte.
    fn bytes(&self) -> [Value<'k>; 2] {
        let k = self.k;
        let halves = [(); 2].map(|()| k.var(k.i64(0)));
        let text = argument!(k, WordsArguments.text).as_global().byte(self.start);
        k.range(k.i32(0), self.length, k.i32(1), |place| {
            let byte = text.byte(place.resize(Ty::I64)).load_constant(Ty::I8, 1).resize(Ty::I64);
            let byte = byte << ((place & (FIRST - 1)) * 8).resize(Ty::I64);
            let is_first = place.below(k.i32(FIRST));
            for (half, own) in halves.iter().zip([is_first, !is_first]) {
                half.set(half.get() | own.select(byte, k.i64(0)));
            }
        });
        halves.map(|half| half.get())
    }

    /// Gives it the kind of the word in its slot, if that has the second half of its text too.
    fn name(&self, text: &Text<'k>, halves: [Value<'k>; 2]) {
        let k = self.k;
        let slots = argument!(k, WordsArguments.slots);
        let at = text.table().byte(slots * FIRST + text.slot(&halves) * REST);
        k.when(at.load_constant(Ty::I64, 8).is(halves[1]), || {
            self.kind.store(at.at(8).load_constant(Ty::I8, 1), 1);
        });
    }
}

impl<'k> Text<'k> {
    fn table(&self) -> Value<'k> {
        argument!(self.k, WordsArguments.table).as_global()
    }

    /// The slot of these halves; the second may be left out where it is zero.
    fn slot(&self, halves: &[Value<'k>]) -> Value<'k> {
        let factor = |half: usize| super::word(self.k, std::mem::offset_of!(WordsArguments, factors) + 8 * half);
        let products = halves.iter().enumerate().map(|(place, &half)| half * factor(place));
        let hash = products.reduce(|one, other| one ^ other).expect("a text has a first half");
        hash >> argument!(self.k, WordsArguments.shift)
    }

    /// The first half of the word in their slot.
    fn looked_up(&self, halves: &[Value<'k>]) -> Value<'k> {
        self.table().byte(self.slot(halves) * FIRST).load_constant(Ty::I64, FIRST)
    }
}

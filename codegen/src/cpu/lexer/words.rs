//! Keywords: words that tokens of some kinds may be. They are looked up where such a token ends, by
//! a perfect hash and without a branch, so that the automaton has no states for them.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use monoscan_ir::random::SplitMix64;

use super::automaton::LexAutomaton;
use super::emit::Emitter;
use crate::cpu::kernel::arguments;
use crate::cpu::memory::{data_flags, table_flags};

/// Longer words stay in the automaton.
pub const MAX_WORD: usize = 16;

/// A perfect hash of words. Generated code points at its tables.
pub(super) struct WordTable {
    factors: [u64; 2],
    shift: u32,
    slots: Vec<Slot>,
    /// By length, ones in the bytes of a word: none for longer texts.
    masks: Vec<[u64; 2]>,
    /// Kinds of tokens that may be words.
    kinds: Vec<u16>,
    /// Whether any word has more than eight bytes.
    is_wide: bool,
}

/// Where a word may be: its bytes, zeros behind them, and its kind.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    word: [u64; 2],
    kind: u32,
    /// 1 if tokens of this kind are kept.
    kept: u32,
    _pad: u64,
}

impl WordTable {
    pub(super) fn new(automaton: &LexAutomaton) -> Option<WordTable> {
        if automaton.words.is_empty() {
            return None;
        }
        let words: Vec<([u64; 2], u16)> = automaton.words.iter().map(|(word, kind)| (pack(word), *kind)).collect();
        let is_wide = words.iter().any(|(word, _)| word[1] != 0);
        let masks = (0..=MAX_WORD).map(|length| pack(&vec![0xff; length])).chain([[0; 2]]).collect();
        let mut random = SplitMix64(0);
        let mut bits = (2 * words.len()).next_power_of_two().trailing_zeros().max(4);
        for tries in 1u32.. {
            // A table that stays too full for these factors grows.
            bits += u32::from(tries.is_multiple_of(1000));
            let factors = [(); 2].map(|()| random.next() | 1);
            let table = WordTable {
                factors,
                shift: 64 - bits,
                slots: Vec::new(),
                masks: Vec::new(),
                kinds: Vec::new(),
                is_wide,
            };
            if let Some(slots) = table.place(&words, automaton) {
                return Some(WordTable { slots, masks, kinds: automaton.kinds_with_words(), ..table });
            }
        }
        None
    }

    /// The slots, if no two words have one.
    fn place(&self, words: &[([u64; 2], u16)], automaton: &LexAutomaton) -> Option<Vec<Slot>> {
        let mut slots = vec![None; 1 << (64 - self.shift)];
        for &(word, kind) in words {
            let slot = Slot { word, kind: u32::from(kind), kept: u32::from(automaton.keeps(kind)), _pad: 0 };
            if slots[self.hash(word)].replace(slot).is_some() {
                return None;
            }
        }
        // A text is looked up in its own slot, so a word that stands in another's is never found.
        let elsewhere = slots.iter().flatten().next().copied()?;
        Some(slots.into_iter().map(|slot| slot.unwrap_or(elsewhere)).collect())
    }

    fn hash(&self, word: [u64; 2]) -> usize {
        let [low, high] = [0, 1].map(|half| word[half].wrapping_mul(self.factors[half]));
        ((low ^ high) >> self.shift) as usize
    }

    /// Whether tokens of a kind may be words.
    pub(super) fn concerns(&self, kind: u16) -> bool {
        self.kinds.contains(&kind)
    }

    /// Bytes of its tables.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.slots[..]) + size_of_val(&self.masks[..])
    }
}

/// At most 16 bytes, zeros behind them.
fn pack(word: &[u8]) -> [u64; 2] {
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word);
    [0, 8].map(|half| u64::from_le_bytes(std::array::from_fn(|i| bytes[half + i])))
}

impl Emitter<'_, '_> {
    /// Writes the token from `s` to `p`, as the word that it is, or of the kind.
    pub(super) fn put_word(&mut self, words: &WordTable, kind: u16) {
        let halves = if words.is_wide { 2 } else { 1 };
        let text = self.word_text(words, halves);
        let hashes: Vec<Value> = (0..halves)
            .map(|half| {
                let factor = self.b.ins().iconst(types::I64, words.factors[half] as i64);
                self.b.ins().imul(text[half], factor)
            })
            .collect();
        let hash = hashes.into_iter().reduce(|a, b| self.b.ins().bxor(a, b)).expect("a word has a first half");
        let index = self.b.ins().ushr_imm_u(hash, i64::from(words.shift));
        let offset = self.b.ins().ishl_imm_u(index, i64::from(size_of::<Slot>().trailing_zeros()));
        let slots = self.b.ins().iconst(types::I64, words.slots.as_ptr() as i64);
        let slot = self.b.ins().iadd(slots, offset);
        let differences: Vec<Value> = (0..halves)
            .map(|half| {
                let word = self.b.ins().load(types::I64, table_flags(), slot, 8 * half as i32);
                self.b.ins().bxor(word, text[half])
            })
            .collect();
        let difference = differences.into_iter().reduce(|a, b| self.b.ins().bor(a, b)).expect("as above");
        let is_word = self.b.ins().icmp_imm_u(IntCC::Equal, difference, 0);
        let of_word = self.b.ins().load(types::I32, table_flags(), slot, 16);
        let other = self.b.ins().iconst(types::I32, i64::from(kind));
        let found = self.b.ins().select(is_word, of_word, other);
        let kept = self.b.ins().uload32(table_flags(), slot, 20);
        let keeps = self.automaton().keeps(kind);
        let other = self.b.ins().iconst(types::I64, i64::from(keeps));
        let count = self.b.ins().select(is_word, kept, other);
        self.put(found, count);
    }

    /// The text from `s` to `p` as one or two numbers, zeros behind it; zero if it is longer than any word.
    fn word_text(&mut self, words: &WordTable, halves: usize) -> Vec<Value> {
        let [fast, near_end, done] = std::array::from_fn(|_| self.b.create_block());
        for _ in 0..halves {
            self.b.append_block_param(done, types::I64);
        }
        let [s, p] = [self.s, self.p].map(|variable| self.get(variable));
        let length = self.b.ins().isub(p, s);
        let too_long = self.b.ins().iconst(types::I64, words.masks.len() as i64 - 1);
        let length = self.b.ins().umin(length, too_long);
        let masks = self.b.ins().iconst(types::I64, words.masks.as_ptr() as i64);
        let offset = self.b.ins().ishl_imm_u(length, 4);
        let mask = self.b.ins().iadd(masks, offset);
        let address = self.b.ins().iadd(self.text, s);
        let space = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, s, self.safe);
        self.b.ins().brif(space, fast, &[], near_end, &[]);
        self.b.set_cold_block(near_end);

        self.b.switch_to_block(fast);
        let mut parts = Vec::new();
        for half in 0..halves as i32 {
            let part = self.b.ins().load(types::I64, data_flags(), address, 8 * half);
            let mask = self.b.ins().load(types::I64, table_flags(), mask, 8 * half);
            parts.push(self.b.ins().band(part, mask));
        }
        // A text of nine bytes or more is no word of eight: its mask of the first half is full, so it has to go.
        if halves == 1 {
            let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, length, 8);
            let zero = self.b.ins().iconst(types::I64, 0);
            parts[0] = self.b.ins().select(fits, parts[0], zero);
        }
        self.b.ins().jump(done, &arguments(&parts));

        self.b.switch_to_block(near_end);
        let text = self.bytes_backwards(length, address, halves);
        self.b.ins().jump(done, &arguments(&text));
        self.b.switch_to_block(done);
        self.b.block_params(done).to_vec()
    }

    /// The same byte by byte, from the last to the first, where fewer than 16 bytes may be read.
    fn bytes_backwards(&mut self, length: Value, address: Value, halves: usize) -> Vec<Value> {
        let [head, body, out] = std::array::from_fn(|_| self.b.create_block());
        for _ in 0..halves + 1 {
            self.b.append_block_param(head, types::I64);
        }
        let zero = self.b.ins().iconst(types::I64, 0);
        let most = self.b.ins().iconst(types::I64, 8 * halves as i64);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, length, most);
        let length = self.b.ins().select(fits, length, zero);
        let mut start = vec![zero; halves];
        start.push(length);
        self.b.ins().jump(head, &arguments(&start));
        self.b.switch_to_block(head);
        let params = self.b.block_params(head).to_vec();
        let left = params[halves];
        self.b.ins().brif(left, body, &[], out, &[]);
        self.b.switch_to_block(body);
        let left = self.b.ins().iadd_imm_s(left, -1);
        let byte = self.b.ins().iadd(address, left);
        let mut carried = self.b.ins().uload8(types::I64, data_flags(), byte, 0);
        let mut next = Vec::new();
        for &part in &params[..halves] {
            let shifted = self.b.ins().ishl_imm_u(part, 8);
            next.push(self.b.ins().bor(shifted, carried));
            carried = self.b.ins().ushr_imm_u(part, 56);
        }
        next.push(left);
        self.b.ins().jump(head, &arguments(&next));
        self.b.switch_to_block(out);
        params[..halves].to_vec()
    }
}

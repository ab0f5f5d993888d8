//! Questions about records of bytes, each answered by yes or no, and asked of four at a time.

use monoscan_ir::facts::Range;
use monoscan_ir::{Mapping, Program, Source, Type};

use super::code::Code;
use super::words::{self, Word, pick};
use super::{FOUR, TAKE, is_byte, only_byte};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::bytes::Bytes;
use crate::nvptx::kernel::items::ThreadItems;
use crate::nvptx::lower::swar;

/// As a factor of a word that has the highest bit of each byte alone: the four bits come together as its highest four.
const TOGETHER: usize = 0x0020_4081;

/// Questions that a mapping asks of records in columns of bytes, and of those beside them.
pub(crate) struct PackedQuestions {
    inputs: Vec<Type>,
    reads: Vec<Source>,
    code: Code,
}

impl PackedQuestions {
    /// Those of a mapping that takes so many instructions for a record, if four at a time take fewer.
    pub(crate) fn of(program: &Program, mapping: &Mapping, work: usize) -> Option<PackedQuestions> {
        let inputs = program.inputs.iter().map(only_byte).collect::<Option<Vec<Type>>>()?;
        let range = |(&source, &ty): (&Source, &Type)| match source {
            Source::Record(_) | Source::Next(_) | Source::Prev(_) => Some(Range::full(ty)),
            Source::First | Source::Last => Some(Range { min: 0, max: 0 }),
            _ => None,
        };
        let function = &mapping.function;
        let ranges = mapping.reads.iter().zip(&function.params).map(range).collect::<Option<Vec<Range>>>()?;
        let code = Code::new(function, &ranges).filter(|_| function.params.iter().copied().all(is_byte))?;
        let is_less = code.work() < FOUR * (work + TAKE * inputs.len());
        is_less.then(|| PackedQuestions { inputs, reads: mapping.reads.clone(), code })
    }

    /// Whether a full tile has neither the first record nor the last of all, where that is asked.
    pub(crate) fn is_inside<'k>(&self, items: &ThreadItems<'k, '_>) -> Value<'k> {
        let k = items.k;
        let asks = |source| self.reads.contains(&source);
        let is_behind_first = if asks(Source::First) { items.first.is_not(k.i64(0)) } else { k.bool(true) };
        let end = items.first + items.count.resize(Ty::I64);
        if asks(Source::Last) { is_behind_first & end.is_not(items.records) } else { is_behind_first }
    }

    /// The answers about a load group inside: for each question a number whose bit i is of the record i places further on.
    pub(crate) fn ask<'k>(&self, items: &ThreadItems<'k, '_>, start: Value<'k>) -> Vec<Word<'k>> {
        let (k, records) = (items.k, items.plan.load_group);
        let load = |&area: &Value<'k>| Bytes::load(k, area.byte(start), records).into_words();
        let columns: Vec<Vec<Word<'k>>> = items.inputs.iter().map(load).collect();
        // The byte before the load group as the last of a word, that behind it as the first.
        let byte = |column: usize, place: Value<'k>| items.inputs[column].byte(place).load(Ty::I8, 1).resize(Ty::I32);
        let before = |column: usize| byte(column, start - 1) << 24;
        let behind = |column: usize| byte(column, start + records);
        let asks_beside = |source: fn(u32) -> Source| -> Vec<Option<Word<'k>>> {
            let side = |column: usize| if source(0) == Source::Prev(0) { before(column) } else { behind(column) };
            (0..columns.len()).map(|column| self.reads.contains(&source(column as u32)).then(|| side(column))).collect()
        };
        let (before, behind) = (asks_beside(Source::Prev), asks_beside(Source::Next));
        let mut all: Vec<Word<'k>> = Vec::new();
        for word in (0..records / 4).rev() {
            let read = |&source: &Source| {
                let of = |column: u32, bytes: Word<'k>| words::from_memory(bytes, self.inputs[column as usize]);
                let beside = "what is asked was loaded";
                match source {
                    Source::Record(column) => of(column, columns[column as usize][word]),
                    Source::Next(column) => {
                        let words = &columns[column as usize];
                        let next = words.get(word + 1).copied();
                        of(
                            column,
                            pick(words[word], next.unwrap_or_else(|| behind[column as usize].expect(beside)), 0x4321),
                        )
                    }
                    Source::Prev(column) => {
                        let words = &columns[column as usize];
                        let previous = word.checked_sub(1).map(|word| words[word]);
                        of(
                            column,
                            pick(
                                words[word],
                                previous.unwrap_or_else(|| before[column as usize].expect(beside)),
                                0x2107,
                            ),
                        )
                    }
                    _ => k.i32(0),
                }
            };
            let answers = self.code.write(k, &self.reads.iter().map(read).collect::<Vec<_>>());
            all.resize(answers.len(), k.i32(0));
            for (all, answer) in all.iter_mut().zip(answers) {
                // A comparison leaves its answer in the highest bit and shifts it down: LLVM cancels that against this shift.
                let bits = ((answer << 7usize) & swar::HIGH) * TOGETHER;
                *all = all.math("fshl", &[bits, k.i32(4)]);
            }
        }
        all
    }
}

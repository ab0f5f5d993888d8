//! The fold of a rank as a Mealy machine: all that a program needs of each element that only ranks
//! what an automaton keeps, in a byte.
//!
//! The fold of the rank walks the automaton, as the replay does. So it can say of each element
//! all that the replay would look up. Then the replay carries no lane, need not look at
//! elements that are not kept, and takes those that are in any order.

use super::ranges::small_row;
use super::replay::{Split, look_up_row};
use super::{Carried, LaneBody};
use crate::builder::FunctionBuilder;
use crate::facts::drop_unused;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::program::{Mapping, Source, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

/// The fold and the replay of a program whose only stages are an automaton and the rank of what it keeps. The fold gives the replay
/// an *output symbol* for each element: a byte that is 0 if the element is not kept, and else says all that the automaton has to
/// do with the outputs. So the replay takes no lane along, and can pass over elements that are not kept.
#[derive(Clone, PartialEq, Debug)]
pub struct MealyFold {
    /// The function before the rank's fold, by symbols: it carries the lane, and gives an element's output symbol, a `u8`, and 1 or
    /// 0, a `u32`, for whether the element is kept, which the fold sums up.
    pub fold: LaneBody,
    /// The replay. Where it reads `record.0`, a `u8`, it means the output symbol.
    pub replay: LaneBody,
    /// Output symbols are below this.
    pub count: u32,
}

impl MealyFold {
    /// Both, of a replay that carries the lane and the rank. None if there are too many output symbols.
    pub(super) fn of(
        split: &Split,
        (mapping, carried): (&Mapping, &[Carried]),
        symbols: &[&[Constant]],
        lanes: usize,
        tables: &[Table],
    ) -> Option<MealyFold> {
        let function = &mapping.function;
        let found = |value: Value| split.found.iter().position(|&found| found == value);
        let (after, filter) = (found(function.results[split.lane])?, found(*function.results.last()?)?);
        let of_bytes = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
        let row = small_row(lanes, symbols.len(), Type::U32);
        // Of elements that are not kept nothing matters, and of others not the lane after, unless outputs need it too.
        let written = function.results.iter().enumerate().filter(|&(place, _)| place != split.lane);
        let needs_after = split.is_needed(function, written.map(|(_, &result)| result), split.found[after]);
        let mut outputs: Vec<Vec<u8>> = vec![vec![0; split.found.len()]];
        let mut steps: Vec<u128> = Vec::new();
        for lane in 0..lanes {
            for symbol in symbols {
                let constants = &symbol[lane * split.found.len()..][..split.found.len()];
                let mut bytes: Vec<u8> = constants.iter().map(|byte| byte.bits() as u8).collect();
                let next = bytes[after];
                if !needs_after {
                    bytes[after] = 0;
                }
                if bytes[filter] == 0 {
                    bytes.fill(0);
                }
                let output = outputs.iter().position(|known| *known == bytes).unwrap_or_else(|| {
                    outputs.push(bytes);
                    outputs.len() - 1
                });
                steps.push(u128::from(next) | (output as u128) << 8 | u128::from(output > 0) << 16);
            }
            steps.resize((lane + 1) * row, 0);
        }
        if outputs.len() > 256 || after == filter {
            return None;
        }
        let mut tables = tables.to_vec();
        let steps: Vec<Constant> = steps.into_iter().map(|bits| Constant::new(Type::U32, bits)).collect();
        let steps = Table::new(Type::U32, steps);
        let rank = 1 - split.lane;
        // The fold.
        let mut b = FunctionBuilder::new();
        let (lane, symbol) = (b.param(Type::U8), b.param(Type::U8));
        let entry = look_up_row(&mut b, (lane, symbol), (&mut tables, steps), row);
        let lane = b.cast(Type::U8, entry);
        let [output, kept] = [8u32, 16].map(|bits| {
            let bits = b.lit(bits);
            b.binary(Opcode::Shr, entry, bits)
        });
        let output = b.cast(Type::U8, output);
        let fold = Mapping {
            reads: vec![mapping.reads[split.lane], Source::Record(0)],
            function: b.finish(&[lane, output, kept]),
        };

        // The replay: the rank, and what does not follow from lane and symbol.
        let mut b = FunctionBuilder::new();
        let (mut reads, mut values) = (Vec::new(), Vec::new());
        for (place, (&source, &ty)) in mapping.reads.iter().zip(&function.params).enumerate() {
            let stays = place != split.lane && !split.follows[place];
            values.push(stays.then(|| b.param(ty)));
            reads.extend(stays.then_some(source));
        }
        let output = b.param(Type::U8);
        reads.push(Source::Record(0));
        let ty = [Type::U8, Type::U8, Type::U16, Type::U32, Type::U32][split.found.len()];
        let of_outputs: Vec<Constant> = outputs.iter().map(|bytes| Constant::new(ty, of_bytes(bytes))).collect();
        let place = b.cast(Type::U32, output);
        let entry = b.table(tables.len() as u32, ty, place);
        tables.push(Table::new(ty, of_outputs));
        values.resize(function.value_count(), None);
        split.unpack(&mut b, function, entry, &mut values);
        // Whether it is kept is known before that is looked up.
        let zero = b.lit(0u8);
        values[split.found[filter].index()] = Some(b.binary(Opcode::Ne, output, zero));
        split.rest(&mut b, function, &mut values);
        let results = function.results.iter().enumerate().filter(|&(place, _)| place != split.lane);
        let results: Option<Vec<Value>> = results.map(|(_, result)| values[result.index()]).collect();
        let function = simplify(&b.finish(&results?), &tables);
        let replay = drop_unused(Mapping { reads, function }, 1);
        let fold = LaneBody { mapping: fold, carried: vec![carried[split.lane]], tables: tables.clone() };
        let replay = LaneBody { mapping: replay, carried: vec![carried[rank]], tables };
        Some(MealyFold { fold, replay, count: outputs.len() as u32 })
    }
}

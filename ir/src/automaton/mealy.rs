//! The fold of a rank as a Mealy machine: all that a program needs of each element that only ranks
//! what an automaton keeps, in a byte.
//!
//! The fold of the rank walks the automaton, as the replay does. So it can say of each element
//! all that the replay would look up. Then the replay carries no lane, need not look at
//! elements that are not kept, and takes those that are in any order.

use super::replay::Split;
use super::steps::Steps;
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
    /// The function before the rank's fold, by symbols: it carries the lane, and gives an element's output symbol, a `u8`, and a
    /// `u32` whose low byte is 1 or 0 for whether the element is kept. The fold sums that up.
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
        let (after, filter) = (split.place(function.results[split.lane])?, split.place(*function.results.last()?)?);
        let of_bytes = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
        // Of elements that are not kept nothing matters, and of others not the lane after, unless outputs need it too.
        let written = function.results.iter().enumerate().filter(|&(place, _)| place != split.lane);
        let needs_after = split.is_needed(function, written.map(|(_, &result)| result), split.found[after]);
        let mut outputs: Vec<Vec<u8>> = vec![vec![0; split.found.len()]];
        // An element's output symbol, above 1 or 0 for whether it is kept.
        let output = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
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
            Some(((output as u32) << 8) | u32::from(output > 0))
        };
        let steps = split.steps(function, symbols, lanes, output)?;
        if outputs.len() > 256 || after == filter {
            return None;
        }
        let steps = Steps::new(&steps, 2);
        let row = steps.row();
        let mut tables = tables.to_vec();
        let rank = 1 - split.lane;
        // The fold.
        let mut b = FunctionBuilder::new();
        let (before, symbol) = (b.param(steps.carried()), b.param(Type::U8));
        let (lane, beside) = steps.look_up(&mut b, (before, symbol), &mut tables);
        let [kept, output] = beside[..] else { return None };
        let output = b.cast(Type::U8, output);
        let fold = Mapping {
            reads: vec![mapping.reads[split.lane], Source::Record(0)],
            function: b.finish(&[lane, output, kept]),
        };

        // The replay: the rank, and what does not follow from lane and symbol.
        let mut b = FunctionBuilder::new();
        let (reads, mut values, output) = split.enter(&mut b, mapping, None);
        let ty = [Type::U8, Type::U8, Type::U16, Type::U32, Type::U32][split.found.len()];
        let of_outputs: Vec<Constant> = outputs.iter().map(|bytes| Constant::new(ty, of_bytes(bytes))).collect();
        let place = b.cast(Type::U32, output);
        let entry = b.table(tables.len() as u32, ty, place);
        tables.push(Table::new(ty, of_outputs));
        let entry = b.cast(Type::U32, entry);
        let shifted = |b: &mut FunctionBuilder, place: usize| {
            let bits = b.lit(8 * place as u32);
            b.binary(Opcode::Shr, entry, bits)
        };
        let bytes: Vec<Value> = (0..split.found.len()).map(|place| shifted(&mut b, place)).collect();
        split.unpack(&mut b, function, split.found.iter().copied().zip(bytes), &mut values);
        // Whether it is kept is known before that is looked up.
        let zero = b.lit(0u8);
        values[split.found[filter].index()] = Some(b.binary(Opcode::Ne, output, zero));
        split.rest(&mut b, function, &mut values);
        let results = split.results_beside_lane(function, &values)?;
        let function = simplify(&b.finish(&results), &tables);
        let replay = drop_unused(Mapping { reads, function }, 1);
        let fold = LaneBody { mapping: fold, carried: vec![carried[split.lane]], row, tables: tables.clone() };
        let replay = LaneBody { mapping: replay, carried: vec![carried[rank]], row: None, tables };
        Some(MealyFold { fold, replay, count: outputs.len() as u32 })
    }
}

//! The table by which one look-up takes an automaton's state past an element.
//!
//! It has a row for each state and an element for each symbol: the state after, and beside it the
//! bytes that are wanted of that state and symbol. What is carried from element to element is the
//! state's number, or where its row begins. With the latter, the next index is one addition. A
//! number must be cut out of the entry and multiplied first.

use super::ranges::{SMALL_TABLE, small_row};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// The state after an element, and the bytes beside it, the first one lowest.
pub(super) type Step = (u8, u32);

/// Most bytes beside the state after.
pub(super) const MOST_BESIDE: usize = 3;

/// The table.
pub(super) struct Steps {
    table: Table,
    row: usize,
    by_rows: bool,
    beside: usize,
}

impl Steps {
    /// That of these steps, a row of them for each state, with so many bytes beside the state after, at most [`MOST_BESIDE`].
    pub(super) fn new(rows: &[Vec<Step>], beside: usize) -> Steps {
        let symbols = rows.first().map_or(0, Vec::len);
        let numbers = [Type::U8, Type::U16, Type::U32, Type::U32][beside];
        let (by_numbers, row) = (small_row(rows.len(), symbols, numbers), small_row(rows.len(), symbols, Type::U32));
        // Where a row begins takes two bytes. But a small table has a copy for each bank, and must not grow past that.
        let is_small = |row: usize, ty: Type| rows.len() * row * ty.size() <= SMALL_TABLE;
        let by_rows = (1..=2).contains(&beside) && (is_small(row, Type::U32) || !is_small(by_numbers, numbers));
        let (ty, row) = if by_rows { (Type::U32, row) } else { (numbers, by_numbers) };
        let element = |&(after, beside): &Step| match by_rows {
            true => ((u128::from(after) * row as u128) << 16) | u128::from(beside),
            false => u128::from(after) | (u128::from(beside) << 8),
        };
        let padding = std::iter::repeat_n(0, row - symbols);
        let elements = rows.iter().flat_map(|steps| steps.iter().map(element).chain(padding.clone()));
        let table = Table::new(ty, elements.map(|bits| Constant::new(ty, bits)));
        Steps { table, row, by_rows, beside }
    }

    /// The type of what is carried.
    pub(super) fn carried(&self) -> Type {
        if self.by_rows { Type::U32 } else { Type::U8 }
    }

    /// The elements of a row, if what is carried is where one begins.
    pub(super) fn row(&self) -> Option<u32> {
        self.by_rows.then_some(self.row as u32)
    }

    /// The code of a step: what is carried, before an element and after it, and the bytes beside. The table is a new one.
    pub(super) fn look_up(
        self,
        b: &mut FunctionBuilder,
        (before, symbol): (Value, Value),
        tables: &mut Vec<Table>,
    ) -> (Value, Vec<Value>) {
        let mut index = b.cast(Type::U32, before);
        if !self.by_rows {
            let row = b.lit(self.row as u32);
            index = b.binary(Opcode::Mul, index, row);
        }
        let symbol = b.cast(Type::U32, symbol);
        let place = b.binary(Opcode::Add, index, symbol);
        let entry = b.table(tables.len() as u32, self.table.ty, place);
        tables.push(self.table);
        let entry = b.cast(Type::U32, entry);
        let mut shifted = |bits: u32| {
            let bits = b.lit(bits);
            b.binary(Opcode::Shr, entry, bits)
        };
        let after = if self.by_rows { shifted(16) } else { entry };
        let first = if self.by_rows { 0 } else { 8 };
        let beside: Vec<Value> = (0..self.beside as u32).map(|place| shifted(first + 8 * place)).collect();
        (b.cast(if self.by_rows { Type::U32 } else { Type::U8 }, after), beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;

    #[test]
    fn a_look_up_gives_what_a_step_says() {
        // States, symbols, bytes beside; and whether rows are carried.
        let tables = [
            (8, 161, 1, true),
            (16, 40, 1, false),
            (8, 20, 1, true),
            (8, 20, 2, true),
            (5, 7, 3, false),
            (5, 7, 0, false),
            (256, 256, 2, true),
        ];
        for (states, symbols, beside, by_rows) in tables {
            let step = |state: usize, symbol: usize| {
                let hash = (state * 257 + symbol).wrapping_mul(0x9e37_79b9) >> 3;
                ((hash % states) as u8, (hash >> 9) as u32 & ((1 << (8 * beside)) - 1))
            };
            let rows: Vec<Vec<Step>> =
                (0..states).map(|state| (0..symbols).map(|symbol| step(state, symbol)).collect()).collect();
            let steps = Steps::new(&rows, beside);
            assert_eq!(steps.row().is_some(), by_rows, "{states} states, {symbols} symbols, {beside} bytes");
            let (carried, row) = (steps.carried(), steps.row().unwrap_or(1));
            let mut b = FunctionBuilder::new();
            let (before, symbol) = (b.param(carried), b.param(Type::U8));
            let mut tables = Vec::new();
            let (after, bytes) = steps.look_up(&mut b, (before, symbol), &mut tables);
            let bytes: Vec<Value> = bytes.into_iter().map(|byte| b.cast(Type::U8, byte)).collect();
            let function = b.finish(&[vec![after], bytes].concat());
            let as_carried = |state: usize| Constant::new(carried, (state as u32 * row).into());
            for (state, steps) in rows.iter().enumerate() {
                for (symbol, &(after, beside)) in steps.iter().enumerate() {
                    let found = interp::call(&function, &[as_carried(state), (symbol as u8).into()], &tables);
                    let bytes = (0..found.len() - 1).map(|place| Constant::from((beside >> (8 * place)) as u8));
                    assert!(found[0] == as_carried(after.into()) && found[1..].iter().copied().eq(bytes));
                }
            }
        }
    }
}

//! Names as functions over tables: what marks, steps and compositions look up.

use super::images::Images;
use super::{Closed, Left, Names};
use crate::builder::FunctionBuilder;
use crate::facts::letters::Letters;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

impl Images {
    /// The functions over these tables, and those of letters, each of which has one of these maps.
    pub(super) fn names(
        &self,
        maps: &[Vec<u8>],
        (letters, map_of_letter, marked): (&Letters, &[usize], bool),
        lift: &Mapping,
        tables: &[Table],
    ) -> Names {
        let outside = self.inside.len();
        let column = |map: &usize| self.inside.iter().position(|own| own == map).unwrap_or(outside);
        let columns: Vec<usize> = map_of_letter.iter().map(column).collect();
        // Where letters are not their own columns, a mark has both.
        let has_both = marked && !columns.iter().copied().eq(0..letters.states.len());
        let mark = |(letter, &column): (usize, &usize)| if has_both { column << 8 | letter } else { column };
        let marks: Vec<u16> = columns.iter().enumerate().map(|pair| mark(pair) as u16).collect();
        let mut tables = tables.to_vec();
        let letter_tables = letters.tables(&marks, &mut tables);
        let entries = self.entries(maps);
        let mut place = |table: Table| {
            tables.push(table);
            tables.len() as u32 - 1
        };
        let vector = Type::bytes(maps[0].len()).expect("a map is a vector");
        let vectors = |maps: &[Vec<u8>]| Table::new(vector, maps.iter().map(|map| padded(map, vector)));
        let leaves = !self.is_whole();
        let steps = place(entries.steps.clone());
        let lefts = leaves.then(|| place(vectors(&entries.lefts)));
        let images = place(vectors(&self.images));
        let composed = self.composed().map(|(table, width)| {
            let states = Table { ty: Type::U8, bytes: self.images.concat() };
            (place(table), width, place(states))
        });

        let mark = |b: &mut FunctionBuilder| {
            let sources = b.params(letters.types());
            letters.look_up(b, &letter_tables, &sources)
        };
        let in_row = |b: &mut FunctionBuilder, width: usize, row, column| {
            let width = b.lit(width as u32);
            let row = b.binary(Opcode::Mul, row, width);
            b.binary(Opcode::Add, row, column)
        };
        let number = |b: &mut FunctionBuilder, table, ty, place| {
            let number = b.table(table, ty, place);
            b.cast(Type::U32, number)
        };
        let image = |b: &mut FunctionBuilder, name| {
            let one = b.lit(1u32);
            let place = if leaves { b.binary(Opcode::Shr, name, one) } else { name };
            b.table(images, vector, place)
        };
        let place_of = |b: &mut FunctionBuilder| {
            let (name, mark) = (b.param(Type::U32), b.param(Type::U32));
            let bits = b.lit(8u32);
            let column = if has_both { b.binary(Opcode::Shr, mark, bits) } else { mark };
            in_row(b, if leaves { entries.width / 2 } else { entries.width }, name, column)
        };
        let step = |b: &mut FunctionBuilder| {
            let place = b.param(Type::U32);
            number(b, steps, entries.steps.ty, place)
        };
        let left_at = |b: &mut FunctionBuilder, lefts| {
            let place = b.param(Type::U32);
            b.table(lefts, vector, place)
        };
        let left_of = |b: &mut FunctionBuilder, lefts| {
            let (place, name, sources) = (b.param(Type::U32), b.param(Type::U32), b.params(letters.types()));
            let known = b.table(lefts, vector, place);
            let read = &sources[..lift.reads.len()];
            let (map, letter) = (image(b, name), b.inline(&lift.function, read)[0]);
            let both = b.binary(Opcode::Permute, letter, map);
            let outside = b.lit(outside as u32);
            let outside = in_row(b, entries.width / 2, name, outside);
            let is_outside = b.binary(Opcode::Eq, place, outside);
            b.select(is_outside, both, known)
        };
        let map = |b: &mut FunctionBuilder| {
            let name = b.param(Type::U32);
            image(b, name)
        };
        let compose = |b: &mut FunctionBuilder, table, width| {
            let (earlier, later) = (b.param(Type::U32), b.param(Type::U32));
            let place = in_row(b, width, earlier, later);
            number(b, table, Type::U8, place)
        };
        let apply = |b: &mut FunctionBuilder, states| {
            let (name, state) = (b.param(Type::U32), b.param(Type::U8));
            let state = b.cast(Type::U32, state);
            let place = in_row(b, maps[0].len(), name, state);
            b.table(states, Type::U8, place)
        };
        let closed = |(table, width, states): (u32, usize, u32)| Closed {
            compose: written(|b| compose(b, table, width), &tables),
            apply: written(|b| apply(b, states), &tables),
        };
        let left = |lefts: u32| match outside == maps.len() {
            true => Left::At(written(|b| left_at(b, lefts), &tables)),
            false => Left::Of(written(|b| left_of(b, lefts), &tables)),
        };
        Names {
            count: self.images.len() as u32,
            reads: letters.reads.clone(),
            mark: written(mark, &tables),
            marks: marks.iter().max().map_or(0, |&mark| u32::from(mark) + 1),
            place: written(place_of, &tables),
            step: written(step, &tables),
            left: lefts.map(left),
            map: written(map, &tables),
            closed: composed.map(closed),
            tables,
        }
    }
}

/// A function of one result.
fn written(write: impl FnOnce(&mut FunctionBuilder) -> Value, tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let result = write(&mut b);
    simplify(&b.finish(&[result]), tables)
}

/// A map that nobody reads beyond these lanes.
fn padded(map: &[u8], vector: Type) -> Constant {
    Constant::from_bytes(vector, &[map, &[0; 16]].concat())
}

//! The functions over tables that a fold by look-ups calls.

use super::alphabet::{Alphabet, SymbolTables};
use super::ranges::Ranges;
use super::{Composition, MapFold};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Stage, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

impl Ranges {
    /// The fold over these maps, for an alphabet each of whose symbols has one of them. The stage says how maps are cut into
    /// vectors and composed.
    pub(super) fn fold(
        &self,
        maps: &[Vec<u8>],
        (alphabet, map_of_symbol, numbered): (&Alphabet, &[usize], bool),
        (lift, stage): (&Mapping, &Stage),
        tables: &[Table],
    ) -> MapFold {
        let outside = self.inside.len();
        let column = |map: &usize| self.inside.iter().position(|own| own == map).unwrap_or(outside);
        let columns: Vec<usize> = match self.inside[..] == *map_of_symbol {
            true => (0..map_of_symbol.len()).collect(),
            false => map_of_symbol.iter().map(column).collect(),
        };
        // Where symbols are not their own columns, what stands for one has both.
        let has_both = numbered && !columns.iter().copied().eq(0..alphabet.symbols.len());
        let code = |(symbol, &column): (usize, &usize)| if has_both { column << 8 | symbol } else { column };
        let codes: Vec<u16> = columns.iter().enumerate().map(|pair| code(pair) as u16).collect();
        let mut tables = tables.to_vec();
        let symbol_tables = alphabet.tables(&codes, &mut tables);
        let entries = self.entries(maps);
        let mut place = |table: Table| {
            tables.push(table);
            tables.len() as u32 - 1
        };
        let vectors = Vectors { ty: stage.state[0], count: stage.state.len() };
        let defers = !self.is_whole();
        let steps = place(entries.steps.clone());
        let deferred = defers.then(|| place(vectors.table(&entries.deferred)));
        let images = place(vectors.table(&self.ranges));
        let composed = self.composed().map(|(table, width)| {
            let states = Table { ty: Type::U8, bytes: self.ranges.concat() };
            (place(table), width, place(states))
        });

        let in_row = |b: &mut FunctionBuilder, width: usize, row, column| {
            let width = b.lit(width as u32);
            let row = b.binary(Opcode::Mul, row, width);
            b.binary(Opcode::Add, row, column)
        };
        let number = |b: &mut FunctionBuilder, table, ty, place| {
            let number = b.table(table, ty, place);
            vec![b.cast(Type::U32, number)]
        };
        let map = |b: &mut FunctionBuilder, id| {
            let one = b.lit(1u32);
            let place = if defers { b.binary(Opcode::Shr, id, one) } else { id };
            vectors.look_up(b, images, place)
        };
        let symbol = symbol_of(alphabet, &symbol_tables, &tables);
        let entry = written(&tables, |b| {
            let (id, symbol) = (b.param(Type::U32), b.param(Type::U32));
            let bits = b.lit(8u32);
            let column = if has_both { b.binary(Opcode::Shr, symbol, bits) } else { symbol };
            vec![in_row(b, if defers { entries.width / 2 } else { entries.width }, id, column)]
        });
        let step = written(&tables, |b| {
            let entry = b.param(Type::U32);
            number(b, steps, entries.steps.ty, entry)
        });
        let by_entry = |deferred| {
            written(&tables, |b| {
                let entry = b.param(Type::U32);
                vectors.look_up(b, deferred, entry)
            })
        };
        let by_element = |deferred| {
            written(&tables, |b| {
                let (entry, id, sources) = (b.param(Type::U32), b.param(Type::U32), b.params(alphabet.types()));
                let known = vectors.look_up(b, deferred, entry);
                let (map, own) = (map(b, id), b.inline(&lift.function, &sources[..lift.reads.len()]));
                let both = b.inline(&stage.combine, &[map, own].concat());
                let outside = b.lit(outside as u32);
                let outside = in_row(b, entries.width / 2, id, outside);
                let is_outside = b.binary(Opcode::Eq, entry, outside);
                both.iter().zip(known).map(|(&both, known)| b.select(is_outside, both, known)).collect()
            })
        };
        let closed = |(table, width, states): (u32, usize, u32)| Composition::Closed {
            compose: written(&tables, |b| {
                let (earlier, later) = (b.param(Type::U32), b.param(Type::U32));
                let place = in_row(b, width, earlier, later);
                number(b, table, Type::U8, place)
            }),
            apply: written(&tables, |b| {
                let (id, state) = (b.param(Type::U32), b.param(Type::U8));
                let state = b.cast(Type::U32, state);
                let place = in_row(b, maps[0].len(), id, state);
                vec![b.table(states, Type::U8, place)]
            }),
        };
        let composition = match (composed, deferred) {
            (Some(composed), _) => closed(composed),
            (None, None) => Composition::Maps,
            (None, Some(table)) if outside == maps.len() => Composition::Coalesced { deferred: by_entry(table) },
            (None, Some(table)) => Composition::Group { deferred: by_element(table) },
        };
        let map = written(&tables, |b| {
            let id = b.param(Type::U32);
            map(b, id)
        });
        MapFold {
            count: self.ranges.len() as u32,
            reads: alphabet.reads.clone(),
            symbol,
            neighbours: alphabet.of_neighbours(&codes),
            symbols: codes.iter().max().map_or(0, |&code| u32::from(code) + 1),
            entry,
            step,
            map,
            composition,
            tables,
        }
    }
}

/// The fold that composes the map of each symbol, for maps of one vector.
pub(super) fn fold_of_each(
    maps: &[Vec<u8>],
    (alphabet, map_of_symbol, numbered): (&Alphabet, &[usize], bool),
    stage: &Stage,
    tables: &[Table],
) -> MapFold {
    // What stands for a symbol is its number, if that is asked for, or that of its map.
    let codes = map_of_symbol.iter().enumerate().map(|(symbol, &map)| if numbered { symbol } else { map });
    let codes: Vec<u16> = codes.map(|code| code as u16).collect();
    let symbols = codes.iter().max().map_or(0, |&code| u32::from(code) + 1);
    let rows: Vec<Vec<u8>> = match numbered {
        true => map_of_symbol.iter().map(|&map| maps[map].clone()).collect(),
        false => maps.to_vec(),
    };
    let mut tables = tables.to_vec();
    let symbol_tables = alphabet.tables(&codes, &mut tables);
    tables.push(Table::new(Type::U32, rows.iter().map(|row| Constant::from(word_of(row)))));
    let words = tables.len() as u32 - 1;
    let of_symbol = written(&tables, |b| {
        let symbol = b.param(Type::U32);
        vec![b.table(words, Type::U32, symbol)]
    });
    let entry = written(&tables, |b| b.params(&[Type::U32, Type::U32]).split_off(1));
    let step = written(&tables, |b| {
        b.param(Type::U32);
        vec![b.lit(0u32)]
    });
    let map = written(&tables, |b| {
        b.param(Type::U32);
        vec![b.constant(stage.identity[0])]
    });
    MapFold {
        count: 1,
        reads: alphabet.reads.clone(),
        symbol: symbol_of(alphabet, &symbol_tables, &tables),
        neighbours: alphabet.of_neighbours(&codes),
        symbols,
        entry,
        step,
        map,
        composition: Composition::Each { of_symbol },
        tables,
    }
}

/// A map of at most [`FEW_STATES`](super::FEW_STATES), as [`Composition::Each`] has it.
fn word_of(map: &[u8]) -> u32 {
    let nibble = |(state, &to): (usize, &u8)| u32::from(to) << (4 * state);
    map.iter().enumerate().map(nibble).sum()
}

/// From what is read of an element to what stands for its symbol.
fn symbol_of(alphabet: &Alphabet, symbol_tables: &SymbolTables, tables: &[Table]) -> Function {
    written(tables, |b| {
        let sources = b.params(alphabet.types());
        vec![alphabet.look_up(b, symbol_tables, &sources)]
    })
}

/// How a map is cut into vectors.
struct Vectors {
    ty: Type,
    count: usize,
}

impl Vectors {
    /// A table of maps, each as its vectors one after the other. Lanes beyond a range mean nothing.
    fn table(&self, maps: &[Vec<u8>]) -> Table {
        let bytes = self.ty.size() * self.count;
        let padded = maps.iter().flat_map(|map| map.iter().copied().chain(std::iter::repeat_n(0, bytes - map.len())));
        Table { ty: self.ty, bytes: padded.collect() }
    }

    /// The map at a place of such a table.
    fn look_up(&self, b: &mut FunctionBuilder, table: u32, place: Value) -> Vec<Value> {
        if self.count == 1 {
            return vec![b.table(table, self.ty, place)];
        }
        let count = b.lit(self.count as u32);
        let first = b.binary(Opcode::Mul, place, count);
        let vector = |vector: usize| {
            let vector = b.lit(vector as u32);
            let place = b.binary(Opcode::Add, first, vector);
            b.table(table, self.ty, place)
        };
        (0..self.count).map(vector).collect()
    }
}

fn written(tables: &[Table], write: impl FnOnce(&mut FunctionBuilder) -> Vec<Value>) -> Function {
    let mut b = FunctionBuilder::new();
    let results = write(&mut b);
    simplify(&b.finish(&results), tables)
}

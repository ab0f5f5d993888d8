//! The records of a tile in registers: those of columns in order, and gathered ones.

use monoscan_ir::Type;

use super::passes::Block;
use super::{LANES, TotalsKernel};
use crate::nvptx::emit::{Builder, Ty, Value, Var};
use crate::nvptx::kernel::bytes::{Bytes, width};
use crate::nvptx::kernel::columns::field;
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::warp::{get, set};

impl<'k, 'a> Block<'k, 'a> {
    /// The thread's load groups, under way all at once. Behind the last record they have others.
    pub(super) fn load(&self, first: Value<'k>, own: Value<'k>, count: Value<'k>) -> Vec<Columns<'k, 'a>> {
        let (k, of) = (self.k, self.of);
        let column = |place: usize| self.args.column(place);
        let own: Vec<Value<'k>> = (0..of.groups).map(|group| own + group * LANES * of.group).collect();
        // Those that lie in order: their places among all columns, and bytes of a record.
        let sizes =
            of.recipe.inputs.iter().map(|column| column.size as usize).chain(of.gathered.map(|_| 4)).enumerate();
        let in_order: Vec<(usize, usize)> = sizes.filter(|(place, _)| Some(*place) != of.gathered).collect();
        let loaded = own.iter().map(|_| in_order.iter().map(|&(_, size)| unset(k, of.group * size)).collect());
        let loaded: Vec<Vec<Vec<Var<'k>>>> = loaded.collect();
        let gathered = of.gathered.map_or(0, |column| of.recipe.inputs[column].size as usize);
        let looked_up = own.iter().map(|_| (0..of.group).map(|_| unset(k, gathered)).collect());
        let looked_up: Vec<Vec<Vec<Var<'k>>>> = looked_up.collect();

        let load = |is_whole: bool| {
            for (&own, loaded) in own.iter().zip(&loaded) {
                for (&(place, size), parts) in in_order.iter().zip(loaded) {
                    let bytes = match is_whole {
                        true => once(k, column(place).byte((first + own.resize(Ty::I64)) * size), of.group * size),
                        false => single_bytes(k, of.group * size, |byte| {
                            let record = (own + byte / size).umin(count - 1).resize(Ty::I64);
                            column(place).byte((first + record) * size).at(byte % size)
                        }),
                    };
                    set(parts, &bytes.into_words());
                }
            }
            let Some(table) = of.gathered.map(column) else { return };
            for (loaded, looked_up) in loaded.iter().zip(&looked_up) {
                let places = Bytes::of_words(k, get(loaded.last().expect("the column of places")));
                for (record, parts) in looked_up.iter().enumerate() {
                    let from = table.byte(places.field(4 * record, Type::U32).resize(Ty::I64) * gathered);
                    let bytes = match is_whole {
                        true => Bytes::load(k, from, gathered),
                        false => single_bytes(k, gathered, |byte| from.at(byte)),
                    };
                    set(parts, &bytes.into_words());
                }
            }
        };
        let columns = 0..of.recipe.inputs.len() + usize::from(of.gathered.is_some());
        let addresses = columns.fold(k.i64(0), |any, place| any | column(place).address());
        let is_whole = count.is(k.i32(of.tile())) & (addresses & 15usize).is(k.i64(0));
        k.either(is_whole, || load(true), || k.when(count.is_not(k.i32(0)), || load(false)));

        let bytes = |parts: &Vec<Var<'k>>| Bytes::of_words(k, get(parts));
        let columns = loaded.iter().zip(&looked_up).map(|(loaded, looked_up)| Columns {
            k,
            of,
            in_order: in_order.iter().map(|&(place, _)| place).zip(loaded.iter().map(bytes)).collect(),
            gathered: looked_up.iter().map(bytes).collect(),
        });
        columns.collect()
    }
}

/// Variables for the parts of so many bytes.
fn unset(k: &Builder, bytes: usize) -> Vec<Var<'_>> {
    if bytes == 0 {
        return Vec::new();
    }
    let part = width(bytes).min(4);
    (0..bytes / part).map(|_| k.unset(Ty::Int(8 * part as u16))).collect()
}

/// So many bytes that are read once: they leave the first-level cache to what is gathered.
fn once<'k>(k: &'k Builder, from: Value<'k>, bytes: usize) -> Bytes<'k> {
    if !bytes.is_multiple_of(16) {
        return Bytes::load(k, from, bytes);
    }
    let words = (0..bytes).step_by(16).flat_map(|place| {
        let pair = k.load_once(from.at(place));
        [0, 1].map(|half| pair.half(half)).map(|half| [half.resize(Ty::I32), (half >> 32).resize(Ty::I32)])
    });
    Bytes::of_words(k, words.flatten().collect())
}

/// So many bytes, each loaded by itself from where it is.
fn single_bytes<'k>(k: &'k Builder, bytes: usize, from: impl Fn(usize) -> Value<'k>) -> Bytes<'k> {
    let part = width(bytes).min(4);
    let ty = Ty::Int(8 * part as u16);
    let join = |start: usize| {
        let own = (0..part).map(|byte| from(start + byte).load(Ty::I8, 1).resize(ty) << (8 * byte));
        own.reduce(|all, byte| all | byte).expect("a part has bytes")
    };
    Bytes::of_words(k, (0..bytes).step_by(part).map(join).collect())
}

/// A load group in registers.
pub(super) struct Columns<'k, 'a> {
    k: &'k Builder,
    of: &'a TotalsKernel,
    /// The columns that lie in order, with their places.
    in_order: Vec<(usize, Bytes<'k>)>,
    /// The records of the gathered one.
    gathered: Vec<Bytes<'k>>,
}

impl<'k, 'a> Columns<'k, 'a> {
    /// A record of it.
    pub(super) fn record(&self, number: usize) -> Record<'k, '_, 'a> {
        Record { columns: self, number }
    }
}

/// A record of a load group. Nothing reads more of it than the record.
pub(super) struct Record<'k, 'c, 'a> {
    columns: &'c Columns<'k, 'a>,
    number: usize,
}

impl<'k> Element<'k> for Record<'k, '_, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        let Columns { of, in_order, gathered, .. } = self.columns;
        let (column, offset, ty) = field(&of.recipe.inputs, component);
        if of.gathered == Some(column) {
            return gathered[self.number].field(offset, ty);
        }
        let (_, bytes) = in_order.iter().find(|(place, _)| *place == column).expect("any other column lies in order");
        bytes.field(self.number * of.recipe.inputs[column].size as usize + offset, ty)
    }

    fn next(&self, component: usize) -> Value<'k> {
        self.record(component)
    }

    fn prev(&self, component: usize) -> Value<'k> {
        self.record(component)
    }

    fn is_last(&self) -> Value<'k> {
        self.columns.k.bool(false)
    }

    fn index(&self) -> Value<'k> {
        self.columns.k.i64(0)
    }
}

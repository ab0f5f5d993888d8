//! The symbol of a byte and the next one, by look-ups that wait for no other lane.
//!
//! Each lane has its own copy of two tables, in a bank of its own. The first has two places in the
//! second for each byte, in different bits: that of the byte's row, and that of a next byte within
//! any row. So an address is the high bits of the one and the low bits of the other.

use monoscan_ir::automaton::Neighbours;
use monoscan_ir::{Constant, Table, Type};

use crate::gpu::{BANKS, WORD};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::Element;

/// Most bytes of the second table, without copies; and those up to which none of its words share a bank, so that copies do not pay.
const MOST_SYMBOLS: usize = 1024;
const WITHOUT_CONFLICTS: usize = BANKS * WORD;

/// Two such tables.
pub struct NeighbourSymbols {
    /// The first one: places in the second.
    pub(crate) places: u32,
    /// The second one.
    pub(crate) symbols: u32,
    /// Bytes of a row of the second one, in its bank: a power of two.
    row: usize,
    /// The place in a row of there being no next byte, if that is told apart.
    last: Option<usize>,
}

impl NeighbourSymbols {
    /// Those of such symbols, as new tables. None if they are too large, or so small that one copy does.
    pub(crate) fn new(of: &Neighbours, tables: &mut Vec<Table>) -> Option<NeighbourSymbols> {
        let columns = of.rows.first()?.len();
        let width = columns.next_power_of_two().max(WORD);
        if of.rows.len() * columns <= WITHOUT_CONFLICTS || of.rows.len() * width > MOST_SYMBOLS {
            return None;
        }
        // Words of a bank are apart by as many as there are banks; bytes of a word are not.
        let in_row = |column: usize| column / WORD * (WORD * BANKS) + column % WORD;
        let row = in_row(width);
        let [own, next] = &of.class_of;
        let place = |(&own, &next): (&u8, &u8)| usize::from(own) * row + in_row(next.into());
        let places = own.iter().zip(next).map(|classes| Constant::from(place(classes) as u32));
        let symbols = of.rows.iter().flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0, width - columns)));
        let first = tables.len() as u32;
        tables.push(Table::new(Type::U32, places));
        tables.push(Table { ty: Type::U8, bytes: symbols.collect() });
        let last = of.reads_last.then(|| in_row(columns - 1));
        Some(NeighbourSymbols { places: first, symbols: first + 1, row, last })
    }

    /// The symbol of an element. None if a block has no copies of the tables.
    pub(crate) fn look_up<'k>(&self, args: KernelArguments<'k, '_>, element: &dyn Element<'k>) -> Option<Value<'k>> {
        let (places, symbols) = (args.tables.get(self.places)?, args.tables.get(self.symbols)?);
        if !places.is_in_each_bank() || !symbols.is_in_each_bank() {
            return None;
        }
        let place = |byte: Value<'k>| places.base.byte(byte.resize(Ty::I32) * (WORD * BANKS)).load(Ty::I32, WORD);
        let lane = WORD * (BANKS - 1);
        let own = place(element.record(0));
        let next = place(element.next(0));
        let next = self.last.map_or(next, |last| element.is_last().select((own & lane) | last, next));
        let in_row = args.k.i32(self.row - 1);
        let address = args.k.intrinsic(Ty::I32, "scan.select_bits", &[in_row, next, own]);
        Some(symbols.base.byte(address).load(Ty::I8, 1).resize(Ty::I32))
    }
}

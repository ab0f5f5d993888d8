//! Where the input columns of a short line begin, as its kernel is told: few addresses in
//! registers, more in a table.
//!
//! A call of ten records takes some nanoseconds, so most programs have their columns in registers.
//! With the length and the output, four words are what x86-64 passes so: three columns, and the
//! program's parameters behind them. Of a program of more columns the first of these registers has
//! the address of a table, of all columns and the parameters behind them.

use std::array;
use std::mem::MaybeUninit;

/// Registers for the addresses of columns and parameters.
pub const SHORT_REGISTERS: usize = 4;

/// Most addresses of a table: the columns of a typed scan are at most twelve, with flags and parameters.
const MOST_ADDRESSES: usize = 16;

/// Most input columns of a kernel of short lines.
pub const MOST_SHORT_INPUTS: usize = MOST_ADDRESSES - 1;

/// Whether the addresses of so many input columns, and that of parameters, are in a table.
#[inline]
pub(crate) const fn are_in_table(columns: usize) -> bool {
    columns >= SHORT_REGISTERS
}

/// Where input columns begin, in order, and behind them where parameters are.
#[derive(Clone, Copy)]
pub struct ShortInputs {
    columns: usize,
    /// The first of them, as registers have them, and behind the columns, wherever there is a place, where parameters are.
    first: [*const u8; SHORT_REGISTERS],
    /// All of them, and behind them where parameters are: of more columns than registers have. Most programs have fewer, and write
    /// nothing here.
    table: [MaybeUninit<*const u8>; MOST_ADDRESSES],
}

impl ShortInputs {
    /// Without columns yet.
    #[inline(always)]
    pub fn new(parameters: *const u8) -> ShortInputs {
        let table = [MaybeUninit::uninit(); MOST_ADDRESSES];
        ShortInputs { columns: 0, first: [parameters; SHORT_REGISTERS], table }
    }

    /// These columns. Of [too many](MOST_SHORT_INPUTS) the last ones are left out: programs of those have no such kernels.
    #[inline(always)]
    pub fn of(columns: impl IntoIterator<Item = *const u8>, parameters: *const u8) -> ShortInputs {
        let mut inputs = ShortInputs::new(parameters);
        inputs.extend(columns, parameters);
        inputs
    }

    /// These columns too.
    #[inline(always)]
    pub fn extend(&mut self, columns: impl IntoIterator<Item = *const u8>, parameters: *const u8) {
        for column in columns {
            self.push(column, parameters);
        }
    }

    /// One more column, and where parameters are behind it.
    #[inline(always)]
    pub fn push(&mut self, column: *const u8, parameters: *const u8) {
        let place = self.columns;
        self.columns = (place + 1).min(MOST_SHORT_INPUTS);
        if place + 1 < SHORT_REGISTERS {
            self.first[place] = column;
        } else if place < MOST_SHORT_INPUTS {
            if place + 1 == SHORT_REGISTERS {
                (0..place).for_each(|before| _ = self.table[before].write(self.first[before]));
            }
            self.table[place].write(column);
            self.table[place + 1].write(parameters);
        }
    }

    /// The registers for a kernel; a table is there as long as this.
    #[inline(always)]
    pub fn registers(&self) -> [*const u8; SHORT_REGISTERS] {
        match are_in_table(self.columns) {
            true => [self.table.as_ptr().cast(); SHORT_REGISTERS],
            false => self.first,
        }
    }

    /// The same of columns that begin so many bytes further on each, by a table that may be needed for it.
    #[inline(always)]
    pub fn moved(&self, bytes: impl Fn(usize) -> usize, table: &mut ShortInputs) -> [*const u8; SHORT_REGISTERS] {
        let moved = |column: usize| self.at(column).wrapping_add(bytes(column));
        if !are_in_table(self.columns) {
            return array::from_fn(|place| if place < self.columns { moved(place) } else { self.first[place] });
        }
        *table = *self;
        (0..self.columns).for_each(|column| _ = table.table[column].write(moved(column)));
        table.registers()
    }

    /// Where a column begins, or, behind the last, where parameters are.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline(always)]
    pub fn at(&self, column: usize) -> *const u8 {
        assert!(column <= self.columns, "there is such a column");
        match are_in_table(self.columns) {
            // SAFETY: of so many columns all places of the table were written, and the one behind them.
            true => unsafe { self.table[column % MOST_ADDRESSES].assume_init() },
            false => self.first[column % SHORT_REGISTERS],
        }
    }
}

/// The same as a function of Rust was given it. An array without holes: rustc keeps those in registers that a loop needs.
#[derive(Clone, Copy)]
pub struct InputAddresses([*const u8; MOST_ADDRESSES]);

impl InputAddresses {
    /// Of so many columns.
    ///
    /// # Safety
    /// These are their registers, and a table is there.
    #[inline(always)]
    pub unsafe fn new(columns: usize, registers: [*const u8; SHORT_REGISTERS]) -> InputAddresses {
        let mut at = [registers[SHORT_REGISTERS - 1]; MOST_ADDRESSES];
        for (place, at) in at.iter_mut().enumerate().take(columns + 1) {
            *at = match are_in_table(columns) {
                // SAFETY: a table has an address for each column, and one more.
                true => unsafe { registers[0].cast::<*const u8>().add(place).read() },
                false => registers[place],
            };
        }
        InputAddresses(at)
    }

    /// Where a column begins, or, behind the last, where parameters are.
    #[inline(always)]
    pub fn at(&self, column: usize) -> *const u8 {
        self.0[column % MOST_ADDRESSES]
    }
}

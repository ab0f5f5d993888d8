//! Where the input columns of a short line begin, as its kernel is told: few addresses in
//! registers, more in a table.
//!
//! A call of ten records takes some nanoseconds, so most programs have their columns in registers.
//! With the length and the output, four words are what x86-64 passes so: three columns, and the
//! program's parameters behind them. Of a program of more columns the first of these registers has
//! the address of a table, of all columns and the parameters behind them.

use std::array;

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
    /// In all places behind the columns where parameters are.
    at: [*const u8; MOST_ADDRESSES],
}

impl ShortInputs {
    /// Without columns yet.
    #[inline(always)]
    pub fn new(parameters: *const u8) -> ShortInputs {
        ShortInputs { columns: 0, at: [parameters; MOST_ADDRESSES] }
    }

    /// One more column. Of [too many](MOST_SHORT_INPUTS) the last ones are left out: programs of those have no such kernels.
    #[inline(always)]
    pub fn push(&mut self, column: *const u8) {
        if self.columns < MOST_SHORT_INPUTS {
            self.at[self.columns] = column;
            self.columns += 1;
        }
    }

    /// These columns.
    #[inline(always)]
    pub fn of(columns: impl IntoIterator<Item = *const u8>, parameters: *const u8) -> ShortInputs {
        let mut inputs = ShortInputs::new(parameters);
        columns.into_iter().for_each(|column| inputs.push(column));
        inputs
    }

    /// The registers for a kernel; a table is there as long as this.
    #[inline(always)]
    pub fn registers(&self) -> [*const u8; SHORT_REGISTERS] {
        match are_in_table(self.columns) {
            true => [self.at.as_ptr().cast(); SHORT_REGISTERS],
            false => array::from_fn(|place| self.at[place]),
        }
    }

    /// The same of columns that begin so many bytes further on each, by a table that may be needed for it.
    #[inline(always)]
    pub fn moved(&self, bytes: impl Fn(usize) -> usize, table: &mut ShortInputs) -> [*const u8; SHORT_REGISTERS] {
        let moved = |column: usize| self.at[column].wrapping_add(bytes(column));
        if !are_in_table(self.columns) {
            return array::from_fn(|column| if column < self.columns { moved(column) } else { self.at[column] });
        }
        *table = *self;
        (0..self.columns).for_each(|column| table.at[column] = moved(column));
        table.registers()
    }

    /// The columns, so many, that a function was given.
    ///
    /// # Safety
    /// It was, and a table is there.
    #[inline(always)]
    pub unsafe fn from_registers(columns: usize, registers: [*const u8; SHORT_REGISTERS]) -> ShortInputs {
        let mut inputs = ShortInputs { columns, at: [registers[SHORT_REGISTERS - 1]; MOST_ADDRESSES] };
        for place in 0..=columns.min(MOST_SHORT_INPUTS) {
            inputs.at[place] = match are_in_table(columns) {
                // SAFETY: a table has an address for each column, and one more.
                true => unsafe { registers[0].cast::<*const u8>().add(place).read() },
                false => registers[place],
            };
        }
        inputs
    }

    /// Where a column begins, or, behind the last, where parameters are.
    #[inline(always)]
    pub fn at(&self, column: usize) -> *const u8 {
        self.at[column % MOST_ADDRESSES]
    }
}

//! [`Table`]: constants looked up by an index that depends on the data.

use scan_ir::{Constant, Value};

use super::ops;
use super::scan_type::{Components, ScanType, V, to_constants};
use super::trace;

/// A table of constants. In scan code `table.get(i)` is the one look-up whose index may depend on the data; an index
/// past the end reads the last element.
///
/// A table is a parameter of a `#[scan_fn]` that [`with_table`](super::BindTable::with_table) binds, or a constant:
///
/// ```
/// use monoscan::prelude::*;
///
/// const SQUARES: Table<u8> = Table::new(&[0, 1, 4, 9]);
///
/// #[scan_fn]
/// fn square(x: u8) -> u8 { SQUARES.get(x as u32) }
/// assert_eq!((square(2), square(7)), (4, 9));
/// ```
#[derive(Debug)]
pub struct Table<'t, T> {
    elements: &'t [T],
}

impl<T> Clone for Table<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<'_, T> {}

impl<'t, T: ScanType> Table<'t, T> {
    /// A table of these elements.
    pub const fn new(elements: &'t [T]) -> Table<'t, T> {
        Table { elements }
    }

    /// Element `index`, or the last one if there are not so many. An empty table reads as zeros here, and is an error
    /// when a scan is built with it.
    pub fn get(self, index: u32) -> T {
        match self.elements.get(index as usize).or(self.elements.last()) {
            Some(element) => *element,
            None => T::load(&mut std::iter::empty()),
        }
    }

    /// How many elements there are.
    pub const fn len(self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.elements.is_empty()
    }
}

/// A table in traced code: each component of `T` is one table of the IR, numbered on from `first`.
#[doc(hidden)]
pub struct TableHandle<T> {
    tables: TableNumbers,
    element: std::marker::PhantomData<fn() -> T>,
}

#[derive(Clone, Copy)]
struct TableNumbers {
    first: u32,
}

impl<T> Clone for TableHandle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TableHandle<T> {}

/// Brings a table into the function being traced.
#[doc(hidden)]
pub fn lift<T: ScanType>(table: Table<'_, T>) -> TableHandle<T> {
    let columns = columns(table);
    if columns.iter().any(scan_ir::Table::is_empty) {
        trace::stop(trace::Stop::EmptyTable);
    }
    let tables = TableNumbers { first: trace::add_tables(columns) };
    TableHandle { tables, element: std::marker::PhantomData }
}

/// One IR table for each component.
fn columns<T: ScanType>(table: Table<'_, T>) -> Vec<scan_ir::Table> {
    let rows: Vec<Vec<Constant>> = table.elements.iter().map(to_constants).collect();
    let column = |(place, ty)| scan_ir::Table::new(ty, rows.iter().map(|row| row[place]));
    Components::of::<T>().into_iter().map(|component| component.ty).enumerate().map(column).collect()
}

/// `table.get(index)`.
#[doc(hidden)]
pub fn get<T: ScanType>(table: TableHandle<T>, index: V<u32>) -> V<T> {
    let mut number = table.tables.first;
    let index: Value = ops::value(index);
    V::of(T::build(&mut |ty| {
        let element = trace::emit(|f| f.table(number, ty, index));
        number += 1;
        element
    }))
}

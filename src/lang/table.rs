//! Constants looked up by an index that depends on the data: [`Table`], and elements of constant
//! arrays.

use monoscan_ir::{Constant, Opcode, Value};

use super::scan_type::{Components, ScanType, V, to_constants};
use super::trace;
use super::{methods, ops};

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
    if columns.iter().any(monoscan_ir::Table::is_empty) {
        trace::stop(trace::Stop::EmptyTable);
    }
    let tables = TableNumbers { first: trace::add_tables(columns) };
    TableHandle { tables, element: std::marker::PhantomData }
}

/// One IR table for each component.
fn columns<T: ScanType>(table: Table<'_, T>) -> Vec<monoscan_ir::Table> {
    let rows: Vec<Vec<Constant>> = table.elements.iter().map(to_constants).collect();
    let column = |(place, ty)| monoscan_ir::Table::new(ty, rows.iter().map(|row| row[place]));
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

/// `CONSTANT[i][j]`, by indexes some of which depend on the data: the elements that may be meant, and the place of the one
/// that is.
#[doc(hidden)]
pub struct Chosen<'c, X> {
    among: Vec<&'c X>,
    place: V<u32>,
}

/// A constant that is about to be indexed.
#[doc(hidden)]
pub fn constants<X>(constant: &X) -> Chosen<'_, X> {
    Chosen { among: vec![constant], place: ops::lift(0) }
}

/// Element `index` of the array that was chosen; past the end the last one.
#[doc(hidden)]
pub fn at<'c, A: Indexed, I: ops::Castable>(array: Chosen<'c, A>, index: V<I>) -> Chosen<'c, A::Element> {
    let rows: Vec<&[A::Element]> = array.among.into_iter().map(Indexed::elements).collect();
    let length = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    if rows.iter().any(|row| row.is_empty()) {
        trace::stop(trace::Stop::EmptyTable);
    }
    let among = rows.iter().flat_map(|row| (0..length).map(|i| &row[i.min(row.len() - 1)])).collect();
    let mut index = in_u32(index);
    if rows.len() > 1 {
        // The next row begins behind the last element.
        index = ops::apply(Opcode::Min, &[ops::value(index), ops::value(ops::lift(length as u32 - 1))]);
    }
    let start = methods::wrapping_mul(array.place, ops::lift(length as u32));
    Chosen { among, place: methods::wrapping_add(start, index) }
}

/// The element that was chosen.
#[doc(hidden)]
pub fn chosen<X: ScanType>(element: Chosen<'_, X>) -> V<X> {
    let elements: Vec<X> = element.among.into_iter().copied().collect();
    get(lift(Table::new(&elements)), element.place)
}

/// An index as a `u32`; what is larger or negative becomes a large one.
fn in_u32<I: ops::Castable>(index: V<I>) -> V<u32> {
    let ty = trace::emit(|f| f.type_of(ops::value(index)));
    if ty.bits() <= u32::BITS {
        return ops::cast(index);
    }
    let (wide, most) = (ops::cast::<I, u64>(index), ops::lift(u64::from(u32::MAX)));
    ops::cast::<u64, u32>(ops::apply(Opcode::Min, &[ops::value(wide), ops::value(most)]))
}

/// Arrays and slices.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be indexed by run-time data",
    note = "an index that depends on the data is for constant arrays, and for `Table`s: `table.get(i)`"
)]
pub trait Indexed {
    /// The type of an element.
    type Element: 'static;
    /// All of them.
    fn elements(&self) -> &[Self::Element];
}

impl<X: 'static, const N: usize> Indexed for [X; N] {
    type Element = X;
    fn elements(&self) -> &[X] {
        self
    }
}

impl<X: 'static> Indexed for &[X] {
    type Element = X;
    fn elements(&self) -> &[X] {
        self
    }
}

impl<X: 'static, const N: usize> Indexed for &[X; N] {
    type Element = X;
    fn elements(&self) -> &[X] {
        *self
    }
}

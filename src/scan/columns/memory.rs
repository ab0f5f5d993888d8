//! Columns as engines take them: where they start, and how their records lie.

use monoscan_ir::Layout;
use monoscan_runtime::{Column, ColumnMut, ShortInputs, SpacedColumn};
use smallvec::SmallVec;

use super::sealed::Part;
use super::{Columns, Record};
use crate::scan::place::Host;
use crate::scan::place::sealed as sealed_place;

/// The value that lies there, at any address. Unlike `read_unaligned` this tells LLVM that its scalars are initialised (`noundef`). Without
/// that, `&&` is no `and` of bits, and loops are not vectorised.
///
/// # Safety
/// One does.
#[inline(always)]
pub(in crate::scan) unsafe fn value<T: Copy>(at: *const u8) -> T {
    #[repr(C, packed)]
    struct Anywhere<T>(T);
    // SAFETY: it does, and a packed type may be anywhere.
    unsafe { (*at.cast::<Anywhere<T>>()).0 }
}

/// The columns of a record, without an allocation.
pub(in crate::scan) type Read<'a> = SmallVec<[Column<'a>; 6]>;

/// The columns of results, without an allocation.
pub(in crate::scan) type Written<'a> = SmallVec<[ColumnMut<'a>; 4]>;

/// Puts the slices there as kernels of short lines take them, and behind them where parameters are. Says whether all of them are on
/// the host, of this length and without gaps.
#[inline(always)]
pub(in crate::scan) fn bases<R: Record, C: Columns<R>>(
    slices: &C,
    len: usize,
    parameters: *const u8,
    to: &mut ShortInputs,
) -> bool {
    let mut fits = <C::Place as sealed_place::Place>::ON_HOST;
    slices.parts(|part| {
        to.push(part.base, parameters);
        fits &= part.len == len && part.spacing.is_none();
    });
    fits
}

/// Where each slice starts, and how its records lie if not one after the other, without an allocation.
pub(in crate::scan) type Spaced<Base> = SmallVec<[SpacedColumn<Base>; 4]>;

/// Puts the slices there, if all of them are on the host and of one length. Gives that length.
#[inline]
pub(in crate::scan) fn spaced<R: Record, C: Columns<R>>(slices: &C, to: &mut Spaced<*const u8>) -> Option<usize> {
    let mut lengths = None;
    let mut fits = <C::Place as sealed_place::Place>::ON_HOST;
    slices.parts(|part| {
        to.push((part.base, part.spacing));
        fits &= *lengths.get_or_insert(part.len) == part.len;
    });
    lengths.filter(|_| fits)
}

/// How long the last of the slices is.
#[inline(always)]
pub(in crate::scan) fn len_of<R: Record>(slices: &impl Columns<R>) -> usize {
    let mut len = 0;
    slices.parts(|part| len = part.len);
    len
}

/// The slices as columns of these layouts, which must be those of `R`.
pub(in crate::scan) fn read<'a, R: Record>(
    slices: &'a impl Columns<R, Place = Host>,
    layouts: &'a [Layout],
) -> Read<'a> {
    let mut columns = Read::new();
    let mut layouts = layouts.iter();
    slices.parts(|Part { base, len, spacing }| {
        if let Some(layout) = layouts.next() {
            // SAFETY: `slices` borrows these records, of a type whose fields the macro laid out.
            let column = unsafe { Column::from_raw(base, len, layout) };
            columns.push(match spacing {
                // SAFETY: as above.
                Some(spacing) => unsafe { column.with_spacing(spacing) },
                None => column,
            });
        }
    });
    columns
}

/// Memory as columns to be written, whose layouts must be those of its records.
///
/// # Safety
/// It is exclusively borrowed for `'a`.
pub(in crate::scan) unsafe fn write<'a>(parts: &[Part<*mut u8>], layouts: &'a [Layout]) -> Written<'a> {
    let column = |(&Part { base, len, spacing }, layout)| {
        // SAFETY: the caller borrows the memory.
        let column = unsafe { ColumnMut::from_raw(base, len, layout) };
        match spacing {
            // SAFETY: as above.
            Some(spacing) => unsafe { column.with_spacing(spacing) },
            None => column,
        }
    };
    parts.iter().zip(layouts).map(column).collect()
}

//! Short lines whose records lie at any distances: backwards, with strides, as bits, in several
//! columns of results.

use monoscan_codegen::cpu::{Access, Kernel, ShortSpacedFn, Spacing};
use monoscan_ir::Layout;
use smallvec::SmallVec;

use super::line::Bases;
use super::variant::Variant;
use crate::error::Error;
use crate::spacing;

/// A kernel that scans short lines of columns whose records lie at any distances, backwards too.
#[doc(hidden)]
pub struct ShortSpaced {
    /// Code of the variants that this is a part of.
    scan: ShortSpacedFn,
    /// Most elements of a line that one sequential pass is the way for.
    longest: usize,
    /// Whether records lie one after the other in all columns, forwards or backwards.
    are_alike: bool,
    inputs: SmallVec<[Size; 4]>,
    outputs: SmallVec<[Size; 2]>,
}

/// How large the records of a column are.
#[derive(Clone, Copy)]
struct Size {
    bytes: isize,
    /// Whether they are records that are read by bits.
    is_by_bits: bool,
}

impl Size {
    /// How far apart records are.
    #[inline]
    fn spacing(self, spacing: Option<spacing::Spacing>) -> Spacing {
        let bytes = match spacing {
            Some(spacing::Spacing::Bits { first }) => return Spacing::of_bits(first),
            Some(spacing::Spacing::Bytes(bytes)) => bytes,
            None => self.bytes,
        };
        Spacing { step: if self.is_by_bits { bytes.wrapping_mul(8) } else { bytes } as i64, first: 0, mask: 0xff }
    }
}

/// A column of a short line: where its record 0 is, and how its records lie if not one after the other.
pub(super) type SpacedColumn<Base> = (Base, Option<spacing::Spacing>);

impl ShortSpaced {
    /// Of a form that is neither segmented nor from an initial state; none if it keeps some records only, or has no kernels.
    pub(super) fn of(variant: &Variant, access: Access) -> Result<Option<ShortSpaced>, Error> {
        let Ok(kernels) = variant.kernels(access) else { return Ok(None) };
        let Some(scan) = kernels.code.short_spaced() else { return Ok(None) };
        variant.check(kernels, &[Kernel::ShortSpaced].into())?;
        let program = &variant.program;
        let size = |is_by_bits, layout: &Layout| Size { bytes: layout.size as isize, is_by_bits };
        Ok(Some(ShortSpaced {
            scan,
            longest: variant.plan.direct,
            are_alike: access == Access::Strided,
            inputs: program.inputs.iter().map(|layout| size(Spacing::is_by_bits(layout), layout)).collect(),
            outputs: program.output.columns.iter().map(|layout| size(false, layout)).collect(),
        }))
    }

    /// Scans a line of `len` records, each `step` records from the one before, if it is short enough. Says whether it did.
    ///
    /// # Safety
    /// These are the columns of the program in order, and where its parameters are, borrowed as [`Column`](crate::Column) and
    /// [`ColumnMut`](crate::ColumnMut) borrow; each begins with its first record in memory that is part of the line. Records lie one after
    /// the other in all of them if the kernel is for columns that are alike; else the step is 1 or −1.
    #[inline]
    pub unsafe fn line(
        &self,
        inputs: impl Iterator<Item = SpacedColumn<*const u8>>,
        outputs: impl Iterator<Item = SpacedColumn<*mut u8>>,
        (len, step): (usize, isize),
        parameters: *const u8,
    ) -> bool {
        if len == 0 || len > self.longest {
            return len == 0;
        }
        // Records from the first in memory to the first that is scanned.
        let far = if step < 0 { (len as isize - 1).wrapping_mul(-step) } else { 0 };
        let mut from: Bases<*const u8> = Bases::new();
        let mut to: Bases<*mut u8> = Bases::new();
        let mut spacings: SmallVec<[Spacing; 8]> = SmallVec::new();
        if self.are_alike {
            let far = |size: &Size| size.bytes.wrapping_mul(far);
            inputs.zip(&self.inputs).for_each(|((base, _), size)| from.push(base.wrapping_offset(far(size))));
            outputs.zip(&self.outputs).for_each(|((base, _), size)| to.push(base.wrapping_offset(far(size))));
            spacings.push(Spacing { step: step as i64, first: 0, mask: 0 });
        } else {
            // The spacing in the direction of the line, and the distance of its first record.
            let turned = |size: &Size, spacing| {
                let Spacing { step: own, first, mask } = size.spacing(spacing);
                (Spacing { step: own.wrapping_mul(step as i64), first, mask }, own.wrapping_mul(far as i64))
            };
            for ((base, spacing), size) in inputs.zip(&self.inputs) {
                let (mut spacing, far) = turned(size, spacing);
                if size.is_by_bits {
                    spacing.first = spacing.first.wrapping_add_signed(far);
                    from.push(base);
                } else {
                    from.push(base.wrapping_offset(far as isize));
                }
                spacings.push(spacing);
            }
            for ((base, spacing), size) in outputs.zip(&self.outputs) {
                let (spacing, far) = turned(size, spacing);
                to.push(base.wrapping_offset(far as isize));
                spacings.push(spacing);
            }
        }
        // SAFETY: the columns are what the caller says, and each record is read before it is written. The code is there: this is
        // borrowed from the variant that owns it.
        unsafe { (self.scan)(len, from.as_ptr(), to.as_ptr(), spacings.as_ptr(), parameters) };
        true
    }
}

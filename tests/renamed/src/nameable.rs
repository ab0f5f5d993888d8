//! A crate that depends on monoscan alone can name what its public signatures name: this file
//! compiles.
#![expect(clippy::type_complexity, reason = "types are written in full to name all that they consist of")]

use other_name::ops::Sum;
use other_name::prelude::*;
use other_name::{
    Call, CodegenError, Column, ColumnMut, Combination, Constant, Device, DeviceError, DeviceVec, DynScan,
    DynScanBuilder, Error, InPlaceError, Judgement, Overflow, Pending, Plan, PlanOptions, Representation, Request,
    Rows, RowsError, ScanBuilder, ir,
};

type Sums = Scan<Sum<u32>>;

/// The questions and answers of a scan, each with its type in full.
pub const SCAN: (
    fn() -> ScanBuilder<Sum<u32>, (Sum<u32>,), Sum<u32>>,
    fn(&Sums) -> &Judgement,
    fn(&Sums) -> &Plan,
    fn(&Sums) -> &DynScan,
    fn(&Sums) -> &Device,
    fn(&Sums, Representation) -> String,
    for<'a> fn(&'a Sums, Rows) -> Request<'a, Sum<u32>, (Sum<u32>,), Sum<u32>>,
) = (Sums::builder, Sums::judgement, Sums::plan, Sums::as_dyn, Sums::device, Sums::emit, Sums::rows);

/// The same of a scan whose program is known at run time only.
pub const DYN: (
    fn(ir::Verified<ir::Program>) -> DynScanBuilder,
    fn(DynScanBuilder, PlanOptions) -> DynScanBuilder,
    fn(DynScanBuilder, Overflow) -> DynScanBuilder,
    fn(&DynScan, &Call<'_>, &[Column<'_>], &mut [ColumnMut<'_>]) -> Result<usize, Error>,
    fn(&DynScan, &Call<'_>, &[Column<'_>]) -> Result<Vec<Constant>, Error>,
) = (DynScan::builder, DynScanBuilder::plan, DynScanBuilder::overflow, DynScan::run, DynScan::reduce);

/// Device memory and what is under way there.
pub const DEVICE: (
    fn(&Device, &[u32]) -> Result<DeviceVec<u32>, Error>,
    fn(&DeviceVec<u32>) -> Result<Vec<u32>, Error>,
    fn(&Pending) -> Result<usize, Error>,
) = (DeviceVec::upload, DeviceVec::to_vec, Pending::wait);

/// The content of an error.
pub fn inside(error: Error) -> String {
    match error {
        Error::NotAMonoid { judgement, .. } => named::<Box<Judgement>>(judgement),
        Error::Invalid(why) => named::<ir::Diagnostics>(why),
        Error::Combination(why) => named::<Combination>(why),
        Error::InPlace(why) => named::<InPlaceError>(why),
        Error::Rows(why) => named::<RowsError>(why),
        Error::Codegen(why) => named::<CodegenError>(why),
        Error::Device(why) => named::<DeviceError>(why),
        Error::Layout { expected, .. } => named::<Box<other_name::Layout>>(expected),
        Error::State { expected, .. } => named::<Vec<ir::Type>>(expected),
        other => other.to_string(),
    }
}

fn named<T: std::fmt::Debug>(value: T) -> String {
    format!("{value:?}")
}

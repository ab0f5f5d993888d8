//! Being built.

// The macros' output names `::monoscan`, and is used inside this crate too.
extern crate self as monoscan;

#[doc(hidden)]
pub mod lang;

/// What a file that writes scan code imports.
pub mod prelude {
    pub use crate::lang::{BindTable, BitLike, Int, Monoid, Num, Real, Scalar, ScanFn, ScanType, Table};
    pub use scan_macros::{ScanType, scan, scan_fn, scan_monoid};
}

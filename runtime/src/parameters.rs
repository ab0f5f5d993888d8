//! The values of a program's parameters, as they are bound and as kernels read them.

use std::sync::Arc;

use monoscan_codegen::cpu::ShortInputs;
use monoscan_ir::{Constant, Layout};

/// Values of parameters. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    values: Arc<[Constant]>,
    /// The same as a packed record.
    bytes: Arc<[u8]>,
}

impl Parameters {
    pub(crate) fn new(values: Vec<Constant>) -> Parameters {
        let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
        Parameters { bytes: Layout::packed(&types).to_bytes(&values).into(), values: values.into() }
    }

    /// In order.
    pub(crate) fn values(&self) -> &[Constant] {
        &self.values
    }

    /// Where kernels find them.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }

    /// These columns as kernels of short lines take them, and where the parameters are behind them.
    #[inline(always)]
    pub(crate) fn behind(&self, inputs: impl Iterator<Item = *const u8>) -> ShortInputs {
        ShortInputs::of(inputs, self.as_ptr())
    }
}

//! The scans of [`LexerTables`], compiled: one over the text, or one over the symbols that an
//! oracle gives it from its end.

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Device, DynScan, Error};

use super::LexerTables;
use crate::lang::ScanType;
use crate::scan::{Columns, ColumnsMut, Place, Plain, borrowed, expect_no_capture};

/// A scan of a text, and the oracle's, if it reads symbols.
#[derive(Debug)]
pub(super) struct Scans {
    oracle: Option<(DynScan, Symbols)>,
    scan: DynScan,
}

/// The type of a symbol.
#[derive(Clone, Copy, Debug)]
enum Symbols {
    Bytes,
    Words,
}

impl Scans {
    /// Compiles `program`, which is one of the tables', and the oracle.
    pub(super) fn new(tables: &LexerTables, program: Verified<Program>, device: Device) -> Result<Scans, Error> {
        let build = |program| DynScan::builder(program).device(device).build();
        let symbols = match program.inputs[0].size {
            1 => Symbols::Bytes,
            _ => Symbols::Words,
        };
        let oracle = tables.oracle_program().map(|oracle| Ok::<_, Error>((build(oracle)?, symbols))).transpose()?;
        Ok(Scans { oracle, scan: build(program)? })
    }

    /// The last scan, whose result is asked for.
    pub(super) fn last(&self) -> &DynScan {
        &self.scan
    }

    /// The first scan, over the reversed text, if there are two.
    pub(super) fn oracle(&self) -> Option<&DynScan> {
        self.oracle.as_ref().map(|(scan, _)| scan)
    }

    /// What the last scan gives.
    pub(super) fn run<Out: ScanType, C: Columns<(u8,)>>(
        &self,
        text: C,
    ) -> Result<<C::Place as Place>::Vec<Out>, Error> {
        match &self.oracle {
            None => Plain::<u8, Out>::of(&self.scan).inclusive(text),
            Some((oracle, Symbols::Bytes)) => {
                let symbols = symbols::<u8, C>(oracle, text)?;
                Plain::<u8, Out>::of(&self.scan).inclusive(borrowed::<C::Place, u8>(&symbols))
            }
            Some((oracle, Symbols::Words)) => {
                let symbols = symbols::<u16, C>(oracle, text)?;
                Plain::<u16, Out>::of(&self.scan).inclusive(borrowed::<C::Place, u16>(&symbols))
            }
        }
    }

    /// The same into a column that is there.
    pub(super) fn run_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        output: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        match &self.oracle {
            None => Plain::of(&self.scan).inclusive_into(text, output),
            Some((oracle, Symbols::Bytes)) => {
                let symbols = symbols::<u8, C>(oracle, text)?;
                Plain::<u8, u8>::of(&self.scan).inclusive_into(borrowed::<C::Place, u8>(&symbols), output)
            }
            Some((oracle, Symbols::Words)) => {
                let symbols = symbols::<u16, C>(oracle, text)?;
                Plain::<u16, u8>::of(&self.scan).inclusive_into(borrowed::<C::Place, u16>(&symbols), output)
            }
        }
    }
}

/// The symbols of a text, a column that is freed when the last scan has read it; so no graph may read it later.
fn symbols<S: ScanType, C: Columns<(u8,)>>(oracle: &DynScan, text: C) -> Result<<C::Place as Place>::Vec<S>, Error> {
    expect_no_capture(&text, "a text in another one, as rules that look ahead take two scans")?;
    Plain::<u8, S>::of(oracle).reversed().inclusive(text)
}

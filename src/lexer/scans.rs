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

/// The last scan, run over the text or over the symbols that the oracle makes of it.
macro_rules! last {
    ($scans:expr, $text:ident: $C:ty, $Out:ty, |$scan:ident, $symbols:ident| $run:expr) => {
        match &$scans.oracle {
            None => {
                let ($scan, $symbols) = (Plain::<u8, $Out>::of(&$scans.scan), $text);
                $run
            }
            Some((oracle, Symbols::Bytes)) => last!(@ $scans, oracle, $text: $C, u8, $Out, |$scan, $symbols| $run),
            Some((oracle, Symbols::Words)) => last!(@ $scans, oracle, $text: $C, u16, $Out, |$scan, $symbols| $run),
        }
    };
    (@ $scans:expr, $oracle:ident, $text:ident: $C:ty, $Symbol:ty, $Out:ty, |$scan:ident, $symbols:ident| $run:expr) => {{
        let symbols = symbols::<$Symbol, $C>($oracle, $text)?;
        let $symbols = borrowed::<<$C as Columns<(u8,)>>::Place, $Symbol>(&symbols);
        let $scan = Plain::<$Symbol, $Out>::of(&$scans.scan);
        $run
    }};
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

    /// The results of the last scan.
    pub(super) fn run<Out: ScanType, C: Columns<(u8,)>>(
        &self,
        text: C,
    ) -> Result<<C::Place as Place>::Vec<Out>, Error> {
        last!(self, text: C, Out, |scan, symbols| scan.inclusive(symbols))
    }

    /// The same into a column that is there.
    pub(super) fn run_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        output: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        last!(self, text: C, u8, |scan, symbols| scan.inclusive_into(symbols, output))
    }
}

/// The symbols of a text, a column that is freed when the last scan has read it; so no graph may read it later.
fn symbols<S: ScanType, C: Columns<(u8,)>>(oracle: &DynScan, text: C) -> Result<<C::Place as Place>::Vec<S>, Error> {
    expect_no_capture(&text, "a text in another one, as rules that look ahead take two scans")?;
    Plain::<u8, S>::of(oracle).reversed().inclusive(text)
}

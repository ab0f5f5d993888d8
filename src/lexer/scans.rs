//! The scans of [`LexerTables`], compiled: one over the text, or one over the symbols that an
//! oracle gives it from its end.

use std::sync::{Mutex, PoisonError};

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Device, DynScan, DynScanBuilder, Error, Transducer};

use super::LexerTables;
use crate::lang::ScanType;
use crate::scan::{
    Columns, ColumnsMut, Place, Plain, are_on_device, borrowed, borrowed_mut, expect_no_capture, passed_on,
};

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
        let _in_order = are_on_device(&$text).then(|| IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner));
        let symbols = symbols::<$Symbol, $C>($oracle, $text)?;
        let $symbols = borrowed::<<$C as Columns<(u8,)>>::Place, $Symbol>(&symbols);
        let $scan = Plain::<$Symbol, $Out>::of(&$scans.scan);
        $run
    }};
}

impl Scans {
    /// Compiles the program that labels, and the oracle.
    pub(super) fn labelling(tables: &LexerTables, device: Device) -> Result<Scans, Error> {
        // Engines that walk automata of many states take these, not the programs.
        let transducers = if device.is_cpu() { None } else { tables.transducers() };
        Scans::of(tables, tables.program(), transducers, device)
    }

    /// Compiles `program`, which is one of the tables', and the oracle.
    pub(super) fn new(tables: &LexerTables, program: Verified<Program>, device: Device) -> Result<Scans, Error> {
        Scans::of(tables, program, None, device)
    }

    fn of(
        tables: &LexerTables,
        program: Verified<Program>,
        transducers: Option<[Transducer; 2]>,
        device: Device,
    ) -> Result<Scans, Error> {
        let [first, second] = transducers.map_or([None, None], |both| both.map(Some));
        let build = |program, transducer: Option<Transducer>| {
            let builder = DynScan::builder(program).device(device);
            transducer.into_iter().fold(builder, DynScanBuilder::transducer).build()
        };
        let symbols = match program.inputs[0].size {
            1 => Symbols::Bytes,
            _ => Symbols::Words,
        };
        let oracle =
            tables.oracle_program().map(|oracle| Ok::<_, Error>((build(oracle, first)?, symbols))).transpose()?;
        Ok(Scans { oracle, scan: build(program, second)? })
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

/// Symbols in the memory of a stream are the next call's in that stream: so both scans are given to it without another call's
/// between them.
static IN_ORDER: Mutex<()> = Mutex::new(());

/// The symbols of a text, a column that no graph may read later.
fn symbols<S: ScanType, C: Columns<(u8,)>>(oracle: &DynScan, text: C) -> Result<<C::Place as Place>::Vec<S>, Error> {
    expect_no_capture(&text, "a text in another one, as rules that look ahead take two scans")?;
    let scan = Plain::<u8, S>::of(oracle);
    let Some(mut symbols) = passed_on::<S, _, _>(&text)? else { return scan.reversed().inclusive(text) };
    scan.reversed().inclusive_into(text, borrowed_mut::<C::Place, S>(&mut symbols))?;
    Ok(symbols)
}

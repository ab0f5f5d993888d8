//! The scans of [`LexerTables`], compiled: one over the text, or one over the symbols that an
//! oracle gives it from its end.

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Device, DynScan, DynScanBuilder, Error, Transducer};

use super::LexerTables;
use crate::lang::ScanType;
use crate::scan::{Columns, ColumnsMut, Place, Plain, through, through_into};

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

    /// The results of the last scan. On a device, those of two scans are there when this returns.
    pub(super) fn run<Out: ScanType, C: Columns<(u8,)>>(
        &self,
        text: C,
    ) -> Result<<C::Place as Place>::Vec<Out>, Error> {
        match &self.oracle {
            None => Plain::<u8, Out>::of(&self.scan).inclusive(text),
            Some((oracle, Symbols::Bytes)) => through(self.both::<u8, Out>(oracle), text),
            Some((oracle, Symbols::Words)) => through(self.both::<u16, Out>(oracle), text),
        }
    }

    /// The same into a column that is there.
    pub(super) fn run_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        output: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        match &self.oracle {
            None => Plain::<u8, u8>::of(&self.scan).inclusive_into(text, output),
            Some((oracle, Symbols::Bytes)) => through_into(self.both::<u8, u8>(oracle), text, output),
            Some((oracle, Symbols::Words)) => through_into(self.both::<u16, u8>(oracle), text, output),
        }
    }

    /// The oracle, from the end of the text, and the scan of its symbols.
    fn both<'a, Symbol: ScanType, Out: ScanType>(
        &'a self,
        oracle: &'a DynScan,
    ) -> (Plain<'a, u8, Symbol>, Plain<'a, Symbol, Out>) {
        (Plain::of(oracle).reversed(), Plain::of(&self.scan))
    }
}

//! The scans of [`LexerTables`], compiled: one over the text, or one over the symbols that an
//! oracle gives it from its end.

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Device, DynScan, DynScanBuilder, Error, Transducer};

use super::LexerTables;
use super::pieces::Walk;
use crate::lang::ScanType;
use crate::scan::{Columns, ColumnsMut, Place, Plain, through, through_into, walked, walked_into};

/// A scan of a text, and the oracle's, if it reads symbols.
#[derive(Debug)]
pub(super) struct Scans {
    oracle: Option<(DynScan, Symbols)>,
    scan: DynScan,
    /// Labels by walks, where they are faster: two of a text in the memory of the CPU.
    walks: Option<[Walk; 2]>,
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
        let walks = if device.is_cpu() { tables.walks() } else { None };
        Ok(Scans { walks, ..Scans::of(tables, tables.program(), transducers, device)? })
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
        Ok(Scans { oracle, scan: build(program, second)?, walks: None })
    }

    /// The last scan, whose result is asked for.
    pub(super) fn last(&self) -> &DynScan {
        &self.scan
    }

    /// The first scan, over the reversed text, if there are two.
    pub(super) fn oracle(&self) -> Option<&DynScan> {
        self.oracle.as_ref().map(|(scan, _)| scan)
    }

    /// The labels of a text, by [`Scans::labelling`].
    pub(super) fn label<C: Columns<(u8,)>>(&self, text: C) -> Result<<C::Place as Place>::Vec<u8>, Error> {
        let by_walks = |walks: &[Walk; 2]| {
            walked(&text, |text| {
                let mut labels = zeros(text.len())?;
                walk(walks, text, &mut labels)?;
                Ok(labels)
            })
        };
        self.walks.as_ref().and_then(by_walks).unwrap_or_else(|| self.run(text))
    }

    /// The same into a column that is there.
    pub(super) fn label_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        mut labels: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        let walks = self.walks.as_ref();
        let by_walks = walks.and_then(|walks| walked_into(&text, &mut labels, |text, to| walk(walks, text, to)));
        by_walks.unwrap_or_else(|| self.run_into(text, labels))
    }

    /// Whether a text in the memory of the CPU is labelled by walks.
    pub(super) fn walks(&self) -> bool {
        self.walks.is_some()
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
    fn run_into<C: Columns<(u8,)>>(
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

/// Labels by two walks, as many labels as bytes of the text.
fn walk([oracle, munch]: &[Walk; 2], text: &[u8], labels: &mut [u8]) -> Result<(), Error> {
    let mut symbols: Vec<u16> = zeros(text.len())?;
    oracle.outputs(text, &mut symbols, |symbol| symbol);
    munch.outputs(&symbols, labels, |label| label as u8);
    Ok(())
}

fn zeros<T: Clone + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) })?;
    zeros.resize(len, T::default());
    Ok(zeros)
}

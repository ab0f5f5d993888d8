//! The scans of [`LexerTables`], compiled: one over the text, or one over the symbols that an
//! oracle gives it from its end.

use std::sync::{Mutex, PoisonError};

use monoscan_ir::{Program, Verified};
#[cfg(feature = "gpu")]
use monoscan_runtime::cuda::CudaError;
use monoscan_runtime::space::zeros;
use monoscan_runtime::{Device, DynScan, DynScanBuilder, Error, Transducer};

use super::LexerTables;
use super::pieces::Walk;
use crate::lang::ScanType;
#[cfg(feature = "gpu")]
use crate::scan::DeviceVec;
use crate::scan::{Columns, ColumnsMut, Place, Plain, of_slice, of_slice_into, through, through_into};

/// A scan of a text, and the oracle's, if it reads symbols.
#[derive(Debug)]
pub(super) struct Scans {
    oracle: Option<(DynScan, Symbols)>,
    scan: DynScan,
    /// How a slice in the memory of the CPU is labelled, if not by scans of it.
    slices: Option<OfSlices>,
}

/// A way to label a slice in the memory of the CPU that is faster than scans of it.
#[derive(Debug)]
enum OfSlices {
    /// By two walks instead of two scans. The symbols between them are in memory that is kept for the next text: new memory would
    /// take twice as long as both walks.
    Walks([Walk; 2], Mutex<Vec<u16>>),
    /// By two scans of a copy on this device, since what the first gives need not come back.
    #[cfg(feature = "gpu")]
    CopyOn(Device),
}

/// The type of a symbol.
#[derive(Clone, Copy, Debug)]
enum Symbols {
    Bytes,
    Words,
}

impl OfSlices {
    fn of(tables: &LexerTables, device: Device) -> Option<OfSlices> {
        if device.is_cpu() {
            return tables.walks().map(|walks| OfSlices::Walks(walks, Mutex::default()));
        }
        #[cfg(feature = "gpu")]
        if tables.oracle_program().is_some() {
            return Some(OfSlices::CopyOn(device));
        }
        None
    }
}

impl Scans {
    /// Compiles the program that labels, and the oracle.
    pub(super) fn labelling(tables: &LexerTables, device: Device) -> Result<Scans, Error> {
        // Engines that walk automata of many states take these, not the programs.
        let transducers = if device.is_cpu() { None } else { tables.transducers() };
        let slices = OfSlices::of(tables, device);
        Ok(Scans { slices, ..Scans::of(tables, tables.program(), transducers, device)? })
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
        Ok(Scans { oracle, scan: build(program, second)?, slices: None })
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
        let labels = |slices: &OfSlices| {
            of_slice(&text, |text| {
                let mut labels = zeros(text.len())?;
                self.label_slice(slices, text, &mut labels)?;
                Ok(labels)
            })
        };
        self.slices.as_ref().and_then(labels).unwrap_or_else(|| self.run(text))
    }

    /// The same into a column that is there.
    pub(super) fn label_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        mut labels: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        let slices = self.slices.as_ref();
        let label = |slices| of_slice_into(&text, &mut labels, |text, to| self.label_slice(slices, text, to));
        slices.and_then(label).unwrap_or_else(|| self.run_into(text, labels))
    }

    /// Whether a text in the memory of the CPU is labelled by walks.
    pub(super) fn walks(&self) -> bool {
        matches!(self.slices, Some(OfSlices::Walks(..)))
    }

    /// As many labels as bytes of the text.
    fn label_slice(&self, slices: &OfSlices, text: &[u8], labels: &mut [u8]) -> Result<(), Error> {
        match slices {
            OfSlices::Walks(walks, kept) => {
                let kept = || kept.lock().unwrap_or_else(PoisonError::into_inner);
                let mut symbols = std::mem::take(&mut *kept());
                walk(walks, text, &mut symbols, labels)?;
                *kept() = symbols;
                Ok(())
            }
            #[cfg(feature = "gpu")]
            OfSlices::CopyOn(device) => match self.label_copy(device, text, labels) {
                // Pieces of it have space.
                Err(Error::Cuda(CudaError::OutOfMemory { .. })) => self.run_into(text, labels).map(drop),
                done => done,
            },
        }
    }

    /// Labels of a copy of the text on a device.
    #[cfg(feature = "gpu")]
    fn label_copy(&self, device: &Device, text: &[u8], labels: &mut [u8]) -> Result<(), Error> {
        self.run::<u8, _>(&DeviceVec::upload_aside(device, text)?)?.read(labels)
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

/// Labels by two walks, as many labels as bytes of the text, with the symbols between them.
fn walk([oracle, munch]: &[Walk; 2], text: &[u8], symbols: &mut Vec<u16>, labels: &mut [u8]) -> Result<(), Error> {
    if symbols.len() < text.len() {
        *symbols = Vec::new();
        *symbols = zeros(text.len())?;
    }
    let symbols = &mut symbols[..text.len()];
    oracle.outputs(text, symbols, |symbol| symbol);
    munch.outputs(symbols, labels, |label| label as u8);
    Ok(())
}

//! Totals of the segments between offsets, in device memory, which stay there: for `monoscan::algo`
//! alone.

use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::Arguments;
use monoscan_codegen::nvptx::{HELPER_THREADS, NvptxError, TotalsKernel, TotalsPass};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Layout, Program, Verified};

use super::arguments::pack;
use super::helpers::Loaded;
use super::kernel::{Launch, Span};
use super::moves::in_order;
use super::variant::Maker;
use crate::cuda::Device;
use crate::device_memory::DeviceMemory;
use crate::error::Error;

/// The kernels of a program that give the totals of segments.
pub struct Totals {
    tiles: Arc<Loaded>,
    carry: Arc<Loaded>,
    arguments: Arguments,
    /// Bytes of a record of each input column, and which of them is gathered.
    inputs: Vec<usize>,
    gathered: Option<usize>,
    /// Bytes of a total.
    total: usize,
    /// Records of a tile, and bytes of its slot.
    tile: usize,
    slot: usize,
}

impl Totals {
    /// Those of a program that was judged, with totals of this layout, which are states. Records of the gathered column, if one is,
    /// are looked up by their places.
    ///
    /// # Errors
    /// No kernel could be made: the program has several levels, or reads more than its records.
    pub fn new(
        device: &Device,
        program: &Verified<Program>,
        gathered: Option<usize>,
        total: &Layout,
    ) -> Result<Totals, Error> {
        let maker = Maker::new(device)?;
        let kernel = TotalsKernel::new(lower(program, Form::default()), gathered, total).map_err(NvptxError::from)?;
        let pass = |pass| Loaded::new((&kernel.ir(pass, maker.arch), kernel.shared(pass)), &maker).map(Arc::new);
        Ok(Totals {
            tiles: pass(TotalsPass::Tiles)?,
            carry: pass(TotalsPass::Carry)?,
            arguments: kernel.arguments().clone(),
            inputs: program.inputs.iter().map(|column| column.size as usize).collect(),
            gathered,
            total: total.size as usize,
            tile: kernel.tile(),
            slot: kernel.slot(),
        })
    }

    /// Gives the work to the stream of the first column, and does not wait for it. Offsets and places are `u32`s; places are given if
    /// a column is gathered.
    ///
    /// # Errors
    /// There is too little memory, memory is that of another device or of a stream that is being captured, or the driver fails.
    ///
    /// # Panics
    /// A column is too short.
    ///
    /// # Safety
    /// Offsets rise from 0 to the number of records, and places are those of records of the gathered column.
    #[doc(hidden)]
    pub unsafe fn submit(
        &self,
        (inputs, places): (&[&DeviceMemory], Option<&DeviceMemory>),
        (offsets, count): (&DeviceMemory, usize),
        records: usize,
        totals: &mut DeviceMemory,
    ) -> Result<(), Error> {
        assert!(inputs.len() == self.inputs.len() && places.is_some() == self.gathered.is_some(), "all columns");
        let in_place = inputs.iter().zip(&self.inputs).enumerate().filter(|(place, _)| Some(*place) != self.gathered);
        assert!(in_place.into_iter().all(|(_, (column, bytes))| column.len() >= records * bytes), "so many records");
        assert!(places.is_none_or(|places| places.len() >= 4 * records), "a place for each record");
        assert!(
            count > 0 && offsets.len() >= 4 * count && totals.len() >= (count - 1) * self.total,
            "a total for each"
        );
        let stream = inputs[0].stream().clone();
        let tiles = records.div_ceil(self.tile).max(1);
        let all = inputs.iter().chain(&places).copied().chain([offsets]);
        let columns: Vec<u64> = [
            &inputs.iter().map(|column| column.address()).collect::<Vec<_>>()[..],
            &[places.map_or(0, DeviceMemory::address), offsets.address(), totals.address()],
        ]
        .concat();
        let launch = Launch {
            span: Span { rows: count - 1, records, pitch: 0, step: 1, chunk: records },
            reversed: false,
            start: &[],
            init: &[],
            states_of_rows: 0,
            parameters: &[],
            columns: &columns,
            capacity: 0,
            totals: false,
            totals_to: None,
        };
        in_order(&stream, &all.collect::<Vec<_>>(), &mut [totals], || {
            let (slots, _held) = DeviceMemory::leased(&stream, tiles * self.slot)?;
            let arguments = pack(&self.arguments, &launch, slots.address(), 0, Duration::ZERO);
            // SAFETY: the columns are as long as the kernels take them to be, and the caller says that offsets and places lead into them.
            // Kernels are kept by their owners, and memory that is freed waits for the device's work.
            unsafe {
                self.tiles.launch(tiles, &arguments, &stream)?;
                self.carry.launch(tiles.div_ceil(HELPER_THREADS / 32), &arguments, &stream)
            }
        })
    }
}

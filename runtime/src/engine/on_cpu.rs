//! [`OnCpu`]: the engine as the backend of scans on the CPU.
//!
//! Short lines are done in one call of a kernel of their own, where there is one; all else is a
//! [`Task`] of the engine.

use std::sync::Arc;

use monoscan_codegen::cpu::{Access, Kernel, SHORT_INPUTS};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Field, Mode};
use smallvec::SmallVec;

use super::{Bases, Engine, Purpose, ShortWhole, Task, Variants, Whole};
use crate::backend::{Backend, HostTask, Settings};
use crate::call::{Call, Init, Shape};
use crate::column::ColumnMut;
use crate::error::Error;
use crate::spacing::Spacings;

/// A program on the CPU.
pub(crate) struct OnCpu {
    pub(crate) variants: Arc<Variants>,
    /// At most so many threads, if that was asked for.
    pub(crate) threads: Option<usize>,
}

impl Backend for OnCpu {
    /// Compiles the kernel of an inclusive scan.
    fn prepare(&self) -> Result<(), Error> {
        if self.variants.make_short(Mode::Inclusive)?.is_none() {
            let variant = self.variants.get(Form::default(), false);
            variant.make(variant.kernels(Access::Line)?, &[Kernel::ScanOne], 1)?;
        }
        Ok(())
    }

    fn run(&self, task: HostTask<'_, '_>, mut totals: Option<&mut [Constant]>) -> Result<usize, Error> {
        let HostTask { call, settings, carry, inputs, outputs, len } = task;
        let bases = || inputs.iter().map(|column| column.base);
        let spacings = Spacings::of(&self.variants.program, inputs, outputs.as_deref());
        let is_short = spacings.is_none() && matches!(call.shape, Shape::Line) && !call.reversed && !settings.checked;
        if is_short
            && let Some(written) = self.short((call, settings), carry, bases(), (outputs.as_deref(), len), &mut totals)
        {
            return Ok(written);
        }
        let engine = Engine { variants: &self.variants, threads: self.threads, settings };
        let spacings = spacings.as_ref();
        let task = |outputs, purpose| Task { call, carry, inputs: bases().collect(), outputs, spacings, len, purpose };
        let Some(outputs) = outputs else {
            return engine.run(&task(Bases::new(), Purpose::Reduce), totals).map(|_| 0);
        };
        let capacities = outputs.iter().map(|column| column.len).enumerate();
        let least = capacities.min_by_key(|&(_, capacity)| capacity);
        if let Some((column, got)) = least.filter(|(_, capacity)| *capacity < len) {
            let expected = engine.run(&task(Bases::new(), Purpose::Count), None)?;
            if expected > got {
                return Err(Error::OutputTooShort { column, expected, got });
            }
        }
        let outputs = outputs.iter_mut().map(|column| column.base).collect();
        engine.run(&task(outputs, Purpose::Write), totals)
    }

    fn explain(&self, is_verbose: bool) -> String {
        let plan = &self.variants.get(Form::default(), false).plan;
        if is_verbose { format!("{plan:#}") } else { plan.to_string() }
    }

    fn block(&self) -> usize {
        let plan = &self.variants.get(Form::default(), false).plan;
        plan.tile() / plan.interleave
    }
}

impl OnCpu {
    /// Does a line from given states, or reduces it, if it is short and there is a kernel for that. Gives how many records were
    /// written, if it did.
    fn short(
        &self,
        (call, settings): (&Call<'_>, Settings<'_>),
        carry: Option<&[Constant]>,
        inputs: impl Iterator<Item = *const u8>,
        (outputs, len): (Option<&[ColumnMut<'_>]>, usize),
        totals: &mut Option<&mut [Constant]>,
    ) -> Option<usize> {
        let Some(outputs) = outputs else {
            let totals = totals.as_deref_mut().filter(|_| carry.is_none())?;
            let short = self.variants.make_short_whole(Whole::Reduce).ok().flatten()?;
            let identities = self.variants.program.stages.iter().flat_map(|stage| &stage.identity);
            match call.init.states(totals.len()).next() {
                Some(init) => totals.copy_from_slice(init),
                None => totals.iter_mut().zip(identities).for_each(|(total, identity)| *total = *identity),
            }
            return self
                .pass((short, settings), inputs, (std::ptr::null_mut(), len), (totals, call.init == Init::Identity))
                .map(|_| 0);
        };
        let start = carry.or_else(|| call.init.states(self.variants.program.state_len()).next())?;
        if carry.is_some() && self.variants.reads_previous || outputs.iter().any(|output| output.len < len) {
            return None;
        }
        let output = outputs.first()?.base;
        let short = self.variants.make_short_whole(call.mode.into()).ok().flatten()?;
        let mut own: SmallVec<[Constant; 4]> = SmallVec::new();
        let states = match totals {
            Some(totals) => {
                totals.copy_from_slice(start);
                &mut **totals
            }
            None => {
                own.extend_from_slice(start);
                &mut own
            }
        };
        self.pass((short, settings), inputs, (output, len), (states, false))
    }

    /// Calls a kernel from `states`, which become those after the line.
    fn pass(
        &self,
        (short, settings): (&ShortWhole, Settings<'_>),
        inputs: impl Iterator<Item = *const u8>,
        (output, len): (*mut u8, usize),
        (states, are_identities): (&mut [Constant], bool),
    ) -> Option<usize> {
        let mut bases = [settings.parameters.as_ptr(); SHORT_INPUTS];
        bases.iter_mut().zip(inputs).for_each(|(to, base)| *to = base);
        let layout = self.variants.states();
        let mut memory: SmallVec<[u128; 8]> = SmallVec::from_elem(0, (layout.size as usize).div_ceil(16));
        let place = |field: &Field| field.offset as usize..field.offset as usize + field.ty.size();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        for (state, field) in states.iter().zip(&layout.fields) {
            bytes[place(field)].copy_from_slice(&state.bits().to_le_bytes()[..field.ty.size()]);
        }
        // SAFETY: the columns were checked, and programs with such a kernel have no more of them; the states have this layout.
        let written = unsafe { short.pass(bases, output, len, (bytes.as_mut_ptr(), are_identities)) };
        if written.is_some() {
            let fields = layout.fields.iter();
            states
                .iter_mut()
                .zip(fields)
                .for_each(|(to, field)| *to = Constant::from_bytes(field.ty, &bytes[place(field)]));
        }
        written
    }
}

//! A pass whose elements a function of Rust takes, which rustc compiled: the operator as its author
//! wrote it.
//!
//! A kernel that takes one element after the other calls it with the columns and the state before
//! them, in memory as the function has it, and takes over the state behind them. The function says
//! how many elements it took. What it left, where it would panic, the kernel's own loop takes. So
//! such a kernel is called like every other, and may be any of those that take elements in order:
//! what is wrapped around the elements stays generated code.

use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::facts::Body;
use monoscan_ir::{Layout, Source};

use super::abi::{SHORT_INPUTS, ShortWholeFn};
use super::element::Place;
use super::kernel::Loop;
use super::memory;
use super::rounds::Progress;

/// A function that takes elements in order, from the state in its last argument, which becomes the state behind those it took.
/// It gives how many it took. Its arguments are those of a kernel of short lines.
pub type NativeFn = ShortWholeFn;

/// Such a function, and how the state lies in memory: the components of the program's one stage, or of the loop that the program
/// was derived from.
#[derive(Clone, Debug)]
pub struct Native {
    /// The function.
    pub pass: NativeFn,
    /// The components of the state.
    pub state: Layout,
}

impl Native {
    /// Whether a body carries the whole state from element to element, in order, and looks at nothing else but records.
    pub(crate) fn fits(&self, body: &Body) -> bool {
        let (function, states) = (&body.mapping.function, body.state_len());
        let in_order = |(place, &(stage, component)): (usize, &(u32, u32))| stage == 0 && component as usize == place;
        (body.ends.is_some() || body.carried.iter().enumerate().all(in_order))
            && self.state.types().eq(function.params[..states].iter().copied())
            && body.mapping.reads[states..].iter().all(|source| matches!(source, Source::Record(_)))
    }
}

impl Loop<'_> {
    /// Elements by the function. Gives how many are left.
    pub(super) fn by_native(
        &self,
        b: &mut FunctionBuilder<'_>,
        native: &Native,
        left: Value,
        mut progress: Progress,
    ) -> (Value, Progress) {
        let place = progress.places[0].base;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, native.state.size.max(1), 4);
        let slot = b.create_sized_stack_slot(slot);
        let state = b.ins().stack_addr(types::I64, slot, 0);
        for (field, &value) in native.state.fields.iter().zip(&progress.states) {
            memory::store(b, field.ty, value, state, field.offset as i32);
        }
        let mut record = |base: Value, column: &Layout| {
            let bytes = b.ins().imul_imm_s(place, i64::from(column.size));
            b.ins().iadd(base, bytes)
        };
        let bases = self.data.bases();
        let output = record(bases.outputs[0], &self.kernel.outputs[0]);
        let inputs = self.kernel.inputs.iter().zip(bases.inputs);
        let inputs: Vec<Value> = inputs
            .map(|(column, base)| record(base.expect("a kernel with a function has all columns"), column))
            .collect();
        // What is behind the columns is not looked at.
        let inputs = (0..SHORT_INPUTS).map(|at| inputs.get(at).copied().unwrap_or(place));
        let arguments: Vec<Value> = [left, output].into_iter().chain(inputs).chain([state]).collect();

        let mut signature = Signature::new(b.func.signature.call_conv);
        signature.params = vec![AbiParam::new(types::I64); arguments.len()];
        signature.returns = vec![AbiParam::new(types::I64)];
        let signature = b.import_signature(signature);
        let address = (native.pass as *const u8).expose_provenance();
        let address = b.ins().iconst(types::I64, address as i64);
        let call = b.ins().call_indirect(signature, address, &arguments);
        let taken = b.inst_results(call)[0];

        let after = native.state.fields.iter();
        let flags = memory::data_flags();
        progress.states =
            after.map(|field| memory::load(b, flags, field.ty, field.ty.size(), state, field.offset as i32)).collect();
        progress.places = vec![Place::at(b.ins().iadd(place, taken))];
        (b.ins().isub(left, taken), progress)
    }
}

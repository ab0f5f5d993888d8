//! How kernels that run over elements are called: by `TileArgs` in memory, or by words in
//! registers. Each becomes the loop of `kernel`.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use monoscan_ir::Field;

use super::abi::{Access, TileArgs};
use super::element::Data;
use super::error::CodegenError;
use super::kernel::{Loop, TileKernel};
use super::lower::Env;
use super::memory;
use super::recipe::Kernel;
use super::simd::{self, LaneForm};

/// Writes a kernel into an empty function; with a form, some rows are worked on in its lanes.
pub(crate) fn write(
    (func, context): (&mut ir::Function, &mut FunctionBuilderContext),
    kind: Kernel,
    kernel: &TileKernel<'_>,
    form: Option<&LaneForm>,
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    // For what a kernel is not called with, and does not look at.
    let none = |b: &mut FunctionBuilder<'_>| b.ins().iconst(types::I64, 0);
    match kind {
        Kernel::Rows(len) => function(func, context, env, |b, [args]| {
            let all = Loop::new(b, kernel, args)?;
            let mut word = |offset: usize| b.ins().load(types::I64, memory::data_flags(), args, offset as i32);
            let pitch = word(std::mem::offset_of!(TileArgs, pitch));
            let rows = word(std::mem::offset_of!(TileArgs, blocks));
            all.write_rows(b, env, (rows, pitch), (len, form)).map(|()| None)
        }),
        Kernel::ShortRows(len) => {
            function(func, context, env, |b, [rows, output, first, second, third, fourth, pitch, row]| {
                let states = none(b);
                let columns = [row, output, first, second, third, fourth];
                let all = Loop { is_short: false, ..Loop::in_registers(b, kernel, columns, states) };
                all.write_rows(b, env, (rows, pitch), (len, form)).map(|()| None)
            })
        }
        Kernel::ShortBetween => {
            function(func, context, env, |b, [segments, output, first, second, third, fourth, offsets]| {
                let len = none(b);
                let columns = [len, output, first, second, third, fourth];
                let all = Loop::in_registers(b, kernel, columns, len);
                all.write_segments(b, env, segments, offsets).map(|()| None)
            })
        }
        Kernel::Short | Kernel::ShortWhole { .. } if kernel.access != Access::Line => {
            function(func, context, env, |b, [states, len, inputs, outputs, spacings, parameters]| {
                let data = Data::spaced(b, kernel, [len, inputs, outputs, spacings, parameters]);
                Loop::of_short(b, kernel, data, states).write(b, env).map(|_| None)
            })
        }
        Kernel::Short => function(func, context, env, |b, columns| {
            let states = none(b);
            Loop::in_registers(b, kernel, columns, states).write_counted(b, env).map(Some)
        }),
        Kernel::ShortWhole { .. } => {
            function(func, context, env, |b, [len, output, first, second, third, fourth, states]| {
                let columns = [len, output, first, second, third, fourth];
                Loop::in_registers(b, kernel, columns, states).write_counted(b, env).map(Some)
            })
        }
        _ => function(func, context, env, |b, [args]| {
            let all = Loop::new(b, kernel, args)?;
            match kernel.lanes {
                Some(_) if kernel.interleave > 1 => all.write_in_turn(b, env)?,
                _ => _ = all.write(b, env)?,
            }
            Ok(None)
        }),
    }
}

/// Writes the kernel of so many rows side by side in this form, or, by 0, of any number of vectors, which writes outputs or folds.
pub(crate) fn side_by_side(
    (func, context): (&mut ir::Function, &mut FunctionBuilderContext),
    kernel: &TileKernel<'_>,
    (form, rows, writes): (&LaneForm, usize, bool),
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    function(func, context, env, |b, [args]| {
        let all = Loop::new(b, kernel, args)?;
        let step = b.ins().load(types::I64, memory::data_flags(), args, std::mem::offset_of!(TileArgs, step) as i32);
        let down = simd::Down { place: all.places[0], step, len: all.len };
        let fields: Vec<Field> = kernel.carried.iter().map(|carried| carried.field).collect();
        let slots = simd::Slots { base: all.states, stride: kernel.state.stride, fields: &fields };
        let bases = all.data.bases();
        match rows {
            0 => {
                let mut word = |offset: usize| b.ins().load(types::I64, memory::data_flags(), args, offset as i32);
                let base = word(std::mem::offset_of!(TileArgs, sink));
                let memory = simd::Memory { base, vectors: word(std::mem::offset_of!(TileArgs, blocks)) };
                simd::many_side_by_side(b, (form, writes), &bases, &slots, (down, &memory))?;
            }
            rows => simd::side_by_side(b, (form, rows, writes), &bases, &slots, down)?,
        }
        Ok(None)
    })
}

/// Writes a function of so many words, which gives one or nothing.
pub(super) fn function<const ARGS: usize>(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    env: &Env<'_>,
    write: impl FnOnce(&mut FunctionBuilder<'_>, [ir::Value; ARGS]) -> Result<Option<ir::Value>, CodegenError>,
) -> Result<(), CodegenError> {
    func.signature.params.extend([AbiParam::new(types::I64); ARGS]);
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let args = std::array::from_fn(|place| b.block_params(entry)[place]);
    let result = write(&mut b, args)?;
    b.func.signature.returns.extend(result.map(|_| AbiParam::new(types::I64)));
    b.ins().return_(result.as_slice());
    b.seal_all_blocks();
    b.finalize(env.frontend);
    Ok(())
}

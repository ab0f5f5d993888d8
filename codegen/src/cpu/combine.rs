//! Kernels that put states together: `carry_update` takes a carry past a block, `combine` makes
//! totals.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use monoscan_ir::facts::{CarryUpdate, Range};

use super::abi::StateLayout;
use super::error::CodegenError;
use super::lower::{Env, lower_function};
use super::memory;

/// Writes (earlier, later, out) ↦ `*out = *earlier ⊕ *later` into an empty function, for these stages and the components that
/// each of them has. `ranges` are those of the components, stage by stage.
pub(crate) fn combine(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    stages: &[(u32, CarryUpdate)],
    state: &StateLayout,
    ranges: &[Vec<Range>],
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    func.signature.params.extend([AbiParam::new(types::I64); 3]);
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [earlier, later, out] = [0, 1, 2].map(|place| b.block_params(entry)[place]);
    for (stage, update) in stages {
        let (part, layout) = &state.stages[*stage as usize];
        let ranges = &ranges[*stage as usize];
        let mut args = Vec::new();
        for slot in [earlier, later] {
            for field in &layout.fields {
                let offset = *part as i32 + field.offset as i32;
                args.push(memory::load(&mut b, memory::data_flags(), field.ty, field.ty.size(), slot, offset));
            }
        }
        let results = lower_function(&mut b, &update.function, &args, &ranges.repeat(2), env)?;
        for (&component, value) in update.components.iter().zip(results) {
            let field = layout.fields[component as usize];
            memory::store(&mut b, field.ty, value, out, *part as i32 + field.offset as i32);
        }
    }
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(env.frontend);
    Ok(())
}

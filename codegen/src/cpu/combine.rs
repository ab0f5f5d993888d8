//! Kernels that put states together: `carry_update` takes a carry past a block, `combine` makes
//! totals.

use cranelift_codegen::ir;
use cranelift_frontend::FunctionBuilderContext;
use monoscan_ir::facts::{CarryUpdate, Range};

use super::abi::StateLayout;
use super::entries::function;
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
    function(func, context, env, |b, [earlier, later, out]| {
        for (stage, update) in stages {
            let (part, layout) = &state.stages[*stage as usize];
            let ranges = &ranges[*stage as usize];
            let mut args = Vec::new();
            for slot in [earlier, later] {
                for field in &layout.fields {
                    let offset = *part as i32 + field.offset as i32;
                    args.push(memory::load(b, memory::data_flags(), field.ty, field.ty.size(), slot, offset));
                }
            }
            let results = lower_function(b, &update.function, &args, &ranges.repeat(2), env)?;
            for (&component, value) in update.components.iter().zip(results) {
                let field = layout.fields[component as usize];
                memory::store(b, field.ty, value, out, *part as i32 + field.offset as i32);
            }
        }
        Ok(None)
    })
}

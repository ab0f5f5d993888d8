//! The machine code of one kernel, in a module of its own, so that kernels are compiled one by one.
//!
//! A `JITModule` leaks by design when it is dropped, since it cannot know who still holds its
//! functions. [`Code`] is the one holder, and frees it.

use std::mem::ManuallyDrop;

use cranelift_codegen::ir::Function;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module;

use super::error::CodegenError;
use super::helpers;
use super::isa::HostIsa;

/// The code of a kernel.
pub(crate) struct Code {
    pub(crate) address: *const u8,
    /// Owns what is at the address; freed in `drop`, not touched before.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after construction nothing but `drop` touches the module, whose parts (mapped memory, an ISA behind `Arc`,
// tables of pointers into both) are bound to no thread. Generated code writes only where its arguments point, and the
// tables it reads are never written.
unsafe impl Send for Code {}
// SAFETY: as above; through a shared reference only the address is read.
unsafe impl Sync for Code {}

impl Code {
    /// The machine code of the function that `write` writes.
    pub(crate) fn new(
        isa: &HostIsa,
        write: impl FnOnce(&mut FunctionBuilderContext, &mut Function) -> Result<(), CodegenError>,
    ) -> Result<Code, CodegenError> {
        let mut builder = JITBuilder::with_isa(isa.isa.clone(), Box::new(helpers::name));
        helpers::bind(&mut builder);
        // From here on the module is freed by `drop`, also if something fails.
        let module = ManuallyDrop::new(JITModule::new(builder));
        let mut code = Code { address: std::ptr::null(), module };
        let module = &mut *code.module;
        let mut context = module.make_context();
        write(&mut FunctionBuilderContext::new(), &mut context.func)?;
        let id = module.declare_anonymous_function(&context.func.signature)?;
        module.define_function(id, &mut context)?;
        module.finalize_definitions()?;
        code.address = module.get_finalized_function(id);
        Ok(code)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Its function runs only through methods that borrow the `Compiled` that owns
        // this, so it does not run now, and the address goes with it.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

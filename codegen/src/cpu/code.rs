//! The machine code of one kernel, in memory of its own, so that kernels are compiled and freed one
//! by one.
//!
//! A kernel calls nothing but helpers, whose addresses are written into it, and reads no other data
//! of Cranelift's; so nothing else is linked.

use std::sync::OnceLock;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use memmap2::{Mmap, MmapMut};

use super::error::CodegenError;
use super::helpers;
use super::isa::HostIsa;
use super::streaming;

/// The code of a kernel.
pub(crate) struct Code {
    memory: Mmap,
    /// Where the instructions begin that store vectors of results.
    stores: Box<[usize]>,
    /// The same with streaming stores, once it was asked for; none if it has no such form.
    streaming: OnceLock<Option<Mmap>>,
}

impl Code {
    /// The machine code of the function that `write` writes.
    pub(crate) fn new(
        isa: &HostIsa,
        write: impl FnOnce(&mut FunctionBuilderContext, &mut Function) -> Result<(), CodegenError>,
    ) -> Result<Code, CodegenError> {
        let mut context = Context::new();
        context.func.signature.call_conv = isa.isa.default_call_conv();
        write(&mut FunctionBuilderContext::new(), &mut context.func)?;
        let refused = |why: &dyn ToString| CodegenError::Cranelift { message: why.to_string() };
        if cfg!(debug_assertions) {
            context.verify(&*isa.isa).map_err(|errors| refused(&errors))?;
        }
        let compiled =
            context.compile(&*isa.isa, &mut ControlPlane::default()).map_err(|error| refused(&error.inner))?;
        let code = compiled.code_buffer();
        let mut memory = MmapMut::map_anon(code.len())?;
        memory.copy_from_slice(code);
        for relocation in compiled.buffer.relocs() {
            let address = helper(relocation)?;
            let place = relocation.offset as usize;
            memory[place..place + address.len()].copy_from_slice(&address);
        }
        let stores = streaming::marked(compiled).collect();
        Ok(Code { memory: executable(memory)?, stores, streaming: OnceLock::new() })
    }

    /// Where the code begins. It may be called as long as this lives.
    #[inline]
    pub(crate) fn address(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// Where its [streaming](super::streaming) form begins, if it has one.
    pub(crate) fn streaming(&self) -> Option<*const u8> {
        let form = || {
            let code = streaming::streaming(&self.memory, &self.stores)?;
            // A form that nobody needs: without memory for it there is none.
            let mut memory = MmapMut::map_anon(code.len()).ok()?;
            memory.copy_from_slice(&code);
            executable(memory).ok()
        };
        self.streaming.get_or_init(form).as_ref().map(|memory| memory.as_ptr())
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.len()
    }
}

/// The address that a relocation asks for.
fn helper(relocation: &FinalizedMachReloc) -> Result<[u8; 8], CodegenError> {
    let address = match (relocation.kind, &relocation.target, relocation.addend) {
        (Reloc::Abs8, FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)), 0) => helpers::address(*call),
        _ => None,
    };
    let address = address.ok_or_else(|| CodegenError::Unresolved { relocation: format!("{relocation:?}") })?;
    Ok((address.expose_provenance() as u64).to_ne_bytes())
}

fn executable(memory: MmapMut) -> Result<Mmap, CodegenError> {
    let memory = memory.make_exec()?;
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the memory is mapped and holds code that no thread runs yet; the pipelines are flushed before any does.
        unsafe { wasmtime_internal_jit_icache_coherence::clear_cache(memory.as_ptr().cast(), memory.len())? };
        wasmtime_internal_jit_icache_coherence::pipeline_flush_mt()?;
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::{InstBuilder, types};
    use cranelift_frontend::FunctionBuilder;

    use super::*;

    #[test]
    fn a_malformed_function_is_refused_and_what_is_wrong_is_named() {
        let isa = HostIsa::native().expect("tests run where code is generated");
        let write = |context: &mut FunctionBuilderContext, function: &mut Function| {
            let mut b = FunctionBuilder::new(function, context);
            let block = b.create_block();
            b.switch_to_block(block);
            b.seal_block(block);
            let (narrow, wide) = (b.ins().iconst(types::I32, 1), b.ins().iconst(types::I64, 1));
            b.ins().iadd(narrow, wide);
            b.ins().return_(&[]);
            b.finalize(isa.isa.frontend_config());
            Ok(())
        };
        let Err(error) = Code::new(&isa, write) else { panic!("it is accepted") };
        assert!(matches!(&error, CodegenError::Cranelift { message } if message.contains("iadd")), "{error}");
    }
}

//! Machine code of a kernel, made by LLVM for the processor that this runs on.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};

use crate::error::CompileError;
use crate::fiber::Entry;
use crate::region::Region;
use crate::rewrite::{self, list_constants, rewrite};
use crate::site::Site;

/// Where callbacks go.
pub(crate) struct Callbacks {
    pub(crate) intrinsic: extern "C" fn(u32, u64, u64, u64, u64, u64) -> Pair,
    pub(crate) pure: extern "C" fn(u32, u32, u64, u64, u64) -> u64,
    pub(crate) access: extern "C" fn(u32, u64),
}

/// The result of the callback of intrinsics: LLVM's `{ i64, i64 }`, which comes in the same two registers as this.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Pair {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Code that can be called as long as this lives.
pub(crate) struct Code {
    engine: ManuallyDrop<ExecutionEngine<'static>>,
    /// Owned: what the engine borrows from.
    context: *mut Context,
    entry: Entry,
    sites: Vec<Site>,
    /// Addresses and lengths.
    constants: Vec<(u64, usize)>,
}

// SAFETY: after it is made, the engine is only dropped, which needs one thread but not always the same; this is the only handle to
// it and to its context. Calling the code touches neither.
unsafe impl Send for Code {}
// SAFETY: as above; a shared `Code` gives away only its entry and its sites.
unsafe impl Sync for Code {}

impl Code {
    /// Compiles the kernel of this name.
    pub(crate) fn new(text: &str, name: &str, callbacks: &Callbacks) -> Result<Code, CompileError> {
        let context = Box::into_raw(Box::new(Context::create()));
        // SAFETY: it was just made, and is freed below or in `drop`, after all that borrows from it.
        match compile(unsafe { &*context }, text, name, callbacks) {
            Ok((engine, entry, sites, constants)) => {
                Ok(Code { engine: ManuallyDrop::new(engine), context, entry, sites, constants })
            }
            Err(error) => {
                // SAFETY: `compile` has dropped all it made of the context, and the error is plain text.
                drop(unsafe { Box::from_raw(context) });
                Err(error)
            }
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    /// The constants of the kernel, which must not be used longer than this.
    pub(crate) fn constants(&self) -> impl Iterator<Item = Region> {
        self.constants.iter().map(|&(address, len)| {
            let address =
                NonNull::new(ptr::with_exposed_provenance_mut(address as usize)).expect("constants have addresses");
            // SAFETY: LLVM has put a constant of this length there, which nobody may write: a launch asks
            // `Device::claim` before anything is written. The machine of a launch keeps this alive longer than its regions.
            unsafe { Region::borrowed(address, len) }
        })
    }

    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: nothing uses the engine after this; the context goes after it.
        unsafe {
            ManuallyDrop::drop(&mut self.engine);
            drop(Box::from_raw(self.context));
        }
    }
}

type Compiled<'c> = (ExecutionEngine<'c>, Entry, Vec<Site>, Vec<(u64, usize)>);

fn compile<'c>(
    context: &'c Context,
    text: &str,
    name: &str,
    callbacks: &Callbacks,
) -> Result<Compiled<'c>, CompileError> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let module = context.create_module_from_ir(buffer).map_err(|error| CompileError::Parse(error.to_string()))?;
    let kernel = module
        .get_function(name)
        .filter(|function| function.count_basic_blocks() > 0)
        .ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
    let expected = context.void_type().fn_type(&[context.ptr_type(Default::default()).into()], false);
    if kernel.get_type() != expected {
        return Err(CompileError::Entry { name: name.to_owned(), found: kernel.get_type().to_string() });
    }

    let invalid = |error: &dyn ToString| CompileError::Invalid(error.to_string());
    let machine = host()?;
    let layout = machine.get_target_data();
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&layout.get_data_layout());
    module.verify().map_err(|error| invalid(&error))?;
    let sites = rewrite(context, &module, &layout)?;
    let lengths = list_constants(context, &module, &layout)?;
    module.verify().map_err(|error| invalid(&error))?;
    // The engine makes code for any processor of the family, unless a function says otherwise.
    let (cpu, features) = (machine.get_cpu(), machine.get_feature_string());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        for (key, value) in [("target-cpu", cpu.to_string_lossy()), ("target-features", features.to_string_lossy())] {
            function.add_attribute(AttributeLoc::Function, context.create_string_attribute(key, &value));
        }
    }
    // A kernel runs for less time than it takes to compile. So it is made small, with what costs little, and no more.
    module
        .run_passes("function(sroa,early-cse,simplifycfg),globaldce", &machine, PassBuilderOptions::create())
        .map_err(|error| invalid(&error))?;

    let addresses = [
        (rewrite::INTRINSIC, callbacks.intrinsic as usize),
        (rewrite::PURE, callbacks.pure as usize),
        (rewrite::ACCESS, callbacks.access as usize),
    ];
    // The optimiser drops callbacks that the kernel has no use for.
    let used: Vec<_> = addresses.map(|(name, address)| (module.get_function(name), address)).into();
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).map_err(|error| invalid(&error))?;
    for (function, address) in used {
        if let Some(function) = function {
            engine.add_global_mapping(&function, address);
        }
    }
    let address = engine.get_function_address(name).map_err(|error| invalid(&error))?;
    // SAFETY: LLVM made this code of a function that was checked to be `void (ptr)`, in the C calling convention.
    let entry = unsafe { std::mem::transmute::<usize, Entry>(address) };
    let mut addresses = vec![0; lengths.len()];
    // SAFETY: LLVM made this code of a function that `list_constants` wrote, which stores an address for each of the lengths.
    unsafe {
        let list = engine.get_function::<unsafe extern "C" fn(*mut u64)>(rewrite::CONSTANTS);
        list.map_err(|error| invalid(&error))?.call(addresses.as_mut_ptr());
    }
    Ok((engine, entry, sites, addresses.into_iter().zip(lengths).collect()))
}

/// LLVM's description of this processor.
fn host() -> Result<TargetMachine, CompileError> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| Target::initialize_x86(&InitializationConfig::default()));
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|error| CompileError::Invalid(error.to_string()))?;
    let cpu = TargetMachine::get_host_cpu_name();
    // With AVX-512 DQ, LLVM 22 makes NaN of `maximumnum(maximumnum(a, -inf), NaN)`.
    let features = format!("{},-avx512dq", TargetMachine::get_host_cpu_features().to_string_lossy());
    target
        .create_target_machine(
            &triple,
            &cpu.to_string_lossy(),
            &features,
            OptimizationLevel::None,
            RelocMode::Default,
            CodeModel::JITDefault,
        )
        .ok_or_else(|| CompileError::Invalid("LLVM knows no such processor".to_owned()))
}

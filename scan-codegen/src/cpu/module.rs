//! A compiled program: the machine code, what keeps it alive, and the ways to call it.
//!
//! Generated code is freed when its [`Compiled`] is dropped. Text of it (`clif`, `asm`) is made on demand from what the
//! kernels were built from, so that compiling does not pay for it.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::{Context, ir};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module;
use scan_ir::facts::{self, Advance, Body, Facts, Range, fold_body, replay_body};
use scan_ir::{Function, Layout, Mode, Program, Source, Stage, Table, Verified};

use super::abi::{AdvanceFn, StateLayout, TileArgs, TileFn};
use super::error::CodegenError;
use super::helpers;
use super::interior::interior;
use super::isa::HostIsa;
use super::kernel::{self, TileKernel};
use super::lower::Env;
use super::tables::Tables;

/// The kernels of a program.
///
/// ```
/// use scan_codegen::cpu::{Compiled, TileArgs};
/// use scan_ir::{facts::Facts, Mode};
/// # let program = doc_program();
/// # fn doc_program() -> scan_ir::Verified<scan_ir::Program> {
/// #     use scan_ir::*;
/// #     let mut b = FunctionBuilder::new();
/// #     let (x, y) = (b.param(Type::I32), b.param(Type::I32));
/// #     let sum = b.binary(Opcode::Add, x, y);
/// #     let combine = b.finish(&[sum]);
/// #     let mut b = FunctionBuilder::new();
/// #     let x = b.param(Type::I32);
/// #     let same = b.finish(&[x]);
/// #     let lift = Mapping { reads: vec![Source::Record(0)], function: same.clone() };
/// #     let project = Mapping { reads: vec![Source::State(0)], function: same };
/// #     let identity = vec![Constant::from(0i32)];
/// #     let stage = Stage { state: vec![Type::I32], identity, lift, combine, valid: None };
/// #     let output = Output { keep: None, project, columns: vec![Layout::of(Type::I32)] };
/// #     let (inputs, stages) = (vec![Layout::of(Type::I32)], vec![stage]);
/// #     verify(Program { name: "sum".into(), tables: vec![], inputs, stages, output }).unwrap()
/// # }
/// // `program` sums a column of i32.
/// let sum = Compiled::new(&program, &Facts::of(&program), Mode::Inclusive, 1)?;
/// let (x, mut y, mut carry) = ([1, 2, 3, 4], [0i32; 4], [10u128]);
/// let args = TileArgs {
///     inputs: &x.as_ptr().cast(),
///     outputs: &y.as_mut_ptr().cast(),
///     start: 0,
///     len: 4,
///     total: 4,
///     states: carry.as_mut_ptr().cast(),
/// };
/// // SAFETY: the columns have four elements of the program's types, and there is one slot.
/// unsafe { sum.scan(&args) };
/// assert_eq!(y, [11, 13, 16, 20]);
/// # Ok::<(), scan_codegen::cpu::CodegenError>(())
/// ```
pub struct Compiled {
    scan: TileFn,
    scan_one: TileFn,
    reduce: TileFn,
    advance: AdvanceFn,
    recipe: Recipe,
    /// Owns the code that the functions above are; freed in `drop`, not touched before.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after construction nothing but `drop` touches the module, whose parts (mapped memory, an ISA behind `Arc`,
// tables of pointers into both) are bound to no thread. Generated code writes only where its arguments point, and the
// tables it reads are never written.
unsafe impl Send for Compiled {}
// SAFETY: as above; through a shared reference only the function pointers and the recipe are read.
unsafe impl Sync for Compiled {}

impl Compiled {
    /// Compiles the kernels of a program for this machine; W = `ways`. Takes about a millisecond for an ordinary
    /// program and grows with its instructions times `ways`.
    ///
    /// # Errors
    /// If the program has more than one stage or emits, if `ways` is not 1, 2, 4 or 8, if the facts are not this
    /// program's, or if code cannot be generated for the machine.
    pub fn new(program: &Verified<Program>, facts: &Facts, mode: Mode, ways: u32) -> Result<Compiled, CodegenError> {
        Compiled::for_isa(program, facts, mode, ways, &HostIsa::native()?)
    }

    /// The same for a machine that is described.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn for_isa(
        program: &Verified<Program>,
        facts: &Facts,
        mode: Mode,
        ways: u32,
        isa: &Arc<HostIsa>,
    ) -> Result<Compiled, CodegenError> {
        let recipe = Recipe::new(program, facts, mode, ways, isa)?;
        let mut builder = JITBuilder::with_isa(isa.isa.clone(), Box::new(helpers::name));
        helpers::bind(&mut builder);
        let mut module = Code(ManuallyDrop::new(JITModule::new(builder)));
        let [scan, scan_one, reduce, advance] = recipe.compile(&mut module.0)?;
        // SAFETY: `compile` defined these functions with the signatures that `abi` declares, and the module keeps their
        // code until it is freed in `drop`.
        let functions = unsafe {
            (
                std::mem::transmute::<*const u8, TileFn>(scan),
                std::mem::transmute::<*const u8, TileFn>(scan_one),
                std::mem::transmute::<*const u8, TileFn>(reduce),
                std::mem::transmute::<*const u8, AdvanceFn>(advance),
            )
        };
        let (scan, scan_one, reduce, advance) = functions;
        Ok(Compiled { scan, scan_one, reduce, advance, recipe, module: module.keep() })
    }

    /// W, how many blocks `scan` and `reduce` interleave.
    pub fn ways(&self) -> u32 {
        self.recipe.ways
    }

    /// How states lie in slots.
    pub fn state_layout(&self) -> &StateLayout {
        &self.recipe.state
    }

    /// Bytes from one slot to the next.
    pub fn state_stride(&self) -> usize {
        self.recipe.state.stride
    }

    /// Writes the outputs of W blocks; slot w holds the carry into block w and then the live part of the state after it.
    ///
    /// # Safety
    /// `inputs` and `outputs` point to the addresses of columns of the program's layouts with records for the elements
    /// of all blocks (with `Next`, all `total` records); columns overlap only as [`abi`](super::abi) allows and no one
    /// else writes these records or reads the outputs' meanwhile. `states` points to W slots, whose live components
    /// lie in the ranges that the facts give, which are this program's: table look-ups are not clamped again.
    pub unsafe fn scan(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.scan)(args) }
    }

    /// As [`Compiled::scan`] with one block and one slot, whatever W.
    ///
    /// # Safety
    /// As [`Compiled::scan`], with W = 1.
    pub unsafe fn scan_one(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.scan_one)(args) }
    }

    /// Leaves the aggregate of block w in slot w, in the components that are not length-only.
    ///
    /// # Safety
    /// As [`Compiled::scan`], without outputs; slots are only written.
    pub unsafe fn reduce(&self, args: &TileArgs) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.reduce)(args) }
    }

    /// `*out = *carry ⊕ *aggregate` in the components that a carry needs ([`facts::advance`]); the others of `out` stay
    /// as they are, and those of `carry` are not looked at.
    ///
    /// # Safety
    /// All three point to slots, `carry` holding these components and `aggregate` all, in the ranges that the facts give;
    /// `out` may be one of the others.
    pub unsafe fn advance(&self, carry: *const u8, aggregate: *const u8, out: *mut u8) {
        // SAFETY: the caller's promise is what the kernel needs.
        unsafe { (self.advance)(carry, aggregate, out) }
    }

    /// The kernels as Cranelift IR, before optimisation.
    pub fn clif(&self) -> String {
        self.recipe.text(|_, context| Ok(context.func.display().to_string()))
    }

    /// The kernels as assembly. Compiles them anew.
    pub fn asm(&self) -> String {
        self.recipe.text(|isa, context| {
            context.set_disasm(true);
            let code = context.compile(&*isa.isa, &mut ControlPlane::default()).map_err(|error| error.inner)?;
            Ok(code.vcode.clone().unwrap_or_default())
        })
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Its functions run only through methods that borrow `self`, so none
        // runs now, and the pointers to them go with `self`.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").field("ways", &self.recipe.ways).field("state", &self.recipe.state).finish()
    }
}

/// A module under construction, freed if that fails: left alone, a `JITModule` keeps its memory for ever.
struct Code(ManuallyDrop<JITModule>);

impl Code {
    fn keep(mut self) -> ManuallyDrop<JITModule> {
        // SAFETY: the module is taken once: `self` is forgotten at once.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        std::mem::forget(self);
        ManuallyDrop::new(module)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, and no pointer into it was given out.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}

/// All that kernels are built from.
struct Recipe {
    isa: Arc<HostIsa>,
    tables: Vec<Table>,
    placed: Tables,
    inputs: Vec<Layout>,
    outputs: Vec<Layout>,
    stage: Stage,
    ranges: Vec<Range>,
    fold: Body,
    replay: Body,
    advance: Advance,
    state: StateLayout,
    ways: u32,
}

/// The kernels, in the order in which they are compiled.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Scan,
    ScanOne,
    Reduce,
    Advance,
}

impl Kernel {
    const ALL: [Kernel; 4] = [Kernel::Scan, Kernel::ScanOne, Kernel::Reduce, Kernel::Advance];

    fn name(self) -> &'static str {
        match self {
            Kernel::Scan => "scan",
            Kernel::ScanOne => "scan_one",
            Kernel::Reduce => "reduce",
            Kernel::Advance => "advance",
        }
    }
}

impl Recipe {
    fn new(
        program: &Verified<Program>,
        facts: &Facts,
        mode: Mode,
        ways: u32,
        isa: &Arc<HostIsa>,
    ) -> Result<Recipe, CodegenError> {
        if !matches!(ways, 1 | 2 | 4 | 8) {
            return Err(CodegenError::Ways(ways));
        }
        let [stage] = program.stages.as_slice() else {
            return Err(CodegenError::Unsupported("programs of several stages"));
        };
        if program.output.keep.is_some() {
            return Err(CodegenError::Unsupported("programs that emit"));
        }
        let [known] = facts.stages.as_slice() else { return Err(CodegenError::Facts) };
        if known.ranges.len() != stage.state.len() || known.length_only.len() != stage.state.len() {
            return Err(CodegenError::Facts);
        }
        let replay = replay_body(program, facts, mode);
        Ok(Recipe {
            isa: isa.clone(),
            tables: program.tables.clone(),
            placed: Tables::new(&program.tables),
            inputs: program.inputs.clone(),
            outputs: program.output.columns.clone(),
            stage: stage.clone(),
            ranges: known.ranges.clone(),
            fold: fold_body(program, facts),
            advance: facts::advance(program, &replay, 0),
            replay,
            state: StateLayout::of(&stage.state),
            ways,
        })
    }

    fn env(&self) -> Env<'_> {
        Env {
            tables: &self.tables,
            placed: &self.placed,
            x86: self.isa.x86,
            pshufb: self.isa.pshufb,
            frontend: self.isa.isa.frontend_config(),
        }
    }

    /// The range of each parameter of a body.
    fn param_ranges(&self, body: &Body) -> Vec<Range> {
        let Function { params, .. } = &body.mapping.function;
        let reads = body.mapping.reads.iter().zip(params);
        let range = |(source, &ty): (&Source, &scan_ir::Type)| match *source {
            Source::Before { component, .. } => self.ranges.get(component as usize).copied().unwrap_or(Range::full(ty)),
            _ => Range::full(ty),
        };
        reads.map(range).collect()
    }

    /// Writes the Cranelift IR of a kernel.
    fn write(
        &self,
        kernel: Kernel,
        context: &mut FunctionBuilderContext,
        func: &mut ir::Function,
    ) -> Result<(), CodegenError> {
        let (body, ways) = match kernel {
            Kernel::Scan => (&self.replay, self.ways),
            Kernel::ScanOne => (&self.replay, 1),
            Kernel::Reduce => (&self.fold, self.ways),
            Kernel::Advance => {
                let ranges = [self.ranges.as_slice(), &self.ranges].concat();
                return kernel::advance(func, context, &self.advance, &self.state, &ranges, &self.env());
            }
        };
        let reduces = matches!(kernel, Kernel::Reduce);
        let ranges = self.param_ranges(body);
        let interior = interior(body, &ranges, &self.tables);
        let kernel = TileKernel {
            body,
            interior: interior.as_ref(),
            identity: reduces.then_some(self.stage.identity.as_slice()),
            inputs: &self.inputs,
            outputs: if reduces { &[] } else { &self.outputs },
            state: &self.state,
            ranges: &ranges,
            ways,
        };
        kernel::tile(func, context, &kernel, &self.env())
    }

    /// Defines all kernels in the module and gives their addresses.
    fn compile(&self, module: &mut JITModule) -> Result<[*const u8; 4], CodegenError> {
        let mut builder_context = FunctionBuilderContext::new();
        let mut context = module.make_context();
        let mut ids = Vec::new();
        for kernel in Kernel::ALL {
            if self.ways == 1 && matches!(kernel, Kernel::ScanOne) {
                // `scan` is just that.
                ids.push(ids[0]);
                continue;
            }
            self.write(kernel, &mut builder_context, &mut context.func)?;
            let id = module.declare_anonymous_function(&context.func.signature)?;
            module.define_function(id, &mut context)?;
            module.clear_context(&mut context);
            ids.push(id);
        }
        module.finalize_definitions()?;
        Ok([0, 1, 2, 3].map(|place| module.get_finalized_function(ids[place])))
    }

    /// What `show` makes of each kernel, under its name.
    fn text(&self, show: impl Fn(&HostIsa, &mut Context) -> Result<String, cranelift_codegen::CodegenError>) -> String {
        let mut all = String::new();
        for kernel in Kernel::ALL {
            let mut context = Context::new();
            context.func.signature.call_conv = self.isa.isa.default_call_conv();
            let written = self.write(kernel, &mut FunctionBuilderContext::new(), &mut context.func);
            let text = match written {
                Ok(()) => show(&self.isa, &mut context).unwrap_or_else(|error| error.to_string()),
                Err(error) => error.to_string(),
            };
            all += &format!("; {}\n{}\n", kernel.name(), text.trim_end());
        }
        all
    }
}

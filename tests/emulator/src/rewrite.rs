//! Rewrites a kernel so that the emulator hears of all it does.
//!
//! Each call of an intrinsic becomes a call of one function, `@emulator.intrinsic(site,
//! arguments…)`, and before each ordinary access to shared or device memory stands
//! `@emulator.access(site, address)`. A site is a number by which the emulator finds what the
//! instruction was. This happens before the optimiser runs, so whatever it moves or duplicates
//! keeps its site.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{
    AnyValue, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
    PointerValue,
};
use inkwell::{AddressSpace, AtomicOrdering};

use crate::error::CompileError;
use crate::intrinsic::Intrinsic;
use crate::site::{Access, Kind, Site, Space};

/// The name of the callback of intrinsics.
pub(crate) const INTRINSIC: &str = "emulator.intrinsic";
/// The name of the callback of intrinsics that only compute.
pub(crate) const PURE: &str = "emulator.pure";
/// The name of the callback of ordinary accesses.
pub(crate) const ACCESS: &str = "emulator.access";

/// The name of the function that tells where constants are.
pub(crate) const CONSTANTS: &str = "emulator.constants";

/// Arguments that the callback of intrinsics takes beside the site: as many as the widest intrinsic has.
const ARGUMENTS: usize = 5;
/// The same for intrinsics that only compute.
const PURE_ARGUMENTS: usize = 3;

/// The shape of the intrinsics.
const CONTRACT: &str = include_str!("../../../codegen/src/nvptx/emit/intrinsics.ll");

/// Gives every instruction that matters its callback, and lists them.
pub(crate) fn rewrite<'c>(
    context: &'c Context,
    module: &Module<'c>,
    layout: &TargetData,
) -> Result<Vec<Site>, CompileError> {
    check_signatures(context, module)?;
    let (i32, i64) = (context.i32_type(), context.i64_type());
    let pair = context.struct_type(&[i64.into(), i64.into()], false);
    let parameters: Vec<_> = std::iter::once(i32.into()).chain([i64.into(); ARGUMENTS]).collect();
    let pure_parameters: Vec<_> = [i32.into(); 2].into_iter().chain([i64.into(); PURE_ARGUMENTS]).collect();
    let linkage = Some(Linkage::External);
    let pure = module.add_function(PURE, i64.fn_type(&pure_parameters, false), linkage);
    let memory_none = context.create_enum_attribute(Attribute::get_named_enum_kind_id("memory"), 0);
    pure.add_attribute(AttributeLoc::Function, memory_none);
    let mut rewriter = Rewriter {
        context,
        layout,
        builder: context.create_builder(),
        intrinsic: module.add_function(INTRINSIC, pair.fn_type(&parameters, false), linkage),
        pure,
        access: module.add_function(ACCESS, context.void_type().fn_type(&[i32.into(), i64.into()], false), linkage),
        sites: Vec::new(),
    };
    for function in module.get_functions() {
        // Rewriting replaces instructions, so the list is made first.
        let instructions: Vec<_> =
            function.get_basic_blocks().into_iter().flat_map(|block| block.get_instructions()).collect();
        let printed = function.print_to_string().to_string();
        let texts: Vec<&str> = printed_instructions(&printed).collect();
        assert_eq!(
            texts.len(),
            instructions.len(),
            "an instruction begins where a line is indented by two:\n{printed}"
        );
        for (instruction, text) in instructions.into_iter().zip(texts) {
            rewriter.instruction(instruction, text)?;
        }
    }
    Ok(rewriter.sites)
}

/// The instructions of a function as LLVM printed it: lines that are indented by two blanks. Some go on in further lines.
///
/// To print one instruction LLVM numbers the values of its whole function, which would take longer than to compile it.
fn printed_instructions(function: &str) -> impl Iterator<Item = &str> {
    function.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', ']'])))
}

/// Intrinsics must have the types that the contract gives them.
fn check_signatures<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), CompileError> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(CONTRACT.as_bytes(), "intrinsics");
    let contract = context.create_module_from_ir(buffer).map_err(|error| CompileError::Parse(error.to_string()))?;
    for function in module.get_functions().filter(|function| function.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        match contract.get_function(&name).filter(|_| name.starts_with("scan.")) {
            Some(intrinsic) if intrinsic.get_type() == function.get_type() => {}
            Some(intrinsic) => {
                let (expected, found) = (intrinsic.get_type().to_string(), function.get_type().to_string());
                return Err(CompileError::Signature { name, expected, found });
            }
            None if name.starts_with("llvm.") => {}
            None => return Err(CompileError::UnknownFunction(name)),
        }
    }
    Ok(())
}

struct Rewriter<'c, 'a> {
    context: &'c Context,
    layout: &'a TargetData,
    builder: Builder<'c>,
    intrinsic: FunctionValue<'c>,
    pure: FunctionValue<'c>,
    access: FunctionValue<'c>,
    sites: Vec<Site>,
}

impl<'c> Rewriter<'c, '_> {
    fn instruction(&mut self, instruction: InstructionValue<'c>, text: &str) -> Result<(), CompileError> {
        let operand = |place: u32| instruction.get_operand(place).and_then(|operand| operand.value());
        match instruction.get_opcode() {
            InstructionOpcode::Load => {
                let ty = BasicTypeEnum::try_from(instruction.get_type()).expect("what is loaded is a value");
                let pointer = operand(0).expect("a load has an address").into_pointer_value();
                self.access(instruction, text, pointer, (ty, false))
            }
            InstructionOpcode::Store => {
                let ty = operand(0).expect("a store has a value").get_type();
                let pointer = operand(1).expect("a store has an address").into_pointer_value();
                self.access(instruction, text, pointer, (ty, true))
            }
            InstructionOpcode::Call => self.call(instruction, text),
            InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg | InstructionOpcode::Fence => {
                Err(refused(instruction, "atomic instructions are the intrinsics' business"))
            }
            _ => Ok(()),
        }
    }

    fn access(
        &mut self,
        instruction: InstructionValue<'c>,
        text: &str,
        pointer: PointerValue<'c>,
        (ty, write): (BasicTypeEnum<'c>, bool),
    ) -> Result<(), CompileError> {
        let atomic = instruction.get_atomic_ordering();
        if !matches!(atomic, Ok(AtomicOrdering::NotAtomic)) {
            return Err(refused(instruction, "atomic instructions are the intrinsics' business"));
        }
        if is_private(pointer) {
            return Ok(());
        }
        let space = match pointer.get_type().get_address_space() {
            space if space == AddressSpace::from(0) => Space::Generic,
            space if space == AddressSpace::from(1) => Space::Device,
            space if space == AddressSpace::from(3) => Space::Shared,
            _ => return Err(refused(instruction, "memory is generic, device (1) or shared (3)")),
        };
        let bytes = self.layout.get_store_size(&ty) as usize;
        let align = instruction.get_alignment().map_err(|error| refused(instruction, &error.to_string()))? as usize;
        let site = self.site(text, Kind::Access(Access { space, write, bytes, align }));
        self.builder.position_before(&instruction);
        let address = self.built(self.builder.build_ptr_to_int(pointer, self.context.i64_type(), ""))?;
        self.built(self.builder.build_call(self.access, &[site.into(), address.into()], ""))?;
        Ok(())
    }

    fn call(&mut self, instruction: InstructionValue<'c>, text: &str) -> Result<(), CompileError> {
        let call = CallSiteValue::try_from(instruction).expect("a call is a call");
        let Some(callee) = call.get_called_fn_value() else {
            return Err(refused(instruction, "only intrinsics may be machine code or unknown functions"));
        };
        let name = callee.get_name().to_string_lossy().into_owned();
        if name.starts_with("llvm.mem") {
            return Err(refused(instruction, "the emulator would not see what memory this touches"));
        }
        let Some(intrinsic) = Intrinsic::named(&name) else { return Ok(()) };
        let site = self.site(text, Kind::Intrinsic(intrinsic));
        self.builder.position_before(&instruction);
        let (callback, mut arguments, most) = match intrinsic.is_pure() {
            true => (
                self.pure,
                vec![site.into(), self.context.i32_type().const_int(intrinsic as u64, false).into()],
                PURE_ARGUMENTS,
            ),
            false => (self.intrinsic, vec![site.into()], ARGUMENTS),
        };
        let all = arguments.len() + most;
        for place in 0..call.count_arguments() {
            let value =
                instruction.get_operand(place).and_then(|operand| operand.value()).expect("arguments are values");
            arguments.push(self.widen(value)?.into());
        }
        arguments.resize(all, self.context.i64_type().const_zero().into());
        let both = self.built(self.builder.build_call(callback, &arguments, ""))?;
        let both = both.try_as_basic_value().unwrap_basic();
        self.answer(instruction, both)?;
        instruction.erase_from_basic_block();
        Ok(())
    }

    /// Any argument as 64 bits. The upper ones of an `i1` in a register would be anything, if it went as itself.
    fn widen(&self, value: BasicValueEnum<'c>) -> Result<IntValue<'c>, CompileError> {
        let i64 = self.context.i64_type();
        match value {
            BasicValueEnum::PointerValue(pointer) => self.built(self.builder.build_ptr_to_int(pointer, i64, "")),
            BasicValueEnum::FloatValue(float) => {
                let is_double = float.get_type() == self.context.f64_type();
                let ty = if is_double { i64 } else { self.context.i32_type() };
                let bits = self.built(self.builder.build_bit_cast(float, ty, ""))?;
                self.widen(bits)
            }
            value => self.built(self.builder.build_int_z_extend_or_bit_cast(value.into_int_value(), i64, "")),
        }
    }

    /// Puts what the callback gave in place of what the intrinsic gave.
    fn answer(&self, intrinsic: InstructionValue<'c>, both: BasicValueEnum<'c>) -> Result<(), CompileError> {
        let low = || match both {
            BasicValueEnum::IntValue(low) => Ok(low),
            both => self
                .built(self.builder.build_extract_value(both.into_struct_value(), 0, ""))
                .map(|low| low.into_int_value()),
        };
        let cut = |ty| self.built(self.builder.build_int_truncate_or_bit_cast(low()?, ty, ""));
        let new = match intrinsic.get_type() {
            AnyTypeEnum::VoidType(_) => return Ok(()),
            AnyTypeEnum::StructType(_) => both,
            AnyTypeEnum::PointerType(ty) => self.built(self.builder.build_int_to_ptr(low()?, ty, ""))?.into(),
            AnyTypeEnum::IntType(ty) => cut(ty)?.into(),
            AnyTypeEnum::FloatType(ty) => {
                self.built(self.builder.build_bit_cast(cut(self.context.i32_type())?, ty, ""))?
            }
            _ => return Err(refused(intrinsic, "an intrinsic gives integers, a float or an address")),
        };
        match new.as_instruction_value() {
            Some(new) => intrinsic.replace_all_uses_with(&new),
            None => return Err(refused(intrinsic, "its result was folded away")),
        }
        Ok(())
    }

    fn site(&mut self, text: &str, kind: Kind) -> IntValue<'c> {
        let number = self.sites.len() as u64;
        self.sites.push(Site { text: text.to_owned(), kind });
        self.context.i32_type().const_int(number, false)
    }

    fn built<T>(&self, result: Result<T, inkwell::builder::BuilderError>) -> Result<T, CompileError> {
        result.map_err(|error| CompileError::Invalid(error.to_string()))
    }
}

/// Whether the address is on the stack of the thread, as far as that is plain to see.
fn is_private(mut pointer: PointerValue<'_>) -> bool {
    while let Some(instruction) = pointer.as_instruction() {
        match instruction.get_opcode() {
            InstructionOpcode::Alloca => return true,
            InstructionOpcode::GetElementPtr | InstructionOpcode::AddrSpaceCast => {
                match instruction.get_operand(0).and_then(|operand| operand.value()) {
                    Some(BasicValueEnum::PointerValue(base)) => pointer = base,
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// Adds a function that stores the addresses of the module's constants, in order, and gives their lengths.
pub(crate) fn list_constants<'c>(
    context: &'c Context,
    module: &Module<'c>,
    layout: &TargetData,
) -> Result<Vec<usize>, CompileError> {
    let (i64, ptr) = (context.i64_type(), context.ptr_type(AddressSpace::default()));
    let function = module.add_function(CONSTANTS, context.void_type().fn_type(&[ptr.into()], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let to = function.get_first_param().expect("the parameter it was given").into_pointer_value();
    let built = |error: inkwell::builder::BuilderError| CompileError::Invalid(error.to_string());
    let mut lengths = Vec::new();
    for global in module.get_globals() {
        if !global.is_constant() {
            return Err(CompileError::Variable(global.get_name().to_string_lossy().into_owned()));
        }
        let offset = i64.const_int(8 * lengths.len() as u64, false);
        let address = builder.build_ptr_to_int(global.as_pointer_value(), i64, "").map_err(built)?;
        let start = builder.build_ptr_to_int(to, i64, "").map_err(built)?;
        let place = builder.build_int_add(start, offset, "").map_err(built)?;
        let place = builder.build_int_to_ptr(place, ptr, "").map_err(built)?;
        builder.build_store(place, address).map_err(built)?;
        lengths.push(layout.get_store_size(&global.get_value_type()) as usize);
    }
    builder.build_return(None).map_err(built)?;
    Ok(lengths)
}

fn refused(instruction: InstructionValue<'_>, why: &str) -> CompileError {
    CompileError::Refused { instruction: text(instruction), why: why.to_owned() }
}

fn text(instruction: InstructionValue<'_>) -> String {
    instruction.print_to_string().to_string().trim().to_owned()
}

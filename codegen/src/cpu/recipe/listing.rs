//! Kernels as text: Cranelift's IR and assembly, each under the kernel's name.

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_frontend::FunctionBuilderContext;

use super::{Kernel, Recipe};
use crate::cpu::isa::HostIsa;

impl Recipe {
    /// The kernels as Cranelift IR, before optimisation.
    pub(crate) fn clif(&self) -> String {
        self.text(|_, context| Ok(context.func.display().to_string()))
    }

    /// The kernels as assembly. Compiles them anew.
    pub(crate) fn asm(&self) -> String {
        self.text(|isa, context| {
            context.set_disasm(true);
            let code = context.compile(&*isa.isa, &mut ControlPlane::default()).map_err(|error| error.inner)?;
            Ok(code.vcode.clone().unwrap_or_default())
        })
    }

    /// The text that `show` makes of each kernel, under its name.
    fn text(&self, show: impl Fn(&HostIsa, &mut Context) -> Result<String, cranelift_codegen::CodegenError>) -> String {
        let mut all = String::new();
        for kernel in self.kernels() {
            let mut context = Context::new();
            context.func.signature.call_conv = self.isa.isa.default_call_conv();
            let written =
                self.write(kernel, self.native_of(kernel), &mut FunctionBuilderContext::new(), &mut context.func);
            let text = match written {
                Ok(()) => show(&self.isa, &mut context).unwrap_or_else(|error| error.to_string()),
                Err(error) => error.to_string(),
            };
            all += &format!("; {}\n{}\n", self.name(kernel), text.trim_end());
        }
        all
    }

    fn name(&self, kernel: Kernel) -> String {
        let at = |level: usize| if self.levels.len() == 1 { String::new() } else { format!(" of level {level}") };
        match kernel {
            Kernel::Scan => "scan".into(),
            Kernel::ScanOne => "scan_one".into(),
            Kernel::Reduce(level) => format!("reduce{}", at(level)),
            Kernel::ReduceOne(level) => format!("reduce_one{}", at(level)),
            Kernel::CarryUpdate(level) => format!("carry_update{}", at(level)),
            Kernel::Combine(level) => format!("combine{}", at(level)),
            Kernel::ScanBlocks => "scan_blocks".into(),
            Kernel::Together { writes: true } => "scan_together".into(),
            Kernel::Together { writes: false } => "reduce_together".into(),
            Kernel::Rows(0) => "rows".into(),
            Kernel::Rows(len) => format!("rows of {len}"),
            Kernel::ShortRows(0) => "short_rows".into(),
            Kernel::ShortRows(len) => format!("short_rows of {len}"),
            Kernel::ShortBetween => "short_between".into(),
            Kernel::Short => "short".into(),
            Kernel::SideBySide { rows, writes: true } => format!("{rows} side_by_side"),
            Kernel::SideBySide { rows, writes: false } => format!("{rows} side_by_side, folded"),
            Kernel::Whole { writes: true } => "scan_whole".into(),
            Kernel::Whole { writes: false } => "reduce_whole".into(),
            Kernel::ShortWhole { writes: true } => "short_scan_whole".into(),
            Kernel::ShortWhole { writes: false } => "short_reduce_whole".into(),
        }
    }
}

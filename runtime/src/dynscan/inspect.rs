//! Questions to a [`DynScan`]: its program, laws, plan, and text forms.

use monoscan_codegen::cpu::{Access, Compiled};
use monoscan_codegen::plan::Plan;
use monoscan_ir::laws::Judgement;
use monoscan_ir::{Program, Verified};

use super::{DynScan, Shared};
use crate::verdicts;

/// A form of the program on its way to machine code, as [`DynScan::emit`] shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Representation {
    /// The program in the text form of the IR.
    Ir,
    /// Cranelift's IR of the inclusive kernels.
    Clif,
    /// The machine code of the inclusive kernels, as Cranelift's assembly listing.
    Asm,
}

impl DynScan {
    /// The program.
    pub fn program(&self) -> &Verified<Program> {
        &self.shared.key.program
    }

    /// The verdicts on the laws of the first stage's operator.
    pub fn judgement(&self) -> &Judgement {
        &self.shared.judgements[0]
    }

    /// The verdicts on the laws of each stage's operator.
    pub fn judgements(&self) -> impl Iterator<Item = &Judgement> {
        self.shared.judgements.iter().map(|judgement| &**judgement)
    }

    /// The schedule that was chosen for an inclusive scan.
    pub fn plan(&self) -> &Plan {
        &self.shared.inclusive().plan
    }

    /// The verdict on the laws with its conditions; what will run, how fast it is expected to be on long lines and what bounds
    /// it, the bytes moved, and whether results are rounded.
    pub fn explain(&self) -> String {
        self.explain_with(false)
    }

    /// The same, and how it was chosen: the interleave factor, tiles, kernels and their cycles, work and depth.
    pub fn explain_verbose(&self) -> String {
        self.explain_with(true)
    }

    fn explain_with(&self, is_verbose: bool) -> String {
        let Shared { key, judgements, .. } = &*self.shared;
        let laws = verdicts::explain(&key.program, judgements, &key.terms, &self.component_names, &self.words);
        let plan = self.backend.explain(is_verbose);
        let derived = self.derivation().map_or_else(String::new, |derivation| {
            let verdict = verdicts::of_loop(derivation, judgements);
            format!("{}\n  is the loop: {verdict}\n", derivation.explain())
        });
        format!("{derived}program {}\n{laws}\n{plan}", key.program.name)
    }

    /// The program as text, in one of the representations it is compiled through.
    pub fn emit(&self, representation: Representation) -> String {
        let code = || self.shared.inclusive().kernels(Access::Line).map(|kernels| &kernels.code);
        match representation {
            Representation::Clif | Representation::Asm if !self.device.is_cpu() => {
                format!("none: the scan runs on {}", self.device)
            }
            Representation::Ir => self.program().to_string(),
            Representation::Clif => code().map_or_else(|error| error.to_string(), Compiled::clif),
            Representation::Asm => code().map_or_else(|error| error.to_string(), Compiled::asm),
        }
    }
}

//! The code of a fold in the numbers of the loop that a program was derived from.

use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Mapping};

use crate::nvptx::emit::{Builder, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::ElementCode;
use crate::nvptx::kernel::state::State;
use crate::nvptx::lower::{self, Code};

/// The code of an [`OwnFold`](monoscan_ir::facts::OwnFold).
pub(crate) struct OwnFold {
    initial: Vec<Constant>,
    step: ElementCode,
    later: ElementCode,
    leave: Code,
}

impl OwnFold {
    /// Of the only stage of a program, if that is less work than its step. Levels of a cascade wait for carries more than for their
    /// instructions: with folds of their own they were slower (measured).
    pub(super) fn of(program: &Lowered, step: &ElementCode) -> Option<OwnFold> {
        let own = program.own_fold(0).filter(|_| program.stages.len() == 1)?;
        let tables = &program.tables;
        let element = |mapping: &Mapping| ElementCode {
            reads: mapping.reads.clone(),
            code: Code::new(&mapping.function, &[], tables),
        };
        let later = element(&own.later);
        if later.code.words() >= step.code.words() {
            return None;
        }
        let leave = Code::new(&own.leave, &[], tables);
        Some(OwnFold { initial: own.initial, step: element(&own.step), later, leave })
    }

    /// The code for any element, and for one behind another.
    pub(super) fn steps(&self) -> [&ElementCode; 2] {
        [&self.step, &self.later]
    }

    /// The values that are carried before the first element.
    pub(crate) fn start<'k>(&self, k: &'k Builder) -> State<'k> {
        self.initial.iter().map(|&value| lower::constant(k, value)).collect()
    }

    /// The code for an element, behind another one at least if that is said.
    pub(crate) fn step(&self, is_later: bool) -> &ElementCode {
        if is_later { &self.later } else { &self.step }
    }

    /// The state of the stage that has been folded.
    pub(crate) fn leave<'k>(&self, args: KernelArguments<'k, '_>, values: &[Value<'k>]) -> State<'k> {
        self.leave.write(args.k, values, args.tables)
    }
}

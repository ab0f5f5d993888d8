//! Verdicts on operators, remembered: judging costs a millisecond or, of wide states, tens of them,
//! and programs are built again and again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use monoscan_ir::derive::{BLOCKS, Compared, Derivation};
use monoscan_ir::laws::{self, Judgement, Overflow, Words};
use monoscan_ir::{Program, Stage, Table};

use crate::error::Error;

/// More verdicts than this are not remembered at once.
const CAPACITY: usize = 256;

type Verdicts = HashMap<(Stage, Vec<Table>), Arc<Judgement>>;

static KNOWN: LazyLock<Mutex<Verdicts>> = LazyLock::new(Mutex::default);

/// The judgement of an operator, found now or earlier.
pub(crate) fn judge(stage: &Stage, tables: &[Table]) -> Arc<Judgement> {
    let key = (stage.clone(), tables.to_vec());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(judgement) = known().get(&key) {
        return Arc::clone(judgement);
    }
    let judgement = Arc::new(laws::judge(stage, tables, Overflow::NeverOccurs));
    let mut known = known();
    if known.len() >= CAPACITY {
        known.clear();
    }
    known.insert(key, Arc::clone(&judgement));
    judgement
}

/// Which operators are taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Terms {
    /// Whatever their laws.
    pub(crate) assume_associative: bool,
}

/// The judgements of all stages of a program, or why one is refused; `names` are those of the components in order.
pub(crate) fn judge_all(
    program: &Program,
    terms: &Terms,
    mut names: &[String],
    words: Words,
) -> Result<Vec<Arc<Judgement>>, Error> {
    let stages = program.stages.iter().enumerate().map(|(place, stage)| {
        let judgement = judge(stage, &program.tables);
        let (own, rest) = names.split_at(stage.state.len().min(names.len()));
        names = rest;
        if !judgement.verdict().is_accepted() && !terms.assume_associative {
            let (stages, judgement) = (program.stages.len(), Box::new((*judgement).clone()));
            return Err(Error::NotAMonoid { stage: place, stages, judgement, names: own.to_vec(), words });
        }
        Ok(judgement)
    });
    stages.collect()
}

/// How it is known that a derived scan is the loop: by the step, by the laws of all stages, and by how many records the step of
/// the user's language took to the same states.
pub(crate) fn of_loop(derivation: &Derivation, judgements: &[Arc<Judgement>]) -> String {
    let is_step_proved = derivation.is_step_proved();
    let are_laws_assumed = judgements.iter().any(|judgement| !judgement.verdict().is_accepted());
    let are_laws_proved = judgements.iter().all(|judgement| judgement.verdict().is_proved());
    let proved = match (is_step_proved, are_laws_proved) {
        (true, _) if are_laws_assumed => "the step is proved, laws are assumed",
        (false, _) if are_laws_assumed => "the step is tested, laws are assumed",
        (true, true) => "the step and the laws are proved",
        (true, false) => "the step is proved, the laws are tested",
        (false, true) => "the laws are proved, the step is tested",
        (false, false) => "the step and the laws are tested",
    };
    let conditions = derivation.conditions();
    let native = match derivation.native {
        None => String::new(),
        Some(Compared { native: 0, .. }) => {
            ", of its program: the function itself could not be run on samples".to_owned()
        }
        Some(Compared { records, native }) => {
            let of = if native == records { String::new() } else { format!(" of {records}") };
            let [blocks @ .., last] = BLOCKS.map(|block| block.to_string());
            let blocks = format!("{} and {last}", blocks.join(", "));
            format!("; the function itself agrees on {native}{of} records, in blocks of {blocks}")
        }
    };
    format!("{proved}{conditions}{native}")
}

/// The verdicts, what was assumed and under which conditions they hold, as `explain` says them; `names` are those of the
/// components of all stages in order.
pub(crate) fn explain(
    program: &Program,
    judgements: &[Arc<Judgement>],
    terms: &Terms,
    mut names: &[String],
    words: &Words,
) -> String {
    let assumed = if terms.assume_associative { " (associativity assumed)" } else { "" };
    let verdicts: Vec<String> = judgements.iter().map(|judgement| judgement.verdict().to_string()).collect();
    let mut lines = vec![format!("laws: {}{assumed}", verdicts.join("; "))];
    for (place, (stage, judgement)) in program.stages.iter().zip(judgements).enumerate() {
        let (own, rest) = names.split_at(stage.state.len().min(names.len()));
        names = rest;
        let stage = if program.stages.len() == 1 { String::new() } else { format!("stage {place}: ") };
        lines.extend(
            judgement.conditions.iter().map(|condition| format!("  {stage}{}", (words.condition)(condition, own))),
        );
    }
    lines.join("\n")
}

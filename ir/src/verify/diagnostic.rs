//! Diagnostics of the verifier: the place, the function, and the invariant that is broken.

use std::fmt::{self, Display, Formatter};

use crate::function::Value;

/// A part of a program, numbered as in the text form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The program as a whole.
    Program,
    /// An input column.
    Input(usize),
    /// A table.
    Table(usize),
    /// A stage: its state.
    Stage(usize),
    /// The identity of a stage.
    Identity(usize),
    /// The lift of a stage.
    Lift(usize),
    /// The operator of a stage.
    Combine(usize),
    /// The predicate of a stage that says which states are valid.
    Valid(usize),
    /// The predicate of a stage that says which states may meet.
    Follows(usize),
    /// The output as a whole.
    Output,
    /// An output column.
    Column(usize),
    /// The predicate that says which elements are emitted.
    Filter,
    /// The mapping that makes the output record.
    Project,
    /// The loop that the program was derived from: its initial state.
    Sequential,
    /// The function from the states of the stages to the loop's.
    Enter,
    /// The function from the loop's state to the states of the stages.
    Leave,
    /// The step of the loop.
    Step,
    /// The mapping that makes the output record of the loop's state.
    Written,
    /// The step of the loop as it was written.
    CheckedStep,
    /// Its output as it was written.
    CheckedProject,
    /// A fold of a stage in the loop's own numbers: its stage, and what it begins with.
    Fold(usize),
    /// The step of such a fold.
    FoldStep(usize),
    /// The function from what such a fold carries to the stage's state.
    FoldLeave(usize),
    /// A function that is verified outside of any program.
    Function,
}

/// The faulty item of a part: all of it, or one thing in its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// The part as a whole.
    Whole,
    /// A parameter or an instruction.
    Value(Value),
    /// The results of the function.
    Results,
}

/// Where something is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The part of the program.
    pub part: Part,
    /// The element of that part.
    pub item: Item,
}

/// One broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where it is.
    pub place: Place,
    /// The text that stands there; empty where there is nothing to show.
    pub context: String,
    /// The expected value and the one that came.
    pub message: String,
}

/// All that the verifier found in one program, in the order of the text form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    subject: String,
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(super) fn new(subject: String, found: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { subject, found }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none; a returned error has at least one.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The diagnostics, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.found.iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::error::Error for Diagnostics {}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plural = if self.len() == 1 { "" } else { "s" };
        write!(f, "{} does not verify: {} error{plural}", self.subject, self.len())?;
        for diagnostic in self {
            write!(f, "\n{diagnostic}")?;
        }
        Ok(())
    }
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        if self.context.is_empty() { Ok(()) } else { write!(f, "\n    {}", self.context) }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.part)?;
        match self.item {
            Item::Whole => Ok(()),
            Item::Value(value) => write!(f, ", {value}"),
            Item::Results => f.write_str(", return"),
        }
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Program => f.write_str("program"),
            Part::Input(column) => write!(f, "input column {column}"),
            Part::Table(table) => write!(f, "table {table}"),
            Part::Stage(stage) => write!(f, "stage {stage}"),
            Part::Identity(stage) => write!(f, "stage {stage} identity"),
            Part::Lift(stage) => write!(f, "stage {stage} lift"),
            Part::Combine(stage) => write!(f, "stage {stage} combine"),
            Part::Valid(stage) => write!(f, "stage {stage} valid"),
            Part::Follows(stage) => write!(f, "stage {stage} follows"),
            Part::Output => f.write_str("output"),
            Part::Column(column) => write!(f, "output column {column}"),
            Part::Sequential => f.write_str("sequential"),
            Part::Enter => f.write_str("sequential enter"),
            Part::Leave => f.write_str("sequential leave"),
            Part::Step => f.write_str("sequential step"),
            Part::Written => f.write_str("sequential project"),
            Part::CheckedStep => f.write_str("sequential checked_step"),
            Part::CheckedProject => f.write_str("sequential checked_project"),
            Part::Fold(fold) => write!(f, "sequential fold {fold}"),
            Part::FoldStep(fold) => write!(f, "sequential fold {fold} step"),
            Part::FoldLeave(fold) => write!(f, "sequential fold {fold} leave"),
            Part::Filter => f.write_str("output filter"),
            Part::Project => f.write_str("output project"),
            Part::Function => f.write_str("function"),
        }
    }
}

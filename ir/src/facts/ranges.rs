//! Ranges: the interval each integer component of a state stays in.
//!
//! A flag that is 0 or 1 needs one bit of a packed tile state. A map over 12 automaton states never
//! holds a byte above 11, so a backend may drop the mask in front of a byte shuffle. The ranges are
//! found by induction: a state is an identity, a lifted element or the combination of two states,
//! so any intervals that contain the first two and that `combine` maps into themselves hold every
//! state. An initial state that a caller gives must lie in them as well.

use std::fmt;

use super::interval;
use crate::function::Function;
use crate::program::{Mapping, Program, Source, Stage, Table};
use crate::types::{Constant, Type};

/// An interval of integers that contains a value: of a byte vector, all its lanes. Of a float it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The smallest value.
    pub min: i128,
    /// The largest value.
    pub max: i128,
}

impl Range {
    /// Every value of a type, or of the lanes of a vector type; for floats the whole of `i128`.
    pub fn full(ty: Type) -> Range {
        match ty {
            Type::F32 | Type::F64 => Range { min: i128::MIN, max: i128::MAX },
            Type::Bytes(_) => Range::full(Type::U8),
            _ => Range { min: ty.least().as_int(), max: ty.greatest().as_int() },
        }
    }

    /// The smallest range that holds this constant.
    pub fn of(constant: Constant) -> Range {
        match constant.ty() {
            Type::F32 | Type::F64 => Range::full(constant.ty()),
            Type::Bytes(_) => {
                let lanes = constant.to_bytes();
                let only = |value: Option<&u8>| value.map_or(0, |&lane| lane as i128);
                Range { min: only(lanes.iter().min()), max: only(lanes.iter().max()) }
            }
            _ => Range { min: constant.as_int(), max: constant.as_int() },
        }
    }

    /// The smallest range that holds both.
    pub fn join(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Whether every value of `other` lies in this range.
    pub fn contains(self, other: Range) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    /// Whether a constant, or every lane of it, lies in this range: what an initial state must do.
    pub fn holds(self, constant: Constant) -> bool {
        self.contains(Range::of(constant))
    }

    /// How many bits tell the values of this range apart from each other, as offsets from `min`: 0 for a single
    /// one, 128 where nothing is known.
    pub fn bits(self) -> u32 {
        128 - (self.max.wrapping_sub(self.min) as u128).leading_zeros()
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self == Range::full(Type::F64) {
            true => f.write_str("any"),
            false => write!(f, "{}..={}", self.min, self.max),
        }
    }
}

/// The range of every value of a function, given those of its parameters (missing ones are full).
pub fn value_ranges(function: &Function, params: &[Range], tables: &[Table]) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::with_capacity(function.value_count());
    for (place, &ty) in function.params.iter().enumerate() {
        ranges.push(params.get(place).copied().unwrap_or(Range::full(ty)));
    }
    for inst in &function.insts {
        let mut operands = [(Type::Bool, Range { min: 0, max: 0 }); 3];
        for (operand, &value) in operands.iter_mut().zip(inst.operands()) {
            *operand = (function.type_of(value).unwrap_or(inst.ty), ranges[value.index()]);
        }
        ranges.push(interval::of_inst(inst, &operands[..inst.operands().len()], tables));
    }
    ranges
}

/// Rounds of plain induction before bounds that still move are given up.
const ROUNDS_BEFORE_WIDENING: usize = 8;

/// For each stage the ranges of its state's components.
pub(super) fn state_ranges(program: &Program) -> Vec<Vec<Range>> {
    let mut known: Vec<Vec<Range>> = Vec::new();
    for stage in &program.stages {
        known.push(stage_ranges(program, stage, &known));
    }
    known
}

/// The ranges of a mapping's results. A state before or after an element is a state like any other, and so is an initial state;
/// of stages whose ranges are not known yet it may be any.
fn mapping_ranges(program: &Program, mapping: &Mapping, stages: &[Vec<Range>]) -> Vec<Range> {
    let params = mapping.reads.iter().zip(&mapping.function.params).map(|(source, &ty)| match *source {
        Source::Before { stage, component }
        | Source::After { stage, component }
        | Source::Init { stage, component } => {
            stages.get(stage as usize).map_or(Range::full(ty), |ranges| ranges[component as usize])
        }
        _ => Range::full(ty),
    });
    results(&mapping.function, &params.collect::<Vec<_>>(), &program.tables)
}

fn results(function: &Function, params: &[Range], tables: &[Table]) -> Vec<Range> {
    let ranges = value_ranges(function, params, tables);
    function.results.iter().map(|result| ranges[result.index()]).collect()
}

/// Ranges that hold the identity of a stage and what it lifts, and that `combine` maps into themselves; `earlier` are
/// those of the stages before it.
fn stage_ranges(program: &Program, stage: &Stage, earlier: &[Vec<Range>]) -> Vec<Range> {
    let identity: Vec<Range> = stage.identity.iter().map(|&identity| Range::of(identity)).collect();
    // Of floats nothing is known.
    if stage.state.iter().all(|ty| ty.is_float()) {
        return identity;
    }
    // A lift may read its own stage's initial state, so what it gives grows with the ranges.
    let grown = |from: &[Range]| -> Vec<Range> {
        let lifted = mapping_ranges(program, &stage.lift, &[earlier, &[from.to_vec()]].concat());
        let combined = results(&stage.combine, &[from, from].concat(), &program.tables);
        let all = identity.iter().zip(lifted).zip(combined);
        all.map(|((identity, lifted), combined)| identity.join(lifted).join(combined)).collect()
    };
    let closed = |ranges: &[Range], next: &[Range]| ranges.iter().zip(next).all(|(range, next)| range.contains(*next));
    let mut ranges = identity.clone();
    for round in 0.. {
        let next = grown(&ranges);
        if closed(&ranges, &next) {
            break;
        }
        for ((range, next), &ty) in ranges.iter_mut().zip(next).zip(&stage.state) {
            *range = if round < ROUNDS_BEFORE_WIDENING { range.join(next) } else { widen(*range, next, ty) };
        }
    }
    // Widening overshoots; what the ranges themselves give once more is closed too, and may be smaller.
    for _ in 0..2 {
        let next = grown(&ranges);
        if closed(&ranges, &next) {
            ranges = next;
        }
    }
    ranges
}

/// Bounds that moved go to the end of the type, so that every bound moves at most once more.
fn widen(range: Range, next: Range, ty: Type) -> Range {
    let full = Range::full(ty);
    Range {
        min: if next.min < range.min { full.min } else { range.min },
        max: if next.max > range.max { full.max } else { range.max },
    }
}

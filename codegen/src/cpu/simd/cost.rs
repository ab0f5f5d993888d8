//! The cost of kernels in lanes, in vector instructions a group. Plans are made from it.
//!
//! Counted as [`GroupCode`](super::kernel) writes them. A core starts about three a cycle of any
//! kind, which fits what was measured to a fifth: sums of `i32` 0.7 cycles an element, maxima of
//! `f32` 3.7, affine maps of `f32` 1.6.

use monoscan_ir::{Function, Inst, Layout, Mapping, Opcode, Rule, Source, Type};

use super::form::LaneForm;
use super::forms::Constants;
use super::group::Group;
use super::shuffle;
use crate::cpu::lower::plain_operand;

/// Vector instructions of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cost {
    pub(crate) records: usize,
    pub(crate) reduce: usize,
    pub(crate) scan: usize,
    /// Whether there is one pass over a line alone.
    pub(crate) is_alone: bool,
    /// Whether records are kept that read the state: with space for all in another order of combination than with less.
    pub(crate) keeps_states: bool,
}

/// For each vector of records that are kept or not, and for each column of it.
const COUNTING: usize = 4;
const COMPRESSING: usize = 3;

/// Vector instructions that a core starts a cycle.
const INSTRUCTIONS: usize = 3;

/// The most that the chain from carry to carry may take, in hundredths of what a core takes to start a group's instructions: loads and
/// stores among these start beside the others.
const MARGIN_OF_CHAIN: usize = 75;

impl LaneForm {
    pub(crate) fn cost(&self) -> Cost {
        let Group { shape, .. } = self.group;
        let (combined, _) = self.known();
        let combine = count(&self.combine, &combined);
        let folded = self.columns(&[&self.lift.reads, &self.fold.mapping.reads]);
        let (records, is_alone) = (self.group.records(), self.is_alone());
        let keeps_states = self.keeps && self.has_state();
        if !self.has_state() {
            let replay = self.group.depth * self.replay_cost();
            let scan = self.columns(&[&self.replay.mapping.reads]) + replay + self.written();
            return Cost { records, reduce: 0, scan, is_alone, keeps_states };
        }
        let rounds = shape.lanes().ilog2() as usize;
        let reduce = folded + self.folding() + rounds * (combine + self.fold.carried.len()) + combine;
        Cost { records, is_alone, keeps_states, reduce, scan: self.scanning(self.in_turn) }
    }

    /// To fold the records of lanes.
    fn folding(&self) -> usize {
        varying(&self.lift) + (self.group.depth - 1) * varying(&self.fold.mapping)
    }

    /// To scan a group, with the carry through lanes in turn or past all at once.
    fn scanning(&self, in_turn: bool) -> usize {
        let Group { shape, depth, .. } = self.group;
        let carried = self.replay.carried.len();
        let lanes = match in_turn {
            true => shape.lanes() * (self.behind_cost() + carried),
            false => {
                let (combined, _) = self.known();
                let blends: usize = self.is_neutral.iter().map(|&is_neutral| 1 + usize::from(!is_neutral)).sum();
                let rounds = shape.lanes().ilog2() as usize;
                rounds * (count(&self.combine, &combined) + blends) + self.behind_cost() + 2 * carried
            }
        };
        let outputs = match self.states_written {
            // In turn, the last record's state is there.
            Some(_) => (depth - usize::from(in_turn)) * self.behind_cost(),
            None => depth * self.replay_cost(),
        };
        let reads = [&self.lift.reads[..], &self.fold.mapping.reads, &self.replay.mapping.reads];
        self.columns(&reads) + self.folding() + lanes + outputs + self.written()
    }

    /// Whether the carry should pass lanes in turn: that takes an instruction a record less, and groups do not wait for it.
    pub(super) fn turns_pay(&self) -> bool {
        let chain = self.group.shape.lanes() * (self.latency as usize + 1);
        let in_turn = self.scanning(true);
        let saves = in_turn + self.group.records() <= self.scanning(false);
        saves && 100 * INSTRUCTIONS * chain <= MARGIN_OF_CHAIN * in_turn
    }

    /// To replay a record.
    pub(super) fn replay_cost(&self) -> usize {
        varying(&self.replay.mapping)
    }

    /// To take a carry past an aggregate.
    pub(super) fn behind_cost(&self) -> usize {
        let (_, updated) = self.known();
        count(&self.carry_update, &updated)
    }

    /// To store a group's outputs, or to put those that are kept side by side.
    fn written(&self) -> usize {
        let stored: usize = self.outputs.iter().map(|layout| self.group.moves(layout)).sum();
        if !self.keeps {
            return stored;
        }
        let masks = self.group.depth * (1 + shuffle::rounds(self.group.shape, self.group.depth) as usize);
        stored + masks + self.group.depth * (COUNTING + COMPRESSING * self.outputs.len())
    }

    /// The instructions of rows of so many records, one in each lane, in so many groups.
    pub(crate) fn cost_of_rows(&self, len: usize, groups: usize) -> usize {
        let moved = self.columns(&[&self.replay.mapping.reads]) + self.written();
        groups * moved + len * varying(&self.replay.mapping)
    }

    /// To load a group of the columns that these sources are in.
    fn columns(&self, reads: &[&[Source]]) -> usize {
        let mut first = 0;
        let mut all = 0;
        for layout in &self.inputs {
            let components = first..first + layout.fields.len() as u32;
            first = components.end;
            for of in [Source::Record, Source::Next, Source::Prev] {
                let is_read = |source: &Source| components.clone().any(|component| *source == of(component));
                if reads.iter().any(|reads| reads.iter().any(is_read)) {
                    all += self.group.moves(layout);
                }
            }
        }
        all
    }
}

/// Of a function of which these parameters are constants, what is not.
fn count(function: &Function, known: &[bool]) -> usize {
    let known = Constants::of(function, known);
    function.values().filter(|(value, _)| !known.is(*value)).map(|(_, inst)| instructions(inst, function)).sum()
}

/// Of a mapping all but what parameters alone lead to, which is computed once.
fn varying(mapping: &Mapping) -> usize {
    let uniform = mapping.reads.iter().map(|source| matches!(source, Source::Parameter(_)));
    count(&mapping.function, &uniform.collect::<Vec<_>>())
}

/// The number of vector instructions of an instruction.
fn instructions(inst: &Inst, function: &Function) -> usize {
    let operand = inst.operands().last().and_then(|&last| function.type_of(last)).unwrap_or(inst.ty);
    match (inst.opcode, inst.opcode.rule()) {
        (Opcode::Min | Opcode::Max, _) if operand.is_float() && plain_operand(inst, function).is_some() => 3,
        (Opcode::Min | Opcode::Max, _) if operand.is_float() => 12,
        (Opcode::Min | Opcode::Max, _) if operand.size() == 8 => 4,
        (Opcode::Mul, _) if operand.is_int() => 2,
        // They run where shuffles run.
        (Opcode::Add | Opcode::Sub, _) if operand.is_float() => 2,
        (Opcode::Div | Opcode::Sqrt, _) => 12,
        (Opcode::RotateLeft | Opcode::RotateRight, _) => 3,
        (_, Rule::Select) => 2,
        (_, Rule::Compare(_)) if !operand.is_float() && !operand.is_signed() => 2,
        (_, Rule::Cast) if operand == inst.ty || inst.ty.is_int() && operand.is_int() => 1,
        (_, Rule::Cast) => 3,
        _ => 1,
    }
}

impl Group {
    /// To load or store a group of records.
    fn moves(self, layout: &Layout) -> usize {
        let values = self.depth * layout.fields.len();
        let Some((per_lane, vectors)) = self.vectors(layout) else {
            // One by one.
            return 2 * values * self.shape.lanes();
        };
        // A load, a comparison, and a shuffle of bytes for each mask.
        if self.fills_masks(layout) {
            return 3 + values;
        }
        let rounds = shuffle::rounds(self.shape, vectors) as usize;
        let shuffles = if self.shape.bytes >= 4 { rounds } else { 3 * rounds / 2 };
        let apart = if per_lane == 1 { 0 } else { 2 * values };
        let masks = layout.types().filter(|&ty| ty == Type::Bool).count() * self.depth;
        vectors * (1 + shuffles) + apart + masks
    }
}

#[cfg(test)]
mod tests {
    use monoscan_ir::transform::{Form, lower};
    use monoscan_ir::{Mode, text, verify};

    use crate::cpu::simd::LaneForm;

    /// The form of sums of `f64`.
    fn sums(form: Form) -> LaneForm {
        let sum = "program sums
               input { size 8, align 8, f64 @ 0 }
               stage (f64)
                 identity (0)
                 lift (%0 = record.0: f64) { return %0 }
                 combine (%0: f64, %1: f64) {
                   %2 = add.f64 %0, %1
                   return %2
                 }
               output write
                 column { size 8, align 8, f64 @ 0 }
                 project (%0 = state.0: f64) { return %0 }";
        LaneForm::of(&lower(&verify(text::parse(sum).unwrap()).unwrap(), form)).unwrap()
    }

    #[test]
    fn the_carry_passes_two_lanes_in_turn_where_their_records_are_more_work() {
        assert!(sums(Form { heads: true, ..Form::default() }).in_turn);
        assert!(!sums(Form::default()).in_turn);
    }

    #[test]
    fn states_that_are_written_wait_for_no_record_of_their_group() {
        assert_eq!(sums(Form::default()).states_written, Some(vec![0]));
        assert_eq!(sums(Form { mode: Mode::Exclusive, ..Form::default() }).states_written, None);
    }
}

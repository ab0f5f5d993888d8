//! Whether a scan has a form in lanes, and what it is made of.

use monoscan_ir::facts::{Body, LengthOnly, work};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Source, Table, Type, Value, simplify};

use super::forms::{Constants, holds};
use super::group::Group;
use super::shuffle::Shape;

/// Records of a lane in a group. More of them make up for the scan of lanes, and cost shuffles to sort: two were faster than
/// four in all that was measured, but a group has eight records at least, which narrow values are loaded by.
fn depth(shape: Shape) -> usize {
    (8 / shape.lanes()).max(2)
}

/// Instructions of ⊕ from which on a group, which has ⊕ several times over, would keep most of its values in memory, and take long to
/// compile.
const MOST_WORK: u32 = 512;

/// A scan of one stage in lanes. A group of records is scanned in five steps; a lane holds B consecutive ones.
///
/// 1. *fold*: each lane takes its records one after the other, from the lift of the first.
/// 2. *lanes*: an inclusive scan of the lanes' aggregates, in log₂ L steps of `combine`.
/// 3. *carry update*: the carry passes all of them at once; what the last lane has is the next group's carry.
/// 4. Each lane is given what the lane before it has, the first the carry.
/// 5. *replay*: each lane takes its records again, and gives their outputs.
///
/// Only step 3 waits for the group before.
#[derive(Clone)]
pub(crate) struct LaneForm {
    pub(crate) group: Group,
    pub(crate) inputs: Vec<Layout>,
    pub(crate) parameters: Vec<Type>,
    pub(crate) outputs: Vec<Layout>,
    pub(crate) tables: Vec<Table>,
    /// The lift, giving the components that the fold carries.
    pub(crate) lift: Mapping,
    pub(crate) fold: Body,
    pub(crate) replay: Body,
    /// ⊕ in the components that the fold carries, of all components of both sides.
    pub(crate) combine: Function,
    /// ⊕ in the components that the replay carries, of all components of both sides.
    pub(crate) carry_update: Function,
    pub(crate) identity: Vec<Constant>,
    /// For the components that the fold carries, in its order, whether ⊕ leaves what comes after the identity as it is,
    /// bit by bit.
    pub(crate) is_neutral: Vec<bool>,
    length_only: LengthOnly,
}

impl LaneForm {
    /// The form of a program, if it has one: one stage, one output record for each element, nothing read but the element's record, the
    /// state and parameters, and nothing computed that vectors cannot.
    pub(crate) fn of(program: &Lowered) -> Option<LaneForm> {
        let [stage] = program.stages.as_slice() else { return None };
        if program.output.filter.is_some() || work(&stage.combine) > MOST_WORK {
            return None;
        }
        let (fold, replay) = (program.fold(), program.replay().clone());
        let carry_update = program.carry_update(0);
        if !carry_update.components.iter().eq(replay.carried.iter().map(|(_, component)| component)) {
            return None;
        }
        let components = |function: &Function| {
            let results = fold.carried.iter().map(|&(_, component)| function.results[component as usize]).collect();
            simplify(&Function { results, ..function.clone() }, &program.tables)
        };
        let (combine, lifted) = (components(&stage.combine), components(&stage.lift.function));
        let lift = Mapping { reads: stage.lift.reads.clone(), function: lifted };
        let form = LaneForm {
            group: Group { shape: Shape { bytes: 1 }, depth: 1 },
            inputs: program.inputs.clone(),
            parameters: program.parameters.clone(),
            outputs: program.output.columns.clone(),
            tables: program.tables.clone(),
            is_neutral: neutral(&combine, &stage.identity, &fold.carried, &program.tables),
            lift,
            combine,
            carry_update: carry_update.function,
            identity: stage.identity.clone(),
            length_only: program.facts()[0].length_only.clone(),
            fold,
            replay,
        };
        form.in_lanes()
    }

    /// The form in the narrowest lanes that hold everything.
    fn in_lanes(mut self) -> Option<LaneForm> {
        let is_read = |source: &Source| {
            matches!(source, Source::Record(_) | Source::Before { stage: 0, .. } | Source::Parameter(_))
        };
        if !self.reads().all(is_read) || self.replay.carried.is_empty() {
            return None;
        }
        let (combined, updated) = self.known();
        // What is left of the accumulator of a reduction has no constant number of elements.
        let used: Vec<&Value> =
            self.combine.insts.iter().flat_map(|inst| inst.operands()).chain(&self.combine.results).collect();
        if (0..self.identity.len()).any(|component| combined[component] && used.contains(&&Value::new(component))) {
            return None;
        }
        let functions = [
            (&self.lift.function, vec![false; self.lift.reads.len()]),
            (&self.fold.mapping.function, vec![false; self.fold.mapping.reads.len()]),
            (&self.replay.mapping.function, vec![false; self.replay.mapping.reads.len()]),
            (&self.combine, combined),
            (&self.carry_update, updated),
        ];
        let functions = functions.map(|(function, known)| (function, Constants::of(function, &known)));
        // What is written is put in lanes even if it is constant.
        let written: Vec<Type> = self.outputs.iter().flat_map(Layout::types).collect();
        let widest = functions.iter().map(|(function, known)| known.widest(function));
        let widest = widest.chain(written.iter().map(|ty| ty.size())).max()?;
        let shape = Shape { bytes: widest };
        let fits = functions.iter().all(|(function, known)| known.fits(function, shape));
        if !matches!(widest, 1 | 2 | 4 | 8) || !fits || !written.iter().all(|&ty| holds(shape, ty)) {
            return None;
        }
        self.group = Group { shape, depth: depth(shape) };
        Some(self)
    }

    /// What its functions read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Source> {
        [&self.lift.reads, &self.fold.mapping.reads, &self.replay.mapping.reads].into_iter().flatten()
    }

    /// Which parameters of `combine` and of `carry_update` are constants: the components that are not carried.
    pub(crate) fn known(&self) -> (Vec<bool>, Vec<bool>) {
        let not_in = |body: &Body| -> Vec<bool> {
            let is_carried = |place| body.carried.iter().any(|&(_, component)| component as usize == place);
            (0..self.identity.len()).map(|place| !is_carried(place)).collect()
        };
        let (folded, replayed) = (not_in(&self.fold), not_in(&self.replay));
        ([&folded[..], &folded].concat(), [&replayed[..], &folded].concat())
    }

    /// The components that depend on the number of records alone, after so many.
    pub(crate) fn after(&self, records: usize) -> Vec<Option<Constant>> {
        self.length_only.after(records as u64)
    }

    /// Whether reductions carry every component.
    pub(crate) fn folds_all(&self) -> bool {
        self.fold.carried.len() == self.identity.len()
    }

    /// Whether an operation needs a fused multiply-add.
    pub(crate) fn needs_fma(&self) -> bool {
        let functions =
            [&self.lift.function, &self.fold.mapping.function, &self.replay.mapping.function, &self.combine];
        functions.into_iter().flat_map(|function| &function.insts).any(|inst| inst.opcode == Opcode::MulAdd)
    }
}

/// For each component carried, whether `combine` of the identity and a state is the state.
fn neutral(combine: &Function, identity: &[Constant], carried: &[(u32, u32)], tables: &[Table]) -> Vec<bool> {
    let types: Vec<Type> = identity.iter().map(|value| value.ty()).collect();
    let mut b = FunctionBuilder::new();
    let after = b.params(&types);
    let before: Vec<Value> = identity.iter().map(|&value| b.constant(value)).collect();
    let results = b.inline(combine, &[before, after.clone()].concat());
    let function = simplify(&b.finish(&results), tables);
    let same = |(&(_, component), &result): (&(u32, u32), &Value)| result == after[component as usize];
    carried.iter().zip(&function.results).map(same).collect()
}

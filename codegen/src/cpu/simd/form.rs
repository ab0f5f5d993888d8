//! Whether a scan has a form in lanes, and what it is made of.
//!
//! A program that filters has the form of what it computes of each record, and whether it is kept;
//! how many were kept before is no part of it, since a group counts that at its end.

use monoscan_ir::facts::{Body, LengthOnly, work};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Source, Table, Type, Value, simplify};

use super::compress;
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

/// The most components of aggregates that stay in registers until the carry is known: half of those there are.
const MOST_AGGREGATES: usize = 8;

/// A scan of one stage in lanes. A group of records is scanned in five steps; a lane holds B consecutive ones.
///
/// 1. *fold*: each lane takes its records one after the other, from the lift of the first.
/// 2. *lanes*: an inclusive scan of the lanes' aggregates, in log₂ L steps of `combine`.
/// 3. *carry update*: the carry passes all of them at once; what the last lane has is the next group's carry. Of few lanes, whose records
///    are much work, it passes one after the other instead, and step 2 is left out.
/// 4. Each lane is given what the lane before it has, the first the carry.
/// 5. *replay*: each lane takes its records again, and gives their outputs. Where these are states, the aggregates up to each record are
///    combined with what the lane was given instead: no record waits for the one before.
///
/// Only step 3 waits for the group before. Where outputs read no state, there is the replay alone.
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
    /// The state that is shifted in below the first lane: the identity, but for sums of floats with −0.0 in place of 0.0, which
    /// would change −0.0.
    pub(crate) fill: Vec<Constant>,
    /// For the components that the fold carries, in its order, whether ⊕ leaves what comes after that state as it is, bit by bit.
    pub(crate) is_neutral: Vec<bool>,
    /// For each output the component of the replay that it is behind its record, if all outputs are such, and a lane's aggregates up to
    /// each record give them in no more instructions than the replay.
    pub(crate) states_written: Option<Vec<usize>>,
    /// Whether the carry passes one lane after the other, in place of their scan.
    pub(crate) in_turn: bool,
    /// Cycles from carry to carry of a record.
    pub(crate) latency: u32,
    /// Whether the last result of the replay says which records are kept.
    pub(crate) keeps: bool,
    /// Whether the program asks which element is the first or the last: its functions here are for those between.
    asks_for_ends: bool,
    length_only: LengthOnly,
}

impl LaneForm {
    /// The form of a program, if it has one: one stage besides the count of what is kept, nothing read but the element's record and its
    /// neighbours, the state and parameters, and nothing computed that vectors cannot.
    pub(crate) fn of(program: &Lowered) -> Option<LaneForm> {
        let rank = program.rank();
        let user = program.stages.len() - usize::from(rank.is_some());
        let [stage] = &program.stages[..user] else { return None };
        if work(&stage.combine) > MOST_WORK {
            return None;
        }
        let asks = |mapping: &Mapping, end: Source| mapping.reads.contains(&end);
        let of_state = [&stage.lift, &program.fold().mapping];
        let ends = [Source::First, Source::Last]
            .map(|end| (of_state.iter().any(|mapping| asks(mapping, end)), asks(&program.replay().mapping, end)));
        // Which element that is, a kernel sees by what its body reads: the replay.
        if ends.contains(&(true, false)) {
            return None;
        }
        let inner = |body: &Body| inner(body, rank, &program.tables);
        let (fold, replay) = (inner(&program.fold()), inner(program.replay()));
        let carry_update = program.carry_update(0);
        let updates = carry_update.components.iter().eq(replay.carried.iter().map(|(_, component)| component));
        if !updates && !replay.carried.is_empty() {
            return None;
        }
        let components = |function: &Function| {
            let results = fold.carried.iter().map(|&(_, component)| function.results[component as usize]).collect();
            simplify(&Function { results, ..function.clone() }, &program.tables)
        };
        let (combine, lifted) = (components(&stage.combine), components(&stage.lift.function));
        let lift = Mapping { reads: stage.lift.reads.clone(), function: lifted };
        let negative: Vec<Constant> = stage.identity.iter().map(|&value| negative_zero(value)).collect();
        let fills = [stage.identity.clone(), negative].map(|fill| {
            let is_neutral = neutral(&combine, &fill, &fold.carried, &program.tables);
            (fill, is_neutral)
        });
        let blends = |(_, is_neutral): &(_, Vec<bool>)| is_neutral.iter().filter(|&&is_neutral| !is_neutral).count();
        let (fill, is_neutral) = fills.into_iter().min_by_key(blends)?;
        let form = LaneForm {
            group: Group::new(Shape { bytes: 1 }, 1),
            inputs: program.inputs.clone(),
            parameters: program.parameters.clone(),
            outputs: program.output.columns.clone(),
            tables: program.tables.clone(),
            fill,
            is_neutral,
            lift: with_neighbours(&lift, &program.tables),
            combine,
            carry_update: carry_update.function,
            identity: stage.identity.clone(),
            states_written: None,
            in_turn: false,
            latency: program.facts()[0].replay_latency,
            keeps: rank.is_some(),
            asks_for_ends: ends.iter().any(|&(_, replay)| replay),
            length_only: program.facts()[0].length_only.clone(),
            fold,
            replay,
        };
        form.in_lanes()
    }

    /// The form in the narrowest lanes that hold everything.
    fn in_lanes(mut self) -> Option<LaneForm> {
        let is_of_records = |source: &Source| matches!(source, Source::Record(_) | Source::Next(_) | Source::Prev(_));
        let is_read = |source: &Source| {
            is_of_records(source) || matches!(source, Source::Before { stage: 0, .. } | Source::Parameter(_))
        };
        if !self.reads().all(is_read) || !self.has_state() && !self.keeps {
            return None;
        }
        // Which elements lack a neighbour that a group loads, a kernel sees by what its body reads: the replay.
        let replay = &self.replay.mapping.reads;
        let reads_next = |source: &Source| matches!(source, Source::Next(_));
        let reads_prev = |source: &Source| matches!(source, Source::Prev(_));
        if self.reads().any(reads_next) && !replay.iter().any(reads_next)
            || self.reads().any(reads_prev) && !replay.iter().any(reads_prev)
        {
            return None;
        }
        let (combined, updated) = self.known();
        // What is left of the accumulator of a reduction has no constant number of elements.
        let used: Vec<&Value> =
            self.combine.insts.iter().flat_map(|inst| inst.operands()).chain(&self.combine.results).collect();
        let is_lost = |component: usize| combined[component] && used.contains(&&Value::new(component));
        if self.has_state() && (0..self.identity.len()).any(is_lost) {
            return None;
        }
        let mut functions = vec![(&self.replay.mapping.function, vec![false; self.replay.mapping.reads.len()])];
        if self.has_state() {
            functions.extend([
                (&self.lift.function, vec![false; self.lift.reads.len()]),
                (&self.fold.mapping.function, vec![false; self.fold.mapping.reads.len()]),
                (&self.combine, combined),
                (&self.carry_update, updated),
            ]);
        }
        let functions: Vec<(&Function, Constants)> =
            functions.into_iter().map(|(function, known)| (function, Constants::of(function, &known))).collect();
        // What is written is put in lanes even if it is constant.
        let written: Vec<Type> = self.outputs.iter().flat_map(Layout::types).collect();
        let widest = functions.iter().map(|(function, known)| known.widest(function));
        let least = if self.keeps { compress::NARROWEST } else { 1 };
        let widest = widest.chain(written.iter().map(|ty| ty.size())).max()?.max(least);
        let shape = Shape { bytes: widest };
        let fits = functions.iter().all(|(function, known)| known.fits(function, shape));
        if !matches!(widest, 1 | 2 | 4 | 8) || !fits || !written.iter().all(|&ty| holds(shape, ty)) {
            return None;
        }
        if self.keeps && !self.outputs.iter().all(compress::is_kept_in_lanes) {
            return None;
        }
        self.group = Group::new(shape, depth(shape));
        self.states_written = self.find_states_written();
        self.in_turn = self.has_state() && self.turns_pay();
        Some(self)
    }

    /// For each output the component of the replay that it is behind its record, if it pays to write it so.
    fn find_states_written(&self) -> Option<Vec<usize>> {
        let results = &self.replay.mapping.function.results;
        let (states, outputs) = results.split_at(self.replay.carried.len());
        let of_state = |output| states.iter().position(|state| state == output);
        let fits = self.group.depth * self.fold.carried.len() <= MOST_AGGREGATES;
        let pays = fits && self.has_state() && !self.keeps && self.behind_cost() <= self.replay_cost();
        outputs.iter().map(of_state).collect::<Option<_>>().filter(|_| pays)
    }

    /// Whether outputs read the state.
    pub(crate) fn has_state(&self) -> bool {
        !self.replay.carried.is_empty()
    }

    /// Whether the form is for one pass over a line alone, and not for blocks: what is kept goes where the number of records before
    /// says, and the first and last elements, which lack a neighbour, are left out.
    pub(crate) fn is_alone(&self) -> bool {
        self.keeps
            || self.asks_for_ends
            || self.reads().any(|source| matches!(source, Source::Next(_) | Source::Prev(_)))
    }

    /// The sources of its functions.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Source> {
        let of_state = [&self.lift.reads, &self.fold.mapping.reads].into_iter().filter(|_| self.has_state());
        of_state.chain([&self.replay.mapping.reads]).flatten()
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
        self.fold.carried.len() == self.identity.len() && !self.is_alone()
    }

    /// Whether an operation needs a fused multiply-add.
    pub(crate) fn needs_fma(&self) -> bool {
        let functions =
            [&self.lift.function, &self.fold.mapping.function, &self.replay.mapping.function, &self.combine];
        functions.into_iter().flat_map(|function| &function.insts).any(|inst| inst.opcode == Opcode::MulAdd)
    }
}

/// A body without the count of what is kept, which nothing in it reads, for elements that have neighbours.
fn inner(body: &Body, rank: Option<u32>, tables: &[Table]) -> Body {
    let is_rank = |&(stage, _): &(u32, u32)| rank == Some(stage);
    let counted = body.carried.iter().position(is_rank);
    let mut mapping = body.mapping.clone();
    if let Some(place) = counted {
        mapping.function.results.remove(place);
        let of_rank = mapping.reads[place];
        mapping = assuming(&mapping, |source| (source == of_rank).then_some(Constant::from(0u64)), tables);
    }
    let carried = body.carried.iter().copied().filter(|carried| !is_rank(carried)).collect();
    Body { mapping: with_neighbours(&mapping, tables), carried, ends: None }
}

/// A mapping for elements that have a next one and one before.
fn with_neighbours(mapping: &Mapping, tables: &[Table]) -> Mapping {
    let is_end = |source| matches!(source, Source::First | Source::Last);
    assuming(mapping, |source| is_end(source).then_some(Constant::from(false)), tables)
}

/// A mapping of which some sources are known.
fn assuming(mapping: &Mapping, known: impl Fn(Source) -> Option<Constant>, tables: &[Table]) -> Mapping {
    if !mapping.reads.iter().any(|&source| known(source).is_some()) {
        return mapping.clone();
    }
    let mut b = FunctionBuilder::new();
    let sources = || mapping.reads.iter().zip(&mapping.function.params);
    let params: Vec<Option<Value>> =
        sources().map(|(&source, &ty)| known(source).is_none().then(|| b.param(ty))).collect();
    let mut arguments = Vec::new();
    for (param, (&source, &ty)) in params.into_iter().zip(sources()) {
        arguments.push(param.unwrap_or_else(|| b.constant(known(source).unwrap_or(ty.zero()))));
    }
    let results = b.inline(&mapping.function, &arguments);
    let reads = mapping.reads.iter().copied().filter(|&source| known(source).is_none()).collect();
    Mapping { reads, function: simplify(&b.finish(&results), tables) }
}

/// −0.0 in place of a zero that is a float.
fn negative_zero(value: Constant) -> Constant {
    match value.ty() {
        ty if value != ty.zero() => value,
        Type::F32 => (-0.0f32).into(),
        Type::F64 => (-0.0f64).into(),
        _ => value,
    }
}

/// For each component carried, whether `combine` of this state and another is the other.
fn neutral(combine: &Function, fill: &[Constant], carried: &[(u32, u32)], tables: &[Table]) -> Vec<bool> {
    let types: Vec<Type> = fill.iter().map(|value| value.ty()).collect();
    let mut b = FunctionBuilder::new();
    let after = b.params(&types);
    let before: Vec<Value> = fill.iter().map(|&value| b.constant(value)).collect();
    let results = b.inline(combine, &[before, after.clone()].concat());
    let function = simplify(&b.finish(&results), tables);
    let same = |(&(_, component), &result): (&(u32, u32), &Value)| result == after[component as usize];
    carried.iter().zip(&function.results).map(same).collect()
}

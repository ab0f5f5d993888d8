//! The loop over groups, as [`LaneForm`] describes it, for a scan and for a reduction.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Constant, Function, Source, Type};

use super::super::error::CodegenError;
use super::super::kernel::arguments;
use super::super::lower::clif_type;
use super::access::{Read, Records};
use super::form::LaneForm;
use super::group::Group;
use super::lanes::{Lanes, lower_lanes, vector_type};
use super::shuffle;

/// Where columns start, none for columns that are not read, and what is the same for all elements.
pub(crate) struct Bases<'a> {
    pub(crate) inputs: &'a [Option<ir::Value>],
    pub(crate) outputs: &'a [ir::Value],
    pub(crate) uniform: &'a [(Source, ir::Value)],
}

/// The states that the loop over groups starts from, and those that it leaves to the scalar loop behind it.
pub(crate) struct Progress {
    /// The record of the next element.
    pub(crate) place: ir::Value,
    /// How many elements are left.
    pub(crate) left: ir::Value,
    /// How many records were kept, if not all are.
    pub(crate) rank: Option<ir::Value>,
    /// The carried components.
    pub(crate) states: Vec<ir::Value>,
}

/// The work on groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// Outputs are written; the carried components are those of the replay.
    Scan,
    /// The carried components are those of the fold.
    Reduce,
    /// Outputs are written; the carried components are those of the replay, then those of the fold.
    Both,
}

/// Writes a loop over as many whole groups as there are.
pub(crate) fn groups(
    b: &mut FunctionBuilder<'_>,
    form: &LaneForm,
    work: Work,
    bases: &Bases<'_>,
    progress: Progress,
) -> Result<Progress, CodegenError> {
    let Progress { place, left, rank, states } = progress;
    let shape = form.group.shape;
    let records = form.group.records();
    let rest = b.ins().band_imm_u(left, records as i64 - 1);
    // A difference is computed once; Cranelift would repeat a mask in each group.
    let whole = b.ins().isub(left, rest);
    let kind = |b: &FunctionBuilder<'_>, value: ir::Value| b.func.dfg.value_type(value);

    let (enter, body, leave, exit) = (b.create_block(), b.create_block(), b.create_block(), b.create_block());
    let outer: Vec<ir::Value> = [place, left].into_iter().chain(rank).chain(states.iter().copied()).collect();
    let after: Vec<ir::Value> = outer.iter().map(|&value| b.append_block_param(exit, kind(b, value))).collect();
    b.ins().brif(whole, enter, &[], exit, &arguments(&outer));

    b.switch_to_block(enter);
    // The place tells when groups are done: a count of them would be one more instruction a group.
    let end = b.ins().iadd(place, whole);
    let (replayed, folded) = (&form.replay.carried[..], &form.fold.carried[..]);
    let carried = match work {
        Work::Scan => replayed.to_vec(),
        Work::Reduce => folded.to_vec(),
        Work::Both => [replayed, folded].concat(),
    };
    let types = carried.iter().map(|&(_, component)| form.identity[component as usize].ty());
    let types: Vec<Type> = types.collect();
    let mut first = vec![place];
    first.extend(rank);
    let own = first.len();
    for (&ty, &state) in types.iter().zip(&states) {
        first.push(splat(b, form, ty, state));
    }
    let uniform = splat_parameters(b, form, bases);
    let params: Vec<ir::Value> = first.iter().map(|&value| b.append_block_param(body, kind(b, value))).collect();
    b.ins().jump(body, &arguments(&first));

    b.switch_to_block(body);
    let group = GroupCode { form, bases, uniform: &uniform, place: params[0] };
    let carry: Vec<Lanes> = params[own..].iter().map(|&value| Lanes::Vector(value)).collect();
    let rank = rank.map(|_| params[1]);
    let (rank, carry) = match work {
        Work::Scan => {
            let Scanned { rank, next, .. } = group.scan(b, work, &carry, rank)?;
            (rank, next)
        }
        Work::Reduce => (rank, group.reduce(b, &carry)?),
        Work::Both => {
            let (carry, before) = carry.split_at(replayed.len());
            let Scanned { rank, mut next, prefixes } = group.scan(b, work, carry, rank)?;
            next.extend(group.combine(b, before, &prefixes, records)?);
            (rank, next)
        }
    };
    let mut next = vec![b.ins().iadd_imm_u(params[0], records as i64)];
    next.extend(rank);
    next.extend(carry.iter().map(|lanes| lanes.vector(b, shape)));
    let last: Vec<ir::Value> = next.iter().map(|&value| b.append_block_param(leave, kind(b, value))).collect();
    let more = b.ins().icmp(IntCC::NotEqual, next[0], end);
    b.ins().brif(more, body, &arguments(&next), leave, &arguments(&next));

    b.switch_to_block(leave);
    let mut results = vec![last[0], rest];
    results.extend(rank.map(|_| last[1]));
    for (&ty, &vector) in types.iter().zip(&last[own..]) {
        results.push(extract(b, form, ty, vector));
    }
    b.ins().jump(exit, &arguments(&results));

    b.switch_to_block(exit);
    let rank = rank.map(|_| after[2]);
    Ok(Progress { place: after[0], left: after[1], rank, states: after[own + 1..].to_vec() })
}

/// The values that are the same for all elements, in every lane.
pub(super) fn splat_parameters(
    b: &mut FunctionBuilder<'_>,
    form: &LaneForm,
    bases: &Bases<'_>,
) -> Vec<(Source, ir::Value)> {
    let mut uniform = Vec::new();
    for &(source, value) in bases.uniform {
        if let Source::Parameter(parameter) = source {
            uniform.push((source, splat(b, form, form.parameters[parameter as usize], value)));
        }
    }
    uniform
}

/// A scalar in every lane.
pub(super) fn splat(b: &mut FunctionBuilder<'_>, form: &LaneForm, ty: Type, value: ir::Value) -> ir::Value {
    let shape = form.group.shape;
    let lane = vector_type(shape, ty).lane_type();
    let is = b.func.dfg.value_type(value);
    let value = match ty {
        _ if ty.is_float() => value,
        Type::Bool => {
            let mask = b.ins().ineg(value);
            if is == lane { mask } else { b.ins().sextend(lane, mask) }
        }
        _ if is == lane => value,
        _ if ty.is_signed() => b.ins().sextend(lane, value),
        _ => b.ins().uextend(lane, value),
    };
    b.ins().splat(vector_type(shape, ty), value)
}

/// The last lane as a scalar.
fn extract(b: &mut FunctionBuilder<'_>, form: &LaneForm, ty: Type, vector: ir::Value) -> ir::Value {
    let shape = form.group.shape;
    let value = b.ins().extractlane(vector, (shape.lanes() - 1) as u8);
    let scalar = clif_type(ty);
    let value = if b.func.dfg.value_type(value) == scalar { value } else { b.ins().ireduce(scalar, value) };
    if ty == Type::Bool { b.ins().band_imm_u(value, 1) } else { value }
}

/// The code of one group.
pub(super) struct GroupCode<'a> {
    pub(super) form: &'a LaneForm,
    pub(super) bases: &'a Bases<'a>,
    /// The values that are the same for all elements, in all lanes.
    pub(super) uniform: &'a [(Source, ir::Value)],
    pub(super) place: ir::Value,
}

/// The states behind a group that was scanned.
struct Scanned {
    /// How many records were kept, if not all are.
    rank: Option<ir::Value>,
    /// The carry, the same in all lanes.
    next: Vec<Lanes>,
    /// The prefixes of the lanes, of which the last is the group's aggregate; none where nobody asks for it.
    prefixes: Vec<Lanes>,
}

impl GroupCode<'_> {
    /// Writes the outputs of a group that this carry, the same in all lanes, enters, or those that are kept, after so many.
    fn scan(
        &self,
        b: &mut FunctionBuilder<'_>,
        work: Work,
        carry: &[Lanes],
        rank: Option<ir::Value>,
    ) -> Result<Scanned, CodegenError> {
        let form = self.form;
        let shape = form.group.shape;
        if !form.has_state() {
            let records = self.load(b, &[&form.replay.mapping.reads]);
            let rank = self.replay(b, &records, Vec::new(), rank)?;
            return Ok(Scanned { rank, next: Vec::new(), prefixes: Vec::new() });
        }
        let records = self.load(b, &[&form.lift.reads, &form.fold.mapping.reads, &form.replay.mapping.reads]);
        let folded = self.folded(b, &records)?;
        let lanes = &folded[folded.len() - 1];
        let prefixes = match form.in_turn && work == Work::Scan {
            true => Vec::new(),
            false => self.scan_lanes(b, lanes.clone())?,
        };
        let (states, behind) = match form.in_turn {
            true => self.pass_in_turn(b, carry, lanes)?,
            false => {
                let behind = self.carry_update(b, carry, &prefixes, |lane| (lane + 1) * form.group.depth)?;
                (self.before(b, carry, &behind), behind)
            }
        };
        let last = |lanes: &Lanes| {
            let vector = lanes.vector(b, shape);
            Lanes::Vector(shuffle::broadcast_last(b, shape, vector))
        };
        let next = behind.iter().map(last).collect();
        let Some(written) = &form.states_written else {
            let rank = self.replay(b, &records, states, rank)?;
            return Ok(Scanned { rank, next, prefixes });
        };
        let mut outputs = Vec::new();
        for (place, folded) in folded.iter().enumerate() {
            let is_behind = form.in_turn && place + 1 == form.group.depth;
            let behind = match is_behind {
                true => behind.clone(),
                false => self.carry_update(b, &states, folded, |_| place + 1)?,
            };
            outputs.push(written.iter().map(|&component| behind[component].clone()).collect());
        }
        self.store(b, &outputs);
        Ok(Scanned { rank, next, prefixes })
    }

    /// Takes the carry through one lane after the other, past their aggregates. Gives the states before and behind each lane.
    fn pass_in_turn(
        &self,
        b: &mut FunctionBuilder<'_>,
        carry: &[Lanes],
        lanes: &[Lanes],
    ) -> Result<(Vec<Lanes>, Vec<Lanes>), CodegenError> {
        let Group { shape, depth, .. } = self.form.group;
        let mut before = carry.to_vec();
        let mut behind = self.carry_update(b, &before, lanes, |_| depth)?;
        // Each time one lane more is right.
        for _ in 1..shape.lanes() {
            before = self.before(b, carry, &behind);
            behind = self.carry_update(b, &before, lanes, |_| depth)?;
        }
        Ok((before, behind))
    }

    /// The state before each lane: of the first the carry, of others that behind the lane before.
    fn before(&self, b: &mut FunctionBuilder<'_>, carry: &[Lanes], behind: &[Lanes]) -> Vec<Lanes> {
        let shape = self.form.group.shape;
        let mut before = Vec::new();
        for (carry, behind) in carry.iter().zip(behind) {
            let (carry, behind) = (carry.vector(b, shape), behind.vector(b, shape));
            before.push(Lanes::Vector(shuffle::shift(b, shape, behind, 1, carry)));
        }
        before
    }

    /// Writes the outputs of the records of each lane, from these states on; of a scan that keeps, those that it keeps, after so many.
    /// Gives how many those are then.
    pub(super) fn replay(
        &self,
        b: &mut FunctionBuilder<'_>,
        records: &Records,
        mut states: Vec<Lanes>,
        rank: Option<ir::Value>,
    ) -> Result<Option<ir::Value>, CodegenError> {
        let mapping = &self.form.replay.mapping;
        let mut outputs = Vec::new();
        for record in records {
            let mut results = self.run(b, &mapping.function, &states, &mapping.reads, record)?;
            outputs.push(results.split_off(states.len()));
            states = results;
        }
        match rank {
            None => self.store(b, &outputs),
            Some(rank) => return Ok(Some(self.keep(b, &outputs, rank))),
        }
        Ok(None)
    }

    /// The value of this accumulator behind a group; only the last lanes count.
    fn reduce(&self, b: &mut FunctionBuilder<'_>, carry: &[Lanes]) -> Result<Vec<Lanes>, CodegenError> {
        let form = self.form;
        let group = form.group;
        let records = self.load(b, &[&form.lift.reads, &form.fold.mapping.reads]);
        let mut folded = self.folded(b, &records)?;
        let mut total = folded.pop().expect("a lane has records");
        let mut distance = 1;
        while distance < group.shape.lanes() {
            let before = self.moved(b, &total, distance);
            total = self.combine(b, &before, &total, distance * group.depth)?;
            distance *= 2;
        }
        self.combine(b, carry, &total, group.records())
    }

    /// For each record of a lane, the aggregate of the lane's records up to it.
    fn folded(&self, b: &mut FunctionBuilder<'_>, records: &Records) -> Result<Vec<Vec<Lanes>>, CodegenError> {
        let (lift, fold) = (&self.form.lift, &self.form.fold.mapping);
        let mut all = vec![self.run(b, &lift.function, &[], &lift.reads, &records[0])?];
        for record in &records[1..] {
            all.push(self.run(b, &fold.function, &all[all.len() - 1], &fold.reads, record)?);
        }
        Ok(all)
    }

    /// The inclusive prefixes of lanes' aggregates.
    fn scan_lanes(&self, b: &mut FunctionBuilder<'_>, mut lanes: Vec<Lanes>) -> Result<Vec<Lanes>, CodegenError> {
        let form = self.form;
        let shape = form.group.shape;
        let mut distance = 1;
        while distance < shape.lanes() {
            // The lowest lanes get this whole: `is_neutral` relies on each of its components.
            let mut before = Vec::new();
            for (value, &(_, component)) in lanes.iter().zip(&form.fold.carried) {
                let fill = Lanes::constant(shape, form.fill[component as usize]).vector(b, shape);
                let value = value.vector(b, shape);
                before.push(Lanes::Vector(shuffle::shift(b, shape, value, distance, fill)));
            }
            let combined = self.combine(b, &before, &lanes, distance * form.group.depth)?;
            for (place, (value, combined)) in lanes.iter_mut().zip(combined).enumerate() {
                if form.is_neutral[place] {
                    *value = combined;
                } else {
                    let (old, new) = (value.vector(b, shape), combined.vector(b, shape));
                    *value = Lanes::Vector(shuffle::blend(b, shape, old, new, distance));
                }
            }
            distance *= 2;
        }
        Ok(lanes)
    }

    /// The lanes moved up, with anything below.
    fn moved(&self, b: &mut FunctionBuilder<'_>, lanes: &[Lanes], distance: usize) -> Vec<Lanes> {
        let shape = self.form.group.shape;
        let mut all = Vec::new();
        for value in lanes {
            let value = value.vector(b, shape);
            all.push(Lanes::Vector(shuffle::shift(b, shape, value, distance, value)));
        }
        all
    }

    /// ⊕ in the components that the fold carries; what comes after has as many records.
    fn combine(
        &self,
        b: &mut FunctionBuilder<'_>,
        before: &[Lanes],
        after: &[Lanes],
        records: usize,
    ) -> Result<Vec<Lanes>, CodegenError> {
        let form = self.form;
        let after = self.state(after, &form.fold.carried, |_| records);
        // Before, components that the fold does not carry are not used.
        let before = self.state(before, &form.fold.carried, |_| 0);
        let args = [before, after].concat();
        lower_lanes(b, form.group.shape, &form.tables, &form.combine, &args)
    }

    /// The carry past aggregates of so many records in each lane.
    fn carry_update(
        &self,
        b: &mut FunctionBuilder<'_>,
        carry: &[Lanes],
        aggregates: &[Lanes],
        records: impl Fn(usize) -> usize,
    ) -> Result<Vec<Lanes>, CodegenError> {
        let form = self.form;
        let before = self.state(carry, &form.replay.carried, |_| 0);
        let after = self.state(aggregates, &form.fold.carried, records);
        let args = [before, after].concat();
        lower_lanes(b, form.group.shape, &form.tables, &form.carry_update, &args)
    }

    /// All components: those given, and of the others what they are after so many records.
    fn state(&self, given: &[Lanes], carried: &[(u32, u32)], records: impl Fn(usize) -> usize) -> Vec<Lanes> {
        let form = self.form;
        let shape = form.group.shape;
        let all_given = given.len() == form.identity.len();
        let lanes = if all_given { 0 } else { shape.lanes() };
        let known: Vec<Vec<Option<Constant>>> = (0..lanes).map(|lane| form.after(records(lane))).collect();
        let component = |(place, &identity): (usize, &Constant)| {
            let is_given = carried.iter().position(|&(_, component)| component as usize == place);
            match is_given {
                Some(at) => given[at].clone(),
                None => Lanes::Constants(known.iter().map(|known| known[place].unwrap_or(identity)).collect()),
            }
        };
        form.identity.iter().enumerate().map(component).collect()
    }

    /// Runs a body or a lift on these states and a record of each lane.
    pub(super) fn run(
        &self,
        b: &mut FunctionBuilder<'_>,
        function: &Function,
        states: &[Lanes],
        reads: &[Source],
        record: &Read,
    ) -> Result<Vec<Lanes>, CodegenError> {
        let mut args = states.to_vec();
        for source in &reads[states.len()..] {
            let value = match *source {
                Source::Record(component) => record.own[component as usize],
                Source::Next(component) => record.next[component as usize],
                Source::Prev(component) => record.before[component as usize],
                _ => self.uniform.iter().find(|(uniform, _)| uniform == source).map(|&(_, value)| value),
            };
            args.push(Lanes::Vector(value.expect("what is read was loaded")));
        }
        lower_lanes(b, self.form.group.shape, &self.form.tables, function, &args)
    }
}

//! The code of one group: the scan and the reduction that [`LaneForm`] describes, of the records of
//! each lane and then across lanes.

use cranelift_codegen::ir;
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Constant, Function, Source};

use super::super::error::CodegenError;
use super::access::{Read, Records};
use super::form::LaneForm;
use super::group::Group;
use super::kernel::{Bases, Work};
use super::lanes::{Lanes, lower_lanes};
use super::shuffle;

/// The code of one group.
pub(super) struct GroupCode<'a> {
    pub(super) form: &'a LaneForm,
    pub(super) bases: &'a Bases<'a>,
    /// The values that are the same for all elements, in all lanes.
    pub(super) uniform: &'a [(Source, ir::Value)],
    pub(super) place: ir::Value,
}

/// The states behind a group that was scanned.
pub(super) struct Scanned {
    /// How many records were kept, if not all are.
    pub(super) rank: Option<ir::Value>,
    /// The carry, the same in all lanes.
    pub(super) next: Vec<Lanes>,
    /// The prefixes of the lanes, of which the last is the group's aggregate; none where nobody asks for it.
    pub(super) prefixes: Vec<Lanes>,
}

impl GroupCode<'_> {
    /// Writes the outputs of a group that this carry, the same in all lanes, enters, or those that are kept, after so many.
    pub(super) fn scan(
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
    pub(super) fn reduce(&self, b: &mut FunctionBuilder<'_>, carry: &[Lanes]) -> Result<Vec<Lanes>, CodegenError> {
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
    pub(super) fn combine(
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

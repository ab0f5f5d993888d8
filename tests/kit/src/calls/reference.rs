//! The reference for every call, written from the formulas of [`monoscan_runtime::call`] over the
//! interpreter of programs.
//!
//! A call's records are cut into [sequences](super::Sequence), and those of each are gathered in
//! the order of the scan. The interpreter runs over them from the sequence's start, and the outputs
//! are put where their records are. Nothing here is shared with the engine: no tiles, no strides,
//! no lowering.
//!
//! The interpreter numbers the records of every sequence from 0, a call does not; and it starts
//! from the initial state that programs read, where a call may go on from a carry. So the reference
//! gives a program its index and the initial states as one more input column.

use monoscan_ir::interp::{self, Request};
use monoscan_ir::{Constant, Layout, Program, Source, Type, Verified, verify};

use super::Asked;
use super::{Sequence, Start};

/// A program, ready to be run by the reference.
pub struct Reference {
    /// The program as it was given.
    pub program: Verified<Program>,
    /// The same, with the index and the initial states as its last input column.
    told: Verified<Program>,
    /// That column.
    told_layout: Layout,
}

/// The results of a call besides the outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    /// How many records are written; those that an emitting program keeps may be more than there is space for.
    pub count: usize,
    /// The totals that [`monoscan_runtime::DynScan::reduce`] gives; of a resumed stream, its carry afterwards.
    pub totals: Vec<Constant>,
}

impl Reference {
    pub fn new(program: &Verified<Program>) -> Reference {
        let mut told = (**program).clone();
        let index = told.record_types().len() as u32;
        let states: Vec<Vec<Type>> = told.stages.iter().map(|stage| stage.state.clone()).collect();
        let told_layout = Layout::packed(&[&[Type::U64], &states.concat()[..]].concat());
        told.inputs.push(told_layout.clone());
        for source in told.mappings_mut().flat_map(|mapping| &mut mapping.reads) {
            match *source {
                Source::Index => *source = Source::Record(index),
                Source::Init { stage, component } => {
                    let before: usize = states[..stage as usize].iter().map(Vec::len).sum();
                    *source = Source::Record(index + 1 + before as u32 + component);
                }
                _ => {}
            }
        }
        let told = verify(told).expect("reading a column breaks no invariant");
        Reference { program: program.clone(), told, told_layout }
    }

    /// The identities of all stages.
    pub fn identities(&self) -> Vec<Constant> {
        self.program.stages.iter().flat_map(|stage| stage.identity.clone()).collect()
    }

    /// The record before the first one of a sequence that starts from this, if it is a carry that has one.
    fn previous(&self, start: &[Constant]) -> Option<Vec<Constant>> {
        let (none, values) = start[self.identities().len()..].split_last()?;
        (none.bits() == 0).then(|| values.to_vec())
    }

    /// The states as a stream carries them, with the last record.
    fn carry(&self, states: Vec<Constant>, previous: Option<Vec<Constant>>) -> Vec<Constant> {
        let mut carry = [states, self.program.first_carry().split_off(self.identities().len())].concat();
        if let (Some(previous), true) = (previous, self.program.reads_previous()) {
            let place = carry.len() - previous.len() - 1;
            carry.splice(place.., previous.into_iter().chain([Constant::from(false)]));
        }
        carry
    }

    /// Runs a call over columns of records as bytes.
    ///
    /// Of outputs, the fields of records that the call writes are replaced; nothing is, where there is no space for what is kept.
    pub fn run(&self, asked: &Asked, inputs: &[Vec<u8>], outputs: &mut [Vec<u8>]) -> Given {
        let mut kept = vec![Vec::new(); outputs.len()];
        let mut totals = Vec::new();
        let mut count = 0;
        for sequence in asked.sequences() {
            let start = self.start(asked, sequence.start);
            let previous = self.previous(&start);
            let request =
                Request { mode: asked.mode, init: Some(self.by_stage(&start)), previous, ..Request::default() };
            let columns = self.gather(&sequence, &self.initial(asked, sequence.start), inputs);
            let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
            let result = interp::run(&self.told, &columns, &request).expect("whole columns and states of the program");
            count += result.count;
            let states = result.states_after.concat();
            totals.push(if asked.carry.is_some() { self.carry(states, result.previous) } else { states });
            match self.program.output.filter {
                Some(_) => kept.iter_mut().zip(&result.outputs).for_each(|(all, more)| all.extend(more)),
                None => self.write(&result.outputs, sequence.records.iter().copied(), outputs),
            }
        }
        if self.program.output.filter.is_some() && (0..).zip(&*outputs).all(|(c, out)| self.capacity(c, out) >= count) {
            self.write(&kept, 0..count, outputs);
        }
        Given { count, totals: asked.totals(totals).concat() }
    }

    fn capacity(&self, column: usize, bytes: &[u8]) -> usize {
        bytes.len() / self.program.output.columns[column].size as usize
    }

    /// The start of a sequence: a state, or all that a stream carries.
    fn start(&self, asked: &Asked, start: Start) -> Vec<Constant> {
        let identities = self.identities();
        let (states, components, place) = match (start, &asked.carry, &asked.init_each) {
            (Start::Carry(place), Some(carry), _) => (carry, self.program.first_carry().len(), place),
            (Start::Init(place), _, Some(all)) => (all, identities.len(), place),
            _ => return asked.init.clone().unwrap_or(identities),
        };
        states[place * components..][..components].to_vec()
    }

    /// The initial state of a sequence that starts so: the identities, if each sequence that begins has its own and this one goes on.
    fn initial(&self, asked: &Asked, start: Start) -> Vec<Constant> {
        let identities = self.identities();
        match (start, &asked.init_each) {
            (Start::Init(place), Some(all)) => all[place * identities.len()..][..identities.len()].to_vec(),
            (Start::Carry(_), Some(_)) => identities,
            (_, None) => asked.init.clone().unwrap_or(identities),
        }
    }

    /// The records of a sequence one after the other, and as the last column their indexes and the initial states.
    fn gather(&self, sequence: &Sequence, initial: &[Constant], inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let column = |(bytes, layout): (&Vec<u8>, &Layout)| {
            let size = layout.size as usize;
            sequence.records.iter().flat_map(|&i| &bytes[i * size..(i + 1) * size]).copied().collect()
        };
        let mut columns: Vec<Vec<u8>> = inputs.iter().zip(&self.program.inputs).map(column).collect();
        let told = |index: u64| self.told_layout.to_bytes(&[&[Constant::from(index)], initial].concat());
        columns.push((sequence.index..).take(sequence.records.len()).flat_map(told).collect());
        columns
    }

    /// Puts the fields of dense records at these places; padding between fields stays.
    fn write(&self, dense: &[Vec<u8>], places: impl Iterator<Item = usize> + Clone, outputs: &mut [Vec<u8>]) {
        for ((dense, output), layout) in dense.iter().zip(outputs).zip(&self.program.output.columns) {
            let size = layout.size as usize;
            for (record, place) in dense.chunks(size).zip(places.clone()) {
                for field in &layout.fields {
                    let bytes = field.offset as usize..field.offset as usize + field.ty.size();
                    output[place * size..][bytes.clone()].copy_from_slice(&record[bytes]);
                }
            }
        }
    }

    /// Components of all stages in order, stage by stage.
    fn by_stage(&self, states: &[Constant]) -> Vec<Vec<Constant>> {
        let mut rest = states.iter().copied();
        self.program.stages.iter().map(|stage| rest.by_ref().take(stage.state.len()).collect()).collect()
    }
}

//! Launches, and whether they wrote what they must.

use monoscan_codegen::gpu::{Arguments, EPOCH, FAULT, FAULT_BEFORE_TOTALS, Schedule, TICKET};
use monoscan_ir::{Constant, Layout, Type};
use scan_emulator::{Fault, LaunchError};

use crate::expected::Given;
use crate::machine::{Emulated, Machine};
use crate::{Call, OnDevice, Subject};
use scan_kit::Random;

/// The longest time limit: more steps than the emulator has patience for, and ten seconds of a device.
const LONGEST: u64 = 10_000_000_000;

/// How a launch went wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// It did what it must not, or did not end.
    Launch(LaunchError),
    /// It left the workspace's ticket, epoch and fault, or the fault before totals, otherwise than it should.
    Left {
        /// As they are.
        found: [u32; 4],
        /// As they should be.
        expected: [u32; 4],
    },
    /// It wrote something else.
    Wrong(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Launch(error) => error.fmt(f),
            Failure::Left { found, expected } => write!(f, "ticket, epoch and faults {found:?} for {expected:?}"),
            Failure::Wrong(what) => f.write_str(what),
        }
    }
}

/// Bytes of memory that nobody has written.
fn poison(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| 0xa5 ^ (i as u8).wrapping_mul(29)).collect()
}

impl Subject<'_> {
    /// Does the calls one after the other in one workspace of the emulator, with these mistakes put into the kernel.
    pub fn run(&self, calls: &[Call], faults: &[Fault]) -> Result<(), Failure> {
        self.run_all(calls, &mut Emulated::new(faults))
    }

    /// Does the calls one after the other in one workspace of a device, which has the kernel.
    pub fn run_on(&self, device: &mut OnDevice, calls: &[Call]) -> Result<(), Failure> {
        device.clear();
        self.run_all(calls, device)
    }

    fn run_all(&self, calls: &[Call], machine: &mut impl Machine) -> Result<(), Failure> {
        let bytes =
            calls.iter().map(|call| self.manifest.workspace_bytes(call.rows(), call.records)).max().unwrap_or(0);
        let workspace = machine.buffer(&vec![0; bytes], 0);
        calls.iter().try_for_each(|call| self.run_one(call, machine, workspace))
    }

    /// Panics with the simplest calls that fail too, if these fail.
    pub fn must_be_right(&self, calls: &[Call]) {
        let Err(mut failure) = self.run(calls, &[]) else { return };
        let mut calls = calls.to_vec();
        'simpler: loop {
            let fewer = (0..calls.len()).filter(|_| calls.len() > 1).map(|left_out| {
                let mut fewer = calls.clone();
                fewer.remove(left_out);
                fewer
            });
            let simpler = (0..calls.len()).flat_map(|place| {
                let calls = &calls;
                calls[place].simpler().into_iter().map(move |call| {
                    let mut simpler = calls.clone();
                    simpler[place] = call;
                    simpler
                })
            });
            for simpler in fewer.chain(simpler) {
                if let Err(found) = self.run(&simpler, &[]) {
                    (calls, failure) = (simpler, found);
                    continue 'simpler;
                }
            }
            break;
        }
        panic!("{failure}\n{}\n{calls:?}\n{}", self.name(), *self.program);
    }

    fn run_one<M: Machine>(&self, call: &Call, machine: &mut M, workspace: M::Buffer) -> Result<(), Failure> {
        let mut random = Random(call.data);
        let rows = if call.each { call.rows() } else { 1 };
        let given: Vec<Given> = (0..rows).map(|_| self.given(call, &mut random)).collect();
        let inputs = self.records(&mut random, call.extent());
        let records = if self.keeps() { call.room_records() } else { call.extent() };
        let mut expected: Vec<Vec<u8>> = match call.in_place {
            true => inputs.clone(),
            false => self.program.output.columns.iter().map(|layout| poison(records * layout.size as usize)).collect(),
        };
        let mut shifts = call.shifts.into_iter().cycle();
        let mut buffer = |bytes: &Vec<u8>| machine.buffer(bytes, shifts.next().expect("an endless cycle"));
        let from: Vec<M::Buffer> = inputs.iter().map(&mut buffer).collect();
        let to = if call.in_place { from.clone() } else { expected.iter().map(&mut buffer).collect() };
        let results = self.reference.run(call, &given, &inputs, &mut expected);
        let mut expected_totals: Vec<u8> = results.totals.iter().flat_map(|t| self.reference.state_bytes(t)).collect();
        let (states, before) = (&self.manifest.arguments.states, machine.read(workspace));
        let states_of_rows = call.each.then(|| machine.buffer(&self.states_of_rows(&given), 0));
        let total =
            machine.buffer(&vec![0; FAULT_BEFORE_TOTALS + call.rows() * states.size as usize], call.shifts[0] & !3);
        let blocks = self.manifest.blocks(call.rows(), call.records, machine.processors(call)) as u32;
        if blocks > 0 {
            let columns = [&from[..], &to].concat();
            let addresses = [Some(workspace), call.totals.then_some(total), states_of_rows];
            let mut addresses = addresses.map(|buffer| buffer.map_or(0, |buffer| machine.address(buffer)));
            if call.totals {
                addresses[1] += FAULT_BEFORE_TOTALS as u64;
            }
            let columns: Vec<u64> = columns.into_iter().map(|column| machine.address(column)).collect();
            let arguments = self.arguments(call, &given[0], addresses, &columns);
            machine.launch(self, call, blocks, &arguments).map_err(Failure::Launch)?;
        }
        let total = machine.read(total);
        let (before_totals, totals) = total.split_at(FAULT_BEFORE_TOTALS);
        self.same_header(blocks, &before, &machine.read(workspace), before_totals)?;
        for (number, (layout, expected)) in self.program.output.columns.iter().zip(&expected).enumerate() {
            same_records(&format!("output column {number}"), layout, &machine.read(to[number]), expected)?;
        }
        for (number, (layout, expected)) in self.program.inputs.iter().zip(&inputs).enumerate() {
            if !call.in_place {
                same_records(&format!("input column {number}"), layout, &machine.read(from[number]), expected)?;
            }
        }
        if !call.totals || blocks == 0 {
            expected_totals.fill(0);
        }
        same_records("totals", states, totals, &expected_totals)
    }

    /// The content of the workspace after a launch, and of the bytes before totals: no ticket, no fault, and the next epoch if tiles
    /// were published.
    fn same_header(&self, blocks: u32, before: &[u8], after: &[u8], before_totals: &[u8]) -> Result<(), Failure> {
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let publishes = match self.schedule() {
            Schedule::Ring { .. } => blocks > 0,
            Schedule::LookBack => blocks > 1,
            Schedule::Columnar => false,
        };
        let expected = [0, word(before, EPOCH) + publishes as u32, 0, 0];
        let found = [word(after, TICKET), word(after, EPOCH), word(after, FAULT), word(before_totals, 0)];
        if found == expected { Ok(()) } else { Err(Failure::Left { found, expected }) }
    }

    /// The states of a row, or of all; parameters are those of the first.
    fn given(&self, call: &Call, random: &mut Random) -> Given {
        // Behind many records a state may say that something was at a place that the call has itself.
        let most = if random.chance(2) { call.records.max(1) } else { 5 };
        let count = 1 + random.below(most);
        let [start, init] = [0; 2].map(|_| self.records(random, count));
        let none = || self.program.inputs.iter().map(|_| Vec::new()).collect::<Vec<Vec<u8>>>();
        let mut any = |&ty: &Type| Constant::from_bytes(ty, &random.bytes(ty.size()));
        let parameters: Vec<Constant> = self.program.parameters.iter().map(&mut any).collect();
        let mut start = self.reference.states(&if call.started { start } else { none() }, &parameters);
        let init = match call.resumed && self.reference.tells_init_from_start() {
            true => self.reference.states(&init, &parameters),
            false => start.clone(),
        };
        if let Some(rank) = self.reference.rank {
            start[rank] = (call.kept as u64).into();
        }
        Given { start, init, parameters }
    }

    /// The states of each row, where rows have their own.
    fn states_of_rows(&self, given: &[Given]) -> Vec<u8> {
        let layout = &self.manifest.arguments;
        let apart = layout.init() - layout.start();
        let padded = |state: &[Constant]| {
            let mut bytes = self.reference.state_bytes(state);
            bytes.resize(apart, 0xa5);
            bytes
        };
        given.iter().flat_map(|given| [padded(&given.start), padded(&given.init)].concat()).collect()
    }

    /// The kernel's arguments; the addresses are those of the workspace, of totals and of the states of rows.
    fn arguments(
        &self,
        call: &Call,
        given: &Given,
        [workspace, total, states_of_rows]: [u64; 3],
        columns: &[u64],
    ) -> Vec<u8> {
        let layout = &self.manifest.arguments;
        let mut bytes = vec![0; layout.bytes()];
        let mut set = |offset: usize, value: u64| bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        set(Arguments::RECORDS, call.records as u64);
        set(Arguments::WORKSPACE, workspace);
        set(Arguments::TOTAL, total);
        set(Arguments::TIMEOUT, call.timeout.min(LONGEST));
        set(Arguments::CAPACITY, call.room_records() as u64);
        set(Arguments::REVERSED, call.reversed as u64);
        set(Arguments::ROWS, call.rows() as u64);
        set(Arguments::PITCH, call.pitch() as u64);
        set(Arguments::STEP, call.step as u64);
        set(Arguments::STATES_OF_ROWS, states_of_rows);
        set(Arguments::CHUNK, call.records as u64);
        columns.iter().enumerate().for_each(|(place, &column)| set(layout.column(place), column));
        let at = layout.parameters();
        let parameters = layout.parameters.to_bytes(&given.parameters);
        bytes[at..at + parameters.len()].copy_from_slice(&parameters);
        for (at, state) in [(layout.start(), &given.start), (layout.init(), &given.init)] {
            let state = self.reference.state_bytes(state);
            bytes[at..at + state.len()].copy_from_slice(&state);
        }
        bytes
    }
}

/// Byte for byte, but for which NaN a float is.
fn same_records(what: &str, layout: &Layout, found: &[u8], expected: &[u8]) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let size = layout.size as usize;
    let differences = found.chunks(size).zip(expected.chunks(size)).enumerate().filter(|(_, (found, expected))| {
        let (mut left, mut right) = (found.to_vec(), expected.to_vec());
        for field in layout.fields.iter().filter(|field| field.ty.is_float()) {
            let bytes = field.offset as usize..field.offset as usize + field.ty.size();
            let value = |record: &[u8]| Constant::from_bytes(field.ty, &record[bytes.clone()]);
            if value(found).same(value(expected)) {
                left[bytes.clone()].fill(0);
                right[bytes].fill(0);
            }
        }
        left != right
    });
    let mut differences = differences.map(|(place, (found, expected))| format!("{place}: {found:?} for {expected:?}"));
    match differences.next() {
        None => Ok(()),
        Some(first) => {
            Err(Failure::Wrong(format!("{what}: {} records differ, first {first}", 1 + differences.count())))
        }
    }
}

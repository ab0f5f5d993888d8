//! Launches in the emulator, and whether they wrote what they must.

use scan_codegen::gpu::{Arguments, EPOCH, FAULT, Schedule, TICKET};
use scan_emulator::{Buffer, Device, Fault, Launch, LaunchError};
use scan_ir::{Constant, Layout};

use crate::expected::Given;
use crate::{Call, Random, Subject};

/// How a launch went wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// It did what it must not, or did not end.
    Launch(LaunchError),
    /// It left the workspace's ticket, epoch and fault otherwise than it should.
    Left {
        /// As they are.
        found: [u32; 3],
        /// As they should be.
        expected: [u32; 3],
    },
    /// It wrote something else.
    Wrong(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Launch(error) => error.fmt(f),
            Failure::Left { found, expected } => write!(f, "ticket, epoch and fault {found:?} for {expected:?}"),
            Failure::Wrong(what) => f.write_str(what),
        }
    }
}

/// What is in memory that nobody has written.
fn poison(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| 0xa5 ^ (i as u8).wrapping_mul(29)).collect()
}

impl Subject<'_> {
    /// Does the calls one after the other in one workspace, with these mistakes put into the kernel.
    pub fn run(&self, calls: &[Call], faults: &[Fault]) -> Result<(), Failure> {
        let mut device = Device::new();
        let bytes =
            calls.iter().map(|call| self.manifest.workspace_bytes(call.rows(), call.records)).max().unwrap_or(0);
        let workspace = device.buffer(&vec![0; bytes]);
        calls.iter().try_for_each(|call| self.run_one(call, faults, &mut device, workspace))
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

    fn run_one(&self, call: &Call, faults: &[Fault], device: &mut Device, workspace: Buffer) -> Result<(), Failure> {
        let mut random = Random::new(call.data);
        let given = self.given(call, &mut random);
        let inputs = self.records(&mut random, call.extent());
        let records = if self.keeps() { call.room_records() } else { call.extent() };
        let mut expected: Vec<Vec<u8>> = match call.in_place {
            true => inputs.clone(),
            false => self.program.output.columns.iter().map(|layout| poison(records * layout.size as usize)).collect(),
        };
        let mut shifts = call.shifts.into_iter().cycle();
        let mut buffer = |bytes: &Vec<u8>| device.buffer_shifted(bytes, shifts.next().expect("an endless cycle"));
        let from: Vec<Buffer> = inputs.iter().map(&mut buffer).collect();
        let to = if call.in_place { from.clone() } else { expected.iter().map(&mut buffer).collect() };
        let results = self.reference.run(call, &given, &inputs, &mut expected);
        let mut expected_totals: Vec<u8> = results.totals.iter().flat_map(|t| self.reference.state_bytes(t)).collect();
        let (states, before) = (&self.manifest.arguments.states, device.read(workspace));
        let total = device.buffer_shifted(&vec![0; call.rows() * states.size as usize], call.shifts[0]);
        let blocks = self.manifest.blocks(call.rows(), call.records, call.processors) as u32;
        if blocks > 0 {
            let columns = [&from[..], &to].concat();
            let arguments = self.arguments(call, &given, device, workspace, call.totals.then_some(total), &columns);
            let launch = Launch {
                blocks,
                threads: self.manifest.threads as u32,
                shared_bytes: self.manifest.shared_bytes,
                args: &arguments,
                resident: call.resident,
                seed: call.schedule,
                faults,
                // Many blocks that wait keep few that work from their turns.
                patience: 20_000_000,
                ..Launch::default()
            };
            self.kernel.launch(device, &launch).map_err(Failure::Launch)?;
        }
        self.same_header(blocks, &before, &device.read(workspace))?;
        for (number, (layout, expected)) in self.program.output.columns.iter().zip(&expected).enumerate() {
            same_records(&format!("output column {number}"), layout, &device.read(to[number]), expected)?;
        }
        for (number, (layout, expected)) in self.program.inputs.iter().zip(&inputs).enumerate() {
            if !call.in_place {
                same_records(&format!("input column {number}"), layout, &device.read(from[number]), expected)?;
            }
        }
        if !call.totals || blocks == 0 {
            expected_totals.fill(0);
        }
        same_records("totals", states, &device.read(total), &expected_totals)
    }

    /// What a launch leaves in the workspace: no ticket, no fault, and the next epoch if tiles were published.
    fn same_header(&self, blocks: u32, before: &[u8], after: &[u8]) -> Result<(), Failure> {
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let publishes = match self.schedule() {
            Schedule::Ring { .. } => blocks > 0,
            Schedule::LookBack => blocks > 1,
            Schedule::Columnar => false,
        };
        let expected = [0, word(before, EPOCH) + publishes as u32, 0];
        let found = [TICKET, EPOCH, FAULT].map(|at| word(after, at));
        if found == expected { Ok(()) } else { Err(Failure::Left { found, expected }) }
    }

    fn given(&self, call: &Call, random: &mut Random) -> Given {
        let count = 1 + random.below(5);
        let [start, seed] = [0; 2].map(|_| self.records(random, count));
        let none = || self.program.inputs.iter().map(|_| Vec::new()).collect::<Vec<Vec<u8>>>();
        let mut start = self.reference.states(&if call.started { start } else { none() });
        let seed = match call.resumed && self.reference.tells_seed_from_start() {
            true => self.reference.states(&seed),
            false => start.clone(),
        };
        if let Some(rank) = self.reference.rank() {
            start[rank] = (call.kept as u64).into();
        }
        Given { start, seed }
    }

    fn arguments(
        &self,
        call: &Call,
        given: &Given,
        device: &Device,
        workspace: Buffer,
        total: Option<Buffer>,
        columns: &[Buffer],
    ) -> Vec<u8> {
        let layout = &self.manifest.arguments;
        let mut bytes = vec![0; layout.bytes()];
        let mut set = |offset: usize, value: u64| bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        set(Arguments::RECORDS, call.records as u64);
        set(Arguments::WORKSPACE, device.address(workspace));
        set(Arguments::TOTAL, total.map_or(0, |total| device.address(total)));
        set(Arguments::TIMEOUT, call.timeout);
        set(Arguments::ROOM, call.room_records() as u64);
        set(Arguments::REVERSED, call.reversed as u64);
        set(Arguments::ROWS, call.rows() as u64);
        set(Arguments::PITCH, call.pitch() as u64);
        set(Arguments::STEP, call.step as u64);
        columns.iter().enumerate().for_each(|(place, &column)| set(layout.column(place), device.address(column)));
        for (at, state) in [(layout.start(), &given.start), (layout.seed(), &given.seed)] {
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

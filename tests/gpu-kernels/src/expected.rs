//! The expected results of a call, by the interpreter of programs: no tiles, no strides.

use monoscan_ir::interp::{self, Request};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Layout, Program, Source, Type, WellTyped, verify};

use crate::Call;

/// A lowered program, ready to be interpreted.
pub(crate) struct Reference {
    program: Box<dyn WellTyped>,
    /// Which component counts kept records.
    pub(crate) rank: Option<usize>,
    /// Whether the program's initial states are its last input column: the interpreter takes one state for what a row starts from
    /// and for its initial state, a kernel takes two.
    has_init_column: bool,
    states: Layout,
}

/// The states that a launch is given, for all rows or for one.
pub(crate) struct Given {
    /// The states that the first record of each row starts from.
    pub(crate) start: Vec<Constant>,
    /// The initial states that programs read.
    pub(crate) init: Vec<Constant>,
    /// The values of the program's parameters.
    pub(crate) parameters: Vec<Constant>,
}

/// The results of a launch besides its outputs.
pub(crate) struct Results {
    /// The states after each row.
    pub(crate) totals: Vec<Vec<Constant>>,
}

impl Reference {
    pub(crate) fn new(lowered: &Lowered) -> Reference {
        let types: Vec<Type> = lowered.stages.iter().flat_map(|stage| stage.state.iter().copied()).collect();
        let states = Layout::packed(&types);
        let mut with_column = Program::clone(lowered);
        let first = with_column.record_types().len() as u32;
        let components = |stages: usize| lowered.stages[..stages].iter().map(|stage| stage.state.len()).sum();
        let rank = lowered.rank().map(|stage| components(stage as usize));
        let sizes: Vec<usize> = with_column.stages.iter().map(|stage| stage.state.len()).collect();
        with_column.inputs.push(states.clone());
        for mapping in with_column.mappings_mut() {
            for source in &mut mapping.reads {
                if let Source::Init { stage, component } = *source {
                    let number = sizes[..stage as usize].iter().sum::<usize>() as u32 + component;
                    *source = Source::Record(first + number);
                }
            }
        }
        // A lowered program may have passed the limits of the verifier.
        match verify(with_column) {
            Ok(program) => Reference { program: Box::new(program), rank, has_init_column: true, states },
            Err(_) => Reference { program: Box::new(lowered.clone()), rank, has_init_column: false, states },
        }
    }

    /// The identities, or the states after some records.
    pub(crate) fn states(&self, records: &[Vec<u8>], parameters: &[Constant]) -> Vec<Constant> {
        let identities: Vec<Constant> =
            self.program.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect();
        let mut states = self.interpret(records.to_vec(), (&identities, &identities), parameters).states_after.concat();
        if let Some(rank) = self.rank {
            states[rank] = 0u64.into();
        }
        states
    }

    /// Whether a kernel can be given initial states other than what rows start from.
    pub(crate) fn tells_init_from_start(&self) -> bool {
        self.has_init_column
    }

    /// Writes to `outputs` what a call writes, whose rows are given the same or each their own.
    pub(crate) fn run(&self, call: &Call, given: &[Given], inputs: &[Vec<u8>], outputs: &mut [Vec<u8>]) -> Results {
        let mut totals = Vec::new();
        for row in 0..call.rows() {
            let places = call.row(row);
            let gather = |(bytes, layout): (&Vec<u8>, &Layout)| -> Vec<u8> {
                let size = layout.size as usize;
                places.iter().flat_map(|&place| &bytes[place * size..][..size]).copied().collect()
            };
            let columns = inputs.iter().zip(&self.program.inputs).map(gather).collect();
            let Given { start, init, .. } = &given[row.min(given.len() - 1)];
            let run = self.interpret(columns, (start, init), &given[0].parameters);
            let places = match self.rank {
                Some(_) => {
                    (call.kept..call.kept + run.count).take_while(|&place| place < call.room_records()).collect()
                }
                None => places,
            };
            for ((output, dense), layout) in outputs.iter_mut().zip(&run.outputs).zip(&self.program.output.columns) {
                let size = layout.size as usize;
                for (&place, record) in places.iter().zip(dense.chunks(size)) {
                    for field in &layout.fields {
                        let bytes = field.offset as usize..field.offset as usize + field.ty.size();
                        output[place * size..][bytes.clone()].copy_from_slice(&record[bytes]);
                    }
                }
            }
            totals.push(run.states_after.concat());
        }
        Results { totals }
    }

    fn interpret(
        &self,
        mut columns: Vec<Vec<u8>>,
        (start, init): (&[Constant], &[Constant]),
        parameters: &[Constant],
    ) -> interp::Run {
        if self.has_init_column {
            let count = columns[0].len() / self.program.inputs[0].size as usize;
            columns.push(self.state_bytes(init).repeat(count));
        }
        let mut rest = start.iter().copied();
        let stages = self.program.stages.iter();
        let init = stages.map(|stage| rest.by_ref().take(stage.state.len()).collect()).collect();
        let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        let request = Request { init: Some(init), parameters: parameters.to_vec(), ..Request::default() };
        interp::run(&*self.program, &columns, &request).expect("whole columns, and states of the program")
    }

    /// A state of all stages, as arguments and totals have it.
    pub(crate) fn state_bytes(&self, state: &[Constant]) -> Vec<u8> {
        let mut bytes = vec![0; self.states.size as usize];
        for (field, component) in self.states.fields.iter().zip(state) {
            bytes[field.offset as usize..][..field.ty.size()].copy_from_slice(&component.to_bytes());
        }
        bytes
    }
}

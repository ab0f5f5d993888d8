//! Records that a program might be given: small numbers, of which its lifts make valid states where
//! they can.

use monoscan_codegen::cpu::ShortInputs;
use monoscan_ir::interp::{self, Interpreter};
use monoscan_ir::laws::sample_states;
use monoscan_ir::random::SplitMix64;
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Function, Program, Source, Stage, Type};

use crate::parameters::Parameters;

/// Columns of records.
pub(in crate::engine) struct Sample {
    pub(in crate::engine) len: usize,
    pub(in crate::engine) columns: Vec<Vec<u8>>,
    pub(in crate::engine) parameters: Parameters,
}

/// How large numbers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) enum Kind {
    /// Up to a few hundred, so that a byte takes every value; floats are quarters.
    Broad,
    /// −1 to 2.
    Small,
    /// 0 and 1.
    Bits,
    /// As many as records come before, and up to 3: what is asked to be in order often is.
    Rising,
}

impl Kind {
    /// All kinds, in the order of trial: the one that says the most first; the one that rounds and overflows the least, last.
    pub(super) const ALL: [Kind; 4] = [Kind::Broad, Kind::Small, Kind::Bits, Kind::Rising];
}

/// How often a record is drawn before another one is taken again.
const TRIES: usize = 8;

impl Sample {
    /// The columns as kernels of short lines take them.
    pub(in crate::engine) fn short_inputs(&self) -> ShortInputs {
        ShortInputs::of(self.columns.iter().map(|column| column.as_ptr()), self.parameters.as_ptr())
    }

    /// So many records, the same each time.
    pub(in crate::engine) fn new(program: &Lowered, len: usize, kind: Kind) -> Sample {
        let types = program.record_types();
        let starts = starts(program);
        let mut interpreter = Interpreter::checked(&program.tables);
        let states = states_as_records(program, &types);
        let mut random = Random(SplitMix64(len as u64));
        let parameters = program.parameters.iter().map(|&ty| random.value(ty, kind, 0)).collect();
        let mut before: Vec<Vec<Constant>> = program.stages.iter().map(|stage| stage.identity.clone()).collect();
        let parameters = Parameters::new(parameters);
        let mut records: Vec<Vec<Constant>> = Vec::new();
        for place in 0..len {
            let drawn = (0..TRIES).find_map(|_| {
                let mut record: Vec<Constant> = types.iter().map(|&ty| random.value(ty, kind, place)).collect();
                if let Some(start) = starts.get(place % starts.len().max(1)) {
                    let own = record.len() - start.len();
                    record[own..].copy_from_slice(start);
                }
                let after = after(program, &mut interpreter, &before, &record)?;
                before = after;
                Some(record)
            });
            let again = || states.get(place % states.len().max(1)).or_else(|| records.get(place / 2)).cloned();
            let any = || types.iter().map(|ty| ty.zero()).collect();
            let record = drawn.or_else(again).unwrap_or_else(any);
            records.push(record);
        }
        let mut first = 0;
        let mut column = |layout: &monoscan_ir::Layout| {
            let bytes = records.iter().flat_map(|record| layout.to_bytes(&record[first..])).collect();
            first += layout.fields.len();
            bytes
        };
        Sample { len, columns: program.inputs.iter().map(&mut column).collect(), parameters }
    }

    /// So many records, from this one on.
    pub(super) fn part(&self, start: usize, len: usize, program: &Lowered) -> Sample {
        self.taken(&Vec::from_iter(start..start + len), program)
    }

    /// The records at these places.
    pub(in crate::engine) fn taken(&self, places: &[usize], program: &Lowered) -> Sample {
        let columns = self.columns.iter().zip(&program.inputs).map(|(column, layout)| {
            let size = layout.size as usize;
            places.iter().flat_map(|place| &column[place * size..][..size]).copied().collect()
        });
        Sample { len: places.len(), columns: columns.collect(), parameters: self.parameters.clone() }
    }
}

/// Valid states for a column that has the start of each segment.
fn starts(program: &Lowered) -> Vec<Vec<Constant>> {
    if program.starts().is_none() {
        return Vec::new();
    }
    let stages = || program.stages.iter().zip(program.carried_components()).take(program.user_stages());
    if program.sequential.is_some() {
        let own = |states: Vec<Vec<Constant>>| {
            stages().zip(states).flat_map(|((_, &own), state)| state.into_iter().take(own)).collect()
        };
        return loop_states(program).into_iter().map(own).collect();
    }
    let samples: Vec<Vec<Vec<Constant>>> =
        stages().map(|(stage, _)| sample_states(stage, &program.tables, 5, 0)).collect();
    let start = |place: usize| {
        let component = |((stage, &own), samples): ((&Stage, &usize), &Vec<Vec<Constant>>)| {
            let state = samples.get(place % samples.len().max(1)).unwrap_or(&stage.identity);
            state[..own].to_vec()
        };
        stages().zip(&samples).flat_map(component).collect()
    };
    (0..5).map(start).collect()
}

/// For each of some states of the loop that a program was derived from, those of the stages that stand for it: its initial state and
/// others that are found again, as not every valid state is one that the loop reaches.
pub(super) fn loop_states(program: &Lowered) -> Vec<Vec<Vec<Constant>>> {
    let mut found = vec![program.start()];
    let Some(of) = &program.sequential else { return found };
    for number in 1..5 {
        let state: Vec<Constant> = of.initial.iter().map(|initial| other(*initial, number)).collect();
        let stages = program.standing_for(of, &state);
        let entered = interp::call(&of.enter, &stages.concat()[..of.enter.params.len()], &program.tables);
        if entered.iter().zip(&state).all(|(entered, state)| entered.same(*state)) {
            found.push(stages);
        }
    }
    found
}

/// Another number of its type, but of truth values, which may be flags of segments.
fn other(value: Constant, number: i64) -> Constant {
    match value.ty() {
        Type::Bool | Type::Bytes(_) => value,
        ty => ty.of_i64(number),
    }
}

/// Where records are states of the first stage, valid ones.
fn states_as_records(program: &Program, types: &[Type]) -> Vec<Vec<Constant>> {
    match &program.stages[..] {
        [Stage { state, .. }, ..] if state == types => sample_states(&program.stages[0], &program.tables, 16, 0),
        _ => Vec::new(),
    }
}

/// The states after a record, if the stages that read the record alone make valid states of it, which follow those before.
/// The states of others stay as they are, and of those to which every state is valid and may follow.
fn after(
    program: &Program,
    interpreter: &mut Interpreter<'_>,
    before: &[Vec<Constant>],
    record: &[Constant],
) -> Option<Vec<Vec<Constant>>> {
    let stages = program.stages.iter().zip(before);
    let after = stages.map(|(stage, before)| {
        let component = |source: &Source| match *source {
            Source::Record(component) => record.get(component as usize).copied(),
            _ => None,
        };
        let arguments: Option<Vec<Constant>> = stage.lift.reads.iter().map(component).collect();
        let is_any = stage.valid.is_none() && stage.follows.is_none();
        let Some(arguments) = arguments.filter(|_| !is_any) else { return Some(before.clone()) };
        let state = interpreter.call(&stage.lift.function, &arguments).clone();
        let both = [&before[..], &state].concat();
        let mut holds = |function: &Option<Function>, arguments: &[Constant]| {
            let verdict = |function| interpreter.call(function, arguments)[0].bits() != 0 && !interpreter.overflowed();
            function.as_ref().is_none_or(verdict)
        };
        let is_right = holds(&stage.valid, &state) && holds(&stage.follows, &both);
        is_right.then(|| match stage.follows {
            Some(_) => interpreter.call(&stage.combine, &both).clone(),
            None => before.clone(),
        })
    });
    after.collect()
}

/// Random records.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next() % bound
    }

    fn value(&mut self, ty: Type, kind: Kind, place: usize) -> Constant {
        if let Type::Bytes(lanes) = ty {
            let bytes: Vec<u8> = (0..lanes.get()).map(|_| self.below(lanes.get() as u64) as u8).collect();
            return Constant::vector(&bytes);
        }
        let whole = match (kind, self.below(3)) {
            (Kind::Bits, _) => self.below(2) as i64,
            (Kind::Rising, _) => place as i64 + self.below(4) as i64,
            (Kind::Small, _) | (Kind::Broad, 0) => self.below(4) as i64 - 1,
            (Kind::Broad, _) => self.below(300) as i64 - 30,
        };
        let quarters = if kind == Kind::Broad { self.below(4) as f64 / 4.0 } else { 0.0 };
        match ty {
            Type::F32 | Type::F64 if kind == Kind::Rising => ty.of_i64(whole),
            Type::F32 => Constant::from((whole % 8) as f32 + quarters as f32),
            Type::F64 => Constant::from((whole % 8) as f64 + quarters),
            Type::U8 | Type::I8 | Type::Bool => ty.of_i64(whole),
            _ if ty.is_signed() => ty.of_i64(whole),
            _ => ty.of_i64(whole.abs()),
        }
    }
}

//! Random programs for tests of engines: they always verify, and use every opcode, type and source
//! there is.
//!
//! The same seed and options give the same program on every machine. No program lets an engine's
//! choice of NaN show: a float's bits are looked at only where it is a number.

mod associative;
mod function;
mod loops;
mod machines;
mod neighbours;
mod numbers;
mod plain;
mod seed;
mod shapes;
mod stops;
mod types;

use associative::Family;
use function::Grower;
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{
    Field, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value,
};

pub use numbers::Random;
pub use seed::seed;

/// Options of random programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Most stages, 1 to [`MAX_STAGES`](monoscan_ir::MAX_STAGES).
    pub stages: usize,
    /// Whether some programs `emit`.
    pub allow_emit: bool,
    /// Whether there are byte vectors.
    pub allow_vectors: bool,
    /// Whether the next record and `last` are read.
    pub allow_next: bool,
    /// Whether the record before and `first` are read.
    pub allow_previous: bool,
    /// Whether some programs have parameters.
    pub allow_parameters: bool,
    /// Whether initial states are read.
    pub allow_init: bool,
    /// Whether every operator is associative and every identity one, exactly, on the states its `valid` accepts; all
    /// lifts give such states. Needed wherever an engine is free to choose the association.
    pub associative: bool,
}

impl Options {
    /// Cascades that read all there is, of which some filter, with associative operators.
    pub fn cascades() -> Options {
        Options {
            stages: 3,
            allow_emit: true,
            allow_previous: true,
            allow_parameters: true,
            allow_init: true,
            ..Options::default()
        }
    }
}

/// The sequential loop of a seed: any step at all, of which many are scans and many are not.
///
/// ```
/// use monoscan_ir::derive::derive;
/// use scan_kit::random;
///
/// let derived = (0..100).filter(|&seed| derive(&random::random_loop(seed)).is_ok()).count();
/// assert!(derived > 20 && derived < 95, "{derived}");
/// ```
pub fn random_loop(seed: u64) -> LoopProgram {
    let (name, mut rng) = (format!("loop_{seed}"), Random(seed));
    match seed % 32 {
        31 => shapes::shaped(name, &mut rng),
        15 => shapes::bounded(name, &mut rng),
        23 if seed / 32 % 2 == 1 => stops::stopped(name, &mut rng),
        23 => shapes::counter(name, &mut rng),
        7 => machines::machine(name, &mut rng),
        _ => loops::program(name, &mut rng, seed % 8 == 5),
    }
}

impl Default for Options {
    /// One stage that writes, with an associative operator.
    fn default() -> Options {
        Options {
            stages: 1,
            allow_emit: false,
            allow_vectors: true,
            allow_next: true,
            allow_previous: false,
            allow_parameters: false,
            allow_init: false,
            associative: true,
        }
    }
}

/// The program of a seed. Its functions have at most about forty instructions.
///
/// ```
/// use {monoscan_ir::verify, scan_kit::random};
/// let program = random::random_program(1, &random::Options::default());
/// assert!(verify(program).is_ok());
/// ```
pub fn random_program(seed: u64, options: &Options) -> Program {
    let mut maker = Maker { rng: Random(seed), options };
    let tables = (0..maker.rng.below(3)).map(|_| maker.table()).collect();
    let inputs = (0..1 + maker.rng.below(2)).map(|_| maker.layout()).collect();
    let columns = (0..1 + maker.rng.below(2)).map(|_| maker.layout()).collect();
    let nothing = Mapping::default();
    let output = Output { filter: None, project: nothing, columns };
    let mut program = Program {
        name: format!("random_{seed}"),
        tables,
        inputs,
        parameters: Vec::new(),
        stages: Vec::new(),
        output,
        sequential: None,
    };
    if options.allow_parameters {
        program.parameters = (0..maker.rng.below(4)).map(|_| maker.ty()).collect();
    }
    for _ in 0..1 + maker.rng.below(options.stages.clamp(1, monoscan_ir::MAX_STAGES)) {
        let stage = match options.allow_vectors && maker.rng.chance(6) {
            true => maker.automaton(&mut program),
            false => maker.stage(&program),
        };
        program.stages.push(stage);
    }
    if options.allow_emit && maker.rng.chance(2) {
        program.output.filter = Some(maker.mapping(&program, true, &[Type::Bool]));
    }
    program.output.project = maker.mapping(&program, true, &program.output_types());
    program
}

/// A program of one associative stage over scalars, with a lift that converts and compares fields of the record, and outputs that
/// are some components of the state, converted. Most of these have kernels in vectors, which few random programs do.
///
/// ```
/// use {monoscan_ir::verify, scan_kit::random};
/// assert!(verify(random::plain_program(1)).is_ok());
/// ```
pub fn plain_program(seed: u64) -> Program {
    plain::program(format!("plain_{seed}"), &mut Random(seed))
}

struct Maker<'a> {
    rng: Random,
    options: &'a Options,
}

impl Maker<'_> {
    fn ty(&mut self) -> Type {
        self.rng.ty(self.options.allow_vectors)
    }

    fn table(&mut self) -> Table {
        let ty = self.ty();
        let elements = 1 + self.rng.below(20);
        Table::new(ty, (0..elements).map(|_| self.rng.operand(ty)).collect::<Vec<_>>())
    }

    /// One to three fields: half of the time as `repr(C)` would have them, else with odd gaps and no alignment.
    fn layout(&mut self) -> Layout {
        let types: Vec<Type> = (0..1 + self.rng.below(3)).map(|_| self.ty()).collect();
        if self.rng.chance(2) {
            return Layout::packed(&types);
        }
        let mut end = 0;
        let mut fields = Vec::new();
        for ty in types {
            let offset = end + self.rng.below(3) as u32;
            end = offset + ty.size() as u32;
            fields.push(Field { offset, ty });
        }
        Layout { size: end + self.rng.below(3) as u32, align: 1, fields }
    }

    fn stage(&mut self, before: &Program) -> Stage {
        if self.options.associative { self.associative_stage(before) } else { self.arbitrary_stage(before) }
    }

    /// A declared automaton of a few states or several vectors of them.
    fn automaton(&mut self, before: &mut Program) -> Stage {
        let states = 1 + if self.rng.chance(2) { self.rng.below(16) } else { self.rng.below(48) };
        let symbols = 1 + self.rng.below(9);
        let maps: Vec<u8> = (0..states * symbols).map(|_| self.rng.below(states) as u8).collect();
        let symbol = self.lift(before, &[Type::U32], |b, number| {
            let symbols = b.lit(symbols as u32);
            vec![b.binary(Opcode::Rem, number[0], symbols)]
        });
        let mut tables = std::mem::take(&mut before.tables);
        let stage = Stage::automaton(states, &maps, symbol, &mut tables).expect("maps lead to states");
        before.tables = tables;
        stage
    }

    fn arbitrary_stage(&mut self, before: &Program) -> Stage {
        let state: Vec<Type> = (0..1 + self.rng.below(4)).map(|_| self.ty()).collect();
        let identity = state.iter().map(|&ty| self.rng.operand(ty)).collect();
        let lift = self.lift(before, &state, |_, results| results.to_vec());
        let combine = self.function(&[state.as_slice(), &state].concat(), &state, &before.tables);
        let valid = self.rng.chance(4).then(|| self.function(&state, &[Type::Bool], &before.tables));
        Stage { state, identity, lift, combine, valid, ..Stage::default() }
    }

    fn associative_stage(&mut self, before: &Program) -> Stage {
        let family = Family::random(&mut self.rng, self.options.allow_vectors);
        let state = family.types();
        let lift = self.lift(before, &state, |builder, results| family.normalise(builder, results));
        Stage {
            identity: family.identity(),
            combine: family.combine_function(),
            valid: family.valid_function(),
            state,
            lift,
            ..Stage::default()
        }
    }

    /// A lift to such states, which `finish` makes of any. If it reads an earlier stage, what it gives mostly depends on
    /// that: or few cascades would be more than scans side by side.
    fn lift(
        &mut self,
        before: &Program,
        state: &[Type],
        finish: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Vec<Value>,
    ) -> Mapping {
        let (reads, types) = self.reads(before, false);
        let earlier = |source: &Source| matches!(source, Source::Before { .. } | Source::After { .. });
        let earlier: Vec<usize> = (0..reads.len()).filter(|&place| earlier(&reads[place])).collect();
        let hinge = (!earlier.is_empty() && !self.rng.chance(4)).then(|| Value::new(*self.rng.pick(&earlier)));
        let mut grower = self.grower(&types, &before.tables);
        let mut results = grower.grow(state);
        if let Some(hinge) = hinge {
            results.iter_mut().for_each(|result| *result = grower.hinged(*result, hinge));
        }
        let results = finish(&mut grower.builder, &results);
        Mapping { reads, function: grower.builder.finish(&results) }
    }

    fn mapping(&mut self, program: &Program, is_output: bool, results: &[Type]) -> Mapping {
        let (reads, types) = self.reads(program, is_output);
        Mapping { reads, function: self.function(&types, results, &program.tables) }
    }

    fn function(&mut self, params: &[Type], results: &[Type], tables: &[Table]) -> Function {
        let mut grower = self.grower(params, tables);
        let results = grower.grow(results);
        grower.builder.finish(&results)
    }

    fn grower<'a>(&'a mut self, params: &[Type], tables: &'a [Table]) -> Grower<'a> {
        Grower::new(&mut self.rng, params, tables, self.options.allow_vectors)
    }

    /// One to five of the sources that there are, with their types.
    fn reads(&mut self, program: &Program, is_output: bool) -> (Vec<Source>, Vec<Type>) {
        let fields = 0..program.record_types().len() as u32;
        let mut sources: Vec<Source> = fields.clone().map(Source::Record).collect();
        sources.push(Source::Index);
        if self.options.allow_next {
            sources.extend(fields.clone().map(Source::Next));
            sources.push(Source::Last);
        }
        if self.options.allow_previous {
            sources.extend(fields.map(Source::Prev));
            sources.push(Source::First);
        }
        sources.extend((0..program.parameters.len() as u32).map(Source::Parameter));
        for (stage, of) in (0..).zip(&program.stages) {
            if self.options.allow_init {
                sources.extend((0..of.state.len() as u32).map(|component| Source::Init { stage, component }));
            }
            // Stages read earlier ones more often than anything else.
            for _ in 0..if is_output { 1 } else { 3 } {
                for component in 0..of.state.len() as u32 {
                    sources.push(Source::Before { stage, component });
                    sources.push(Source::After { stage, component });
                }
            }
        }
        let state = program.stages.last().filter(|_| is_output).map_or(0, |stage| stage.state.len() as u32);
        // Outputs read the state more often than anything else.
        (0..3).for_each(|_| sources.extend((0..state).map(Source::State)));
        let reads = (0..1 + self.rng.below(5)).map(|_| *self.rng.pick(&sources));
        reads.filter_map(|source| Some((source, program.source_type(source)?))).unzip()
    }
}

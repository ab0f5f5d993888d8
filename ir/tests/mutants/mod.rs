//! Programs made of damage: random changes, most of which break an invariant.

use monoscan_ir::derive::{LoopProgram, derive};
use monoscan_ir::{Constant, Function, Inst, Layout, Opcode, Payload, Program, Source, Stage, Table, Type, Value};
use scan_kit::Random;
use scan_kit::random::{Options, random_loop, random_program};

/// A random program; some are derived from a loop, which they have.
pub(crate) fn any_program(seed: u64, options: &Options) -> Program {
    let derived = (seed % 8 == 7).then(|| derive(&random_loop(seed / 8)).ok()).flatten();
    derived.map_or_else(|| random_program(seed, options), |derivation| derivation.program)
}

/// Random changes.
pub(crate) struct Noise(pub(crate) Random);

impl Noise {
    /// A number below `count`; 0 where that is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.below(count.max(1))
    }

    fn ty(&mut self) -> Type {
        Type::SCALARS.get(self.below(13)).copied().unwrap_or_else(|| Type::bytes(1 + self.below(16)).unwrap())
    }

    fn number(&mut self) -> u32 {
        [0, 1, 2, 3, 7, 255, 4096, u32::MAX - 1, u32::MAX][self.below(9)]
    }

    fn constant(&mut self) -> Constant {
        Constant::new(self.ty(), (self.below(usize::MAX) as u128) << self.below(100))
    }

    fn value(&mut self) -> Value {
        Value::new(if self.below(4) == 0 { self.number() as usize } else { self.below(20) })
    }
}

/// Changes a program in a few places.
pub(crate) fn mutate(program: &mut Program, seed: u64, changes: u64) {
    let mut noise = Noise(Random(seed));
    for _ in 0..changes {
        match noise.below(12) {
            0 => program.name = ["", "two words", "quote\"", "ok"][noise.below(4)].into(),
            1 => mutate_tables(&mut program.tables, &mut noise),
            2 | 3 => {
                let columns = [&mut program.inputs, &mut program.output.columns][noise.below(2)].iter_mut();
                columns.for_each(|layout| mutate_layout(layout, &mut noise));
            }
            4 => [&mut program.inputs, &mut program.output.columns][noise.below(2)].clear(),
            5 => mutate_stages(&mut program.stages, &mut noise),
            6 => {
                program.stages.iter_mut().for_each(|stage| mutate_stage(stage, &mut noise));
                if let Some(of) = &mut program.sequential {
                    of.initial.push(noise.constant());
                }
            }
            7 => {
                mutate_reads(&mut program.output.project.reads, &mut noise);
                if let Some(of) = &mut program.sequential {
                    let mut mappings = vec![&mut of.step, &mut of.project];
                    mappings.extend(of.checked.iter_mut().flat_map(|of| [&mut of.step, &mut of.project]));
                    let at = noise.below(mappings.len());
                    mutate_reads(&mut mappings[at].reads, &mut noise);
                }
            }
            8 => program.stages.iter_mut().for_each(|stage| mutate_reads(&mut stage.lift.reads, &mut noise)),
            _ => {
                let mut functions = vec![&mut program.output.project.function];
                functions.extend(program.output.filter.iter_mut().map(|filter| &mut filter.function));
                for stage in &mut program.stages {
                    functions.extend([&mut stage.lift.function, &mut stage.combine]);
                    functions.extend(stage.valid.as_mut());
                }
                if let Some(of) = &mut program.sequential {
                    functions.extend([&mut of.enter, &mut of.leave, &mut of.step.function, &mut of.project.function]);
                    let written = of.checked.iter_mut().flat_map(|of| [&mut of.step, &mut of.project]);
                    functions.extend(written.map(|mapping| &mut mapping.function));
                }
                let at = noise.below(functions.len());
                mutate_function(functions[at], &mut noise);
            }
        }
    }
}

/// Changes a loop in a few places.
pub(crate) fn mutate_loop(of: &mut LoopProgram, seed: u64, changes: u64) {
    let mut noise = Noise(Random(seed));
    for _ in 0..changes {
        match noise.below(10) {
            0 => of.names.extend(["more".into(), "again".into()]),
            1 => drop(of.names.pop()),
            2 => of.initial.push(noise.constant()),
            3 => of.initial.iter_mut().for_each(|initial| *initial = noise.constant()),
            4 => drop(of.initial.pop()),
            5 => mutate_tables(&mut of.tables, &mut noise),
            6 => {
                let columns = [&mut of.inputs, &mut of.output.columns][noise.below(2)].iter_mut();
                columns.for_each(|layout| mutate_layout(layout, &mut noise));
            }
            7 => mutate_reads(&mut of.step.reads, &mut noise),
            8 => mutate_reads(&mut of.output.project.reads, &mut noise),
            _ => mutate_function([&mut of.step.function, &mut of.output.project.function][noise.below(2)], &mut noise),
        }
    }
}

fn mutate_tables(tables: &mut Vec<Table>, noise: &mut Noise) {
    match tables.first_mut() {
        Some(table) if noise.below(2) == 0 => {
            table.ty = noise.ty();
            table.bytes.truncate(noise.below(9));
        }
        _ => drop(tables.pop()),
    }
}

fn mutate_layout(layout: &mut Layout, noise: &mut Noise) {
    match noise.below(6) {
        0 => layout.size = noise.number(),
        1 => layout.align = noise.number(),
        2 => layout.fields.iter_mut().for_each(|field| field.offset = noise.number()),
        3 => layout.fields.iter_mut().for_each(|field| field.ty = noise.ty()),
        4 => layout.fields.clear(),
        _ => {}
    }
}

fn mutate_stages(stages: &mut Vec<Stage>, noise: &mut Noise) {
    let at = noise.below(stages.len());
    match stages.get(at).cloned() {
        Some(stage) if noise.below(2) == 0 => stages.extend([stage.clone(), stage]),
        _ => stages.truncate(at),
    }
}

fn mutate_stage(stage: &mut Stage, noise: &mut Noise) {
    match noise.below(5) {
        0 => stage.state = (0..noise.below(60)).map(|_| noise.ty()).collect(),
        1 => stage.identity = (0..noise.below(4)).map(|_| noise.constant()).collect(),
        2 => drop(stage.identity.pop()),
        3 => stage.valid = Some(stage.combine.clone()),
        _ => {}
    }
}

fn mutate_reads(reads: &mut Vec<Source>, noise: &mut Noise) {
    let (stage, component) = (noise.number(), noise.number());
    let source = [
        Source::Record(component),
        Source::Next(component),
        Source::Prev(component),
        Source::First,
        Source::Last,
        Source::Parameter(component),
        Source::Index,
        Source::Before { stage, component },
        Source::After { stage, component },
        Source::Init { stage, component },
        Source::State(component),
    ][noise.below(11)];
    match noise.below(3) {
        0 => reads.push(source),
        1 => drop(reads.pop()),
        _ => reads.iter_mut().for_each(|read| *read = source),
    }
}

fn mutate_function(function: &mut Function, noise: &mut Noise) {
    match noise.below(6) {
        0 => function.params.push(noise.ty()),
        1 => drop(function.params.pop()),
        2 => function.results.push(noise.value()),
        3 => drop(function.results.pop()),
        _ => {
            let inst = arbitrary_inst(noise);
            let at = noise.below(function.insts.len() + 1);
            match function.insts.get_mut(at) {
                Some(old) if noise.below(2) == 0 => *old = inst,
                _ => function.insts.insert(at, inst),
            }
        }
    }
}

fn arbitrary_inst(noise: &mut Noise) -> Inst {
    let opcode = Opcode::ALL[noise.below(Opcode::ALL.len())];
    let operands: Vec<Value> = (0..noise.below(4)).map(|_| noise.value()).collect();
    let payload = match noise.below(7) {
        0 => Payload::Constant(noise.constant()),
        1 => Payload::Table(noise.number()),
        2 => Payload::Lane(noise.number() as u8),
        3 => Payload::Wraps,
        _ => Payload::None,
    };
    Inst::new(opcode, noise.ty(), &operands, payload)
}

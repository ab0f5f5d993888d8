//! Puts groups together as a program: stage k is the product of the groups of level k.

use super::code::Code;
use super::family::{Effect, Family};
use super::graph::Placed;
use super::own_folds::own_folds;
use super::rewrite::Test;
use super::{Derivation, Derived, Flat, LoopProgram, Refusal, Trust, Why};
use crate::builder::FunctionBuilder;
use crate::facts::drop_unused;
use crate::function::{Function, Value};
use crate::interp;
use crate::opcode::Opcode;
use crate::program::{Layout, MAX_STATE_BYTES, Mapping, Output, Program, Sequential, Source, Stage, Table, Written};
use crate::simplify::{simplify, used_values};
use crate::types::{Constant, Type};

/// Where a group is in the program.
pub(super) struct Part<'a> {
    pub(super) placed: &'a Placed,
    pub(super) stage: u32,
    /// The place of its first component in the stage's state.
    pub(super) first: u32,
    /// Its functions, with the program's tables.
    seed: Function,
    value: Function,
}

/// Which state of a stage stands for the loop's.
type Which = fn(u32, u32) -> Source;

pub(super) fn assemble(
    of: &LoopProgram,
    flat: &Flat,
    code: &Code<'_>,
    next: &[Value],
    groups: Vec<Placed>,
    trust: Vec<Trust>,
) -> Result<Derivation, Refusal> {
    let mut tables = of.tables.clone();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for placed in &groups {
        let offset = tables.len() as u32;
        tables.extend(placed.effect.tables.iter().cloned());
        let adopt = |function: &Function| function.clone().map_tables(|table| table + offset);
        let own = parts.iter().filter(|part| part.stage == placed.level as u32);
        parts.push(Part {
            stage: placed.level as u32,
            first: own.map(|part| part.placed.effect.types.len() as u32).sum(),
            seed: adopt(&placed.effect.seed),
            value: adopt(&placed.effect.value),
            placed,
        });
    }
    let levels = groups.iter().map(|group| group.level + 1).max().unwrap_or(1);
    let mut stages = Vec::new();
    for level in 0..levels {
        let effects: Vec<&Effect> =
            groups.iter().filter(|group| group.level == level).map(|group| &group.effect).collect();
        let lift: Vec<Value> = effects.iter().flat_map(|effect| effect.lift.clone()).collect();
        let lift = Mapping { reads: Vec::new(), function: code.extract(&lift) };
        let lift = resolved(flat, &parts, &lift.function, &tables);
        let stage = stage(&effects, tabulated(lift, &mut tables), &tables);
        let bytes = Layout::packed(&stage.state).size as usize;
        if bytes > MAX_STATE_BYTES {
            let components = flat.names[..flat.own].to_vec();
            return Err(Refusal::of(components, Why::Size { bytes }));
        }
        stages.push(stage);
    }
    let state: Vec<Type> = stages.iter().flat_map(|stage| stage.state.clone()).collect();
    let work = |function: &Function| function.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count();
    let reduction = groups.iter().map(|group| work(&group.effect.combine)).sum::<usize>()
        + stages.iter().map(|stage| work(&stage.lift.function)).sum::<usize>();
    let reads = |group: &Placed| {
        let all = group.members.iter().fold(0, |all, &member| all | code.depends(next[member]));
        let earlier = (0..flat.names.len()).filter(|component| !group.members.contains(component));
        earlier.filter(|component| all >> component & 1 == 1).map(|component| flat.names[component].clone()).collect()
    };
    let derived = groups.iter().zip(trust).map(|(group, trust)| Derived {
        components: group.members.iter().map(|&member| flat.names[member].clone()).collect(),
        reads: reads(group),
        family: group.effect.family.clone(),
        level: group.level,
        bytes: group.effect.types.iter().map(|ty| ty.size()).sum(),
        trust,
    });
    let project = output(flat, &parts, &of.output.project, &tables);
    let filter = of.output.filter.as_ref().map(|filter| output(flat, &parts, filter, &tables));
    let output = Output { filter, project, columns: of.output.columns.clone() };
    let (seed, value) = (seed(flat, &parts, &tables), value(flat, &parts, &state, &tables));
    let mut sequential = sequential(of, &stages, (&seed, &value), (&output.project.reads, &tables));
    if let Some(sequential) = &mut sequential {
        sequential.folds = own_folds(flat, code, &parts, &stages, &tables);
    }
    let groups = derived.collect();
    let (inputs, parameters) = (of.inputs.clone(), of.parameters.clone());
    Ok(Derivation {
        seed,
        value,
        initial: of.initial.clone(),
        groups,
        rewritten: flat.rewritten.clone(),
        work: (work(&code.extract(next)), reduction),
        native: None,
        program: Program { name: of.name.clone(), tables, inputs, parameters, stages, output, sequential },
    })
}

/// The loop itself, for one pass and replays. None where records are kept, which the stages count; and where it reads what the stages
/// do not: the record before, which carries have then.
fn sequential(
    of: &LoopProgram,
    stages: &[Stage],
    (seed, value): (&Function, &Function),
    (read_by_output, tables): (&[Source], &[Table]),
) -> Option<Sequential> {
    let state = (0..of.initial.len() as u32).map(|component| Source::Before { stage: 0, component });
    let reads = state.chain(of.step.reads.iter().copied()).collect();
    let simple = |mapping: &Mapping| {
        let function = simplify(&mapping.function, tables);
        drop_unused(Mapping { function, reads: mapping.reads.clone() }, 0)
    };
    let as_written = |mapping: &Mapping| drop_unused(mapping.clone(), 0);
    let written = Mapping { reads, function: of.step.function.clone() };
    let (step, project) = (simple(&written), simple(&of.output.project));
    let written = Written { step: as_written(&written), project: as_written(&of.output.project) };
    let lifted = |source: &Source| stages.iter().any(|stage| stage.lift.reads.contains(source));
    let is_carried = |source: &Source| match source {
        Source::Prev(_) | Source::First => lifted(source) || read_by_output.contains(source),
        Source::Init { .. } | Source::StateOf { .. } => false,
        _ => true,
    };
    let are_carried = |mappings: [&Mapping; 2]| mappings.into_iter().flat_map(|mapping| &mapping.reads).all(is_carried);
    if of.output.filter.is_some() || !are_carried([&step, &project]) {
        return None;
    }
    Some(Sequential {
        initial: of.initial.clone(),
        enter: value.clone(),
        leave: seed.clone(),
        step,
        project,
        checked: Some(written).filter(|written| are_carried(written.mappings())),
        folds: Vec::new(),
    })
}

fn stage(effects: &[&Effect], lift: Mapping, tables: &[Table]) -> Stage {
    let state: Vec<Type> = effects.iter().flat_map(|effect| effect.types.clone()).collect();
    let mut b = FunctionBuilder::new();
    let (earlier, later) = (b.params(&state), b.params(&state));
    let mut results = Vec::new();
    let mut first = 0;
    for effect in effects {
        let own = first..first + effect.types.len();
        let both = [&earlier[own.clone()], &later[own.clone()]].concat();
        results.extend(b.inline(&effect.combine, &both));
        first = own.end;
    }
    let valid = valid(effects, &state);
    let mut stage = Stage {
        identity: effects.iter().flat_map(|effect| effect.identity.clone()).collect(),
        combine: b.finish(&results),
        state,
        lift,
        valid,
        ..Stage::default()
    };
    stage.automaton = stage.is_automaton(tables);
    stage
}

/// Which states occur. Laws need it where bounds are infinite, and sums are not, where a function has one form, and where what is kept
/// has no value; else the states that lifts lead to say it.
fn valid(effects: &[&Effect], state: &[Type]) -> Option<Function> {
    let asks = |effect: &&Effect| {
        matches!(
            effect.family,
            Family::Clamp { .. }
                | Family::Interval
                | Family::Last
                | Family::Latch
                | Family::Moves
                | Family::Table { .. }
        )
    };
    let mut b = FunctionBuilder::new();
    let params = b.params(state);
    let mut first = 0;
    let mut all = None;
    for effect in effects {
        let own = first..first + effect.types.len();
        first = own.end;
        let Some(valid) = effect.valid.as_ref().filter(|_| asks(effect)) else { continue };
        let holds = b.inline(valid, &params[own])[0];
        all = Some(all.map_or(holds, |all| b.binary(Opcode::And, all, holds)));
    }
    all.map(|all| b.finish(&[all]))
}

/// The function of components and reads as a mapping: components of earlier stages are read from their states.
fn resolved(flat: &Flat, parts: &[Part<'_>], function: &Function, tables: &[Table]) -> Mapping {
    let count = flat.initial.len();
    let used = used_values(function);
    let needed: Vec<usize> = (0..count).filter(|&component| used[component]).collect();
    let before: Which = |stage, component| Source::Before { stage, component };
    let mut reader = Reader::new(parts, &needed, before);
    let types = &function.params[count..];
    let own: Vec<Value> = types.iter().map(|&ty| reader.b.param(ty)).collect();
    reader.reads.extend(&flat.reads);
    let components = reader.components(parts, count);
    let arguments: Vec<Value> = components.into_iter().chain(own).collect();
    let results = reader.b.inline(function, &arguments);
    let function = simplify(&reader.b.finish(&results), tables);
    drop_unused(Mapping { reads: reader.reads, function }, 0)
}

/// A function under construction that reads states of the program's stages.
struct Reader {
    b: FunctionBuilder,
    reads: Vec<Source>,
    /// The groups that are read, and their state's first parameter.
    groups: Vec<(usize, usize)>,
}

impl Reader {
    /// With parameters for the groups of these components.
    fn new(parts: &[Part<'_>], needed: &[usize], which: Which) -> Reader {
        let mut reader = Reader { b: FunctionBuilder::new(), reads: Vec::new(), groups: Vec::new() };
        for (place, part) in parts.iter().enumerate() {
            if !part.placed.members.iter().any(|member| needed.contains(member)) {
                continue;
            }
            reader.groups.push((place, reader.reads.len()));
            for (component, &ty) in (part.first..).zip(&part.placed.effect.types) {
                reader.b.param(ty);
                reader.reads.push(which(part.stage, component));
            }
        }
        reader
    }

    /// The loop's components; what is not read is a constant.
    fn components(&mut self, parts: &[Part<'_>], count: usize) -> Vec<Value> {
        let nothing = self.b.lit(false);
        let mut components = vec![nothing; count];
        for &(place, first) in &self.groups {
            let part = &parts[place];
            let state: Vec<Value> = (first..first + part.placed.effect.types.len()).map(Value::new).collect();
            let values = self.b.inline(&part.value, &state);
            for (&member, value) in part.placed.members.iter().zip(values) {
                components[member] = value;
            }
        }
        components
    }
}

/// A mapping of the output, whose reads of the loop's state become those of the program's.
fn output(flat: &Flat, parts: &[Part<'_>], mapping: &Mapping, tables: &[Table]) -> Mapping {
    type Component = fn(Source) -> Option<u32>;
    let kinds: [(Component, Which); 3] = [
        (
            |source| if let Source::State(component) = source { Some(component) } else { None },
            |stage, component| Source::StateOf { stage, component },
        ),
        (
            |source| if let Source::Before { component, .. } = source { Some(component) } else { None },
            |stage, component| Source::Before { stage, component },
        ),
        (
            |source| if let Source::After { component, .. } = source { Some(component) } else { None },
            |stage, component| Source::After { stage, component },
        ),
    ];
    let mut mapping = mapping.clone();
    // What is no component of the loop is none of the program either, which is then refused when it
    // is verified.
    for (source, &ty) in mapping.reads.iter_mut().zip(&mapping.function.params) {
        let component = kinds.iter().find_map(|(of, _)| of(*source));
        if component.is_some_and(|c| (c as usize) >= flat.own || flat.initial[c as usize].ty() != ty) {
            *source = Source::StateOf { stage: u32::MAX, component: u32::MAX };
        }
    }
    for (of, which) in kinds {
        let needed: Vec<usize> = mapping.reads.iter().filter_map(|&source| of(source)).map(|c| c as usize).collect();
        if needed.is_empty() {
            continue;
        }
        let mut reader = Reader::new(parts, &needed, which);
        let states = reader.reads.len();
        // States that this pass put there are no states of the loop any more, so each kind is read once.
        let other: Vec<(usize, Source)> =
            mapping.reads.iter().copied().enumerate().filter(|&(_, source)| of(source).is_none()).collect();
        for &(place, source) in &other {
            reader.b.param(mapping.function.params[place]);
            reader.reads.push(source);
        }
        let components = reader.components(parts, flat.initial.len());
        let arguments = mapping.reads.iter().enumerate().map(|(place, &source)| match of(source) {
            Some(component) => components[component as usize],
            None => {
                let own = other.iter().position(|&(other, _)| other == place).expect("it was listed");
                Value::new(states + own)
            }
        });
        let arguments: Vec<Value> = arguments.collect();
        let results = reader.b.inline(&mapping.function, &arguments);
        mapping = Mapping { reads: reader.reads, function: reader.b.finish(&results) };
    }
    let function = simplify(&mapping.function, tables);
    drop_unused(Mapping { function, ..mapping }, 0)
}

/// From the user's components to the states of all stages.
fn seed(flat: &Flat, parts: &[Part<'_>], tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let own = b.params(&flat.extend.params);
    let all = b.inline(&flat.extend, &own);
    // Parts are in the order of their stages, and in each in the order of the state.
    let results = parts.iter().flat_map(|part| {
        let members: Vec<Value> = part.placed.members.iter().map(|&member| all[member]).collect();
        b.inline(&part.seed, &members)
    });
    let results: Vec<Value> = results.collect();
    simplify(&b.finish(&results), tables)
}

/// From the states of all stages to the user's components. Some parts are flags, each the result of a test of a component. A state that
/// stands for none of the loop may have a flag that differs from its test. The component is another number then, so a state of the loop
/// that is not the same after going there and back has no state that stands for it.
fn value(flat: &Flat, parts: &[Part<'_>], state: &[Type], tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let all = b.params(state);
    let mut components = vec![None; flat.initial.len()];
    let mut first = 0;
    for part in parts {
        let count = part.placed.effect.types.len();
        let values = b.inline(&part.value, &all[first..first + count]);
        for (&member, value) in part.placed.members.iter().zip(values) {
            components[member] = Some(value);
        }
        first += count;
    }
    let components: Vec<Value> = components.into_iter().map(|c| c.expect("it is in a group")).collect();
    let own = b.inline(&flat.restrict, &components);
    let results = own.into_iter().enumerate().map(|(place, value)| {
        let is_of = |test: &Test| {
            let tested = Function { results: vec![flat.extend.results[test.member]], ..flat.extend.clone() };
            used_values(&tested)[place]
        };
        let mut follows = None;
        for (flag, test) in flat.tests.iter().filter(|(_, test)| is_of(test)) {
            let holds = test.of(&mut b, components[test.member]);
            let is_same = b.binary(Opcode::Eq, components[*flag], holds);
            follows = Some(follows.map_or(is_same, |follows| b.binary(Opcode::And, follows, is_same)));
        }
        let Some(follows) = follows else { return value };
        let zero = b.constant(b.type_of(value).zero());
        let is_zero = b.binary(Opcode::Eq, value, zero);
        let one = b.constant(b.type_of(value).of_i64(1));
        let other = b.select(is_zero, one, zero);
        b.select(follows, value, other)
    });
    let results: Vec<Value> = results.collect();
    simplify(&b.finish(&results), tables)
}

/// A lift of maps that depends on one byte alone, as look-ups in tables: so engines see an automaton's input symbols.
fn tabulated(lift: Mapping, tables: &mut Vec<Table>) -> Mapping {
    let maps: Vec<Type> = lift.function.result_types();
    let of_byte = lift.function.params.len() == 1 && lift.function.params[0].bits() <= 8;
    let is_constant = lift.function.results.iter().all(|&result| lift.function.as_constant(result).is_some());
    if !of_byte || is_constant || !maps.iter().all(|ty| ty.is_vector()) {
        return lift;
    }
    let ty = lift.function.params[0];
    let rows: Vec<Vec<Constant>> = (0..1u128 << ty.bits())
        .map(|symbol| interp::call(&lift.function, &[Constant::new(ty, symbol)], tables))
        .collect();
    let mut b = FunctionBuilder::new();
    let byte = b.param(ty);
    let byte = if matches!(ty, Type::I8) { b.bitcast(Type::U8, byte) } else { byte };
    let symbol = b.cast(Type::U32, byte);
    let results = maps.iter().enumerate().map(|(k, &ty)| {
        tables.push(Table::new(ty, rows.iter().map(|row| row[k])));
        b.table(tables.len() as u32 - 1, ty, symbol)
    });
    let results: Vec<Value> = results.collect();
    Mapping { reads: lift.reads, function: b.finish(&results) }
}

impl Family {
    /// Whether the loop's numbers are composed in a wider type, where sums leave the loop's own.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(self, Family::Clamp { .. } | Family::Tropical { .. })
    }
}

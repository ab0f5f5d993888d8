//! Elements that have neighbours: all but the first and the last of the whole input, so nearly all.
//!
//! A body that reads a neighbouring record is cut down twice for them. First, `first` and `last`
//! are false and nothing is out of bounds. Second, this element's next record is the next element's
//! record. Values that both compute from it (the byte itself, its class in a table, a product with
//! a constant) are computed once. They are the *look-ahead*, passed from element to element like a
//! carried component. Before the first element it is primed from its record.

use std::collections::{HashMap, HashSet};

use monoscan_ir::facts::{Body, Range, value_ranges};
use monoscan_ir::{Function, FunctionBuilder, Opcode, Payload, Source, Table, Type, Value, simplify};

/// The function of an element that has a next one and one before.
pub(crate) struct SteadyState {
    /// Parameters: the carried components, the look-ahead of this element, the `reads`. Results: the carried
    /// components, the outputs, the look-ahead of the next element.
    pub(crate) function: Function,
    /// The parameters behind the look-ahead; none is `First` or `Last`.
    pub(crate) reads: Vec<Source>,
    /// The range of each parameter.
    pub(crate) ranges: Vec<Range>,
    /// The look-ahead of an element, from its record.
    pub(crate) prime: Prime,
}

/// The look-ahead of an element as a function of its record.
pub(crate) struct Prime {
    pub(crate) function: Function,
    /// The components of the record that are its parameters.
    pub(crate) reads: Vec<u32>,
}

/// The steady-state body of one that reads `Next`, `Prev`, `First` or `Last`; none for other bodies, whose elements are all alike. `ranges`
/// are those of the body's parameters.
pub(crate) fn steady_state(body: &Body, ranges: &[Range], tables: &[Table]) -> Option<SteadyState> {
    let reads = &body.mapping.reads;
    if !reads.iter().any(|source| matches!(source, Source::Next(_) | Source::Prev(_)) || is_end(source)) {
        return None;
    }
    let carried = body.state_len();
    let (function, kept) = without_ends(body, tables);
    let ranges: Vec<Range> = kept.iter().map(|&place| ranges[place]).collect();
    let reads: Vec<Source> = kept.iter().map(|&place| reads[place]).collect();
    let frontier = look_ahead(&function, &reads);

    let all = value_ranges(&function, &ranges, tables);
    let (prime, prime_reads) = prime(&function, &reads, &frontier, tables);
    let rotated = rotate(&function, carried, &frontier, tables);
    let passed = frontier.iter().map(|pair| all[pair.now.index()]);
    let ranges: Vec<Range> =
        ranges[..carried].iter().copied().chain(passed).chain(ranges[carried..].iter().copied()).collect();
    let (function, kept) = without_unread(&rotated, carried + frontier.len(), tables);
    let prime = Prime { function: prime, reads: prime_reads };
    let behind = kept.iter().filter(|&&place| place >= carried + frontier.len());
    let reads = behind.map(|place| reads[place - frontier.len()]).collect();
    Some(SteadyState { function, reads, ranges: kept.iter().map(|&place| ranges[place]).collect(), prime })
}

/// The function without those of its parameters behind the first `fixed` that nothing uses, and which are left.
fn without_unread(function: &Function, fixed: usize, tables: &[Table]) -> (Function, Vec<usize>) {
    let operands = function.insts.iter().flat_map(|inst| inst.operands().iter().copied());
    let used: HashSet<Value> = operands.chain(function.results.iter().copied()).collect();
    let is_kept = |place: &usize| *place < fixed || used.contains(&Value::new(*place));
    let kept: Vec<usize> = (0..function.params.len()).filter(is_kept).collect();
    let mut b = FunctionBuilder::new();
    let params: HashMap<usize, Value> = kept.iter().map(|&place| (place, b.param(function.params[place]))).collect();
    let zeros = function.params.iter().enumerate();
    let arguments: Vec<Value> =
        zeros.map(|(place, ty)| params.get(&place).copied().unwrap_or_else(|| b.constant(ty.zero()))).collect();
    let results = b.inline(function, &arguments);
    (simplify(&b.finish(&results), tables), kept)
}

fn is_end(source: &Source) -> bool {
    matches!(source, Source::First | Source::Last)
}

/// The body with `first` and `last` false, and which of its parameters are left.
fn without_ends(body: &Body, tables: &[Table]) -> (Function, Vec<usize>) {
    let reads = &body.mapping.reads;
    let kept: Vec<usize> = (0..reads.len()).filter(|&place| !is_end(&reads[place])).collect();
    let mut b = FunctionBuilder::new();
    let params: Vec<Value> = kept.iter().map(|&place| b.param(body.mapping.function.params[place])).collect();
    let none = b.lit(false);
    let mut params = params.into_iter();
    let next = |source: &Source| if is_end(source) { None } else { params.next() };
    let arguments: Vec<Value> = reads.iter().map(next).map(|param| param.unwrap_or(none)).collect();
    let results = b.inline(&body.mapping.function, &arguments);
    (simplify(&b.finish(&results), tables), kept)
}

/// The same expression of this record and of the next one.
#[derive(Clone, Copy)]
struct Pair {
    now: Value,
    next: Value,
}

/// The operands that a value is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Origin {
    Constant,
    Record,
    Next,
    Mixed,
}

/// An expression over one record, whichever: equal keys are equal expressions.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Component(u32),
    Inst(Opcode, Type, Payload, Vec<u32>),
}

/// The largest expressions of this record alone that are also computed of the next one.
fn look_ahead(function: &Function, reads: &[Source]) -> Vec<Pair> {
    let mut numbers: HashMap<Key, u32> = HashMap::new();
    let mut origins = Vec::new();
    let mut number_of = Vec::new();
    let mut number = |key: Key| {
        let fresh = numbers.len() as u32;
        *numbers.entry(key).or_insert(fresh)
    };
    for (place, source) in reads.iter().enumerate() {
        let (origin, key) = match *source {
            Source::Record(component) => (Origin::Record, Key::Component(component)),
            Source::Next(component) => (Origin::Next, Key::Component(component)),
            // No expression over a record has such a component.
            _ => (Origin::Mixed, Key::Component(u32::MAX - place as u32)),
        };
        origins.push(origin);
        number_of.push(number(key));
    }
    for inst in &function.insts {
        let from = inst.operands().iter().map(|operand| origins[operand.index()]);
        let origin =
            from.filter(|origin| *origin != Origin::Constant).reduce(|a, b| if a == b { a } else { Origin::Mixed });
        origins.push(origin.unwrap_or(Origin::Constant));
        let operands = inst.operands().iter().map(|operand| number_of[operand.index()]).collect();
        number_of.push(number(Key::Inst(inst.opcode, inst.ty, inst.payload, operands)));
    }

    let of_next = |origin: &Origin| *origin == Origin::Next;
    let twins: HashMap<u32, Value> = (0..origins.len())
        .filter(|&value| of_next(&origins[value]))
        .map(|value| (number_of[value], Value::new(value)))
        .collect();
    let twin = |value: Value| match origins[value.index()] {
        Origin::Record => twins.get(&number_of[value.index()]).copied(),
        _ => None,
    };
    // Wanted is what something outside of the look-ahead uses.
    let outside = function.values().filter(|(value, _)| twin(*value).is_none());
    let mut wanted: Vec<Value> = outside.flat_map(|(_, inst)| inst.operands().to_vec()).collect();
    wanted.extend(&function.results);
    wanted.sort();
    wanted.dedup();
    wanted.into_iter().filter_map(|now| Some(Pair { now, next: twin(now)? })).collect()
}

/// The function with the look-ahead as parameters behind the carried ones and as results at the end.
fn rotate(function: &Function, carried: usize, frontier: &[Pair], tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let before = b.params(&function.params[..carried]);
    let passed: Vec<Value> =
        frontier.iter().filter_map(|pair| function.type_of(pair.now)).map(|ty| b.param(ty)).collect();
    let read = b.params(&function.params[carried..]);
    let replaced: HashMap<Value, Value> = frontier.iter().map(|pair| pair.now).zip(passed).collect();
    let replace = |old: Value, new: Value| replaced.get(&old).copied().unwrap_or(new);
    let mut values: Vec<Value> =
        before.into_iter().chain(read).enumerate().map(|(place, new)| replace(Value::new(place), new)).collect();
    for (old, inst) in function.values() {
        let new = match replaced.get(&old) {
            Some(&passed) => passed,
            None => b.push(inst.map_operands(|operand| values[operand.index()])),
        };
        values.push(new);
    }
    let ahead = frontier.iter().map(|pair| pair.next);
    let results: Vec<Value> = function.results.iter().copied().chain(ahead).map(|old| values[old.index()]).collect();
    simplify(&b.finish(&results), tables)
}

/// The look-ahead from a record's components.
fn prime(function: &Function, reads: &[Source], frontier: &[Pair], tables: &[Table]) -> (Function, Vec<u32>) {
    let components: Vec<(usize, u32)> = (reads.iter().enumerate())
        .filter_map(|(place, source)| match *source {
            Source::Record(component) => Some((place, component)),
            _ => None,
        })
        .collect();
    let mut b = FunctionBuilder::new();
    let params: HashMap<usize, Value> =
        components.iter().map(|&(place, _)| (place, b.param(function.params[place]))).collect();
    // Expressions of a record read nothing else; the zeros stand for what they do not read.
    let mut values: Vec<Value> = Vec::new();
    for (place, ty) in function.params.iter().enumerate() {
        let value = params.get(&place).copied();
        values.push(value.unwrap_or_else(|| b.constant(ty.zero())));
    }
    for inst in &function.insts {
        let value = b.push(inst.map_operands(|operand| values[operand.index()]));
        values.push(value);
    }
    let results: Vec<Value> = frontier.iter().map(|pair| values[pair.now.index()]).collect();
    (simplify(&b.finish(&results), tables), components.into_iter().map(|(_, component)| component).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::transform::{Form, lower};
    use monoscan_ir::{text, verify};

    /// Counts descents of a table's values from byte to byte; the last byte has no next.
    const DESCENTS: &str = "
program descents
  input { size 1, align 1, u8 @ 0 }
  table u8 = [3 1 4 1 5 9 2 6]
  stage (u32)
    identity (0)
    lift (%0 = record.0: u8, %1 = next.0: u8, %2 = last: bool) {
      %3 = cast.u32 %0
      %4 = table.u8 %3, @0
      %5 = cast.u32 %1
      %6 = table.u8 %5, @0
      %7 = gt.bool %4, %6
      %8 = not.bool %2
      %9 = and.bool %7, %8
      %10 = cast.u32 %9
      return %10
    }
    combine (%0: u32, %1: u32) {
      %2 = add.u32 %0, %1
      return %2
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32) { return %0 }
";

    #[test]
    fn what_two_neighbours_compute_of_one_record_is_computed_once() {
        let program = lower(&verify(text::parse(DESCENTS).unwrap()).unwrap(), Form::default());
        let body = program.fold();
        let ranges: Vec<Range> = body.mapping.function.params.iter().map(|&ty| Range::full(ty)).collect();
        let steady_state = steady_state(&body, &ranges, &program.tables).unwrap();
        let look_ups = steady_state.function.insts.iter().filter(|inst| inst.opcode == Opcode::Table).count();
        assert_eq!(look_ups, 1, "{}", steady_state.function);
        assert_eq!(steady_state.prime.reads, [0]);
        assert_eq!(steady_state.reads, [Source::Next(0)]);
        // The count, the class carried, and the reads.
        assert_eq!(steady_state.function.params[..2], [Type::U32, Type::U8]);
        assert_eq!(steady_state.function.results.len(), 2);
    }

    #[test]
    fn bodies_whose_elements_are_all_alike_have_no_interior() {
        let alike = DESCENTS
            .replace("next.0", "record.0")
            .replace("%2 = last", "%2 = record.1")
            .replace("{ size 1, align 1, u8 @ 0 }", "{ size 2, align 1, u8 @ 0, bool @ 1 }");
        let program = lower(&verify(text::parse(&alike).unwrap()).unwrap(), Form::default());
        let body = program.fold();
        assert!(steady_state(&body, &[], &program.tables).is_none());
    }
}

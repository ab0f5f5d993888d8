//! The alphabet: the different things that an element can do.
//!
//! A lift that reads a few bytes is tabulated. An automaton's step depends on a byte, a lexer's on
//! a byte and the next one; but most bytes do what others do. For each source that a lift reads,
//! two values of it are in one *byte class* if everything that the lift computes from this source
//! alone is the same for both. So the lift is a function of the classes, and the different results
//! that it gives are the *input symbols*.
//!
//! A lift that reads anything else has an alphabet if it is a look-up of maps, as that of a
//! declared automaton is: then the index is the symbol.

use std::collections::HashMap;

use super::declared::Symbol;
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::interp::Interpreter;
use crate::opcode::Opcode;
use crate::program::{Mapping, Source, Table};
use crate::types::{Constant, Type};

/// Most combinations of classes.
const MOST_COMBINATIONS: usize = 1 << 13;

/// The input symbols of a mapping, and how an element's is found.
pub(super) struct Alphabet {
    /// The sources that it reads.
    pub(super) reads: Vec<Source>,
    types: Vec<Type>,
    combination: Combination,
    /// The input symbols: the different results that it gives.
    pub(super) symbols: Vec<Vec<Constant>>,
    /// For how many combinations of what is read it gives each of them.
    pub(super) shares: Vec<usize>,
    /// For each combination which of them.
    of_combination: Vec<usize>,
}

/// A number that an element's symbol is looked up by.
enum Combination {
    /// The class of each source's value, in [this order](by_significance). The classes of all values, for each source.
    Classes(Vec<Vec<u8>>),
    /// The values of this function of the sources; those past the last have the symbol of the last.
    Computed(Function),
}

impl Alphabet {
    /// None if the mapping reads anything but bytes and truth values of records, or too many combinations of them.
    pub(super) fn of(mapping: &Mapping, tables: &[Table]) -> Option<Alphabet> {
        let function = &mapping.function;
        let is_byte = |(source, ty): (&Source, &Type)| {
            matches!(source, Source::Record(_) | Source::Next(_) | Source::Last) && matches!(ty, Type::U8 | Type::Bool)
        };
        if !mapping.reads.iter().zip(&function.params).all(is_byte) {
            return None;
        }
        let mut interpreter = Interpreter::new(tables);
        let (mut classes, mut examples) = (Vec::new(), Vec::new());
        for param in 0..function.params.len() {
            let (of_value, example) = classes_of(function, param, &mut interpreter);
            classes.push(of_value);
            examples.push(example);
        }
        let combinations: usize = examples.iter().map(Vec::len).product();
        if combinations > MOST_COMBINATIONS {
            return None;
        }
        let order = by_significance(&function.params);
        let (mut symbols, mut numbers) = (Vec::new(), HashMap::new());
        let (mut shares, mut of_combination) = (Vec::new(), Vec::new());
        for combination in 0..combinations {
            let mut rest = combination;
            let mut share = 1;
            let mut arguments: Vec<Constant> = examples.iter().map(|example| example[0]).collect();
            for &source in order.iter().rev() {
                let class = rest % examples[source].len();
                rest /= examples[source].len();
                share *= classes[source].iter().filter(|&&own| usize::from(own) == class).count();
                arguments[source] = examples[source][class];
            }
            let symbol = interpreter.call(function, &arguments);
            let number = *numbers.entry(symbol.clone()).or_insert_with(|| {
                symbols.push(symbol.clone());
                shares.push(0);
                symbols.len() - 1
            });
            shares[number] += share;
            of_combination.push(number);
        }
        let (reads, types) = (mapping.reads.clone(), function.params.clone());
        Some(Alphabet { reads, types, combination: Combination::Classes(classes), symbols, shares, of_combination })
    }

    /// The alphabet of a lift that looks up maps by an index, each of which counts for one combination. None if it does
    /// not, or if there are too many.
    pub(super) fn looked_up(lift: &Mapping, tables: &[Table]) -> Option<Alphabet> {
        let symbol = Symbol::of(&lift.function)?;
        let maps = symbol.maps(tables);
        if maps.len() > MOST_COMBINATIONS {
            return None;
        }
        let combination = Combination::Computed(symbol.function());
        let (reads, types) = (lift.reads.clone(), lift.function.params.clone());
        let (shares, of_combination) = (vec![1; maps.len()], (0..maps.len()).collect());
        Some(Alphabet { reads, types, combination, symbols: maps, shares, of_combination })
    }

    /// The types of what is read.
    pub(super) fn types(&self) -> &[Type] {
        &self.types
    }

    /// Appends the tables, where they are not there, by which [`look_up`](Alphabet::look_up) finds what stands for a symbol.
    pub(super) fn tables(&self, codes: &[u16], tables: &mut Vec<Table>) -> SymbolTables {
        let code = |&symbol: &usize| codes[symbol];
        let ty = if codes.iter().all(|&code| code < 256) { Type::U8 } else { Type::U16 };
        let table_of = |codes: Vec<u16>| Table::new(ty, codes.into_iter().map(Constant::from));
        let bytes_of = |classes: &Vec<u8>| Table { ty: Type::U8, bytes: classes.clone() };
        let mut place = |table: Table| {
            let known = tables.iter().position(|known| *known == table);
            known.unwrap_or_else(|| {
                tables.push(table);
                tables.len() - 1
            }) as u32
        };
        let classes = match &self.combination {
            Combination::Classes(classes) => &classes[..],
            Combination::Computed(_) => &[],
        };
        if let [only] = classes {
            // Of one source the class and the symbol are one look-up.
            let codes = only.iter().map(|&class| code(&self.of_combination[class as usize])).collect();
            return SymbolTables { classes: vec![None], codes: place(table_of(codes)), ty };
        }
        // A truth value is its class.
        let table = |classes: &Vec<u8>| (classes[..] != [0, 1]).then(|| place(bytes_of(classes)));
        let classes = classes.iter().map(table).collect();
        SymbolTables { classes, codes: place(table_of(self.of_combination.iter().map(code).collect())), ty }
    }

    /// The same as a table of neighbours, if that is what it is, and what stands for each symbol is a byte.
    pub(super) fn of_neighbours(&self, codes: &[u16]) -> Option<Neighbours> {
        let Combination::Classes(classes) = &self.combination else { return None };
        let ([Source::Record(own), Source::Next(next)] | [Source::Record(own), Source::Next(next), Source::Last]) =
            self.reads[..]
        else {
            return None;
        };
        // Truth values would have another order.
        if own != 0 || next != 0 || self.types[..2] != [Type::U8; 2] {
            return None;
        }
        let count = |classes: &Vec<u8>| classes.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let (owns, nexts) = (count(&classes[0]), count(&classes[1]));
        let reads_last = self.reads.len() == 3;
        // Of one class it says nothing.
        if reads_last && count(&classes[2]) < 2 {
            return None;
        }
        let code = |place: usize| u8::try_from(codes[self.of_combination[place]]).ok();
        // The combinations of the last element are behind those of all others.
        let of_last = |own: usize| {
            let mut codes = (0..nexts).map(|next| code((owns + own) * nexts + next));
            let first = codes.next()??;
            codes.all(|code| code == Some(first)).then_some(first)
        };
        let row = |own: usize| {
            let codes = (0..nexts).map(|next| code(own * nexts + next));
            let last = reads_last.then(|| of_last(own));
            codes.chain(last).collect::<Option<Vec<u8>>>()
        };
        let rows = (0..owns).map(row).collect::<Option<Vec<Vec<u8>>>>()?;
        Some(Neighbours { class_of: [classes[0].clone(), classes[1].clone()], rows, reads_last })
    }

    /// The value of an element's symbol, as `u32`.
    pub(super) fn look_up(&self, b: &mut FunctionBuilder, tables: &SymbolTables, sources: &[Value]) -> Value {
        let combination = match &self.combination {
            Combination::Computed(function) => b.inline(function, sources)[0],
            Combination::Classes(classes) => combination(b, (classes, &self.types), tables, sources),
        };
        let code = b.table(tables.codes, tables.ty, combination);
        b.cast(Type::U32, code)
    }
}

/// The symbols of elements that follow from a byte and the next one, as a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Neighbours {
    /// The class of each byte before another one, and that of each behind another one.
    pub class_of: [Vec<u8>; 2],
    /// For each class of the own byte a row: the symbol for each class of the next one and, if it is told apart, for no next one.
    pub rows: Vec<Vec<u8>>,
    /// Whether the last element is told apart, which no other follows.
    pub reads_last: bool,
}

/// Sources of these types, in the order in which their classes count, the fastest last. Truth values come first: they are
/// rarely true, so that codes that are looked up often lie close together.
fn by_significance(types: &[Type]) -> Vec<usize> {
    let (truths, bytes): (Vec<usize>, Vec<usize>) = (0..types.len()).partition(|&source| types[source] == Type::Bool);
    [truths, bytes].concat()
}

/// The number of a combination of classes.
fn combination(
    b: &mut FunctionBuilder,
    (classes, types): (&[Vec<u8>], &[Type]),
    tables: &SymbolTables,
    sources: &[Value],
) -> Value {
    let mut combination = b.lit(0u32);
    for source in by_significance(types) {
        let mut class = b.cast(Type::U32, sources[source]);
        if let Some(table) = tables.classes[source] {
            class = b.table(table, Type::U8, class);
            class = b.cast(Type::U32, class);
        }
        let count = b.lit(classes[source].iter().map(|&class| u32::from(class) + 1).max().unwrap_or(1));
        combination = b.binary(Opcode::Mul, combination, count);
        combination = b.binary(Opcode::Add, combination, class);
    }
    combination
}

/// Where the tables of symbols are.
pub(super) struct SymbolTables {
    /// For each source the table of its classes, if it is not its own class.
    classes: Vec<Option<u32>>,
    codes: u32,
    ty: Type,
}

/// The class of each value of a parameter, and an example of each class.
fn classes_of(function: &Function, param: usize, interpreter: &mut Interpreter<'_>) -> (Vec<u8>, Vec<Constant>) {
    let view = Function { results: seen_of(function, param), ..function.clone() };
    let mut arguments: Vec<Constant> = function.params.iter().map(|ty| ty.zero()).collect();
    let (mut classes, mut examples, mut numbers) = (Vec::new(), Vec::new(), HashMap::new());
    let values = if function.params[param] == Type::Bool { 2 } else { 256 };
    for value in 0..values {
        arguments[param] = Constant::new(function.params[param], value);
        let seen = interpreter.call(&view, &arguments).clone();
        let class = *numbers.entry(seen).or_insert_with(|| {
            examples.push(arguments[param]);
            examples.len() - 1
        });
        classes.push(class as u8);
    }
    (classes, examples)
}

/// The values that depend on this parameter alone, and that anything else is computed from, or that are results.
fn seen_of(function: &Function, param: usize) -> Vec<Value> {
    let mut only: Vec<bool> = (0..function.params.len()).map(|place| place == param).collect();
    let mut constant = vec![false; function.params.len()];
    for inst in &function.insts {
        let of_operands = |known: &[bool]| inst.operands().iter().all(|operand| known[operand.index()]);
        let is_constant = of_operands(&constant);
        let is_only = inst.operands().iter().all(|operand| only[operand.index()] || constant[operand.index()]);
        constant.push(is_constant);
        only.push(is_only && !is_constant);
    }
    let used = |value: &Value| {
        let by_others = function.values().any(|(user, inst)| !only[user.index()] && inst.operands().contains(value));
        by_others || function.results.contains(value)
    };
    (0..only.len()).filter(|&place| only[place]).map(Value::new).filter(used).collect()
}

//! The invariants of a single function (numbers 18 to 27 of the [list](super)).

use super::Findings;
use super::diagnostic::{Item, Part};
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::{Class, Rule};
use crate::program::{MAX_INSTS, MAX_PARAMS, Table};
use crate::types::Type;

/// The signature that a function's place demands; where nothing is demanded, none.
#[derive(Clone, Copy, Default)]
pub(super) struct Signature<'a> {
    /// The parameter types, and why these.
    pub(super) params: Option<(&'a [Type], &'a str)>,
    /// The result types, and why these.
    pub(super) results: Option<(&'a [Type], &'a str)>,
}

/// Checks a function for itself and against the signature that its place demands.
pub(super) fn check(found: &mut Findings, part: Part, function: &Function, tables: &[Table], signature: Signature<'_>) {
    let sizes = [
        (function.params.len(), MAX_PARAMS, "parameters"),
        (function.insts.len(), MAX_INSTS, "instructions"),
        (function.results.len(), MAX_PARAMS, "results"),
    ];
    for (count, most, what) in sizes {
        if count > most {
            found.whole(part, format!("expected at most {most} {what}, found {count}"));
        }
    }
    if let Some((expected, why)) = signature.params
        && function.params != expected
    {
        let (expected, came) = (list(expected), list(&function.params));
        found.whole(part, format!("expected the parameters {expected}, {why}, found {came}"));
    }
    for (value, inst) in function.values() {
        let mut checker = InstChecker { found, part, function, tables, value, inst };
        checker.check();
    }
    check_results(found, part, function, signature);
}

fn check_results(found: &mut Findings, part: Part, function: &Function, signature: Signature<'_>) {
    let mut defined = true;
    let mut types = Vec::with_capacity(function.results.len());
    for &result in &function.results {
        match function.type_of(result) {
            Some(ty) => types.push(ty),
            None => {
                defined = false;
                found.add(part, Item::Results, String::new(), format!("expected a defined value, found {result}"));
            }
        }
    }
    if let (true, Some((expected, why))) = (defined, signature.results)
        && types != expected
    {
        let message = format!("expected the results {}, {why}, found {}", list(expected), list(&types));
        found.add(part, Item::Results, String::new(), message);
    }
}

/// Types as a list in parentheses, cut short where there are very many.
pub(super) fn list(types: &[Type]) -> String {
    const SHOWN: usize = 16;
    let mut words: Vec<String> = types.iter().take(SHOWN).map(Type::to_string).collect();
    if types.len() > SHOWN {
        words.push(format!("… {} in all", types.len()));
    }
    format!("({})", words.join(", "))
}

/// Checks one instruction.
struct InstChecker<'a> {
    found: &'a mut Findings,
    part: Part,
    function: &'a Function,
    tables: &'a [Table],
    value: Value,
    inst: &'a Inst,
}

impl InstChecker<'_> {
    fn check(&mut self) {
        self.operands_are_defined_before();
        self.payload_fits();
        let (arity, came) = (self.inst.opcode.rule().arity(), self.inst.operands().len());
        if arity == came {
            self.types_follow_the_rule();
        } else {
            self.report(format!("expected {arity} operands, found {came}"));
        }
    }

    fn report(&mut self, message: String) {
        let context = format!("{} = {}", self.value, self.inst);
        self.found.add(self.part, Item::Value(self.value), context, message);
    }

    fn operands_are_defined_before(&mut self) {
        for &operand in self.inst.operands() {
            if operand >= self.value {
                let later = if operand.index() < self.function.value_count() { "later" } else { "nowhere" };
                self.report(format!("expected a value defined before, {operand} is defined {later}"));
            }
        }
    }

    fn payload_fits(&mut self) {
        match (self.inst.opcode.rule(), self.inst.payload) {
            (Rule::Constant, Payload::Constant(value)) => {
                if value.ty() != self.inst.ty {
                    self.report(format!(
                        "expected a constant of type {}, found one of type {}",
                        self.inst.ty,
                        value.ty()
                    ));
                }
            }
            (Rule::Table, Payload::Table(table)) => match self.tables.get(table as usize) {
                Some(table) => self.result_is(table.ty, "the type of the table's elements"),
                None => self.report(format!("expected one of {} tables, found @{table}", self.tables.len())),
            },
            (Rule::Lane | Rule::WithLane, Payload::Lane(lane)) => {
                let vector = self.inst.operands().first().and_then(|&vector| self.type_before(vector));
                if let Some(Type::Bytes(lanes)) = vector
                    && lane as usize >= lanes.get()
                {
                    self.report(format!("expected a lane below {}, found #{lane}", lanes.get()));
                }
            }
            (Rule::Constant, _) => self.report("expected a constant".into()),
            (Rule::Table, _) => self.report("expected the number of a table".into()),
            (Rule::Lane | Rule::WithLane, _) => self.report("expected the number of a lane".into()),
            (_, Payload::None) => {}
            (_, Payload::Wraps) if self.inst.opcode.can_overflow() && self.inst.ty.is_int() => {}
            (_, Payload::Wraps) => self.report("expected integer arithmetic where overflow is meant".into()),
            _ => self.report("expected operands only, found a constant, table or lane".into()),
        }
    }

    fn types_follow_the_rule(&mut self) {
        let ty = self.inst.ty;
        match self.inst.opcode.rule() {
            Rule::Constant => {}
            Rule::Unary(class) | Rule::Binary(class) | Rule::Ternary(class) => {
                self.result_in(class);
                for place in 0..self.inst.operands().len() {
                    self.operand_is(place, ty, "as the result");
                }
            }
            Rule::Compare(class) => {
                self.result_is(Type::Bool, "as of every comparison");
                self.operand_in(0, class);
                if let Some(first) = self.operand(0) {
                    self.operand_is(1, first, "as the first operand");
                }
            }
            Rule::Shift => {
                self.result_in(Class::INT);
                self.operand_is(0, ty, "as the result");
                self.operand_is(1, Type::U32, "the type of an amount");
            }
            Rule::Count => {
                self.result_is(Type::U32, "the type of a count");
                self.operand_in(0, Class::INT);
            }
            Rule::Select => {
                self.operand_is(0, Type::Bool, "the type of a condition");
                self.operand_is(1, ty, "as the result");
                self.operand_is(2, ty, "as the result");
            }
            Rule::Cast => {
                self.result_in(Class::SCALAR);
                self.operand_in(0, Class::SCALAR);
                if ty == Type::Bool {
                    self.operand_is(0, Type::Bool, "since nothing else is cast to bool");
                }
            }
            Rule::Bitcast => self.bitcast_keeps_the_size(),
            Rule::Convert(from, to) => {
                self.result_is(to, "as the opcode says");
                self.operand_is(0, from, "as the opcode says");
            }
            Rule::Table => self.operand_is(0, Type::U32, "the type of an index"),
            Rule::Splat => {
                self.result_in(Class::BYTES);
                self.operand_is(0, Type::U8, "the type of a lane");
            }
            Rule::Lane => {
                self.result_is(Type::U8, "the type of a lane");
                self.operand_in(0, Class::BYTES);
            }
            Rule::WithLane => {
                self.result_in(Class::BYTES);
                self.operand_is(0, ty, "as the result");
                self.operand_is(1, Type::U8, "the type of a lane");
            }
            Rule::Permute => {
                self.result_in(Class::BYTES);
                self.operand_in(0, Class::BYTES);
                self.operand_is(1, ty, "as the result");
            }
        }
    }

    fn bitcast_keeps_the_size(&mut self) {
        let to = self.inst.ty;
        let Some(from) = self.operand(0) else { return };
        if from == Type::Bool || to == Type::Bool {
            self.report("expected types other than bool, which has no bit pattern of its own".into());
        } else if from.size() != to.size() {
            self.report(format!("expected types of the same size, found {from} and {to}"));
        }
    }

    /// The type of an operand; none if it is not defined before, which is reported elsewhere.
    fn operand(&self, place: usize) -> Option<Type> {
        self.inst.operands().get(place).and_then(|&value| self.type_before(value))
    }

    fn type_before(&self, value: Value) -> Option<Type> {
        if value < self.value { self.function.type_of(value) } else { None }
    }

    fn operand_is(&mut self, place: usize, expected: Type, why: &str) {
        match self.operand(place) {
            Some(came) if came != expected => {
                let operand = self.inst.operands()[place];
                self.report(format!("expected {operand} to be {expected}, {why}, found {came}"));
            }
            _ => {}
        }
    }

    fn operand_in(&mut self, place: usize, class: Class) {
        match self.operand(place) {
            Some(came) if !class.contains(came) => {
                let operand = self.inst.operands()[place];
                self.report(format!("expected {operand} to be {}, found {came}", class.describe()));
            }
            _ => {}
        }
    }

    fn result_is(&mut self, expected: Type, why: &str) {
        if self.inst.ty != expected {
            self.report(format!("expected the result to be {expected}, {why}, found {}", self.inst.ty));
        }
    }

    fn result_in(&mut self, class: Class) {
        if !class.contains(self.inst.ty) {
            self.report(format!("expected the result to be {}, found {}", class.describe(), self.inst.ty));
        }
    }
}

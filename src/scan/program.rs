//! Puts traced functions together as a program.

use monoscan_ir::facts::drop_unused;
use monoscan_ir::{Constant, Function, Mapping, Output, Program, Source, Stage, Table, Verified, verify};
use monoscan_runtime::{Error, TraceError};

use super::element::View;
use super::native;
use super::states::Operator;
use super::translation;
use crate::lang::{self, Inputs, ScanFn, ScanType, Traced};

/// A traced function of a program, and what its arguments are.
pub(super) struct Part {
    pub(super) traced: Traced,
    pub(super) view: View,
    /// The values of its parameters, which are its first arguments.
    pub(super) parameters: Vec<Constant>,
}

impl Part {
    /// Traces a scan function and compares it with its Rust code.
    pub(super) fn new<F: ScanFn<Args>, Args: Inputs>(f: &F, view: View) -> Result<Part, Error> {
        let check = |traced: &Traced| translation::check_function::<F, Args>(f, traced);
        Part::checked(lang::trace_fn::<F, Args>(f), &check, view)
    }

    fn checked(
        traced: Result<Traced, TraceError>,
        check: &dyn Fn(&Traced) -> Result<(), Error>,
        view: View,
    ) -> Result<Part, Error> {
        let traced = traced?;
        check(&traced)?;
        Ok(Part { traced, view, parameters: Vec::new() })
    }

    /// The function whose first argument is these parameters.
    pub(super) fn with<P: ScanType>(self, parameters: &P) -> Part {
        Part { parameters: lang::to_constants(parameters), ..self }
    }
}

/// Everything a program is made of.
pub(super) struct Parts {
    /// One for each stage.
    pub(super) lifts: Vec<Part>,
    pub(super) filter: Option<Part>,
    pub(super) project: Part,
    /// One for each stage.
    pub(super) operators: Vec<Operator>,
}

impl Parts {
    /// The values of the parameters of all functions, in order.
    pub(super) fn parameters(&self) -> Vec<Constant> {
        let parts = self.lifts.iter().chain(&self.filter).chain([&self.project]);
        parts.flat_map(|part| part.parameters.iter().copied()).collect()
    }

    /// Whether all functions give the same bits as their Rust.
    pub(super) fn are_exact(&self) -> bool {
        let own = self.lifts.iter().chain([&self.project]).map(|part| &part.traced);
        native::are_exact(own.chain(self.operators.iter().map(|operator| &operator.combine)))
    }

    /// The program that reads `inputs` and writes `columns`, verified and compared with the Rust code.
    pub(super) fn program(
        self,
        inputs: Vec<monoscan_ir::Layout>,
        columns: Vec<monoscan_ir::Layout>,
    ) -> Result<Verified<Program>, Error> {
        let record = inputs.iter().map(|column| column.fields.len()).sum();
        let sizes: Vec<usize> = self.operators.iter().map(|operator| operator.identity.len()).collect();
        let mut tables = Tables::default();
        let mut parameters = Vec::new();
        let mut mapping = |part: Part, stages: &[usize]| {
            let first = parameters.len() as u32;
            parameters.extend(part.parameters.iter().map(|value| value.ty()));
            let own = (first..parameters.len() as u32).map(Source::Parameter);
            let sources = own.chain(part.view.sources(record, stages)).collect();
            mapping(tables.adopt(part.traced), sources)
        };
        let lifts: Vec<Mapping> =
            self.lifts.into_iter().enumerate().map(|(stage, lift)| mapping(lift, &sizes[..stage])).collect();
        let filter = self.filter.map(|filter| mapping(filter, &sizes));
        let project = mapping(self.project, &sizes);
        let stages = lifts.into_iter().zip(&self.operators).map(|(lift, operator)| Stage {
            state: operator.state(),
            identity: operator.identity.clone(),
            lift,
            combine: tables.adopt(operator.combine.clone()),
            valid: operator.valid.clone().map(|valid| tables.adopt(valid)),
            follows: operator.follows.clone().map(|follows| tables.adopt(follows)),
            automaton: false,
        });
        let mut stages: Vec<Stage> = stages.collect();
        // A monoid of transition maps, whose lift looks them up in a table.
        stages.iter_mut().for_each(|stage| stage.automaton = stage.is_automaton(&tables.0));
        let name = name(&self.operators);
        let output = Output { filter, project, columns };
        let program = verify(Program { name, tables: tables.0, inputs, parameters, stages, output, sequential: None })?;
        for (operator, stage) in self.operators.iter().zip(&program.stages) {
            operator.check(stage, &program.tables)?;
        }
        Ok(program)
    }
}

/// The function of those sources that it uses; what no result needs is left out.
pub(super) fn mapping(function: Function, sources: Vec<Source>) -> Mapping {
    drop_unused(Mapping { reads: sources, function }, 0)
}

/// The tables of all functions, one after the other.
#[derive(Default)]
pub(super) struct Tables(pub(super) Vec<Table>);

impl Tables {
    /// Takes over a function's tables and renumbers its look-ups.
    pub(super) fn adopt(&mut self, traced: Traced) -> Function {
        let first = self.0.len() as u32;
        self.0.extend(traced.tables);
        traced.function.map_tables(|table| table + first)
    }
}

/// The monoids' names, with a dot between those of two stages.
fn name(operators: &[Operator]) -> String {
    operators.iter().map(|operator| plain_name(operator.name)).collect::<Vec<_>>().join(".")
}

/// A type's name without its modules, in the characters that a program's name may have.
pub(super) fn plain_name(type_name: &str) -> String {
    let mut name = String::new();
    for word in type_name.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        name.push_str(word.rsplit("::").next().unwrap_or(word));
    }
    name.chars().filter(|c| *c != ' ').map(|c| if Program::is_name_char(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::{FunctionBuilder, Opcode, Type, Value};

    #[test]
    fn programs_are_named_after_the_monoid_without_its_modules() {
        assert_eq!(plain_name("a::b::Segmented<c::Affine<f32>>"), "Segmented<Affine<f32>>");
        assert_eq!(plain_name("m::Mat<f64, 4>"), "Mat<f64,4>");
        assert_eq!(plain_name("[m::X; 3]"), "_X_3_");
    }

    #[test]
    fn a_mapping_reads_what_its_function_uses() {
        let mut b = FunctionBuilder::new();
        let [x, y, z] = b.params(&[Type::U8, Type::U32, Type::U32])[..] else { unreachable!("three parameters") };
        let unused = b.binary(Opcode::Add, y, y);
        let _ = b.binary(Opcode::Mul, unused, y);
        let wide = b.cast(Type::U32, x);
        let sum = b.binary(Opcode::Add, wide, z);
        let sources = vec![Source::Record(0), Source::Record(1), Source::Next(1)];
        let mapping = mapping(b.finish(&[sum, z]), sources);
        assert_eq!(mapping.reads, [Source::Record(0), Source::Next(1)]);
        assert_eq!(mapping.function.params, [Type::U8, Type::U32]);
        assert_eq!(mapping.function.insts.len(), 2);
        assert_eq!(mapping.function.results, [Value::new(3), Value::new(1)]);
        assert_eq!(monoscan_ir::interp::call(&mapping.function, &[200u8.into(), 5u32.into()], &[])[0], 205u32.into());
    }
}

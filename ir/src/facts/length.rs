//! Length-only components: those whose value after i elements depends on i, whatever the elements
//! were.
//!
//! A recurrence with constant coefficients is a product of affine maps that all have the same
//! matrix A; after i elements the matrix part is Aⁱ. Such a component need not be carried or
//! published: it can be tabulated.
//!
//! A component is length-only if its lift gives a constant and `combine` computes it from
//! length-only components of both sides alone. The largest set of components with that property is
//! found by starting from all whose lift is constant and striking out until nothing changes.

use crate::function::Function;
use crate::interp::Interpreter;
use crate::program::{Stage, Table};
use crate::simplify::{restrict_params, simplify, used_values};
use crate::types::Constant;

/// The length-only components of a stage, and how to compute them.
#[derive(Clone, PartialEq, Debug)]
pub struct LengthOnly {
    components: Vec<bool>,
    /// Over length-only components alone, of both sides.
    combine: Function,
    identity: Vec<Constant>,
    lift: Vec<Constant>,
    tables: Vec<Table>,
}

impl LengthOnly {
    /// The length-only components of a stage of a verified program with these tables.
    pub fn of(stage: &Stage, tables: &[Table]) -> LengthOnly {
        let lift = simplify(&stage.lift.function, tables);
        let lift: Vec<Option<Constant>> = lift.results.iter().map(|&result| lift.as_constant(result)).collect();
        // Where no lift is constant no component is length-only.
        let is_any = lift.iter().any(Option::is_some);
        let results = if is_any { stage.combine.results.clone() } else { Vec::new() };
        let mut combine = simplify(&Function { results, ..stage.combine.clone() }, tables);
        let components = strike_out(&mut combine, lift.iter().map(Option::is_some).collect());
        let selected = |all: &[Constant]| all.iter().zip(&components).filter(|(_, is)| **is).map(|(&c, _)| c).collect();
        LengthOnly {
            identity: selected(&stage.identity),
            lift: lift.iter().zip(&components).filter(|(_, is)| **is).filter_map(|(&lifted, _)| lifted).collect(),
            combine: restrict_params(&combine, &[&components[..], &components[..]].concat()),
            tables: tables_of(&combine, tables),
            components,
        }
    }

    /// For each component whether it is length-only.
    pub fn components(&self) -> &[bool] {
        &self.components
    }

    /// The values after `count` elements, none for components that are not length-only.
    ///
    /// The lifted constant is raised to the power `count` by repeated doubling, low bits of `count` first, the partial
    /// product on the left: an association that depends on `count` alone, so floats are rounded the same way
    /// everywhere. After no element it is the identity. Takes at most 128 combines.
    pub fn after(&self, count: u64) -> Vec<Option<Constant>> {
        let mut interpreter = Interpreter::new(&self.tables);
        let mut combine = |a: &[Constant], b: &[Constant]| interpreter.call(&self.combine, &[a, b].concat()).clone();
        let mut product: Option<Vec<Constant>> = None;
        let mut power = self.lift.clone();
        let mut rest = count;
        while rest != 0 {
            if rest & 1 == 1 {
                product = Some(product.map_or_else(|| power.clone(), |product| combine(&product, &power)));
            }
            rest >>= 1;
            if rest != 0 {
                power = combine(&power, &power);
            }
        }
        let mut values = product.unwrap_or_else(|| self.identity.clone()).into_iter();
        self.components.iter().map(|&is| if is { values.next() } else { None }).collect()
    }
}

/// The largest subset of `candidates` that `combine` computes from the subset alone. Leaves in `combine` the results
/// of that subset.
fn strike_out(combine: &mut Function, mut candidates: Vec<bool>) -> Vec<bool> {
    let results = combine.results.clone();
    loop {
        let mut remaining = candidates.clone();
        for (component, &result) in results.iter().enumerate().filter(|&(component, _)| candidates[component]) {
            combine.results = vec![result];
            let used = used_values(combine);
            let sides = [&used[..results.len()], &used[results.len()..2 * results.len()]];
            remaining[component] =
                sides.iter().all(|used| used.iter().zip(&candidates).all(|(used, candidate)| !used || *candidate));
        }
        if remaining == candidates {
            break;
        }
        candidates = remaining;
    }
    combine.results = results.iter().zip(&candidates).filter(|(_, is)| **is).map(|(&result, _)| result).collect();
    candidates
}

/// The tables, if the function reads any.
fn tables_of(function: &Function, tables: &[Table]) -> Vec<Table> {
    let used = used_values(function);
    let reads = function.values().any(|(value, inst)| used[value.index()] && inst.opcode == crate::Opcode::Table);
    if reads { tables.to_vec() } else { Vec::new() }
}

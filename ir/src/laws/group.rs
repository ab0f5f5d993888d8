//! Independent components: a product of monoids is judged factor by factor.

use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::program::Stage;
use crate::types::{Constant, Type};

/// Some components of a state that read no others.
pub(crate) struct Group {
    pub(crate) components: Vec<usize>,
    pub(crate) types: Vec<Type>,
    pub(crate) identity: Vec<Constant>,
    pub(crate) combine: Function,
}

/// The finest split of a stage's components into groups that do not read each other.
pub(crate) fn groups(stage: &Stage) -> Vec<Group> {
    let width = stage.state.len();
    let mut leader: Vec<usize> = (0..width).collect();
    for component in 0..width {
        for (value, used) in used(&stage.combine, &[component]).into_iter().enumerate().take(2 * width) {
            if used {
                let (from, to) = (leader[value % width], leader[component]);
                leader.iter_mut().filter(|leader| **leader == from).for_each(|leader| *leader = to);
            }
        }
    }
    let members = |head: usize| (0..width).filter(|&i| leader[i] == head).collect::<Vec<usize>>();
    let heads = (0..width).filter(|&i| (0..i).all(|j| leader[j] != leader[i]));
    heads.map(|i| group(stage, members(leader[i]))).collect()
}

/// The conditions that must hold together for a result to be true.
pub(super) fn conjuncts(valid: &Function) -> Vec<Value> {
    let (mut open, mut found) = (valid.results.clone(), Vec::new());
    while let Some(value) = open.pop() {
        match valid.inst(value) {
            Some(inst) if inst.opcode == Opcode::And => open.extend_from_slice(inst.operands()),
            _ => found.push(value),
        }
    }
    found.reverse();
    found
}

/// The components that a condition reads.
pub(super) fn reads(valid: &Function, condition: Value) -> Vec<usize> {
    let used = crate::simplify::used_values(&Function { results: vec![condition], ..valid.clone() });
    (0..valid.params.len()).filter(|&param| used[param]).collect()
}

/// The components of a group → what `valid` asks of them alone, a `bool` each.
pub(super) fn conditions(group: &Group, valid: &Function) -> Function {
    let of_group = |&condition: &Value| {
        let read = reads(valid, condition);
        !read.is_empty() && read.iter().all(|param| group.components.contains(param))
    };
    let conditions: Vec<Value> = conjuncts(valid).into_iter().filter(of_group).collect();
    let mut b = FunctionBuilder::new();
    let own = b.params(&group.types);
    let mut arguments = Vec::new();
    for (place, &ty) in valid.params.iter().enumerate() {
        let member = group.components.iter().position(|&component| component == place);
        arguments.push(member.map_or_else(|| b.constant(ty.zero()), |member| own[member]));
    }
    let results = b.inline(&Function { results: conditions, ..valid.clone() }, &arguments);
    b.finish(&results)
}

/// Components that read no others, in this order.
pub(super) fn group(stage: &Stage, components: Vec<usize>) -> Group {
    let combine = &stage.combine;
    let width = stage.state.len();
    let types: Vec<Type> = components.iter().map(|&i| stage.state[i]).collect();
    let identity = components.iter().map(|&i| stage.identity[i]).collect();
    let used = used(combine, &components);
    let mut renamed = vec![Value::new(0); combine.value_count()];
    for (place, &component) in components.iter().enumerate() {
        renamed[component] = Value::new(place);
        renamed[width + component] = Value::new(components.len() + place);
    }
    let mut insts: Vec<Inst> = Vec::new();
    for (value, inst) in combine.values().filter(|(value, _)| used[value.index()]) {
        renamed[value.index()] = Value::new(2 * components.len() + insts.len());
        insts.push(inst.map_operands(|operand| renamed[operand.index()]));
    }
    let results = components.iter().map(|&i| renamed[combine.results[i].index()]).collect();
    let combine = Function { params: [types.as_slice(), &types].concat(), insts, results };
    Group { components, types, identity, combine }
}

/// For every value, whether these results need it.
fn used(function: &Function, results: &[usize]) -> Vec<bool> {
    let mut used = vec![false; function.value_count()];
    for &result in results {
        used[function.results[result].index()] = true;
    }
    for (value, inst) in function.values().rev() {
        if used[value.index()] {
            inst.operands().iter().for_each(|operand| used[operand.index()] = true);
        }
    }
    used
}

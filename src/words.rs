//! Messages about laws for people who write Rust.

use monoscan_ir::laws::{Advice, Condition, Words};

pub(crate) const RUST: Words = Words {
    advice,
    condition,
    unjudged: "mend `valid` so that it accepts the states that occur and combine without overflow; if the laws hold for a \
               reason that the compiler cannot see, build with `.assume_associative()`",
};

fn advice(advice: &Advice, names: &[String]) -> String {
    const SAY: &str = "add `fn valid(self) -> bool` to the impl, which is true of the states that do";
    match *advice {
        Advice::ExcludeNan { component } => {
            let name = names.get(component).cloned().unwrap_or_else(|| component.to_string());
            format!("if `{name}` is never NaN, say so: `fn valid(self) -> bool {{ !self.{name}.is_nan() }}`")
        }
        Advice::DeclareValidForIdentity => {
            format!("an identity leaves every state as it is; if this state never occurs, {SAY}")
        }
        Advice::DeclareValid => {
            format!(
                "if one of these states never occurs, {SAY}: laws are judged on valid states only, or, of a scan that has a \
                 `lift` and whose monoid says nothing of `valid`, on those that this leads to"
            )
        }
        Advice::DeclareValidBeyondLift => {
            format!("lift can lead to all of these states; if one of them never occurs, {SAY}")
        }
        _ => advice.describe(names),
    }
}

fn condition(condition: &Condition, names: &[String]) -> String {
    let said = condition.describe(names);
    match condition {
        Condition::NothingOverflows { .. } => format!("{said}: `wrapping_add`, `wrapping_sub` and `wrapping_mul`"),
        _ => said,
    }
}

//! Under which conditions the verdicts hold: as data, and in words.

use std::fmt;

/// A condition under which the laws hold, and with them what a scan promises. Components are numbered within the state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Condition {
    /// The laws of these components hold where no integer overflows. Elsewhere a build of the source with overflow checks
    /// panics, and a scan, which combines in another order, may give other results than the loop of a build without.
    NothingOverflows {
        /// Which components.
        components: Vec<usize>,
    },
    /// The laws hold over the real numbers: another order of combining changes how results are rounded.
    FloatsOverTheReals,
    /// The laws were judged on the states that lift can lead to, and on their products.
    StatesOfLift,
    /// That the identity changes nothing was not judged on NaN, which `min` and `max` skip.
    IdentityWithoutNan,
}

impl Condition {
    /// The condition and what to do about it, with the state's components called by these names.
    pub fn describe(&self, names: &[String]) -> String {
        match self {
            Condition::NothingOverflows { components } => {
                let name = |&component: &usize| match names.get(component) {
                    Some(name) => format!("`{name}`"),
                    None => component.to_string(),
                };
                let which = match names.len().max(components.len()) {
                    1 => String::new(),
                    _ => format!(" of {}", components.iter().map(name).collect::<Vec<_>>().join(", ")),
                };
                format!(
                    "laws{which} are judged where nothing overflows: where an integer does, results may differ from \
                     those of the sequential loop. A checked scan reports the first overflow, a wider type avoids it, \
                     and `wrapping_add` and its kind have it judged"
                )
            }
            Condition::FloatsOverTheReals => {
                "floats are judged over the reals: regrouping changes rounding, not meaning".to_owned()
            }
            Condition::StatesOfLift => "judged on the states that lift can lead to".to_owned(),
            Condition::IdentityWithoutNan => {
                "the identity law is not judged on NaN, which `min` and `max` skip".to_owned()
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&[]))
    }
}

//! Why a loop is no scan: the components, the operation, the reason, and what would do.

use std::borrow::Cow;
use std::fmt;

use super::code::{Code, MOST_OWN};
use super::family::all_but;
use super::graph::group;
use super::reasons::Step;
use super::show::rust_name;
use super::{Flat, LoopProgram};
use crate::function::Value;
use crate::opcode::Opcode;
use crate::types::Type;

/// An operation that no family of functions of the state has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// A `select` whose condition is computed from the state.
    Branch,
    /// A comparison of the state.
    Compared,
    /// A product of two values that both depend on the state.
    Square,
    /// A division by the state.
    Quotient,
    /// An operation of the state that no family has.
    Operation(Opcode),
    /// A shift or a rotation of the state by what is no constant.
    Shifted,
    /// A method of the state that is no opcode, and that no family has.
    Method(&'static str),
    /// An operation that no family has, of a state that minima and maxima are taken of too.
    Beside(Opcode),
    /// Arithmetic that wraps, under bounds or a remainder by no power of two.
    Wraps,
    /// Constants that are added and multiplied and reach half of their type together, under bounds or `%`.
    Constants,
    /// A remainder by what is no constant, or by one above 2^32.
    Modulus,
    /// An initial state that is below 0, or not below the modulus.
    Start {
        /// The modulus.
        modulus: u64,
    },
    /// A remainder of what may be negative.
    Negative,
    /// Arithmetic and bit operations on one word.
    Mixed,
    /// Minima and maxima that bend the function in too many places.
    Bends,
    /// A factor of the state that may be larger than 1 in size, under bounds.
    Growth,
    /// Components that depend on each other, where a family has one alone.
    Several,
    /// A type that the family has no numbers of.
    Type(Type),
    /// A matrix of bits of a word of another type than those that are composed.
    Word(Type),
    /// A matrix of bits that is another one for some elements.
    Varies,
    /// Sums of multiples of more components than are composed.
    Vector {
        /// How many components depend on each other.
        components: usize,
        /// How many may.
        most: usize,
    },
    /// A table that is read at the state, where there are more joint states than a table has.
    States,
    /// More stages than are compiled.
    Levels {
        /// How many stages the loop needs.
        needed: usize,
    },
    /// A state larger than a stage carries.
    Size {
        /// Its bytes.
        bytes: usize,
    },
    /// More components than a loop may have.
    Components {
        /// How many there are.
        got: usize,
    },
    /// The derivation took more work than a step may: it is too large, or too many of its components read each other.
    Effort,
    /// The derived scan does not compute what the loop does: a recogniser is wrong, which is a bug in monoscan.
    Wrong,
}

/// That a family was left: which operation says most about a group is found when all families have left it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave;

/// A place in the source of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourcePlace {
    /// The file, as the compiler names it.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The method that stands there for several operations, `tanh` or its like.
    pub method: Option<&'static str>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a loop cannot be scanned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The names of the components that no family has, in order.
    pub components: Vec<String>,
    /// The property that no family has.
    pub why: Why,
    /// The operation, as it was written; none where it is the group as a whole, or a method, which `why` names.
    pub place: Option<String>,
    /// Where the statement or branch with that operation was written, if the loop says so.
    pub source: Option<SourcePlace>,
}

impl Refusal {
    /// The refusal of these components as a whole.
    pub(super) fn of(components: Vec<String>, why: Why) -> Refusal {
        Refusal { components, why, place: None, source: None }
    }

    /// The refusal of a group that every family left: by the operation that says most.
    pub(super) fn of_group(
        code: &mut Code<'_>,
        members: &[usize],
        next: &[Value],
        (flat, of): (&Flat, &LoopProgram),
    ) -> Refusal {
        let written = flat.written(of);
        let all_but = all_but(&mut group(code, flat, next, members));
        let step = Step { code, written: &written, flat, members, next };
        let (why, at) = match all_but {
            Some(why) => (why, step.shows(why)),
            None => step.worst(),
        };
        // Components that no family has together have no one operation: the first is where to look.
        let source = written.place(at.unwrap_or(next[members[0]]));
        let refusal = Refusal::of(members.iter().map(|&member| flat.names[member].clone()).collect(), why);
        // A method is not shown as what it is made of.
        match (why, source.as_ref().and_then(|source| source.method)) {
            (Why::Operation(_) | Why::Beside(_) | Why::Branch | Why::Compared, Some(method)) => {
                Refusal { why: Why::Method(method), source, ..refusal }
            }
            _ => Refusal { place: at.map(|at| flat.show(of, code, &written, at)), source, ..refusal },
        }
    }

    /// The refusal of a cascade whose last level, of these components, is one too many.
    pub(super) fn of_levels(
        code: &Code<'_>,
        (needed, members): (usize, &[usize]),
        next: &[Value],
        (flat, of): (&Flat, &LoopProgram),
    ) -> Refusal {
        let written = flat.written(of);
        let computed = members.iter().map(|&member| next[member]).find(|&next| code.inst(next).is_some());
        let at = computed.unwrap_or(next[members[0]]);
        let components = members.iter().map(|&member| flat.names[member].clone()).collect();
        let place = Some(flat.show(of, code, &written, at));
        Refusal { place, source: written.place(at), ..Refusal::of(components, Why::Levels { needed }) }
    }

    /// A remedy.
    pub fn advice(&self) -> &'static str {
        match self.why {
            Why::Branch | Why::Compared => {
                "if both arms are equal where the test changes, write it with `min`, `max` or `clamp`; if the state is an integer \
                 of at most 64 values, clamp it, as in `.clamp(0, 15)`, and it becomes a table; a test of the element or of \
                 another component alone is allowed"
            }
            Why::Square => "scale by a value of the element instead",
            Why::Quotient => {
                "divide by a value of the element instead; quotients of two sums, each with one multiple of the state, are \
                 closed, as in `x + 1.0 / s`"
            }
            Why::Operation(_) | Why::Method(_) | Why::Beside(_) => {
                "compute it from the element, or write the monoid yourself"
            }
            Why::Shifted => "shift and rotate by constants",
            Why::Wraps => {
                "write `+`, `-` and `*`, which wrap only where the loop overflows; what wraps of the element alone can be a column"
            }
            Why::Constants => "use a wider type",
            Why::Modulus => "take the remainder by a constant of at most 2^32",
            Why::Start { .. } => "start from 0 or above, and below the modulus",
            Why::Negative => "take the remainder that is never below 0, as in `(s + x).rem_euclid(360)`",
            Why::Mixed => "use `+` and `*` alone, or bit operations alone",
            Why::Bends => {
                "one lower and one upper bound of a sum are closed, as in `(s + x).clamp(lo, hi)`; and the largest and the \
                 smallest product together, where both have one factor"
            }
            Why::Growth => {
                "bound the factor too, as in `(k.clamp(-1.0, 1.0) * s + x).clamp(lo, hi)`; or leave out the bounds of the state"
            }
            Why::Several => "components that depend on each other must be sums, maxima or a few states together",
            Why::Type(_) => "use numbers of at most 32 bits, which are composed in 64, or floats",
            Why::Word(_) => "use a type without sign of at most 32 bits",
            Why::Varies => "take the same step for every element, as by leaving out those that take none",
            Why::Vector { .. } => "fewer components that depend on each other",
            Why::States => "clamp the component to a range of at most 64 values",
            Why::Levels { .. } => "fewer components that read each other's results; or several scans",
            Why::Size { .. } => "smaller types, or several scans",
            Why::Components { .. } => "several scans",
            Why::Effort => "a smaller step, or several scans",
            Why::Wrong => "please report the loop",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.components.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "{} cannot be scanned: ", names.join(" and "))?;
        match self.why {
            Why::Branch => f.write_str("which arm is taken depends on the state")?,
            Why::Compared => f.write_str("the state is compared")?,
            Why::Square => f.write_str("state × state")?,
            Why::Quotient => f.write_str("a quotient by the state")?,
            Why::Operation(opcode) => write!(f, "no family of functions has `{}` of the state", rust_name(opcode))?,
            Why::Shifted => f.write_str("the state is shifted or rotated by what is no constant")?,
            Why::Method(name) => write!(f, "no family of functions has `{name}` of the state")?,
            Why::Beside(opcode) => {
                write!(f, "no family of functions has `{}` of the state beside minima and maxima", rust_name(opcode))?;
            }
            Why::Wraps => {
                f.write_str("arithmetic wraps, and no family has that under bounds, or `%` by no power of two")?;
            }
            Why::Constants => {
                f.write_str("constants reach half of their type, and no family has that under bounds or `%`")?
            }
            Why::Modulus => f.write_str("a remainder by no constant, or by one above 2^32")?,
            Why::Start { modulus } => write!(f, "its initial state is not from 0 to {}", modulus - 1)?,
            Why::Negative => f.write_str("a remainder of what may be negative")?,
            Why::Mixed => f.write_str("arithmetic and bit operations are mixed")?,
            Why::Bends => f.write_str("minima and maxima bend the state in more than one place")?,
            Why::Growth => f.write_str("a factor under bounds may be larger than 1")?,
            Why::Several => f.write_str("they depend on each other, and no family has them together")?,
            Why::Type(ty) => write!(f, "no family has it for the type {ty}")?,
            Why::Word(ty) => write!(f, "its bits go through a matrix, and none is composed for the type {ty}")?,
            Why::Varies => f.write_str("its bits go through a matrix, which is another one for some elements")?,
            Why::Vector { components, most } => {
                write!(f, "sums of multiples of {components} components, and at most {most} are composed")?;
            }
            Why::States => f.write_str("a table is read at the state, of which more than 64 are reached")?,
            Why::Levels { needed } => write!(f, "a cascade of {needed} levels is needed, and 3 are compiled")?,
            Why::Size { bytes } => write!(f, "a stage's state takes {bytes} bytes, and at most 256 are carried")?,
            Why::Components { got } => write!(f, "{got} components, and a loop has at most {MOST_OWN}")?,
            Why::Effort => f.write_str("the step is too large, or too many of its components read each other")?,
            Why::Wrong => f.write_str("the derived scan is not the loop, which is a bug in monoscan")?,
        }
        if let Some(place) = &self.place {
            write!(f, " in `{place}`")?;
        }
        if let Some(source) = &self.source {
            write!(f, " at {source}")?;
        }
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for Refusal {}

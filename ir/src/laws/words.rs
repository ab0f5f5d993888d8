//! [`Words`]: how a front end says what was judged, in the terms of the language that its users
//! write.

use std::fmt;

use super::advice::Advice;
use super::condition::Condition;

/// The parts of a report that depend on its reader. The default speaks of programs: `valid`, `combine`, `lift`.
///
/// Functions take the names of the state's components, as many as are known.
#[derive(Clone, Copy)]
pub struct Words {
    /// The remedy for a law that does not hold.
    pub advice: fn(&Advice, &[String]) -> String,
    /// A condition of the verdicts, and what to do about it.
    pub condition: fn(&Condition, &[String]) -> String,
    /// The remedy where no case of a law can be judged.
    pub unjudged: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            advice: Advice::describe,
            condition: Condition::describe,
            unjudged: "mend `valid` so that it accepts the states that occur and combine without overflow; if the laws hold \
                       for a reason that the compiler cannot see, let the scan assume them",
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").field("unjudged", &self.unjudged).finish_non_exhaustive()
    }
}

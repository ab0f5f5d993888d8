//! The text form of programs: a printer and a parser that round-trip, also for programs that do not verify.

mod print;

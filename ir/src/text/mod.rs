//! The text form of programs: a printer and a parser that round-trip, also for programs that do not
//! verify.
//!
//! [`Display`](std::fmt::Display) of a [`Program`] prints it, [`parse`] reads it back:
//!
//! ```
//! let text = "\
//! program running_maximum
//!   input { size 8, align 4, i32 @ 0, bool @ 4 }
//!   stage (i32)
//!     identity (-2147483648)
//!     lift (%0 = record.0: i32, %1 = record.1: bool) {
//!       %2 = const.i32 -2147483648
//!       %3 = select.i32 %1, %0, %2
//!       return %3
//!     }
//!     combine (%0: i32, %1: i32) {
//!       %2 = max.i32 %0, %1
//!       return %2
//!     }
//!   output write
//!     column { size 4, align 4, i32 @ 0 }
//!     project (%0 = state.0: i32) {
//!       return %0
//!     }
//! ";
//! let program = monoscan_ir::text::parse(text).unwrap();
//! assert_eq!(program.to_string(), text);
//! ```
//!
//! # Grammar
//!
//! Spaces and line ends separate tokens and mean nothing else, but for one rule: an instruction
//! ends where its line ends, and so does `return`. A `;` starts a comment that ends with the line.
//! `{x}` is any number of x, `[x]` at most one, and `x, …` any number of x with commas between
//! them.
//!
//! ```text
//! program   = "program" name {"input" layout | "parameter" type | "table" table} {stage} output [sequential]
//! name      = letters, digits, _ . : < > ,  |  '"' any characters, with \" \\ \u{hex} '"'
//! layout    = "{" "size" int "," "align" int {"," type "@" int} "}"          field: a type at a byte offset
//! table     = type "=" list
//! stage     = "stage" ["automaton"] "(" type, … ")"
//!               "identity" "(" literal, … ")"
//!               "lift" mapping  "combine" function  ["valid" function]  ["follows" function]
//! output    = "output" "write" {"column" layout} "project" mapping
//!           | "output" "emit"  {"column" layout} "filter" mapping "project" mapping
//!
//! sequential = "sequential" "(" literal ":" type, … ")"
//!               "enter" function  "leave" function  "step" mapping  "project" mapping
//!               ["checked_step" mapping  "checked_project" mapping]
//!               {"fold" int "(" literal ":" type, … ")"  "step" mapping  "leave" function}    int: the stage
//!
//! function  = "(" value ":" type, … ")" body
//! mapping   = "(" value "=" source ":" type, … ")" body
//! source    = "record."n | "next."n | "last" | "prev."n | "first" | "index" | "before."stage"."n
//!           | "after."stage"."n | "init."stage"."n | "parameter."n | "state."n | "state."stage"."n
//! body      = "{" {value "=" opcode"."type operand, …} "return" value, … "}"    opcode: also a function, below
//! operand   = value | literal | "@"table | "#"lane | "wraps"                 the last: overflow is meant
//! value     = "%"n
//! literal   = int | float | "true" | "false" | "[" byte … "]"
//! list      = "[" literal … "]"
//! ```
//!
//! Values are numbered in order: the parameters from `%0`, then the instructions. Opcodes are the
//! [names](crate::Opcode::name) of [`Opcode`](crate::Opcode); the type after one is that of the
//! result. Inputs, tables, stages and columns are numbered from 0, each for
//! itself; fields through all columns.
//!
//! A literal has the type that its place asks for. Floats are decimal, with as many digits as their
//! value needs, or `inf`, `-inf`, or `nan:bits` with all bits in hexadecimal. Lane 0 of a vector
//! comes first.
//!
//! # Functions
//!
//! Instead of an opcode an instruction may name a function of [`math`](crate::math), over `f32` or
//! `f64`: `exp`, `exp2`, `exp_m1`, `ln`, `ln_1p`, `log2`, `tanh`, `sin`, `cos`, `tan`, and `powf`
//! with two operands. The parser puts the instructions of the function in its place. In the text it
//! has one number, as any instruction; what stands for it is not the text's, so a program prints as
//! what it was expanded to. That text reads back as the same program. The circular functions add
//! one table behind those of the text, and so are read in programs alone.
//!
//! ```
//! use monoscan_ir::{interp, text, verify};
//! let sums = verify(text::parse("
//!     program sum_of_exp
//!       input { size 4, align 4, f32 @ 0 }
//!       stage (f32)
//!         identity (0)
//!         lift (%0 = record.0: f32) {
//!           %1 = exp.f32 %0
//!           return %1
//!         }
//!         combine (%0: f32, %1: f32) {
//!           %2 = add.f32 %0, %1
//!           return %2
//!         }
//!       output write
//!         column { size 4, align 4, f32 @ 0 }
//!         project (%0 = state.0: f32) {
//!           %1 = ln.f32 %0
//!           return %1
//!         }
//! ").unwrap()).unwrap();
//! let run = interp::run(&sums, &[&[0; 8]], &interp::Request::default()).unwrap();
//! assert_eq!(run.outputs[0], [0f32, 2f32.ln()].map(f32::to_ne_bytes).concat());
//! assert_eq!(text::parse(&sums.to_string()).unwrap(), *sums);
//! ```
//!
//! # Exceptional forms
//!
//! A program that does not verify prints and parses too, where that takes a form of its own:
//!
//! - `literal ":" type`, where the type is not what the place asks for;
//! - `value ":" type` in a mapping, for parameters without a source, and `"_" "=" source` for
//!   sources without one;
//! - `type "=" "bytes" list`, for a table that does not have whole elements, or a `bool` that is
//!   not 0 or 1.

mod cursor;
mod error;
mod lex;
mod lines;
mod literal;
mod parse;
mod parse_function;
mod print;

pub use error::{ParseError, ParseErrors};
pub use lines::Lines;
pub use parse::{parse, parse_constant, parse_function, parse_layout, parse_with_lines};

#[cfg(doc)]
use crate::Program;

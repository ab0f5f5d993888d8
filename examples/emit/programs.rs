//! Programs that kernels are made of ahead of time, by name: what `emit` compiles and `run_kernel`
//! checks.

use monoscan::ir::{Program, Verified, text, verify};
use monoscan::ops::{Affine, Max, Sum};
use monoscan::prelude::*;

use crate::common::Failure;

/// The names of the ready programs.
pub(crate) const NAMES: [&str; 7] =
    ["sum_i32", "sum_f32", "max_i64", "affine_f32", "affine_f64", "low_pass_f32", "json"];

/// The program of this name; or that of a file whose name ends in `.scan`, in the text form of programs.
pub(crate) fn program(name: &str) -> Result<Verified<Program>, Failure> {
    let mut program = match name {
        "sum_i32" => of(&Scan::<Sum<i32>>::new()?),
        "sum_f32" => of(&Scan::<Sum<f32>>::new()?),
        "max_i64" => of(&Scan::<Max<i64>>::new()?),
        "affine_f32" => of(&Scan::<Affine<f32>>::builder()
            .lift(scan!(|a: f32, b: f32| -> Affine<f32> { Affine { a, b } }))
            .project(scan!(|map: Affine<f32>| -> f32 { map.b }))
            .build()?),
        "affine_f64" => of(&Scan::<Affine<f64>>::builder()
            .lift(scan!(|a: f64, b: f64| -> Affine<f64> { Affine { a, b } }))
            .project(scan!(|map: Affine<f64>| -> f64 { map.b }))
            .build()?),
        "low_pass_f32" => {
            use monoscan::recurrence::{Precision, program};
            program::<f32>(&"0.04 : 1.6, -0.64".parse()?, Precision::Double)?
        }
        #[cfg(feature = "lexer")]
        "json" => {
            use monoscan::lexer::{LexerTables, Rules};
            Program::clone(&LexerTables::new(&Rules::json())?.program())
        }
        file if file.ends_with(".scan") => {
            let failed = |error: &dyn std::fmt::Display| Failure::Run(format!("{file}: {error}"));
            let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
            let program = text::parse(&text).map_err(|error| failed(&error))?;
            return verify(program).map_err(|error| failed(&error));
        }
        unknown => {
            let names = NAMES.join(", ");
            return Err(Failure::Usage(format!("unknown program `{unknown}`: expected {names} or a file *.scan")));
        }
    };
    program.name = name.into();
    Ok(verify(program)?)
}

fn of<S, In, Out>(scan: &Scan<S, In, Out>) -> Program {
    Program::clone(scan.as_dyn().program())
}

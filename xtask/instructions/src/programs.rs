//! The programs whose instructions are counted.

use monoscan::lexer::{LexerTables, Rules};
use monoscan::recurrence::{self, Precision};
use monoscan_ir::{Program, Type, Verified, text, verify};

use crate::Anything;

type Named = (&'static str, Verified<Program>);

/// All of them, with their names.
pub(crate) fn all() -> Result<Vec<Named>, Anything> {
    Ok(vec![
        ("sum of i32", sum("i32")?),
        ("sum of f32", sum("f32")?),
        ("affine of f32", affine("f32")?),
        ("affine of f64", affine("f64")?),
        ("path of i32", path()?),
        ("segmented sum of i32", segmented()?),
        ("automaton of 16 states", automaton()?),
        ("JSON lexer", LexerTables::new(&Rules::json())?.program()),
        ("biquad of f32", biquad()?),
    ])
}

/// Those that are also run over flagged segments.
pub(crate) fn flagged() -> Result<Vec<Named>, Anything> {
    Ok(vec![
        ("flagged sum of i32", sum("i32")?),
        ("flagged sum of f32", sum("f32")?),
        ("flagged maximum of f64", maximum()?),
        ("flagged affine of f32", affine("f32")?),
        ("flagged automaton of 16 states", automaton()?),
    ])
}

fn parse(source: &str) -> Result<Verified<Program>, Anything> {
    Ok(verify(text::parse(source)?)?)
}

fn column(ty: &str) -> String {
    let size = Type::from_name(ty).map_or(0, Type::size);
    format!("{{ size {size}, align {size}, {ty} @ 0 }}")
}

/// Running sums.
pub(crate) fn sum(ty: &str) -> Result<Verified<Program>, Anything> {
    let column = column(ty);
    parse(&format!(
        "program sum
           input {column}
           stage ({ty})
             identity (0)
             lift (%0 = record.0: {ty}) {{ return %0 }}
             combine (%0: {ty}, %1: {ty}) {{
               %2 = add.{ty} %0, %1
               return %2
             }}
           output write
             column {column}
             project (%0 = state.0: {ty}) {{ return %0 }}"
    ))
}

/// Running maxima.
fn maximum() -> Result<Verified<Program>, Anything> {
    parse(
        "program maximum
           input { size 8, align 8, f64 @ 0 }
           stage (f64)
             identity (-inf)
             lift (%0 = record.0: f64) { return %0 }
             combine (%0: f64, %1: f64) {
               %2 = max.f64 %0, %1
               return %2
             }
           output write
             column { size 8, align 8, f64 @ 0 }
             project (%0 = state.0: f64) { return %0 }",
    )
}

/// `y[i] = a[i]·y[i-1] + b[i]`.
fn affine(ty: &str) -> Result<Verified<Program>, Anything> {
    let column = column(ty);
    parse(&format!(
        "program affine
           input {column}
           input {column}
           stage ({ty}, {ty})
             identity (1, 0)
             lift (%0 = record.0: {ty}, %1 = record.1: {ty}) {{ return %0, %1 }}
             combine (%0: {ty}, %1: {ty}, %2: {ty}, %3: {ty}) {{
               %4 = mul.{ty} %2, %0
               %5 = mul.{ty} %2, %1
               %6 = add.{ty} %5, %3
               return %4, %6
             }}
           output write
             column {column}
             project (%0 = state.1: {ty}) {{ return %0 }}"
    ))
}

/// Where a path of steps ends, and the highest that it went: right where nothing overflows.
pub(crate) fn path() -> Result<Verified<Program>, Anything> {
    parse(
        "program path
           input { size 4, align 4, i32 @ 0 }
           stage (i32, i32)
             identity (0, 0)
             lift (%0 = record.0: i32) {
               %1 = const.i32 0
               %2 = max.i32 %0, %1
               return %0, %2
             }
             combine (%0: i32, %1: i32, %2: i32, %3: i32) {
               %4 = add.i32 %0, %2
               %5 = add.i32 %0, %3
               %6 = max.i32 %1, %5
               return %4, %6
             }
           output write
             column { size 4, align 4, i32 @ 0 }
             project (%0 = state.1: i32) { return %0 }",
    )
}

/// Sums that start afresh where a flag is set.
fn segmented() -> Result<Verified<Program>, Anything> {
    parse(
        "program segmented
           input { size 4, align 4, i32 @ 0 }
           input { size 1, align 1, bool @ 0 }
           stage (bool, i32)
             identity (false, 0)
             lift (%0 = record.1: bool, %1 = record.0: i32) { return %0, %1 }
             combine (%0: bool, %1: i32, %2: bool, %3: i32) {
               %4 = or.bool %0, %2
               %5 = add.i32 %1, %3
               %6 = select.i32 %2, %3, %5
               return %4, %6
             }
           output write
             column { size 4, align 4, i32 @ 0 }
             project (%0 = state.1: i32) { return %0 }",
    )
}

/// The state of an automaton of sixteen states and eight kinds of bytes, after every byte.
fn automaton() -> Result<Verified<Program>, Anything> {
    let map = |class: usize| {
        let states = (0..16).map(|state| ((state * (2 * class + 1) + class * class) % 16).to_string());
        format!("[{}]", states.collect::<Vec<_>>().join(" "))
    };
    let maps = (0..8).map(map).collect::<Vec<_>>().join(" ");
    let same = (0..16).map(|state| state.to_string()).collect::<Vec<_>>().join(" ");
    parse(&format!(
        "program automaton
           input {{ size 1, align 1, u8 @ 0 }}
           table u8x16 = [{maps}]
           stage (u8x16)
             identity ([{same}])
             lift (%0 = record.0: u8) {{
               %1 = const.u8 7
               %2 = and.u8 %0, %1
               %3 = cast.u32 %2
               %4 = table.u8x16 %3, @0
               return %4
             }}
             combine (%0: u8x16, %1: u8x16) {{
               %2 = permute.u8x16 %1, %0
               return %2
             }}
           output write
             column {{ size 1, align 1, u8 @ 0 }}
             project (%0 = state.0: u8x16) {{
               %1 = lane.u8 %0, #0
               return %1
             }}"
    ))
}

/// A second-order low-pass filter with zeros.
fn biquad() -> Result<Verified<Program>, Anything> {
    let signature = "0.02, 0.04, 0.02 : 1.56, -0.64".parse()?;
    Ok(verify(recurrence::program::<f32>(&signature, Precision::default())?)?)
}

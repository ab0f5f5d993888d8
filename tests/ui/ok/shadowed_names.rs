// Nothing the user calls by the names of the generated code, or of the standard library, is in the way.
#![no_implicit_prelude]
#![allow(dead_code, non_camel_case_types)]

use ::monoscan::prelude::{Monoid, ScanType, scan_fn, scan_monoid};
use ::std::clone::Clone;
use ::std::marker::Copy;

mod core {}
mod std {}
struct V;
struct Vec;
struct Option;
struct Some;
struct Type;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Traced<next> {
    parts: next,
    __parts: u8,
    components: f32,
    values: bool,
    value: u8,
    r#type: u8,
}

#[scan_monoid]
impl<M: Monoid> Monoid for Traced<M> {
    fn identity() -> Self {
        Traced { parts: M::identity(), __parts: 0, components: 0.0, values: true, value: 1, r#type: 2 }
    }

    fn combine(self, values: Self) -> Self {
        let parts = self.parts.combine(values.parts);
        let components = self.components;
        let r#type = values.r#type;
        Traced { parts, components, r#type, ..self }
    }
}

#[scan_fn]
fn add(add: f32, value: f32) -> f32 {
    let select = add + value;
    let merge = if select > 1.0 { select } else { value };
    merge
}

fn main() {}

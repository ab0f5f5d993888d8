//! Literals: the text of a constant, and the constant that it is as a given type.

use crate::types::{Constant, Type};

/// A literal as it was written; what it is depends on the type.
pub(super) enum Literal<'a> {
    /// A number, `true`, `false` or `inf`.
    Scalar(&'a str),
    /// The lanes of a vector.
    Lanes(Vec<u8>),
}

impl Literal<'_> {
    /// The constant of type `ty`, or what was expected instead.
    pub(super) fn of_type(&self, ty: Type) -> Result<Constant, String> {
        let constant = match (self, ty) {
            (Literal::Lanes(lanes), Type::Bytes(count)) if lanes.len() == count.get() => Some(Constant::vector(lanes)),
            (Literal::Scalar(text), Type::Bool) => text.parse::<bool>().ok().map(Constant::from),
            (Literal::Scalar(text), Type::F32 | Type::F64) => float(text, ty),
            (Literal::Scalar(text), _) if ty.is_int() => int(text, ty),
            _ => None,
        };
        constant.ok_or_else(|| match (self, ty) {
            (Literal::Lanes(lanes), Type::Bytes(count)) => {
                format!("expected {} bytes, found {}", count.get(), lanes.len())
            }
            (Literal::Lanes(_), _) => format!("expected a literal of type {ty}, found a list of bytes"),
            (Literal::Scalar(text), _) if ty.is_int() => {
                let (least, greatest) = (ty.least().as_int(), ty.greatest().as_int());
                format!("expected a literal of type {ty}, from {least} to {greatest}, found `{text}`")
            }
            (Literal::Scalar(text), _) => format!("expected a literal of type {ty}, found `{text}`"),
        })
    }
}

fn int(text: &str, ty: Type) -> Option<Constant> {
    let value = text.parse::<i128>().ok()?;
    let constant = Constant::new(ty, value as u128);
    (constant.as_int() == value).then_some(constant)
}

fn float(text: &str, ty: Type) -> Option<Constant> {
    if let Some(bits) = text.strip_prefix("nan:") {
        let bits = u128::from_str_radix(bits, 16).ok().filter(|&bits| bits <= ty.mask())?;
        return Some(Constant::new(ty, bits)).filter(|constant| constant.is_nan());
    }
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let infinite = magnitude == "inf";
    if !infinite && !magnitude.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let constant = match ty {
        Type::F32 => Constant::from(text.parse::<f32>().ok()?),
        _ => Constant::from(text.parse::<f64>().ok()?),
    };
    // A decimal that is too large is a mistake, not an infinity.
    (constant.as_f64().is_infinite() == infinite).then_some(constant)
}

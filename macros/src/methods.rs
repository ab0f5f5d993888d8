//! The methods of numbers that scan code may call: one table for lowering, for messages and for the
//! documentation.

/// A method: its name, and how many arguments it takes after `self`. `lang::methods` has a function of that name.
pub(crate) const METHODS: &[(&str, usize)] = &[
    ("abs", 0),
    ("abs_diff", 1),
    ("ceil", 0),
    ("clamp", 2),
    ("copysign", 1),
    ("cos", 0),
    ("count_ones", 0),
    ("count_zeros", 0),
    ("div_ceil", 1),
    ("div_euclid", 1),
    ("exp", 0),
    ("exp2", 0),
    ("exp_m1", 0),
    ("floor", 0),
    ("fract", 0),
    ("ilog10", 0),
    ("ilog2", 0),
    ("is_ascii", 0),
    ("is_ascii_alphabetic", 0),
    ("is_ascii_alphanumeric", 0),
    ("is_ascii_control", 0),
    ("is_ascii_digit", 0),
    ("is_ascii_graphic", 0),
    ("is_ascii_hexdigit", 0),
    ("is_ascii_lowercase", 0),
    ("is_ascii_punctuation", 0),
    ("is_ascii_uppercase", 0),
    ("is_ascii_whitespace", 0),
    ("is_finite", 0),
    ("is_infinite", 0),
    ("is_multiple_of", 1),
    ("is_nan", 0),
    ("is_negative", 0),
    ("is_positive", 0),
    ("is_power_of_two", 0),
    ("is_sign_negative", 0),
    ("is_sign_positive", 0),
    ("larger", 1),
    ("leading_ones", 0),
    ("leading_zeros", 0),
    ("ln", 0),
    ("ln_1p", 0),
    ("log2", 0),
    ("max", 1),
    ("min", 1),
    ("mul_add", 2),
    ("overflowing_add", 1),
    ("overflowing_mul", 1),
    ("overflowing_sub", 1),
    ("pow", 1),
    ("powf", 1),
    ("powi", 1),
    ("recip", 0),
    ("rem_euclid", 1),
    ("reverse_bits", 0),
    ("rotate_left", 1),
    ("rotate_right", 1),
    ("round", 0),
    ("round_ties_even", 0),
    ("saturating_add", 1),
    ("saturating_mul", 1),
    ("saturating_sub", 1),
    ("signum", 0),
    ("sin", 0),
    ("sin_cos", 0),
    ("smaller", 1),
    ("sqrt", 0),
    ("swap_bytes", 0),
    ("tan", 0),
    ("tanh", 0),
    ("to_ascii_lowercase", 0),
    ("to_ascii_uppercase", 0),
    ("to_bits", 0),
    ("to_f32", 0),
    ("to_f64", 0),
    ("trailing_ones", 0),
    ("trailing_zeros", 0),
    ("trunc", 0),
    ("unsigned_abs", 0),
    ("wrapping_abs", 0),
    ("wrapping_add", 1),
    ("wrapping_mul", 1),
    ("wrapping_neg", 0),
    ("wrapping_shl", 1),
    ("wrapping_shr", 1),
    ("wrapping_sub", 1),
];

/// Functions of a number's type that have no `self`, with how many arguments they take.
pub(crate) const CONVERSIONS: &[(&str, usize)] = &[("from", 1), ("from_bits", 1), ("from_f32", 1), ("from_f64", 1)];

/// How many arguments a method takes, if it is one.
pub(crate) fn arguments(name: &str) -> Option<usize> {
    METHODS.iter().find(|(known, _)| *known == name).map(|&(_, count)| count)
}

/// The replacement of a method that numbers or `Option` have and scan code has not.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "checked_rem" | "checked_neg"
        | "checked_pow" | "checked_shl" | "checked_shr" => {
            "`Option` is not a scan type: use an `overflowing_` or `saturating_` method, or a comparison"
        }
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "is_some" | "is_none" => {
            "`Option` and `Result` are not scan types: use a `bool` and a value"
        }
        "log10" => "use `x.log2() * std::f64::consts::LOG10_2`",
        "cbrt" => "use `x.abs().powf(1.0 / 3.0).copysign(x)`",
        "hypot" => "use `(x * x + y * y).sqrt()`",
        "sinh" | "cosh" => "use `x.exp()` and `(-x).exp()`",
        "to_degrees" | "to_radians" => "multiply by a constant",
        "asin" | "acos" | "atan" | "atan2" | "asinh" | "acosh" | "atanh" => {
            "of the circular functions there are `sin`, `cos`, `tan` and `tanh`"
        }
        "isqrt" | "next_power_of_two" | "saturating_pow" | "wrapping_pow" | "wrapping_div" | "wrapping_rem"
        | "is_normal" | "is_subnormal" | "to_le_bytes" | "to_be_bytes" | "to_ne_bytes" => {
            "write it out, or in a `#[scan_fn]`"
        }
        "cmp" | "partial_cmp" | "total_cmp" | "eq_ignore_ascii_case" => "compare with `<`, `==` and `if`",
        "try_into" => "convert with `as`",
        "then_some" => "use `if`",
        _ => return None,
    })
}

/// The likely meaning of a method that may also be the user's own.
pub(crate) fn perhaps(name: &str) -> Option<&'static str> {
    Some(match name {
        "iter" | "into_iter" | "map" | "fold" | "sum" | "all" | "any" | "contains" | "zip" => {
            "of an array, use `for i in 0..N` or `for x in array`"
        }
        "add" | "sub" | "mul" | "div" | "rem" | "neg" | "not" | "lt" | "le" | "gt" | "ge" | "eq" | "ne" => {
            "of a number, use the operator"
        }
        "log" => "of a number, use `x.ln() / base.ln()`",
        "then" => "of a `bool`, use `if`",
        _ => return None,
    })
}

/// The methods whose names are like this one, the likest first; at most three.
pub(crate) fn nearest(name: &str) -> Vec<&'static str> {
    let mut near: Vec<(usize, &str)> = METHODS
        .iter()
        .map(|&(known, _)| (distance(name, known), known))
        .filter(|&(distance, known)| distance <= 1 + known.len().min(name.len()) / 4)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

/// How many letters must be added, removed or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

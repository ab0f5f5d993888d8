//! [`for_prefixes`]: implementations for tuples of every length, of which each caller writes one
//! line.

/// Calls a macro with a list of tuples, each followed by `;`: the first one, and then with one more member each.
///
/// `for_prefixes! { tuples (A 0, B 1) (C 2) (D 3) }` is `tuples! { (A 0, B 1); (A 0, B 1, C 2); (A 0, B 1, C 2, D 3); }`.
macro_rules! for_prefixes {
    (@ $emit:ident [$($all:tt)*] ($($now:tt)*)) => {
        $emit! { $($all)* }
    };
    (@ $emit:ident [$($all:tt)*] () ($($next:tt)*) $($rest:tt)*) => {
        for_prefixes! { @ $emit [$($all)* ($($next)*);] ($($next)*) $($rest)* }
    };
    (@ $emit:ident [$($all:tt)*] ($($now:tt)+) ($($next:tt)*) $($rest:tt)*) => {
        for_prefixes! { @ $emit [$($all)* ($($now)+, $($next)*);] ($($now)+, $($next)*) $($rest)* }
    };
    ($emit:ident ($($first:tt)*) $($rest:tt)*) => {
        for_prefixes! { @ $emit [($($first)*);] ($($first)*) $($rest)* }
    };
}

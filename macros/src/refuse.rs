//! Everything that is refused, each with what to write instead. The rest of the crate only names
//! these messages.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors of an item, reported together.
pub(crate) type Errors = Vec<syn::Error>;

/// Adds an error at these tokens.
pub(crate) fn refuse(errors: &mut Errors, at: impl ToTokens, message: impl std::fmt::Display) {
    errors.push(syn::Error::new_spanned(at, message));
}

/// The errors as tokens that make rustc report them.
pub(crate) fn report(errors: &[syn::Error]) -> TokenStream {
    errors.iter().map(syn::Error::to_compile_error).collect()
}

macro_rules! messages {
    ($subject:literal: $($name:ident = $text:literal;)*) => {
        $(pub(crate) const $name: &str = concat!($subject, ": ", $text);)*
    };
}

messages! { "scan code":
    // Options and items.
    OPTION = "unknown option; there is `crate = path`";
    FUNCTION_OPTION = "unknown option; there are `crate = path` and, for functions in an `impl`, `associated`";
    MONOID_ITEM = "`#[scan_monoid]` goes on a struct, or on its `impl Monoid for ..`";
    MONOID_TRAIT = "`#[scan_monoid]` lowers `impl Monoid for ..`; for a function of its own use `#[scan_fn]`";
    FUNCTION_ITEM = "`#[scan_fn]` goes on a function, or on an `impl` of your own type";
    TRAIT_IMPL = "`#[scan_fn]` lowers the functions of an `impl` of the type's own, not of a trait; for an operator use `#[scan_monoid]`";
    ENUM_DATA = "a variant that holds something is not a scan type; use a struct of a plain enum and the values";
    ENUM_EMPTY = "a scan type needs something to hold; an enum needs two variants or more";
    UNION = "a union is not a scan type; use a struct, and `to_bits`/`from_bits` to convert";
    PACKED = "a packed struct is not a scan type: its fields may be unaligned; remove `packed`";
    EMPTY = "a scan type needs at least one field; for a state without data there is nothing to scan";
    LIFETIME = "scan types and scan functions have no lifetimes; hold values, not references";
    PHANTOM = "`PhantomData` is not a scan type; use a const parameter, or a type parameter that a field has";
    REFERENCE_TYPE = "references are not scan types; scan types are `Copy`, pass the value itself";
    POINTER_TYPE = "pointers are not scan types; hold the value itself, or look it up in a `Table`";
    SLICE_TYPE = "slices are not scan types; use an array `[T; N]`, or a `Table<T>` parameter for a look-up";
    SIZE_TYPE = "`usize` and `isize` differ between machines, so they are not scan types; use `u32` or `u64`, and `as usize` where a constant array is indexed";
    WIDE_TYPE = "integers have at most 64 bits here; use two `u64`";
    CHAR_TYPE = "`char` is not a scan type; use `u8` for bytes, `u32` for code points";
    OWNING_TYPE = "this type owns memory; scan types are plain values: use an array `[T; N]`, or a `Table<T>` parameter for a look-up";
    FIELD_CFG = "`#[cfg]` on a field is not seen by `#[scan_monoid]`; put it on the whole struct";
    ASYNC = "a scan function is not `async`";
    UNSAFE_FN = "a scan function is not `unsafe`";
    EXTERN_FN = "a scan function has Rust's own calling convention; remove `extern`";
    VARIADIC = "a scan function has a fixed number of arguments";
    IMPL_TRAIT = "write a generic parameter instead of `impl Trait`: `fn f<T: Real>(x: T)`";
    NO_RESULT = "a scan function gives a value; write its type: `-> f32`";
    TOO_MANY_ARGUMENTS = "a scan function takes at most thirteen arguments; put some into a struct";
    CLOSURE_FORM = "write a closure with its types: `scan!(|x: f32| -> f32 { .. })`";
    CLOSURE_PARAMETER = "write the parameter's type: `|x: f32|`";
    CLOSURE_RESULT = "write the closure's result type and a block: `|x: f32| -> f32 { .. }`";
    CLOSURE_TABLE = "tables are parameters of a `#[scan_fn]`, which `.with_table(&elements)` binds; not of a `scan!`";
    SELF_REFERENCE = "take `self` by value: scan types are `Copy`";
    // Statements.
    LET_WITHOUT_VALUE = "give this variable a value here: `let x = if .. { .. } else { .. };`";
    LET_ELSE = "`let .. else` is for enums that hold something, which are not scan types; use `if`";
    INNER_ITEM = "only `const` items can be inside scan code; move this one out of the function";
    ATTRIBUTE = "attributes inside scan code are not seen by the macro; put it on the whole function";
    MACRO = "what a macro expands to is not seen, but for `matches!`; write it out";
    // Control flow.
    WHILE = "`while` and `loop` are not available, since IR has no loops; use `for` over a constant range";
    RETURN = "`return` is available at the end, and in an `if` after which the function goes on: `if c { return a; } b`; make this the value of an `if`/`else` or `match` at the end";
    JUMP = "`break` and `continue` cannot depend on run-time data, since loops are unrolled; use `if`/`else`";
    BREAK_VALUE = "`break` with a value is not available; assign to a variable";
    LABEL = "a label is for `for` loops only here; use `if`/`else`";
    DYNAMIC_BOUND = "this bound depends on run-time data, but loops are unrolled, so it must be a constant; run to the largest bound and use `if` inside";
    OPEN_RANGE = "a `for` range needs both ends, like `0..N`";
    IF_LET = "`if let` and `let` chains are not available; use `matches!`, `match`, or a comparison";
    STATIC_GUARD = "this guard depends on run-time data, but the `match` is on a constant; use `if` inside the arm";
    TRY = "`?` is for `Option` and `Result`, which are not scan types; use a `bool` and a value";
    AWAIT = "`async` and `await` are not available in scan code";
    UNSAFE = "`unsafe` is not available in scan code";
    // Expressions.
    DYNAMIC_INDEX = "this index depends on run-time data; an index is a constant or a `for` variable (a `mut` variable is neither). For a look-up by data use a table, `table.get(i)`, or a constant array";
    REFERENCE = "references are not available; scan types are `Copy`, pass the value itself";
    DEREFERENCE = "`*` is not available, since there are no references; use the value itself";
    CLOSURE = "closures are not available inside scan code; write a `#[scan_fn]` and call it";
    CALL_VALUE = "only functions marked `#[scan_fn]` can be called, by their name; not closures or function values";
    OPTION_RESULT = "`Option` and `Result` are not scan types; use a `bool` and a value";
    STRING = "text is not a scan type; a byte literal like `b'a'` is a `u8`";
    RANGE = "a range is only for `for`, patterns and constants; compare with `<` and `>=`";
    EXPRESSION = "this expression is not available in scan code";
    CONSTANT_ARGUMENT = "this argument depends on run-time data, but it must be a constant here";
    TUPLE_SIZE = "tuples in scan code have at most twelve members; use a struct";
    // Assignment.
    ASSIGN_TARGET = "only a `let mut` variable, or a field or element of one, can be assigned to";
    ASSIGN_CONSTANT = "this name is a constant of the IR: a loop variable, or not `mut`";
    DESTRUCTURING_ASSIGN = "assign to one variable at a time";
    // Patterns.
    PATTERN = "patterns here are names, `_`, literals, ranges, constants, `|`, tuples, structs and arrays";
    PATTERN_REF = "`ref` and `&` patterns are not available; values are copied";
    PATTERN_REST = "`..` is available at the end of the pattern only";
    PATTERN_OR_BINDING = "a name inside `|` is not available; write one arm for each alternative";
}

messages! { "token kinds":
    KIND_ITEM = "`TokenKind` is for an enum, each of whose variants is a kind of token";
    KIND_OPTION = "unknown option; there are `crate = path` and `strict_ties`, which refuses rules that shadow others";
    KIND_GENERICS = "the enum has no generic parameters; write one enum for each lexer";
    KIND_DATA = "a kind of token holds nothing; remove the fields, and take the text of the token by its place";
    KIND_CFG = "`#[cfg]` on a variant is not seen by `TokenKind`; put it on the whole enum";
    KIND_WITHOUT_RULE = "which texts are of this kind? write `#[token(\"regex\")]`, `#[skip(\"regex\")]`, `#[keyword(\"word\")]`, `#[incomplete(Variant)]` or `#[error]` above it";
    KIND_TWO_RULES = "a kind has one rule; join two regexes by `|`, and give keywords as `#[keyword(\"one\", \"other\")]`";
    KIND_REGEX = "expected a regex that is not empty, as in `#[token(\"[a-z]+\")]`";
    KIND_WORDS = "expected words that are not empty, as in `#[keyword(\"if\")]` or `#[keyword(\"true\", \"false\")]`";
    KIND_INCOMPLETE = "expected a variant with one rule, a `token`, a `skip` or one `keyword`, as in `#[incomplete(Text)]`";
    KIND_INCOMPLETE_TWICE = "what begins a token of this kind has a kind already";
    KIND_NO_RULE = "expected at least one variant with a rule, such as `#[token(\"[a-z]+\")]`";
    KIND_ERROR = "bytes that begin no token are of a kind too; add a variant, as in `#[error] Error`";
    KIND_ERRORS = "there is one kind for bytes that begin no token; remove one of the two `#[error]`";
    KIND_ERROR_FORM = "`#[error]` takes no arguments";
}

/// An identifier that a `macro_rules!` macro and its caller both use.
pub(crate) fn hygiene(name: &str) -> String {
    format!("scan code: `{name}` names different variables inside and outside a `macro_rules!` macro; rename one")
}

/// A method that scan code has not, and what to write instead.
pub(crate) fn method(name: &str, instead: &str) -> String {
    format!("scan code: there is no method `{name}` here; {instead} (docs/language.md lists the methods)")
}

/// A method that is neither one of numbers nor, as it turns out, a scan function: message and note.
pub(crate) fn unmarked_method(name: &str, perhaps: Option<&str>, nearest: &[&str]) -> (String, String) {
    let near: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    let near = match perhaps {
        Some(perhaps) => format!("; {perhaps}"),
        None if near.is_empty() => String::new(),
        None => format!("; is it {}?", near.join(" or ")),
    };
    (
        format!("scan code cannot call the method `{name}`"),
        format!(
            "if `{name}` is your own, mark it with `#[scan_fn]`, or the `impl` that it is in; docs/language.md lists the \
             methods of numbers{near}"
        ),
    )
}

/// A function that turns out to be no scan function: message and note.
pub(crate) fn unmarked_function(name: &str) -> (String, String) {
    let instead = match name {
        "max" | "min" => format!("; for that of numbers write `a.{name}(b)` or `std::cmp::{name}(a, b)`"),
        _ => String::new(),
    };
    (
        format!("scan code cannot call the function `{name}`: it is not marked `#[scan_fn]`"),
        format!("if `{name}` is your own, mark it with `#[scan_fn]`{instead}"),
    )
}

/// Bounds that say too little of a type parameter.
pub(crate) fn bound(parameter: &str, found: &str, wanted: &str) -> String {
    let others = match wanted {
        "Num" => " (integers and floats), `Real` (floats) or `Int` (integers)",
        _ => "",
    };
    format!(
        "scan code: `{parameter}: {found}` does not say how `{parameter}` is compiled; write `{parameter}: {wanted}`{others}"
    )
}

/// A numeric method called with the wrong number of arguments is left to rustc, except that tokens must be emitted.
pub(crate) fn argument_count(name: &str, expected: usize) -> String {
    format!("scan code: `{name}` takes {expected} argument{}", if expected == 1 { "" } else { "s" })
}

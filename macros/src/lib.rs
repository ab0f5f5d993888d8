//! The macros of monoscan: Rust in, IR-building code out, or a refusal at the offending token.
//!
//! Each macro leaves the user's item as it is and adds a second body beside it, in which run-time
//! values are handles and operators are calls that append to the IR (`monoscan::lang` has the other
//! half of this). Here is only the entry; `expand` holds a file for each macro, `lower` turns a
//! function body into its second body, and `refuse` is the list of what is refused, with what to
//! write instead. All of that works on `proc_macro2` tokens.
//!
//! A macro never panics. It reports every error of an item at once, and it always emits the item
//! itself, with a stub in place of the second body, so that one mistake makes one message.

mod expand;
mod lower;
mod methods;
mod options;
mod refuse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// On a struct, or an enum without data: describes its layout, so that scans can carry it. On its `impl Monoid`: lowers
/// the operator. On an `impl` of its own: lowers each function in it, as [`macro@scan_fn`] does.
/// `#[scan_monoid(crate = path)]` names monoscan where it has another name.
#[proc_macro_attribute]
pub fn scan_monoid(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::monoid::expand(options.into(), item.into()).into()
}

/// Describes the layout of a struct, or of an enum without data, so that scans can read, carry and write it. `#[scan_type(crate = path)]` names
/// monoscan where it has another name.
#[proc_macro_derive(ScanType, attributes(scan_type))]
pub fn scan_type(item: TokenStream) -> TokenStream {
    expand::scan_type::derive(item.into()).into()
}

/// On an enum without data: each variant is a kind of token, and its attribute says which texts are: `#[token("regex")]`,
/// `#[skip("regex")]`, `#[keyword("word", …)]`, `#[incomplete(Variant)]`, and `#[error]` on one. `#[token_kind(crate = path)]`
/// names monoscan where it has another name, and `#[token_kind(strict_ties)]` refuses rules that shadow others when the lexer is built.
#[proc_macro_derive(TokenKind, attributes(token, skip, keyword, incomplete, error, token_kind))]
pub fn token_kind(item: TokenStream) -> TokenStream {
    expand::token_kind::derive(item.into()).into()
}

/// Lowers a function, and emits the type `f {}` that stands for it in `.lift(f {})` and `.project(f {})`.
/// On an `impl`, or on a method in one: scan code calls the method, `x.f(..)`. `#[scan_fn(associated)]` is for functions in an `impl` that have no `self`; `crate = path` names monoscan where it
/// has another name.
#[proc_macro_attribute]
pub fn scan_fn(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::scan_fn::expand(options.into(), item.into()).into()
}

/// The inline form of `#[scan_fn]`: `scan!(|x: f32| -> f32 { x * gain })`. Captured locals are copied and become
/// constants. `scan!(crate = path; |…| …)` names monoscan where it has another name.
#[proc_macro]
pub fn scan(closure: TokenStream) -> TokenStream {
    expand::closure::expand(closure.into()).into()
}

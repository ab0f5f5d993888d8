//! Calls: numeric methods, `combine`, scan functions, table look-ups, tuple struct constructors.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Index, Path, PathArguments, Token, Type};

use super::Lowering;
use crate::refuse;

/// The numeric methods, with how many arguments each takes after `self`; `lang::methods` has the functions.
const METHODS: &[(&str, usize)] = &[
    ("abs", 0),
    ("abs_diff", 1),
    ("ceil", 0),
    ("clamp", 2),
    ("copysign", 1),
    ("count_ones", 0),
    ("count_zeros", 0),
    ("div_euclid", 1),
    ("exp", 0),
    ("exp2", 0),
    ("floor", 0),
    ("fract", 0),
    ("is_finite", 0),
    ("is_infinite", 0),
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
    ("log2", 0),
    ("max", 1),
    ("min", 1),
    ("mul_add", 2),
    ("overflowing_add", 1),
    ("overflowing_sub", 1),
    ("pow", 1),
    ("recip", 0),
    ("rem_euclid", 1),
    ("reverse_bits", 0),
    ("rotate_left", 1),
    ("rotate_right", 1),
    ("round", 0),
    ("round_ties_even", 0),
    ("saturating_add", 1),
    ("saturating_sub", 1),
    ("signum", 0),
    ("smaller", 1),
    ("sqrt", 0),
    ("swap_bytes", 0),
    ("tanh", 0),
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
const CONVERSIONS: &[(&str, usize)] = &[("from_bits", 1), ("from_f32", 1), ("from_f64", 1)];

const NUMBER_TYPES: &[&str] =
    &["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "f16", "bf16"];

type Arguments = Punctuated<Expr, Token![,]>;

impl Lowering<'_> {
    pub(super) fn method_call(&mut self, e: &ExprMethodCall) -> TokenStream {
        let (name, at) = (e.method.to_string(), e.method.span());
        match (name.as_str(), e.args.len()) {
            ("combine", 1) => {
                let (earlier, later) = (self.expr(&e.receiver), self.expr(&e.args[0]));
                self.op("combine", at, quote!(#earlier, #later))
            }
            ("valid", 0) => {
                let state = self.expr(&e.receiver);
                self.op("valid", at, state)
            }
            ("clone", 0) => self.expr(&e.receiver),
            ("get", 1) => {
                let table = if self.is_static(&e.receiver) {
                    let table = self.native(&e.receiver);
                    self.op("table", e.receiver.span(), table)
                } else {
                    self.expr(&e.receiver)
                };
                let index = self.expr(&e.args[0]);
                self.op("get", at, quote!(#table, #index))
            }
            _ => match METHODS.iter().find(|(known, _)| *known == name) {
                Some(&(_, count)) if count == e.args.len() => {
                    let receiver = self.expr(&e.receiver);
                    self.method(&e.method, None, vec![receiver], &e.args)
                }
                Some(&(_, count)) => self.refused(&e.method, refuse::argument_count(&name, count)),
                None => {
                    let known: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
                    // The operands' own errors are reported too.
                    self.expr(&e.receiver);
                    self.arguments(&e.args);
                    self.refused(&e.method, refuse::method(&name, &known))
                }
            },
        }
    }

    /// A function of `lang::methods`, for the type `of` if that is written.
    fn method(
        &mut self,
        name: &Ident,
        of: Option<&Path>,
        mut values: Vec<TokenStream>,
        arguments: &Arguments,
    ) -> TokenStream {
        if name == "pow" {
            // Squaring is unrolled, so the exponent stays native.
            let Some(exponent) = arguments.last() else { return self.refused(name, refuse::EXPRESSION) };
            for base in arguments.iter().take(arguments.len() - 1) {
                values.push(self.expr(base));
            }
            if !self.is_static(exponent) {
                return self.refused(exponent, refuse::CONSTANT_ARGUMENT);
            }
            values.push(self.native(exponent));
        } else {
            values.extend(self.arguments(arguments));
        }
        let (krate, at) = self.krate_at(name.span());
        let name = Ident::new(&name.to_string(), at);
        let of = of.map(|ty| quote!(::<#ty>));
        quote_spanned!(at=> #krate::lang::methods::#name #of(#(#values),*))
    }

    fn arguments(&mut self, arguments: &Arguments) -> Vec<TokenStream> {
        arguments.iter().map(|argument| self.expr(argument)).collect()
    }

    pub(super) fn call(&mut self, e: &ExprCall) -> TokenStream {
        let Expr::Path(function) = &*e.func else { return self.refused(&e.func, refuse::CALL_VALUE) };
        if self.meaning(function).is_some() {
            return self.refused(&e.func, refuse::CALL_VALUE);
        }
        let Some(last) = function.path.segments.last() else { return self.refused(&e.func, refuse::CALL_VALUE) };
        let name = last.ident.to_string();
        if function.path.segments.len() == 1 && matches!(name.as_str(), "Some" | "Ok" | "Err") {
            return self.refused(&e.func, refuse::OPTION_RESULT);
        }
        match owner(function) {
            Some(owner) => self.associated_call(e, function, &owner),
            None if name.starts_with(char::is_uppercase) => self.constructor(function, &e.args),
            None => self.function_call(e, function),
        }
    }

    /// `Type::function(..)`
    fn associated_call(&mut self, e: &ExprCall, function: &ExprPath, owner: &Owner) -> TokenStream {
        let Some(last) = function.path.segments.last() else { return self.refused(&e.func, refuse::CALL_VALUE) };
        let (name, at) = (last.ident.to_string(), last.ident.span());
        let count = e.args.len();
        if name == "combine" && count == 2 || name == "valid" && count == 1 {
            let arguments = self.arguments(&e.args);
            return self.op(&name, at, quote!(#(#arguments),*));
        }
        let number = match owner {
            Owner::Path(path) => {
                path.get_ident().is_some_and(|ty| self.type_parameters.contains(&ty.to_string()))
                    || path.segments.last().is_some_and(|ty| NUMBER_TYPES.contains(&ty.ident.to_string().as_str()))
            }
            Owner::Qualified => false,
        };
        if let (true, Owner::Path(path)) = (number, owner) {
            let known = METHODS.iter().map(|&(known, count)| (known, count + 1)).chain(CONVERSIONS.iter().copied());
            return match known.into_iter().find(|(known, _)| *known == name) {
                Some((_, expected)) if expected == count => self.method(&last.ident, Some(path), Vec::new(), &e.args),
                Some((_, expected)) => self.refused(&last.ident, refuse::argument_count(&name, expected)),
                None => {
                    let known: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
                    self.arguments(&e.args);
                    self.refused(&last.ident, refuse::method(&name, &known))
                }
            };
        }
        // `#[scan_fn]` put the second body beside the function, in the same `impl`.
        let arguments = self.arguments(&e.args);
        let mut path = function.clone();
        if let Some(last) = path.path.segments.last_mut() {
            last.ident = format_ident!("__scan_{}", name, span = at);
        }
        quote!(#path(#(#arguments),*))
    }

    /// A scan function by its path: the type of that name has the second body.
    fn function_call(&mut self, e: &ExprCall, function: &ExprPath) -> TokenStream {
        let arguments = self.arguments(&e.args);
        let mut path = function.path.clone();
        let generics = path.segments.last_mut().map(|last| std::mem::replace(&mut last.arguments, PathArguments::None));
        let body = Ident::new("__scan", path.span().resolved_at(Span::mixed_site()));
        let generics = match generics {
            Some(PathArguments::AngleBracketed(mut generics)) => {
                generics.colon2_token.get_or_insert_with(Default::default);
                generics.to_token_stream()
            }
            _ => TokenStream::new(),
        };
        quote!(<#path>::#body #generics(#(#arguments),*))
    }

    /// `Pair(a, b)`
    fn constructor(&mut self, function: &ExprPath, arguments: &Arguments) -> TokenStream {
        let values = self.arguments(arguments);
        let never = values.iter().map(|_| quote!(loop {}));
        let start = self.op("unset", function.span(), quote!(|| #function(#(#never),*)));
        let members = (0..values.len()).map(Index::from);
        let new = self.scope.fresh("new", Span::mixed_site());
        quote!({ let mut #new = #start; #(#new.#members = #values;)* #new })
    }
}

/// The type a function belongs to, as far as a macro can tell: what stands before its name, if that is written like a
/// type. Modules are in lower case.
enum Owner {
    Path(Path),
    Qualified,
}

fn owner(function: &ExprPath) -> Option<Owner> {
    if let Some(qself) = &function.qself {
        return Some(match (&*qself.ty, qself.position) {
            (Type::Path(ty), _) if ty.qself.is_none() => Owner::Path(ty.path.clone()),
            _ => Owner::Qualified,
        });
    }
    let mut path = function.path.clone();
    path.segments.pop();
    let last = path.segments.pop()?.into_value();
    let name = last.ident.to_string();
    path.segments.push(last);
    let is_type = name.starts_with(char::is_uppercase) || NUMBER_TYPES.contains(&name.as_str());
    is_type.then_some(Owner::Path(path))
}

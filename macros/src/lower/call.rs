//! Calls: numeric methods, `combine`, scan functions, table look-ups, tuple struct constructors.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Index, Path, PathArguments, Token, Type};

use super::Lowering;
use crate::methods::{self, CONVERSIONS};
use crate::refuse;

const NUMBER_TYPES: &[&str] =
    &["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "f16", "bf16"];

type Arguments = Punctuated<Expr, Token![,]>;

impl Lowering<'_> {
    pub(super) fn method_call(&mut self, e: &ExprMethodCall) -> TokenStream {
        let (name, at) = (e.method.to_string(), e.method.span());
        match (name.as_str(), e.args.len()) {
            ("combine" | "follows", 1) => {
                let (earlier, later) = (self.expr(&e.receiver), self.expr(&e.args[0]));
                self.op(&name, at, quote!(#earlier, #later))
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
            ("into", 0) => {
                let value = self.expr(&e.receiver);
                self.op("from", at, value)
            }
            _ => match (methods::arguments(&name), methods::instead(&name)) {
                (Some(count), _) if count == e.args.len() => {
                    let receiver = self.expr(&e.receiver);
                    self.method(&e.method, None, vec![receiver], &e.args)
                }
                (Some(count), _) => self.refused(&e.method, refuse::argument_count(&name, count)),
                (None, Some(instead)) => {
                    // The operands' own errors are reported too.
                    self.expr(&e.receiver);
                    self.arguments(&e.args);
                    self.refused(&e.method, refuse::method(&name, instead))
                }
                (None, None) => self.own_method(e),
            },
        }
    }

    /// A method that `#[scan_fn]` lowered. The type of the receiver is known to rustc alone, so a value of that type is
    /// asked for the second body; a trait that every type has answers where there is none, and says so. It takes `&self`,
    /// so that methods by value, of the type or of a trait in scope, come first.
    fn own_method(&mut self, e: &ExprMethodCall) -> TokenStream {
        let (receiver, arguments) = (self.expr(&e.receiver), self.arguments(&e.args));
        let (name, at) = (&e.method, e.method.span());
        let marked = format_ident!("__scan_marked_{}", name, span = at);
        let body = format_ident!("__scan_method_{}", name, span = at);
        let [this, witness] = ["this", "witness"].map(|name| self.scope.fresh(name, Span::mixed_site()));
        let witnessed = self.op("witness", at, quote!(&#this));
        let generics = &e.turbofish;
        let mut fallback = TokenStream::new();
        if generics.is_none() {
            let types: Vec<Ident> = (0..=arguments.len()).map(|i| format_ident!("A{}", i)).collect();
            let text = name.to_string();
            let message = refuse::unmarked_method(&text, methods::perhaps(&text), &methods::nearest(&text));
            let unmarked = unmarked(
                &message,
                quote! {
                    pub trait OfAnyType: Sized {
                        fn #marked<M: ScanFunction>(&self, _: M) {}
                        fn #body<#(#types,)* R>(&self, #(_: #types),*) -> R { loop {} }
                    }
                    impl<X> OfAnyType for X {}
                },
            );
            fallback = quote!(#unmarked use __unmarked::OfAnyType as _;);
        }
        let nothing = quote_spanned!(at=> ());
        quote!({
            #fallback
            let #this = #receiver;
            let #witness = #witnessed;
            #witness.#marked(#nothing);
            #witness.#body #generics(#this, #(#arguments),*)
        })
    }

    /// A function of `lang::methods`, for the type `of` if that is written.
    fn method(
        &mut self,
        name: &Ident,
        of: Option<&Path>,
        mut values: Vec<TokenStream>,
        arguments: &Arguments,
    ) -> TokenStream {
        if name == "pow" || name == "powi" {
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
        if matches!((name.as_str(), count), ("combine" | "follows", 2) | ("valid", 1)) {
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
            let conversion = CONVERSIONS.iter().find(|(known, _)| *known == name).map(|&(_, count)| count);
            let expected = conversion.or_else(|| methods::arguments(&name).map(|count| count + 1));
            return match (expected, methods::instead(&name)) {
                (Some(1), _) if count == 1 && name == "from" => {
                    let value = self.expr(&e.args[0]);
                    let (krate, at) = self.krate_at(at);
                    quote_spanned!(at=> #krate::lang::ops::from::<_, #path>(#value))
                }
                (Some(expected), _) if expected == count => self.method(&last.ident, Some(path), Vec::new(), &e.args),
                (Some(expected), _) => self.refused(&last.ident, refuse::argument_count(&name, expected)),
                (None, instead) => {
                    self.arguments(&e.args);
                    let nearest = methods::nearest(&name).join("` or `");
                    let near = if nearest.is_empty() { String::new() } else { format!("is it `{nearest}`?") };
                    let near = if near.is_empty() { "write it out" } else { &near };
                    self.refused(&last.ident, refuse::method(&name, instead.unwrap_or(near)))
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
        let mut path = function.path.clone();
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [.., module, name @ ("max" | "min")] = &names.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && *module == "cmp"
            && e.args.len() == 2
        {
            let name = Ident::new(name, path.span());
            return self.method(&name, None, Vec::new(), &e.args);
        }
        let arguments = self.arguments(&e.args);
        let body = Ident::new("__scan", path.span().resolved_at(Span::mixed_site()));
        let last = path.segments.last_mut();
        let generics = last.map(|last| std::mem::replace(&mut last.arguments, PathArguments::None));
        if let Some(PathArguments::AngleBracketed(mut generics)) = generics {
            generics.colon2_token.get_or_insert_with(Default::default);
            return quote!(<#path>::#body #generics(#(#arguments),*));
        }
        // A `use` brings the function and, if it is marked, the type. Where there is none, the name that a glob brings
        // stands for it, and says so.
        let at = path.segments.last().map_or_else(|| path.span(), |last| last.ident.span());
        let message = refuse::unmarked_function(&names.last().cloned().unwrap_or_default());
        let types: Vec<Ident> = (0..arguments.len()).map(|i| format_ident!("A{}", i)).collect();
        let marked = Ident::new("__scan_marked", body.span());
        let unmarked = unmarked(
            &message,
            quote! {
                pub struct __Called;
                impl __Called {
                    pub fn #marked<M: ScanFunction>(_: M) {}
                    pub fn #body<#(#types,)* R>(#(_: #types),*) -> R { loop {} }
                }
            },
        );
        let nothing = quote_spanned!(at=> ());
        quote!({
            #unmarked
            use __unmarked::*;
            use #path as __Called;
            <__Called>::#marked(#nothing);
            <__Called>::#body(#(#arguments),*)
        })
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

/// A module of what stands for a scan function where there is none; to use it is an error with this message and note.
fn unmarked((message, note): &(String, String), items: TokenStream) -> TokenStream {
    quote! {
        mod __unmarked {
            #[diagnostic::on_unimplemented(message = #message, label = "no `#[scan_fn]` there", note = #note)]
            pub trait ScanFunction {}
            #[diagnostic::do_not_recommend]
            impl ScanFunction for bool {}
            #items
        }
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
    let last = path.segments.pop()?;
    let name = last.ident.to_string();
    path.segments.push(last);
    let is_type = name.starts_with(char::is_uppercase) || NUMBER_TYPES.contains(&name.as_str());
    is_type.then_some(Owner::Path(path))
}

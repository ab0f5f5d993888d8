//! `#[scan_monoid]`: on a struct or enum its layout, on `impl Monoid` the operator, on another
//! `impl` its functions.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{DeriveInput, FnArg, ImplItem, ImplItemFn, Item, ItemImpl, ReceiverKind};

use super::{
    allow, bounds, check_generics, check_type, conditions, inline_all, last_name, original, scan_fn, scan_type,
};
use crate::lower::Lowering;
use crate::options::{self, Options};
use crate::refuse::{self, Errors, refuse, report};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let options = Options::read(arguments, options::NONE, &mut errors);
    let mut first = item.clone();
    let second = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Impl(mut implementation)) => {
            let second = if implementation.trait_.is_none() {
                scan_fn::in_impl(&implementation, &options, &mut errors)
            } else {
                bounds::check(&mut implementation.generics, &options.krate, &mut errors);
                lower(&implementation, &options, &mut errors)
            };
            inline_all(&mut implementation);
            first = original(&implementation.to_token_stream());
            second
        }
        Ok(Item::Struct(_) | Item::Enum(_) | Item::Union(_)) => match syn::parse2::<DeriveInput>(item.clone()) {
            Ok(input) => scan_type::describe(&input, &options, &mut errors),
            Err(error) => error.to_compile_error(),
        },
        Ok(_) => {
            refuse(&mut errors, first_line(&item), refuse::MONOID_ITEM);
            TokenStream::new()
        }
        Err(error) => error.to_compile_error(),
    };
    let errors = report(&errors);
    quote!(#first #second #errors)
}

/// Where to put an error about the item as a whole.
fn first_line(item: &TokenStream) -> TokenStream {
    item.clone().into_iter().take_while(|token| !matches!(token, proc_macro2::TokenTree::Group(_))).collect()
}

fn lower(item: &ItemImpl, options: &Options, errors: &mut Errors) -> TokenStream {
    if let Some((path, _)) = &item.trait_
        && last_name(path) != "Monoid"
    {
        refuse(errors, path, refuse::MONOID_TRAIT);
        return TokenStream::new();
    }
    check_generics(&item.generics, errors);
    let krate = &options.krate;
    let lang = quote!(#krate::lang);
    let combine = function(item, "combine").map(|combine| body(combine, item, options, errors));
    // A missing `combine`, or one with other parameters than the trait's, is an error of the item itself.
    let stub = || (quote!(_: #lang::V<Self>, _: #lang::V<Self>), quote!(::core::unreachable!()));
    let combine = combine.filter(|lowered| lowered.count == 2).map_or_else(stub, |lowered| lowered.tokens);
    let (combine_parameters, combine_body) = combine;
    let mut predicate = |name: &str, count: usize, trace: TokenStream| {
        let written = function(item, name).map(|written| body(written, item, options, errors));
        written.filter(|lowered| lowered.count == count).map(|lowered| {
            let (parameters, body) = lowered.tokens;
            quote! {
                fn #trace(#parameters) -> ::core::option::Option<#lang::V<bool>> {
                    ::core::option::Option::Some({ #body })
                }
            }
        })
    };
    let valid = predicate("valid", 1, quote!(trace_valid));
    let follows = predicate("follows", 2, quote!(trace_follows));
    let (parameters, _, bounds) = item.generics.split_for_impl();
    let (ty, allow, conditions) = (&item.self_ty, allow(), conditions(&item.attrs));
    quote! {
        #conditions
        #allow
        impl #parameters #lang::MonoidIr for #ty #bounds {
            fn trace_combine(#combine_parameters) -> #lang::V<Self> {
                #combine_body
            }
            #valid
            #follows
        }
    }
}

fn function<'i>(item: &'i ItemImpl, name: &str) -> Option<&'i ImplItemFn> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == name => Some(function),
        _ => None,
    })
}

/// Parameters and body of a lowered function.
struct Lowered {
    tokens: (TokenStream, TokenStream),
    count: usize,
}

fn body(function: &ImplItemFn, item: &ItemImpl, options: &Options, errors: &mut Errors) -> Lowered {
    let krate = &options.krate;
    let before = errors.len();
    for attribute in &function.attrs {
        if attribute.path().is_ident("cfg") {
            refuse(errors, attribute, refuse::ATTRIBUTE);
        }
    }
    for input in &function.sig.inputs {
        match input {
            FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {
                refuse(errors, receiver, refuse::SELF_REFERENCE);
            }
            FnArg::Receiver(_) => {}
            FnArg::Typed(typed) => check_type(&typed.ty, errors),
        }
    }
    let mut lowering = Lowering::new(krate, errors, &[&item.generics, &function.sig.generics]);
    let (mut parameters, mut bindings) = (Vec::new(), TokenStream::new());
    for input in &function.sig.inputs {
        let (name, binds) = match input {
            FnArg::Receiver(receiver) => lowering.receiver(receiver),
            FnArg::Typed(typed) => lowering.parameter(&typed.pat),
        };
        parameters.push(quote!(#name: #krate::lang::V<Self>));
        bindings.extend(binds);
    }
    let block = lowering.body(&function.block);
    let name = function.sig.ident.to_string();
    let body = if errors.len() == before {
        quote!(let __call = #krate::lang::ops::enter(#name); #bindings #block)
    } else {
        quote!(::core::unreachable!())
    };
    Lowered { tokens: (quote!(#(#parameters),*), body), count: parameters.len() }
}

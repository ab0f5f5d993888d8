//! `#[scan_fn]`: a function's second body, and the type `f {}` that stands for both.
//!
//! A braced struct is a type and no value, so `f` the function and `f {}` the type share a name,
//! and one `use` brings both. In an `impl` a struct cannot stand: there the second body
//! becomes an associated function beside the first, which other scan code calls as `Type::f(..)`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, FnArg, GenericParam, Generics, ImplItem, ItemFn, ItemImpl, Lifetime, ReceiverKind, ReturnType, Safety,
    Signature, Type, parse_quote,
};

use super::{
    allow, bounds, check_generics, check_type, conditions, inline, inline_all, last_name, mentions, name_of, original,
    table_element, table_with_lifetime,
};
use crate::lower::Lowering;
use crate::options::{self, Options};
use crate::refuse::{self, Errors, refuse, report};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let options = Options::read(arguments, options::ASSOCIATED, &mut errors);
    let mut first = item.clone();
    let second = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(mut function) => {
            let before = errors.len();
            bounds::check(&mut function.sig.generics, &options.krate, &mut errors);
            if errors.len() > before {
                first = function.to_token_stream();
            }
            let inline = inline(&function.attrs);
            first = original(&quote!(#inline #first));
            second(&function, &[], &options, &mut errors)
        }
        Err(error) => {
            match syn::parse2::<syn::Item>(item.clone()) {
                Ok(syn::Item::Impl(mut implementation)) => {
                    let second = in_impl(&implementation, &options, &mut errors);
                    inline_all(&mut implementation);
                    first = original(&implementation.to_token_stream());
                    let errors = report(&errors);
                    return quote!(#first #second #errors);
                }
                Ok(other) => refuse(&mut errors, other, refuse::FUNCTION_ITEM),
                Err(_) => errors.push(error),
            }
            TokenStream::new()
        }
    };
    let errors = report(&errors);
    quote!(#first #second #errors)
}

/// The second bodies of all functions of an `impl`, but of those that ask for it themselves.
pub(crate) fn in_impl(item: &ItemImpl, options: &Options, errors: &mut Errors) -> TokenStream {
    if let Some((path, _)) = &item.trait_ {
        refuse(errors, path, refuse::TRAIT_IMPL);
        return TokenStream::new();
    }
    let options = Options { krate: options.krate.clone(), own: true };
    let asks = |attributes: &[Attribute]| attributes.iter().any(|attribute| last_name(attribute.path()) == "scan_fn");
    let functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) if !asks(&function.attrs) => Some(ItemFn {
            attrs: function.attrs.clone(),
            vis: function.vis.clone(),
            modifiers: function.modifiers.clone(),
            sig: function.sig.clone(),
            block: Box::new(function.block.clone()),
        }),
        _ => None,
    });
    let bodies: Vec<TokenStream> =
        functions.map(|function| second(&function, &[&item.generics], &options, errors)).collect();
    let (parameters, _, bounds) = item.generics.split_for_impl();
    let (ty, cfg) = (&item.self_ty, conditions(&item.attrs));
    quote!(#cfg impl #parameters #ty #bounds { #(#bodies)* })
}

fn second(function: &ItemFn, outer: &[&Generics], options: &Options, errors: &mut Errors) -> TokenStream {
    let before = errors.len();
    check(&function.sig, errors);
    let expressible = errors.len() == before;
    let (parameters, body) = lower(function, outer, options, errors);
    let krate = &options.krate;
    let name = function.sig.ident.to_string();
    let body = if errors.len() == before {
        let names = function.sig.inputs.iter().map(|input| match input {
            FnArg::Receiver(_) => "self".to_owned(),
            FnArg::Typed(typed) => name_of(&typed.pat),
        });
        quote! {
            let __call = #krate::lang::ops::enter(#name);
            #krate::lang::ops::named(#name, &[#(#names),*]);
            #body
        }
    } else {
        quote!(::core::unreachable!())
    };
    let result = match &function.sig.output {
        ReturnType::Type(_, ty) => ty.to_token_stream(),
        ReturnType::Default => quote!(()),
    };
    let in_impl = options.own
        || mentions(function.sig.to_token_stream(), |name| name == "self" || name == "Self")
        || mentions(function.block.to_token_stream(), |name| name == "Self");
    let parts = Parts { function, krate, parameters, body, result };
    match (in_impl, expressible) {
        (true, true) => parts.associated(),
        (false, true) => parts.free(),
        // With types that are none of scan code, the second body would only repeat the errors.
        (true, false) => TokenStream::new(),
        (false, false) => parts.value(),
    }
}

fn check(signature: &Signature, errors: &mut Errors) {
    check_generics(&signature.generics, errors);
    if let Some(token) = &signature.asyncness {
        refuse(errors, token, refuse::ASYNC);
    }
    if let Safety::Unsafe(token) = &signature.safety {
        refuse(errors, token, refuse::UNSAFE_FN);
    }
    if let Some(abi) = &signature.abi {
        refuse(errors, abi, refuse::EXTERN_FN);
    }
    if let Some(variadic) = &signature.variadic {
        refuse(errors, variadic, refuse::VARIADIC);
    }
    if signature.inputs.len() > 13 {
        refuse(errors, &signature.inputs, refuse::TOO_MANY_ARGUMENTS);
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {
                refuse(errors, receiver, refuse::SELF_REFERENCE);
            }
            FnArg::Receiver(_) => {}
            FnArg::Typed(typed) => check_type(table_element(&typed.ty).unwrap_or(&typed.ty), errors),
        }
    }
    match &signature.output {
        ReturnType::Type(_, ty) => check_type(ty, errors),
        ReturnType::Default => refuse(errors, &signature.ident, refuse::NO_RESULT),
    }
}

fn lower(
    function: &ItemFn,
    outer: &[&Generics],
    options: &Options,
    errors: &mut Errors,
) -> (Vec<TokenStream>, TokenStream) {
    let krate = &options.krate;
    let generics: Vec<&Generics> = outer.iter().copied().chain([&function.sig.generics]).collect();
    let mut lowering = Lowering::new(krate, errors, &generics);
    let (mut parameters, mut bindings) = (Vec::new(), TokenStream::new());
    for input in &function.sig.inputs {
        let (ty, (name, binds)) = match input {
            FnArg::Receiver(receiver) => (quote!(Self), lowering.receiver(receiver)),
            FnArg::Typed(typed) => (typed.ty.to_token_stream(), lowering.parameter(&typed.pat)),
        };
        let element = match input {
            FnArg::Typed(typed) => table_element(&typed.ty),
            FnArg::Receiver(_) => None,
        };
        parameters.push(match element {
            Some(element) => quote!(#name: #krate::lang::TableHandle<#element>),
            None => quote!(#name: #krate::lang::V<#ty>),
        });
        bindings.extend(binds);
    }
    let block = lowering.body(&function.block);
    (parameters, quote!(#bindings #block))
}

struct Parts<'a> {
    function: &'a ItemFn,
    krate: &'a TokenStream,
    parameters: Vec<TokenStream>,
    body: TokenStream,
    result: TokenStream,
}

impl Parts<'_> {
    /// The second body as a function of this name.
    fn second_body(&self, name: &Ident) -> TokenStream {
        let Parts { krate, parameters, body, result, .. } = self;
        let (visibility, generics) = (&self.function.vis, &self.function.sig.generics);
        let (allow, bounds) = (allow(), &generics.where_clause);
        quote! {
            #[doc(hidden)]
            #allow
            #visibility fn #name #generics(#(#parameters),*) -> #krate::lang::V<#result> #bounds {
                #body
            }
        }
    }

    /// For a function in an `impl`.
    fn associated(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let conditions = conditions(&self.function.attrs);
        let body = self.second_body(&format_ident!("__scan_{}", name, span = name.span()));
        let method = if self.function.sig.receiver().is_some() { self.method() } else { TokenStream::new() };
        quote!(#conditions #body #method)
    }

    /// The methods that `value.f(..)` in scan code finds: those of the type itself, which take the handle as their first argument.
    fn method(&self) -> TokenStream {
        let Parts { function, krate, result, .. } = self;
        let (name, generics, visibility) = (&function.sig.ident, &function.sig.generics, &function.vis);
        let [marked, method, body] = ["__scan_marked_", "__scan_method_", "__scan_"]
            .map(|prefix| format_ident!("{}{}", prefix, name, span = name.span()));
        let types: Vec<TokenStream> = function
            .sig
            .inputs
            .iter()
            .map(|input| match input {
                FnArg::Receiver(_) => quote!(#krate::lang::V<Self>),
                FnArg::Typed(typed) => match table_element(&typed.ty) {
                    Some(element) => quote!(#krate::lang::TableHandle<#element>),
                    None => {
                        let ty = &typed.ty;
                        quote!(#krate::lang::V<#ty>)
                    }
                },
            })
            .collect();
        let values: Vec<Ident> =
            (0..types.len()).map(|i| format_ident!("__a{}", i, span = Span::mixed_site())).collect();
        let (allow, conditions, bounds) = (allow(), conditions(&function.attrs), &generics.where_clause);
        let arguments = generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        });
        quote! {
            #conditions
            #[doc(hidden)]
            #allow
            #visibility fn #marked<M>(self, _: M) {}

            #conditions
            #[doc(hidden)]
            #allow
            #visibility fn #method #generics(self, #(#values: #types),*) -> #krate::lang::V<#result> #bounds {
                Self::#body::<#(#arguments),*>(#(#values),*)
            }
        }
    }

    /// The braced type.
    fn value(&self) -> TokenStream {
        let (krate, name, visibility) = (self.krate, &self.function.sig.ident, &self.function.vis);
        let conditions = conditions(&self.function.attrs);
        let doc = format!("The scan function `{name}` as a value.");
        quote! {
            #conditions
            #[doc = #doc]
            #[allow(non_camel_case_types, dead_code)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name {}

            #conditions
            impl #krate::lang::BindTable for #name {}
        }
    }

    /// For a function of its own.
    fn free(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let body = self.second_body(&Ident::new("__scan", name.span().resolved_at(Span::mixed_site())));
        let marked = Ident::new("__scan_marked", name.span().resolved_at(Span::mixed_site()));
        let (value, scan_fn, visibility) = (self.value(), self.scan_fn(), &self.function.vis);
        let (allow, conditions) = (allow(), conditions(&self.function.attrs));
        quote! {
            #value

            #conditions
            #allow
            impl #name {
                #body

                #[doc(hidden)]
                #visibility fn #marked<M>(_: M) {}
            }

            #scan_fn
        }
    }

    fn scan_fn(&self) -> TokenStream {
        let Parts { function, krate, result, .. } = self;
        let (name, signature) = (&function.sig.ident, &function.sig);
        let lang = quote!(#krate::lang);
        let written: Vec<&Type> = signature
            .inputs
            .iter()
            .filter_map(|input| match input {
                FnArg::Typed(typed) => Some(&*typed.ty),
                FnArg::Receiver(_) => None,
            })
            .collect();
        // Each table has a lifetime of its own, so that each is bound for itself.
        let mut lifetimes: Vec<Lifetime> = Vec::new();
        let mut with_lifetime = |ty: &Type| {
            if table_element(ty).is_none() {
                return ty.clone();
            }
            let lifetime = Lifetime::new(&format!("'__table{}", lifetimes.len()), Span::mixed_site());
            lifetimes.push(lifetime.clone());
            table_with_lifetime(ty, &lifetime)
        };
        let types: Vec<Type> = written.iter().map(|ty| with_lifetime(ty)).collect();
        let mut generics: Generics = signature.generics.clone();
        if !generics.type_params().all(|parameter| is_in(&parameter.ident, &types))
            || !generics.const_params().all(|parameter| is_in(&parameter.ident, &types))
        {
            // Such a function can be called from scan code, but the arguments alone do not name it.
            return TokenStream::new();
        }
        for lifetime in lifetimes {
            let lifetime: GenericParam = parse_quote!(#lifetime);
            generics.params.insert(0, lifetime);
        }
        let (parameters, _, bounds) = generics.split_for_impl();
        let values: Vec<Ident> =
            (0..types.len()).map(|i| format_ident!("__a{}", i, span = Span::mixed_site())).collect();
        let (allow, conditions) = (allow(), conditions(&function.attrs));
        let arguments = Ident::new("__arguments", Span::mixed_site());
        quote! {
            #conditions
            #allow
            impl #parameters #lang::ScanFn<(#(#types,)*)> for #name #bounds {
                type Out = #result;

                #[inline]
                fn call(&self, #arguments: (#(#types,)*)) -> #result {
                    let (#(#values,)*) = #arguments;
                    #name(#(#values),*)
                }

                fn trace(
                    &self,
                    #arguments: <(#(#types,)*) as #lang::Arguments>::Handles,
                ) -> #lang::V<#result> {
                    let (#(#values,)*) = #arguments;
                    <#name>::__scan(#(#values),*)
                }
            }
        }
    }
}

fn is_in(parameter: &Ident, types: &[Type]) -> bool {
    types.iter().any(|ty| mentions(ty.to_token_stream(), |name| name == parameter))
}

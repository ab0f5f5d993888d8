//! `#[derive(ScanType)]`: the layout of a struct (of an enum: `enumeration.rs`), and the shadow
//! struct of its handles.
//!
//! For `struct Affine<T> { a: T, b: T }` it emits a struct of the same form with fields of type
//! `V<T>`. So `state.a` means in the second body what it means in the first. It also emits an `impl
//! ScanType` that goes through the fields in order. All of it is inside a `const _`, so it adds no
//! name.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Member, Type, parse_quote};

use super::{check_generics, check_type, conditions, enumeration, mentions, place};
use crate::options::{self, Options};
use crate::refuse::{self, Errors, refuse};

pub(crate) fn derive(item: TokenStream) -> TokenStream {
    super::derived(item, ("scan_type", options::NONE), describe)
}

/// The `impl ScanType` of a type. With errors it is left out: an incomplete layout must not exist.
pub(crate) fn describe(input: &DeriveInput, options: &Options, errors: &mut Errors) -> TokenStream {
    let before = errors.len();
    check(input, errors);
    match &input.data {
        Data::Struct(data) if errors.len() == before => implementation(input, &data.fields, options),
        Data::Enum(data) if errors.len() == before => enumeration::implementation(input, data, options),
        _ => TokenStream::new(),
    }
}

fn check(input: &DeriveInput, errors: &mut Errors) {
    check_generics(&input.generics, errors);
    for attribute in &input.attrs {
        if attribute.path().is_ident("repr") {
            check_repr(attribute, errors);
        }
    }
    match &input.data {
        Data::Struct(data) => {
            if data.fields.is_empty() {
                refuse(errors, &input.ident, refuse::EMPTY);
            }
            for field in &data.fields {
                check_type(&field.ty, errors);
                if let Some(cfg) = field.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
                    refuse(errors, cfg, refuse::FIELD_CFG);
                }
            }
        }
        Data::Enum(data) => enumeration::check(data, input, errors),
        Data::Union(data) => refuse(errors, data.union_token, refuse::UNION),
    }
}

fn check_repr(attribute: &Attribute, errors: &mut Errors) {
    // Anything that rustc itself would refuse is left to it.
    let _ = attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("packed") {
            refuse(errors, &meta.path, refuse::PACKED);
        }
        if meta.input.peek(syn::token::Paren) {
            let _arguments: proc_macro2::Group = meta.input.parse()?;
        }
        Ok(())
    });
}

fn implementation(input: &DeriveInput, fields: &Fields, options: &Options) -> TokenStream {
    let (krate, name, visibility) = (&options.krate, &input.ident, &input.vis);
    let lang = quote!(#krate::lang);
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#lang::ScanType));
        parameter.default = None;
    }
    for parameter in generics.const_params_mut() {
        parameter.default = None;
    }
    bound_concrete_fields(&mut generics, fields, &lang);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let members: Vec<Member> = fields.members().collect();
    let names: Vec<String> = members.iter().map(|member| member.to_token_stream().to_string()).collect();
    let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches("r#")).collect();
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let visibilities: Vec<_> = fields.iter().map(|field| &field.vis).collect();
    // Everything of a field is placed at its type, so that rustc merges the errors of a field.
    let scan_type = |ty: &Type| {
        let (lang, at) = (place(&lang, here(ty)), here(ty));
        quote_spanned!(at=> <#ty as #lang::ScanType>)
    };
    let handles = types.iter().map(|ty| {
        let (lang, at) = (place(&lang, here(ty)), here(ty));
        quote_spanned!(at=> #lang::V<#ty>)
    });
    let shadow = match fields {
        Fields::Named(_) => quote!(#bounds { #(#visibilities #members: #handles,)* }),
        _ => quote!((#(#visibilities #handles,)*) #bounds;),
    };
    let line = |line: &dyn Fn(&Member, &Type, TokenStream) -> TokenStream| -> Vec<TokenStream> {
        members.iter().zip(&types).map(|(member, ty)| line(member, ty, scan_type(ty))).collect()
    };
    let described = members.iter().zip(&types).zip(&names).map(|((member, ty), name)| {
        quote_spanned!(here(ty)=> components.field::<#ty>(#name, ::core::mem::offset_of!(Self, #member));)
    });
    let built = line(&|member, ty, scan_type| {
        let (lang, at) = (place(&lang, here(ty)), here(ty));
        quote_spanned!(at=> #member: #lang::V::of(#scan_type::build(next)),)
    });
    let flattened =
        line(&|member, ty, scan_type| quote_spanned!(here(ty)=> #scan_type::flatten(&parts.#member.__parts, values);));
    let restricted = line(
        &|member, ty, scan_type| quote_spanned!(here(ty)=> #scan_type::restrict(&parts.#member.__parts, conditions);),
    );
    let stored =
        line(&|member, ty, scan_type| quote_spanned!(here(ty)=> #scan_type::store(&value.#member, constants);));
    let loaded = line(&|member, ty, scan_type| quote_spanned!(here(ty)=> #member: #scan_type::load(constants),));
    let (allow, conditions) = (super::allow(), conditions(&input.attrs));
    quote! {
        #conditions
        #allow
        const _: () = {
            #[doc(hidden)]
            #visibility struct __MonoscanHandles #parameters #shadow

            impl #parameters ::core::clone::Clone for __MonoscanHandles #arguments #bounds {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl #parameters ::core::marker::Copy for __MonoscanHandles #arguments #bounds {}

            // SAFETY: every field is listed, with its own type, at the offset that `offset_of!` gives.
            unsafe impl #parameters #lang::ScanType for #name #arguments #bounds {
                type Traced = __MonoscanHandles #arguments;

                fn describe(components: &mut #lang::Components) {
                    #(#described)*
                }

                fn build(next: &mut dyn ::core::ops::FnMut(#lang::Type) -> #lang::Value) -> Self::Traced {
                    __MonoscanHandles { #(#built)* }
                }

                fn flatten(parts: &Self::Traced, values: &mut ::std::vec::Vec<#lang::Value>) {
                    #(#flattened)*
                }

                fn store(value: &Self, constants: &mut #lang::Constants) {
                    #(#stored)*
                }

                fn load(
                    constants: &mut dyn ::core::iter::Iterator<Item = #lang::Constant>,
                ) -> Self {
                    Self { #(#loaded)* }
                }

                fn restrict(parts: &Self::Traced, conditions: &mut ::std::vec::Vec<#lang::V<bool>>) {
                    #(#restricted)*
                }
            }
        };
    }
}

/// Requires of each field without generic parameters that it is a scan type: one that is not makes one error, at the
/// bound, while the generated code may assume it.
fn bound_concrete_fields(generics: &mut Generics, fields: &Fields, lang: &TokenStream) {
    let parameters: Vec<_> = generics
        .type_params()
        .map(|parameter| parameter.ident.clone())
        .chain(generics.const_params().map(|parameter| parameter.ident.clone()))
        .collect();
    for ty in fields.iter().map(|field| &field.ty) {
        if !mentions(ty.to_token_stream(), |name| parameters.contains(name) || name == "Self") {
            let (lang, at) = (place(lang, here(ty)), here(ty));
            let bound = quote_spanned!(at=> #ty: #lang::ScanType);
            generics.make_where_clause().predicates.push(parse_quote!(#bound));
        }
    }
}

/// The place of a field's type, with the names of the generated code.
fn here(ty: &Type) -> Span {
    ty.span().resolved_at(Span::call_site())
}

//! `#[derive(ScanType)]` on an enum without data: one integer in memory, whose values are the
//! variants' numbers.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput};

use super::{allow, conditions};
use crate::options::Options;
use crate::refuse::{self, Errors, refuse};

pub(crate) fn check(data: &DataEnum, input: &DeriveInput, errors: &mut Errors) {
    for variant in &data.variants {
        if !matches!(variant.fields, syn::Fields::Unit) {
            refuse(errors, variant, refuse::ENUM_DATA);
        }
        if let Some(cfg) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
            refuse(errors, cfg, refuse::FIELD_CFG);
        }
    }
    if data.variants.len() < 2 {
        refuse(errors, &input.ident, refuse::ENUM_EMPTY);
    }
}

pub(crate) fn implementation(input: &DeriveInput, data: &DataEnum, options: &Options) -> TokenStream {
    let krate = &options.krate;
    let lang = quote!(#krate::lang);
    let (name, variants) = (&input.ident, data.variants.iter().map(|variant| &variant.ident).collect::<Vec<_>>());
    let (allow, conditions) = (allow(), conditions(&input.attrs));
    let no_zero = format!(
        "scan code: the enum `{name}` needs a variant of number 0, since that is read where there is no record"
    );
    quote! {
        #conditions
        #allow
        const _: () = {
            ::core::assert!(#(#name::#variants as i64 == 0)||*, #no_zero);

            // SAFETY: these are all variants, at least two; none holds anything, and the number of one is 0.
            unsafe impl #lang::Enumeration for #name {
                const VARIANTS: &'static [(Self, i64)] = &[#((#name::#variants, #name::#variants as i64)),*];
            }

            impl #lang::ops::Castable for #name {}

            // SAFETY: the one component is the whole value, and only numbers of variants are stored.
            unsafe impl #lang::ScanType for #name {
                type Traced = #lang::Value;

                fn describe(components: &mut #lang::Components) {
                    #lang::enumeration::describe::<Self>(components)
                }

                fn build(next: &mut dyn ::core::ops::FnMut(#lang::Type) -> #lang::Value) -> #lang::Value {
                    next(#lang::enumeration::number_type::<Self>())
                }

                fn flatten(parts: &#lang::Value, values: &mut ::std::vec::Vec<#lang::Value>) {
                    values.push(*parts)
                }

                fn store(value: &Self, constants: &mut #lang::Constants) {
                    constants.push(#lang::enumeration::number(*value))
                }

                fn load(constants: &mut dyn ::core::iter::Iterator<Item = #lang::Constant>) -> Self {
                    #lang::enumeration::variant(constants.next())
                }

                fn restrict(parts: &#lang::Value, conditions: &mut ::std::vec::Vec<#lang::V<bool>>) {
                    conditions.push(#lang::enumeration::is_variant::<Self>(*parts))
                }
            }
        };
    }
}

//! The options in a macro's parentheses: `crate = path`, `associated`.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Path, Token};

use crate::refuse;

/// The options of a macro.
pub(crate) struct Options {
    /// Where monoscan is.
    pub(crate) krate: TokenStream,
    /// `#[scan_fn(associated)]`: the function is in an `impl`.
    pub(crate) associated: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { krate: quote::quote!(::monoscan), associated: false }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                options.krate = crate_path(input)?.to_token_stream();
            } else {
                let name: Ident = input.parse()?;
                if name != "associated" {
                    return Err(syn::Error::new(name.span(), refuse::OPTION));
                }
                options.associated = true;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// `crate = path`
pub(crate) fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    input.call(Path::parse_mod_style)
}

impl Options {
    /// Reads an attribute's arguments; an error leaves the defaults.
    pub(crate) fn read(arguments: TokenStream, errors: &mut Vec<syn::Error>) -> Options {
        syn::parse2(arguments).unwrap_or_else(|error| {
            errors.push(error);
            Options::default()
        })
    }

    /// Reads the attribute of a derive that goes by a name, such as `#[scan_type(…)]`.
    pub(crate) fn of_derive(name: &str, attributes: &[Attribute], errors: &mut Vec<syn::Error>) -> Options {
        match attributes.iter().find(|attribute| attribute.path().is_ident(name)) {
            Some(attribute) => attribute.parse_args().unwrap_or_else(|error| {
                errors.push(error);
                Options::default()
            }),
            None => Options::default(),
        }
    }
}

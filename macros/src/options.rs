//! The options in a macro's parentheses: `crate = path`, and the one that a macro has of its own.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Path, Token};

use crate::refuse::{self, Errors};

/// The options of a macro.
pub(crate) struct Options {
    /// Where monoscan is.
    pub(crate) krate: TokenStream,
    /// Whether the macro's own option is given.
    pub(crate) own: bool,
}

/// An option that is a word, which a macro has of its own.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    name: Option<&'static str>,
    /// The refusal of other words.
    unknown: &'static str,
}

/// No option of its own.
pub(crate) const NONE: Own = Own { name: None, unknown: refuse::OPTION };

/// `#[scan_fn(associated)]`: the function is in an `impl`.
pub(crate) const ASSOCIATED: Own = Own { name: Some("associated"), unknown: refuse::FUNCTION_OPTION };

/// `#[token_kind(strict_ties)]`: rules that shadow others are an error.
pub(crate) const STRICT_TIES: Own = Own { name: Some("strict_ties"), unknown: refuse::KIND_OPTION };

impl Default for Options {
    fn default() -> Options {
        Options { krate: quote::quote!(::monoscan), own: false }
    }
}

/// `crate = path`
pub(crate) fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    input.call(Path::parse_mod_style)
}

impl Options {
    /// Reads more options.
    fn parse(&mut self, input: ParseStream<'_>, own: Own) -> syn::Result<()> {
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                self.krate = crate_path(input)?.to_token_stream();
            } else {
                let name: Ident = input.parse()?;
                if own.name.is_none_or(|own| name != own) {
                    return Err(syn::Error::new(name.span(), own.unknown));
                }
                self.own = true;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// Reads an attribute's arguments; an error leaves the defaults.
    pub(crate) fn read(arguments: TokenStream, own: Own, errors: &mut Errors) -> Options {
        let mut options = Options::default();
        let parser = |input: ParseStream<'_>| options.parse(input, own);
        match parser.parse2(arguments) {
            Ok(()) => options,
            Err(error) => {
                errors.push(error);
                Options::default()
            }
        }
    }

    /// Reads the attributes of a derive that go by a name, such as `#[scan_type(…)]`; an error leaves what comes before it.
    pub(crate) fn of_derive(name: &str, own: Own, attributes: &[Attribute], errors: &mut Errors) -> Options {
        let mut options = Options::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
            if let Err(error) = attribute.parse_args_with(|input: ParseStream<'_>| options.parse(input, own)) {
                errors.push(error);
            }
        }
        options
    }
}

//! `#[derive(TokenKind)]` on an enum: each variant is a kind of token, and its attribute the rule.
//!
//! It emits the rules as a constant, kinds of incomplete tokens last, so that each names the place
//! of a rule before it. Regexes are read when the lexer is built.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DataEnum, DeriveInput, Fields, Ident, LitStr, Meta, Token, Variant};

use super::{allow, conditions};
use crate::options::{self, Options};
use crate::refuse::{self, Errors, refuse};

/// The kind of a variant.
enum Role {
    Token(LitStr),
    Skip(LitStr),
    Keywords(Vec<LitStr>),
    Incomplete(Ident),
    Error,
}

pub(crate) fn derive(item: TokenStream) -> TokenStream {
    super::derived(item, ("token_kind", options::STRICT_TIES), implement)
}

fn implement(input: &DeriveInput, options: &Options, errors: &mut Errors) -> TokenStream {
    let Data::Enum(data) = &input.data else {
        refuse(errors, &input.ident, refuse::KIND_ITEM);
        return TokenStream::new();
    };
    if !input.generics.params.is_empty() {
        refuse(errors, &input.generics, refuse::KIND_GENERICS);
    }
    let kinds = kinds(data, errors);
    let rules = rules(&kinds, errors);
    let error: Vec<&Ident> = of_role(&kinds, |role| matches!(role, Role::Error)).collect();
    match error[..] {
        [] if errors.is_empty() => refuse(errors, &input.ident, refuse::KIND_ERROR),
        [] | [_] => {}
        [.., second] => refuse(errors, second, refuse::KIND_ERRORS),
    }
    if !errors.is_empty() {
        return TokenStream::new();
    }
    let (krate, name, error, strict) = (&options.krate, &input.ident, error[0], options.own);
    let (allow, conditions) = (allow(), conditions(&input.attrs));
    let rules = rules.iter().map(|(kind, rule, form)| {
        let (krate, variant) = (quote!(#krate::lexer), self::name(kind));
        quote!(#krate::KindRule { kind: Self::#kind, variant: #variant, name: #rule, form: #krate::RuleForm::#form })
    });
    quote! {
        #conditions
        #allow
        const _: () = {
            impl #krate::lexer::TokenKind for #name {
                const RULES: &'static [#krate::lexer::KindRule<Self>] = &[#(#rules),*];
                const ERROR: Self = Self::#error;
                const STRICT_TIES: bool = #strict;
            }
        };
    }
}

fn of_role<'a>(kinds: &'a [(&'a Ident, Role)], is: impl Fn(&Role) -> bool) -> impl Iterator<Item = &'a Ident> {
    kinds.iter().filter(move |(_, role)| is(role)).map(|&(kind, _)| kind)
}

/// The variants that have a role.
fn kinds<'a>(data: &'a DataEnum, errors: &mut Errors) -> Vec<(&'a Ident, Role)> {
    let mut kinds = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            refuse(errors, variant, refuse::KIND_DATA);
        }
        if let Some(cfg) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
            refuse(errors, cfg, refuse::KIND_CFG);
        }
        kinds.extend(role(variant, errors).map(|role| (&variant.ident, role)));
    }
    kinds
}

/// The content of the attribute of a variant.
fn role(variant: &Variant, errors: &mut Errors) -> Option<Role> {
    const NAMES: [&str; 5] = ["token", "skip", "keyword", "incomplete", "error"];
    let is_role = |attribute: &&Attribute| NAMES.iter().any(|name| attribute.path().is_ident(name));
    let attributes: Vec<&Attribute> = variant.attrs.iter().filter(is_role).collect();
    match attributes[..] {
        [] => refuse(errors, &variant.ident, refuse::KIND_WITHOUT_RULE),
        [attribute] => match read(attribute) {
            Ok(role) => return Some(role),
            Err(error) => errors.push(error),
        },
        [_, second, ..] => refuse(errors, second, refuse::KIND_TWO_RULES),
    }
    None
}

fn read(attribute: &Attribute) -> syn::Result<Role> {
    let text = |message| {
        let text: LitStr = attribute.parse_args().map_err(|_| syn::Error::new_spanned(attribute, message))?;
        if text.value().is_empty() { Err(syn::Error::new_spanned(text, message)) } else { Ok(text) }
    };
    let path = attribute.path();
    if path.is_ident("token") {
        text(refuse::KIND_REGEX).map(Role::Token)
    } else if path.is_ident("skip") {
        text(refuse::KIND_REGEX).map(Role::Skip)
    } else if path.is_ident("keyword") {
        let words = attribute.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated);
        let words: Vec<LitStr> = words.into_iter().flatten().collect();
        match words.iter().any(|word| word.value().is_empty()) || words.is_empty() {
            true => Err(syn::Error::new_spanned(attribute, refuse::KIND_WORDS)),
            false => Ok(Role::Keywords(words)),
        }
    } else if path.is_ident("incomplete") {
        let of = attribute.parse_args().map_err(|_| syn::Error::new_spanned(attribute, refuse::KIND_INCOMPLETE));
        of.map(Role::Incomplete)
    } else if matches!(attribute.meta, Meta::Path(_)) {
        Ok(Role::Error)
    } else {
        Err(syn::Error::new_spanned(attribute, refuse::KIND_ERROR_FORM))
    }
}

/// The rules in order, each with its kind, its name and its form; those of incomplete tokens last.
fn rules<'a>(kinds: &[(&'a Ident, Role)], errors: &mut Errors) -> Vec<(&'a Ident, String, TokenStream)> {
    let mut rules = Vec::new();
    for (kind, role) in kinds {
        let name = || name(kind);
        match role {
            Role::Token(regex) => rules.push((*kind, name(), quote!(Token(#regex)))),
            Role::Skip(regex) => rules.push((*kind, name(), quote!(Skip(#regex)))),
            Role::Keywords(words) => {
                rules.extend(words.iter().map(|word| (*kind, word.value(), quote!(Keyword(#word)))));
            }
            Role::Incomplete(_) | Role::Error => {}
        }
    }
    if rules.is_empty() && errors.is_empty() {
        errors.push(syn::Error::new(proc_macro2::Span::call_site(), refuse::KIND_NO_RULE));
    }
    let mut named: Vec<&Ident> = Vec::new();
    for (kind, role) in kinds {
        let Role::Incomplete(of) = role else { continue };
        let places: Vec<usize> = (0..rules.len()).filter(|&place| rules[place].0 == of).collect();
        match places[..] {
            _ if named.contains(&of) => refuse(errors, of, refuse::KIND_INCOMPLETE_TWICE),
            [place] => rules.push((*kind, name(kind), quote!(Incomplete(#place)))),
            _ => refuse(errors, of, refuse::KIND_INCOMPLETE),
        }
        named.push(of);
    }
    rules
}

fn name(kind: &Ident) -> String {
    kind.to_string().trim_start_matches("r#").to_owned()
}

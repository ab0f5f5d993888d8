//! One file for each macro, and what they share.

pub(crate) mod bounds;
pub(crate) mod closure;
pub(crate) mod enumeration;
pub(crate) mod monoid;
pub(crate) mod scan_fn;
pub(crate) mod scan_type;
pub(crate) mod token_kind;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Attribute, DeriveInput, GenericArgument, Generics, ImplItem, ItemImpl, Lifetime, Pat, Path, PathArguments, Type,
    parse_quote,
};

use crate::options::{Options, Own};
use crate::refuse::{self, Errors, refuse, report};

/// The implementation that a derive adds to an item, and its errors. The item itself is not part of the output.
fn derived(
    item: TokenStream,
    (attribute, own): (&str, Own),
    implement: fn(&DeriveInput, &Options, &mut Errors) -> TokenStream,
) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::new();
    let options = Options::of_derive(attribute, own, &input.attrs, &mut errors);
    let implementation = implement(&input, &options, &mut errors);
    let errors = report(&errors);
    quote!(#implementation #errors)
}

/// Lints that the second body would repeat, or that its form sets off.
pub(crate) fn allow() -> TokenStream {
    quote!(#[allow(
        unused,
        unconditional_panic,
        arithmetic_overflow,
        overflowing_literals,
        non_snake_case,
        unreachable_pub,
        private_interfaces,
        private_bounds,
        trivial_bounds,
        clippy::all,
        clippy::pedantic,
        clippy::nursery,
        clippy::restriction
    )])
}

/// The user's own item, under the lints that scan code sets off by its form. Scan code indexes by loop variables, so clippy's preference for iterators is no help there.
pub(crate) fn original(item: &TokenStream) -> TokenStream {
    quote!(#[allow(clippy::needless_range_loop)] #item)
}

/// Lets a function with these attributes be inlined in other units of its crate, and other crates: scans call it for each record.
pub(crate) fn inline(attributes: &[Attribute]) -> Option<Attribute> {
    let says_so = attributes.iter().any(|attribute| attribute.path().is_ident("inline"));
    (!says_so).then(|| parse_quote!(#[inline]))
}

/// The same for all functions of an `impl`.
pub(crate) fn inline_all(item: &mut ItemImpl) {
    for item in &mut item.items {
        if let ImplItem::Fn(function) = item {
            function.attrs.extend(inline(&function.attrs));
        }
    }
}

/// The `#[cfg]`s of an item, which must be on everything that is emitted beside it.
pub(crate) fn conditions(attributes: &[Attribute]) -> TokenStream {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).map(|attribute| quote!(#attribute)).collect()
}

/// Scan types are owned values: refuses references and the like in a type, and lifetimes.
pub(crate) fn check_type(ty: &Type, errors: &mut Errors) {
    TypeCheck { errors }.visit_type(ty);
}

struct TypeCheck<'e> {
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for TypeCheck<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Reference(ty) => refuse(self.errors, ty.and_token, refuse::REFERENCE_TYPE),
            Type::Ptr(ty) => refuse(self.errors, ty.star_token, refuse::POINTER_TYPE),
            Type::Slice(ty) => refuse(self.errors, ty, refuse::SLICE_TYPE),
            Type::ImplTrait(ty) => refuse(self.errors, ty, refuse::IMPL_TRAIT),
            Type::Path(path) => match not_a_scan_type(&last_name(&path.path)) {
                Some(message) => refuse(self.errors, ty, message),
                None => visit::visit_type(self, ty),
            },
            _ => visit::visit_type(self, ty),
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        refuse(self.errors, lifetime, refuse::LIFETIME);
    }

    fn visit_expr(&mut self, _length: &'ast syn::Expr) {}
}

/// Well-known types for which a message can say more than rustc would.
fn not_a_scan_type(name: &str) -> Option<&'static str> {
    match name {
        "usize" | "isize" => Some(refuse::SIZE_TYPE),
        "u128" | "i128" => Some(refuse::WIDE_TYPE),
        "char" => Some(refuse::CHAR_TYPE),
        "Option" | "Result" => Some(refuse::OPTION_RESULT),
        "Vec" | "String" | "Box" => Some(refuse::OWNING_TYPE),
        "PhantomData" => Some(refuse::PHANTOM),
        _ => None,
    }
}

/// Refuses lifetime parameters.
pub(crate) fn check_generics(generics: &Generics, errors: &mut Errors) {
    for lifetime in generics.lifetimes() {
        refuse(errors, &lifetime.lifetime, refuse::LIFETIME);
    }
}

/// The element type, if this is `Table<T>`, with or without a lifetime.
pub(crate) fn table_element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let element = types.next()?;
    (last.ident == "Table" && types.next().is_none()).then_some(element)
}

/// `Table<T>` with this lifetime.
pub(crate) fn table_with_lifetime(ty: &Type, lifetime: &Lifetime) -> Type {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        let types = arguments.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
        let all = std::iter::once(GenericArgument::Lifetime(lifetime.clone())).chain(types.cloned());
        arguments.args = all.collect();
    }
    ty
}

/// Whether an identifier occurs anywhere in the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: impl Fn(&Ident) -> bool + Copy) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => name(&ident),
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// The tokens placed elsewhere, each keeping the names it sees.
pub(crate) fn place(tokens: &TokenStream, at: Span) -> TokenStream {
    let placed = tokens.clone().into_iter().map(|mut token| {
        token.set_span(at.resolved_at(token.span()));
        token
    });
    placed.collect()
}

/// The name of an argument; empty of a pattern that has none, or several.
pub(crate) fn name_of(pattern: &Pat) -> String {
    match pattern {
        Pat::Ident(pattern) => pattern.ident.unraw().to_string(),
        _ => String::new(),
    }
}

/// The last name of a path.
pub(crate) fn last_name(path: &Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

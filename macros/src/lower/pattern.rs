//! Patterns: reading fields to bind names, and comparing for the rest.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Index, Member, Pat, PatIdent, RangeLimits, Token};

use super::Lowering;
use crate::refuse;

impl Lowering<'_> {
    /// Binds a pattern that always fits, as in `let`.
    pub(super) fn bind(&mut self, pattern: &Pat, value: &TokenStream, bindings: &mut TokenStream) {
        // Whether it always fits, rustc checks on the user's own item.
        let _ = self.parts(pattern, value, bindings, true);
    }

    /// Binds the names of a `match` pattern; gives the condition under which it fits, none if that is always.
    pub(super) fn test(
        &mut self,
        pattern: &Pat,
        value: &TokenStream,
        bindings: &mut TokenStream,
    ) -> Option<TokenStream> {
        self.parts(pattern, value, bindings, false)
    }

    fn parts(
        &mut self,
        pattern: &Pat,
        value: &TokenStream,
        bindings: &mut TokenStream,
        in_let: bool,
    ) -> Option<TokenStream> {
        match pattern {
            Pat::Wild(_) => {
                bindings.extend(quote!(let _ = #value;));
                None
            }
            Pat::Paren(p) => self.parts(&p.pat, value, bindings, in_let),
            Pat::Type(p) => self.parts(&p.pat, value, bindings, in_let),
            Pat::Ident(name) if !in_let && is_constant(name) => self.equal(name.ident.to_token_stream(), value),
            Pat::Ident(name) => self.name(name, value, bindings, in_let),
            Pat::Lit(literal) => self.equal(literal.to_token_stream(), value),
            Pat::Path(path) => self.equal(path.to_token_stream(), value),
            Pat::Range(range) => self.within(range, value),
            Pat::Or(or) => self.any(&or.cases, value),
            Pat::Tuple(tuple) => self.members(&tuple.elems, value, bindings, in_let),
            Pat::TupleStruct(tuple) => {
                let name = tuple.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
                if matches!(name.as_str(), "Some" | "Ok" | "Err") {
                    self.refuse(&tuple.path, refuse::OPTION_RESULT);
                    return None;
                }
                self.members(&tuple.elems, value, bindings, in_let)
            }
            Pat::Struct(p) => {
                let whole = self.whole(value, bindings);
                let tests: Vec<_> = p
                    .fields
                    .iter()
                    .filter_map(|field| {
                        let member = &field.member;
                        self.parts(&field.pat, &quote!(#whole.#member), bindings, in_let)
                    })
                    .collect();
                self.all(tests, pattern.span())
            }
            Pat::Slice(p) => self.elements(p, value, bindings, in_let),
            Pat::Reference(p) => {
                self.refuse(p.and_token, refuse::PATTERN_REF);
                None
            }
            _ => {
                self.refuse(pattern, refuse::PATTERN);
                None
            }
        }
    }

    /// A name for the value, so that it is computed once.
    fn whole(&mut self, value: &TokenStream, bindings: &mut TokenStream) -> syn::Ident {
        let whole = self.scope.fresh("whole", Span::mixed_site());
        bindings.extend(quote!(let #whole = #value;));
        whole
    }

    fn name(
        &mut self,
        name: &PatIdent,
        value: &TokenStream,
        bindings: &mut TokenStream,
        in_let: bool,
    ) -> Option<TokenStream> {
        if let Some(by_ref) = &name.by_ref {
            self.refuse(by_ref, refuse::PATTERN_REF);
        }
        if !in_let {
            bindings.extend(self.is_binding(&name.ident));
        }
        let variable = self.scope.variable(&name.ident);
        bindings.extend(quote!(let mut #variable = #value;));
        let (_, within) = name.subpat.as_ref()?;
        self.parts(within, &variable.to_token_stream(), bindings, in_let)
    }

    /// A check that a name in a pattern binds: if there is a constant of that name, rustc reports a type error here.
    /// The closure never runs.
    fn is_binding(&self, name: &syn::Ident) -> TokenStream {
        let krate = self.krate;
        quote!(let _ = |new: #krate::lang::ops::NewBinding| match new { #name => () };)
    }

    fn equal(&mut self, constant: TokenStream, value: &TokenStream) -> Option<TokenStream> {
        let at = constant.span();
        let constant = self.op("lift", at, constant);
        Some(self.op("same", at, quote!(#value, #constant)))
    }

    fn within(&mut self, range: &syn::PatRange, value: &TokenStream) -> Option<TokenStream> {
        let upper = match range.limits {
            RangeLimits::HalfOpen(_) => "lt",
            RangeLimits::Closed(_) => "le",
        };
        let bound = |bound: &Option<Box<Expr>>, compare| {
            let bound = bound.as_ref()?;
            let constant = self.op("lift", bound.span(), bound.to_token_stream());
            Some(self.op(compare, bound.span(), quote!(#value, #constant)))
        };
        let tests: Vec<_> = [bound(&range.start, "ge"), bound(&range.end, upper)].into_iter().flatten().collect();
        self.all(tests, range.span())
    }

    fn any(&mut self, cases: &Punctuated<Pat, Token![|]>, value: &TokenStream) -> Option<TokenStream> {
        let mut any: Option<TokenStream> = None;
        for case in cases {
            if binds(case) {
                self.refuse(case, refuse::PATTERN_OR_BINDING);
                continue;
            }
            let mut parts = TokenStream::new();
            let test = self.parts(case, value, &mut parts, false)?;
            any = Some(self.either(any, quote!({ #parts #test }), case.span()));
        }
        any
    }

    fn either(&self, any: Option<TokenStream>, test: TokenStream, at: Span) -> TokenStream {
        match any {
            Some(any) => self.op("or", at, quote!(#any, #test)),
            None => test,
        }
    }

    fn all(&self, tests: Vec<TokenStream>, at: Span) -> Option<TokenStream> {
        tests.into_iter().reduce(|all, test| self.op("and", at, quote!(#all, #test)))
    }

    /// Tuples and tuple structs.
    fn members(
        &mut self,
        patterns: &Punctuated<Pat, Token![,]>,
        value: &TokenStream,
        bindings: &mut TokenStream,
        in_let: bool,
    ) -> Option<TokenStream> {
        let whole = self.whole(value, bindings);
        let patterns = self.without_rest(patterns);
        let mut tests = Vec::new();
        for (place, pattern) in patterns.into_iter().enumerate() {
            let member = Member::Unnamed(Index::from(place));
            tests.extend(self.parts(pattern, &quote!(#whole.#member), bindings, in_let));
        }
        self.all(tests, value.span())
    }

    fn elements(
        &mut self,
        slice: &syn::PatSlice,
        value: &TokenStream,
        bindings: &mut TokenStream,
        in_let: bool,
    ) -> Option<TokenStream> {
        let whole = self.whole(value, bindings);
        let text = slice.to_token_stream().to_string();
        let patterns = self.without_rest(&slice.elems);
        let mut tests = Vec::new();
        for (place, pattern) in patterns.into_iter().enumerate() {
            let element = self.op("element", pattern.span(), quote!(&#whole, #place, #text));
            tests.extend(self.parts(pattern, &quote!((*#element)), bindings, in_let));
        }
        self.all(tests, slice.span())
    }

    /// The patterns before a `..`, which may stand at the end only.
    fn without_rest<'p>(&mut self, patterns: &'p Punctuated<Pat, Token![,]>) -> Vec<&'p Pat> {
        let mut list: Vec<&Pat> = patterns.iter().collect();
        if matches!(list.last(), Some(Pat::Rest(_))) {
            list.pop();
        }
        if let Some(rest) = list.iter().find(|pattern| matches!(pattern, Pat::Rest(_))) {
            self.refuse(rest, refuse::PATTERN_REST);
            list.retain(|pattern| !matches!(pattern, Pat::Rest(_)));
        }
        list
    }

    /// A pattern of a `match` on a constant: the same pattern with its names renamed.
    pub(super) fn static_pattern(&mut self, pattern: &Pat, checks: &mut TokenStream) -> TokenStream {
        match pattern {
            Pat::Ident(name) if !is_constant(name) => {
                if !super::is_plain(name) {
                    return self.refused_pattern(pattern);
                }
                checks.extend(self.is_binding(&name.ident));
                self.scope.constant(&name.ident).to_token_stream()
            }
            Pat::Tuple(tuple) => {
                let members: Vec<_> = tuple.elems.iter().map(|p| self.static_pattern(p, checks)).collect();
                quote_spanned!(pattern.span()=> (#(#members,)*))
            }
            Pat::Paren(p) => self.static_pattern(&p.pat, checks),
            Pat::Or(or) if !or.cases.iter().any(binds) => pattern.to_token_stream(),
            Pat::Or(or) => {
                self.refuse(or, refuse::PATTERN_OR_BINDING);
                quote!(_)
            }
            Pat::Ident(_) | Pat::Wild(_) | Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) => pattern.to_token_stream(),
            _ => self.refused_pattern(pattern),
        }
    }

    fn refused_pattern(&mut self, pattern: &Pat) -> TokenStream {
        self.refuse(pattern, refuse::PATTERN);
        quote!(_)
    }
}

/// A name in a `match` that means a constant, by the naming convention that rustc warns about; `is_binding` checks the
/// others.
fn is_constant(name: &PatIdent) -> bool {
    let text = name.ident.to_string();
    super::is_plain(name) && text.starts_with(char::is_uppercase)
}

/// Whether a pattern binds a name.
fn binds(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => !is_constant(name),
        Pat::Paren(p) => binds(&p.pat),
        Pat::Type(p) => binds(&p.pat),
        Pat::Or(p) => p.cases.iter().any(binds),
        Pat::Tuple(p) => p.elems.iter().any(binds),
        Pat::TupleStruct(p) => p.elems.iter().any(binds),
        Pat::Slice(p) => p.elems.iter().any(binds),
        Pat::Struct(p) => p.fields.iter().any(|field| binds(&field.pat)),
        _ => false,
    }
}

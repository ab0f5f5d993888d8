//! From a function body to its second body: the same statements over handles.
//!
//! `let b = next.a * self.b;` becomes `let mut __b_2 = ops::mul(__next_1.a, __self_0.b);`. Types
//! are left to rustc: it infers those of the second body as it does those of the first. What is
//! decided here is what is *static* (`binding_time.rs`), what each name means (`scope.rs`), which
//! variables a branch assigns (`control.rs`), and what is refused. Errors are collected and
//! lowering goes on, so that all of them are reported at once.

mod binding_time;
mod call;
mod control;
mod expr;
mod look_up;
mod pattern;
mod returns;
mod scope;

use std::collections::{BTreeSet, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Generics, Item, Local, Pat, Stmt, Type};

use crate::expand::{check_type, place};
use crate::refuse::{self, Errors};
use scope::Scope;

/// The state of lowering one function.
pub(crate) struct Lowering<'a> {
    krate: &'a TokenStream,
    errors: &'a mut Errors,
    scope: Scope,
    /// For each open branch on run-time data, the variables assigned in it.
    assigned: Vec<BTreeSet<usize>>,
    /// For each open loop, its label and how many branches were open around it.
    loops: Vec<(Option<Ident>, usize)>,
    /// The type parameters, whose associated functions are those of `Real`, `Int` and `Monoid`.
    type_parameters: HashSet<String>,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(krate: &'a TokenStream, errors: &'a mut Errors, generics: &[&Generics]) -> Lowering<'a> {
        let type_parameters =
            generics.iter().flat_map(|g| g.type_params()).map(|parameter| parameter.ident.to_string()).collect();
        let (assigned, loops) = (Vec::new(), Vec::new());
        Lowering { krate, errors, scope: Scope::new(), assigned, loops, type_parameters }
    }

    /// A parameter: gives the name for the second body's parameter, and the statements that bind the pattern to it.
    pub(crate) fn parameter(&mut self, pattern: &Pat) -> (Ident, TokenStream) {
        let name = self.scope.fresh("argument", pattern.span());
        let mut bindings = TokenStream::new();
        self.bind(pattern, &name.to_token_stream(), &mut bindings);
        (name, bindings)
    }

    /// The parameter `self`.
    pub(crate) fn receiver(&mut self, receiver: &syn::Receiver) -> (Ident, TokenStream) {
        let name = self.scope.fresh("argument", receiver.self_token.span);
        let variable = self.scope.variable(&Ident::new("self", receiver.self_token.span));
        (name.clone(), quote!(let mut #variable = #name;))
    }

    pub(crate) fn refuse(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        refuse::refuse(self.errors, at, message);
    }

    /// Adds an error; gives tokens that fit anywhere.
    fn refused(&mut self, at: impl ToTokens, message: impl std::fmt::Display) -> TokenStream {
        self.refuse(at, message);
        quote!(::core::unreachable!())
    }

    /// A call of a function in `lang::ops`, placed where the user's code is.
    fn op(&self, name: &str, at: Span, arguments: TokenStream) -> TokenStream {
        let (krate, at) = self.krate_at(at);
        let name = Ident::new(name, at);
        quote_spanned!(at=> #krate::lang::ops::#name(#arguments))
    }

    /// The path of monoscan and the span for names in it, both placed where the user's code is: rustc reports an error
    /// of a path where its first token is.
    fn krate_at(&self, at: Span) -> (TokenStream, Span) {
        (place(self.krate, at), at.resolved_at(Span::mixed_site()))
    }

    /// An expression whose instructions are known to come from where it was written, for refusals of loops.
    fn placed(&mut self, e: &Expr) -> TokenStream {
        let value = self.expr(e);
        match e {
            // What they hold has places of its own.
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::ForLoop(_) | Expr::Path(_) => value,
            Expr::Break(_) | Expr::Continue(_) => value,
            _ if self.is_static(e) => value,
            _ => self.written_at(e.span(), &value),
        }
    }

    /// The value, behind a guard that notes its place in the source.
    fn written_at(&self, at: Span, value: &TokenStream) -> TokenStream {
        let Some((file, line, column)) = source_place(at) else { return value.clone() };
        let krate = self.krate;
        quote!({
            let __written = #krate::lang::ops::written_at(#file, #line, #column);
            #value
        })
    }

    /// The body of a function.
    pub(crate) fn body(&mut self, block: &Block) -> TokenStream {
        self.block(&returns::to_the_end(block))
    }

    /// The body of a closure.
    pub(crate) fn closure_body(&mut self, body: &Expr) -> TokenStream {
        self.placed(&returns::of_body(body))
    }

    /// A block, with its value if it has one.
    fn block(&mut self, block: &Block) -> TokenStream {
        self.scope.open();
        for stmt in &block.stmts {
            // An inner `const` is known in the whole block.
            if let Stmt::Item(Item::Const(item)) = stmt {
                self.scope.item(&item.ident);
            }
        }
        let mut tokens = TokenStream::new();
        for (place, stmt) in block.stmts.iter().enumerate() {
            let last = place + 1 == block.stmts.len();
            tokens.extend(self.statement(stmt, last));
        }
        self.scope.close();
        tokens
    }

    fn statement(&mut self, stmt: &Stmt, last: bool) -> TokenStream {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(e, None) if last => self.placed(e),
            Stmt::Expr(e, _) => {
                let e = self.placed(e);
                quote!(#e;)
            }
            Stmt::Item(Item::Const(item)) => item.to_token_stream(),
            Stmt::Item(item) => self.refused(item, refuse::INNER_ITEM),
            Stmt::Macro(call) => {
                let value = self.macro_call(&call.mac);
                if last && call.semi_token.is_none() { value } else { quote!(#value;) }
            }
        }
    }

    fn local(&mut self, local: &Local) -> TokenStream {
        self.attributes(&local.attrs);
        let Some(init) = &local.init else {
            self.refuse(local, refuse::LET_WITHOUT_VALUE);
            // Later uses of the name are not errors of their own.
            return self.bound(&local.pat, quote!(::core::unreachable!()));
        };
        if let Some((r#else, _)) = &init.diverge {
            self.refuse(r#else, refuse::LET_ELSE);
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        match pattern {
            Pat::Ident(name) if is_plain(name) && self.is_static(&init.expr) => {
                let value = self.native(&init.expr);
                let ty = ty.map(|ty| quote!(: #ty));
                let name = self.scope.constant(&name.ident);
                quote!(let #name #ty = #value;)
            }
            _ => {
                let value = self.typed(&init.expr, ty);
                self.bound(pattern, value)
            }
        }
    }

    fn typed(&mut self, e: &Expr, ty: Option<&Type>) -> TokenStream {
        let value = self.placed(e);
        match ty {
            Some(ty) => {
                check_type(ty, self.errors);
                let (krate, at) = self.krate_at(ty.span());
                quote_spanned!(at=> #krate::lang::ops::typed::<#ty>(#value))
            }
            None => value,
        }
    }

    /// `let pattern = value;`
    fn bound(&mut self, pattern: &Pat, value: TokenStream) -> TokenStream {
        let mut bindings = TokenStream::new();
        self.bind(pattern, &value, &mut bindings);
        bindings
    }

    /// Attributes are not carried over, so those that could change the meaning are refused.
    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let path = attribute.path();
            if !["allow", "expect", "warn", "deny", "doc"].iter().any(|name| path.is_ident(name)) {
                self.refuse(attribute, refuse::ATTRIBUTE);
            }
        }
    }
}

/// File, line and column of a span; none outside of the compiler.
fn source_place(at: Span) -> Option<(String, u32, u32)> {
    proc_macro::is_available().then(|| {
        let at = at.unwrap();
        (at.file(), at.line() as u32, at.column() as u32)
    })
}

/// A name that is bound as it is: not `mut`, `ref` or `name @ pattern`.
fn is_plain(name: &syn::PatIdent) -> bool {
    name.mutability.is_none() && name.by_ref.is_none() && name.subpat.is_none()
}

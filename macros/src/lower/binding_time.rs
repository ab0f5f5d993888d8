//! Which expressions are constants of the IR.
//!
//! An expression that reads no run-time variable is *static*: it stays ordinary Rust and is
//! evaluated once, while the function is traced. Loop bounds, indexes and shift counts by loop
//! variables must be static; a static `if` is decided while tracing, so that it can guard an index.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprPath, FieldValue, Stmt};

use super::Lowering;
use super::scope::Meaning;

impl Lowering<'_> {
    /// Whether the expression reads no run-time variable.
    pub(crate) fn is_static(&self, e: &Expr) -> bool {
        let all = |list: &syn::punctuated::Punctuated<Expr, syn::Token![,]>| list.iter().all(|e| self.is_static(e));
        match e {
            Expr::Lit(_) => true,
            Expr::Path(path) => !matches!(self.meaning(path), Some(Meaning::Variable(..))),
            Expr::Paren(e) => self.is_static(&e.expr),
            Expr::Group(e) => self.is_static(&e.expr),
            Expr::Unary(e) => self.is_static(&e.expr),
            Expr::Reference(e) => e.mutability.is_none() && self.is_static(&e.expr),
            Expr::Cast(e) => self.is_static(&e.expr),
            Expr::Field(e) => self.is_static(&e.base),
            Expr::Index(e) => self.is_static(&e.expr) && self.is_static(&e.index),
            Expr::Binary(e) => !is_assignment(&e.op) && self.is_static(&e.left) && self.is_static(&e.right),
            Expr::Array(e) => all(&e.elems),
            Expr::Tuple(e) => all(&e.elems),
            Expr::Repeat(e) => self.is_static(&e.expr),
            Expr::Range(e) => [&e.start, &e.end].into_iter().flatten().all(|e| self.is_static(e)),
            Expr::Call(e) => self.is_static(&e.func) && all(&e.args),
            // The length of an array is known even where its elements are not.
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => self.is_place(&e.receiver),
            Expr::MethodCall(e) => self.is_static(&e.receiver) && all(&e.args),
            Expr::Struct(e) => {
                e.fields.iter().all(|field| self.is_static(&field.expr))
                    && e.rest.as_ref().is_none_or(|rest| self.is_static(rest))
            }
            Expr::If(e) => {
                let otherwise = e.else_branch.as_ref().is_some_and(|(_, e)| self.is_static(e));
                self.is_static(&e.cond) && self.is_static_block(&e.then_branch) && otherwise
            }
            Expr::Block(e) => e.label.is_none() && self.is_static_block(&e.block),
            _ => false,
        }
    }

    /// A block that is one static expression.
    fn is_static_block(&self, block: &Block) -> bool {
        matches!(&block.stmts[..], [Stmt::Expr(e, None)] if self.is_static(e))
    }

    /// A variable, a constant, or a field or element of one, by static indexes.
    fn is_place(&self, e: &Expr) -> bool {
        match e {
            Expr::Path(_) => true,
            Expr::Paren(e) => self.is_place(&e.expr),
            Expr::Group(e) => self.is_place(&e.expr),
            Expr::Field(e) => self.is_place(&e.base),
            Expr::Index(e) => self.is_place(&e.expr) && self.is_static(&e.index),
            _ => self.is_static(e),
        }
    }

    /// The tokens of a static expression, its variables renamed.
    pub(crate) fn native(&mut self, e: &Expr) -> TokenStream {
        let mut e = e.clone();
        let mut rename = Rename { lowering: self, foreign: Vec::new() };
        rename.visit_expr_mut(&mut e);
        for name in rename.foreign {
            self.refuse(&name, crate::refuse::hygiene(&name.to_string()));
        }
        e.to_token_stream()
    }

    /// The meaning of a path, if it is a plain name and not from another macro expansion.
    pub(crate) fn meaning(&self, path: &ExprPath) -> Option<&Meaning> {
        if path.qself.is_some() {
            return None;
        }
        self.scope.find(path.path.get_ident()?).ok().flatten()
    }
}

struct Rename<'a, 'l> {
    lowering: &'a Lowering<'l>,
    foreign: Vec<proc_macro2::Ident>,
}

impl VisitMut for Rename<'_, '_> {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        let Some(name) = path.path.get_ident().cloned().filter(|_| path.qself.is_none()) else { return };
        match self.lowering.scope.find(&name) {
            Ok(Some(Meaning::Constant(renamed) | Meaning::Variable(renamed, _))) => {
                let mut renamed = renamed.clone();
                renamed.set_span(name.span().resolved_at(Span::mixed_site()));
                path.path = renamed.into();
            }
            Ok(_) => {}
            Err(_) => self.foreign.push(name),
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut FieldValue) {
        // `S { a }` becomes `S { a: renamed }`.
        field.colon_token.get_or_insert_with(Default::default);
        visit_mut::visit_expr_mut(self, &mut field.expr);
    }

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        // A length is a constant expression, where no variable can be named.
        self.visit_expr_mut(&mut repeat.expr);
    }
}

/// `+=` and the like.
pub(crate) fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

//! `CONSTANT[i]` by an index that depends on the data.
//!
//! An index is a `usize`, which is no scan type. So what is computed with `as usize` inside the
//! brackets is a `u64` here, as it is on the machines that monoscan runs on, and nowhere else.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIndex, Type};

use super::Lowering;
use super::binding_time::is_assignment;

impl Lowering<'_> {
    /// Whether a constant is indexed by run-time data.
    pub(super) fn is_look_up(&self, e: &ExprIndex) -> bool {
        match &*e.expr {
            base if self.is_static(base) => !self.is_static(&e.index),
            Expr::Index(base) => self.is_look_up(base),
            _ => false,
        }
    }

    pub(super) fn look_up(&mut self, e: &ExprIndex) -> TokenStream {
        let chosen = self.chosen(&Expr::Index(e.clone()));
        self.op("chosen", e.span(), chosen)
    }

    /// The elements that may be meant, and the place of the one that is.
    fn chosen(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Index(e) if !self.is_static(&e.expr) || !self.is_static(&e.index) => {
                let (base, index) = (self.chosen(&e.expr), self.place_in(&e.index));
                self.op("at", e.index.span(), quote!(#base, #index))
            }
            _ => {
                let constant = self.native(e);
                self.op("constants", e.span(), quote!(&#constant))
            }
        }
    }

    /// An index, as an integer of any type.
    fn place_in(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Paren(e) => self.place_in(&e.expr),
            // Of one cast alone no more is needed than what is cast.
            Expr::Cast(e) if is_usize(&e.ty) && !self.is_static(&e.expr) => self.expr(&e.expr),
            _ => self.wide(e),
        }
    }

    /// A part of an index, as a `u64`.
    fn wide(&mut self, e: &Expr) -> TokenStream {
        let at = e.span();
        match e {
            Expr::Paren(e) => self.wide(&e.expr),
            Expr::Group(e) => self.wide(&e.expr),
            _ if self.is_static(e) => {
                let constant = self.native(e);
                self.op("place", at, constant)
            }
            Expr::Cast(e) if is_usize(&e.ty) => {
                let value = self.expr(&e.expr);
                self.op("wide", at, value)
            }
            Expr::Call(e) if is_usize_from(&e.func) && e.args.len() == 1 => {
                let value = self.expr(&e.args[0]);
                self.op("wide", at, value)
            }
            Expr::Binary(e) if !is_assignment(&e.op) && arithmetic(&e.op).is_some() => {
                let (left, right) = (self.wide(&e.left), self.wide(&e.right));
                self.op(arithmetic(&e.op).unwrap_or_default(), at, quote!(#left, #right))
            }
            _ => self.expr(e),
        }
    }
}

fn is_usize(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("usize"))
}

fn is_usize_from(function: &Expr) -> bool {
    let Expr::Path(function) = function else { return false };
    function.path.segments.iter().map(|segment| segment.ident.to_string()).eq(["usize", "from"])
}

fn arithmetic(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::BitAnd(_) => "bitand",
        BinOp::BitOr(_) => "bitor",
        BinOp::BitXor(_) => "bitxor",
        BinOp::Shl(_) => "shl",
        BinOp::Shr(_) => "shr",
        _ => return None,
    })
}

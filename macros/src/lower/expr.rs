//! Expressions: each becomes tokens that give a handle.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIndex, ExprPath, ExprStruct, Lit, Member, RangeLimits, UnOp};

use super::Lowering;
use super::binding_time::is_assignment;
use super::scope::Meaning;
use crate::expand::check_type;
use crate::refuse;

impl Lowering<'_> {
    /// The handle of an expression's value, or `()` for one that has none.
    pub(crate) fn expr(&mut self, e: &Expr) -> TokenStream {
        self.attributes(attributes(e));
        match e {
            Expr::Paren(e) => return self.expr(&e.expr),
            Expr::Group(e) => return self.expr(&e.expr),
            Expr::Reference(e) => return self.refused(e.and_token, refuse::REFERENCE),
            Expr::Range(e) => return self.range(e),
            Expr::Tuple(e) if e.elems.is_empty() => return quote!(()),
            Expr::Lit(e) if !matches!(e.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Byte(_)) => {
                return self.refused(e, refuse::STRING);
            }
            _ if self.is_static(e) => {
                let value = self.native(e);
                return self.op("lift", e.span(), value);
            }
            _ => {}
        }
        match e {
            Expr::Path(path) => self.path(path),
            Expr::Field(e) => {
                let (base, member) = (self.expr(&e.base), &e.member);
                quote!((#base).#member)
            }
            Expr::Index(e) if self.is_look_up(e) => self.look_up(e),
            Expr::Index(e) => {
                let base = self.expr(&e.expr);
                let element = self.element("element", quote!(&#base), e);
                quote!((*#element))
            }
            Expr::Unary(e) => match e.op {
                UnOp::Neg(token) => self.unary("neg", token.span(), &e.expr),
                UnOp::Not(token) => self.unary("not", token.span(), &e.expr),
                _ => self.refused(e.op, refuse::DEREFERENCE),
            },
            Expr::Cast(e) => {
                let (value, ty) = (self.expr(&e.expr), &e.ty);
                check_type(ty, self.errors);
                let (krate, at) = self.krate_at(ty.span());
                quote_spanned!(at=> #krate::lang::ops::cast::<_, #ty>(#value))
            }
            Expr::Binary(e) if is_assignment(&e.op) => self.compound_assignment(e),
            Expr::Binary(e) => self.binary(e),
            Expr::Assign(e) => {
                if matches!(&*e.left, Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_) | Expr::Infer(_)) {
                    return self.refused(&e.left, refuse::DESTRUCTURING_ASSIGN);
                }
                let value = self.expr(&e.right);
                self.assign(&e.left, value)
            }
            Expr::Array(e) => {
                let elements: Vec<_> = e.elems.iter().map(|e| self.expr(e)).collect();
                self.op("array", e.bracket_token.span.join(), quote!([#(#elements),*]))
            }
            Expr::Repeat(e) => {
                let (element, length) = (self.expr(&e.expr), &e.len);
                self.op("array", e.bracket_token.span.join(), quote!([#element; #length]))
            }
            Expr::Tuple(e) if e.elems.len() > 12 => self.refused(e, refuse::TUPLE_SIZE),
            Expr::Tuple(e) => {
                let members: Vec<_> = e.elems.iter().map(|e| self.expr(e)).collect();
                self.op(&format!("tuple{}", members.len()), e.paren_token.span.join(), quote!(#(#members),*))
            }
            Expr::Struct(e) => self.structure(e),
            Expr::MethodCall(e) => self.method_call(e),
            Expr::Call(e) => self.call(e),
            Expr::Block(e) => {
                if let Some(label) = &e.label {
                    self.refuse(label, refuse::LABEL);
                }
                let block = self.block(&e.block);
                quote!({ #block })
            }
            Expr::If(e) => self.conditional(e),
            Expr::Match(e) => self.matching(e),
            Expr::ForLoop(e) => self.for_loop(e),
            Expr::Continue(_) | Expr::Break(_) => self.jump(e),
            Expr::Return(e) => {
                let refused = self.refused(e.return_token, refuse::RETURN);
                if let Some(value) = &e.expr {
                    self.expr(value);
                }
                refused
            }
            Expr::Try(e) => self.refused(e.question_token, refuse::TRY),
            Expr::While(e) => {
                let refused = self.refused(e.while_token, refuse::WHILE);
                if !matches!(&*e.cond, Expr::Let(_)) {
                    self.expr(&e.cond);
                }
                self.loop_body(None, &e.body);
                refused
            }
            Expr::Loop(e) => {
                let refused = self.refused(e.loop_token, refuse::WHILE);
                self.loop_body(None, &e.body);
                refused
            }
            Expr::Closure(e) => self.refused(e, refuse::CLOSURE),
            Expr::Macro(e) => self.macro_call(&e.mac),
            Expr::Unsafe(e) => {
                let refused = self.refused(e.unsafe_token, refuse::UNSAFE);
                self.block(&e.block);
                refused
            }
            Expr::Let(e) => self.refused(e.let_token, refuse::IF_LET),
            Expr::Await(e) => self.refused(e.await_token, refuse::AWAIT),
            Expr::Async(e) => self.refused(e.async_token, refuse::AWAIT),
            _ => self.refused(e, refuse::EXPRESSION),
        }
    }

    fn path(&mut self, path: &ExprPath) -> TokenStream {
        match self.meaning(path) {
            Some(Meaning::Variable(renamed, _)) => {
                let mut renamed = renamed.clone();
                renamed.set_span(path.span().resolved_at(Span::mixed_site()));
                renamed.to_token_stream()
            }
            _ => self.refused(path, refuse::EXPRESSION),
        }
    }

    fn range(&mut self, range: &syn::ExprRange) -> TokenStream {
        match range.limits {
            RangeLimits::HalfOpen(dots) => self.refused(dots, refuse::RANGE),
            RangeLimits::Closed(dots) => self.refused(dots, refuse::RANGE),
        }
    }

    fn unary(&mut self, name: &str, at: Span, operand: &Expr) -> TokenStream {
        let operand = self.expr(operand);
        self.op(name, at, operand)
    }

    /// `array[index]` by `element` or `element_mut`, which give a reference.
    fn element(&mut self, function: &str, array: TokenStream, e: &ExprIndex) -> TokenStream {
        if !self.is_static(&e.index) {
            return self.refused(&e.index, refuse::DYNAMIC_INDEX);
        }
        let index = self.native(&e.index);
        let place = e.to_token_stream().to_string();
        self.op(function, e.index.span(), quote!(#array, #index, #place))
    }

    fn binary(&mut self, e: &ExprBinary) -> TokenStream {
        let at = e.op.span();
        if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) && self.is_static(&e.left) {
            // Decided while tracing, so that `i > 0 && a[i - 1] > x` never looks at `a[-1]`.
            let (left, right) = (self.native(&e.left), self.expr(&e.right));
            return match e.op {
                BinOp::And(_) => {
                    let no = self.op("lift", at, quote!(false));
                    quote!((if #left { #right } else { #no }))
                }
                _ => {
                    let yes = self.op("lift", at, quote!(true));
                    quote!((if #left { #yes } else { #right }))
                }
            };
        }
        let left = self.expr(&e.left);
        self.operator(&e.op, left, &e.right)
    }

    /// `left op right`, without the assignment of `op=`.
    fn operator(&mut self, op: &BinOp, left: TokenStream, right: &Expr) -> TokenStream {
        let name = match op {
            BinOp::Add(_) | BinOp::AddAssign(_) => "add",
            BinOp::Sub(_) | BinOp::SubAssign(_) => "sub",
            BinOp::Mul(_) | BinOp::MulAssign(_) => "mul",
            BinOp::Div(_) | BinOp::DivAssign(_) => "div",
            BinOp::Rem(_) | BinOp::RemAssign(_) => "rem",
            BinOp::And(_) => "and",
            BinOp::Or(_) => "or",
            BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => "bitand",
            BinOp::BitOr(_) | BinOp::BitOrAssign(_) => "bitor",
            BinOp::BitXor(_) | BinOp::BitXorAssign(_) => "bitxor",
            BinOp::Shl(_) | BinOp::ShlAssign(_) => "shl",
            BinOp::Shr(_) | BinOp::ShrAssign(_) => "shr",
            BinOp::Eq(_) => "eq",
            BinOp::Ne(_) => "ne",
            BinOp::Lt(_) => "lt",
            BinOp::Le(_) => "le",
            BinOp::Gt(_) => "gt",
            BinOp::Ge(_) => "ge",
            _ => return self.refused(op, refuse::EXPRESSION),
        };
        if matches!(name, "shl" | "shr") && self.is_static(right) {
            // A constant amount may be of any integer type, `usize` among them.
            let amount = self.native(right);
            return self.op(&format!("{name}_by"), op.span(), quote!(#left, #amount));
        }
        let right = self.expr(right);
        self.op(name, op.span(), quote!(#left, #right))
    }

    fn compound_assignment(&mut self, e: &ExprBinary) -> TokenStream {
        let old = if self.is_static(&e.left) { TokenStream::new() } else { self.expr(&e.left) };
        let value = self.operator(&e.op, old, &e.right);
        self.assign(&e.left, value)
    }

    fn assign(&mut self, target: &Expr, value: TokenStream) -> TokenStream {
        let new = self.scope.fresh("value", target.span());
        let target = self.place(target);
        quote!({ let #new = #value; #target = #new; })
    }

    /// The target of an assignment; the variable is noted in every open branch.
    fn place(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Paren(e) => self.place(&e.expr),
            Expr::Group(e) => self.place(&e.expr),
            Expr::Field(e) => {
                let (base, member) = (self.place(&e.base), &e.member);
                quote!((#base).#member)
            }
            Expr::Index(e) => {
                let base = self.place(&e.expr);
                let element = self.element("element_mut", quote!(&mut #base), e);
                quote!((*#element))
            }
            Expr::Path(path) => match self.meaning(path) {
                Some(&Meaning::Variable(_, number)) => {
                    for branch in &mut self.assigned {
                        branch.insert(number);
                    }
                    self.path(path)
                }
                Some(Meaning::Constant(_)) => self.refused(path, refuse::ASSIGN_CONSTANT),
                _ => match self.foreign(path) {
                    Some(message) => self.refused(path, message),
                    None => self.refused(path, refuse::ASSIGN_TARGET),
                },
            },
            _ => self.refused(e, refuse::ASSIGN_TARGET),
        }
    }

    /// The message for a name that is known from another macro expansion.
    fn foreign(&self, path: &ExprPath) -> Option<String> {
        let name = path.path.get_ident()?;
        self.scope.find(name).is_err().then(|| refuse::hygiene(&name.to_string()))
    }

    fn structure(&mut self, e: &ExprStruct) -> TokenStream {
        let path = &e.path;
        let members: Vec<&Member> = e.fields.iter().map(|field| &field.member).collect();
        let values: Vec<_> = e.fields.iter().map(|field| self.expr(&field.expr)).collect();
        let start = match &e.rest {
            Some(rest) => self.expr(rest),
            None => self.op("unset", path.span(), quote!(|| #path { #(#members: loop {}),* })),
        };
        let new = self.scope.fresh("new", Span::mixed_site());
        quote!({ let mut #new = #start; #(#new.#members = #values;)* #new })
    }
}

fn attributes(e: &Expr) -> &[syn::Attribute] {
    match e {
        Expr::Array(e) => &e.attrs,
        Expr::Assign(e) => &e.attrs,
        Expr::Binary(e) => &e.attrs,
        Expr::Block(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::Cast(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Lit(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Struct(e) => &e.attrs,
        Expr::Tuple(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        _ => &[],
    }
}

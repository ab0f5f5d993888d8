//! `if`, `match` and `for`.
//!
//! IR has no branches: on run-time data both arms run, each on copies of the older variables it
//! assigns, and then every such variable, and the value, is selected. A condition on constants is
//! an ordinary `if` that is decided while tracing; loops are ordinary loops, so tracing unrolls
//! them.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Arm, Expr, ExprForLoop, ExprIf, ExprMatch, Ident, Pat, Token};

use super::Lowering;
use crate::refuse;

/// The tokens of an arm, and which older variables it assigns.
struct Branch {
    tokens: TokenStream,
    assigns: BTreeSet<usize>,
}

impl Lowering<'_> {
    pub(super) fn conditional(&mut self, e: &ExprIf) -> TokenStream {
        if let Expr::Let(condition) = &*e.cond {
            return self.refused(condition.let_token, refuse::IF_LET);
        }
        if self.is_static(&e.cond) {
            let (condition, then) = (self.native(&e.cond), self.block(&e.then_branch));
            let otherwise = e.else_branch.as_ref().map(|(_, e)| {
                let e = self.expr(e);
                quote!(else { #e })
            });
            return quote!(if #condition { #then } #otherwise);
        }
        let condition = self.expr(&e.cond);
        let yes = self.branch(|this| this.block(&e.then_branch));
        let no = self.branch(|this| e.else_branch.as_ref().map_or(quote!(()), |(_, e)| this.expr(e)));
        self.select(e.if_token.span, condition, yes, no)
    }

    fn branch(&mut self, lower: impl FnOnce(&mut Self) -> TokenStream) -> Branch {
        let age = self.scope.age();
        self.assigned.push(BTreeSet::new());
        let tokens = lower(self);
        let assigns = self.assigned.pop().unwrap_or_default();
        Branch { tokens, assigns: assigns.into_iter().filter(|&variable| variable < age).collect() }
    }

    /// Runs both arms and selects.
    fn select(&mut self, at: Span, condition: TokenStream, yes: Branch, no: Branch) -> TokenStream {
        let variables: Vec<Ident> =
            yes.assigns.union(&no.assigns).map(|&variable| self.scope.renamed(variable).clone()).collect();
        let [test, yes_value, no_value] =
            ["condition", "yes", "no"].map(|name| self.scope.fresh(name, Span::mixed_site()));
        let mut copies = |_: &Ident| self.scope.fresh("copy", Span::mixed_site());
        let yes_copies: Vec<Ident> = variables.iter().map(&mut copies).collect();
        let no_copies: Vec<Ident> = variables.iter().map(&mut copies).collect();
        let (yes, no) = (yes.tokens, no.tokens);
        let result = self.scope.fresh("result", Span::mixed_site());
        let value = self.op("merge", at, quote!(#test, #yes_value, #no_value));
        let selects = variables.iter().zip(yes_copies.iter().zip(&no_copies)).map(|(variable, (yes, no))| {
            let selected = self.op("select", at, quote!(#test, #yes, #no));
            quote!(#variable = #selected;)
        });
        let all = quote!(
            let #test = #condition;
            let (#yes_value, #(#yes_copies,)*) =
                { #(let mut #variables = #variables;)* let #result = { #yes }; (#result, #(#variables,)*) };
            let (#no_value, #(#no_copies,)*) =
                { #(let mut #variables = #variables;)* let #result = { #no }; (#result, #(#variables,)*) };
            #(#selects)*
            #value
        );
        let placed = self.written_at(at, &all);
        quote!({ #placed })
    }

    pub(super) fn matching(&mut self, e: &ExprMatch) -> TokenStream {
        if self.is_static(&e.expr) {
            return self.static_match(e);
        }
        let scrutinee = self.scope.fresh("scrutinee", Span::mixed_site());
        let value = self.expr(&e.expr);
        let arms = self.arms(&scrutinee, &e.arms, e.match_token.span);
        quote!({ let #scrutinee = #value; #arms })
    }

    /// `matches!` is a `match`; other macros are refused.
    pub(super) fn macro_call(&mut self, call: &syn::Macro) -> TokenStream {
        if call.path.segments.last().is_none_or(|last| last.ident != "matches") {
            return self.refused(call, refuse::MACRO);
        }
        let Ok(Matches { value, pattern, guard }) = call.parse_body() else {
            // What is wrong with it, rustc says.
            return quote!(::core::unreachable!());
        };
        let guard = guard.map(|guard| quote!(if #guard));
        let at = call.path.span();
        match syn::parse2(quote_spanned!(at=> match #value { #pattern #guard => true, _ => false })) {
            Ok(e) => self.matching(&e),
            Err(_) => self.refused(call, refuse::MACRO),
        }
    }

    /// The first arm, or else the others. The last arm needs no test: rustc has checked that one of them fits.
    fn arms(&mut self, scrutinee: &Ident, arms: &[Arm], at: Span) -> TokenStream {
        let Some((arm, rest)) = arms.split_first() else { return quote!(()) };
        self.attributes(&arm.attrs);
        self.scope.open();
        let mut bindings = TokenStream::new();
        let (pattern, guard) = pattern_and_guard(arm);
        let fits = self.test(pattern, &scrutinee.to_token_stream(), &mut bindings);
        let guard = guard.map(|guard| self.expr(guard));
        let condition = match (fits, guard) {
            (Some(fits), Some(guard)) => Some(self.op("and", pattern.span(), quote!(#fits, #guard))),
            (fits, guard) => fits.or(guard),
        };
        let tokens = match condition {
            Some(condition) if !rest.is_empty() => {
                let yes = self.branch(|this| this.expr(&arm.body));
                self.scope.close();
                // The other arms do not see this arm's names.
                let no = self.branch(|this| this.arms(scrutinee, rest, at));
                self.scope.open();
                self.select(at, condition, yes, no)
            }
            _ => self.expr(&arm.body),
        };
        self.scope.close();
        quote!({ #bindings #tokens })
    }

    /// A `match` on a constant is decided while tracing.
    fn static_match(&mut self, e: &ExprMatch) -> TokenStream {
        let scrutinee = self.native(&e.expr);
        let arms: Vec<_> = e.arms.iter().map(|arm| self.static_arm(arm)).collect();
        quote!(match #scrutinee { #(#arms)* })
    }

    fn static_arm(&mut self, arm: &Arm) -> TokenStream {
        self.attributes(&arm.attrs);
        self.scope.open();
        let mut checks = TokenStream::new();
        let (pattern, guard) = pattern_and_guard(arm);
        let pattern = self.static_pattern(pattern, &mut checks);
        let guard = guard.map(|guard| {
            let guard =
                if self.is_static(guard) { self.native(guard) } else { self.refused(guard, refuse::STATIC_GUARD) };
            quote!(if #guard)
        });
        let body = self.expr(&arm.body);
        self.scope.close();
        quote!(#pattern #guard => { #checks #body })
    }

    pub(super) fn for_loop(&mut self, e: &ExprForLoop) -> TokenStream {
        let Some(iterated) = self.iterated(&e.expr) else {
            // The loop variable is known in the body, whose own errors are reported too.
            self.scope.open();
            self.static_pattern(&e.pat, &mut TokenStream::new());
            self.loop_body(label(e), &e.body);
            self.scope.close();
            return quote!(::core::unreachable!());
        };
        self.scope.open();
        let mut bindings = TokenStream::new();
        let (variable, values) = match iterated {
            Iterated::Constants(range) => (self.static_pattern(&e.pat, &mut bindings), range),
            Iterated::Elements(elements) => {
                let element = self.scope.fresh("element", e.pat.span());
                self.bind(&e.pat, &element.to_token_stream(), &mut bindings);
                (element.to_token_stream(), elements)
            }
        };
        let body = self.loop_body(label(e), &e.body);
        self.scope.close();
        let label = &e.label;
        quote!(#label for #variable in #values { #bindings #body })
    }

    pub(super) fn loop_body(&mut self, label: Option<Ident>, body: &syn::Block) -> TokenStream {
        self.loops.push((label, self.assigned.len()));
        let body = self.block(body);
        self.loops.pop();
        body
    }

    /// The sequence that a loop runs over; none, with an error, if that depends on run-time data.
    fn iterated(&mut self, e: &Expr) -> Option<Iterated> {
        match e {
            Expr::Paren(e) => self.iterated(&e.expr),
            Expr::Group(e) => self.iterated(&e.expr),
            Expr::Range(range) => {
                let bounds: Vec<&Expr> = [&range.start, &range.end].into_iter().flatten().map(|e| &**e).collect();
                if bounds.len() < 2 {
                    self.refuse(range, refuse::OPEN_RANGE);
                    return None;
                }
                let mut constant = true;
                for bound in bounds {
                    if !self.is_static(bound) {
                        self.refuse(bound, refuse::DYNAMIC_BOUND);
                        constant = false;
                    }
                }
                constant.then(|| Iterated::Constants(self.native(e)))
            }
            Expr::MethodCall(call) if matches!(call.method.to_string().as_str(), "rev" | "step_by") => {
                let receiver = self.iterated(&call.receiver)?;
                if let Some(step) = call.args.iter().find(|argument| !self.is_static(argument)) {
                    self.refuse(step, refuse::DYNAMIC_BOUND);
                    return None;
                }
                match receiver {
                    Iterated::Constants(_) => Some(Iterated::Constants(self.native(e))),
                    Iterated::Elements(_) => {
                        self.refuse(&call.method, refuse::DYNAMIC_BOUND);
                        None
                    }
                }
            }
            _ if self.is_static(e) => Some(Iterated::Constants(self.native(e))),
            _ => {
                let array = self.expr(e);
                Some(Iterated::Elements(self.op("elements", e.span(), array)))
            }
        }
    }

    /// `break` and `continue`: available where no run-time condition lies between them and their loop.
    pub(super) fn jump(&mut self, e: &Expr) -> TokenStream {
        let label = match e {
            Expr::Break(e) => {
                if let Some(value) = &e.expr {
                    return self.refused(value, refuse::BREAK_VALUE);
                }
                &e.label
            }
            Expr::Continue(e) => &e.label,
            _ => &None,
        };
        let target = self.loops.iter().rev().find(|(name, _)| match label {
            Some(label) => name.as_ref() == Some(&label.ident),
            None => true,
        });
        match target {
            Some((_, branches)) if *branches == self.assigned.len() => e.to_token_stream(),
            _ => self.refused(e, refuse::JUMP),
        }
    }
}

/// The arguments of `matches!`.
struct Matches {
    value: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Matches> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        input.parse::<Option<Token![,]>>()?;
        Ok(Matches { value, pattern, guard })
    }
}

enum Iterated {
    /// Values known while tracing.
    Constants(TokenStream),
    /// The elements of an array of run-time values.
    Elements(TokenStream),
}

/// The pattern of an arm, and its guard.
fn pattern_and_guard(arm: &Arm) -> (&Pat, Option<&Expr>) {
    match &arm.pat {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

fn label(e: &ExprForLoop) -> Option<Ident> {
    e.label.as_ref().map(|label| label.name.ident.clone())
}

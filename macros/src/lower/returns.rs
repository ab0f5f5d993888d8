//! `return`: IR has one end, so a function that returns early is rewritten to one that does not.
//!
//! `if c { return a; } b` becomes `if c { a } else { b }`: the statements behind an `if` move into
//! the arm that goes on. At most one arm may, or they would be there twice. What is left of
//! `return` after that is refused where it is lowered.

use syn::visit::Visit;
use syn::{Block, Expr, ExprBlock, ExprIf, ExprReturn, Stmt};

/// The block of a function with the returns that can be moved to its end.
pub(crate) fn to_the_end(block: &Block) -> Block {
    if !returns(block) {
        return block.clone();
    }
    Block { brace_token: block.brace_token, stmts: statements(&block.stmts) }
}

/// The same of a closure's body.
pub(crate) fn of_body(body: &Expr) -> Expr {
    match body {
        Expr::Block(e) => Expr::Block(ExprBlock { block: to_the_end(&e.block), ..e.clone() }),
        Expr::Return(ExprReturn { expr: Some(value), .. }) => of_body(value),
        _ => body.clone(),
    }
}

fn statements(stmts: &[Stmt]) -> Vec<Stmt> {
    let Some(place) = stmts.iter().position(returns_in) else { return stmts.to_vec() };
    let (before, rest) = (&stmts[..place], &stmts[place + 1..]);
    let end = match &stmts[place] {
        // What follows is never reached, as rustc says.
        Stmt::Expr(Expr::Return(ExprReturn { expr: Some(value), .. }), _) => Some(value_of(value)),
        Stmt::Expr(Expr::If(e), _) => joined(e, rest),
        Stmt::Expr(e, None) if rest.is_empty() => Some(value_of(e)),
        _ => None,
    };
    let Some(end) = end else { return stmts.to_vec() };
    before.iter().cloned().chain([Stmt::Expr(end, None)]).collect()
}

/// An expression at the end of a function.
fn value_of(e: &Expr) -> Expr {
    match e {
        Expr::Return(ExprReturn { expr: Some(value), .. }) => value_of(value),
        Expr::Paren(e) => value_of(&e.expr),
        Expr::Block(e) if e.label.is_none() => Expr::Block(ExprBlock { block: to_the_end(&e.block), ..e.clone() }),
        Expr::If(e) => joined(e, &[]).unwrap_or_else(|| Expr::If(e.clone())),
        Expr::Match(e) => {
            let mut e = e.clone();
            for arm in &mut e.arms {
                *arm.body = value_of(&arm.body);
                arm.comma.get_or_insert_with(Default::default);
            }
            Expr::Match(e)
        }
        _ => e.clone(),
    }
}

/// `if … { … } rest` as one expression; none if two of its arms go on to the rest.
fn joined(e: &ExprIf, rest: &[Stmt]) -> Option<Expr> {
    let then_branch = arm(&e.then_branch, rest)?;
    let (otherwise, goes_on) = match e.else_branch.as_ref().map(|(_, otherwise)| &**otherwise) {
        None if rest.is_empty() => return Some(Expr::If(ExprIf { then_branch, ..e.clone() })),
        None => (block_of(statements(rest)), true),
        Some(Expr::Block(block)) => {
            (Expr::Block(ExprBlock { block: arm(&block.block, rest)?, ..block.clone() }), !always_returns(&block.block))
        }
        Some(Expr::If(next)) if rest.is_empty() || returns(next) => (joined(next, rest)?, !always_leaves(next)),
        Some(other) => (block_of(followed(other.clone(), rest)), true),
    };
    if !rest.is_empty() && goes_on && !always_returns(&e.then_branch) {
        return None;
    }
    let token = e.else_branch.as_ref().map_or_else(Default::default, |(token, _)| *token);
    Some(Expr::If(ExprIf { then_branch, else_branch: Some((token, Box::new(otherwise))), ..e.clone() }))
}

/// An arm, and the rest of the function if the arm goes on to it; none if it does so on some of its ways only.
fn arm(block: &Block, rest: &[Stmt]) -> Option<Block> {
    match returns(block) {
        _ if rest.is_empty() || always_returns(block) => Some(to_the_end(block)),
        true => None,
        false => {
            let inner = Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block: block.clone() });
            Some(Block { brace_token: block.brace_token, stmts: followed(inner, rest) })
        }
    }
}

/// `e; rest`
fn followed(e: Expr, rest: &[Stmt]) -> Vec<Stmt> {
    [Stmt::Expr(e, Some(Default::default()))].into_iter().chain(statements(rest)).collect()
}

fn block_of(stmts: Vec<Stmt>) -> Expr {
    let block = Block { brace_token: Default::default(), stmts };
    Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block })
}

/// Whether a block ends in a `return` on each of its ways.
fn always_returns(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(Expr::Return(_), _)) => true,
        Some(Stmt::Expr(Expr::If(e), _)) => always_leaves(e),
        Some(Stmt::Expr(Expr::Block(e), _)) => always_returns(&e.block),
        _ => false,
    }
}

fn always_leaves(e: &ExprIf) -> bool {
    let otherwise = e.else_branch.as_ref().is_some_and(|(_, otherwise)| match &**otherwise {
        Expr::If(next) => always_leaves(next),
        Expr::Block(block) => always_returns(&block.block),
        _ => false,
    });
    always_returns(&e.then_branch) && otherwise
}

fn returns_in(stmt: &Stmt) -> bool {
    let mut search = Search(false);
    search.visit_stmt(stmt);
    search.0
}

/// Whether a `return` of this function is anywhere in it.
fn returns(part: &impl Part) -> bool {
    let mut search = Search(false);
    part.visit(&mut search);
    search.0
}

trait Part {
    fn visit(&self, search: &mut Search);
}

impl Part for Block {
    fn visit(&self, search: &mut Search) {
        search.visit_block(self);
    }
}

impl Part for ExprIf {
    fn visit(&self, search: &mut Search) {
        search.visit_expr_if(self);
    }
}

struct Search(bool);

impl<'ast> Visit<'ast> for Search {
    fn visit_expr_return(&mut self, _: &'ast ExprReturn) {
        self.0 = true;
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

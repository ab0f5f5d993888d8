//! Names: every variable of a body gets a new name in its second body.
//!
//! The new name is unique, so a branch can work on copies of the variables it assigns, and
//! generated names cannot meet the user's. Variables are told apart as rustc does: by name *and* by
//! the `macro_rules!` expansion that a name comes from. Where a name is known from another
//! expansion, the macro refuses rather than guesses.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};

/// The meaning of a name.
#[derive(Clone)]
pub(crate) enum Meaning {
    /// A value known while tracing: a loop variable, or an immutable constant.
    Constant(Ident),
    /// A run-time value, by its number.
    Variable(Ident, usize),
    /// An inner `const` item: the name stays as it is.
    Item,
}

struct Binding {
    meaning: Meaning,
    expansion: String,
}

/// A name is bound in another macro expansion than the one it is used in.
pub(crate) struct Foreign;

/// The variables in scope.
pub(crate) struct Scope {
    blocks: Vec<HashMap<String, Binding>>,
    renamed: Vec<Ident>,
}

impl Scope {
    pub(crate) fn new() -> Scope {
        Scope { blocks: vec![HashMap::new()], renamed: Vec::new() }
    }

    pub(crate) fn open(&mut self) {
        self.blocks.push(HashMap::new());
    }

    pub(crate) fn close(&mut self) {
        self.blocks.pop();
    }

    /// How many variables there are so far: numbers below it are older than what follows.
    pub(crate) fn age(&self) -> usize {
        self.renamed.len()
    }

    /// The new name of a variable.
    pub(crate) fn renamed(&self, number: usize) -> &Ident {
        &self.renamed[number]
    }

    /// A name that nothing else has.
    pub(crate) fn fresh(&mut self, base: &str, span: Span) -> Ident {
        let base = base.trim_start_matches("r#");
        let name = Ident::new(&format!("__{base}_{}", self.renamed.len()), span.resolved_at(Span::mixed_site()));
        self.renamed.push(name.clone());
        name
    }

    /// Binds a run-time variable.
    pub(crate) fn variable(&mut self, name: &Ident) -> Ident {
        let number = self.renamed.len();
        let renamed = self.fresh(&name.to_string(), name.span());
        self.bind(name, Meaning::Variable(renamed.clone(), number));
        renamed
    }

    /// Binds a value known while tracing.
    pub(crate) fn constant(&mut self, name: &Ident) -> Ident {
        let renamed = self.fresh(&name.to_string(), name.span());
        self.bind(name, Meaning::Constant(renamed.clone()));
        renamed
    }

    /// Notes an inner `const` item, which hides variables of that name.
    pub(crate) fn item(&mut self, name: &Ident) {
        self.bind(name, Meaning::Item);
    }

    fn bind(&mut self, name: &Ident, meaning: Meaning) {
        let binding = Binding { meaning, expansion: expansion(name) };
        if let Some(block) = self.blocks.last_mut() {
            block.insert(name.to_string(), binding);
        }
    }

    /// The meaning of a name here; none for a path that is no variable.
    pub(crate) fn find(&self, name: &Ident) -> Result<Option<&Meaning>, Foreign> {
        match self.blocks.iter().rev().find_map(|block| block.get(&name.to_string())) {
            Some(binding) if binding.expansion == expansion(name) => Ok(Some(&binding.meaning)),
            Some(_) => Err(Foreign),
            None => Ok(None),
        }
    }
}

/// Which macro expansion a name comes from. Stable proc macros cannot compare syntax contexts, but the debug form of a
/// span starts with one: `#4 bytes(10..13)`. A UI test fails if that ever changes.
fn expansion(name: &Ident) -> String {
    let span = format!("{:?}", name.span());
    match span.split_once(' ') {
        Some((context, _)) if context.starts_with('#') => context.to_owned(),
        _ => String::new(),
    }
}

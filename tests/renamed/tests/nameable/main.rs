//! A crate that depends on monoscan alone can name every type in the public signatures of what it
//! can name.
//!
//! The sources are read, not compiled: `tree` has the modules of the published crates, and what a
//! path in one of them names. From the root of `monoscan` on, all that public paths lead to is
//! *nameable*. Fields, variants, methods and functions of that may only name what is nameable too.
//! Hidden items (`doc(hidden)`) may name anything. Bounds are not looked at, since sealed traits
//! are meant to have no name; nor is what `macro_rules` writes.

mod tree;

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Attribute, Fields, ImplItem, Item, Signature, TraitItem, Type, Visibility};
use tree::{Definition, ModuleId, Named, Tree};

#[test]
fn every_type_in_a_public_signature_has_a_public_name() {
    let tree = Tree::of_published_crates();
    let nameable = nameable(&tree);
    assert!(nameable.len() > 150, "only {} types and traits were found", nameable.len());
    let unnamed = unnamed(&tree, &nameable);
    let lines: Vec<String> = unnamed.iter().map(|(what, whose)| format!("{what}, in {whose}")).collect();
    assert!(lines.is_empty(), "public signatures name what has no public name in `monoscan`:\n{}", lines.join("\n"));
}

#[test]
fn a_private_name_would_be_found() {
    let tree = Tree::of_published_crates();
    let mut nameable = nameable(&tree);
    let judgement = nameable.iter().find(|definition| definition.name == "Judgement").unwrap().clone();
    nameable.remove(&judgement);
    let unnamed = unnamed(&tree, &nameable);
    assert!(unnamed.iter().any(|(what, whose)| what.ends_with("::Judgement") && !whose.is_empty()));
}

/// All types and traits that have a public path from the root of `monoscan`.
fn nameable(tree: &Tree) -> BTreeSet<Definition> {
    let (mut found, mut modules, mut seen) = (BTreeSet::new(), vec![tree.root("monoscan")], BTreeSet::new());
    while let Some(module) = modules.pop() {
        if !seen.insert(module) {
            continue;
        }
        for named in tree.public(module) {
            match named {
                Named::Module(inner) => modules.push(inner),
                Named::Type(definition) => _ = found.insert(definition),
            }
        }
    }
    found
}

/// The names in public signatures that have no public name, and whose signatures.
fn unnamed(tree: &Tree, nameable: &BTreeSet<Definition>) -> BTreeMap<String, String> {
    let mut unnamed = BTreeMap::new();
    let mut check = |module: ModuleId, whose: &str, found: Paths<'_>| {
        for path in found.0 {
            if let Some(Named::Type(definition)) = tree.resolve(module, path)
                && !nameable.contains(&definition)
            {
                unnamed.insert(tree.full_name(&definition), whose.to_owned());
            }
        }
    };
    for (module, item) in tree.items() {
        let of_own = |name: &syn::Ident| nameable.contains(&Definition { module, name: name.to_string() });
        match item {
            Item::Struct(item) if of_own(&item.ident) && !is_hidden(&item.attrs) => {
                check(module, &item.ident.to_string(), fields(&item.fields, false));
            }
            Item::Enum(item) if of_own(&item.ident) && !is_hidden(&item.attrs) => {
                for variant in &item.variants {
                    check(module, &format!("{}::{}", item.ident, variant.ident), fields(&variant.fields, true));
                }
            }
            Item::Trait(item) if of_own(&item.ident) && !is_hidden(&item.attrs) => {
                for method in &item.items {
                    if let TraitItem::Fn(method) = method
                        && !is_hidden(&method.attrs)
                    {
                        let whose = format!("{}::{}", item.ident, method.sig.ident);
                        check(module, &whose, signature(&method.sig));
                    }
                }
            }
            Item::Impl(item) if item.trait_.is_none() => {
                let Type::Path(of) = &*item.self_ty else { continue };
                let Some(Named::Type(of)) = tree.resolve(module, &of.path) else { continue };
                for method in item.items.iter().filter(|_| nameable.contains(&of)) {
                    if let ImplItem::Fn(method) = method
                        && is_public(&method.vis)
                        && !is_hidden(&method.attrs)
                    {
                        check(module, &format!("{}::{}", of.name, method.sig.ident), signature(&method.sig));
                    }
                }
            }
            _ => {}
        }
    }
    unnamed
}

/// The paths of types in a signature.
#[derive(Default)]
struct Paths<'a>(Vec<&'a syn::Path>);

impl<'a> Visit<'a> for Paths<'a> {
    fn visit_type_path(&mut self, path: &'a syn::TypePath) {
        if path.qself.is_none() {
            self.0.push(&path.path);
        }
        syn::visit::visit_type_path(self, path);
    }
}

fn fields(fields: &Fields, are_public: bool) -> Paths<'_> {
    let mut paths = Paths::default();
    let seen = fields.iter().filter(|field| (are_public || is_public(&field.vis)) && !is_hidden(&field.attrs));
    seen.for_each(|field| paths.visit_type(&field.ty));
    paths
}

fn signature(signature: &Signature) -> Paths<'_> {
    let mut paths = Paths::default();
    signature.inputs.iter().for_each(|input| paths.visit_fn_arg(input));
    paths.visit_return_type(&signature.output);
    paths
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    })
}

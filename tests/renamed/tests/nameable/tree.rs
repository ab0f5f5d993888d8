//! The modules of the published crates, as their sources have them, and what paths in them name.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, UseTree, Visibility};

/// The crates and the directories of their sources.
const CRATES: [(&str, &str); 4] = [
    ("monoscan", "src"),
    ("monoscan_ir", "ir/src"),
    ("monoscan_codegen", "codegen/src"),
    ("monoscan_runtime", "runtime/src"),
];

/// The number of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleId(usize);

/// A type or a trait, where it is defined.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Definition {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
}

/// The item that a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    Module(ModuleId),
    Type(Definition),
}

/// All modules.
pub(crate) struct Tree {
    modules: Vec<Module>,
    roots: HashMap<&'static str, ModuleId>,
}

struct Module {
    /// Its path from the crate on.
    path: String,
    parent: Option<ModuleId>,
    root: ModuleId,
    items: Vec<Item>,
    inner: Vec<(String, bool, ModuleId)>,
    imports: Vec<Import>,
}

/// A name that a `use` brings; none for all names of a module.
struct Import {
    name: Option<String>,
    path: Vec<String>,
    is_public: bool,
}

impl Tree {
    pub(crate) fn of_published_crates() -> Tree {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut tree = Tree { modules: Vec::new(), roots: HashMap::new() };
        for (name, sources) in CRATES {
            let file = repository.join(sources).join("lib.rs");
            let root = tree.add(name.to_owned(), None, read(&file), &repository.join(sources));
            tree.roots.insert(name, root);
        }
        tree
    }

    pub(crate) fn root(&self, name: &str) -> ModuleId {
        self.roots[name]
    }

    /// All items, with their modules.
    pub(crate) fn items(&self) -> impl Iterator<Item = (ModuleId, &Item)> {
        let modules = self.modules.iter().enumerate();
        modules.flat_map(|(number, module)| module.items.iter().map(move |item| (ModuleId(number), item)))
    }

    pub(crate) fn full_name(&self, definition: &Definition) -> String {
        format!("{}::{}", self.modules[definition.module.0].path, definition.name)
    }

    /// The items that a module gives to all code that can name it.
    pub(crate) fn public(&self, module: ModuleId) -> Vec<Named> {
        let Module { items, inner, imports, .. } = &self.modules[module.0];
        let types = items.iter().filter_map(defined).filter(|(_, visibility)| is_public(visibility));
        let mut named: Vec<Named> =
            types.map(|(name, _)| Named::Type(Definition { module, name: name.to_string() })).collect();
        named.extend(inner.iter().filter(|(_, is_public, _)| *is_public).map(|&(_, _, inner)| Named::Module(inner)));
        for import in imports.iter().filter(|import| import.is_public) {
            match (self.follow(module, &import.path, 0), &import.name) {
                (Some(Named::Module(from)), None) => named.extend(self.public(from)),
                (found, Some(_)) => named.extend(found),
                _ => {}
            }
        }
        named
    }

    /// The item that a path in a module names; none if it is not of these crates, and for generic parameters.
    pub(crate) fn resolve(&self, module: ModuleId, path: &syn::Path) -> Option<Named> {
        let path: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.follow(module, &path, 0)
    }

    /// `depth` ends circles of globs.
    fn follow(&self, module: ModuleId, path: &[String], depth: usize) -> Option<Named> {
        let (first, rest) = path.split_first()?;
        let Module { parent, root, .. } = &self.modules[module.0];
        let mut named = match &**first {
            "crate" => Named::Module(*root),
            "self" => Named::Module(module),
            "super" => Named::Module((*parent)?),
            name => self.name(module, name, depth).or_else(|| Some(Named::Module(*self.roots.get(name)?)))?,
        };
        for name in rest {
            let Named::Module(inner) = named else { return Some(named) };
            named = if name == "super" {
                Named::Module(self.modules[inner.0].parent?)
            } else {
                self.name(inner, name, depth)?
            };
        }
        Some(named)
    }

    /// The item that a name in a module stands for.
    fn name(&self, module: ModuleId, name: &str, depth: usize) -> Option<Named> {
        if depth > 12 {
            return None;
        }
        let Module { items, inner, imports, .. } = &self.modules[module.0];
        if items.iter().filter_map(defined).any(|(ident, _)| ident == name) {
            return Some(Named::Type(Definition { module, name: name.to_owned() }));
        }
        if let Some(&(_, _, inner)) = inner.iter().find(|(known, ..)| known == name) {
            return Some(Named::Module(inner));
        }
        let of_name = imports.iter().filter(|import| import.name.as_deref() == Some(name));
        let named = of_name.filter(|import| import.path != [name]).map(|import| &import.path);
        let mut named = named.filter_map(|path| self.follow(module, path, depth + 1));
        let globs = imports.iter().filter(|import| import.name.is_none());
        let mut globs = globs.filter_map(|import| match self.follow(module, &import.path, depth + 1)? {
            Named::Module(from) => self.name(from, name, depth + 1),
            Named::Type(_) => None,
        });
        named.next().or_else(|| globs.next())
    }

    /// Adds a module and those in it; `directory` is where the files of those are.
    fn add(
        &mut self,
        path: String,
        parent: Option<(ModuleId, ModuleId)>,
        items: Vec<Item>,
        directory: &Path,
    ) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let (parent, root) = parent.map_or((None, id), |(parent, root)| (Some(parent), root));
        let imports = items.iter().filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
        let imports = imports.flat_map(|item| {
            let mut found = Vec::new();
            leaves(&item.tree, &mut Vec::new(), is_public(&item.vis), &mut found);
            found
        });
        let imports: Vec<Import> = imports.collect();
        let (modules, items): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| matches!(item, Item::Mod(_)));
        self.modules.push(Module { path: path.clone(), parent, root, items, inner: Vec::new(), imports });
        for item in modules {
            let Item::Mod(item) = item else { continue };
            if is_test(&item.attrs) {
                continue;
            }
            let name = item.ident.to_string();
            let (items, inside) = match item.content {
                Some((_, items)) => (items, directory.join(&name)),
                None => (read(&file(directory, &name)), directory.join(&name)),
            };
            let inner = self.add(format!("{path}::{name}"), Some((id, root)), items, &inside);
            self.modules[id.0].inner.push((name, is_public(&item.vis), inner));
        }
        id
    }
}

fn file(directory: &Path, name: &str) -> PathBuf {
    let flat = directory.join(format!("{name}.rs"));
    if flat.exists() { flat } else { directory.join(name).join("mod.rs") }
}

fn read(file: &Path) -> Vec<Item> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())).items
}

/// The name of a type or trait that an item defines.
fn defined(item: &Item) -> Option<(&syn::Ident, &Visibility)> {
    match item {
        Item::Struct(item) => Some((&item.ident, &item.vis)),
        Item::Enum(item) => Some((&item.ident, &item.vis)),
        Item::Trait(item) => Some((&item.ident, &item.vis)),
        Item::Type(item) => Some((&item.ident, &item.vis)),
        Item::Union(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

/// The names that a `use` brings.
fn leaves(tree: &UseTree, path: &mut Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            leaves(&tree.tree, path, is_public, found);
            path.pop();
        }
        UseTree::Name(tree) if tree.ident == "self" => {
            found.push(Import { name: path.last().cloned(), path: path.clone(), is_public });
        }
        UseTree::Name(tree) => {
            let (name, path) = (tree.ident.to_string(), [&path[..], &[tree.ident.to_string()]].concat());
            found.push(Import { name: Some(name), path, is_public });
        }
        UseTree::Rename(tree) => {
            let (name, path) = (tree.rename.to_string(), [&path[..], &[tree.ident.to_string()]].concat());
            found.push(Import { name: Some(name), path, is_public });
        }
        UseTree::Glob(_) => found.push(Import { name: None, path: path.clone(), is_public }),
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| leaves(tree, path, is_public, found)),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

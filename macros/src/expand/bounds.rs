//! Bounds of type parameters: `T: Add<Output = T>` is enough for Rust, but says nothing of how `T`
//! is compiled.

use proc_macro2::{Ident, TokenStream};
use syn::{GenericParam, Generics, Path, Type, TypeParamBound, WherePredicate, parse_quote};

use super::last_name;
use crate::refuse::{self, Errors, refuse};

/// Refuses type parameters that have bounds of operators and no bound that could be monoscan's. For the rest of the
/// expansion such a parameter gets the bound that was meant, so that this is the only error.
pub(crate) fn check(generics: &mut Generics, krate: &TokenStream, errors: &mut Errors) {
    let names: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    for name in names {
        let bounds: Vec<Path> = of(&name, generics);
        let kinds: Vec<Kind> = bounds.iter().map(Kind::of).collect();
        let Some(first) = kinds.iter().position(|kind| matches!(kind, Kind::Operator(_))) else { continue };
        if kinds.contains(&Kind::Unknown) {
            continue;
        }
        let needs = |wanted| kinds.contains(&Kind::Operator(wanted));
        let wanted = ["Int", "Num", "Scalar"].into_iter().find(|wanted| needs(wanted)).unwrap_or("Num");
        let found = &bounds[first];
        refuse(errors, found, refuse::bound(&name.to_string(), &last_name(found), wanted));
        let wanted = Ident::new(wanted, name.span());
        generics.make_where_clause().predicates.push(parse_quote!(#name: #krate::lang::#wanted));
    }
}

/// The traits that a parameter has, wherever they are written.
fn of(name: &Ident, generics: &Generics) -> Vec<Path> {
    let inline = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) if parameter.ident == *name => Some(&parameter.bounds),
        _ => None,
    });
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let apart = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            Type::Path(path) if path.path.is_ident(name) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    let bounds = inline.chain(apart).flatten();
    let traits = bounds.filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(bound.path.clone()),
        _ => None,
    });
    traits.collect()
}

#[derive(PartialEq)]
enum Kind {
    /// A trait of an operator, and the trait of scan code that has it.
    Operator(&'static str),
    /// One that has no operators.
    Neutral,
    /// Perhaps a trait of the user's own, which may have a trait of scan code above it.
    Unknown,
}

impl Kind {
    fn of(path: &Path) -> Kind {
        match last_name(path).as_str() {
            "Add" | "Sub" | "Mul" | "Div" | "Neg" | "AddAssign" | "SubAssign" | "MulAssign" | "DivAssign" => {
                Kind::Operator("Num")
            }
            "Rem" | "BitAnd" | "BitOr" | "BitXor" | "Not" | "Shl" | "Shr" | "RemAssign" | "BitAndAssign"
            | "BitOrAssign" | "BitXorAssign" | "ShlAssign" | "ShrAssign" => Kind::Operator("Int"),
            "PartialOrd" | "Ord" => Kind::Operator("Scalar"),
            "Copy" | "Clone" | "Default" | "Debug" | "Display" | "Send" | "Sync" | "PartialEq" | "Eq" | "Hash"
            | "ScanType" | "Sized" | "From" | "Into" => Kind::Neutral,
            _ => Kind::Unknown,
        }
    }
}

//! Possessive repetitions, as in `a++`: they match as greedy ones do, but give nothing back where
//! what follows does not match.
//!
//! A possessive repetition means the same as the greedy one where giving back could not help.
//! There are three such cases, and any other is refused:
//!
//! - What follows may be empty, so it matches where the repetition ends first.
//! - The repetition matches in one way only, as `\d{3}+` does.
//! - One class is repeated, and none of its characters begins what follows. Behind fewer
//!   repetitions comes such a character, so what follows does not match there.
//!
//! regex-syntax knows no possessive repetitions: it takes `a++` for `(?:a+)+`. In its syntax tree
//! the two differ, and here the former becomes a group with a name that nobody can write.

use regex_syntax::ast::{self, Ast, RepetitionKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

/// The name of groups that hold a possessive repetition.
const NAME: &str = "+";

/// A repetition of a repetition that is no possessive one, as in `a{2}*`.
pub(super) struct Repeated;

/// A possessive repetition that is not known to be the same as the greedy one.
pub(super) struct GivesBack;

/// Puts each possessive repetition into a group, in place of the outer of two repetitions.
pub(super) fn group(ast: &mut Ast) -> Result<(), Repeated> {
    match ast {
        Ast::Repetition(outer) => match &mut *outer.ast {
            Ast::Repetition(inner) => {
                let is_possessive = matches!(outer.op.kind, RepetitionKind::OneOrMore) && outer.greedy && inner.greedy;
                if !is_possessive || matches!(*inner.ast, Ast::Repetition(_)) {
                    return Err(Repeated);
                }
                group(&mut inner.ast)?;
                let name = ast::CaptureName { span: outer.span, name: NAME.to_owned(), index: 0 };
                let kind = ast::GroupKind::CaptureName { starts_with_p: true, name };
                *ast = Ast::group(ast::Group { span: outer.span, kind, ast: outer.ast.clone() });
                Ok(())
            }
            repeated => group(repeated),
        },
        Ast::Group(of) => group(&mut of.ast),
        Ast::Concat(of) => of.asts.iter_mut().try_for_each(group),
        Ast::Alternation(of) => of.asts.iter_mut().try_for_each(group),
        _ => Ok(()),
    }
}

/// The beginning of what may follow a place of a regex.
#[derive(Clone)]
struct Follows {
    /// The characters that it may begin with.
    first: ClassUnicode,
    /// Whether it may be empty, whatever comes in the text.
    may_be_empty: bool,
}

/// Whether each possessive repetition of an alternative is the same as the greedy one.
pub(super) fn are_greedy(alternative: &Hir) -> Result<(), GivesBack> {
    check(alternative, &Follows { first: ClassUnicode::empty(), may_be_empty: true })
}

fn check(regex: &Hir, behind: &Follows) -> Result<(), GivesBack> {
    match regex.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(Look::End) => Ok(()),
        HirKind::Look(_) => Err(GivesBack),
        HirKind::Repetition(of) if of.max.is_some_and(|max| max <= 1) => check(&of.sub, behind),
        HirKind::Repetition(of) => {
            // Behind one comes another, or what is behind them all; where at least two are needed, not always at once.
            let start = Follows::of(&of.sub);
            let mut between = behind.clone();
            between.first.union(&start.first);
            between.may_be_empty &= of.min < 2 || start.may_be_empty;
            check(&of.sub, &between)
        }
        HirKind::Capture(of) if of.name.as_deref() == Some(NAME) && !is_greedy(&of.sub, behind) => Err(GivesBack),
        HirKind::Capture(of) => check(&of.sub, behind),
        HirKind::Concat(of) => {
            let mut behind = behind.clone();
            for part in of.iter().rev() {
                check(part, &behind)?;
                behind = Follows::of(part).then(&behind);
            }
            Ok(())
        }
        HirKind::Alternation(of) => of.iter().try_for_each(|part| check(part, behind)),
    }
}

/// Whether a possessive repetition is the same as the greedy one.
fn is_greedy(possessive: &Hir, behind: &Follows) -> bool {
    let HirKind::Repetition(of) = possessive.kind() else {
        // The parser has left out what repeats nothing, and what is there once.
        return behind.may_be_empty || is_character(possessive) || possessive.properties().maximum_len() == Some(0);
    };
    let mut common = first_of(&of.sub);
    common.intersect(&behind.first);
    let in_vain = common.ranges().is_empty();
    of.greedy && (behind.may_be_empty || is_character(&of.sub) && (of.max == Some(of.min) || in_vain))
}

fn is_character(regex: &Hir) -> bool {
    match regex.kind() {
        HirKind::Literal(of) => str::from_utf8(&of.0).is_ok_and(|text| text.chars().count() == 1),
        HirKind::Class(_) => true,
        _ => false,
    }
}

/// The characters that a literal or a class begins with; none for other regexes.
fn first_of(regex: &Hir) -> ClassUnicode {
    match regex.kind() {
        HirKind::Literal(of) => {
            let first = str::from_utf8(&of.0).ok().and_then(|text| text.chars().next());
            ClassUnicode::new(first.map(|first| ClassUnicodeRange::new(first, first)))
        }
        HirKind::Class(Class::Unicode(of)) => of.clone(),
        HirKind::Class(Class::Bytes(of)) => of.to_unicode_class().unwrap_or_else(ClassUnicode::empty),
        _ => ClassUnicode::empty(),
    }
}

impl Follows {
    /// The beginning of a regex.
    fn of(regex: &Hir) -> Follows {
        let nothing = Follows { first: ClassUnicode::empty(), may_be_empty: true };
        match regex.kind() {
            HirKind::Empty => nothing,
            HirKind::Literal(_) | HirKind::Class(_) => Follows { first: first_of(regex), may_be_empty: false },
            // Only where no character follows.
            HirKind::Look(_) => Follows { may_be_empty: false, ..nothing },
            HirKind::Repetition(of) if of.max == Some(0) => nothing,
            HirKind::Repetition(of) => {
                let one = Follows::of(&of.sub);
                Follows { may_be_empty: one.may_be_empty || of.min == 0, ..one }
            }
            HirKind::Capture(of) => Follows::of(&of.sub),
            HirKind::Concat(of) => of.iter().rev().fold(nothing, |behind, part| Follows::of(part).then(&behind)),
            HirKind::Alternation(of) => {
                let mut all = Follows { may_be_empty: false, ..nothing };
                for part in of.iter().map(Follows::of) {
                    all.first.union(&part.first);
                    all.may_be_empty |= part.may_be_empty;
                }
                all
            }
        }
    }

    /// The beginning of this and what is behind it.
    fn then(mut self, behind: &Follows) -> Follows {
        if self.may_be_empty {
            self.first.union(&behind.first);
            self.may_be_empty = behind.may_be_empty;
        }
        self
    }
}

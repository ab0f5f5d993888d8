//! Repetitions that have a meaning where a search stops early, and none where the longest match
//! wins or all matches are found: lazy and possessive ones.

use regex_syntax::ast::{self, Ast, Flag, FlagsItemKind, RepetitionKind, Visitor, parse::Parser};

/// A part of a regex that has a meaning in others, but none where the longest match wins.
pub(in crate::lexer) enum Meaningless {
    /// A lazy repetition, or the flag that makes repetitions lazy.
    Lazy,
    /// A `+` behind a repetition without a group between them: elsewhere `a++` is a possessive one. What else repeats a repetition has
    /// one meaning: `a{2}{3}` is `a{6}`.
    Repeated,
}

/// Where a regex, which parses, has the first such thing.
pub(in crate::lexer) fn meaningless(pattern: &str) -> Option<(usize, Meaningless)> {
    struct Search;

    impl Visitor for Search {
        type Output = ();
        type Err = (usize, Meaningless);

        fn finish(self) -> Result<(), Self::Err> {
            Ok(())
        }

        fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
            let flags = match ast {
                Ast::Repetition(repetition) => {
                    let offset = repetition.op.span.start.offset;
                    return match &*repetition.ast {
                        _ if !repetition.greedy => Err((offset, Meaningless::Lazy)),
                        Ast::Repetition(_) if repetition.op.kind == RepetitionKind::OneOrMore => {
                            Err((offset, Meaningless::Repeated))
                        }
                        _ => Ok(()),
                    };
                }
                Ast::Flags(set) => Some(&set.flags),
                Ast::Group(group) => group.flags(),
                _ => None,
            };
            let swap = |item: &&ast::FlagsItem| item.kind == FlagsItemKind::Flag(Flag::SwapGreed);
            let flags = flags.filter(|flags| flags.flag_state(Flag::SwapGreed) == Some(true));
            match flags.and_then(|flags| flags.items.iter().find(swap)) {
                Some(item) => Err((item.span.start.offset, Meaningless::Lazy)),
                None => Ok(()),
            }
        }
    }

    let ast = Parser::new().parse(pattern).ok()?;
    ast::visit(&ast, Search).err()
}

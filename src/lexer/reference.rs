//! The reference of tests: the textbook's maximal munch of `scan_kit`, for [`Rules`].

use scan_kit::munch;

use super::rules::{Role, Rules};
use super::{Kind, Token};

pub(super) struct Reference(munch::Reference);

impl Reference {
    pub(super) fn new(rules: &Rules) -> Reference {
        let role = |role| match role {
            Role::Keyword => munch::Role::Keyword,
            Role::Incomplete { of } => munch::Role::Incomplete(of),
            Role::Token | Role::Skip => munch::Role::Token,
        };
        let rules: Vec<_> = rules.iter().map(|rule| (rule.pattern(), role(rule.role()))).collect();
        Reference(munch::Reference::new(&rules))
    }

    pub(super) fn tokens(&self, text: &[u8]) -> Vec<Token> {
        let token = |(kind, start, end): munch::Piece| Token { start, end, kind: kind.map_or(Kind::Error, Kind::Rule) };
        self.0.pieces(text).into_iter().map(token).collect()
    }
}

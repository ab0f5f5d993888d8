//! A text's tokens as one dense list, which one scan writes: it labels bytes, keeps those that end
//! a token and counts them, all in one pass over the text.

use super::gather::{Kind, Skips, Token};
use super::program::CODE_BITS;
use super::restart::ERROR;
use super::rules::Rules;

/// The tokens of a text: 8 bytes for each, and for each byte that no rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenList {
    /// For each token its end and its code.
    endings: Vec<u64>,
    /// Bit k: tokens of code k are skipped.
    skipped: u128,
    /// Codes below it mean rules; the others, errors.
    rules: u8,
}

impl TokenList {
    pub(super) fn new(endings: Vec<u64>, rules: &Rules) -> TokenList {
        let skipped = (0..).zip(rules.iter()).filter(|(_, rule)| rule.is_skip()).fold(0, |set, (i, _)| set | 1 << i);
        TokenList { endings, skipped, rules: rules.len() as u8 }
    }

    /// The tokens from left to right. Each maximal run of bytes that no rule matches is one token.
    pub fn iter(&self, skips: Skips) -> impl Iterator<Item = Token> + '_ {
        let dropped = if skips == Skips::Drop { self.skipped } else { 0 };
        let code = |ending: u64| ending as u8;
        let runs = self.endings.chunk_by(move |&a, &b| code(a) == ERROR && code(b) == ERROR);
        let mut start = 0;
        let tokens = runs.map(move |run| {
            let last = run[run.len() - 1];
            let end = (last >> CODE_BITS) as usize;
            let kind = if code(last) < self.rules { Kind::Rule(code(last)) } else { Kind::Error };
            let start = std::mem::replace(&mut start, end);
            (code(last), Token { start, end, kind })
        });
        tokens.filter(move |(code, _)| dropped >> code & 1 == 0).map(|(_, token)| token)
    }
}

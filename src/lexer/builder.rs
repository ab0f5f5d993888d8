//! A lexer from calls, rule by rule.

use super::rules::{Reader, Role};
use super::{Lexer, LexerError};

/// Builds a [`Lexer`] rule by rule, in order of precedence.
///
/// ```
/// use monoscan::lexer::Lexer;
///
/// let lexer = Lexer::builder()
///     .token("NAME", r"[a-z]+")
///     .token("NUMBER", r"[0-9]+([.][0-9]+)?")
///     .token("RANGE", r"[.][.]")
///     .keyword("if")
///     .skip("SPACE", r"[ \n]+")
///     .build()?;
/// let text = b"if x 1..2";
/// let tokens = lexer.lex(text)?;
/// let names: Vec<&str> = tokens.iter().map(|token| lexer.rules().name(token.kind)).collect();
/// assert_eq!(names, ["if", "NAME", "NUMBER", "RANGE", "NUMBER"]);
/// # Ok::<(), monoscan::lexer::LexerError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LexerBuilder {
    reader: Reader,
}

impl LexerBuilder {
    /// A kind of token.
    pub fn token(mut self, name: &str, regex: &str) -> LexerBuilder {
        self.reader.call_rule(Role::Token, name, regex);
        self
    }

    /// A kind of token that is left out.
    pub fn skip(mut self, name: &str, regex: &str) -> LexerBuilder {
        self.reader.call_rule(Role::Skip, name, regex);
        self
    }

    /// A word that is a kind of its own, and goes by its own name. It wins against every other rule that matches it.
    pub fn keyword(mut self, word: &str) -> LexerBuilder {
        self.reader.call_keyword(word);
        self
    }

    /// A text that is no token but begins one of any rule is a token of the kind `prefix` + the rule's name; of several rules, of
    /// the earliest.
    ///
    /// ```
    /// use monoscan::lexer::Lexer;
    ///
    /// let lexer = Lexer::builder().token("STRING", "\"[^\"]*\"").incomplete("OPEN_").build()?;
    /// let open = lexer.lex(b"\"abc")?.iter().next().unwrap(); // no quote at the end
    /// assert_eq!(lexer.rules().name(open.kind), "OPEN_STRING");
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    pub fn incomplete(self, prefix: &str) -> LexerBuilder {
        self.incomplete_of(prefix, &[])
    }

    /// [`incomplete`](LexerBuilder::incomplete) for tokens of these rules only.
    pub fn incomplete_of(mut self, prefix: &str, rules: &[&str]) -> LexerBuilder {
        self.reader.call_incomplete(prefix, rules);
        self
    }

    /// Refuses rules of which one shadows another, [by a rule that is no keyword](super::Shadowed), or matches no text.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, LexerError};
    ///
    /// let rules = || Lexer::builder().token("NAME", "[a-z]+").token("IF", "if");
    /// assert!(rules().build().is_ok());
    /// assert!(matches!(rules().strict_ties().build(), Err(LexerError::Shadowed { .. })));
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    pub fn strict_ties(mut self) -> LexerBuilder {
        self.reader.strict_ties();
        self
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// [`LexerError::Rules`] with all faults of the rules; those of [`Lexer::new`].
    pub fn build(self) -> Result<Lexer, LexerError> {
        Lexer::new(self.reader.finish_calls()?)
    }
}

use monoscan::lexer::TokenKind;

#[derive(Clone, Copy, PartialEq, TokenKind)]
struct NotAnEnum;

#[derive(Clone, Copy, PartialEq, TokenKind)]
enum Generic<T> {
    #[token("a")]
    A(T),
    #[error]
    Error,
}

#[derive(Clone, Copy, PartialEq, TokenKind)]
enum Mistakes {
    NoRule,
    #[token("a")]
    #[skip("b")]
    TwoRules,
    #[token]
    NoRegex,
    #[skip("")]
    EmptyRegex,
    #[keyword]
    NoWords,
    #[keyword("a", "")]
    EmptyWord,
    #[incomplete(Missing)]
    OfNone,
    #[error = "what"]
    Error,
}

#[derive(Clone, Copy, PartialEq, TokenKind)]
enum Text {
    #[token("'[^']*'")]
    Text,
    #[incomplete(Text)]
    Open,
    #[incomplete(Text)]
    OpenAgain,
    #[error]
    Error,
    #[error]
    Second,
}

#[derive(Clone, Copy, PartialEq, TokenKind)]
enum NoError {
    #[token("a")]
    A,
}

#[derive(Clone, Copy, PartialEq, TokenKind)]
enum NoRules {
    #[error]
    Error,
}

#[derive(Clone, Copy, PartialEq, TokenKind)]
#[token_kind(strict)]
enum UnknownOption {
    #[token("a")]
    A,
    #[error]
    Error,
}

#[derive(PartialEq, TokenKind)]
enum NotCopy {
    #[token("a")]
    A,
    #[error]
    Error,
}

fn main() {}

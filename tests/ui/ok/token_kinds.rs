#![forbid(unsafe_code)]

use monoscan::lexer::{KindList, TokenKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
#[repr(u8)]
pub enum Kind {
    /// A word.
    #[token("[a-z]+")]
    r#Word = 7,
    #[keyword("if", "else")]
    Branch,
    #[token(r#"'[^']*'"#)]
    Text,
    #[incomplete(Text)]
    Open,
    #[skip("[ ]+")]
    Space,
    #[error]
    Error,
}

mod renamed {
    pub mod inner {
        pub use monoscan::*;
    }

    #[derive(Clone, Copy, PartialEq, monoscan::lexer::TokenKind)]
    #[token_kind(crate = crate::renamed::inner, strict_ties)]
    pub enum One {
        #[keyword("one")]
        One,
        #[error]
        Error,
    }
}

fn main() {
    let tokens: KindList<Kind> = Kind::lexer().unwrap().lex(b"if x").unwrap();
    assert_eq!(tokens.kinds(), [Kind::Branch, Kind::Word]);
    let _ = renamed::One::lexer();
}

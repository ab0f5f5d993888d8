//! Labels: what is said of each byte of a text.

use monoscan_ir::{Constant, Table, Type};

use super::dfa::RuleIndex;

/// The most rules that labels can tell apart: a kind and a flag share one byte.
pub const MAX_LABELLED_RULES: usize = 120;

/// In a label: the token, or the error byte, ends here. The other bits are its rule's index, or [`ERROR`].
pub const ENDS: u8 = 0x80;

/// In a label: the kind of bytes that no rule matches.
pub const ERROR: u8 = 0x7f;

/// In a label: a byte that is no token yet. Never together with [`ENDS`].
pub const PENDING: u8 = 0x7e;

/// How labels are numbers: of one byte, as [`Lexer::labels`](super::Lexer::labels) gives them, or of two where there are more
/// kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codes {
    Byte,
    Wide,
}

impl Codes {
    /// Those for so many kinds.
    pub(super) fn of(kinds: usize) -> Codes {
        if kinds <= MAX_LABELLED_RULES { Codes::Byte } else { Codes::Wide }
    }

    /// The flag that something ends.
    pub(super) fn ends(self) -> u16 {
        match self {
            Codes::Byte => u16::from(ENDS),
            Codes::Wide => 0x8000,
        }
    }

    /// The code of bytes that no rule matches.
    pub(super) fn error(self) -> u16 {
        self.ends() - 1
    }

    /// The label of a byte that goes on.
    pub(super) fn goes_on(self, accept: Option<RuleIndex>) -> u16 {
        accept.unwrap_or(self.ends() - 2)
    }

    /// The label of a byte with which something ends.
    pub(super) fn ended(self, accept: Option<RuleIndex>) -> u16 {
        self.ends() | accept.unwrap_or(self.error())
    }

    /// The type of a label.
    pub(super) fn ty(self) -> Type {
        match self {
            Codes::Byte => Type::U8,
            Codes::Wide => Type::U16,
        }
    }
}

/// Numbers as a table of this type.
pub(super) fn table(numbers: &[u16], ty: Type) -> Table {
    Table::new(ty, numbers.iter().map(|&number| Constant::from(number)))
}

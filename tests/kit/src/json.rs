//! Two automata of 16 states that read JSON, by their moves: where a byte leads from a state.

/// The kind of the byte behind a move, as [`tokens`] names it; 0 before any byte.
const IN_STRING: u8 = 1;
const BACKSLASH: u8 = 2;
const CLOSING_QUOTE: u8 = 3;
const INTEGER: u8 = 4;
const FRACTION: u8 = 5;
const EXPONENT: u8 = 6;
const WORD: u8 = 7;
const OPENING: u8 = 8;
const CLOSING: u8 = 9;
const COLON: u8 = 10;
const COMMA: u8 = 11;
const OTHER: u8 = 12;
const BLANK: u8 = 13;
const UNICODE_ESCAPE: u8 = 14;

/// Names the token that each byte is part of. Most bytes lead to one state from all states outside of strings, so that few maps come of
/// them: 138 of 15 input symbols. State 15 is not used.
pub fn tokens(state: u8, byte: u8) -> u8 {
    match (state, byte) {
        (IN_STRING | UNICODE_ESCAPE, b'"') => CLOSING_QUOTE,
        (IN_STRING | UNICODE_ESCAPE, b'\\') => BACKSLASH,
        (BACKSLASH, b'u') => UNICODE_ESCAPE,
        (IN_STRING | UNICODE_ESCAPE | BACKSLASH, _) | (_, b'"') => IN_STRING,
        (FRACTION | EXPONENT, b'0'..=b'9') | (EXPONENT, b'+' | b'-') | (INTEGER, b'.') => FRACTION,
        (INTEGER | FRACTION | EXPONENT, b'e' | b'E') => EXPONENT,
        (WORD, b'0'..=b'9') | (_, b'a'..=b'z' | b'A'..=b'Z') => WORD,
        (_, b'0'..=b'9' | b'-') => INTEGER,
        (_, b'{' | b'[') => OPENING,
        (_, b'}' | b']') => CLOSING,
        (_, b':') => COLON,
        (_, b',') => COMMA,
        (_, b' ' | b'\t' | b'\r' | b'\n') => BLANK,
        _ => OTHER,
    }
}

/// Follows numbers by JSON's grammar: 0 between tokens, 1 in a string, 2 behind a backslash, 3 to 6 among four hexadecimal
/// digits, 7 to 14 in a number, 15 in a word. Of its 12 input symbols come 29,523 maps.
pub fn numbers(state: u8, byte: u8) -> u8 {
    let outside = match byte {
        b'"' => 1,
        b'-' => 7,
        b'0' => 8,
        b'1'..=b'9' => 9,
        b'a'..=b'z' => 15,
        _ => 0,
    };
    match (state, byte) {
        (1, b'"') => 0,
        (1, b'\\') => 2,
        (1, _) => 1,
        (2, b'u') => 3,
        (2, _) | (6, _) => 1,
        (3..=5, _) => state + 1,
        (7, b'0') => 8,
        (7 | 9, b'0'..=b'9') => 9,
        (8 | 9, b'.') => 10,
        (10 | 11, b'0'..=b'9') => 11,
        (8 | 9 | 11, b'e' | b'E') => 12,
        (12, b'+' | b'-') => 13,
        (12..=14, b'0'..=b'9') => 14,
        _ => outside,
    }
}

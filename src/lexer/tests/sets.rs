//! Rule sets of every kind, with texts that they are made for.

use super::super::{C, CSV, JSON, RUST};

/// A rule set.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) rules: &'static str,
    /// Pieces of texts, cut and joined by tests.
    pub(super) text: &'static str,
}

macro_rules! set {
    ($name:literal, $rules:expr, $text:literal) => {
        Set { name: $name, rules: $rules, text: $text }
    };
}

pub(super) const SETS: [Set; 13] = [
    set!(
        "json",
        JSON,
        r#"{"name": [1, -2.5e+3, true, null, "m\u00e9\\ \"x"], "": {"abcdefghijklmnopqrstuvwxyz": 0.}} nul 1.e"#
    ),
    set!(
        "json without incomplete forms",
        r#"
            PUNCTUATION [{}\[\]:,]
            STRING      "([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"
            NUMBER      -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
            WORD        true|false|null
            skip SPACE  [ \t\n\r]+
        "#,
        r#"{"a b": [1.5e+7, 1.e, --1, tru, "open\u12], "x": 00 } "#
    ),
    set!("csv", CSV, "id,name,\"quoted, \"\"twice\"\"\n more\",3.5\r\n,,\"open\r a\"b,é,\n"),
    set!(
        "c",
        C,
        "#include <stdio.h>\nint main(void) { unsigned x = 0xffUL; float f = 1.5e-3f, g = 0x1.8p3; char c = '\\n'; // a \\\n b\n\
         /* long ** comment */ x <<= 2; s = \"a\\\"b\"; p->q ... _Static_assert(1); u8\"x\" .5 1..2 /* open * \"no end\n 'a"
    ),
    set!(
        "rust",
        RUST,
        "pub fn f<'a>(x: &'a str) -> u8 { for i in 1..=2 { let s = r#\"raw \" x\"#; b'\\x41'; '\\u{1f600}'; 'é'; 1.5e3f32; 0x_ff; \
         r##\"a\"# b\"## } } // note\n/* block */ \"str\\\" \n x\" self.0.1 1..2 r#type '\\\\' \"open /* open"
    ),
    set!(
        "ini",
        include_str!("sets/ini.rules"),
        "[section one]\nkey = value ; note\npath=/usr/bin:x\nq = \"a b\"\n[open\n\"open\n# x\n"
    ),
    set!(
        "log",
        include_str!("sets/log.rules"),
        "2026-11-22T13:45:00.123Z INFO 10.0.0.1:80 user=me \"GET /x\\\"\" 200 -1.5 1.2.3 2026-11 WARNING WARN 1.2.3.4.5\n"
    ),
    set!(
        "url",
        include_str!("sets/url.rules"),
        "https://www.example.org:8080/a/b%20c?x=1&y=%zz#top ftp:/x http:// a.b.c. file+x://\n"
    ),
    set!(
        "sql",
        include_str!("sets/sql.rules"),
        "SELECT a.b, 'it''s', \"q\"\"x\", 1.5e, .5 FROM t -- note\nWHERE x <> :p AND y::int >= ?1 /* block */ CURRENT_TIMESTAMP \
         CURRENT_TIMESTAMPS REFERENCE REFERENCES 'open"
    ),
    set!(
        "python",
        include_str!("sets/python.rules"),
        "def f(x: int) -> None:\n    '''doc \"x\" ' ''' ; return 1_000.5e-3j if x != 0x_f else rb\"\\n\" # note\n\"\"\"open \"\" x\\\"\"\"\n...\ny **= 2 lambdas"
    ),
    set!(
        "markdown",
        include_str!("sets/markdown.rules"),
        "# Title\n**bold** _it_ `code` ``a`b`` [link](url) ![i](x) \\* <https://x.y> Straße 日本語 [open](no `open\n"
    ),
    set!("far ahead", "A a\nAB a[b]*c\nX x(yy)*z\nY y", "aabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcabxyyyyyyzyxyyybbb"),
    set!("many states", "NUMBER [0-9]{1,700}\nCOMMA ,\nskip SPACE [ ]+", "1,22,333, 55555555555555555555555555555,4 x"),
];

#[test]
fn a_dozen_sets_are_there_and_each_text_has_tokens_and_errors_or_incomplete_ones() {
    for set in SETS {
        assert!(set.text.len() > 40, "{}", set.name);
    }
}

//! Rule sets of every kind, with texts that they are made for.

use super::super::{Lexer, RULE_SETS, Role, Rules};

/// A rule set.
pub(in crate::lexer) struct Set {
    pub(in crate::lexer) name: &'static str,
    pub(in crate::lexer) rules: &'static str,
    /// Pieces of texts, cut and joined by tests.
    pub(in crate::lexer) text: &'static str,
}

/// A rule set of those that come with monoscan.
const fn shipped(place: usize, name: &'static str, text: &'static str) -> Set {
    Set { name, rules: RULE_SETS[place].1, text }
}

macro_rules! set {
    ($name:literal, $rules:expr, $text:literal) => {
        Set { name: $name, rules: $rules, text: $text }
    };
}

pub(in crate::lexer) const SETS: [Set; 15] = [
    shipped(
        0,
        "json",
        r#"{"name": [1, -2.5e+3, true, null, "m\u00e9\\ \"x"], "": {"abcdefghijklmnopqrstuvwxyz": 0.}} nul 1.e false "op"#,
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
    shipped(1, "csv", "id,name,\"quoted, \"\"twice\"\"\n more\",3.5\r\n,,\"open\r a\"b,é,\n\"op"),
    shipped(
        2,
        "c",
        "#include <stdio.h>\nint main(void) { unsigned x = 0xffUL; float f = 1.5e-3f, g = 0x1.8p3; char c = '\\n'; // a \\\n b\n\
         /* long ** comment */ x <<= 2; s = \"a\\\"b\"; p->q ... _Static_assert(1); u8\"x\" .5 1..2 /* open * \"no end\n 'a",
    ),
    shipped(
        4,
        "rust",
        "pub fn f<'a>(x: &'a str) -> u8 { for i in 1..=2 { let s = r#\"raw \" x\"#; b'\\x41'; '\\u{1f600}'; 'é'; 1.5e3f32; 0x_ff; \
         r##\"a\"# b\"## } } // note\n/* block */ \"str\\\" \n x\" self.0.1 1..2 r#type '\\\\' \"open /* open",
    ),
    shipped(7, "ini", "[section one]\nkey = value ; note\npath=/usr/bin:x\nq = \"a b\"\n[open\n\"open\n# x\n"),
    shipped(
        8,
        "log",
        "2026-11-22T13:45:00.123Z INFO 10.0.0.1:80 user=me \"GET /x\\\"\" 200 -1.5 1.2.3 2026-11 WARNING WARN 1.2.3.4.5\n",
    ),
    shipped(9, "url", "https://www.example.org:8080/a/b%20c?x=1&y=%zz#top ftp:/x http:// a.b.c. file+x://\n"),
    shipped(
        6,
        "sql",
        "SELECT a.b, 'it''s', \"q\"\"x\", 1.5e, .5 FROM t -- note\nWHERE x <> :p AND y::int >= ?1 /* block */ CURRENT_TIMESTAMP \
         CURRENT_TIMESTAMPS REFERENCE REFERENCES 'open",
    ),
    shipped(
        5,
        "python",
        "def f(x: int) -> None:\n    '''doc \"x\" ' ''' ; return 1_000.5e-3j if x != 0x_f else rb\"\\n\" # note\n\"\"\"open \"\" x\\\"\"\"\n...\ny **= 2 lambdas",
    ),
    shipped(
        10,
        "markdown",
        "# Title\n**bold** _it_ `code` ``a`b`` [link](url) ![i](x) \\* <https://x.y> Straße 日本語 [open](no `open\n",
    ),
    shipped(
        3,
        "c-preprocessor",
        "#include <stdio.h>\n#define X(a) a ## 0x1p+3.e+ \\\n L'\\n' %:%: \\u00e9t\\U0001F600 @ \"s\\\"\" ... <<= // a\\\nb\n/* x ** / **/ \"",
    ),
    shipped(
        11,
        "cl100k",
        "We'll  see 'sx 1234 Straßen, 日本語!! \u{301}a\u{3000}\u{3000} \n  x\u{a0}\u{85}y \u{1F600}?\r\n\n Ⅷ\nx½٣٣٣٣ don'T  ",
    ),
    set!("far ahead", "A a\nAB a[b]*c\nX x(yy)*z\nY y", "aabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcabxyyyyyyzyxyyybbb"),
    set!("many states", "NUMBER [0-9]{1,700}\nCOMMA ,\nskip SPACE [ ]+", "1,22,333, 55555555555555555555555555555,4 x"),
];

#[test]
fn the_sets_that_come_with_monoscan_are_loaded_by_name_and_each_has_a_text() {
    let mut wrong = Vec::new();
    for (name, rules) in RULE_SETS {
        let rules = Rules::parse(rules).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lexer = Lexer::new(rules).unwrap_or_else(|error| panic!("{name}: {error}"));
        let set = SETS.iter().find(|set| set.name == name).unwrap_or_else(|| panic!("{name} has no text"));
        let tokens = lexer.with_skips().lex(set.text.as_bytes()).expect("it is short");
        let missing = |kind: &&str| !tokens.iter().any(|token| lexer.rules().name(token.kind) == *kind);
        let kinds = lexer.rules().iter().filter(|rule| !rule.pattern().is_empty()).map(|rule| rule.name());
        // Of keywords some are enough.
        let missing: Vec<&str> = kinds
            .filter(missing)
            .filter(|kind| {
                lexer
                    .rules()
                    .get(lexer.rules().kind(kind).expect("it is one"))
                    .is_some_and(|rule| rule.role() != Role::Keyword)
            })
            .collect();
        let never: Vec<String> = lexer.shadowed().iter().filter(|rule| rule.never).map(ToString::to_string).collect();
        wrong.extend((!missing.is_empty()).then(|| format!("{name}: the text has no {missing:?}")));
        wrong.extend((!never.is_empty()).then(|| format!("{name}: {never:?}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn numbers_and_prefixes_of_python_are_one_token() {
    let (_, rules) = RULE_SETS.into_iter().find(|(name, _)| *name == "python").expect("it comes with monoscan");
    let lexer = Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules");
    for (text, kind) in [
        ("0b1_01", "NUMBER"),
        ("0O17", "NUMBER"),
        (".5j", "NUMBER"),
        (".5_0", "NUMBER"),
        ("1_0.5_0e-1_0J", "NUMBER"),
        ("u'x'", "STRING"),
        ("U\"\"\"x\"\"\"", "LONG"),
        ("True", "True"),
        ("False", "False"),
    ] {
        let tokens = lexer.lex(text.as_bytes()).expect("it is short");
        let kinds: Vec<&str> = tokens.iter().map(|token| lexer.rules().name(token.kind)).collect();
        assert_eq!(kinds, [kind], "{text}");
    }
}

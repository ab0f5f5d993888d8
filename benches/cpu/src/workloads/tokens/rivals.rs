//! The shipped rules for logos, its kinds in the order of monoscan's.

use logos::Logos;

/// The tokens of JSON.
#[derive(Logos, Clone, Copy)]
#[logos(utf8 = false, skip r"[ \t\n\r]+")]
pub(super) enum JsonToken {
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[regex(r#""((?-u:[^"\\\x00-\x1f])|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*""#)]
    String,
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("null")]
    Null,
}

macro_rules! c_token {
    ($($keyword:ident $word:tt)*) => {
        /// The tokens of C.
        #[derive(Logos, Clone, Copy)]
        #[logos(utf8 = false)]
        #[logos(skip r"([ \t\r\n\x0b\x0c]|\\\r?\n)+")]
        #[logos(skip r"//((?-u:[^\n\\])|\\((?-u:[^\n])|\r?\n))*")]
        #[logos(skip r"/\*((?-u:[^*])|\*+(?-u:[^*/]))*\*+/")]
        pub(super) enum CToken {
            $(#[token($word, priority = 100)] $keyword,)*
            #[regex(r"(?-u:[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)", priority = 20)]
            Identifier,
            #[regex(r"(([0-9]+[.][0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[fFlL]?|[0-9]+[eE][+-]?[0-9]+[fFlL]?)", priority = 20)]
            Float,
            #[regex(r"0[xX]([0-9A-Fa-f]+[.]?[0-9A-Fa-f]*|[.][0-9A-Fa-f]+)[pP][+-]?[0-9]+[fFlL]?", priority = 20)]
            HexFloat,
            #[regex(r"(0[xX][0-9A-Fa-f]+|0[bB][01]+|[0-9]+)[uUlL]*", priority = 20)]
            Integer,
            #[regex(r#"(u8|[uUL])?"((?-u:[^"\\\n])|\\((?-u:[^\n])|\r?\n))*""#, priority = 20)]
            String,
            #[regex(r"[uUL]?'((?-u:[^'\\\n])|\\(?-u:[^\n]))+'", priority = 20)]
            Character,
            #[regex(r"#[ \t]*[a-z]+", priority = 20)]
            Directive,
            #[regex(r"[-+*/%&|^=<>!]=?|&&|\|\||<<=?|>>=?|->|\+\+|--|~|\?|[.]|[.]{3}|##?", priority = 20)]
            Operator,
            #[regex(r"[(){}\[\];:,]|<:|:>|<%|%>|%:(%:)?", priority = 19)]
            Punctuation,
        }
    };
}

c_token! {
    Auto "auto" Break "break" Case "case" Char "char" Const "const" Continue "continue" Default "default" Do "do"
    Double "double" Else "else" Enum "enum" Extern "extern" FloatType "float" For "for" Goto "goto" If "if" Inline "inline"
    Int "int" Long "long" Register "register" Restrict "restrict" Return "return" Short "short" Signed "signed"
    Sizeof "sizeof" Static "static" Struct "struct" Switch "switch" Typedef "typedef" Union "union" Unsigned "unsigned"
    Void "void" Volatile "volatile" While "while" Alignas "_Alignas" Alignof "_Alignof" Atomic "_Atomic" Bool "_Bool"
    Complex "_Complex" Generic "_Generic" Imaginary "_Imaginary" Noreturn "_Noreturn" StaticAssert "_Static_assert"
    ThreadLocal "_Thread_local"
}

macro_rules! rust_token {
    ($($keyword:ident $word:tt)*) => {
        /// The tokens of Rust.
        #[derive(Logos, Clone, Copy)]
        #[logos(utf8 = false)]
        #[logos(skip r"[ \t\r\n]+")]
        #[logos(skip(r"//(?-u:[^\n])*", allow_greedy = true))]
        #[logos(skip r"/\*((?-u:[^*])|\*+(?-u:[^*/]))*\*+/")]
        pub(super) enum RustToken {
            $(#[token($word, priority = 100)] $keyword,)*
            #[regex(r"(r#)?(?-u:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)", priority = 20)]
            Identifier,
            #[regex(r"[0-9][0-9_]*([.][0-9][0-9_]*([eE][+-]?_*[0-9][0-9_]*)?|[eE][+-]?_*[0-9][0-9_]*)(f32|f64)?", priority = 21)]
            Float,
            #[regex(r"(0x_*[0-9A-Fa-f][0-9A-Fa-f_]*|0o_*[0-7][0-7_]*|0b_*[01][01_]*|[0-9][0-9_]*)([iuf](8|16|32|64|128|size))?", priority = 20)]
            Integer,
            #[regex(r#"[bc]?"((?-u:[^"\\])|\\(?s-u:.))*""#, priority = 20)]
            String,
            #[regex(r##"[bc]?r("(?-u:[^"])*"|#"((?-u:[^"])|"+(?-u:[^"#]))*"+#|##"((?-u:[^"])|("+#)+(?-u:[^"#])|("+#)*"+(?-u:[^"#]))*("+#)*"+##)"##, priority = 20)]
            RawString,
            #[regex(r#"b?'((?-u:[^'\\\n\r\t\x80-\xff])|(?-u:[\xc2-\xf4][\x80-\xbf]{1,3})|\\([nrt0'"\\]|x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f_]{1,8}\}))'"#, priority = 22)]
            Character,
            #[regex(r"'(?-u:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)", priority = 20)]
            Lifetime,
            #[regex(r"[-+*/%&|^=<>!]=?|&&|\|\||<<=?|>>=?|->|=>|[.]{1,3}|[.][.]=|::?|[?@#$~]", priority = 20)]
            Operator,
            #[regex(r"[(){}\[\];,]", priority = 20)]
            Punctuation,
        }
    };
}

rust_token! {
    As "as" Async "async" Await "await" Break "break" Const "const" Continue "continue" Crate "crate" Dyn "dyn" Else "else"
    Enum "enum" Extern "extern" False "false" Fn "fn" For "for" If "if" Impl "impl" In "in" Let "let" Loop "loop"
    Match "match" Mod "mod" Move "move" Mut "mut" Pub "pub" Ref "ref" Return "return" SelfValue "self" SelfType "Self"
    Static "static" Struct "struct" Super "super" Trait "trait" True "true" Type "type" Unsafe "unsafe" Use "use"
    Where "where" While "while"
}

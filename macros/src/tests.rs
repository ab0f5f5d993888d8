//! The macros as functions on tokens: what they do whatever they are given.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::{closure, monoid, scan_fn, scan_type, token_kind};
use crate::methods::{self, CONVERSIONS, METHODS};

/// How many errors the tokens make rustc report.
fn errors(tokens: &TokenStream) -> usize {
    tokens.to_string().matches("compile_error !").count()
}

fn items() -> Vec<TokenStream> {
    vec![
        quote!(),
        quote!(struct),
        quote!(
            struct S;
        ),
        quote!(
            enum E {}
        ),
        quote!(
            union U {
                a: u8,
            }
        ),
        quote!(
            mod m {
                fn f() {}
            }
        ),
        quote!(
            impl Monoid for X {
                fn combine() {}
                fn valid(self, more: u8) -> bool {}
            }
        ),
        quote!(
            impl<'a> Monoid for &'a X {}
        ),
        quote!(
            fn f() {}
        ),
        quote!(
            fn f(self: Box<Self>, (a, b): (u8,), _: _, [.., c, ..]: [u8; 3]) -> impl Sized {
                match a {}
                a.0.0[1..][..] = b"x";
                r#type.r#match();
                'l: for _ in 0..=1 {
                    break 'l;
                    continue 'none;
                }
                let (Some(1 | 2), ref x @ ..) = b;
                match 3 {
                    x @ 1 => {}
                    &y | (y,) if y => {}
                }
                async move { || yield_.await? };
                *&raw const a as *const _ as usize
            }
        ),
        quote!(|x: f32, y, &z: Table<u8>| x),
        quote!(|| -> f32 {}),
        quote!(crate = a::b; |x: f32| -> f32 { x }),
        quote!(1 + 1),
    ]
}

#[test]
fn no_input_makes_a_macro_panic_and_every_item_is_emitted() {
    let options = [quote!(), quote!(crate = a::b), quote!(associated,), quote!(crate = 3), quote!(what)];
    for item in items() {
        for options in &options {
            for expand in [monoid::expand, scan_fn::expand] {
                // But for this attribute, which its functions get.
                let output = expand(options.clone(), item.clone()).to_string().replace("# [inline] ", "");
                assert!(output.contains(&item.to_string()), "{output}");
            }
        }
        scan_type::derive(item.clone());
        token_kind::derive(item.clone());
        closure::expand(item);
    }
}

#[test]
fn all_errors_of_an_item_are_reported_at_once() {
    let function = quote! {
        fn f(x: &f32, n: u32) -> f32 {
            while n > 0 {}
            let y;
            for i in 0..n { return x.cbrt(); }
            println!("{}", t[n as usize]);
            x
        }
    };
    assert_eq!(errors(&scan_fn::expand(quote!(), function)), 7);
    let closure = quote!(|x, y: char| -> f32 { loop {} });
    assert_eq!(errors(&closure::expand(closure)), 3);
}

#[test]
fn with_an_error_the_second_body_is_a_stub() {
    let item = quote! {
        impl Monoid for Sum {
            fn identity() -> Self { Sum(0) }
            fn combine(self, next: Self) -> Self { loop {} }
        }
    };
    let output = monoid::expand(quote!(), item).to_string();
    assert!(output.contains("fn trace_combine") && output.contains("unreachable !"), "{output}");
}

#[test]
fn the_same_item_gives_the_same_tokens() {
    for item in items() {
        let once = scan_fn::expand(quote!(), item.clone()).to_string();
        assert_eq!(once, scan_fn::expand(quote!(), item).to_string());
    }
}

/// The methods that the documentation lists, by the tables under `| on | methods |`.
#[test]
fn the_documentation_lists_every_method() {
    let page = include_str!("../../docs/language.md");
    let table = page.split("| on | methods |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let cells = table.lines().filter_map(|row| row.split('|').nth(2));
    let listed: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let known = METHODS.iter().chain(CONVERSIONS).map(|(name, _)| *name);
    let missing: Vec<&str> = known.filter(|name| !listed.contains(name)).collect();
    assert!(missing.is_empty(), "docs/language.md lacks {missing:?}");
    let of_others = ["combine", "follows", "valid", "len", "into", "at", "get"];
    let is_known = |name: &str| of_others.contains(&name) || METHODS.iter().chain(CONVERSIONS).any(|(k, _)| *k == name);
    // `Num` and `Real` are traits.
    let methods = listed.iter().filter(|name| name.starts_with(char::is_lowercase));
    let unknown: Vec<&&str> = methods.filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "docs/language.md has {unknown:?}, which are no methods");
}

#[test]
fn the_table_of_methods_is_sorted_and_messages_name_what_is_near() {
    assert!(METHODS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(METHODS.iter().all(|(name, _)| methods::instead(name).is_none() && methods::perhaps(name).is_none()));
    assert_eq!(methods::nearest("sqrtt"), ["sqrt"]);
    assert_eq!(methods::nearest("saturating_mull")[0], "saturating_mul");
    assert!(methods::nearest("joined").is_empty());
}

#[test]
fn a_return_moves_to_the_end_where_one_arm_goes_on() {
    let accepted = quote! {
        fn f(x: i32) -> i32 {
            if x > 3 { return 1; } else if x > 2 { if x > 1 { return 2; } else { return 3; } }
            let y = x;
            if y < 0 { y } else { return y }
        }
    };
    assert_eq!(errors(&scan_fn::expand(quote!(), accepted)), 0);
    let twice = quote! {
        fn f(x: i32) -> i32 {
            let mut y = x;
            if x > 3 { y = 1; } else if x > 2 { return 2; }
            y
        }
    };
    assert_eq!(errors(&scan_fn::expand(quote!(), twice)), 1);
}

#[test]
fn a_macro_takes_its_own_option_and_no_other() {
    let function = quote! {
        fn f(x: f32) -> f32 {
            x
        }
    };
    let kind = |option: TokenStream| {
        quote! {
            #[token_kind(#option)]
            enum Kind {
                #[token("a")]
                A,
                #[error]
                Error,
            }
        }
    };
    let sum = quote! {
        struct Sum(u32);
    };
    let faults = |option: TokenStream| {
        [
            errors(&scan_fn::expand(option.clone(), function.clone())),
            errors(&token_kind::derive(kind(option.clone()))),
            errors(&monoid::expand(option, sum.clone())),
        ]
    };
    assert_eq!(faults(quote!(associated)), [0, 1, 1]);
    assert_eq!(faults(quote!(strict_ties)), [1, 0, 1]);
    assert_eq!(faults(quote!(crate = a::b)), [0, 0, 0]);
}

//! The macros as functions on tokens: what they do whatever they are given.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::{closure, monoid, scan_fn, scan_type};

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
                let output = expand(options.clone(), item.clone()).to_string();
                assert!(output.contains(&item.to_string()), "{output}");
            }
        }
        scan_type::derive(item.clone());
        closure::expand(item);
    }
}

#[test]
fn all_errors_of_an_item_are_reported_at_once() {
    let function = quote! {
        fn f(x: &f32, n: u32) -> f32 {
            while n > 0 {}
            let y;
            for i in 0..n { return x.sin(); }
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

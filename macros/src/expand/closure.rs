//! `scan!`: a closure and its second body, as one value.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprClosure, Pat, PatIdent, ReturnType, Token, Type};

use super::{allow, check_type, name_of, place, table_element};
use crate::lower::Lowering;
use crate::options::{Options, crate_path};
use crate::refuse::{self, Errors, refuse, report};

struct Input {
    options: Options,
    closure: Expr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Input> {
        let mut options = Options::default();
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            let path = crate_path(input)?;
            options.krate = quote!(#path);
            input.parse::<Token![;]>()?;
        }
        let closure = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Input { options, closure })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Input { options, closure } = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::new();
    let Expr::Closure(closure) = closure else {
        refuse(&mut errors, closure, refuse::CLOSURE_FORM);
        return report(&errors);
    };
    let value = value(&closure, &options, &mut errors);
    if errors.is_empty() {
        return value;
    }
    // The user's closure stays, so that its own errors are seen too.
    let errors = report(&errors);
    quote!({ let _ = #closure; #errors })
}

fn value(closure: &ExprClosure, options: &Options, errors: &mut Errors) -> TokenStream {
    let krate = &options.krate;
    let (mut patterns, mut types): (Vec<&Pat>, Vec<&Type>) = (Vec::new(), Vec::new());
    for input in &closure.inputs {
        let Pat::Type(typed) = input else {
            refuse(errors, input, refuse::CLOSURE_PARAMETER);
            continue;
        };
        if table_element(&typed.ty).is_some() {
            refuse(errors, &typed.ty, refuse::CLOSURE_TABLE);
        } else {
            check_type(&typed.ty, errors);
        }
        patterns.push(&typed.pat);
        types.push(&typed.ty);
    }
    if let Some(token) = &closure.asyncness {
        refuse(errors, token, refuse::ASYNC);
    }
    if closure.inputs.len() > 13 {
        refuse(errors, &closure.inputs, refuse::TOO_MANY_ARGUMENTS);
    }
    let ReturnType::Type(_, result) = &closure.output else {
        refuse(errors, closure.inputs_end, refuse::CLOSURE_RESULT);
        return TokenStream::new();
    };
    check_type(result, errors);
    let mut lowering = Lowering::new(krate, errors, &[]);
    let mut bindings = TokenStream::new();
    let arguments: Vec<Ident> =
        (0..types.len()).map(|i| format_ident!("__a{}", i, span = Span::mixed_site())).collect();
    for (pattern, argument) in patterns.iter().zip(&arguments) {
        let (name, binds) = lowering.parameter(pattern);
        bindings.extend(quote!(let #name = #argument; #binds));
    }
    let names = patterns.iter().map(|pattern| name_of(pattern));
    let lowered = lowering.closure_body(&closure.body);
    let (native, allow) = (&closure.body, allow());
    let captured = captures(closure);
    let captured = captured.iter().map(|name| {
        let (krate, at) = (place(krate, name.span()), name.span());
        quote_spanned!(at=> #krate::lang::ops::captured(&#name);)
    });
    quote! {{
        #(#captured)*
        #krate::lang::Closure::new(
            #[allow(unused_braces)]
            move |(#(#patterns,)*): (#(#types,)*)| -> #result { #native },
            #allow
            move |(#(#arguments,)*): (#(#krate::lang::V<#types>,)*)| -> #krate::lang::V<#result> {
                let __call = #krate::lang::ops::enter("scan!");
                #krate::lang::ops::named("", &[#(#names),*]);
                #bindings
                #lowered
            },
        )
    }}
}

/// The names in the body that may be locals from outside: those in lower case that are not called and that nothing in
/// the closure binds.
fn captures(closure: &ExprClosure) -> Vec<Ident> {
    let mut names = Names::default();
    names.visit_expr_closure(closure);
    let Names { mut used, bound } = names;
    used.retain(|name| name.to_string().starts_with(char::is_lowercase) && !bound.contains(name));
    let mut seen = Vec::new();
    used.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    used
}

#[derive(Default)]
struct Names {
    used: Vec<Ident>,
    bound: Vec<Ident>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.used.extend(path.path.get_ident().filter(|_| path.qself.is_none()).cloned());
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if !matches!(&*call.func, Expr::Path(_)) {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.bound.push(name.ident.clone());
        visit::visit_pat_ident(self, name);
    }
}

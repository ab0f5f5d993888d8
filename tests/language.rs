//! Every construct of scan code: the IR that the macros build agrees, bit for bit, with the
//! function it was built from.

#![allow(unreachable_pub, reason = "visibilities are among what is tested")]
#![allow(
    clippy::let_and_return,
    clippy::manual_checked_ops,
    clippy::nonminimal_bool,
    clippy::bool_comparison,
    clippy::needless_return,
    clippy::type_complexity,
    reason = "constructs are written out to be tested"
)]

mod language {
    mod agree;
    mod control;
    mod engines;
    mod errors;
    mod forms;
    mod functions;
    mod generic;
    mod judged;
    mod kitchen;
    mod methods;
    mod operators;
    mod reached_for;
    mod types;
}

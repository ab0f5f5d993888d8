//! Every construct of scan code: the IR that the macros build agrees, bit for bit, with the function it was built from.

mod language {
    pub mod agree;
    mod control;
    mod errors;
    mod functions;
    mod generic;
    mod kitchen;
    mod methods;
    mod operators;
    mod types;
}

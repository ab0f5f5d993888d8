//! Fuzz targets: promises that hold whatever the bytes are. A target panics where one is broken.
//!
//! | target | promise |
//! |---|---|
//! | [`parser`] | no text makes parser, verifier, facts or laws panic; what parses prints and parses back equal; what verifies runs in the interpreter |
//! | [`engine`] | compiled code gives what the interpreter gives, under any plan, for programs that were grown and for those that were damaged |
//! | [`calls`] | a call of [`DynScan`](monoscan_runtime::DynScan) gives what the reference gives, or an error that left everything untouched |
//!
//! Bytes are read as decisions (`bytes.rs`), so that a fuzzer's small change of the bytes is a
//! small change of what is tried. The wrappers for libFuzzer are in `fuzz/libfuzzer`, in a
//! workspace of their own, because they need nightly Rust. The tests here run each target on its
//! corpus and on some random bytes. What a fuzzer found goes into `fuzz/corpus`.

mod bytes;
mod calls;
mod columns;
mod damage;
mod edit;
mod engine;
mod parser;

pub use calls::calls;
pub use engine::engine;
pub use parser::parser;

#[cfg(test)]
mod tests;

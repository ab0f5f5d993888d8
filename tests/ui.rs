//! What the macros accept and refuse, message by message. After a change of a message run with `TRYBUILD=overwrite`.

#[test]
fn scan_code_is_accepted_or_refused_as_documented() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/ok/*.rs");
    cases.compile_fail("tests/ui/err/*.rs");
}

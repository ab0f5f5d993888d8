//! Files that `tests/ui.rs` shows to be accepted as crates of their own, and that assert something,
//! run as modules.

#[path = "../ui/ok/affine.rs"]
mod affine;
#[path = "../ui/ok/local_items.rs"]
mod local_items;
#[path = "../ui/ok/macro_rules.rs"]
mod macro_rules;
#[path = "../ui/ok/requests.rs"]
mod requests;
#[path = "../ui/ok/visibility.rs"]
mod visibility;
#[path = "../ui/ok/without_prelude.rs"]
mod without_prelude;

#[test]
fn accepted_files_compute_what_they_say() {
    affine::main();
    local_items::main();
    macro_rules::main();
    requests::main().unwrap();
    visibility::main();
    without_prelude::main();
}

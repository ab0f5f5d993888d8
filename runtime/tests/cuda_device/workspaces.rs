//! Workspaces: whose they are, when they are zeroed, and what is reported of them.

use std::time::Duration;

use monoscan_runtime::cuda::{Header, Stream, Workspace};

use crate::kernels::{bump, spin, stream};

#[test]
#[ignore = "needs a CUDA device"]
fn workspaces_belong_to_a_stream_and_a_layout() {
    let (one, other) = (stream(), stream());
    let lease = |stream: &Stream, key| Workspace::lease(stream, key, 1000).unwrap();
    let first = lease(&one, 1);
    assert!(first.address() % 256 == 0 && first.states() == first.address() + 64 && first.state_bytes() >= 1000);
    assert_eq!(first.address(), lease(&one, 1).address());
    assert_eq!(first.leases(), 2);
    assert_ne!(first.address(), lease(&one, 2).address());
    assert_ne!(first.address(), lease(&other, 1).address());
    bump(&one, &first, 0);
    bump(&one, &lease(&one, 1), 0);
    let header = first.report().unwrap().wait().unwrap();
    assert_eq!(header, Header { ticket: 2, epoch: 2, ..Header::default() });
    // A larger one is new, and starts from zeros.
    let grown = Workspace::lease(&one, 1, 1 << 20).unwrap();
    one.synchronize().unwrap();
    assert_ne!(grown.address(), first.address());
    assert_eq!(grown.header().unwrap(), Header::default());
    bump(&one, &grown, 0);
    grown.zero().unwrap();
    assert_eq!(grown.report().unwrap().wait().unwrap(), Header::default());
    assert_eq!(grown.leases(), 1);
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_workspace_in_which_a_kernel_failed_is_zeroed() {
    let stream = stream();
    let failed = Workspace::lease(&stream, 1, 1000).unwrap();
    bump(&stream, &failed, 7);
    let report = failed.report().unwrap();
    // What was launched before anybody knew of the failure sees it too.
    let next = Workspace::lease(&stream, 1, 1000).unwrap();
    let seen = next.report().unwrap();
    assert_eq!(report.wait().unwrap().error, 7);
    assert_eq!(seen.wait_within(Duration::from_secs(10), "a copy").unwrap().error, 7);
    let fresh = Workspace::lease(&stream, 1, 1000).unwrap();
    assert_eq!(fresh.address(), failed.address());
    assert_eq!(fresh.report().unwrap().wait().unwrap(), Header::default());
}

#[test]
#[ignore = "needs a CUDA device"]
fn reports_that_nobody_waits_for_do_not_overwrite_others() {
    let (slow, fast) = (stream(), stream());
    let (one, other) = (Workspace::lease(&slow, 1, 64).unwrap(), Workspace::lease(&fast, 1, 64).unwrap());
    spin(&slow, Duration::from_millis(50));
    bump(&slow, &one, 9);
    drop(one.report().unwrap());
    let report = other.report().unwrap();
    slow.synchronize().unwrap();
    assert_eq!(report.wait().unwrap(), Header::default());
}

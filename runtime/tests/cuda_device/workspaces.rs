//! Workspaces: whose they are, and when they are zeroed.

use monoscan_runtime::cuda::{Header, Stream, Workspace};

use crate::kernels::{bump, stream};

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
    one.synchronize().unwrap();
    assert_eq!(first.header().unwrap(), Header { ticket: 2, epoch: 2, ..Header::default() });
    // A larger one is new, and starts from zeros.
    let grown = Workspace::lease(&one, 1, 1 << 20).unwrap();
    one.synchronize().unwrap();
    assert_ne!(grown.address(), first.address());
    assert_eq!(grown.header().unwrap(), Header::default());
    bump(&one, &grown, 0);
    grown.zero().unwrap();
    one.synchronize().unwrap();
    assert_eq!(grown.header().unwrap(), Header::default());
    assert_eq!(grown.leases(), 1);
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_workspace_in_which_a_kernel_failed_is_zeroed() {
    let stream = stream();
    let failed = Workspace::lease(&stream, 1, 1000).unwrap();
    bump(&stream, &failed, 7);
    // What was launched before anybody knew of the failure sees it too.
    let next = Workspace::lease(&stream, 1, 1000).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(failed.header().unwrap().error, 7);
    assert_eq!(next.header().unwrap().error, 7);
    failed.quarantine();
    assert!(next.was_quarantined());
    let fresh = Workspace::lease(&stream, 1, 1000).unwrap();
    assert_eq!(fresh.address(), failed.address());
    assert!(!fresh.was_quarantined());
    stream.synchronize().unwrap();
    assert_eq!(fresh.header().unwrap(), Header::default());
}

//! The intrinsics as Rust functions: what `intrinsics.ll` defines, under its names.

use crate::nvptx::emit::{Builder, Ty, Value};

/// How bulk copies use the second-level cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CachePolicy {
    Keep,
    Normal,
}

macro_rules! intrinsics {
    ($($name:ident($($arg:ident),*) -> $result:expr, $symbol:literal;)*) => {
        impl Builder {$(
            pub fn $name<'k>(&'k self, $($arg: Value<'k>),*) -> Value<'k> {
                self.intrinsic($result, $symbol, &[$($arg),*])
            }
        )*}
    };
}

macro_rules! void_intrinsics {
    ($($name:ident($($arg:ident),*), $symbol:literal;)*) => {
        impl Builder {$(
            pub fn $name(&self, $($arg: Value<'_>),*) {
                self.call(None, $symbol, &[$($arg),*]);
            }
        )*}
    };
}

intrinsics! {
    thread() -> Ty::I32, "scan.thread";
    block() -> Ty::I32, "scan.block";
    blocks() -> Ty::I32, "scan.blocks";
    shared() -> Ty::SHARED, "scan.shared";
    shared_of_warp() -> Ty::SHARED, "scan.shared_of_warp";
    shuffle_up(value, delta) -> Ty::I32, "scan.shuffle_up";
    shuffle_down(value, delta) -> Ty::I32, "scan.shuffle_down";
    shuffle_from(value, lane) -> Ty::I32, "scan.shuffle_from";
    ballot(value) -> Ty::I32, "scan.ballot";
    barrier_try_wait(barrier, parity) -> Ty::BOOL, "scan.barrier_try_wait";
    load_word(from) -> Ty::I64, "scan.load_word";
    load_pair(from) -> Ty::Pair, "scan.load_pair";
    load_once(from) -> Ty::Pair, "scan.load_once";
    atomic_add(to, value) -> Ty::I32, "scan.add";
    atomic_add_word(to, value) -> Ty::I64, "scan.add_word";
    load_control(from) -> Ty::I32, "scan.load_control";
    clock() -> Ty::I64, "scan.clock";
    highest_bit(word) -> Ty::I32, "scan.highest_bit";
    opaque(value) -> Ty::I32, "scan.opaque";
}

void_intrinsics! {
    barrier(), "scan.barrier";
    warp_barrier(), "scan.warp_barrier";
    barrier_init(barrier, count), "scan.barrier_init";
    barrier_init_fence(), "scan.barrier_init_fence";
    barrier_arrive(barrier), "scan.barrier_arrive";
    barrier_expect(barrier, bytes), "scan.barrier_expect";
    bulk_load(to, from, bytes, barrier, policy), "scan.bulk_load";
    bulk_store(to, from, bytes, policy), "scan.bulk_store";
    bulk_commit(), "scan.bulk_commit";
    bulk_wait_read(), "scan.bulk_wait_read";
    bulk_wait(), "scan.bulk_wait";
    bulk_fence(), "scan.bulk_fence";
    prefetch(from), "scan.prefetch";
    store_word(to, value), "scan.store_word";
    store_pair(to, low, high), "scan.store_pair";
    store_control(to, value), "scan.store_control";
}

impl Builder {
    pub fn cache_policy(&self, policy: CachePolicy) -> Value<'_> {
        let symbol = match policy {
            CachePolicy::Keep => "scan.policy_keep",
            CachePolicy::Normal => "scan.policy_normal",
        };
        self.intrinsic(Ty::I64, symbol, &[])
    }

    /// Waits until the phase of a barrier has ended.
    pub fn barrier_wait<'k>(&'k self, barrier: Value<'k>, parity: Value<'k>) {
        self.forever(|this| self.leave_if(this, self.barrier_try_wait(barrier, parity)));
    }
}

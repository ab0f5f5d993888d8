//! Cases for loom: whole scans, and work that is gone when the call is over.
#![cfg(loom)]

use crate::trial::Trial;
use loom::{cell::UnsafeCell, model::Builder, sync::Arc, thread};
use monoscan_protocol::crew::{HelperTask, Step, with_helpers};

/// Runs `case` in all interleavings in which threads are preempted so many times.
pub(crate) fn model(preemptions: usize, case: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(case);
}

/// A scan with so many helpers.
pub(crate) fn scan(trial: Trial, helpers: usize) {
    let mut threads = Vec::new();
    trial.run(helpers, spawn_into(&mut threads));
    join(threads);
}

/// Two steps of each thread over data that the caller overwrites when the call is over.
pub(crate) fn lend(helpers: usize) {
    let (data, mut threads) = (Borrowed::new(), Vec::new());
    let step = |steps: &mut usize| {
        data.read();
        *steps += 1;
        if *steps == 2 { Step::Done } else { Step::More }
    };
    with_helpers(spawn_into(&mut threads), helpers, &|_| 0, &step);
    data.overwrite();
    join(threads);
}

/// Data of the caller. A helper that reads it after the call, or one whose reading is not ordered before its end, is a data
/// race, which loom reports.
#[derive(Clone)]
pub(crate) struct Borrowed(Arc<UnsafeCell<u64>>);

// SAFETY: an unordered access would be a bug in what is tested, and loom, which runs one thread at a time, reports it.
unsafe impl Sync for Borrowed {}
// SAFETY: as above.
unsafe impl Send for Borrowed {}

impl Borrowed {
    pub(crate) fn new() -> Self {
        Self(Arc::new(UnsafeCell::new(1)))
    }

    pub(crate) fn read(&self) {
        // SAFETY: see `Sync`.
        assert_eq!(self.0.with(|value| unsafe { *value }), 1, "the call is over");
    }

    pub(crate) fn overwrite(&self) {
        // SAFETY: see `Sync`.
        self.0.with_mut(|value| unsafe { *value = 2 });
    }
}

pub(crate) fn spawn_into(threads: &mut Vec<thread::JoinHandle<()>>) -> impl FnMut(HelperTask) {
    |task| threads.push(thread::spawn(move || task.run()))
}

pub(crate) fn join(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("a helper does not panic"));
}

//! Helpers that cost nothing if they never start.
//!
//! A scan is worked on by the thread that called it. It also offers the work to a pool of threads, as tasks, but never
//! waits for a task to *start*: the pool may be busy, and then the caller does everything. What it must wait for, before
//! it returns and its borrowed data goes, is that the tasks that did start have ended.
//!
//! [`with_helpers`] is that bargain. The tasks share a gate with the caller: a helper enters before it touches the work
//! and leaves after; the caller, its own share done, closes the gate and waits for those inside. A task that the pool
//! starts later, even long after the scan returned, finds the gate closed and touches nothing but the gate.

use crate::sync::{Arc, AtomicUsize, Mutex, Ordering, wait_for};
use std::{
    any::Any,
    fmt,
    mem::transmute,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::NonNull,
    sync::PoisonError,
};

/// Runs `job` on this thread, and on helpers as far as `spawn` finds threads for them.
///
/// `spawn` is called `helpers` times with a task to [`run`](HelperTask::run), on any thread, now, later or never. `job`
/// is called once by the caller and at most once by each task, at the same time; it must be able to finish all work in
/// any one of these calls, and so it must not wait for the others to come. All calls have ended when this returns.
///
/// Costs one small allocation, none for `helpers` = 0.
///
/// ```
/// use scan_protocol::{chain::Tickets, crew};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (tickets, done) = (Tickets::new(100), AtomicUsize::new(0));
/// let job = || {
///     while tickets.take().is_some() {
///         done.fetch_add(1, Ordering::Relaxed);
///     }
/// };
/// crew::with_helpers(|task| drop(std::thread::spawn(|| task.run())), 3, &job);
/// assert_eq!(done.into_inner(), 100);
/// ```
///
/// # Panics
///
/// If `job` or `spawn` panics on this thread, or `job` on a helper: after all have left, with the payload of that
/// panic (this thread's own, or else the first helper's).
pub fn with_helpers(mut spawn: impl FnMut(HelperTask), helpers: usize, job: &(dyn Fn() + Sync)) {
    if helpers == 0 {
        return job();
    }
    // SAFETY: `_closing` closes this crew before this function returns or unwinds, while `job` is still borrowed.
    let crew = Arc::new(unsafe { Crew::lend(job) });
    {
        let _closing = Closing(&crew);
        for _ in 0..helpers {
            spawn(HelperTask { crew: Arc::clone(&crew) });
        }
        job();
    }
    if let Some(payload) = crew.take_panic() {
        resume_unwind(payload);
    }
}

/// A share in somebody's work, to be run on any thread. Dropping it instead is fine.
#[must_use = "a helper helps only if it is run"]
pub struct HelperTask {
    crew: Arc<Crew>,
}

impl HelperTask {
    /// Works along if the work is not over, else returns at once. Does not panic: a panic of the work goes to the caller
    /// whose work it is.
    pub fn run(self) {
        let Some(inside) = self.crew.enter() else { return };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(inside.job())) {
            self.crew.keep_panic(payload);
        }
    }
}

impl fmt::Debug for HelperTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HelperTask")
    }
}

/// What the caller and its helpers share: borrowed work without its lifetime, behind a gate. It outlives the call if a
/// task does; the work does not.
struct Crew {
    /// The gate: the open bit, and how many are inside.
    gate: AtomicUsize,
    job: NonNull<dyn Fn() + Sync>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

const OPEN: usize = 1 << (usize::BITS - 1);

// SAFETY: `job` is a shared reference to something `Sync` but for the lifetime, which `lend` and `Inside` look after. The
// other fields are `Send` and `Sync`.
unsafe impl Send for Crew {}
// SAFETY: as above.
unsafe impl Sync for Crew {}

impl Crew {
    /// A crew with an open gate and nobody inside.
    ///
    /// # Safety
    ///
    /// [`close`](Self::close) must have returned before the borrow of `job` ends.
    unsafe fn lend<'job>(job: &'job (dyn Fn() + Sync + 'job)) -> Self {
        type Job<'job> = NonNull<dyn Fn() + Sync + 'job>;
        // SAFETY: the two types differ in a lifetime alone, and only `Inside::job` reads through the pointer.
        let job = unsafe { transmute::<Job<'job>, Job<'static>>(NonNull::from(job)) };
        Self { gate: AtomicUsize::new(OPEN), job, panic: Mutex::new(None) }
    }

    /// Enters, unless the gate is closed.
    fn enter(&self) -> Option<Inside<'_>> {
        // Relaxed: what the caller did before it offered the work came here with the task. That the caller waits for
        // whoever enters before it closes follows from the order of changes of this one word. The count cannot reach the
        // open bit: everybody inside holds an `Arc` of the crew, and those are fewer.
        self.gate
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |gate| (gate & OPEN != 0).then(|| gate + 1))
            .ok()
            .map(|_| Inside(self))
    }

    /// Lets nobody in any more, and waits until nobody is inside.
    fn close(&self) {
        self.gate.fetch_and(!OPEN, Ordering::Relaxed);
        // Acquire, with the release of every `Inside` dropped: all that helpers did inside happened before this returns.
        wait_for(|| (self.gate.load(Ordering::Acquire) == 0).then_some(()));
    }

    /// Keeps the first panic for the caller.
    fn keep_panic(&self, payload: Box<dyn Any + Send>) {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
    }

    fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A helper inside the gate; it leaves when this is dropped.
struct Inside<'crew>(&'crew Crew);

impl Inside<'_> {
    /// The work, which stays borrowed at least until this helper leaves.
    fn job(&self) -> &(dyn Fn() + Sync) {
        // SAFETY: `close` does not return while somebody is inside, and until it has, the borrow lasts: the promise
        // made to `lend`.
        unsafe { self.0.job.as_ref() }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.gate.fetch_sub(1, Ordering::Release);
    }
}

/// Closes the crew when its scope ends, however it ends.
struct Closing<'crew>(&'crew Crew);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

//! Helpers that cost nothing if they never start, and little if they stop.
//!
//! A scan is worked on by the thread that called it. It also offers the work to a pool of threads,
//! as tasks, but never waits for a task to *start*: the pool may be busy, and then the caller does
//! everything.
//!
//! Work is a series of *steps*, each short and bounded. A helper enters its gate before a step and
//! leaves it after; between steps, and while it naps, it touches nothing of the work. When the
//! caller's own part is over it closes all gates and waits for those helpers that are in a step,
//! and for no other. A helper that comes to its gate later, even long after the call returned,
//! finds it closed and touches nothing else.
//!
//! A thread's own state from step to step, its *worker*, lies with the caller's data, not with the
//! thread. So a helper that never comes back leaves nothing behind.

use crate::rules::Rule::{self, LeaveAfterStep, ReturnAfterSteps};
use crate::sync::{Arc, AtomicBool, AtomicUsize, CacheLine, Ordering, UnsafeCell, nap, wait_until};
use std::{
    any::Any,
    fmt,
    mem::transmute,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::NonNull,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The next action of a thread after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The next one.
    More,
    /// Leave its core for a moment: there is nothing to do before another thread goes on.
    Nap,
    /// Go: there is nothing left for it to begin.
    Done,
}

/// Works on this thread, and on helpers as far as `spawn` finds threads for them, step by step. Says how long this thread,
/// its own steps over, waited for helpers that were still in one.
///
/// `spawn` is called `helpers` times with a task to [`run`](HelperTask::run), on any thread, now, later or never. Each thread
/// makes a worker in its first step, `worker(seat)` with seat 0 for the caller, and then does steps until one is [`Step::Done`]; the
/// caller's is done only if nothing is left but what helpers have begun. All steps have ended when this returns.
///
/// Costs a small allocation for each helper and two more, none without helpers.
///
/// ```
/// use monoscan_protocol::crew::{self, Step};
/// use monoscan_protocol::tickets::Tickets;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (tickets, done) = (Tickets::new(100), AtomicUsize::new(0));
/// let step = |_: &mut usize| match tickets.take() {
///     Some(_) => {
///         done.fetch_add(1, Ordering::Relaxed);
///         Step::More
///     }
///     None => Step::Done,
/// };
/// crew::with_helpers(|task| drop(std::thread::spawn(|| task.run())), 3, &|seat| seat, &step);
/// assert_eq!(done.into_inner(), 100);
/// ```
///
/// # Panics
///
/// If `worker`, `step` or `spawn` panics: after all steps have ended, with the payload of that panic (this thread's own, or
/// else the first helper's). After a panic no thread begins another step.
pub fn with_helpers<W: Send>(
    mut spawn: impl FnMut(HelperTask),
    helpers: usize,
    worker: &(impl Fn(usize) -> W + Sync),
    step: &(impl Fn(&mut W) -> Step + Sync),
) -> Duration {
    if helpers == 0 {
        let mut own = worker(0);
        run(|| step(&mut own), || false);
        return Duration::ZERO;
    }
    let workers: Box<[Seat<W>]> = (0..helpers).map(|_| Seat(UnsafeCell::new(None))).collect();
    let workers = &workers;
    let helper_step = move |seat: usize| {
        workers[seat - 1].0.with_mut(|helper| {
            // SAFETY: there is one task for each seat, and tasks do one step at a time.
            let helper = unsafe { &mut *helper };
            step(helper.get_or_insert_with(|| worker(seat)))
        })
    };
    // SAFETY: `closing` closes this crew before this function returns or unwinds, while `helper_step` is still borrowed.
    let crew = Arc::new(unsafe { Crew::lend(&helper_step, helpers) });
    let closing = Closing(&crew);
    for seat in 1..=helpers {
        spawn(HelperTask { crew: Arc::clone(&crew), seat });
    }
    let mut own = worker(0);
    run(|| step(&mut own), || crew.has_failed());
    let waited = closing.close();
    if let Some(payload) = crew.take_panic() {
        resume_unwind(payload);
    }
    waited
}

/// Does steps until one is done or somebody has failed.
fn run(mut step: impl FnMut() -> Step, has_failed: impl Fn() -> bool) {
    while !has_failed() {
        match step() {
            Step::More => {}
            Step::Nap => nap(),
            Step::Done => return,
        }
    }
}

/// The worker of a helper.
struct Seat<W>(UnsafeCell<Option<W>>);

// SAFETY: a worker is used by one thread at a time, the helper in its seat, and in the end by the caller, which drops it after
// the helper has left.
unsafe impl<W: Send> Sync for Seat<W> {}

/// A share in somebody's work, to be run on any thread. Dropping it instead is fine.
#[must_use = "a helper helps only if it is run"]
pub struct HelperTask {
    crew: Arc<Crew>,
    seat: usize,
}

impl HelperTask {
    /// Works along while the work is not over. Does not panic: a panic of the work goes to the caller whose work it is.
    pub fn run(mut self) {
        let crew = Arc::clone(&self.crew);
        run(|| self.step(), || crew.has_failed());
    }

    /// Does one step, if the work is not over. However many steps a helper does, the others go on without it.
    pub fn step(&mut self) -> Step {
        self.crew.step(self.seat)
    }
}

impl fmt::Debug for HelperTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelperTask").field("seat", &self.seat).finish_non_exhaustive()
    }
}

type Steps<'work> = dyn Fn(usize) -> Step + Sync + 'work;

/// The state that the caller and its helpers share: borrowed work without its lifetime, behind gates. It outlives the call if a task
/// does; the work does not.
struct Crew {
    /// For each helper whether it is in a step, and whether it may begin another.
    gates: Box<[CacheLine<AtomicUsize>]>,
    steps: NonNull<Steps<'static>>,
    has_failed: AtomicBool,
    /// The standard library's mutex: nothing is explored while it is held, and shuttle's does not wake threads that wait for it while
    /// some thread unwinds.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

const INSIDE: usize = 1;
const CLOSED: usize = 2;

// SAFETY: `steps` is a shared reference to something `Sync` but for the lifetime, which `lend` and `step` look after. The
// other fields are `Send` and `Sync`.
unsafe impl Send for Crew {}
// SAFETY: as above.
unsafe impl Sync for Crew {}

impl Crew {
    /// A crew with open gates and nobody inside.
    ///
    /// # Safety
    ///
    /// [`close`](Self::close) must have returned before the borrow of `steps` ends.
    unsafe fn lend<'work>(steps: &'work Steps<'work>, helpers: usize) -> Self {
        // SAFETY: the two types differ in a lifetime alone, and only `step` reads through the pointer.
        let steps = unsafe { transmute::<NonNull<Steps<'work>>, NonNull<Steps<'static>>>(NonNull::from(steps)) };
        let gates = (0..helpers).map(|_| CacheLine(AtomicUsize::new(0))).collect();
        Self { gates, steps, has_failed: AtomicBool::new(false), panic: Mutex::new(None) }
    }

    /// One step of a helper, unless its gate is closed. A panic is kept for the caller.
    fn step(&self, seat: usize) -> Step {
        let gate = &self.gates[seat - 1].0;
        // Relaxed: what the caller did before it offered the work came here with the task. Helper and caller change the gate by
        // read-modify-writes alone: either the helper enters first, and the caller waits for it, or the closing comes first,
        // and the helper sees that.
        let seen = gate.fetch_or(INSIDE, Ordering::Relaxed);
        let step = if Rule::EnterWhileOpen.forbids(seen & CLOSED != 0) {
            Step::Done
        } else {
            // SAFETY: `close` does not return while somebody is inside, and until it has, the borrow lasts: the promise
            // made to `lend`.
            let steps = unsafe { self.steps.as_ref() };
            catch_unwind(AssertUnwindSafe(|| steps(seat))).unwrap_or_else(|payload| {
                self.keep_panic(payload);
                Step::Done
            })
        };
        // Release, for the acquire in `close`: all that the helper did happens before the caller returns.
        gate.fetch_and(!INSIDE, LeaveAfterStep.release());
        step
    }

    /// Lets nobody in any more, and waits until nobody is inside.
    fn close(&self) -> Duration {
        for gate in &self.gates {
            gate.0.fetch_or(CLOSED, Ordering::Relaxed);
        }
        let is_inside = |gate: &CacheLine<AtomicUsize>| gate.0.load(ReturnAfterSteps.acquire()) & INSIDE != 0;
        wait_until(|| !self.gates.iter().any(|gate| Rule::WaitForSteps.forbids(is_inside(gate))))
    }

    fn has_failed(&self) -> bool {
        // Relaxed: the flag guards no data, it only has to arrive.
        Rule::StopAfterPanic.forbids(self.has_failed.load(Ordering::Relaxed))
    }

    /// Keeps the first panic for the caller.
    fn keep_panic(&self, payload: Box<dyn Any + Send>) {
        self.has_failed.store(true, Ordering::Relaxed);
        let mut kept = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = Some(payload);
        } else {
            drop(kept);
            discard(payload);
        }
    }

    fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Closes the crew when its scope ends, however it ends.
struct Closing<'crew>(&'crew Crew);

impl Closing<'_> {
    fn close(self) -> Duration {
        let waited = self.0.close();
        std::mem::forget(self);
        waited
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        // This thread panics. That is told to nobody but its caller, and helpers find their gates closed.
        self.0.close();
        if let Some(payload) = self.0.take_panic() {
            discard(payload);
        }
    }
}

/// Drops the payload of a panic that is told to nobody. If that panics too, its own payload is leaked.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(panic);
    }
}

//! Fibers: the threads of the emulated GPU.
//!
//! Each runs the kernel's machine code on a stack of its own, until that code calls the emulator
//! and the emulator suspends it.

use std::cell::{Cell, RefCell};
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};

/// Compiled kernels: they take the address of their arguments.
pub(crate) type Entry = extern "C" fn(*const u8);

thread_local! {
    static RUNNING: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
    /// Stacks of fibers that have ended, since mapping thousands of them anew costs more than a small launch.
    static STACKS: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// A thread of a kernel.
pub(crate) struct Fiber {
    coroutine: Option<Coroutine<(), (), ()>>,
    stack_bytes: usize,
}

impl Fiber {
    /// A fiber that will call `entry(args)`.
    pub(crate) fn new(stack_bytes: usize, entry: Entry, args: usize) -> std::io::Result<Fiber> {
        let pooled = STACKS.with_borrow_mut(|stacks| {
            let place = stacks.iter().rposition(|&(bytes, _)| bytes == stack_bytes)?;
            Some(stacks.swap_remove(place).1)
        });
        let stack = pooled.map_or_else(|| DefaultStack::new(stack_bytes), Ok)?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            RUNNING.set(yielder);
            entry(ptr::with_exposed_provenance(args));
        });
        Ok(Fiber { coroutine: Some(coroutine), stack_bytes })
    }

    /// Runs until the fiber suspends itself; says whether it has ended.
    pub(crate) fn resume(&mut self) -> bool {
        let coroutine = self.coroutine.as_mut().expect("a coroutine until the fiber is dropped");
        coroutine.resume(()).as_return().is_some()
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        let Some(mut coroutine) = self.coroutine.take() else { return };
        if !coroutine.done() {
            // SAFETY: what is left on its stack has nothing to drop: frames of machine code from LLVM, and of `suspend` and the
            // callbacks that call it, which hold only plain numbers across a suspension. The stack is not unwound, since LLVM's
            // frames cannot be.
            unsafe { coroutine.force_reset() };
        }
        let stack = coroutine.into_stack();
        STACKS.with_borrow_mut(|stacks| stacks.push((self.stack_bytes, stack)));
    }
}

/// Suspends the running fiber until it is resumed. Only callbacks of a kernel may call this, and hold nothing that would need to be
/// dropped: a fiber may never be resumed.
pub(crate) fn suspend() {
    let yielder = RUNNING.get();
    assert!(!yielder.is_null(), "kernels run in fibers");
    // SAFETY: callbacks run on a fiber, and the running fiber has set RUNNING, at its start or below: to its own yielder, which
    // lives on its stack as long as its machine code runs.
    unsafe { &*yielder }.suspend(());
    RUNNING.set(yielder);
}

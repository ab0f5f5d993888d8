//! Kernels and their launches: what users of the emulator see.

use std::cell::RefCell;
use std::sync::Arc;

use crate::device::Device;
use crate::error::{CompileError, LaunchError};
use crate::fiber::{Fiber, suspend};
use crate::intrinsic::Intrinsic;
use crate::jit::{Callbacks, Code, Pair};
use crate::machine::{Machine, Next};
use crate::pure;
use crate::site::Kind;

/// A compiled kernel.
#[derive(Clone)]
pub struct Kernel {
    code: Arc<Code>,
}

/// How a kernel is to run.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// How many blocks.
    pub blocks: u32,
    /// Threads of a block, a multiple of 32 up to 1024.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: usize,
    /// The memory that the kernel's parameter points to.
    pub args: &'a [u8],
    /// How many blocks run at a time; others begin when one ends. Each thread that runs has a stack.
    pub resident: u32,
    /// The seed that the schedule depends on, and nothing else does.
    pub seed: u64,
    /// The mistakes that are made on purpose.
    pub faults: &'a [Fault],
    /// Bytes of a thread's stack.
    pub stack_bytes: usize,
    /// After so many steps in which no thread told another anything, the launch is stuck.
    pub patience: u64,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Launch {
            blocks: 1,
            threads: 32,
            shared_bytes: 0,
            args: &[],
            resident: 4,
            seed: 0,
            faults: &[],
            stack_bytes: 1 << 20,
            patience: 2_000_000,
        }
    }
}

/// A mistake to be made: an intrinsic that does nothing. Waits are as if they were over, shuffles give a lane its own value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Each call of this intrinsic.
    Without(Intrinsic),
    /// This call alone, of [`Kernel::calls`].
    WithoutCall(usize),
}

impl Fault {
    /// Threads of a block do not wait for each other.
    pub const NO_BARRIER: Fault = Fault::Without(Intrinsic::Barrier);
    /// Lanes of a warp do not.
    pub const NO_WARP_BARRIER: Fault = Fault::Without(Intrinsic::WarpBarrier);
    /// Ordinary accesses are not ordered before bulk copies.
    pub const NO_BULK_FENCE: Fault = Fault::Without(Intrinsic::BulkFence);
    /// Nobody waits for a phase of a barrier in shared memory.
    pub const NO_BARRIER_WAIT: Fault = Fault::Without(Intrinsic::BarrierTryWait);
    /// Nobody waits until bulk stores have read.
    pub const NO_WAIT_READ: Fault = Fault::Without(Intrinsic::BulkWaitRead);
}

/// The cost of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Intrinsics that ran, and turns that threads had.
    pub steps: u64,
}

thread_local! {
    /// The launch that runs on this thread, for its callbacks.
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

impl Kernel {
    /// Compiles a kernel: LLVM IR that calls the intrinsics, with an entry `define void @name(ptr %args)`. Its parameter points to the
    /// arguments of a launch, at a multiple of 16; the device's addresses are what [`Device::address`] says.
    pub fn compile(text: &str, name: &str) -> Result<Kernel, CompileError> {
        let callbacks = Callbacks { intrinsic: on_atom, pure: on_pure, access: on_access };
        Ok(Kernel { code: Arc::new(Code::new(text, name, &callbacks)?) })
    }

    /// The calls of intrinsics in the kernel's text, in its order, each with its number (for [`Fault::WithoutCall`]) and text.
    pub fn calls(&self) -> impl Iterator<Item = (usize, Intrinsic, &str)> {
        self.code.sites().iter().enumerate().filter_map(|(number, site)| match site.kind {
            Kind::Intrinsic(intrinsic) => Some((number, intrinsic, site.text.as_str())),
            Kind::Access(_) => None,
        })
    }

    /// Runs the kernel to its end.
    pub fn launch(&self, device: &mut Device, launch: &Launch<'_>) -> Result<Report, LaunchError> {
        check(launch)?;
        let left_out = self.code.sites().iter().enumerate().map(|(number, site)| {
            let faulty = |fault: &Fault| match *fault {
                Fault::Without(intrinsic) => matches!(site.kind, Kind::Intrinsic(this) if this == intrinsic),
                Fault::WithoutCall(call) => call == number,
            };
            launch.faults.iter().any(faulty)
        });
        let machine = Machine::new(self.code.clone(), left_out.collect(), std::mem::take(device), launch);
        let mut fibers: Vec<Option<Fiber>> = (0..machine.threads.len()).map(|_| None).collect();
        let args = machine.arguments.address();
        MACHINE.set(Some(machine));
        let result = self.run(&mut fibers, args, launch.stack_bytes);
        // Threads that are left hold addresses of what the machine owns.
        drop(fibers);
        let machine = MACHINE.take().expect("the machine of this launch");
        let report;
        (*device, report) = machine.finish();
        result.map(|()| report)
    }

    fn run(&self, fibers: &mut [Option<Fiber>], args: usize, stack_bytes: usize) -> Result<(), LaunchError> {
        while let Some(thread) = with(Machine::next)? {
            let fiber = match &mut fibers[thread] {
                Some(fiber) => fiber,
                none => {
                    let fiber = Fiber::new(stack_bytes, self.code.entry(), args);
                    none.insert(fiber.map_err(|error| LaunchError::Stack(error.to_string()))?)
                }
            };
            if fiber.resume() {
                fibers[thread] = None;
                with(Machine::ended);
            }
        }
        Ok(())
    }
}

fn check(launch: &Launch<'_>) -> Result<(), LaunchError> {
    let needs =
        |good: bool, expected, found: u64| if good { Ok(()) } else { Err(LaunchError::Shape { expected, found }) };
    let threads = launch.threads;
    needs(launch.blocks > 0, "at least one block", launch.blocks.into())?;
    needs(launch.resident > 0, "at least one resident block", launch.resident.into())?;
    let good = threads.is_multiple_of(32) && (32..=1024).contains(&threads);
    needs(good, "a multiple of 32 threads from 32 to 1024", threads.into())?;
    needs(launch.shared_bytes <= 1 << 20, "at most 2^20 bytes of shared memory", launch.shared_bytes as u64)
}

fn with<T>(act: impl FnOnce(&mut Machine) -> T) -> T {
    MACHINE.with_borrow_mut(|machine| act(machine.as_mut().expect("a launch is running")))
}

extern "C" fn on_atom(site: u32, a: u64, b: u64, c: u64, d: u64, e: u64) -> Pair {
    go_on(with(|machine| machine.intrinsic(site, [a, b, c, d, e])))
}

extern "C" fn on_pure(site: u32, intrinsic: u32, a: u64, b: u64, c: u64) -> u64 {
    pure::value(Intrinsic::ALL[intrinsic as usize], [a, b, c]).unwrap_or_else(|misuse| {
        with(|machine| machine.fail(machine.who(machine.current), site, misuse));
        0
    })
}

extern "C" fn on_access(site: u32, address: u64) {
    go_on(with(|machine| machine.access(site, address)));
}

/// Goes on with the kernel, now or later.
fn go_on(next: Next) -> Pair {
    match next {
        Next::Go(answer) => answer,
        Next::Switch(answer) => {
            suspend();
            answer
        }
        Next::Wait => {
            suspend();
            with(|machine| machine.threads[machine.current].answer)
        }
        Next::Never => loop {
            suspend();
        },
    }
}

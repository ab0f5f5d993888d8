//! Control flow, and variables.

use super::{Builder, Ty, Value};

/// A stack slot of the function, which LLVM turns into registers.
#[derive(Clone, Copy)]
pub struct Var<'k> {
    slot: Value<'k>,
    ty: Ty,
}

impl<'k> Var<'k> {
    pub fn get(self) -> Value<'k> {
        self.slot.load(self.ty, natural(self.ty))
    }

    pub fn set(self, value: Value<'k>) {
        debug_assert_eq!(self.ty, value.ty());
        self.slot.store(value, natural(self.ty));
    }
}

fn natural(ty: Ty) -> usize {
    (ty.bits() as usize / 8).max(1).next_power_of_two().min(16)
}

/// A loop while its body is written: what a way out of it goes to.
#[derive(Clone, Copy)]
pub struct Loop {
    exit: u32,
}

impl Builder {
    /// A variable with its first value, which is set where this is called.
    pub fn var<'k>(&'k self, first: Value<'k>) -> Var<'k> {
        let var = self.unset(first.ty());
        var.set(first);
        var
    }

    /// A variable that will be set before it is read.
    pub fn unset(&self, ty: Ty) -> Var<'_> {
        use std::fmt::Write;
        let number = self.values.get();
        self.values.set(number + 1);
        let _ = writeln!(self.slots.borrow_mut(), "  %v{number} = alloca {ty}, align {}", natural(ty));
        Var { slot: Value::temporary(self, Ty::GENERIC, number), ty }
    }

    fn label(&self) -> u32 {
        let number = self.blocks.get();
        self.blocks.set(number + 1);
        number
    }

    /// Ends the block with a jump, and begins the next.
    fn begin(&self, block: u32) {
        use std::fmt::Write;
        self.line(format_args!("br label %b{block}"));
        let _ = writeln!(self.body.borrow_mut(), "b{block}:");
    }

    fn branch(&self, condition: Value<'_>, yes: u32, no: u32, next: u32) {
        use std::fmt::Write;
        self.line(format_args!("br i1 {condition}, label %b{yes}, label %b{no}"));
        let _ = writeln!(self.body.borrow_mut(), "b{next}:");
    }

    /// Runs `body` where the condition holds.
    pub fn when(&self, condition: Value<'_>, body: impl FnOnce()) {
        let (yes, end) = (self.label(), self.label());
        self.branch(condition, yes, end, yes);
        body();
        self.begin(end);
    }

    /// Runs one of two.
    pub fn either(&self, condition: Value<'_>, yes: impl FnOnce(), no: impl FnOnce()) {
        let (first, second, end) = (self.label(), self.label(), self.label());
        self.branch(condition, first, second, first);
        yes();
        self.line(format_args!("br label %b{end}"));
        {
            use std::fmt::Write;
            let _ = writeln!(self.body.borrow_mut(), "b{second}:");
        }
        no();
        self.begin(end);
    }

    /// Runs `body` until it [leaves](Emit::leave_if).
    pub fn forever(&self, body: impl FnOnce(Loop)) {
        let (start, exit) = (self.label(), self.label());
        self.begin(start);
        body(Loop { exit });
        self.line(format_args!("br label %b{start}"));
        use std::fmt::Write;
        let _ = writeln!(self.body.borrow_mut(), "b{exit}:");
    }

    /// Leaves the loop where the condition holds.
    pub fn leave_if(&self, from: Loop, condition: Value<'_>) {
        let next = self.label();
        self.branch(condition, from.exit, next, next);
    }

    /// Runs `body` while the condition, computed anew each time, holds.
    pub fn repeat_while<'k>(&'k self, condition: impl FnOnce() -> Value<'k>, body: impl FnOnce()) {
        self.forever(|this| {
            let goes_on = condition();
            self.leave_if(this, !goes_on);
            body();
        });
    }

    /// Runs `body` for `first`, `first + step`, … below `end`.
    pub fn range<'k>(&'k self, first: Value<'k>, end: Value<'k>, step: Value<'k>, body: impl FnOnce(Value<'k>)) {
        let place = self.var(first);
        self.repeat_while(
            || place.get().below(end),
            || {
                body(place.get());
                place.set(place.get() + step);
            },
        );
    }
}

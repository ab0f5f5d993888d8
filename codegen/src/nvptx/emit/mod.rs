//! The IR builder that kernels are written with: LLVM IR as text, from Rust that reads like a
//! kernel.
//!
//! ```text
//! let sum = k.var(Ty::I32, k.i32(0));
//! k.count(k.i32(0), n, |i| sum.set(sum.get() + base.byte(i * 4).load(Ty::I32, 4)));
//! ```
//!
//! A [`Value`] is an operand with its type; operators on values append instructions. Control flow
//! is closures, and a variable ([`Var`]) is a stack slot, which LLVM turns into registers and phi
//! nodes. Text needs no lifetime of a context and no unsafe code, can be read by people and by
//! another backend (the emulator's), and LLVM's parser checks every type in it.
//!
//! Constants are folded where that is an identity (`x + 0`, `x * 1`), LLVM does the rest.

mod assemble;
mod control;
mod intrinsics;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

pub(crate) use assemble::{Passes, assemble, key};
pub use control::Var;
pub(crate) use intrinsics::CachePolicy;
pub use value::Value;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// An integer of so many bits; 1 is a truth value.
    Int(u16),
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// So many 32-bit integers in a vector: what moves through 8- and 16-byte loads and stores.
    Words(u8),
    /// Two 64-bit integers: what 16-byte atomic loads give.
    Pair,
    /// An address.
    Pointer(Space),
}

/// The memory that an address is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Any: the stack of a thread, and the arguments of a kernel.
    Generic = 0,
    /// Device memory.
    Global = 1,
    /// The memory that the threads of a block share.
    Shared = 3,
}

impl Ty {
    pub const BOOL: Ty = Ty::Int(1);
    pub const I8: Ty = Ty::Int(8);
    pub const I32: Ty = Ty::Int(32);
    pub const I64: Ty = Ty::Int(64);
    pub const GLOBAL: Ty = Ty::Pointer(Space::Global);
    pub const SHARED: Ty = Ty::Pointer(Space::Shared);
    pub const GENERIC: Ty = Ty::Pointer(Space::Generic);

    /// Bits of a value; of an address 64.
    pub fn bits(self) -> u32 {
        match self {
            Ty::Int(bits) => bits.into(),
            Ty::F32 => 32,
            Ty::F64 | Ty::Pointer(_) => 64,
            Ty::Words(words) => 32 * u32::from(words),
            Ty::Pair => 128,
        }
    }

    /// The suffix that LLVM gives names of intrinsics for this type.
    pub fn suffix(self) -> String {
        match self {
            Ty::F32 | Ty::F64 => format!("f{}", self.bits()),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::F32 => f.write_str("float"),
            Ty::F64 => f.write_str("double"),
            Ty::Words(words) => write!(f, "<{words} x i32>"),
            Ty::Pair => f.write_str("{ i64, i64 }"),
            Ty::Pointer(Space::Generic) => f.write_str("ptr"),
            Ty::Pointer(space) => write!(f, "ptr addrspace({})", space as u32),
        }
    }
}

/// A module while it is written.
#[derive(Default)]
pub struct Builder {
    /// The text before the functions: globals and declarations, each once.
    heads: RefCell<BTreeSet<String>>,
    functions: RefCell<String>,
    /// The function that is being written: its stack slots, which stand in its first block, and the rest.
    slots: RefCell<String>,
    body: RefCell<String>,
    values: Cell<u32>,
    blocks: Cell<u32>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Writes a function without a result: `head` is the text before its body, such as `define void @f(i32 %x)`.
    pub fn function<'k>(&'k self, head: &str, body: impl FnOnce(&'k Builder)) {
        self.slots.take();
        self.body.take();
        self.values.set(0);
        self.blocks.set(0);
        body(self);
        let (slots, body) = (self.slots.take(), self.body.take());
        let text = format!("\n{head} {{\nslots:\n{slots}  br label %start\nstart:\n{body}  ret void\n}}\n");
        self.functions.borrow_mut().push_str(&text);
    }

    /// Adds a declaration or a global, if it is not there yet.
    pub fn head(&self, line: String) {
        self.heads.borrow_mut().insert(line);
    }

    /// The module, without definitions of the intrinsics it calls.
    pub fn finish(self) -> String {
        let heads: Vec<String> = self.heads.take().into_iter().collect();
        format!("{}\n{}", heads.join("\n"), self.functions.take())
    }

    /// Appends a line to the body.
    fn line(&self, text: fmt::Arguments<'_>) {
        let mut body = self.body.borrow_mut();
        let _ = writeln!(body, "  {text}");
    }

    /// Appends an instruction that gives a value.
    fn define(&self, ty: Ty, text: fmt::Arguments<'_>) -> Value<'_> {
        let number = self.values.get();
        self.values.set(number + 1);
        self.line(format_args!("%v{number} = {text}"));
        Value::temporary(self, ty, number)
    }

    /// A named value: a parameter of the function or a global.
    pub fn named(&self, ty: Ty, name: &'static str) -> Value<'_> {
        Value::named(self, ty, name)
    }

    /// A constant; its low bits count.
    pub fn int(&self, ty: Ty, value: i128) -> Value<'_> {
        Value::constant(self, ty, value)
    }

    pub fn bool(&self, value: bool) -> Value<'_> {
        self.int(Ty::BOOL, value.into())
    }

    pub fn i32(&self, value: usize) -> Value<'_> {
        self.int(Ty::I32, value as i128)
    }

    pub fn i64(&self, value: usize) -> Value<'_> {
        self.int(Ty::I64, value as i128)
    }

    /// A float by its bits.
    pub fn float(&self, ty: Ty, bits: u64) -> Value<'_> {
        Value::constant(self, ty, bits.into())
    }

    /// Constant number `number` of the module in device memory, at a multiple of 16.
    pub fn constant_bytes(&self, number: usize, bytes: &[u8]) -> Value<'_> {
        let mut text =
            format!("@table{number} = private unnamed_addr addrspace(1) constant [{} x i8] c\"", bytes.len());
        for byte in bytes {
            let _ = write!(text, "\\{byte:02X}");
        }
        text.push_str("\", align 16");
        self.head(text);
        Value::table(self, number)
    }

    /// A value that does not matter.
    pub fn poison(&self, ty: Ty) -> Value<'_> {
        Value::poison(self, ty)
    }

    /// Calls a function that the module declares, by its name without the `@`; void functions give none.
    pub fn call<'k>(&'k self, result: Option<Ty>, name: &str, args: &[Value<'k>]) -> Option<Value<'k>> {
        let types: Vec<String> = args.iter().map(|arg| arg.ty().to_string()).collect();
        let typed: Vec<String> = args.iter().map(|arg| format!("{} {arg}", arg.ty())).collect();
        let shown = result.map_or("void".to_owned(), |ty| ty.to_string());
        self.head(format!("declare {shown} @{name}({})", types.join(", ")));
        let call = format!("call {shown} @{name}({})", typed.join(", "));
        match result {
            Some(ty) => Some(self.define(ty, format_args!("{call}"))),
            None => {
                self.line(format_args!("{call}"));
                None
            }
        }
    }

    /// Calls one of LLVM's intrinsics, or another function with a result.
    pub fn intrinsic<'k>(&'k self, result: Ty, name: &str, args: &[Value<'k>]) -> Value<'k> {
        self.call(Some(result), name, args).expect("a call with a result gives it")
    }
}

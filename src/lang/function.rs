//! [`ScanFn`]: functions that scans apply to elements and states, natively and as IR at once.

use std::sync::Arc;

use monoscan_ir::Layout;

use super::scan_type::{ScanType, V, layout_of};
use super::table::{self, Table, TableHandle};

/// A function in scan code, called with the tuple of its arguments: the type `f {}` that `#[scan_fn] fn f` emits, the
/// value of `scan!(|x: f32| -> f32 { … })`, or one of these [with a table bound](BindTable::with_table).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scan function of the arguments `{Args}`",
    note = "mark the function `#[scan_fn]` and pass it as `name {{}}`, or write `scan!(|x: T| -> U {{ .. }})`"
)]
pub trait ScanFn<Args: Arguments>: Send + Sync + 'static {
    /// The type of its result.
    type Out: ScanType;

    /// Runs the function as it was written.
    fn call(&self, arguments: Args) -> Self::Out;

    /// Appends the function to the IR being built.
    #[doc(hidden)]
    fn trace(&self, arguments: Args::Handles) -> V<Self::Out>;
}

/// An argument of a scan function: a scan type or a table.
pub trait Argument: Copy {
    /// Its handle in traced code.
    #[doc(hidden)]
    type Handle: Copy;
}

impl<X: ScanType> Argument for X {
    type Handle = V<X>;
}

impl<T: ScanType> Argument for Table<'_, T> {
    type Handle = TableHandle<T>;
}

/// The arguments of a scan function: a tuple of up to thirteen.
pub trait Arguments {
    /// Their handles in traced code.
    #[doc(hidden)]
    type Handles;
}

/// Arguments that are all data: what a function takes once its tables are bound. As a scan type, the tuple's
/// components are the parameters of the traced function.
pub trait Inputs: Arguments + ScanType {
    /// The memory layout of each argument, as a column of its own.
    fn layouts() -> Vec<Layout>;

    /// The handles that these parts make up.
    #[doc(hidden)]
    fn handles(parts: V<Self>) -> Self::Handles;
}

/// The value of `scan!`: the closure, and its second body over handles.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Closure<F, G> {
    native: F,
    traced: G,
}

impl<F, G> Closure<F, G> {
    /// Pairs the bodies. The parameters of this function tell rustc the types of the closures.
    pub fn new<A: Arguments, R: ScanType>(native: F, traced: G) -> Closure<F, G>
    where
        F: Fn(A) -> R,
        G: Fn(A::Handles) -> V<R>,
    {
        Closure { native, traced }
    }
}

impl<A, R, F, G> ScanFn<A> for Closure<F, G>
where
    A: Arguments,
    R: ScanType,
    F: Fn(A) -> R + Send + Sync + 'static,
    G: Fn(A::Handles) -> V<R> + Send + Sync + 'static,
{
    type Out = R;

    fn call(&self, arguments: A) -> R {
        (self.native)(arguments)
    }

    fn trace(&self, arguments: A::Handles) -> V<R> {
        (self.traced)(arguments)
    }
}

/// Binds the first parameter of a scan function, which must be a [`Table`].
pub trait BindTable: Sized {
    /// The function with its first parameter bound to a table of these elements, which are copied.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// #[scan_fn]
    /// fn class(classes: Table<u8>, byte: u8) -> u8 { classes.get(byte as u32) }
    ///
    /// let mut classes = [0; 256];
    /// classes[b'{' as usize] = 1;
    /// let class = class {}.with_table(&classes);
    /// assert_eq!(class.call((b'{',)), 1);
    /// ```
    fn with_table<T: ScanType>(self, elements: &[T]) -> WithTable<Self, T> {
        WithTable { function: self, elements: elements.into() }
    }
}

impl<F, G> BindTable for Closure<F, G> {}
impl<F, T> BindTable for WithTable<F, T> {}

/// A scan function with its first parameter bound to a table.
#[derive(Clone, Debug)]
pub struct WithTable<F, T> {
    function: F,
    elements: Arc<[T]>,
}

macro_rules! arguments {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            type Handles = ($($name::Handle,)*);
        }

        impl<$($name: ScanType),*> Inputs for ($($name,)*) {
            fn layouts() -> Vec<Layout> {
                vec![$(layout_of::<$name>()),*]
            }

            #[allow(clippy::unused_unit, reason = "the empty tuple has no parts")]
            fn handles(_parts: V<Self>) -> Self::Handles {
                ($(_parts.$index,)*)
            }
        }
    )*};
}

for_prefixes! {
    arguments () (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9) (K 10) (L 11) (M 12)
}

macro_rules! bound_tables {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<Function, Element, Out, $($name: Argument),*> ScanFn<($($name,)*)> for WithTable<Function, Element>
        where
            Element: ScanType,
            Out: ScanType,
            Function: for<'t> ScanFn<(Table<'t, Element>, $($name,)*), Out = Out>,
        {
            type Out = Out;

            fn call(&self, _arguments: ($($name,)*)) -> Out {
                self.function.call((Table::new(&self.elements), $(_arguments.$index,)*))
            }

            fn trace(&self, _arguments: ($($name::Handle,)*)) -> V<Out> {
                let table = table::lift(Table::new(&self.elements));
                self.function.trace((table, $(_arguments.$index,)*))
            }
        }
    )*};
}

for_prefixes! {
    bound_tables () (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6)
}

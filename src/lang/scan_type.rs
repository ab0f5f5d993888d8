//! [`ScanType`]: the Rust types that scans read, carry and write.
//!
//! A scan type is a flat list of scalar *components*, each at an offset: `Mat { m: [[f32; 2]; 2] }`
//! has the components `m[0][0]`, `m[0][1]`, `m[1][0]`, `m[1][1]`. Memory, constants and IR values
//! all follow that one order.

use std::fmt::Display;
use std::ops::{Deref, DerefMut};

use monoscan_ir::{Constant, Field, Layout, Type, Value};
use smallvec::SmallVec;

/// A type that scans read, carry or write: a scalar, an array or tuple of scan types, or a struct or an enum without
/// data with `#[derive(ScanType)]` or `#[scan_monoid]`.
///
/// # Safety
/// Generated code reads and writes memory at the offsets that `describe` gives. Implementations come from the macros,
/// which take every offset from `offset_of!` and cover every field; do not write one by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scan type",
    label = "not a scan type",
    note = "scan types are `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `f16` and `bf16` of the crate `half`, arrays and tuples of scan types, and structs and enums without data with `#[derive(ScanType)]` or `#[scan_monoid]`",
    note = "instead of `usize` or `u128` use `u32` or `u64`; instead of `char` use `u8` or `u32`; instead of an `Option` use a `bool` and a value"
)]
pub unsafe trait ScanType: Copy + Send + Sync + 'static {
    /// The handle of a value in traced code: a [`Value`] for a scalar, and for anything else its parts.
    #[doc(hidden)]
    type Traced: Copy;

    /// Lists the components, in order.
    #[doc(hidden)]
    fn describe(components: &mut Components);

    /// Makes a handle, asking for one value per component, in order.
    #[doc(hidden)]
    fn build(next: &mut dyn FnMut(Type) -> Value) -> Self::Traced;

    /// The values of a handle, in order.
    #[doc(hidden)]
    fn flatten(parts: &Self::Traced, values: &mut Vec<Value>);

    /// The components of a native value, in order.
    #[doc(hidden)]
    fn store(value: &Self, constants: &mut Constants);

    /// The native value of these components; a missing one is zero.
    #[doc(hidden)]
    fn load(constants: &mut dyn Iterator<Item = Constant>) -> Self;

    /// Conditions under which every component has a value that occurs: none but for enums.
    #[doc(hidden)]
    fn restrict(_parts: &Self::Traced, _conditions: &mut Vec<V<bool>>) {}
}

/// The handle of a value of type `X` in traced code. Fields, elements and tuple members are reached through it as
/// through the value itself.
#[doc(hidden)]
pub struct V<X: ScanType> {
    pub __parts: X::Traced,
}

impl<X: ScanType> V<X> {
    /// Wraps the parts.
    pub fn of(parts: X::Traced) -> V<X> {
        V { __parts: parts }
    }

    /// The IR values of all components, in order.
    pub fn values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        X::flatten(&self.__parts, &mut values);
        values
    }

    /// The handle over these values.
    pub(crate) fn from_values(values: &mut dyn Iterator<Item = Value>) -> V<X> {
        V::of(X::build(&mut |_| values.next().expect("one value for each component")))
    }
}

impl<X: ScanType> Clone for V<X> {
    fn clone(&self) -> V<X> {
        *self
    }
}

impl<X: ScanType> Copy for V<X> {}

impl<X: ScanType> Deref for V<X> {
    type Target = X::Traced;
    fn deref(&self) -> &X::Traced {
        &self.__parts
    }
}

impl<X: ScanType> DerefMut for V<X> {
    fn deref_mut(&mut self) -> &mut X::Traced {
        &mut self.__parts
    }
}

/// A component of a scan type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component {
    /// How Rust code reaches it: `a`, `m[0][1]`, `t.0`; empty if the type is a scalar itself.
    pub name: String,
    /// Bytes from the start of the value.
    pub offset: usize,
    /// Its scalar type.
    pub ty: Type,
}

/// The components of a type, being listed.
#[doc(hidden)]
#[derive(Default)]
pub struct Components {
    list: Vec<Component>,
    name: String,
    offset: usize,
}

impl Components {
    /// The components of `X`.
    pub fn of<X: ScanType>() -> Vec<Component> {
        let mut components = Components::default();
        X::describe(&mut components);
        components.list
    }

    /// Lists the components of a field.
    pub fn field<X: ScanType>(&mut self, name: impl Display, offset: usize) {
        let dot = if self.name.is_empty() { "" } else { "." };
        self.nested::<X>(format_args!("{dot}{name}"), offset);
    }

    /// Lists the components of an array element.
    pub(crate) fn element<X: ScanType>(&mut self, index: usize) {
        self.nested::<X>(format_args!("[{index}]"), index * size_of::<X>());
    }

    /// Lists a scalar.
    pub(crate) fn scalar(&mut self, ty: Type) {
        self.list.push(Component { name: self.name.clone(), offset: self.offset, ty });
    }

    fn nested<X: ScanType>(&mut self, suffix: impl Display, offset: usize) {
        let length = self.name.len();
        self.name += &suffix.to_string();
        self.offset += offset;
        X::describe(self);
        self.offset -= offset;
        self.name.truncate(length);
    }
}

/// How `X` lies in memory.
///
/// # Panics
/// If an implementation of [`ScanType`] written by hand lists components that overlap or lie outside the type.
pub fn layout_of<X: ScanType>() -> Layout {
    let components = Components::of::<X>();
    check(&components, size_of::<X>());
    let fields = components.iter().map(|c| Field { offset: c.offset as u32, ty: c.ty }).collect();
    Layout { size: size_of::<X>() as u32, align: align_of::<X>() as u32, fields }
}

fn check(components: &[Component], size: usize) {
    assert!(size <= u32::MAX as usize, "a record of {size} bytes");
    let mut spans: Vec<(usize, usize)> = components.iter().map(|c| (c.offset, c.offset + c.ty.size())).collect();
    spans.sort_unstable();
    let apart = spans.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    assert!(apart && spans.iter().all(|span| span.1 <= size), "components overlap or leave the type: {components:?}");
}

/// The names of the components of `X`, in order: `a`, `m[0][1]`, `t.0`. A scalar's one component is called `value`.
pub fn component_names<X: ScanType>() -> Vec<String> {
    let name = |c: Component| if c.name.is_empty() { "value".to_owned() } else { c.name };
    Components::of::<X>().into_iter().map(name).collect()
}

/// The components of a value, in order; few of them are not allocated.
pub type Constants = SmallVec<[Constant; 8]>;

/// The components of a value, in order.
pub fn components<X: ScanType>(value: &X) -> Constants {
    let mut constants = Constants::new();
    X::store(value, &mut constants);
    constants
}

/// The components of a value, in order, as a vector.
pub fn to_constants<X: ScanType>(value: &X) -> Vec<Constant> {
    components(value).into_vec()
}

/// The value of these components; missing ones are zero.
pub fn from_constants<X: ScanType>(constants: impl IntoIterator<Item = Constant>) -> X {
    X::load(&mut constants.into_iter())
}

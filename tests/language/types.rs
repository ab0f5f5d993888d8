//! Scan types: their layouts, names and constants.

use monoscan::lang::{component_names, from_constants, layout_of, to_constants};
use monoscan::prelude::*;
use monoscan_ir::{Layout, Type};

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Inner<T, const N: usize> {
    ok: bool,
    m: [[T; 2]; N],
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[repr(C)]
struct Outer {
    a: u8,
    t: (i16, f32),
    inner: Inner<f64, 1>,
    r#type: half::f16,
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Wrapped(pub u32, [u8; 3]);

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[repr(C, align(32))]
struct Aligned {
    x: f32,
}

fn outer() -> Outer {
    Outer { a: 7, t: (-3, 1.5), inner: Inner { ok: true, m: [[2.0, -0.0]] }, r#type: half::f16::ONE }
}

#[test]
fn names_are_how_rust_code_reaches_the_component() {
    assert_eq!(component_names::<Outer>(), ["a", "t.0", "t.1", "inner.ok", "inner.m[0][0]", "inner.m[0][1]", "type"]);
    assert_eq!(component_names::<Wrapped>(), ["0", "1[0]", "1[1]", "1[2]"]);
    assert_eq!(component_names::<f32>(), ["value"]);
    assert_eq!(component_names::<[u8; 2]>(), ["[0]", "[1]"]);
}

#[test]
fn layouts_are_the_compilers() {
    let layout = layout_of::<Outer>();
    let value = outer();
    let address = |x: *const u8| x as u32 - (&raw const value) as u32;
    let offset = |name: &str| {
        let place = component_names::<Outer>().iter().position(|known| known == name).unwrap();
        layout.fields[place].offset
    };
    assert_eq!(offset("t.1"), address((&raw const value.t.1).cast()));
    assert_eq!(offset("inner.m[0][1]"), address((&raw const value.inner.m[0][1]).cast()));
    assert_eq!(layout.size as usize, size_of::<Outer>());
    assert_eq!(layout.align as usize, align_of::<Outer>());
    assert_eq!(layout_of::<Aligned>().size, 32);
    assert_eq!(layout_of::<u16>(), Layout::of(Type::U16));
    assert_eq!(layout_of::<()>().fields, []);
}

#[test]
fn constants_make_the_value_again() {
    let value = outer();
    assert_eq!(from_constants::<Outer>(to_constants(&value)), value);
    assert_eq!(to_constants(&value)[2], 1.5f32.into());
    // Missing components are zero.
    assert_eq!(from_constants::<Wrapped>([5u32.into()]), Wrapped(5, [0; 3]));
}

#[test]
fn layouts_of_private_and_local_structs_work() {
    #[derive(Clone, Copy, ScanType)]
    pub struct Local {
        x: i64,
        pub y: Hidden,
    }
    #[derive(Clone, Copy, ScanType)]
    struct Hidden(bool);
    assert_eq!(component_names::<Local>(), ["x", "y.0"]);
    let local = Local { x: 1, y: Hidden(true) };
    assert!(local.y.0 && local.x == 1);
}

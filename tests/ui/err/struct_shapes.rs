use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
#[repr(C, packed(2))]
struct Packed {
    a: u8,
    b: u32,
}

#[derive(Clone, Copy, ScanType)]
struct Empty;

#[derive(Clone, Copy, ScanType)]
struct Borrowed<'a> {
    a: &'a [f32],
    p: *const u8,
}

#[derive(Clone, Copy, ScanType)]
struct Phantom<T> {
    a: f32,
    of: std::marker::PhantomData<T>,
}

fn main() {}

//! Running sums.

use std::ops::Add;

use bytemuck::Pod;
use monoscan::prelude::*;
use rayon::prelude::*;
use rayon_scan::ScanParallelIterator;

use super::Session;
use crate::output::Output;
use crate::peers::{Native, PythonScan};
use crate::race::Field;
use crate::report::{Role, Row};
use crate::two_pass::two_pass;
use bench_shared::scans::Sums;
use bench_shared::{data, loops, scans};

pub(super) fn sum_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let ours = [1, 2].map(|threads| scans::sum_i32(threads).expect("a sum is a monoid"));
    sum(
        session,
        field,
        data::small_integers(len),
        Of { name: "i32", plain: loops::sum_i32, add: i32::wrapping_add, ours },
    )
}

pub(super) fn sum_f32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let ours = [1, 2].map(|threads| scans::sum_f32(threads).expect("a sum is a monoid"));
    sum(session, field, data::small_integers(len), Of { name: "f32", plain: loops::sum_f32, add: f32::add, ours })
}

/// The part that differs between types.
struct Of<T: Num> {
    name: &'static str,
    plain: fn(&[T], &mut [T]),
    add: fn(T, T) -> T,
    ours: [Sums<T>; 2],
}

/// A sum in C.
type Foreign<T> = unsafe extern "C" fn(*const T, *mut T, usize);

fn sum<T>(session: &Session, field: Field<'_>, x: Vec<T>, of: Of<T>) -> Vec<Row>
where
    T: Num + Pod + Default + Into<f64> + From<u8>,
{
    let x = &x[..];
    let mut expected = vec![T::default(); x.len()];
    (of.plain)(x, &mut expected);
    let y = Output::exact(expected);
    let mut field = field;

    field.enter((Role::Baseline, "plain loop", 1), &y, || (of.plain)(x, &mut y.write()[..]));
    for (threads, scan) in (1..).zip(&of.ours) {
        field.enter((Role::Ours, "monoscan", threads), &y, || {
            scan.inclusive_into(x, &mut y.write()[..]).expect("columns of one length");
        });
    }
    let cumsum = PythonScan::new(&session.peers, &format!("cumsum {}", dtype(of.name)), x, &y);
    field.enter_if((Role::Rival, "numpy.cumsum", 1), &y, cumsum);
    let std_scan = foreign(&session.peers.std_scan, of.name);
    field.enter_if((Role::Rival, "C++ par_unseq", 2), &y, std_scan.map(|sum| call(sum, x, &y)));
    let tbb_scan = foreign(&session.peers.tbb_scan, of.name);
    field.enter_if((Role::Rival, "TBB parallel_scan", 2), &y, tbb_scan.map(|sum| call(sum, x, &y)));
    let add = of.add;
    field.enter((Role::Rival, "rayon two-pass", 2), &y, || {
        let last = |range: std::ops::Range<usize>| x[range].iter().copied().fold(T::default(), add);
        two_pass(
            &mut y.write(),
            T::default(),
            last,
            |&carry, sum, _| add(carry, sum),
            |range, mut carry, y| {
                for (&x, y) in x[range].iter().zip(y) {
                    carry = add(carry, x);
                    *y = carry;
                }
            },
        );
    });
    field.enter((Role::Rival, "rayon-scan", 2), &y, || {
        y.replace(x.par_iter().copied().scan(|&a, &b| add(a, b), T::default()).collect());
    });
    field.race(session.effort)
}

/// NumPy's name of a type.
fn dtype(name: &str) -> &'static str {
    if name == "i32" { "int32" } else { "float32" }
}

fn foreign<T>(peer: &Result<Native, String>, name: &str) -> Result<Foreign<T>, String> {
    let native = peer.as_ref().map_err(Clone::clone)?;
    // SAFETY: so are `sum_i32` and `sum_f32` declared, in both libraries.
    unsafe { native.function(&format!("sum_{name}")) }
}

fn call<T: Pod + Into<f64> + From<u8>>(sum: Foreign<T>, x: &[T], y: &Output<T>) -> impl FnMut() {
    // SAFETY: both columns have this length.
    move || unsafe { sum(x.as_ptr(), y.write().as_mut_ptr(), x.len()) }
}

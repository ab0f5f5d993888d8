//! The operators of the table: a plain loop and a scan of each, over the same columns.

use std::sync::Arc;

use bench_shared::{data, loops, scans};

use crate::peers::Native;

/// Writes a column of results.
pub(crate) type Run<T> = Box<dyn Fn(&mut [T]) + Sync>;

/// The value that is compared on a column of results.
pub(crate) struct Pair<T> {
    pub(crate) name: &'static str,
    /// Bytes that an element reads and writes.
    pub(crate) moved: usize,
    pub(crate) plain: Run<T>,
    /// Scans with at most so many threads, or as many as the engine chooses.
    pub(crate) scan: Run<T>,
    /// The same on one thread.
    pub(crate) alone: Run<T>,
    /// A reduction on one thread.
    pub(crate) reduce: Box<dyn Fn() + Sync>,
    /// Elements of a tile.
    pub(crate) tile: usize,
    /// TBB's `parallel_scan`, if it was built and there is one.
    pub(crate) tbb: Option<Tbb<T>>,
}

/// TBB's scan of the same columns.
pub(crate) struct Tbb<T> {
    /// Where the number of its threads is set.
    pub(crate) native: Arc<Native>,
    pub(crate) run: Run<T>,
}

impl<T: 'static> Tbb<T> {
    /// Takes the function of the shared object that is called so, as `bind` wraps it.
    ///
    /// # Safety
    /// `F` is that function's type as the C++ source has it.
    unsafe fn find<F: Copy>(name: &str, bind: impl FnOnce(F) -> Run<T>) -> Option<Tbb<T>> {
        let native = Arc::new(Native::tbb_scan().ok()?);
        // SAFETY: the caller promises.
        let function = unsafe { native.function::<F>(name) }.ok()?;
        let (run, kept) = (bind(function), native.clone());
        // The function is there as long as the object is.
        let run: Run<T> = Box::new(move |y| {
            _ = &kept;
            run(y);
        });
        Some(Tbb { native, run })
    }
}

/// A consumer of a pair, of whatever type its results are.
pub(crate) trait Visitor {
    /// Does with a pair what there is to do.
    fn visit<T: Copy + Default + PartialEq + Send + Sync>(&mut self, pair: Pair<T>);
}

pub(crate) const RUN_LENGTHS: &str = "run-lengths";

/// The operators, by their names on the command line.
pub(crate) const NAMES: [&str; 5] = ["sum-i32", "affine-f32", "states-16", "segmented-i32", RUN_LENGTHS];

/// Makes the columns of an operator, and takes them to the visitor.
pub(crate) fn visit(name: &'static str, len: usize, visitor: &mut impl Visitor) {
    const FITS: &str = "columns of one length";
    const LAWFUL: &str = "a monoid";
    match name {
        "sum-i32" => {
            let x = Arc::new(data::small_integers::<i32>(len));
            let of = |threads: Option<usize>| -> Run<i32> {
                let (scan, x) = (scans::sum_i32(threads).expect(LAWFUL), x.clone());
                Box::new(move |y| _ = scan.inclusive_into(&x[..], y).expect(FITS))
            };
            let (scan, alone) = (of(None), of(Some(1)));
            let (tile, reduce) = {
                let (one, x) = (scans::sum_i32(1).expect(LAWFUL), x.clone());
                let tile = one.plan().tile();
                (tile, Box::new(move || _ = std::hint::black_box(one.reduce(&x[..]).expect(FITS))))
            };
            let bind = |scan: unsafe extern "C" fn(*const i32, *mut i32, usize)| -> Run<i32> {
                let x = x.clone();
                // SAFETY: all columns have so many elements.
                Box::new(move |y| unsafe { scan(x.as_ptr(), y.as_mut_ptr(), x.len().min(y.len())) })
            };
            // SAFETY: the function has this type.
            let tbb = unsafe { Tbb::find("sum_i32", bind) };
            let plain = Box::new(move |y: &mut [i32]| loops::sum_i32(&x, y));
            visitor.visit(Pair { name, moved: 8, plain, scan, alone, reduce, tile, tbb });
        }
        "affine-f32" => {
            let a: Arc<Vec<f32>> = Arc::new(data::factors(len).map(|a| a as f32).collect());
            let b: Arc<Vec<f32>> = Arc::new(data::samples(len).map(|b| b as f32).collect());
            let of = |threads: Option<usize>| -> Run<f32> {
                let (scan, a, b) = (scans::affine_f32(threads).expect(LAWFUL), a.clone(), b.clone());
                Box::new(move |y| _ = scan.inclusive_into((&a[..], &b[..]), y).expect(FITS))
            };
            let (scan, alone) = (of(None), of(Some(1)));
            let (tile, reduce) = {
                let (one, a, b) = (scans::affine_f32(1).expect(LAWFUL), a.clone(), b.clone());
                let tile = one.plan().tile();
                (tile, Box::new(move || _ = std::hint::black_box(one.reduce((&a[..], &b[..])).expect(FITS))))
            };
            let bind = |scan: unsafe extern "C" fn(*const f32, *const f32, *mut f32, usize)| -> Run<f32> {
                let (a, b) = (a.clone(), b.clone());
                // SAFETY: all columns have so many elements.
                Box::new(move |y| unsafe { scan(a.as_ptr(), b.as_ptr(), y.as_mut_ptr(), a.len().min(y.len())) })
            };
            // SAFETY: the function has this type.
            let tbb = unsafe { Tbb::find("affine_f32", bind) };
            let plain = Box::new(move |y: &mut [f32]| loops::affine_f32(&a, &b, y));
            visitor.visit(Pair { name, moved: 12, plain, scan, alone, reduce, tile, tbb });
        }
        "states-16" => {
            let (moves, x) = (data::automaton(), Arc::new(data::bytes(len)));
            let of = |threads: Option<usize>| -> Run<u8> {
                let (scan, x) = (scans::states(&moves, threads).expect(LAWFUL), x.clone());
                Box::new(move |y| _ = scan.inclusive_into(&x[..], y).expect(FITS))
            };
            let (scan, alone, by_state) = (of(None), of(Some(1)), data::by_state(&moves));
            let (tile, reduce) = {
                let (one, x) = (scans::states(&moves, 1).expect(LAWFUL), x.clone());
                let tile = one.plan().tile();
                (tile, Box::new(move || _ = std::hint::black_box(one.reduce(&x[..]).expect(FITS))))
            };
            let plain = Box::new(move |y: &mut [u8]| loops::states(&by_state, &x, y));
            visitor.visit(Pair { name, moved: 2, plain, scan, alone, reduce, tile, tbb: None });
        }
        "segmented-i32" => {
            let (heads, x) = (Arc::new(data::heads(len)), Arc::new(data::small_integers::<i32>(len)));
            let of = |threads: Option<usize>| -> Run<i32> {
                let (scan, heads, x) = (scans::segmented_i32(threads).expect(LAWFUL), heads.clone(), x.clone());
                Box::new(move |y| _ = scan.inclusive_into((&heads[..], &x[..]), y).expect(FITS))
            };
            let (scan, alone) = (of(None), of(Some(1)));
            let (tile, reduce) = {
                let (one, heads, x) = (scans::segmented_i32(1).expect(LAWFUL), heads.clone(), x.clone());
                let tile = one.plan().tile();
                (tile, Box::new(move || _ = std::hint::black_box(one.reduce((&heads[..], &x[..])).expect(FITS))))
            };
            let bind = |scan: unsafe extern "C" fn(*const bool, *const i32, *mut i32, usize)| -> Run<i32> {
                let (heads, x) = (heads.clone(), x.clone());
                // SAFETY: all columns have so many elements.
                Box::new(move |y| unsafe { scan(heads.as_ptr(), x.as_ptr(), y.as_mut_ptr(), x.len().min(y.len())) })
            };
            // SAFETY: the function has this type.
            let tbb = unsafe { Tbb::find("segmented_i32", bind) };
            let plain = Box::new(move |y: &mut [i32]| loops::segmented_i32(&heads, &x, y));
            visitor.visit(Pair { name, moved: 9, plain, scan, alone, reduce, tile, tbb });
        }
        _ => {
            // Two symbols, in runs of two on average.
            let x: Arc<Vec<u8>> = Arc::new(data::bytes(len).iter().map(|byte| byte % 2).collect());
            let of = |threads: Option<usize>| -> Run<(u8, u32)> {
                let (scan, x) = (scans::run_lengths(threads).expect(LAWFUL), x.clone());
                Box::new(move |y| _ = scan.inclusive_into(&x[..], y).expect(FITS))
            };
            let (scan, alone) = (of(None), of(Some(1)));
            let (tile, reduce) = {
                let (one, x) = (scans::run_lengths(1).expect(LAWFUL), x.clone());
                let tile = one.plan().tile();
                (tile, Box::new(move || _ = std::hint::black_box(one.reduce(&x[..]).expect(FITS))))
            };
            let plain = Box::new(move |y: &mut [(u8, u32)]| _ = loops::run_lengths(&x, y));
            visitor.visit(Pair { name: RUN_LENGTHS, moved: 5, plain, scan, alone, reduce, tile, tbb: None });
        }
    }
}

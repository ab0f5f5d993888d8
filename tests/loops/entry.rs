//! A loop of the suites: its program, its native step, and what its elements are.

use std::mem::MaybeUninit;

use monoscan::ir::derive::LoopProgram;
use monoscan::ir::{Constant, Type};
use monoscan::lang::{from_constants, to_constants};
use monoscan::prelude::ScanFn;
use monoscan::{DynScan, Error, Parameterised, PlanOptions, Scan};
use scan_kit::Random;

/// Larger than any value that occurs.
pub(crate) const BIG: i32 = 1_000_000;

/// From the components of the state and of the record to the next state's, by the Rust function.
type Native = Box<dyn Fn(&[Constant]) -> Vec<Constant>>;

/// Its scan by a plan, as the typed front end makes it.
type Typed = Box<dyn Fn(PlanOptions) -> Result<DynScan, Error>>;

/// The loop as one would write it: from the bytes of its columns to those of the states after each record, or after the last alone
/// where there is space for one.
pub(crate) type Plain = Box<dyn Fn(&[&[u8]], &mut [u8])>;

/// Builds what does the same by the loop's scan, as a user calls it.
pub(crate) type Scanned = Box<dyn Fn() -> Plain>;

/// A loop of the suites.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// A letter for each column: what its values are.
    pub(crate) elements: &'static str,
    pub(crate) program: LoopProgram,
    pub(crate) native: Native,
    pub(crate) typed: Typed,
    pub(crate) plain: Plain,
    pub(crate) scanned: Scanned,
}

impl Entry {
    pub(crate) fn new<A, F>(
        name: &'static str,
        elements: &'static str,
        step: F,
        initial: A::Parameters,
        plain: Plain,
        scanned: Scanned,
    ) -> Entry
    where
        A: Parameterised,
        F: ScanFn<A, Out = A::Parameters> + Clone,
        A::Parameters: monoscan::Outputs,
    {
        let program: Result<LoopProgram, Error> = Scan::loop_builder::<A, F>(step.clone(), initial).program();
        let program = program.unwrap_or_else(|error| panic!("{name}: {error}"));
        let own = step.clone();
        let typed = move |plan| {
            let scan = Scan::loop_builder::<A, F>(own.clone(), initial).plan(plan).build()?;
            // SAFETY: records are made of values.
            Ok(unsafe { scan.as_dyn_of_values() }.clone())
        };
        let native =
            move |arguments: &[Constant]| to_constants(&step.call(from_constants::<A>(arguments.iter().copied())));
        Entry { name, elements, program, native: Box::new(native), typed: Box::new(typed), plain, scanned }
    }

    /// A record: small values of the kinds that the loop is for.
    pub(crate) fn element(&self, random: &mut Random) -> Vec<Constant> {
        let types = self.program.inputs.iter().flat_map(|column| column.types());
        self.elements.chars().zip(types).map(|(kind, ty)| value(kind, ty, random)).collect()
    }
}

fn value(kind: char, ty: Type, random: &mut Random) -> Constant {
    let mut below = |n: u64| (random.bits() >> 11) % n;
    let quarters = |number: f64| if ty == Type::F32 { Constant::from(number as f32) } else { Constant::from(number) };
    match kind {
        'R' => quarters(below(33) as f64 / 4.0 - 4.0),
        'P' => quarters((1 + below(16)) as f64 / 4.0),
        'U' => quarters(below(9) as f64 / 8.0),
        'I' => ty.of_i64(below(11) as i64 - 5),
        'N' => ty.of_i64(below(4) as i64),
        'M' => ty.of_i64(below(8) as i64),
        'D' => ty.of_i64(below(10) as i64),
        'S' => ty.of_i64(below(5) as i64 - 2),
        'T' => Constant::from(below(2) == 0),
        'C' => ty.of_i64(TEXT[below(TEXT.len() as u64) as usize] as i64),
        'B' => ty.of_i64(below(256) as i64),
        _ => Constant::new(ty, below(1 << 52) as u128 * 0x1_0000_0001),
    }
}

/// Bytes as the values that they are of.
pub(crate) fn typed<T>(bytes: &[u8]) -> &[T] {
    // SAFETY: columns are made of values of the type that the loop has there.
    let (before, values, after) = unsafe { bytes.align_to() };
    assert!(before.is_empty() && after.is_empty(), "bytes are whole values, where such may be");
    values
}

/// Bytes as space for values.
pub(crate) fn typed_mut<T>(bytes: &mut [u8]) -> &mut [MaybeUninit<T>] {
    // SAFETY: any bytes are space for a value.
    let (before, values, after) = unsafe { bytes.align_to_mut() };
    assert!(before.is_empty() && after.is_empty(), "bytes are space for whole values, where such may be");
    values
}

const TEXT: &[u8] = b"a b\"\\{}[],\n/*#()1-23";

/// `"name" "kinds of the columns" (state: S, x: X, …) = initial => { step };`
macro_rules! loops {
    ($($name:literal $elements:literal ($s:ident: $S:ty, $($x:ident: $X:ty),+) = $initial:expr => $body:block;)*) => {
        vec![$({
            let step = monoscan::prelude::scan!(|$s: $S, $($x: $X),+| -> $S $body);
            let plain = move |columns: &[&[u8]], states: &mut [u8]| {
                use monoscan::prelude::ScanFn as _;
                let mut columns = columns.iter();
                $(let $x: &[$X] = $crate::entry::typed(columns.next().expect("a column for each argument"));)+
                let len = [$($x.len()),+][0];
                $(let $x = &$x[..len];)+
                let states: &mut [std::mem::MaybeUninit<$S>] = $crate::entry::typed_mut(states);
                let mut state: $S = $initial;
                if let [total] = states {
                    for i in 0..len {
                        state = step.call((state, $($x[i]),+));
                    }
                    total.write(state);
                } else {
                    for (i, next) in states[..len].iter_mut().enumerate() {
                        state = step.call((state, $($x[i]),+));
                        next.write(state);
                    }
                }
            };
            let scanned = move || -> $crate::entry::Plain {
                // What no test calls is compiled where it is timed alone.
                if cfg!(debug_assertions) {
                    panic!("scans are timed by a build without assertions");
                }
                let scan = monoscan::Scan::loop_builder::<($S, $($X),+), _>(step, $initial).build().unwrap();
                Box::new(move |columns, states| {
                    let mut columns = columns.iter();
                    $(let $x: &[$X] = $crate::entry::typed(columns.next().expect("a column for each argument"));)+
                    let states: &mut [std::mem::MaybeUninit<$S>] = $crate::entry::typed_mut(states);
                    if let [total] = states {
                        total.write(scan.reduce(($($x),+)).unwrap().0);
                    } else {
                        let len = states.len();
                        // SAFETY: they were written before, or are zeros, which are states.
                        let states: &mut [$S] = unsafe { std::slice::from_raw_parts_mut(states.as_mut_ptr().cast(), len) };
                        scan.inclusive_into(($($x),+), states).unwrap();
                    }
                })
            };
            Entry::new($name, $elements, step, $initial, Box::new(plain), Box::new(scanned))
        }),*]
    };
}
pub(crate) use loops;

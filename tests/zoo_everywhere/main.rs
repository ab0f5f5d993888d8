//! Every monoid of the zoo through every entry point and every kind of call, at random sizes around
//! the boundaries of small plans. There are two oracles: the user's own Rust function, folded by
//! the formulas, and the interpreter of programs.

mod oracle;
mod parts;

use std::fmt::Debug;
use std::mem::MaybeUninit;

use monoscan::ops::{Max, StateMap};
use monoscan::{Error, PlanOptions, Request, RowsError, prelude::*};
use monoscan_ir::{Constant, Mode};
use oracle::{Fold, States, bytes, constants, fold, same};
use scan_kit::Random;
use scan_kit::calls::{Asked, Over, Reference};
use scan_kit::zoo::{
    Affine, ArgMax, Bicyclic, Carry, Gaps, Hash, Interval, Matrix, Modular, PRIME, Segmented, Switch, Unitriangular,
    Wide, Words,
};

/// Calls of a monoid for each of the plans.
const CALLS: usize = 40;

/// Records around every input and output, which no scan may look at or write.
const AROUND: usize = 5;

/// Small tiles, odd ones, blocks of one, and what the planner chooses; and one pass by the user's own function, of lines and of what strips
/// leave.
fn plans() -> [PlanOptions; 6] {
    let plan = |interleave, block, strips, direct| PlanOptions {
        interleave: Some(interleave),
        block: Some(block),
        strips: Some(strips),
        direct: Some(direct),
        ..PlanOptions::default()
    };
    let native = |plan| PlanOptions { vector: Some(false), native: Some(true), ..plan };
    let (of_lines, of_rests) = (native(PlanOptions::default()), native(plan(4, 8, 3, 10)));
    [plan(4, 8, 3, 10), plan(2, 7, 2, 0), plan(8, 1, 1, 1), PlanOptions::default(), of_lines, of_rests]
}

/// A monoid with all that a call of it needs.
struct Visit<'a, M: Monoid> {
    scan: &'a Scan<M>,
    asked: &'a Asked,
    /// The records, with junk around them.
    all: &'a [M],
    junk: M,
    states: States<M>,
}

impl<M: Monoid + Debug> Visit<'_, M> {
    fn records(&self) -> &[M] {
        &self.all[AROUND..AROUND + self.asked.len]
    }

    fn request<'c>(&'c self, carry: &'c mut Option<Vec<M>>) -> Request<'c, M, (M,), M> {
        let request = match &self.asked.over {
            Over::Line => self.scan.init(M::identity()),
            Over::Heads(flags) => self.scan.segmented(flags),
            Over::Offsets(offsets) => self.scan.segmented(offsets),
            Over::Keys(_) => unreachable!("keys are drawn for devices alone"),
            &Over::Rows { planes, pitch, len, step } => {
                self.scan.rows(monoscan::Rows::planes(planes, pitch, len, step).unwrap())
            }
        };
        let request = if self.asked.reversed { request.reversed() } else { request };
        let request = match &self.states {
            States { init: Some(init), .. } => request.init(*init),
            States { init_each: Some(all), .. } => request.init_each(all),
            _ => request,
        };
        // `resuming` is `resuming_each` of one.
        match carry.as_deref_mut() {
            Some([carry]) => request.resuming(carry),
            Some(all) => request.resuming_each(all),
            None => request,
        }
    }

    /// Through every entry point.
    fn check(&self, reference: &Reference) {
        let fold = fold(self.asked, self.records(), &self.states);
        self.check_oracles(reference, &fold);
        let covers = fold.outputs.iter().all(Option::is_some);
        let inclusive = self.asked.mode == Mode::Inclusive;

        let vector =
            self.run(&fold, |request, xs| if inclusive { request.inclusive(xs) } else { request.exclusive(xs) });
        match vector {
            Ok(vector) => self.same("a new vector", &vector, &fold, None),
            Err(error) => assert!(!covers && matches!(error, Error::Rows(RowsError::Uncovered { .. })), "{error}"),
        }

        let both = self.run(&fold, |request, xs| match inclusive {
            true => request.inclusive_with_totals(xs),
            false => request.exclusive_with_totals(xs),
        });
        match both {
            Ok((vector, totals)) => {
                self.same("a new vector with totals", &vector, &fold, None);
                self.same_totals(&totals, &fold);
            }
            Err(error) => assert!(!covers && matches!(error, Error::Rows(RowsError::Uncovered { .. })), "{error}"),
        }

        let before = vec![self.junk; self.all.len()];
        let (mut memory, range) = (before.clone(), AROUND..AROUND + self.asked.len);
        let output = &mut memory[range.clone()];
        let into = |request: Request<'_, M, (M,), M>, xs: &[M]| match inclusive {
            true => request.inclusive_into(xs, output),
            false => request.exclusive_into(xs, output),
        };
        let count = self.run(&fold, into).unwrap();
        assert_eq!(count, fold.outputs.iter().flatten().count());
        self.same("into", &memory[range.clone()], &fold, Some(&before[range.clone()]));
        self.untouched(&memory, &before);

        let mut memory: Vec<MaybeUninit<M>> = before.iter().map(|&junk| MaybeUninit::new(junk)).collect();
        let output = &mut memory[range.clone()];
        let uninit = |request: Request<'_, M, (M,), M>, xs: &[M]| {
            let written = match inclusive {
                true => request.inclusive_into_uninit(xs, output),
                false => request.exclusive_into_uninit(xs, output),
            };
            written.map(|written| written.to_vec())
        };
        match self.run(&fold, uninit) {
            Ok(written) => self.same("into uninit", &written, &fold, None),
            Err(error) => assert!(!covers && matches!(error, Error::Rows(RowsError::Uncovered { .. })), "{error}"),
        }

        let mut memory = self.all.to_vec();
        let records = &mut memory[range.clone()];
        let in_place = |request: Request<'_, M, (M,), M>, _: &[M]| match inclusive {
            true => request.inclusive_in_place(records),
            false => request.exclusive_in_place(records),
        };
        self.run(&fold, in_place).unwrap();
        self.same("in place", &memory[range], &fold, Some(self.records()));
        self.untouched(&memory, self.all);

        if self.states.carry.is_none() {
            let totals = self.request(&mut None).totals(self.records()).unwrap();
            self.same_totals(&totals, &fold);
            if matches!(self.asked.over, Over::Line | Over::Heads(_)) {
                assert!(same(&self.request(&mut None).reduce(self.records()).unwrap(), &fold.totals[0]));
            }
        }
        self.check_streams(&fold);
    }

    /// Streams begin with the identity, forwards: the records once, and the same records after them.
    fn check_streams(&self, first: &Fold<M>) {
        let States { init, init_each, carry } = &self.states;
        let asks_for_more = self.asked.reversed || init.is_some() || init_each.is_some() || carry.is_some();
        if asks_for_more || self.asked.mode == Mode::Exclusive {
            return;
        }
        let xs = self.records();
        let after = States { carry: Some(first.totals.clone()), ..self.states.clone() };
        let asked = Asked { carry: Some(first.totals.iter().flat_map(constants).collect()), ..self.asked.clone() };
        let second = fold(&asked, xs, &after);
        match self.asked.over {
            Over::Line => {
                let mut stream = self.scan.stream();
                self.same("the first chunk", &stream.feed(xs).unwrap(), first, None);
                let mut found = vec![self.junk; xs.len()];
                assert_eq!(stream.feed_into(xs, &mut found).unwrap(), xs.len());
                self.same("the second chunk", &found, &second, None);
                self.same_totals(&[stream.state()], &second);
            }
            Over::Rows { planes, pitch, len, step } => {
                let rows = monoscan::Rows::planes(planes, pitch, len, step).unwrap();
                let mut stream = self.scan.stream_of_rows(rows.count());
                let (junk, mut found) = (vec![self.junk; xs.len()], vec![self.junk; xs.len()]);
                stream.feed_into(rows, xs, &mut found).unwrap();
                self.same("the rows' first chunk", &found, first, Some(&junk));
                match stream.feed(rows, xs) {
                    Ok(found) => self.same("the rows' second chunk", &found, &second, None),
                    Err(Error::Rows(RowsError::Uncovered { .. })) => {
                        stream.feed_into(rows, xs, &mut found).unwrap();
                        self.same("the rows' second chunk", &found, &second, Some(&junk));
                    }
                    Err(error) => panic!("{error}"),
                }
                self.same_totals(&stream.states(), &second);
            }
            Over::Heads(_) | Over::Keys(_) | Over::Offsets(_) => {}
        }
    }

    fn same_totals(&self, totals: &[M], fold: &Fold<M>) {
        assert!(
            totals.len() == fold.totals.len() && totals.iter().zip(&fold.totals).all(|(a, b)| same(a, b)),
            "totals {totals:?} for {:?}\n{:?}",
            fold.totals,
            self.asked
        );
    }

    /// Runs a request, which must leave the carry that the formulas give.
    fn run<R>(
        &self,
        fold: &Fold<M>,
        run: impl FnOnce(Request<'_, M, (M,), M>, &[M]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut carry = self.states.carry.clone();
        let result = run(self.request(&mut carry), self.records())?;
        for (carry, expected) in carry.iter().flatten().zip(&fold.totals) {
            assert!(same(carry, expected), "carry {carry:?} for {expected:?}\n{:?}", self.asked);
        }
        Ok(result)
    }

    /// `found` is what the formulas give, and where they give nothing, what was there before.
    fn same(&self, entry: &str, found: &[M], fold: &Fold<M>, before: Option<&[M]>) {
        assert_eq!(found.len(), self.asked.len);
        for (i, (found, expected)) in found.iter().zip(&fold.outputs).enumerate() {
            let Some(expected) = expected.or_else(|| before.map(|before| before[i])) else { continue };
            assert!(
                same(found, &expected),
                "{entry}, record {i}: {found:?} for {expected:?}\n{:?}\n{:?}",
                self.asked,
                self.scan.plan()
            );
        }
    }

    fn untouched(&self, memory: &[M], before: &[M]) {
        let around = || (0..AROUND).chain(AROUND + self.asked.len..memory.len());
        assert!(around().all(|i| same(&memory[i], &before[i])), "records around the output were written");
    }

    /// The fold of the user's function is what the interpreter makes of the program.
    fn check_oracles(&self, reference: &Reference, fold: &Fold<M>) {
        let (input, output) = (&reference.program.inputs[0], &reference.program.output.columns[0]);
        let mut outputs = [bytes(&vec![self.junk; self.asked.len], output)];
        let given = reference.run(self.asked, &[bytes(self.records(), input)], &mut outputs);
        let folded: Vec<M> = fold.outputs.iter().map(|y| y.unwrap_or(self.junk)).collect();
        let size = output.size as usize;
        for (record, expected) in outputs[0].chunks(size).zip(&folded) {
            for (field, expected) in output.fields.iter().zip(constants(expected)) {
                assert!(
                    Constant::from_bytes(field.ty, &record[field.offset as usize..]).same(expected),
                    "{:?}",
                    self.asked
                );
            }
        }
        let totals: Vec<Constant> = fold.totals.iter().flat_map(constants).collect();
        assert!(given.totals.iter().zip(totals).all(|(a, b)| a.same(b)), "{:?}", self.asked);
    }
}

/// Random calls under every plan and on one and three threads; `make` gives record i, `junk` is around what is scanned.
fn everywhere<M: Monoid + Debug>(seed: u64, junk: M, make: impl Fn(&mut Random, usize) -> M) {
    let (mut calls, mut values) = (Random(seed), Random(seed));
    for options in plans() {
        for threads in [1, 3] {
            let scan = Scan::<M>::builder().plan(options.clone()).threads(threads).build().unwrap();
            let reference = Reference::new(scan.as_dyn().program());
            for _ in 0..CALLS {
                let asked = Asked::random(&mut calls, scan.plan(), |_| constants(&make(&mut values, 0)));
                let junk_around = || std::iter::repeat_n(junk, AROUND);
                let records: Vec<M> = (0..asked.len).map(|i| make(&mut values, i)).collect();
                let all: Vec<M> = junk_around().chain(records).chain(junk_around()).collect();
                let components = reference.identities().len();
                let load = |state: &[Constant]| M::load(&mut state.iter().copied());
                let all_of = |states: &Option<Vec<Constant>>| {
                    states.as_ref().map(|states| states.chunks(components).map(load).collect::<Vec<M>>())
                };
                let states = States {
                    init: asked.init.as_deref().map(load),
                    init_each: all_of(&asked.init_each),
                    carry: all_of(&asked.carry),
                };
                Visit { scan: &scan, asked: &asked, all: &all, junk, states }.check(&reference);
            }
        }
    }
}

fn float(r: &mut Random) -> f64 {
    r.below(9) as f64 - 4.0
}

#[test]
fn order() {
    let make = |r: &mut Random, _| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 };
    everywhere(1, Bicyclic { closing: 77, opening: 99 }, make);
}

#[test]
fn order_in_one_corner() {
    let small = |r: &mut Random| r.below(7) - 3;
    let junk = Unitriangular { a: 1000, b: 1000, corner: 1000 };
    everywhere(2, junk, move |r, _| Unitriangular { a: small(r), b: small(r), corner: small(r) });
}

#[test]
fn neighbours() {
    let junk = Interval { empty: false, start: 1 << 20, end: 1 << 21, broken: 5 };
    everywhere(3, junk, |_, i| Interval { empty: false, start: i as u32, end: i as u32 + 1, broken: 0 });
}

#[test]
fn words_and_gaps() {
    everywhere(16, Words { any: true, first: true, last: true, count: 1 << 20 }, |r, _| parts::word(r));
    let junk = Gaps { any: true, ascending: false, first: 9, last: 1, widest: 1 << 20 };
    everywhere(17, junk, |r, _| parts::time(r));
}

#[test]
fn matrices() {
    everywhere(4, Matrix { m: [[7; 3]; 3] }, |r, _| Matrix::<3> {
        m: std::array::from_fn(|_| std::array::from_fn(|_| r.bits() as u32)),
    });
    let modular = |r: &mut Random, _| Modular { m: std::array::from_fn(|_| std::array::from_fn(|_| r.below(PRIME))) };
    everywhere(5, Modular { m: [[3; 2]; 2] }, modular);
}

#[test]
fn hashes() {
    everywhere(6, Hash { hash: 1, power: 0 }, |r, _| Hash { hash: r.below(256), power: 1_000_003 });
}

#[test]
fn ties() {
    everywhere(7, ArgMax { value: i16::MAX, place: 0 }, |r, i| ArgMax { value: r.below(5) as i16, place: i as u32 });
}

#[test]
fn wrappers() {
    let value = |r: &mut Random| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 };
    let junk = Bicyclic { closing: 77, opening: 99 };
    everywhere(8, Segmented { start: true, value: junk }, move |r, _| Segmented {
        start: r.below(9) == 0,
        value: value(r),
    });
    let nested = move |r: &mut Random, _| Segmented {
        start: r.below(20) == 0,
        value: Segmented { start: r.below(5) == 0, value: value(r) },
    };
    everywhere(9, Segmented { start: true, value: Segmented { start: true, value: junk } }, nested);
}

#[test]
fn carries() {
    let make = |r: &mut Random, _| Carry { generate: r.below(40) == 0, propagate: r.below(8) != 0 };
    everywhere(10, Carry { generate: true, propagate: false }, make);
}

#[test]
fn states_of_128_bytes() {
    everywhere(11, Wide { sums: [9; 16] }, |r, _| Wide { sums: std::array::from_fn(|_| r.bits()) });
}

#[test]
fn enums() {
    let switch = |r: &mut Random| [Switch::Off, Switch::Unset, Switch::Unset, Switch::On][r.below(4) as usize];
    everywhere(40, Switch::On, move |r, _| switch(r));
    let junk = Segmented { start: true, value: Switch::Off };
    everywhere(41, junk, move |r, _| Segmented { start: r.below(9) == 0, value: switch(r) });
}

#[test]
fn automata() {
    let junk = StateMap { to: [0; 5] };
    everywhere(12, junk, |r, _| StateMap::<5> { to: std::array::from_fn(|_| r.below(5) as u8) });
    let junk = StateMap { to: [0; 16] };
    everywhere(13, junk, |r, _| StateMap::<16> { to: std::array::from_fn(|_| r.below(16) as u8) });
}

/// Factors of magnitude one and small integers: exact in any association. A NaN that is read shows in all that follows.
#[test]
fn floats_beside_nan() {
    let affine = |r: &mut Random, _| Affine { a: r.below(3) as f64 - 1.0, b: float(r) };
    everywhere(14, Affine { a: f64::NAN, b: f64::NAN }, affine);
    everywhere(15, Max(f32::NAN), |r, _| Max(float(r) as f32));
}

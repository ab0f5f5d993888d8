//! Calls that are given up: a flag of the caller's, at which every thread looks between the pieces
//! of its work.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that gives up the call, and whether it was seen set: the caller may clear it again, but what was left out stays
/// left out.
pub(crate) struct Interrupt<'a> {
    flag: &'a AtomicBool,
    seen: AtomicBool,
    #[cfg(test)]
    looks: tests::Looks,
}

impl<'a> Interrupt<'a> {
    pub(crate) fn new(flag: &'a AtomicBool) -> Interrupt<'a> {
        Interrupt {
            flag,
            seen: AtomicBool::new(false),
            #[cfg(test)]
            looks: tests::Looks::of_this_thread(),
        }
    }

    /// Whether to give up.
    pub(crate) fn is_set(&self) -> bool {
        #[cfg(test)]
        self.looks.count(self.flag);
        // Relaxed: threads need not agree on when; after all of them have ended, what they stored is there.
        if self.flag.load(Ordering::Relaxed) {
            self.seen.store(true, Ordering::Relaxed);
        }
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether something was left out.
    pub(crate) fn was_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    //! The flag is set by the very look at it that a test names, so every place where a call may be given up is taken once.

    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::{Call, Column, ColumnMut, DynScan, Error, PlanOptions, Rows, Shape};
    use monoscan_ir::{Constant, text, verify};

    thread_local! {
        /// Looks at the flag of the next call of this thread before the one that sets it.
        static BEFORE: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Looks at a flag, counted down.
    pub(super) struct Looks(AtomicUsize);

    impl Looks {
        pub(super) fn of_this_thread() -> Looks {
            Looks(AtomicUsize::new(BEFORE.get()))
        }

        pub(super) fn count(&self, flag: &AtomicBool) {
            if self.0.fetch_sub(1, Ordering::Relaxed) == 0 {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The sum so far, times how many records it is of.
    const SUMS: &str = "
program sums
  input { size 8, align 8, u64 @ 0 }
  stage (u64, u64)
    identity (0, 0)
    lift (%0 = record.0: u64) {
      %1 = const.u64 1
      return %0, %1
    }
    combine (%0: u64, %1: u64, %2: u64, %3: u64) {
      %4 = add.u64 %0, %2
      %5 = add.u64 %1, %3
      return %4, %5
    }
  output write
    column { size 8, align 8, u64 @ 0 }
    project (%0 = state.0: u64, %1 = state.1: u64) {
      %2 = mul.u64 %0, %1
      return %2
    }
";

    /// The outputs of the program for `records`, scanned in this order as one sequence.
    fn fold(x: &[u64], records: impl Iterator<Item = usize>, y: &mut [u64]) {
        let (mut sum, mut count) = (0u64, 0u64);
        for i in records {
            (sum, count) = (sum + x[i], count + 1);
            y[i] = sum * count;
        }
    }

    /// Every shape over 36 × 36 records, each with the sequences that it has.
    fn shapes<'a>(heads: &'a [bool], offsets: &'a [usize]) -> Vec<(Shape<'a>, Vec<Vec<usize>>)> {
        let rows = |shape: [usize; 2], axis| Shape::Rows(Rows::axis(&shape, axis).unwrap());
        let between = offsets.windows(2).map(|ends| (ends[0]..ends[1]).collect::<Vec<_>>());
        let across = |count: usize, len: usize| (0..count).map(move |row| (row * len..(row + 1) * len).collect());
        vec![
            (Shape::Line, vec![(0..1296).collect()]),
            (Shape::Heads(heads), between.clone().collect()),
            (Shape::Offsets(offsets), between.collect()),
            (rows([36, 36], 1), across(36, 36).collect()),
            (rows([2, 648], 1), across(2, 648).collect()),
            (rows([36, 36], 0), (0..36).map(|column| (column..1296).step_by(36).collect()).collect()),
        ]
    }

    #[test]
    fn a_call_is_given_up_at_any_look_at_its_flag_and_else_gives_all() {
        let x: Vec<u64> = (0..1296).map(|i| i * 7919 % 101).collect();
        let offsets = [0, 1, 50, 51, 700, 1100, 1296];
        let heads: Vec<bool> = (0..x.len()).map(|i| offsets.contains(&i)).collect();
        let small = PlanOptions {
            interleave: Some(4),
            block: Some(8),
            strips: Some(2),
            direct: Some(0),
            ..PlanOptions::default()
        };
        let program = verify(text::parse(SUMS).unwrap()).unwrap();
        let mut most_looks = 0;
        for (plan, threads) in [(small.clone(), 1), (small, 3), (PlanOptions::default(), 1)] {
            let scan = DynScan::builder(program.clone()).plan(plan).threads(threads).build().unwrap();
            for ((shape, sequences), reversed) in
                shapes(&heads, &offsets).into_iter().flat_map(|shape| [(shape.clone(), false), (shape, true)])
            {
                let mut expected = vec![0; x.len()];
                for records in sequences {
                    match reversed {
                        true => fold(&x, records.into_iter().rev(), &mut expected),
                        false => fold(&x, records.into_iter(), &mut expected),
                    }
                }
                let mut before = 0;
                loop {
                    BEFORE.set(before);
                    let (flag, mut y) = (AtomicBool::new(false), vec![7; x.len()]);
                    let call = Call { shape, reversed, interrupt: Some(&flag), ..Call::default() };
                    match scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]) {
                        Ok(written) => {
                            assert_eq!((written, &y), (x.len(), &expected), "{call:?}");
                            break;
                        }
                        Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
                    }
                    before += 1;
                }
                most_looks = most_looks.max(before);
            }
        }
        BEFORE.set(usize::MAX);
        assert!(most_looks > 10, "a call looked at its flag {most_looks} times at most");
    }

    #[test]
    fn a_carry_is_as_it_was_whenever_a_call_is_given_up() {
        let program = verify(text::parse(SUMS).unwrap()).unwrap();
        let scan = DynScan::builder(program).build().unwrap();
        let x = vec![1u64; 100_000];
        let start = [Constant::from(4u64), Constant::from(10u64)];
        let mut before = 0;
        loop {
            BEFORE.set(before);
            let (flag, mut carry, mut y) = (AtomicBool::new(false), start, vec![0u64; x.len()]);
            let call = Call { interrupt: Some(&flag), ..Call::default() };
            if scan.resume(&call, &mut carry, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).is_ok() {
                assert_eq!(carry, [Constant::from(100_004u64), Constant::from(100_010u64)]);
                break;
            }
            assert_eq!(carry, start);
            before += 1;
        }
        BEFORE.set(usize::MAX);
        assert!(before > 1);
    }
}

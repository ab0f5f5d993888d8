//! The race: every entrant of a workload is verified, and then all are timed in turn, in many short
//! rounds.
//!
//! A slower machine slows neighbours in a round alike. So a ratio is taken within each round, and
//! the median of those ratios is what counts. Each round has another order. A run too
//! short for the clock is repeated until it is not, and one that fits a cache is run once untimed
//! first, so that no entrant pays for the state of caches after its predecessor.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::report::{Quartiles, Role, Row, WRONG};
use bench_shared::data::Numbers;

/// Long enough for the clock, short against what else happens on a machine.
const SLICE: Duration = Duration::from_micros(200);

/// Runs shorter than this may live in a cache.
const CACHED: Duration = Duration::from_millis(5);

/// How long to race.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Time for all rounds of one field, unless that is too few rounds.
    pub(crate) budget: Duration,
    /// The fewest rounds, or none if results are only to be verified.
    pub(crate) rounds: usize,
}

impl Effort {
    /// For figures that are published.
    pub(crate) const FULL: Effort = Effort { budget: Duration::from_secs(3), rounds: 9 };
    /// For one of hundreds of rows.
    pub(crate) const GLANCE: Effort = Effort { budget: Duration::from_millis(30), rounds: 5 };
    /// For a glance.
    pub(crate) const QUICK: Effort = Effort { budget: Duration::from_millis(200), rounds: 5 };
    /// Results are verified, and nothing is timed.
    pub(crate) const VERIFY: Effort = Effort { budget: Duration::ZERO, rounds: 0 };

    const MOST_ROUNDS: usize = 301;
}

/// Something that can be run and timed.
pub(crate) trait Runner {
    /// Runs so many times in a row; says how long that took.
    fn time(&mut self, times: u32) -> Result<Duration, String>;

    /// Runs once, and leaves the results where the judge looks.
    fn show(&mut self) -> Result<(), String> {
        self.time(1).map(drop)
    }
}

impl<F: FnMut()> Runner for F {
    fn time(&mut self, times: u32) -> Result<Duration, String> {
        let start = Instant::now();
        for _ in 0..times {
            self();
        }
        Ok(start.elapsed())
    }
}

/// Where results are left, and what is right there.
pub(crate) trait Judge {
    /// Overwrites whatever results are there.
    fn spoil(&self);
    /// Whether the right results are there.
    fn check(&self) -> Result<(), String>;
}

struct Entrant<'a> {
    name: &'static str,
    role: Role,
    threads: usize,
    runner: Box<dyn Runner + 'a>,
}

/// The entrants of one workload at one size.
pub(crate) struct Field<'a> {
    workload: Cow<'static, str>,
    elements: usize,
    entrants: Vec<Entrant<'a>>,
    rows: Vec<Row>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(workload: impl Into<Cow<'static, str>>, elements: usize) -> Field<'a> {
        Field { workload: workload.into(), elements, entrants: Vec::new(), rows: Vec::new() }
    }

    /// Lets a runner in if the judge finds its results right.
    pub(crate) fn enter(
        &mut self,
        (role, name, threads): (Role, &'static str, usize),
        judge: &dyn Judge,
        mut runner: impl Runner + 'a,
    ) {
        judge.spoil();
        match runner.show().and_then(|()| judge.check().map_err(|why| format!("{WRONG}{why}"))) {
            Ok(()) => self.entrants.push(Entrant { name, role, threads, runner: Box::new(runner) }),
            Err(why) => self.absent((role, name, threads), why),
        }
    }

    /// Lets a runner in that could be had, or says why it could not.
    pub(crate) fn enter_if<R: Runner + 'a>(
        &mut self,
        who: (Role, &'static str, usize),
        judge: &dyn Judge,
        runner: Result<R, String>,
    ) {
        match runner {
            Ok(runner) => self.enter(who, judge, runner),
            Err(why) => self.absent(who, why),
        }
    }

    /// Adds a row that says why an entrant does not take part.
    pub(crate) fn absent(&mut self, (role, name, threads): (Role, &'static str, usize), why: String) {
        self.rows.push(Row { absent: Some(why), ..self.row(role, name, threads) });
    }

    fn row(&self, role: Role, name: &str, threads: usize) -> Row {
        Row::new(&self.workload, self.elements, role, name, threads)
    }

    /// Times all entrants. Ratios are to the one whose role is [`Role::Baseline`], which comes first.
    pub(crate) fn race(mut self, effort: Effort) -> Vec<Row> {
        let times = if effort.rounds == 0 { vec![Vec::new(); self.entrants.len()] } else { self.rounds(effort) };
        let baseline = self.entrants.iter().position(|entrant| entrant.role == Role::Baseline);
        let mut rows: Vec<Row> = Vec::new();
        for (entrant, own) in self.entrants.iter().zip(&times) {
            let ratios = baseline.map(|place| times[place].iter().zip(own).map(|(base, own)| base / own).collect());
            rows.push(Row {
                rounds: own.len(),
                ns: Quartiles::of(own.iter().map(|seconds| seconds * 1e9 / self.elements as f64).collect()),
                ratio: Quartiles::of(ratios.unwrap_or_default()),
                ..self.row(entrant.role, entrant.name, entrant.threads)
            });
        }
        rows.append(&mut self.rows);
        rows.sort_by_key(|row| row.role);
        rows
    }

    /// For each entrant the seconds of one run in each round.
    fn rounds(&mut self, effort: Effort) -> Vec<Vec<f64>> {
        let repeats = self.repeats();
        let mut times = vec![Vec::new(); self.entrants.len()];
        let mut order: Vec<usize> = (0..self.entrants.len()).collect();
        let mut numbers = Numbers::new(self.elements as u64);
        let start = Instant::now();
        for round in 0..Effort::MOST_ROUNDS {
            if round >= effort.rounds && start.elapsed() > effort.budget {
                break;
            }
            shuffle(&mut order, &mut numbers);
            for &place in &order {
                let Repeats { warm_up, timed } = repeats[place];
                let runner = &mut self.entrants[place].runner;
                if warm_up > 0 {
                    runner.time(warm_up).expect("who ran once runs again");
                }
                let seconds = runner.time(timed).expect("who ran once runs again").as_secs_f64();
                times[place].push(seconds / f64::from(timed));
            }
        }
        times
    }

    /// How often each entrant runs in a row; an entrant that fails now is out.
    fn repeats(&mut self) -> Vec<Repeats> {
        let mut repeats = Vec::new();
        for entrant in std::mem::take(&mut self.entrants) {
            let Entrant { name, role, threads, mut runner } = entrant;
            match Repeats::of(&mut *runner) {
                Ok(found) => {
                    repeats.push(found);
                    self.entrants.push(Entrant { name, role, threads, runner });
                }
                Err(why) => self.absent((role, name, threads), why),
            }
        }
        repeats
    }
}

#[derive(Clone, Copy)]
struct Repeats {
    warm_up: u32,
    timed: u32,
}

impl Repeats {
    fn of(runner: &mut dyn Runner) -> Result<Repeats, String> {
        let mut times = 1;
        loop {
            let taken = runner.time(times)?;
            if taken >= SLICE || times >= 1 << 16 {
                return Ok(Repeats { warm_up: u32::from(taken < CACHED), timed: times });
            }
            times *= 2;
        }
    }
}

/// Fisher and Yates's shuffle.
fn shuffle(order: &mut [usize], numbers: &mut Numbers) {
    for last in (1..order.len()).rev() {
        order.swap(last, numbers.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Expects<'a>(&'a Cell<u32>, u32);

    impl Judge for Expects<'_> {
        fn spoil(&self) {
            self.0.set(0);
        }
        fn check(&self) -> Result<(), String> {
            if self.0.get() == self.1 { Ok(()) } else { Err(format!("{}", self.0.get())) }
        }
    }

    #[test]
    fn whoever_is_wrong_is_named_and_not_timed() {
        let result = Cell::new(0);
        let judge = Expects(&result, 1);
        let mut field = Field::new("test", 1);
        field.enter((Role::Baseline, "right", 1), &judge, || result.set(1));
        field.enter((Role::Rival, "wrong", 1), &judge, || result.set(2));
        field.enter((Role::Rival, "idle", 1), &judge, || ());
        let rows = field.race(Effort { budget: Duration::ZERO, rounds: 3 });
        let [right, wrong, idle] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((right.rounds, right.absent.as_deref()), (3, None));
        assert_eq!((wrong.rounds, wrong.absent.as_deref()), (0, Some("WRONG: 2")));
        assert_eq!((idle.rounds, idle.absent.as_deref()), (0, Some("WRONG: 0")));
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        struct Takes(Vec<u64>);
        impl Runner for Takes {
            fn time(&mut self, times: u32) -> Result<Duration, String> {
                let timed = times > 0 && self.0.len() > 1;
                Ok(Duration::from_millis(if timed { self.0.remove(0) } else { self.0[0] }))
            }
        }
        let result = Cell::new(0);
        let judge = Expects(&result, 0);
        let mut field = Field::new("test", 1);
        // Shown, calibrated, and three rounds in which both grow slower together.
        field.enter((Role::Baseline, "loop", 1), &judge, Takes(vec![10, 10, 10, 20, 40]));
        field.enter((Role::Ours, "scan", 1), &judge, Takes(vec![10, 10, 5, 10, 20]));
        let rows = field.race(Effort { budget: Duration::ZERO, rounds: 3 });
        let ratio = &rows[1].ratio;
        assert_eq!((ratio.low, ratio.median, ratio.high), (2.0, 2.0, 2.0));
    }
}

//! A row at one size: its output is verified, then its calls are timed, and a copy of the same
//! bytes right beside.

use std::time::Duration;

use monoscan_ir::{Program, Verified};
use monoscan_runtime::DynScan;
use monoscan_runtime::cuda::{Device, Event, Graph};

use crate::arena::{Arena, Failure, Parts, words};
use crate::contender::{Contender, Given};
use crate::line::Subject;
use crate::report::Figures;
use crate::rows::Row;

/// A block that waits longer for another one gives up: calls here take milliseconds.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Launches of more milliseconds are repeated less often.
const LONG: f64 = 5.0;

/// Up to this many elements it matters how a call comes to the device, so that it is timed as part of a graph too.
const MOST_IN_GRAPH: u64 = 1 << 20;

/// How often something is done.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    warm: usize,
    rounds: usize,
    rounds_if_long: usize,
}

impl Effort {
    pub(crate) const FULL: Effort = Effort { warm: 5, rounds: 25, rounds_if_long: 9 };
    pub(crate) const QUICK: Effort = Effort { warm: 2, rounds: 9, rounds_if_long: 3 };
    pub(crate) const VERIFY: Effort = Effort { warm: 0, rounds: 0, rounds_if_long: 0 };
}

/// A row whose data is on the device.
pub(crate) struct Bench<'a> {
    row: &'a Row,
    subject: &'a dyn Subject,
    contender: Contender,
    /// Where each column begins.
    places: Vec<usize>,
    arena: &'a mut Arena,
    events: [Event; 2],
    effort: Effort,
}

/// The scan of a program, not compiled yet.
pub(crate) fn scan_of(program: &Verified<Program>, device: &Device) -> Result<DynScan, monoscan::Error> {
    DynScan::builder(program.clone()).device(device).time_limit(TIME_LIMIT).build()
}

impl<'a> Bench<'a> {
    /// Brings the data of so many elements to the device, the most that will be asked for.
    pub(crate) fn new(
        row: &'a Row,
        subject: &'a dyn Subject,
        contender: Contender,
        arena: &'a mut Arena,
        (most, effort): (u64, Effort),
    ) -> Result<Bench<'a>, Failure> {
        let mut places = Vec::new();
        let mut end = 0;
        for (column, period) in subject.program().inputs.iter().zip(subject.columns()) {
            let bytes = most as usize * column.size as usize;
            arena.fill(end, period, bytes)?;
            places.push(end);
            end += bytes.next_multiple_of(256);
        }
        let device = *arena.stream.device();
        let events = [Event::new(&device)?, Event::new(&device)?];
        Ok(Bench { row, subject, contender, places, arena, events, effort })
    }

    /// Verifies and times a scan of so many elements.
    pub(crate) fn measure(&mut self, elements: u64) -> Figures {
        match self.try_measure(elements as usize) {
            Ok(figures) => figures,
            Err(why) => Figures { wrong: Some(why), ..self.figures(elements as usize) },
        }
    }

    fn figures(&self, elements: usize) -> Figures {
        let bytes = elements * self.row.read + self.subject.written(elements) * self.row.written;
        Figures::new(self.row, elements as u64, bytes as u64)
    }

    fn try_measure(&mut self, elements: usize) -> Result<Figures, String> {
        let mut figures = self.figures(elements);
        self.poison(elements)?;
        let written = self.call(elements).and_then(|given| given.wait()).map_err(words)?;
        self.check(elements, written)?;
        if self.effort.rounds == 0 {
            return Ok(figures);
        }
        figures.call = self.time(|bench| bench.call(elements)).map_err(words)?;
        if elements as u64 <= MOST_IN_GRAPH {
            // The last of many calls is as right as the first.
            self.check(elements, written)?;
            figures.graph = self.in_graph(elements)?;
        }
        let half = figures.bytes as usize / 2;
        figures.copy = self.time(|bench| Ok(bench.arena.copy(half)?)).map_err(words)?;
        Ok(figures)
    }

    /// The time of a call as part of a graph.
    fn in_graph(&mut self, elements: usize) -> Result<f64, String> {
        self.poison(elements)?;
        let stream = self.arena.stream.clone();
        let mut given = None;
        let captured = Graph::capture(&stream, || {
            given = Some(self.call(elements)?);
            Ok::<(), Failure>(())
        });
        let graph = captured.map_err(words)?;
        let time = self.time(|bench| {
            // SAFETY: the graph uses the arena's memory, which lives longer, and nothing else is in the stream until the events
            // around the launch are waited for.
            Ok(unsafe { graph.launch(&bench.arena.stream) }?)
        });
        let time = time.map_err(words)?;
        let written = match given {
            Some(given) => given.wait().map_err(words)?,
            None => 0,
        };
        self.check(elements, written)?;
        Ok(time)
    }

    /// The bytes of the output, the space before it included.
    fn output_bytes(&self, elements: usize) -> usize {
        self.row.offset + elements * self.row.written
    }

    fn poison(&mut self, elements: usize) -> Result<(), String> {
        let bytes = self.output_bytes(elements);
        self.arena.poison(bytes).map_err(|error| error.to_string())
    }

    fn check(&mut self, elements: usize, written: usize) -> Result<(), String> {
        let expected = self.subject.written(elements);
        if written != expected {
            return Err(format!("{written} records were written, expected {expected}"));
        }
        let mut output = self.arena.output(self.row.offset);
        self.subject.check(elements, &mut output)?;
        output.check_guard(elements * self.row.written)
    }

    fn call(&mut self, elements: usize) -> Result<Given, Failure> {
        let program = self.subject.program();
        let columns = self.places.iter().zip(&program.inputs);
        let inputs: Vec<_> = columns.map(|(&at, layout)| (at, elements * layout.size as usize)).collect();
        let Parts { inputs, mut output, stream } =
            self.arena.parts(&inputs, (self.row.offset, elements * self.row.written))?;
        self.contender.call(program, &inputs, &mut output, stream)
    }

    /// The median of the milliseconds that the device takes for some work.
    fn time<T>(&mut self, mut work: impl FnMut(&mut Self) -> Result<T, Failure>) -> Result<f64, Failure> {
        let mut once = |bench: &mut Self| {
            bench.events[0].record(&bench.arena.stream)?;
            // What the work leaves is dropped when it is done, which takes time too.
            let left = work(bench)?;
            bench.events[1].record(&bench.arena.stream)?;
            bench.events[1].synchronize()?;
            drop(left);
            Ok::<f64, Failure>(bench.events[1].milliseconds_since(&bench.events[0])?.into())
        };
        let mut last = 0.0;
        for _ in 0..self.effort.warm {
            last = once(self)?;
        }
        let rounds = if last > LONG { self.effort.rounds_if_long } else { self.effort.rounds };
        let mut times = (0..rounds).map(|_| once(self)).collect::<Result<Vec<f64>, _>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

//! Look-ups of an engine for the automata of a program: those of its folds, and of its replay.

use std::sync::{Arc, Mutex, PoisonError};

use super::lanes::by_lanes;
use super::{Automaton, LaneBody, MapFold, MealyFold, OutputFold, SymbolReplay};
use crate::program::Table;
use crate::transform::Lowered;

/// The memory that an engine can spare for tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableBudget {
    /// Most bytes of the table by which a fold steps; 0 for no such folds.
    pub step_bytes: usize,
    /// Whether a tile stays where the fold may write an element's symbol over its record, for the replay.
    pub keeps_symbols: bool,
}

/// The folds and the replay of a program, where they go by look-ups.
#[derive(Clone, PartialEq, Debug)]
pub struct LookUps {
    /// For each stage its fold by look-ups, if it has one.
    pub folds: Vec<Option<MapFold>>,
    /// The replay, by lanes or, if there are `symbols`, by these, or by the [output symbols of a fold](MealyFold).
    pub replay: LaneBody,
    /// The fold of the rank, if it is a Mealy machine, and how many output symbols that has.
    pub mealy: Option<(LaneBody, u32)>,
    /// The fold of another second level, if it leaves [numbers](OutputFold) to the replay.
    pub outputs: Option<LaneBody>,
    /// How many symbols there are that a fold leaves to the replay: below this, and at most 256.
    pub symbols: Option<u32>,
    /// The tables of all of these: those of the program, and more behind them.
    pub tables: Vec<Table>,
}

impl LookUps {
    fn new(program: &Lowered, budget: TableBudget) -> LookUps {
        let replay = by_lanes(program);
        let mut folds: Vec<Option<MapFold>> = vec![None; program.stages.len()];
        let by_symbols = || SymbolReplay::of(program, &replay, budget.step_bytes);
        if let Some(SymbolReplay { stage, fold, body, symbols, mealy, outputs }) =
            budget.keeps_symbols.then(by_symbols).flatten()
        {
            folds[stage as usize] = Some(fold);
            let (replay, mealy, outputs) = match (mealy, outputs) {
                (Some(MealyFold { fold, replay, count }), _) => (replay, Some((fold, count)), None),
                (None, Some(OutputFold { fold, replay })) => (replay, None, Some(fold)),
                (None, None) => (body, None, None),
            };
            return LookUps { folds, tables: replay.tables.clone(), replay, mealy, outputs, symbols: Some(symbols) };
        }
        let mut tables = replay.tables.clone();
        for (stage, fold) in (0..).zip(&mut folds).filter(|_| budget.step_bytes > 0) {
            *fold = Automaton::of(program, stage).and_then(|automaton| {
                MapFold::of(&automaton, &program.stages[stage as usize], &tables, budget.step_bytes)
            });
            tables = fold.as_ref().map_or(tables, |fold| fold.tables.clone());
        }
        LookUps { folds, replay, mealy: None, outputs: None, symbols: None, tables }
    }
}

impl Lowered {
    /// The look-ups of an engine for the automata of this program, within a budget. Found when first asked for.
    pub fn look_ups(&self, budget: TableBudget) -> Arc<LookUps> {
        let found = || lock(&self.cache().0).iter().find(|(of, _)| *of == budget).map(|(_, found)| found.clone());
        found().unwrap_or_else(|| {
            let made = Arc::new(LookUps::new(self, budget));
            lock(&self.cache().0).push((budget, made.clone()));
            made
        })
    }
}

/// The look-ups that were found, by budget. They follow from the program, so they are no part of what makes two programs equal.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Vec<(TableBudget, Arc<LookUps>)>>);

impl Clone for Cache {
    fn clone(&self) -> Cache {
        Cache(Mutex::new(lock(&self.0).clone()))
    }
}

impl PartialEq for Cache {
    fn eq(&self, _: &Cache) -> bool {
        true
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cache")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Every change is one call, so a panic elsewhere leaves the list whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

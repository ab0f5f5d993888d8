//! The fold of an automaton [by look-ups](MapFold), as code for one element.

use monoscan_ir::automaton::{Composition, MapFold};
use monoscan_ir::facts::{Range, value_ranges};
use monoscan_ir::{Source, Type};

use crate::nvptx::emit::{Builder, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::{Element, read};
use crate::nvptx::kernel::state::State;
use crate::nvptx::lower::{Code, nibbles};
use crate::nvptx::strategy::neighbours::NeighbourSymbols;

/// The code of a [`MapFold`].
pub struct MapIds {
    reads: Vec<Source>,
    symbol: Code,
    /// The tables by which a ring finds the symbol of a byte and the next one, if it keeps copies of them.
    neighbours: Option<NeighbourSymbols>,
    entry: Code,
    step: Code,
    map: Code,
    composition: Composed,
}

/// The code of a [`Composition`].
enum Composed {
    Closed { compose: Code, apply: Code },
    Maps,
    Each { of_symbol: Code, ty: Type },
    Coalesced { deferred: Code },
    Group { deferred: Code },
}

impl MapIds {
    pub fn new(fold: &MapFold, neighbours: Option<NeighbourSymbols>) -> MapIds {
        let below = |count: u32| Range { min: 0, max: i128::from(count) - 1 };
        let (id, symbol) = (below(fold.end()), below(fold.symbols));
        let ranges = value_ranges(&fold.entry, &[id, symbol], &fold.tables);
        let entry = ranges[fold.entry.results[0].index()];
        let code = |function, ranges: &[Range]| Code::new(function, ranges, &fold.tables);
        MapIds {
            reads: fold.reads.clone(),
            symbol: code(&fold.symbol, &[]),
            neighbours,
            entry: code(&fold.entry, &[id, symbol]),
            step: code(&fold.step, &[entry]),
            map: code(&fold.map, &[id]),
            composition: match &fold.composition {
                Composition::Closed { compose, apply } => {
                    Composed::Closed { compose: code(compose, &[id, id]), apply: code(apply, &[id]) }
                }
                Composition::Maps => Composed::Maps,
                Composition::Each { of_symbol } => {
                    let ty = fold.map.result_types()[0];
                    Composed::Each { of_symbol: code(of_symbol, &[symbol]), ty }
                }
                Composition::Coalesced { deferred } => Composed::Coalesced { deferred: code(deferred, &[entry]) },
                Composition::Group { deferred } => Composed::Group { deferred: code(deferred, &[entry, id]) },
            },
        }
    }

    /// About how many instructions an element takes.
    pub fn work(&self) -> usize {
        // To compose takes some dozen instructions; to defer that, a few.
        const COMPOSING: usize = 48;
        const DEFERRING: usize = 4;
        const COMPOSING_NIBBLES: usize = 3;
        let deferred = match &self.composition {
            Composed::Closed { .. } | Composed::Maps => 0,
            Composed::Each { of_symbol, .. } => of_symbol.work() + COMPOSING_NIBBLES,
            Composed::Coalesced { .. } => DEFERRING,
            Composed::Group { deferred } => deferred.work() + COMPOSING,
        };
        self.symbol.work() + self.entry.work() + self.step.work() + deferred
    }

    /// Which tables it looks up again and again.
    pub fn looked_up(&self) -> impl Iterator<Item = u32> {
        let mut codes = vec![&self.entry, &self.step];
        if self.neighbours.is_none() {
            codes.push(&self.symbol);
        }
        match &self.composition {
            Composed::Closed { compose, apply } => codes.extend([compose, apply]),
            Composed::Each { of_symbol, .. } => codes.push(of_symbol),
            Composed::Maps | Composed::Coalesced { .. } | Composed::Group { .. } => {}
        }
        let neighbours = self.neighbours.iter().flat_map(|tables| [tables.places, tables.symbols]);
        codes.into_iter().flat_map(Code::looked_up).chain(neighbours)
    }

    /// The tables by which a ring finds the symbol of a byte and the next one, if it keeps copies of them.
    pub(crate) fn neighbours(&self) -> Option<&NeighbourSymbols> {
        self.neighbours.as_ref()
    }

    /// Whether states of the level are ids, which are needed as maps only where the state before is known.
    pub fn is_closed(&self) -> bool {
        matches!(self.composition, Composed::Closed { .. })
    }

    /// The id that a fold carries before any element: the id of the identity, or that as a [word](nibbles).
    pub fn first<'k>(&self, k: &'k Builder) -> Value<'k> {
        match self.composition {
            Composed::Each { .. } => nibbles::identity(k),
            _ => k.i32(0),
        }
    }

    /// The word after these symbols, if that is what a fold carries.
    pub fn composed<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        word: Value<'k>,
        symbols: &[Value<'k>],
    ) -> Option<Value<'k>> {
        let Composed::Each { of_symbol, .. } = &self.composition else { return None };
        let maps = symbols.iter().map(|&symbol| of_symbol.write(args.k, &[symbol], args.tables)[0]);
        Some(nibbles::composed(word, &maps.collect::<Vec<_>>()))
    }

    /// The sources that the symbol of an element follows from.
    pub fn reads(&self) -> &[Source] {
        &self.reads
    }

    /// Whether the symbol of an element follows from the next one too.
    pub fn reads_next(&self) -> bool {
        self.reads.iter().any(|source| matches!(source, Source::Next(_)))
    }

    /// The symbol of an element.
    pub fn symbol<'k>(&self, args: KernelArguments<'k, '_>, element: &dyn Element<'k>) -> Value<'k> {
        let by_neighbours = self.neighbours.as_ref().and_then(|tables| tables.look_up(args, element));
        by_neighbours.unwrap_or_else(|| self.symbol.write(args.k, &self.read(element), args.tables)[0])
    }

    /// Where it says what becomes of an id.
    pub fn entry<'k>(&self, args: KernelArguments<'k, '_>, id: Value<'k>, symbol: Value<'k>) -> Value<'k> {
        self.entry.write(args.k, &[id, symbol], args.tables)[0]
    }

    /// The id after an element, plus 1 if a composition is deferred.
    pub fn step<'k>(&self, args: KernelArguments<'k, '_>, entry: Value<'k>) -> Value<'k> {
        self.step.write(args.k, &[entry], args.tables)[0]
    }

    /// Whether steps defer compositions.
    pub fn defers(&self) -> bool {
        matches!(self.composition, Composed::Coalesced { .. } | Composed::Group { .. })
    }

    /// The composition deferred at an entry, if the entry says all of it: then entries may be queued, and composed later.
    pub fn deferred_at<'k>(&self, args: KernelArguments<'k, '_>, entry: Value<'k>) -> Option<State<'k>> {
        match &self.composition {
            Composed::Coalesced { deferred } => Some(deferred.write(args.k, &[entry], args.tables)),
            _ => None,
        }
    }

    /// Whether [`deferred_at`](MapIds::deferred_at) says what is deferred.
    pub fn queues(&self) -> bool {
        matches!(self.composition, Composed::Coalesced { .. })
    }

    /// The composition that an element defers, if any is.
    pub fn deferred<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        (entry, id): (Value<'k>, Value<'k>),
        element: &dyn Element<'k>,
    ) -> Option<State<'k>> {
        match &self.composition {
            Composed::Group { deferred } => {
                let arguments = [&[entry, id], &self.read(element)[..]].concat();
                Some(deferred.write(args.k, &arguments, args.tables))
            }
            _ => self.deferred_at(args, entry),
        }
    }

    /// The map of an id, or of a word.
    pub fn map<'k>(&self, args: KernelArguments<'k, '_>, id: Value<'k>) -> State<'k> {
        match self.composition {
            Composed::Each { ty, .. } => vec![nibbles::vector(id, ty).expect("a vector has words")],
            _ => self.map.write(args.k, &[id], args.tables),
        }
    }

    /// The id of two maps composed, where states of the level are ids.
    pub fn compose<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        earlier: Value<'k>,
        later: Value<'k>,
    ) -> Option<Value<'k>> {
        let Composed::Closed { compose, .. } = &self.composition else { return None };
        Some(compose.write(args.k, &[earlier, later], args.tables)[0])
    }

    /// The state that an id's map leads another to, where states of the level are ids.
    pub fn apply<'k>(&self, args: KernelArguments<'k, '_>, id: Value<'k>, state: Value<'k>) -> Option<Value<'k>> {
        let Composed::Closed { apply, .. } = &self.composition else { return None };
        Some(apply.write(args.k, &[id, state], args.tables)[0])
    }

    fn read<'k>(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let reads = self.reads.iter();
        reads.map(|&source| read(element, source).expect("symbols follow from records alone")).collect()
    }
}

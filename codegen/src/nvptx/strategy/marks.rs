//! Marks: a bit for each record that says whether it is kept, or whether it changes a component.
//!
//! Where records alone say so, a fold need not walk from record to record: it counts the marks of
//! what is kept, and finds the place of the last record that changes a [component](Change) by the
//! highest mark. The replay need not walk either. It looks at kept records only, in any order, and
//! finds the state before each by the marks before it, or by the kept record before it.
//!
//! Records of bytes are asked four at a time, where that takes fewer instructions.

use monoscan_ir::facts::{Change, drop_unused, reads_no_state};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{FunctionBuilder, Mapping, Source, simplify};

use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::{Element, ElementCode};
use crate::nvptx::kernel::items::ThreadItems;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::state::State;
use crate::nvptx::kernel::warp::{Lanes, get, set, variables};
use crate::nvptx::strategy::packed::PackedQuestions;

/// Records whose marks are in a word.
pub(crate) const MARKED: usize = 32;

/// The marks of a program that filters, and what its components are by them.
pub(crate) struct Marks {
    /// The questions about a record: whether it is kept, then those of components that ask another one.
    questions: ElementCode,
    /// The same about four.
    packed: Option<PackedQuestions>,
    count: usize,
    /// Each component of the only level.
    pub(crate) components: Vec<ByMarks>,
    /// The results of a kept record.
    pub(crate) outputs: ElementCode,
    /// The components that these read, and whether after the record.
    read: Vec<(usize, bool)>,
}

/// A component by marks.
pub(crate) enum ByMarks {
    /// No record changes it.
    Still,
    /// It is how many records are kept.
    Rank,
    /// It is at least the place of the last record with a mark of this number.
    Last {
        /// The number of the mark, 0 if it is that of kept records.
        mark: usize,
        /// How much more a record's place is than its index.
        offset: usize,
    },
}

impl Marks {
    /// The marks of a program with one level of these components, if records alone say which are kept, and how they change
    /// each component.
    pub(crate) fn of(program: &Lowered, components: &[(u32, u32)]) -> Option<Marks> {
        let filter = program.output.filter.as_ref().filter(|filter| reads_no_state(filter))?;
        let mut asked = vec![filter.clone()];
        let changes = components.iter().map(|&(stage, component)| match program.rank() == Some(stage) {
            true => Some(None),
            false => Change::of(program, stage as usize, component as usize).map(Some),
        });
        let mut by_marks = Vec::new();
        for change in changes.collect::<Option<Vec<Option<Change>>>>()? {
            by_marks.push(match change {
                None => ByMarks::Rank,
                Some(Change::Never) => ByMarks::Still,
                Some(Change::Last { holds, offset }) => {
                    asked.push(holds);
                    ByMarks::Last { mark: asked.len() - 1, offset: offset as usize }
                }
            });
        }
        let (together, numbers) = together(program, &asked);
        for component in &mut by_marks {
            if let ByMarks::Last { mark, .. } = component {
                *mark = numbers[*mark];
            }
        }
        let read = program.output.project.reads.iter().filter_map(|&source| {
            let (stage, component, is_after) = match source {
                Source::Before { stage, component } => (stage, component, false),
                Source::After { stage, component } => (stage, component, true),
                _ => return None,
            };
            let place = components.iter().position(|&own| own == (stage, component));
            Some((place.expect("the only level has it"), is_after))
        });
        let code = |mapping: &Mapping| ElementCode::new(mapping, program.facts(), &program.tables);
        let questions = code(&together);
        Some(Marks {
            packed: PackedQuestions::of(program, &together, questions.code.work()),
            questions,
            count: together.function.results.len(),
            components: by_marks,
            outputs: code(&program.output.project),
            read: read.collect(),
        })
    }

    /// The states that the results of a kept record read, each of a component, before the record or, if that is said, after it.
    pub(crate) fn states<'k>(&self, state: impl Fn(usize, bool) -> Value<'k>) -> State<'k> {
        self.read.iter().map(|&(component, is_after)| state(component, is_after)).collect()
    }

    /// How many marks a record has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many of them are of components alone.
    pub(crate) fn of_components(&self) -> usize {
        self.count - 1
    }

    /// Whether no component changes but how many records are kept.
    pub(crate) fn are_of_rank(&self) -> bool {
        self.components.iter().all(|component| !matches!(component, ByMarks::Last { .. }))
    }

    /// Whether the results of a kept record depend on a record beside it.
    pub(crate) fn reads_beside(&self) -> bool {
        self.outputs.reads.iter().any(|source| matches!(source, Source::Next(_) | Source::Prev(_)))
    }

    /// The inclusive scan over the lanes of a warp, component by component: a warp keeps fewer records than 32 bits count.
    pub(crate) fn scan<'k>(&self, lanes: &Lanes<'k, '_>, state: &[Value<'k>]) -> State<'k> {
        let k = lanes.k;
        let scan = |(component, &own): (&ByMarks, &Value<'k>)| match component {
            ByMarks::Still => own,
            ByMarks::Rank => {
                let distances = [1usize, 2, 4, 8, 16].map(|distance| k.i32(distance));
                let sum = distances.into_iter().fold(own.resize(Ty::I32), |sum, distance| {
                    sum + lanes.lane.at_least(distance).select(k.shuffle_up(sum, distance), k.i32(0))
                });
                sum.resize(Ty::I64)
            }
            // Places rise from lane to lane, so the largest is that of the last lane up to this one that has any.
            ByMarks::Last { .. } => {
                let have = k.ballot(own.is_not(k.i64(0))) & ((k.i32(2) << lanes.lane) - 1);
                let distance = lanes.lane - highest(have | 1usize);
                let below = |half: Value<'k>| k.shuffle_up(half.resize(Ty::I32), distance).resize(Ty::I64);
                below(own) | (below(own >> 32) << 32)
            }
        };
        self.components.iter().zip(state).map(scan).collect()
    }

    /// The code of elements.
    pub(crate) fn elements(&self) -> [&ElementCode; 2] {
        [&self.questions, &self.outputs]
    }

    /// Gives the marks of this thread's items: for each 32 of them, the first of which is the item of this number, a word for each
    /// question, whose bit i is of the record i places further on.
    pub(crate) fn each_word<'k>(
        &self,
        (recipe, args): (&Recipe, KernelArguments<'k, '_>),
        (items, is_full): (&ThreadItems<'k, '_>, Value<'k>),
        take: &dyn Fn(Value<'k>, &[Value<'k>]),
    ) {
        let (k, count, load_group) = (items.k, items.plan.items_per_thread(), items.plan.load_group);
        let start = items.thread * count;
        let add = |words: &mut [Value<'k>], element: &dyn Element<'k>, bit: Value<'k>| {
            for (word, answer) in words.iter_mut().zip(recipe.write(args, &self.questions, &[], element)) {
                *word = *word | (answer.resize(Ty::I32) << bit);
            }
        };
        let in_groups = |group: &dyn Fn(usize, usize, &mut [Value<'k>])| {
            for first in (0..count).step_by(MARKED) {
                let mut words = vec![k.i32(0); self.count];
                (first..count.min(first + MARKED)).step_by(load_group).for_each(|at| group(at, at - first, &mut words));
                take(k.i32(first), &words);
            }
        };
        let singly = || {
            let records = (items.count - start).umin(k.i32(count));
            let records = start.below(items.count).select(records, k.i32(0));
            k.range(k.i32(0), k.i32(count), k.i32(MARKED), |first| {
                let words = variables(&vec![k.i32(0); self.count]);
                k.range(first, records.umin(first + MARKED), k.i32(1), |item| {
                    let mut known = get(&words);
                    add(&mut known, &items.in_memory(start + item), item - first);
                    set(&words, &known);
                });
                take(first, &get(&words));
            });
        };
        match self.packed.as_ref().filter(|_| load_group.is_multiple_of(4)) {
            Some(packed) => {
                let group = |at: usize, bit: usize, words: &mut [Value<'k>]| {
                    for (word, answers) in words.iter_mut().zip(packed.ask(items, start + at)) {
                        *word = *word | (answers << bit);
                    }
                };
                k.either(is_full & packed.is_inside(items), || in_groups(&group), singly);
            }
            None => {
                let group = |at: usize, bit: usize, words: &mut [Value<'k>]| {
                    let bytes = items.load(start + at);
                    for (place, element) in items.elements(start + at, &bytes).iter().enumerate() {
                        add(words, element, k.i32(bit + place));
                    }
                };
                k.either(is_full, || in_groups(&group), singly);
            }
        }
    }
}

/// Mappings of one result each as one mapping, and for each the number of its result. Those that are the first one have its number; others
/// have one each, though they may be the same: what is left for the replay is left for each.
fn together(program: &Lowered, mappings: &[Mapping]) -> (Mapping, Vec<usize>) {
    let mut reads: Vec<Source> = mappings.iter().flat_map(|mapping| mapping.reads.iter().copied()).collect();
    reads.sort();
    reads.dedup();
    let mut b = FunctionBuilder::new();
    let types = reads.iter().map(|&source| program.source_type(source).expect("a verified program reads what exists"));
    let params = b.params(&types.collect::<Vec<_>>());
    let read = |source: &Source| params[reads.binary_search(source).expect("every source is read")];
    let inline = |mapping: &Mapping| {
        let arguments: Vec<_> = mapping.reads.iter().map(read).collect();
        b.inline(&mapping.function, &arguments)
    };
    let results: Vec<_> = mappings.iter().flat_map(inline).collect();
    let mut function = simplify(&b.finish(&results), &program.tables);
    let (mut numbers, mut kept) = (Vec::new(), Vec::new());
    for &result in &function.results {
        let is_first = kept.first() == Some(&result);
        numbers.push(if is_first { 0 } else { kept.len() });
        kept.extend((!is_first).then_some(result));
    }
    function.results = kept;
    (drop_unused(Mapping { reads, function }, 0), numbers)
}

/// How many of the bits of a word are ones, as a count of records.
pub(crate) fn ones(word: Value<'_>) -> Value<'_> {
    word.math("ctpop", &[]).resize(Ty::I64)
}

/// The place of the highest bit of a word that is not 0.
pub(crate) fn highest(word: Value<'_>) -> Value<'_> {
    word.emit().highest_bit(word)
}

//! The two passes over a run, four records to a word.

use std::iter::zip;

use monoscan_ir::Source;

use super::code::Code;
use super::operator::Operator;
use super::words::{self, Word};
use super::{Packed, Uniform, sums};
use crate::nvptx::emit::{Builder, Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::items::PackedPass;
use crate::nvptx::kernel::warp::{get, set, variables};

/// Folds from the identity.
pub(crate) struct PackedFold<'k, 'a> {
    k: &'k Builder,
    packed: &'a Packed,
    /// Where the fold goes when it ends.
    state: &'a [Var<'k>],
    /// The aggregate of the records so far: sums as numbers, else as four states one after the other.
    folded: Vec<Var<'k>>,
    uniform: Uniform<'k>,
}

impl<'k, 'a> PackedFold<'k, 'a> {
    pub(crate) fn new(args: KernelArguments<'k, '_>, packed: &'a Packed, state: &'a [Var<'k>]) -> PackedFold<'k, 'a> {
        let k = args.k;
        PackedFold { k, packed, state, folded: variables(&packed.identity(k)), uniform: packed.uniform(args) }
    }

    fn lift(&self, record: &[Word<'k>]) -> Vec<Word<'k>> {
        self.packed.lift(self.k, record, &self.uniform)
    }

    /// Eight states as four: what each two neighbours come to.
    fn halved(&self, combine: &Code, first: &[Word<'k>], second: &[Word<'k>]) -> Vec<Word<'k>> {
        combine.write(self.k, &[words::earlier(first, second), words::later(first, second)].concat())
    }

    /// The records of one or two words as four states.
    fn lifted(&self, combine: &Code, records: &[Vec<Word<'k>>]) -> Vec<Word<'k>> {
        match records {
            [first, second] => {
                let (earlier, later) = (words::earlier(first, second), words::later(first, second));
                combine.write(self.k, &[self.lift(&earlier), self.lift(&later)].concat())
            }
            _ => self.lift(&records[0]),
        }
    }
}

impl<'k> PackedPass<'k> for PackedFold<'k, '_> {
    fn group(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Value<'k>>> {
        let records = self.packed.records(columns);
        let before = get(&self.folded);
        let after = match &self.packed.operator {
            Operator::Sums => records.iter().fold(before, |sums, record| {
                zip(sums, self.lift(record)).map(|(sum, bytes)| sums::fold(sum, bytes)).collect()
            }),
            Operator::Any(combine) => {
                let mut states: Vec<Vec<Word<'k>>> =
                    records.chunks(2).map(|records| self.lifted(combine, records)).collect();
                while states.len() > 1 {
                    states = states.chunks(2).map(|pair| self.halved(combine, &pair[0], &pair[1])).collect();
                }
                self.halved(combine, &before, &states[0])
            }
        };
        set(&self.folded, &after);
        Vec::new()
    }

    fn end(&self) {
        let mut folded = get(&self.folded);
        if let Operator::Any(combine) = &self.packed.operator {
            // Two states, then one.
            (0..2).for_each(|_| folded = self.halved(combine, &folded, &folded));
        }
        for (state, (word, constant)) in zip(self.state, zip(folded, &self.packed.identity)) {
            state.set(words::first(word, constant.ty()));
        }
    }

    fn work(&self) -> usize {
        self.packed.fold_work()
    }
}

/// Replays from the state before the run, and gives what is written.
pub(crate) struct PackedReplay<'k, 'a> {
    k: &'k Builder,
    packed: &'a Packed,
    /// Where the state goes when it ends.
    state: &'a [Var<'k>],
    /// The [carry](Operator::carry) into the next word, of the components that are live.
    carry: Vec<Var<'k>>,
    uniform: Uniform<'k>,
}

impl<'k, 'a> PackedReplay<'k, 'a> {
    pub(crate) fn new(args: KernelArguments<'k, '_>, packed: &'a Packed, state: &'a [Var<'k>]) -> PackedReplay<'k, 'a> {
        let k = args.k;
        let carry = state.iter().map(|state| k.var(packed.operator.carry(state.get()))).collect();
        PackedReplay { k, packed, state, carry, uniform: packed.uniform(args) }
    }

    /// The results of four records, a word for each column.
    fn word(&self, record: &[Word<'k>]) -> Vec<Word<'k>> {
        let Packed { live, outputs, operator, project, .. } = self.packed;
        let identity = self.packed.identity(self.k);
        // What no output needs may be anything.
        let mut carry = identity.clone();
        zip(live, &self.carry).for_each(|(&component, var)| carry[component] = var.get());
        let (after, last) = operator.scan(self.k, &carry, &self.packed.lift(self.k, record, &self.uniform), &identity);
        let before = words::one_on(&after, &carry);
        let results = project.write(self.k, |source| match source {
            Source::Record(component) => record[component as usize],
            Source::Before { component, .. } => before[component as usize],
            Source::After { component, .. } => after[component as usize],
            source => self.uniform.get(source),
        });
        zip(live, &self.carry).for_each(|(&component, var)| var.set(last[component]));
        zip(results, outputs).map(|(word, &ty)| words::to_memory(word, ty)).collect()
    }
}

impl<'k> PackedPass<'k> for PackedReplay<'k, '_> {
    fn group(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Value<'k>>> {
        let mut written = vec![Vec::new(); self.packed.outputs.len()];
        for record in self.packed.records(columns) {
            zip(&mut written, self.word(&record)).for_each(|(column, word)| column.push(word));
        }
        written
    }

    fn end(&self) {
        // A carry has the state in its first byte.
        for ((state, carry), &component) in zip(zip(self.state, &self.carry), &self.packed.live) {
            state.set(words::first(carry.get(), self.packed.identity[component].ty()));
        }
    }

    fn work(&self) -> usize {
        self.packed.replay_work()
    }
}

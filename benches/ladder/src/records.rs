//! A thread's records: loaded into registers once, folded, and replayed from there.
//!
//! In a full tile they are moved in accesses of up to 16 bytes, else field by field.

use super::block::Block;
use monoscan_codegen::nvptx::parts::Bytes;
use monoscan_codegen::nvptx::parts::Element;
use monoscan_codegen::nvptx::parts::KernelArguments;
use monoscan_codegen::nvptx::parts::Pass;
use monoscan_codegen::nvptx::parts::Recipe;
use monoscan_codegen::nvptx::parts::State;
use monoscan_codegen::nvptx::parts::register_type;
use monoscan_codegen::nvptx::parts::{Fold, FoldToReplay, Replay};
use monoscan_codegen::nvptx::parts::{Ty, Value, Var};
use monoscan_codegen::nvptx::parts::{access, group_bytes, load_field, store_fields};
use monoscan_codegen::nvptx::parts::{get, variables};

/// The records of a thread, in registers.
pub(super) struct Records<'k, 'a> {
    args: KernelArguments<'k, 'a>,
    recipe: &'a Recipe,
    /// The components of each record.
    records: Vec<Vec<Var<'k>>>,
    /// The index of the first of them, and of the line's end.
    first: Value<'k>,
    end: Value<'k>,
    /// Whether the tile is full, so that all of them exist.
    is_full: Value<'k>,
}

impl<'k, 'a> Records<'k, 'a> {
    /// Loads `count` records for each thread of the block, of the tile with this number (64 bits) in a line of `end` records.
    pub(super) fn load(block: &Block<'k, 'a>, tile: Value<'k>, count: usize, end: Value<'k>) -> Records<'k, 'a> {
        let (args, recipe) = (block.lanes.args, block.lanes.recipe);
        let k = args.k;
        let fields = || recipe.inputs.iter().flat_map(|column| &column.fields);
        let record = || fields().map(|field| k.unset(register_type(field.ty))).collect();
        let start = tile * (block.threads * count);
        let records = Records {
            args,
            recipe,
            records: (0..count).map(|_| record()).collect(),
            first: start + block.thread.resize(Ty::I64) * count,
            end,
            is_full: (start + block.threads * count).below(end + 1),
        };
        k.either(records.is_full, || records.load_all(), || records.each_there(|place| records.load_one(place)));
        records
    }

    fn load_all(&self) {
        let mut numbered = 0;
        for (number, column) in self.recipe.inputs.iter().enumerate().filter(|(_, column)| column.size > 0) {
            let size = column.size as usize;
            let from = self.args.column(number).byte(self.first * size);
            let bytes = Bytes::load(self.args.k, from, self.records.len() * size);
            for (place, record) in self.records.iter().enumerate() {
                for (field, component) in column.fields.iter().zip(&record[numbered..]) {
                    component.set(bytes.field(place * size + field.offset as usize, field.ty));
                }
            }
            numbered += column.fields.len();
        }
    }

    fn load_one(&self, place: usize) {
        let columns = self.recipe.inputs.iter().enumerate();
        let fields = columns.flat_map(|(number, column)| column.fields.iter().map(move |f| (number, column, f)));
        for ((number, column, field), component) in fields.zip(&self.records[place]) {
            let size = column.size as usize;
            let record = self.args.column(number).byte((self.first + place) * size);
            let offset = field.offset as usize;
            component.set(load_field(record, (offset, field.ty, access(column, offset, false))));
        }
    }

    /// Runs `act` for each record that exists.
    fn each_there(&self, act: impl Fn(usize)) {
        for place in 0..self.records.len() {
            self.args.k.when((self.first + place).below(self.end), || act(place));
        }
    }

    /// Runs a pass over the records, all of which exist in a full tile.
    fn pass(&self, pass: &dyn Pass<'k>) {
        let element = |place: usize| pass.element(&Register { records: self, place });
        self.args.k.either(
            self.is_full,
            || {
                let written: Vec<_> = (0..self.records.len()).map(element).collect();
                if pass.writes() {
                    self.store_all(&written);
                }
            },
            || {
                self.each_there(|place| {
                    let written = element(place);
                    if pass.writes() {
                        self.store_one(place, &written);
                    }
                });
            },
        );
    }

    /// The total of a thread's records.
    pub(super) fn fold(&self, block: &Block<'k, 'a>) -> State<'k> {
        let state = variables(&block.lanes.identity());
        self.pass(&Fold::new(self.recipe, self.args, 0, &state, &[]));
        get(&state)
    }

    /// Writes their results, from the state before them.
    pub(super) fn replay(&self, before: State<'k>) {
        let taken_along = self.recipe.take_along(self.args, 1, &[before]);
        let live = variables(&self.recipe.enter(self.args, 1, taken_along.clone()));
        self.pass(&Replay {
            recipe: self.recipe,
            args: self.args,
            before: &taken_along,
            state: &live,
            elsewhere: None,
            from_fold: FoldToReplay::NONE,
        });
    }

    fn store_all(&self, records: &[Vec<Value<'k>>]) {
        let all = group_bytes(self.args.k, &self.recipe.outputs, records);
        for ((number, column), bytes) in self.recipe.outputs.iter().enumerate().zip(all) {
            let size = column.size as usize;
            let to = self.args.column(self.recipe.inputs.len() + number).byte(self.first * size);
            bytes.store(to, records.len() * size);
        }
    }

    fn store_one(&self, place: usize, record: &[Value<'k>]) {
        let outputs = &self.recipe.outputs;
        let areas = (0..outputs.len()).map(|number| self.args.column(self.recipe.inputs.len() + number));
        store_fields(outputs, &areas.collect::<Vec<_>>(), self.first + place, record, false);
    }
}

/// One of them.
struct Register<'k, 'a> {
    records: &'a Records<'k, 'a>,
    place: usize,
}

impl<'k> Element<'k> for Register<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.records.records[self.place][component].get()
    }

    fn next(&self, _: usize) -> Value<'k> {
        unreachable!("programs that read a neighbour are refused")
    }

    fn prev(&self, _: usize) -> Value<'k> {
        unreachable!("programs that read a neighbour are refused")
    }

    fn is_last(&self) -> Value<'k> {
        (self.index() + 1).is(self.records.end)
    }

    fn index(&self) -> Value<'k> {
        self.records.first + self.place
    }
}

//! The items of a thread: consecutive records of a tile in shared memory, gone over by a pass.
//!
//! Where records lie in the order of the scan, a load group of them is in registers at a time,
//! loaded and stored in wide pieces. Else, and in shifted columns and load groups that are not
//! full, each record is read where it lies.

use monoscan_ir::Layout;

use crate::gpu::GpuPlan;
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::bytes::Bytes;
use crate::nvptx::kernel::columns::{InMemory, Loaded, group_bytes, store_fields};
use crate::nvptx::kernel::element::Element;

/// About how many instructions a thread's items may have when they are unrolled. More become a loop over load groups.
const MOST_UNROLLED: usize = 3000;

/// About how many instructions a load group may have. More become a loop over records: so long a stretch takes LLVM and the
/// driver seconds, and the loop runs as fast.
const MOST_OF_A_GROUP: usize = 2000;

/// Bytes of a record's place in the list of those of a warp that are kept.
pub(crate) const LISTED: usize = 2;

/// A pass over the items of a thread, one after the other.
pub trait Pass<'k> {
    /// Takes its state past an element; gives the components of the record to write beside it, if the pass writes such.
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>>;

    /// The same for some consecutive elements.
    fn elements(&self, elements: &[&dyn Element<'k>]) -> Vec<Vec<Value<'k>>> {
        elements.iter().map(|&element| self.element(element)).collect()
    }

    /// Whether it can take all load groups of a thread side by side, each by itself.
    fn interleaves(&self, _units: usize) -> bool {
        false
    }

    /// Takes its state past all load groups of a thread; gives the records to write, group by group.
    fn interleaved(&self, groups: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        groups.iter().map(|group| self.elements(group)).collect()
    }

    /// Learns whether the elements from here on are written in the order in which they come, the first of a thread first.
    fn in_order(&self, _is_so: bool) {}

    /// Ends what it carries from element to element: none follows.
    fn end(&self) {}

    /// Whether it gives records to write.
    fn writes(&self) -> bool;

    /// Whether the first item of a thread must not be written, as the thread before reads what is there. Such records are bytes.
    fn spares_first(&self) -> bool {
        false
    }

    /// How many instructions an element takes, about.
    fn work(&self) -> usize;

    /// The same pass on the bytes of four records at once, where that is shorter.
    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        None
    }
}

/// A pass over the items of a thread whose columns are bytes, four at a time.
pub trait PackedPass<'k> {
    /// Takes its state past a load group; `columns` are words of each. Gives the words to write, if the pass writes.
    fn group(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Value<'k>>>;

    /// Ends what it carries from load group to load group: none follows, though records may.
    fn end(&self);

    /// How many instructions four records take, about.
    fn work(&self) -> usize;
}

/// A tile in shared memory, as a thread sees it.
pub(crate) struct ThreadItems<'k, 'a> {
    pub k: &'k Builder,
    pub plan: &'a GpuPlan,
    pub columns: (&'a [Layout], &'a [Layout]),
    /// Where the first record of the tile lies in memory order, column by column.
    pub inputs: Vec<Value<'k>>,
    /// Where results go, in the same order.
    pub outputs: Vec<Value<'k>>,
    /// The number of the thread among those that compute.
    pub thread: Value<'k>,
    /// The index of the tile's first record, as 64 bits, and how many it has, as 32.
    pub first: Value<'k>,
    pub count: Value<'k>,
    /// Records of the row.
    pub records: Value<'k>,
    /// Whether records lie from the last to the first.
    pub reversed: Value<'k>,
    /// Whether columns begin at [natural](crate::gpu::natural) addresses, and not at multiples of 16.
    pub shifted: bool,
}

impl<'k> ThreadItems<'k, '_> {
    /// Runs a pass over the records of this thread's items.
    pub(crate) fn each(&self, is_full: Value<'k>, pass: &dyn Pass<'k>) {
        let k = self.k;
        let start = self.thread * self.plan.items_per_thread();
        k.either(
            is_full & !self.reversed,
            || self.full(start, pass),
            || {
                let records = (self.count - start).umin(k.i32(self.plan.items_per_thread()));
                let records = start.below(self.count).select(records, k.i32(0));
                let first = if self.is_long(pass) { k.i32(0) } else { self.first_groups(start, records, pass) };
                k.range(first, records, k.i32(1), |place| self.single(start + place, pass));
            },
        );
        pass.end();
    }

    /// Goes over those records of a warp's items that are not 0, of one column of bytes. The threads of the warp first list
    /// where they are, each from its own place in the list on; then each takes every 32nd of so many at most, with its place
    /// there. The list begins so many bytes into an area.
    pub(crate) fn each_marked(
        &self,
        is_full: Value<'k>,
        ((area, list), place, most): ((Value<'k>, Value<'k>), Value<'k>, Value<'k>),
        record: &dyn Fn(Value<'k>, &dyn Element<'k>),
    ) {
        let (k, items, symbols) = (self.k, self.plan.items_per_thread(), self.inputs[0]);
        let (start, lane) = (self.thread * items, self.thread & 31usize);
        // Of the warp's records. Through a shuffle, as the driver's compiler would compute it again for each record.
        let first = k.shuffle_up(lane * items, k.i32(0));
        let end = k.var(list + place * LISTED);
        let list_if = |is_marked: Value<'k>, item: Value<'k>| {
            let at = end.get();
            k.when(is_marked, || area.byte(at).store((first + item).resize(Ty::Int(16)), LISTED));
            end.set(at + is_marked.select(k.i32(LISTED), k.i32(0)));
        };
        let singly = |records: Value<'k>| {
            k.range(k.i32(0), records, k.i32(1), |item| {
                let byte = symbols.byte(start + item).load(Ty::I8, 1);
                list_if(byte.is_not(byte.same(0)), item);
            });
        };
        let in_words = || {
            for group in (0..items).step_by(self.plan.load_group) {
                let words = Bytes::load(k, symbols.byte(start + group), self.plan.load_group).into_words();
                for byte in 0..self.plan.load_group {
                    let marks = words[byte / 4] & (0xff << (8 * (byte % 4)));
                    list_if(marks.is_not(marks.same(0)), k.i32(group + byte));
                }
            }
        };
        let records = (self.count - start).umin(k.i32(items));
        let records = start.below(self.count).select(records, k.i32(0));
        // The list of the tile before has been read.
        k.warp_barrier();
        match !self.shifted && self.plan.load_group.is_multiple_of(4) {
            true => k.either(is_full, in_words, || singly(records)),
            false => singly(records),
        }
        k.warp_barrier();
        let listed = (k.shuffle_from(end.get(), k.i32(31)) - list) >> LISTED.ilog2() as usize;
        let (listed, from) = (listed.umin(most), area.byte(list));
        k.range(lane, listed, k.i32(32), |place| {
            let item = from.byte(place * LISTED).load(Ty::Int(16), LISTED).resize(Ty::I32);
            record(place, &self.in_memory(start - first + item));
        });
    }

    /// The whole load groups of a thread of so many records; gives how many records these are. Most of a tile that is not full, too, is such load groups, and
    /// one record after the other would take many times as long.
    fn first_groups(&self, start: Value<'k>, records: Value<'k>, pass: &dyn Pass<'k>) -> Value<'k> {
        let k = self.k;
        if self.shifted {
            return k.i32(0);
        }
        let groups = self.reversed.select(k.i32(0), records.udiv(k.i32(self.plan.load_group)));
        let each = |group: &dyn Fn(Value<'k>)| {
            k.range(k.i32(0), groups, k.i32(1), |place| group(start + place * self.plan.load_group));
        };
        match self.packed(pass) {
            Some(packed) => {
                each(&|start| self.words(start, &*packed));
                packed.end();
            }
            None => each(&|start| self.group(start, pass)),
        }
        groups * self.plan.load_group
    }

    /// The pass on four records at once, where that is shorter and records are in whole words.
    fn packed<'p>(&self, pass: &'p dyn Pass<'k>) -> Option<Box<dyn PackedPass<'k> + 'p>> {
        pass.packed().filter(|_| !self.shifted && self.plan.load_group.is_multiple_of(4))
    }

    /// Whether a load group takes so many instructions that each record goes by itself.
    fn is_long(&self, pass: &dyn Pass<'k>) -> bool {
        pass.work() * self.plan.load_group > MOST_OF_A_GROUP
    }

    /// The items of a thread without gaps, in the order of the scan.
    fn full(&self, start: Value<'k>, pass: &dyn Pass<'k>) {
        let k = self.k;
        if self.is_long(pass) {
            let items = k.i32(self.plan.items_per_thread());
            k.range(k.i32(0), items, k.i32(1), |place| self.single(start + place, pass));
        } else if let Some(packed) = self.packed(pass) {
            self.each_group(start, packed.work() * self.plan.items_per_thread() / 4, |start| {
                self.words(start, &*packed)
            });
            packed.end();
        } else if !self.shifted && pass.interleaves(self.plan.load_groups) {
            self.interleaved(start, pass);
        } else {
            let work = (pass.work() + 2) * self.plan.items_per_thread();
            pass.in_order(work <= MOST_UNROLLED);
            self.each_group(start, work, |start| self.group(start, pass));
            pass.in_order(false);
        }
    }

    /// Runs over the load groups from a record on, which take so many instructions.
    fn each_group(&self, start: Value<'k>, work: usize, group: impl Fn(Value<'k>)) {
        let k = self.k;
        let group = |place: Value<'k>| group(start + place * self.plan.load_group);
        match work <= MOST_UNROLLED {
            true => (0..self.plan.load_groups).for_each(|place| group(k.i32(place))),
            false => k.range(k.i32(0), k.i32(self.plan.load_groups), k.i32(1), group),
        }
    }

    /// The records of a load group, each a byte of every column, as words.
    fn words(&self, start: Value<'k>, pass: &dyn PackedPass<'k>) {
        let (k, bytes) = (self.k, self.plan.load_group);
        let load = |&area: &Value<'k>| Bytes::load(k, area.byte(start), bytes).into_words();
        let written = pass.group(&self.inputs.iter().map(load).collect::<Vec<_>>());
        for (words, &area) in written.into_iter().zip(&self.outputs) {
            Bytes::of_words(k, words).store(area.byte(start), bytes);
        }
    }

    /// The records of a load group, in registers.
    fn group(&self, start: Value<'k>, pass: &dyn Pass<'k>) {
        if self.shifted {
            return (0..self.plan.load_group).for_each(|place| self.single(start + place, pass));
        }
        let bytes = self.load(start);
        let elements = self.elements(start, &bytes);
        let written = pass.elements(&elements.iter().map(|element| element as &dyn Element<'k>).collect::<Vec<_>>());
        self.store(start, &written, pass);
    }

    /// The records of all load groups at once: those of different load groups do not wait for each other.
    fn interleaved(&self, start: Value<'k>, pass: &dyn Pass<'k>) {
        let starts: Vec<Value<'k>> =
            (0..self.plan.load_groups).map(|group| start + group * self.plan.load_group).collect();
        let bytes: Vec<Vec<Bytes<'k>>> = starts.iter().map(|&start| self.load(start)).collect();
        let groups = starts.iter().zip(&bytes).map(|(&start, bytes)| self.elements(start, bytes));
        let groups: Vec<Vec<Loaded<'k, '_>>> = groups.collect();
        let groups = groups.iter().map(|group| group.iter().map(|element| element as &dyn Element<'k>).collect());
        let written = pass.interleaved(&groups.collect::<Vec<_>>());
        starts.into_iter().zip(&written).for_each(|(start, written)| self.store(start, written, pass));
    }

    /// The bytes of a load group, column by column.
    pub(crate) fn load(&self, start: Value<'k>) -> Vec<Bytes<'k>> {
        let load = |(column, &area): (&Layout, &Value<'k>)| {
            let size = column.size as usize;
            Bytes::load(self.k, area.byte(start * size), self.plan.load_group * size)
        };
        self.columns.0.iter().zip(&self.inputs).map(load).collect()
    }

    /// The records that these bytes are.
    pub(crate) fn elements<'b>(&'b self, start: Value<'k>, bytes: &'b [Bytes<'k>]) -> Vec<Loaded<'k, 'b>> {
        let element = |place| {
            let here = self.in_memory(start + place);
            Loaded { columns: self.columns.0, bytes, place, group: self.plan.load_group, here }
        };
        (0..self.plan.load_group).map(element).collect()
    }

    /// Stores what a pass gives of a load group, if it gives anything.
    fn store(&self, start: Value<'k>, written: &[Vec<Value<'k>>], pass: &dyn Pass<'k>) {
        let k = self.k;
        if !pass.writes() {
            return;
        }
        let all = group_bytes(k, self.columns.1, written);
        for ((column, &area), bytes) in self.columns.1.iter().zip(&self.outputs).zip(all) {
            let size = column.size as usize;
            let to = area.byte(start * size);
            let store = || bytes.store(to, self.plan.load_group * size);
            match pass.spares_first() {
                true => {
                    k.either(start.is(self.thread * self.plan.items_per_thread()), || bytes.store_but_first(to), store)
                }
                false => store(),
            }
        }
    }

    /// One record where it lies.
    fn single(&self, place: Value<'k>, pass: &dyn Pass<'k>) {
        let written = pass.element(&self.in_memory(place));
        let store = || store_fields(self.columns.1, &self.outputs, self.slot(place), &written, self.shifted);
        match pass.spares_first() {
            true => self.k.when(place.is_not(self.thread * self.plan.items_per_thread()), store),
            false => store(),
        }
    }

    pub(crate) fn in_memory(&self, place: Value<'k>) -> InMemory<'k, '_> {
        let index = self.first + place.resize(Ty::I64);
        InMemory {
            columns: self.columns.0,
            areas: &self.inputs,
            slots: (self.slot(place), self.slot(place + 1), self.slot(place - 1)),
            index,
            is_last: (index + 1).is(self.records),
            shifted: self.shifted,
        }
    }

    /// Which record in memory order a record is.
    fn slot(&self, place: Value<'k>) -> Value<'k> {
        self.reversed.select(self.count - 1 - place, place)
    }
}

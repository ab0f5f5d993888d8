//! The fold of a level [in names](Names), as code for one element.

use scan_ir::Source;
use scan_ir::facts::{Names, Range};

use super::emit::Value;
use super::given::Given;
use super::lower::Code;
use super::recipe::{Element, read};

/// The code of names.
pub(crate) struct Named {
    /// How many names there are.
    pub(crate) count: usize,
    reads: Vec<Source>,
    letter: Code,
    step: Code,
    left: Code,
    map: Code,
}

impl Named {
    pub(crate) fn new(names: &Names) -> Named {
        let below = |count: u32| Range { min: 0, max: i128::from(count) - 1 };
        let (name, letter) = (below(names.count), below(names.letters));
        let code = |function, ranges: &[Range]| Code::new(function, ranges, &names.tables);
        Named {
            count: names.count as usize,
            reads: names.reads.clone(),
            letter: code(&names.letter, &[]),
            step: code(&names.step, &[name, letter]),
            left: code(&names.left, &[name, letter]),
            map: code(&names.map, &[name]),
        }
    }

    /// About how many instructions an element takes.
    pub(crate) fn work(&self) -> usize {
        self.letter.work() + self.step.work() + self.left.work()
    }

    /// Which tables each element looks up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = u32> {
        self.letter.looked_up().chain(self.step.looked_up())
    }

    /// The letter that an element is.
    pub(crate) fn letter<'k>(&self, given: Given<'k, '_>, element: &dyn Element<'k>) -> Value<'k> {
        self.letter.write(given.k, &self.read(element), given.tables)[0]
    }

    /// The name after an element; plus [`count`](Named::count) if something is left behind.
    pub(crate) fn step<'k>(&self, given: Given<'k, '_>, name: Value<'k>, letter: Value<'k>) -> Value<'k> {
        self.step.write(given.k, &[name, letter], given.tables)[0]
    }

    /// What an element leaves behind.
    pub(crate) fn left<'k>(
        &self,
        given: Given<'k, '_>,
        name: Value<'k>,
        letter: Value<'k>,
        element: &dyn Element<'k>,
    ) -> Value<'k> {
        let arguments = [&[name, letter], &self.read(element)[..]].concat();
        self.left.write(given.k, &arguments, given.tables)[0]
    }

    /// The map of a name.
    pub(crate) fn map<'k>(&self, given: Given<'k, '_>, name: Value<'k>) -> Value<'k> {
        self.map.write(given.k, &[name], given.tables)[0]
    }

    fn read<'k>(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let reads = self.reads.iter();
        reads.map(|&source| read(element, source).expect("names follow from records alone")).collect()
    }
}

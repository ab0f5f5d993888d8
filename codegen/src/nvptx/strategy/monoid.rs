//! The fold of a level [in names](Names), as code for one element.

use monoscan_ir::Source;
use monoscan_ir::facts::{self, Names, Range, value_ranges};

use crate::nvptx::emit::Value;
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::{Element, read};
use crate::nvptx::lower::Code;

/// The code of names.
pub struct Named {
    reads: Vec<Source>,
    mark: Code,
    place: Code,
    step: Code,
    left: Option<Left>,
    map: Code,
    closed: Option<Closed>,
}

/// The code of a monoid of few names.
struct Closed {
    compose: Code,
    apply: Code,
}

/// The code of what is left behind.
enum Left {
    At(Code),
    Of(Code),
}

impl Named {
    pub fn new(names: &Names) -> Named {
        let below = |count: u32| Range { min: 0, max: i128::from(count) - 1 };
        let (name, mark) = (below(names.end()), below(names.marks));
        let ranges = value_ranges(&names.place, &[name, mark], &names.tables);
        let place = ranges[names.place.results[0].index()];
        let code = |function, ranges: &[Range]| Code::new(function, ranges, &names.tables);
        Named {
            reads: names.reads.clone(),
            mark: code(&names.mark, &[]),
            place: code(&names.place, &[name, mark]),
            step: code(&names.step, &[place]),
            left: names.left.as_ref().map(|left| match left {
                facts::Left::At(left) => Left::At(code(left, &[place])),
                facts::Left::Of(left) => Left::Of(code(left, &[place, name])),
            }),
            map: code(&names.map, &[name]),
            closed: names.closed.as_ref().map(|closed| Closed {
                compose: code(&closed.compose, &[name, name]),
                apply: code(&closed.apply, &[name]),
            }),
        }
    }

    /// About how many instructions an element takes.
    pub fn work(&self) -> usize {
        // To leave something behind is to combine, which takes some dozen instructions; to note it, a few.
        const LEAVING: usize = 48;
        const NOTING: usize = 4;
        let left = match &self.left {
            None => 0,
            Some(Left::At(_)) => NOTING,
            Some(Left::Of(left)) => left.work() + LEAVING,
        };
        self.mark.work() + self.place.work() + self.step.work() + left
    }

    /// Which tables it looks up again and again.
    pub fn looked_up(&self) -> impl Iterator<Item = u32> {
        let closed = self.closed.iter().flat_map(|closed| [&closed.compose, &closed.apply]);
        [&self.mark, &self.place, &self.step].into_iter().chain(closed).flat_map(Code::looked_up)
    }

    /// Whether states of the level are names, which only those need as maps who know what was before.
    pub fn composes(&self) -> bool {
        self.closed.is_some()
    }

    /// Whether what an element is follows from the next one too.
    pub fn reads_next(&self) -> bool {
        self.reads.iter().any(|source| matches!(source, Source::Next(_)))
    }

    /// The mark of an element.
    pub fn mark<'k>(&self, args: KernelArguments<'k, '_>, element: &dyn Element<'k>) -> Value<'k> {
        self.mark.write(args.k, &self.read(element), args.tables)[0]
    }

    /// Where it says what becomes of a name.
    pub fn place<'k>(&self, args: KernelArguments<'k, '_>, name: Value<'k>, mark: Value<'k>) -> Value<'k> {
        self.place.write(args.k, &[name, mark], args.tables)[0]
    }

    /// The name after an element, plus 1 if something is left behind.
    pub fn step<'k>(&self, args: KernelArguments<'k, '_>, place: Value<'k>) -> Value<'k> {
        self.step.write(args.k, &[place], args.tables)[0]
    }

    /// Whether anything is ever left behind.
    pub fn leaves(&self) -> bool {
        self.left.is_some()
    }

    /// Whether the place says all of what is left behind, so that it may be noted, and composed later.
    pub fn leaves_by_place(&self) -> bool {
        matches!(self.left, Some(Left::At(_)))
    }

    /// What is left behind at a place, if that says all of it.
    pub fn left_at<'k>(&self, args: KernelArguments<'k, '_>, place: Value<'k>) -> Value<'k> {
        let Some(Left::At(left)) = &self.left else { panic!("`leaves_by_place` says when") };
        left.write(args.k, &[place], args.tables)[0]
    }

    /// What an element leaves behind.
    pub fn left<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        (place, name): (Value<'k>, Value<'k>),
        element: &dyn Element<'k>,
    ) -> Value<'k> {
        match self.left.as_ref().expect("nothing is left behind unless `leaves` says so") {
            Left::At(left) => left.write(args.k, &[place], args.tables)[0],
            Left::Of(left) => left.write(args.k, &[&[place, name], &self.read(element)[..]].concat(), args.tables)[0],
        }
    }

    /// The map of a name.
    pub fn map<'k>(&self, args: KernelArguments<'k, '_>, name: Value<'k>) -> Value<'k> {
        self.map.write(args.k, &[name], args.tables)[0]
    }

    /// The name of two maps composed, where states are names.
    pub fn compose<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        earlier: Value<'k>,
        later: Value<'k>,
    ) -> Option<Value<'k>> {
        self.closed.as_ref().map(|closed| closed.compose.write(args.k, &[earlier, later], args.tables)[0])
    }

    /// The state that a name leads another to, where states of the level are names.
    pub fn apply<'k>(&self, args: KernelArguments<'k, '_>, name: Value<'k>, state: Value<'k>) -> Option<Value<'k>> {
        self.closed.as_ref().map(|closed| closed.apply.write(args.k, &[name, state], args.tables)[0])
    }

    fn read<'k>(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let reads = self.reads.iter();
        reads.map(|&source| read(element, source).expect("names follow from records alone")).collect()
    }
}

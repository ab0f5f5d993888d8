//! Calls with lengths, shapes, states and columns that nobody means well with.
//!
//! Only the safe interface is used. A call that is right by the rules written here must give what
//! the reference gives; a wrong one must be refused and leave outputs and carry as they were. Input
//! columns may overlap one another and lie at odd addresses; outputs lie between bytes that nothing
//! may touch.

use monoscan_ir::interp::Interpreter;
use monoscan_ir::{Constant, Layout, Mode, Program, Source, Verified, verify};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, Init, PlanOptions, Rows, Shape};
use scan_kit::random::Options;

use crate::bytes::Bytes;
use crate::{columns, edit};
use scan_kit::calls::Reference;
use scan_kit::calls::{Asked, Over};

/// Bytes on both sides of an output that nothing may touch.
const FENCE: usize = 37;

/// More runs than this are not gone through one by one: rows may be empty, and then no memory bounds their number.
const MOST_RUNS: usize = 1 << 12;

/// A program and a call of it, all decided by the bytes.
///
/// # Panics
/// If a right call gives something else than the reference, or a wrong one is accepted or leaves traces.
pub fn calls(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let options = Options { stages: 1 + bytes.below(3), allow_emit: bytes.chance(4), ..Options::default() };
    let mut program = edit::grown(&mut bytes, &options);
    if bytes.chance(4) {
        mirror(&mut program);
    }
    let Ok(program) = verify(program) else { return };
    let (interleave, block) = (1 << bytes.below(4), 1 + bytes.below(40));
    let options = PlanOptions {
        interleave: Some(interleave),
        block: Some(block),
        strips: Some(1 + bytes.below(3)),
        direct: Some(bytes.below(2) * bytes.below(100)),
        vector: *bytes.pick(&[None, Some(true), Some(false)]),
        streaming: block.is_multiple_of(2).then_some(0),
        native: None,
    };
    match DynScan::builder(program).plan(options).threads(1 + bytes.below(3)).build() {
        Ok(scan) => Try::new(&mut bytes, &scan).run(),
        Err(error) => panic!("{error}"),
    }
}

/// Makes inputs of what the outputs are, so that the program may run in place if its functions still fit.
fn mirror(program: &mut Program) {
    if program.output_types() == program.record_types() {
        program.output.columns.clone_from(&program.inputs);
    }
}

/// The result that a call must have; of several reasons the last of these counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Expect {
    /// The results of the reference.
    Same,
    /// Nothing is promised but that memory stays whole.
    Anything,
    /// An error, and nothing written.
    Refused,
}

impl Expect {
    fn same_if(is_right: bool) -> Expect {
        if is_right { Expect::Same } else { Expect::Refused }
    }
}

/// A call with all that it is given.
struct Try<'s> {
    scan: &'s DynScan,
    asked: Asked,
    /// Memory that all inputs are part of, and for each where in it it starts and how many records it has.
    arena: Vec<u8>,
    inputs: Vec<(usize, usize)>,
    /// How many records each output can take.
    capacities: Vec<usize>,
    odd: Option<Odd>,
    expect: Expect,
}

/// The fault of the row of input columns as a whole.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Odd {
    /// One is missing.
    Fewer,
    /// The first one is declared to have no fields.
    Fieldless,
}

impl<'s> Try<'s> {
    fn new(bytes: &mut Bytes<'_>, scan: &'s DynScan) -> Try<'s> {
        let program = scan.program();
        let len = bytes.below(150);
        let (over, shape) = shape(bytes, len);
        let (init, init_fits) = state(bytes, program);
        let (mut carry, carry_fits) = state(bytes, program);
        // A stream begins: there is no record before. (`runtime/tests/calls` draws those that go on.)
        carry.iter_mut().for_each(|carry| carry.extend(&program.first_carry()[program.state_len()..]));
        let modes = [Mode::Inclusive, Mode::Exclusive];
        let (mode, reversed, in_place) = (*bytes.pick(&modes), bytes.chance(2), bytes.chance(4));
        let has_meaning = match over {
            Over::Line => true,
            // The next chunk alone would know whether it goes on with the segment.
            Over::Heads(_) => carry.is_none() || !reversed,
            Over::Offsets(_) | Over::Keys(_) => carry.is_none(),
            Over::Rows { .. } => program.output.filter.is_none(),
        };
        let mut asked =
            Asked { len, mode, reversed, init, init_each: None, over, carry, in_place, threads: 1, spaced: None };
        let mut length = || if bytes.chance(16) { bytes.below(200) } else { len };
        // The first column says how many records there are.
        let lens: Vec<usize> =
            (0..program.inputs.len()).map(|column| if column == 0 { len } else { length() }).collect();
        let capacities: Vec<usize> = program.output.columns.iter().map(|_| length()).collect();
        let odd = if bytes.chance(32) { Some(*bytes.pick(&[Odd::Fewer, Odd::Fieldless])) } else { None };
        let rooms_fit = match program.output.filter {
            _ if in_place || capacities.iter().all(|&capacity| capacity == len) => Expect::Same,
            Some(_) => Expect::Anything,
            None => Expect::Refused,
        };
        let expect = [
            shape,
            init_fits,
            carry_fits,
            rooms_fit,
            Expect::same_if(lens.iter().all(|&n| n == len) && odd.is_none()),
            Expect::same_if(!in_place || may_be_in_place(program)),
            Expect::same_if(has_meaning),
        ];
        let inputs: Vec<(usize, usize)> = lens.into_iter().map(|len| (bytes.below(64), len)).collect();
        let ends = inputs.iter().zip(&program.inputs).map(|(&(at, len), layout)| at + len * layout.size as usize);
        let arena = bytes.fill(ends.max().unwrap_or(0));
        // Drawn last, so that older inputs mean what they did.
        let counts_fit = match shape == Expect::Same && runs(&asked) <= MOST_RUNS {
            true => states_of_each(bytes, &mut asked),
            false => Expect::same_if(!asked.has_states_of_each()),
        };
        let expect = expect.into_iter().chain([counts_fit]).max().unwrap_or(Expect::Same);
        Try { scan, asked, arena, inputs, capacities, odd, expect }
    }

    fn run(&self) {
        let Some(call) = call(&self.asked) else { return };
        let program = self.scan.program();
        let inputs = self.inputs();
        let layouts = if self.asked.in_place { &program.inputs } else { &program.output.columns };
        let before = self.outputs(&inputs);
        let mut fenced = before.clone();
        let mut carry = self.asked.carry.clone();
        let given = self.call(&call, &inputs, carry.as_deref_mut(), &mut fenced);
        for (found, before) in fenced.iter().zip(&before) {
            let behind = found.len() - FENCE;
            let fence = |bytes: &[u8]| [&bytes[..FENCE], &bytes[behind..]].concat();
            assert_eq!(fence(found), fence(before), "written beside a column\n{}", self.what());
        }
        let count = match (given, self.expect) {
            (_, Expect::Anything) => return,
            (Ok(_), Expect::Refused) => panic!("accepted: {}", self.what()),
            (Err(error), Expect::Same) => panic!("{error}\n{}", self.what()),
            (Err(error), Expect::Refused) => {
                let is_untouched = fenced == before && carry == self.asked.carry;
                return assert!(is_untouched, "{error}, but something was written\n{}", self.what());
            }
            (Ok(count), Expect::Same) => count,
        };
        if runs(&self.asked) > MOST_RUNS {
            return;
        }
        let owned: Vec<Vec<u8>> = inputs.iter().map(|column| column.to_vec()).collect();
        let inside = |bytes: &Vec<u8>| bytes[FENCE..bytes.len() - FENCE].to_vec();
        let mut expected: Vec<Vec<u8>> = before.iter().map(inside).collect();
        let reference = Reference::new(program).run(&self.asked, &owned, &mut expected);
        assert!(count.is_none_or(|count| count == reference.count), "{count:?} records written\n{}", self.what());
        for ((found, expected), layout) in fenced.iter().zip(&mut expected).zip(layouts) {
            let found = inside(found);
            if program.output.filter.is_some() {
                // The record behind those that are kept may hold anything.
                let size = layout.size as usize;
                let free = reference.count * size..(reference.count + 1) * size;
                if let (Some(expected), Some(found)) = (expected.get_mut(free.clone()), found.get(free)) {
                    expected.copy_from_slice(found);
                }
            }
            columns::must_be_same(layout, &found, expected, || self.what());
        }
        match carry {
            Some(carry) => self.must_be_states(&carry, &reference.totals, "carry"),
            None => match self.scan.reduce(&call, &columns::read(&inputs, &program.inputs)) {
                Ok(totals) => self.must_be_states(&totals, &reference.totals, "totals"),
                Err(error) => panic!("{error}\n{}", self.what()),
            },
        }
    }

    fn inputs(&self) -> Vec<&[u8]> {
        let places = self.inputs.iter().zip(&self.scan.program().inputs);
        places.map(|(&(at, len), layout)| &self.arena[at..at + len * layout.size as usize]).collect()
    }

    /// The content of outputs before the call, with their fences: the inputs, in place.
    fn outputs(&self, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
        let fence = |bytes: &[u8]| [&[0x5a; FENCE], bytes, &[0xc3; FENCE]].concat();
        let capacities = self.capacities.iter().zip(&self.scan.program().output.columns);
        match self.asked.in_place {
            true => inputs.iter().map(|column| fence(column)).collect(),
            false => capacities.map(|(capacity, layout)| fence(&vec![0xa5; capacity * layout.size as usize])).collect(),
        }
    }

    /// The call itself; how many records were written, where it says so.
    fn call(
        &self,
        call: &Call<'_>,
        inputs: &[&[u8]],
        carry: Option<&mut [Constant]>,
        fenced: &mut [Vec<u8>],
    ) -> Result<Option<usize>, Error> {
        let program = self.scan.program();
        let mut read = program.inputs.clone();
        if self.odd == Some(Odd::Fieldless) {
            read[0].fields.clear();
        }
        let written = if self.asked.in_place { &read } else { &program.output.columns };
        let mut inside: Vec<&mut [u8]> = fenced.iter_mut().map(|bytes| within_fence(bytes)).collect();
        let mut from: Vec<Column<'_>> = columns::read(inputs, &read);
        let mut to: Vec<ColumnMut<'_>> = columns::write(&mut inside, written);
        if self.odd == Some(Odd::Fewer) {
            from.pop();
            to.pop();
        }
        match (carry, self.asked.in_place) {
            (None, false) => self.scan.run(call, &from, &mut to).map(Some),
            (Some(carry), false) => self.scan.resume(call, carry, &from, &mut to).map(Some),
            (None, true) => self.scan.run_in_place(call, &mut to).map(|()| None),
            (Some(carry), true) => self.scan.resume_in_place(call, carry, &mut to).map(|()| None),
        }
    }

    fn must_be_states(&self, found: &[Constant], expected: &[Constant], name: &str) {
        let is_same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.same(*b));
        assert!(is_same, "{name}: {found:?} for {expected:?}\n{}", self.what());
    }

    fn what(&self) -> String {
        let Try { asked, inputs, capacities, odd, expect, scan, .. } = self;
        format!(
            "{expect:?} of {asked:?}, inputs {inputs:?}, capacity {capacities:?}, {odd:?}\n{:?}\n{}",
            scan.plan(),
            **scan.program()
        )
    }
}

fn within_fence(bytes: &mut [u8]) -> &mut [u8] {
    let behind = bytes.len() - FENCE;
    &mut bytes[FENCE..behind]
}

/// As the engine takes it; none for rows that are refused before they get there.
fn call(asked: &Asked) -> Option<Call<'_>> {
    let shape = match &asked.over {
        Over::Line => Shape::Line,
        Over::Keys(_) => return None,
        Over::Heads(flags) => Shape::Heads(flags),
        Over::Offsets(offsets) => Shape::Offsets(offsets),
        &Over::Rows { planes, pitch, len, step } => Shape::Rows(Rows::planes(planes, pitch, len, step).ok()?),
    };
    let init = match &asked.init_each {
        Some(all) => Init::Each(all),
        None => asked.init.as_deref().into(),
    };
    Some(Call { mode: asked.mode, reversed: asked.reversed, init, shape, ..Call::default() })
}

/// How many runs a call has; for heads, at most.
fn runs(asked: &Asked) -> usize {
    match asked.over {
        Over::Rows { planes, step, .. } => planes.saturating_mul(step),
        _ => asked.len,
    }
}

/// A shape for `len` records, or one that does not fit them.
fn shape(bytes: &mut Bytes<'_>, len: usize) -> (Over, Expect) {
    match bytes.below(4) {
        0 => (Over::Line, Expect::Same),
        1 => {
            let flags = if bytes.chance(8) { bytes.below(200) } else { len };
            let rare = 1 + bytes.below(40);
            let flags: Vec<bool> = (0..flags).map(|i| bytes.below(rare) == i % 3).collect();
            let fits = Expect::same_if(flags.len() == len);
            (Over::Heads(flags), fits)
        }
        2 => {
            let mut offsets: Vec<usize> = (0..bytes.below(9)).map(|_| bytes.below(len + 1)).collect();
            offsets.sort_unstable();
            offsets.extend([len]);
            offsets.insert(0, 0);
            if bytes.chance(4) {
                let place = bytes.below(offsets.len());
                offsets[place] = bytes.hostile(len);
            }
            let fits = offsets[0] == 0 && offsets.is_sorted() && offsets.last() == Some(&len);
            (Over::Offsets(offsets), Expect::same_if(fits))
        }
        _ => rows(bytes, len),
    }
}

fn rows(bytes: &mut Bytes<'_>, len: usize) -> (Over, Expect) {
    let (mut planes, mut row, mut step) = (1 + bytes.below(4), 1 + bytes.below(30), 1 + bytes.below(4));
    let mut pitch = row * step + bytes.below(3);
    if bytes.chance(4) {
        let number = bytes.pick(&[0, 1, 2, 3]);
        *[&mut planes, &mut row, &mut step, &mut pitch][*number] = bytes.hostile(len);
    }
    let fits = Rows::planes(planes, pitch, row, step).is_ok_and(|rows| rows.records() <= len);
    (Over::Rows { planes, pitch, len: row, step }, Expect::same_if(fits))
}

/// An initial state or carry: mostly none, a valid state, any values of the right types, or no state at all.
fn state(bytes: &mut Bytes<'_>, program: &Verified<Program>) -> (Option<Vec<Constant>>, Expect) {
    let mut interpreter = Interpreter::new(&program.tables);
    let (mut all, mut expect) = (Vec::new(), Expect::Same);
    let kind = bytes.below(4);
    for stage in &program.stages {
        let mut any = |&ty: &_| Constant::from_bytes(ty, &bytes.fill(16));
        let components: Vec<Constant> = match kind {
            0 | 1 => return (None, Expect::Same),
            2 => stage.identity.clone(),
            _ => stage.state.iter().map(&mut any).collect(),
        };
        let is_valid = stage.valid.as_ref().is_none_or(|valid| interpreter.call(valid, &components)[0].bits() != 0);
        expect = expect.max(if is_valid { Expect::Same } else { Expect::Anything });
        all.extend(components);
    }
    if bytes.chance(16) {
        all.pop();
        expect = Expect::Refused;
    }
    (Some(all), expect)
}

/// Gives each run a state of its own now and then, and rows of a stream a carry each; sometimes not as many as there are.
fn states_of_each(bytes: &mut Bytes<'_>, asked: &mut Asked) -> Expect {
    let mut expect = Expect::Same;
    let mut repeat = |bytes: &mut Bytes<'_>, state: &[Constant], expected: usize| {
        let got = if bytes.below(8) == 1 { bytes.below(20) } else { expected };
        expect = expect.max(Expect::same_if(got == expected));
        state.repeat(got)
    };
    if let (Some(carry), carries) = (&asked.carry, asked.carries())
        && matches!(asked.over, Over::Rows { .. })
    {
        asked.carry = Some(repeat(bytes, carry, carries));
    }
    if asked.init.is_some() && bytes.below(2) == 1 {
        let begun = asked.begun();
        asked.init_each = asked.init.take().map(|init| repeat(bytes, &init, begun));
    }
    expect
}

/// Whether outputs can replace inputs.
fn may_be_in_place(program: &Program) -> bool {
    let lies_alike = |(a, b): (&Layout, &Layout)| a.size == b.size && a.fields == b.fields;
    let output = &program.output;
    let alike =
        program.inputs.len() == output.columns.len() && program.inputs.iter().zip(&output.columns).all(lies_alike);
    let mut mappings = program.stages.iter().map(|stage| &stage.lift).chain([&output.project]);
    let reads_next =
        mappings.any(|mapping| mapping.reads.iter().any(|source| matches!(source, Source::Next(_) | Source::Prev(_))));
    alike && !reads_next && output.filter.is_none()
}

//! Runs a call on the engine and on the reference, and says where they differ.

use std::panic::{AssertUnwindSafe, catch_unwind};

use monoscan_ir::interp::Interpreter;
use monoscan_ir::{Constant, Layout, Program, Source, Type, Verified, verify};
use monoscan_runtime::{Column, ColumnMut, DynScan, Outcome, PlanOptions};

use super::memory::{Form, Memory};
use super::{Asked, Given, OnHost, Over, Place, Reference, Wants};
use crate::Random;

/// A plan with tiles of `strips` times `interleave` blocks, however few records there are: nothing is scanned in one loop.
pub fn tiles(interleave: usize, block: usize, strips: usize) -> PlanOptions {
    PlanOptions {
        interleave: Some(interleave),
        block: Some(block),
        strips: Some(strips),
        direct: Some(0),
        ..PlanOptions::default()
    }
}

/// A program with its reference and the engine's scan of it.
pub struct Subject {
    pub reference: Reference,
    options: PlanOptions,
    /// For as many threads as rayon has, and for one, two and three; they share their code.
    scans: [DynScan; 4],
    place: Box<dyn Place>,
}

impl Subject {
    pub fn new(program: &Verified<Program>, options: PlanOptions) -> Subject {
        let scan = |threads| {
            let builder = DynScan::builder(program.clone()).plan(options.clone());
            let builder = if threads == 0 { builder } else { builder.threads(threads) };
            builder.build().unwrap_or_else(|error| panic!("{error}\n{}", **program))
        };
        Subject::of([0, 1, 2, 3].map(scan), options.clone(), Box::new(OnHost))
    }

    /// Of a scan that was built, which runs on whatever device, over columns in this place.
    pub fn of_scan(scan: &DynScan, place: Box<dyn Place>) -> Subject {
        Subject::of([0; 4].map(|_| scan.clone()), PlanOptions::default(), place)
    }

    fn of(scans: [DynScan; 4], options: PlanOptions, place: Box<dyn Place>) -> Subject {
        let program = scans[0].program().clone();
        let mut random = Random(program.record_types().len() as u64);
        let mut any = |&ty: &Type| Constant::from_bytes(ty, &random.bytes(ty.size()));
        let parameters: Vec<Constant> = program.parameters.iter().map(&mut any).collect();
        let with = |scan: &DynScan| scan.with(&parameters).expect("the parameters are of their types");
        // The reference has them as constants.
        let bound = program.bound(&parameters).expect("the parameters are of their types");
        let bound = verify(bound).expect("constants break no invariant");
        Subject { reference: Reference::new(&bound), scans: scans.each_ref().map(with), options, place }
    }

    pub fn scan(&self) -> &DynScan {
        &self.scans[0]
    }

    /// A state that the program takes for valid, whether or not its lifts give such ones.
    pub fn state(&self, random: &mut Random) -> Vec<Constant> {
        let program = &self.reference.program;
        let mut interpreter = Interpreter::new(&program.tables);
        let stages = program.stages.iter().map(|stage| {
            let components =
                || stage.state.iter().map(|&ty| Constant::from_bytes(ty, &random.bytes(ty.size()))).collect();
            let valid = |state: &Vec<Constant>| match &stage.valid {
                Some(valid) => interpreter.call(valid, state)[0].bits() != 0,
                None => true,
            };
            std::iter::repeat_with(components).take(20).find(valid).unwrap_or_else(|| stage.identity.clone())
        });
        stages.collect::<Vec<_>>().concat()
    }

    /// The carry of a stream, after some records or none.
    pub fn carry(&self, random: &mut Random) -> Vec<Constant> {
        let state = self.state(random);
        let mut previous = self.reference.program.first_carry().split_off(state.len());
        if random.chance(2) {
            let any = |part: &mut Constant| *part = Constant::from_bytes(part.ty(), &random.bytes(part.ty().size()));
            previous.iter_mut().for_each(any);
            previous.iter_mut().last().into_iter().for_each(|none| *none = Constant::from(false));
        }
        [state, previous].concat()
    }

    /// A random call that the program can run.
    pub fn call(&self, random: &mut Random) -> Asked {
        let Program { inputs, output, stages, .. } = &*self.reference.program;
        let keeps = output.filter.is_some();
        let lifts = stages.iter().map(|stage| &stage.lift);
        let mut reads = lifts.chain([&output.project]).flat_map(|mapping| &mapping.reads);
        let in_place = *inputs == output.columns
            && !keeps
            && !reads.any(|source| matches!(source, Source::Next(_) | Source::Prev(_)));
        loop {
            let mut asked = Asked::random(random, self.scan().plan(), |random| self.state(random));
            let carries = asked.carries();
            asked.carry = asked.carry.map(|_| (0..carries).flat_map(|_| self.carry(random)).collect());
            asked.in_place &= in_place;
            if !(keeps && matches!(asked.over, Over::Rows { .. })) {
                return self.place.adapt(asked);
            }
        }
    }

    /// Runs the call on both, over these columns, also reduces it if it resumes nothing, and says what differs.
    pub fn compare(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Result<(), String> {
        let given = self.compare_written(asked, inputs)?;
        match asked.carry {
            Some(_) => Ok(()),
            None => self.compare_totals(asked, inputs, &given),
        }
    }

    /// The same without the reduction. Gives what the reference gives.
    pub fn compare_written(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Result<Given, String> {
        let program = &self.reference.program;
        let inputs = &self.repeated(asked, inputs);
        let fresh = |layout: &Layout| poison(asked.len * layout.size as usize);
        let mut expected: Vec<Vec<u8>> =
            if asked.in_place { inputs.to_vec() } else { program.output.columns.iter().map(fresh).collect() };
        let before = expected.clone();
        let given = self.reference.run(asked, inputs, &mut expected);
        self.compare_outputs(asked, inputs, (&before, &expected), &given)?;
        if program.output.filter.is_some() {
            // With just enough space.
            let sizes = program.output.columns.iter().map(|layout| layout.size as usize);
            let cut = |columns: &[Vec<u8>]| -> Vec<Vec<u8>> {
                columns.iter().zip(sizes.clone()).map(|(column, size)| column[..given.count * size].to_vec()).collect()
            };
            self.compare_outputs(asked, inputs, (&cut(&before), &cut(&expected)), &given)?;
        }
        Ok(given)
    }

    /// Runs the call over memory that holds `before`, and says how it differs from what is expected.
    fn compare_outputs(
        &self,
        asked: &Asked,
        inputs: &[Vec<u8>],
        (before, expected): (&[Vec<u8>], &[Vec<u8>]),
        given: &Given,
    ) -> Result<(), String> {
        let program = &self.reference.program;
        let columns = before.iter().zip(&program.output.columns).enumerate();
        let mut memory: Vec<Memory> = columns
            .map(|(column, (bytes, layout))| {
                let form = asked.spaced.map_or(Form::Dense, |seed| Form::of_output(seed, column, layout));
                Memory::new(bytes, layout, form, 3 + column)
            })
            .collect();
        let outcome = self.run(asked, Wants::Outputs, inputs, &mut memory)?;
        if outcome.written != given.count {
            return Err(format!("{} records written, not {}", outcome.written, given.count));
        }
        for (column, layout) in program.output.columns.iter().enumerate() {
            // Four records behind those that are kept are nobody's.
            let size = layout.size as usize;
            let last = (given.count + 4).min(expected[column].len() / size.max(1));
            let free = program.output.filter.as_ref().map_or(0..0, |_| given.count * size..last * size);
            let mut found = memory[column].records();
            if let (Some(found), Some(expected)) = (found.get_mut(free.clone()), expected[column].get(free)) {
                found.copy_from_slice(expected);
            }
            same_bytes(column, layout, &found, &expected[column])?;
            if !memory[column].is_intact_around() {
                return Err(format!("output column {column}: bytes around it were written"));
            }
        }
        match asked.carry {
            Some(_) => same_states("carry", &outcome.totals, &given.totals),
            None => Ok(()),
        }
    }

    fn run(
        &self,
        asked: &Asked,
        wants: Wants,
        inputs: &[Vec<u8>],
        outputs: &mut [Memory<'_>],
    ) -> Result<Outcome, String> {
        let inputs = self.memory(asked, inputs);
        let outcome = self.place.run(&self.scans[asked.threads], asked, wants, &inputs, outputs);
        outcome.map_err(|error| error.to_string())
    }

    /// How each input column lies.
    fn forms(&self, asked: &Asked) -> impl Iterator<Item = (Form, &Layout)> {
        let has_bits = self.place.has_bits();
        let of = move |column, layout| match asked.spaced.map(|seed| Form::of_input(seed, column, layout)) {
            None => Form::Dense,
            Some(Form::Bits(_)) if !has_bits => Form::Dense,
            Some(form) => form,
        };
        let of = move |(column, layout)| (of(column, layout), layout);
        self.reference.program.inputs.iter().enumerate().map(of).collect::<Vec<_>>().into_iter()
    }

    /// The input columns in memory.
    fn memory(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Vec<Memory<'_>> {
        let columns = inputs.iter().zip(self.forms(asked)).zip(1..);
        columns.map(|((bytes, (form, layout)), at)| Memory::new(bytes, layout, form, at)).collect()
    }

    /// The records of input columns, those of a distance of 0 all the same.
    fn repeated(&self, asked: &Asked, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let column = |(bytes, (form, layout)): (&Vec<u8>, (Form, &Layout))| match form {
            Form::Apart(0) => bytes[..bytes.len().min(layout.size as usize)].repeat(bytes.len() / layout.size as usize),
            _ => bytes.clone(),
        };
        inputs.iter().zip(self.forms(asked)).map(column).collect()
    }

    fn compare_totals(&self, asked: &Asked, inputs: &[Vec<u8>], given: &Given) -> Result<(), String> {
        let inputs = &self.repeated(asked, inputs);
        let totals = self.run(asked, Wants::Totals, inputs, &mut [])?.totals;
        same_states("totals", &totals, &given.totals)?;
        if self.place.gives_both(&asked.over) { self.compare_both(asked, inputs, given) } else { Ok(()) }
    }

    /// Outputs and totals of one call.
    fn compare_both(&self, asked: &Asked, inputs: &[Vec<u8>], given: &Given) -> Result<(), String> {
        let asked = &Asked { in_place: false, ..asked.clone() };
        let layouts = &self.reference.program.output.columns;
        let fresh = |layout: &Layout| poison(asked.len * layout.size as usize);
        let bytes: Vec<Vec<u8>> = layouts.iter().map(fresh).collect();
        let dense = |(bytes, layout)| Memory::new(bytes, layout, Form::Dense, 0);
        let memory = || bytes.iter().map(Vec::as_slice).zip(layouts).map(dense).collect::<Vec<_>>();
        let (mut alone, mut both) = (memory(), memory());
        self.run(asked, Wants::Outputs, inputs, &mut alone)?;
        let outcome = self.run(asked, Wants::Both, inputs, &mut both)?;
        if outcome.written != given.count {
            return Err(format!("{} records written with totals, not {}", outcome.written, given.count));
        }
        for (column, (layout, (found, expected))) in layouts.iter().zip(both.iter().zip(&alone)).enumerate() {
            let written = if self.reference.program.output.filter.is_some() { given.count } else { asked.len };
            let bytes = ..written * layout.size as usize;
            same_bytes(column, layout, &found.records()[bytes], &expected.records()[bytes])?;
        }
        same_states("totals beside outputs", &outcome.totals, &given.totals)
    }

    /// Panics with the simplest call that fails too, if this one fails.
    pub fn must_agree(&self, asked: &Asked, inputs: &[Vec<u8>]) {
        let compare = |asked: &Asked, inputs: &[Vec<u8>]| {
            let compared = catch_unwind(AssertUnwindSafe(|| self.compare(asked, inputs)));
            compared.unwrap_or_else(|_| Err("a panic".into()))
        };
        let Err(mut difference) = compare(asked, inputs) else { return };
        let (mut asked, mut inputs) = (asked.clone(), inputs.to_vec());
        let layouts = &self.reference.program.inputs;
        'simpler: loop {
            for simpler in asked.simpler() {
                let mut shorter = inputs.clone();
                let bytes = |layout: &Layout| simpler.len * layout.size as usize;
                shorter.iter_mut().zip(layouts).for_each(|(column, layout)| column.truncate(bytes(layout)));
                if let Err(found) = compare(&simpler, &shorter) {
                    (asked, inputs, difference) = (simpler, shorter, found);
                    continue 'simpler;
                }
            }
            break;
        }
        panic!("{difference}\n{asked:?}\n{:?}\ninputs {inputs:?}\n{}", self.options, *self.reference.program);
    }
}

pub fn columns<'a>(bytes: impl Iterator<Item = &'a [u8]>, layouts: &'a [Layout]) -> Vec<Column<'a>> {
    bytes.zip(layouts).map(|(bytes, layout)| Column::from_bytes(bytes, layout).expect("whole records")).collect()
}

pub fn columns_mut<'a>(bytes: impl Iterator<Item = &'a mut [u8]>, layouts: &'a [Layout]) -> Vec<ColumnMut<'a>> {
    bytes.zip(layouts).map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).expect("whole records")).collect()
}

/// Bytes of memory that nobody has written.
pub fn poison(bytes: usize) -> Vec<u8> {
    let period: [u8; 256] = std::array::from_fn(|i| 0xa5 ^ (i as u8).wrapping_mul(29));
    let mut all = period.repeat(bytes.div_ceil(period.len()));
    all.truncate(bytes);
    all
}

/// Byte for byte, but for which NaN a float is.
pub fn same_bytes(column: usize, layout: &Layout, found: &[u8], expected: &[u8]) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let size = layout.size as usize;
    for (place, (found, expected)) in found.chunks(size).zip(expected.chunks(size)).enumerate() {
        let (mut left, mut right) = (found.to_vec(), expected.to_vec());
        for field in &layout.fields {
            let bytes = field.offset as usize..field.offset as usize + field.ty.size();
            let value = |record: &[u8]| Constant::from_bytes(field.ty, &record[bytes.clone()]);
            if value(found).same(value(expected)) && field.ty.is_float() {
                left[bytes.clone()].fill(0);
                right[bytes].fill(0);
            }
        }
        if left != right {
            return Err(format!("output column {column}, record {place}: {found:?} for {expected:?}"));
        }
    }
    Ok(())
}

pub fn same_states(what: &str, found: &[Constant], expected: &[Constant]) -> Result<(), String> {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.ty() == b.ty() && a.same(*b));
    if same {
        return Ok(());
    }
    Err(format!("{what}: {found:?} for {expected:?}"))
}

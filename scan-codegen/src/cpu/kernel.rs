//! Tile kernels: one loop that takes an element of each of W blocks in turn, as [`abi`](super::abi) describes.
//!
//! Every way has an element number that steps by one; columns have one base address each, and an address is base +
//! number · record size, which the machine folds into the access for sizes up to 8. What a way carries from element to
//! element is a block parameter of the loop, so it stays in registers while there are any.
//!
//! The last element of the whole input has no next one. If the body cares, the loop leaves it out and runs the
//! [interior](super::interior) of the body; the last round, in which one of the ways may be at that element, runs the
//! body itself behind the loop.

use cranelift_codegen::ir::{self, AbiParam, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use scan_ir::facts::{Advance, Body, Range};
use scan_ir::{Constant, Field, Layout, Source};

use super::abi::{StateLayout, TileArgs};
use super::error::CodegenError;
use super::interior::{Interior, Prime};
use super::lower::{Env, constant, lower_function};
use super::memory;

/// What a tile kernel does.
pub(crate) struct TileKernel<'a> {
    /// The function of one element.
    pub(crate) body: &'a Body,
    /// The same for elements that have a next one, if that is another.
    pub(crate) interior: Option<&'a Interior>,
    /// Where a block starts: none reads its carry from the slot.
    pub(crate) identity: Option<&'a [Constant]>,
    /// The input columns.
    pub(crate) inputs: &'a [Layout],
    /// The output columns; a reduction has none.
    pub(crate) outputs: &'a [Layout],
    /// How states lie in slots.
    pub(crate) state: &'a StateLayout,
    /// The range of each parameter of the body.
    pub(crate) ranges: &'a [Range],
    /// How many blocks.
    pub(crate) ways: u32,
}

/// A component and the column it is in.
#[derive(Clone, Copy)]
struct Place {
    column: usize,
    size: u32,
    field: Field,
}

/// The components of all columns, in the order of their numbers.
fn places(columns: &[Layout]) -> Vec<Place> {
    let of_column = |(column, layout): (usize, &Layout)| {
        let size = layout.size;
        layout.fields.iter().map(move |&field| Place { column, size, field }).collect::<Vec<_>>()
    };
    columns.iter().enumerate().flat_map(of_column).collect()
}

/// Writes a tile kernel into an empty function.
pub(crate) fn tile(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    kernel: &TileKernel<'_>,
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    func.signature.params.push(AbiParam::new(types::I64));
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let args = b.block_params(entry)[0];
    Loop::new(&mut b, kernel, args).write(&mut b, env)?;
    b.seal_all_blocks();
    b.finalize(env.frontend);
    Ok(())
}

/// The kernel while it is written; the values here are fixed before the loop starts.
struct Loop<'a> {
    kernel: &'a TileKernel<'a>,
    inputs: Vec<Place>,
    outputs: Vec<Place>,
    input_bases: Vec<Option<ir::Value>>,
    output_bases: Vec<Option<ir::Value>>,
    start: ir::Value,
    len: ir::Value,
    total: ir::Value,
    states: ir::Value,
}

impl<'a> Loop<'a> {
    fn new(b: &mut FunctionBuilder<'_>, kernel: &'a TileKernel<'a>, args: ir::Value) -> Loop<'a> {
        let flags = memory::data_flags();
        let mut word = |offset: usize| b.ins().load(types::I64, flags, args, offset as i32);
        let columns_in = word(std::mem::offset_of!(TileArgs, inputs));
        let columns_out = word(std::mem::offset_of!(TileArgs, outputs));
        let start = word(std::mem::offset_of!(TileArgs, start));
        let len = word(std::mem::offset_of!(TileArgs, len));
        let total = word(std::mem::offset_of!(TileArgs, total));
        let states = word(std::mem::offset_of!(TileArgs, states));
        let (inputs, outputs) = (places(kernel.inputs), places(kernel.outputs));
        let read = |column: usize| {
            kernel.body.mapping.reads.iter().any(|source| match *source {
                Source::Record(component) | Source::Next(component) => {
                    inputs.get(component as usize).is_some_and(|place| place.column == column)
                }
                _ => false,
            })
        };
        let mut base = |columns: ir::Value, column: usize| b.ins().load(types::I64, flags, columns, 8 * column as i32);
        let input_bases =
            (0..kernel.inputs.len()).map(|column| read(column).then(|| base(columns_in, column))).collect();
        let output_bases = (0..kernel.outputs.len()).map(|column| Some(base(columns_out, column))).collect();
        Loop { kernel, inputs, outputs, input_bases, output_bases, start, len, total, states }
    }

    fn write(&self, b: &mut FunctionBuilder<'_>, env: &Env<'_>) -> Result<(), CodegenError> {
        let ways = self.kernel.ways as usize;
        let carried = self.carried()?;
        let mut numbers = vec![self.start];
        for way in 1..ways {
            numbers.push(b.ins().iadd(numbers[way - 1], self.len));
        }
        let mut states = Vec::new();
        for way in 0..ways {
            for &(component, field) in &carried {
                states.push(self.carry_in(b, way, component, field)?);
            }
        }
        if let Some(interior) = self.kernel.interior {
            let ends = self.ends(b, numbers[ways - 1]);
            let rounds = b.ins().isub(self.len, ends);
            let element = Round::Interior(interior);
            (numbers, states) = self.rounds(b, env, element, rounds, numbers, states)?;
            (_, states) = self.rounds(b, env, Round::Any, ends, numbers, states)?;
        } else {
            (_, states) = self.rounds(b, env, Round::Any, self.len, numbers, states)?;
        }
        for (place, &value) in states.iter().enumerate() {
            let (way, (_, field)) = (place / carried.len(), carried[place % carried.len()]);
            memory::store(b, field.ty, value, self.states, self.slot_offset(way, field));
        }
        b.ins().return_(&[]);
        Ok(())
    }

    /// 1 if the last block has elements and ends where the whole input does, else 0.
    fn ends(&self, b: &mut FunctionBuilder<'_>, last_block: ir::Value) -> ir::Value {
        let end = b.ins().iadd(last_block, self.len);
        let at_end = b.ins().icmp(IntCC::Equal, end, self.total);
        let some = b.ins().icmp_imm_u(IntCC::NotEqual, self.len, 0);
        let ends = b.ins().band(at_end, some);
        b.ins().uextend(types::I64, ends)
    }

    /// A loop of so many rounds, each an element of every way, from these elements and states on. Gives the elements and
    /// states behind it.
    fn rounds(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        rounds: ir::Value,
        numbers: Vec<ir::Value>,
        states: Vec<ir::Value>,
    ) -> Result<(Vec<ir::Value>, Vec<ir::Value>), CodegenError> {
        let ways = self.kernel.ways as usize;
        let per_way = states.len() / ways;
        let end = b.ins().iadd(numbers[0], rounds);
        let kind = |b: &FunctionBuilder<'_>, value: ir::Value| b.func.dfg.value_type(value);
        let outer = [numbers, states].concat();
        let enter = b.create_block();
        let body = b.create_block();
        let exit = b.create_block();
        let after: Vec<ir::Value> = outer.iter().map(|&v| b.append_block_param(exit, kind(b, v))).collect();
        branch(b, rounds, enter, &[], exit, &outer);

        b.switch_to_block(enter);
        let mut first = outer.clone();
        if let Round::Interior(interior) = round {
            for &number in &outer[..ways] {
                first.extend(self.primed(b, env, &interior.prime, number)?);
            }
        }
        let handed = (first.len() - outer.len()) / ways;
        let params: Vec<ir::Value> = first.iter().map(|&v| b.append_block_param(body, kind(b, v))).collect();
        b.ins().jump(body, &first.iter().map(|&value| BlockArg::Value(value)).collect::<Vec<_>>());

        b.switch_to_block(body);
        let mut numbers = Vec::new();
        let mut states = Vec::new();
        let mut ahead = Vec::new();
        for way in 0..ways {
            let number = params[way];
            let before =
                [&params[ways + way * per_way..][..per_way], &params[outer.len() + way * handed..][..handed]].concat();
            let mut results = self.element(b, env, round, number, &before, per_way)?;
            ahead.extend(results.split_off(per_way));
            states.extend(results);
            numbers.push(b.ins().iadd_imm_u(number, 1));
        }
        let more = b.ins().icmp(IntCC::UnsignedLessThan, numbers[0], end);
        let behind = [numbers, states].concat();
        let next = [behind.clone(), ahead].concat();
        branch(b, more, body, &next, exit, &behind);

        b.switch_to_block(exit);
        let states = after[ways..].to_vec();
        Ok((after[..ways].to_vec(), states))
    }

    /// The look-ahead of an element, from its record.
    fn primed(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        prime: &Prime,
        number: ir::Value,
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let args =
            prime.reads.iter().map(|&component| self.load(b, component, number)).collect::<Result<Vec<_>, _>>()?;
        let ranges: Vec<Range> = prime.function.params.iter().map(|&ty| Range::full(ty)).collect();
        lower_function(b, &prime.function, &args, &ranges, env)
    }

    /// The carried components with where they lie in a slot.
    fn carried(&self) -> Result<Vec<(usize, Field)>, CodegenError> {
        let fields = &self.kernel.state.layout.fields;
        let place = |&(_, component): &(u32, u32)| Some((component as usize, *fields.get(component as usize)?));
        self.kernel.body.carried.iter().map(place).collect::<Option<_>>().ok_or(CodegenError::Facts)
    }

    fn slot_offset(&self, way: usize, field: Field) -> i32 {
        (way * self.kernel.state.stride) as i32 + field.offset as i32
    }

    fn carry_in(
        &self,
        b: &mut FunctionBuilder<'_>,
        way: usize,
        component: usize,
        field: Field,
    ) -> Result<ir::Value, CodegenError> {
        let Some(identity) = self.kernel.identity else {
            let offset = self.slot_offset(way, field);
            return Ok(memory::load(b, memory::data_flags(), field.ty, field.ty.size(), self.states, offset));
        };
        identity.get(component).map(|&value| constant(b, value)).ok_or(CodegenError::Facts)
    }

    /// One element of one way: reads, computes, writes. From what is carried and, in the interior, handed on to this
    /// element, to the same after it. The first `carried` values are the carried components.
    fn element(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        number: ir::Value,
        before: &[ir::Value],
        carried: usize,
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let mapping = &self.kernel.body.mapping;
        let (function, reads, ranges) = match round {
            Round::Any => (&mapping.function, &mapping.reads[carried..], self.kernel.ranges),
            Round::Interior(interior) => (&interior.function, &interior.reads[..], &interior.ranges[..]),
        };
        let mut element = Element { number, next: None, interior: matches!(round, Round::Interior(_)) };
        let mut args = before.to_vec();
        for &source in reads {
            args.push(self.read(b, &mut element, source)?);
        }
        let mut results = lower_function(b, function, &args, ranges, env)?;
        let outputs: Vec<ir::Value> = results.drain(carried..carried + self.outputs.len()).collect();
        for (place, &value) in self.outputs.iter().zip(&outputs) {
            let base = self.output_bases[place.column].ok_or(CodegenError::Facts)?;
            let address = record(b, base, number, place.size);
            memory::store(b, place.field.ty, value, address, place.field.offset as i32);
        }
        Ok(results)
    }

    fn read(&self, b: &mut FunctionBuilder<'_>, e: &mut Element, source: Source) -> Result<ir::Value, CodegenError> {
        match source {
            Source::Record(component) => self.load(b, component, e.number),
            Source::Next(component) if e.interior => {
                let following = b.ins().iadd_imm_u(e.number, 1);
                self.load(b, component, following)
            }
            Source::Next(component) => {
                let next = self.next(b, e);
                // At the end the record itself is read again, to stay in bounds, and dropped.
                let value = self.load(b, component, next.number)?;
                let ty = self.inputs[component as usize].field.ty;
                let zero = constant(b, ty.zero());
                Ok(b.ins().select(next.none, zero, value))
            }
            Source::Last => Ok(self.next(b, e).none),
            Source::Index => Ok(e.number),
            _ => Err(CodegenError::Facts),
        }
    }

    fn next(&self, b: &mut FunctionBuilder<'_>, element: &mut Element) -> Next {
        *element.next.get_or_insert_with(|| {
            let following = b.ins().iadd_imm_u(element.number, 1);
            let none = b.ins().icmp(IntCC::Equal, following, self.total);
            let number = b.ins().select(none, element.number, following);
            Next { number, none }
        })
    }

    fn load(&self, b: &mut FunctionBuilder<'_>, component: u32, number: ir::Value) -> Result<ir::Value, CodegenError> {
        let place = self.inputs.get(component as usize).ok_or(CodegenError::Facts)?;
        let base = self.input_bases[place.column].ok_or(CodegenError::Facts)?;
        let address = record(b, base, number, place.size);
        let Field { offset, ty } = place.field;
        Ok(memory::load(b, memory::data_flags(), ty, ty.size(), address, offset as i32))
    }
}

/// Which elements a round of the loop may meet.
#[derive(Clone, Copy)]
enum Round<'a> {
    /// Any.
    Any,
    /// Such as have a next one.
    Interior(&'a Interior),
}

/// An element of one way while its sources are read.
struct Element {
    number: ir::Value,
    next: Option<Next>,
    interior: bool,
}

/// The element after: its number (the element's own at the end), and whether there is none.
#[derive(Clone, Copy)]
struct Next {
    number: ir::Value,
    none: ir::Value,
}

/// The address of a record.
fn record(b: &mut FunctionBuilder<'_>, base: ir::Value, number: ir::Value, size: u32) -> ir::Value {
    let offset = match size {
        1 => number,
        size if size.is_power_of_two() => b.ins().ishl_imm_u(number, i64::from(size.trailing_zeros())),
        size => b.ins().imul_imm_u(number, i64::from(size)),
    };
    b.ins().iadd(base, offset)
}

fn branch(
    b: &mut FunctionBuilder<'_>,
    condition: ir::Value,
    yes: ir::Block,
    yes_args: &[ir::Value],
    no: ir::Block,
    no_args: &[ir::Value],
) {
    let args = |values: &[ir::Value]| values.iter().map(|&value| BlockArg::Value(value)).collect::<Vec<_>>();
    b.ins().brif(condition, yes, &args(yes_args), no, &args(no_args));
}

/// Writes the advance of a carry over an aggregate, both in slots, into an empty function.
pub(crate) fn advance(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    advance: &Advance,
    state: &StateLayout,
    ranges: &[Range],
    env: &Env<'_>,
) -> Result<(), CodegenError> {
    func.signature.params.extend([AbiParam::new(types::I64); 3]);
    let mut b = FunctionBuilder::new(func, context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [left, right, out] = [0, 1, 2].map(|place| b.block_params(entry)[place]);
    let fields = &state.layout.fields;
    let mut args = Vec::new();
    for slot in [left, right] {
        for &Field { offset, ty } in fields {
            args.push(memory::load(&mut b, memory::data_flags(), ty, ty.size(), slot, offset as i32));
        }
    }
    let results = lower_function(&mut b, &advance.function, &args, ranges, env)?;
    for (&component, value) in advance.components.iter().zip(results) {
        let Field { offset, ty } = fields[component as usize];
        memory::store(&mut b, ty, value, out, offset as i32);
    }
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(env.frontend);
    Ok(())
}

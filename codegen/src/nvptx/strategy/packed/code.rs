//! A function on four bytes at once.
//!
//! Lanes are kept apart by the ways of [`swar`]. Where no lane has its highest bit set, or only one
//! bit of it can be set at all, less is needed.

use monoscan_ir::facts::{Range, value_ranges};
use monoscan_ir::{Function, Inst, Opcode, Type};

use super::is_byte;
use super::words::{ONES, Word};
use crate::nvptx::emit::Builder;
use crate::nvptx::lower::swar;

/// A function whose every instruction has a form on four lanes.
pub(super) struct Code {
    params: usize,
    steps: Vec<(Form, Vec<usize>)>,
    results: Vec<usize>,
}

/// The operations on words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The byte in every lane.
    Constant(u8),
    And,
    Or,
    Xor,
    Not,
    /// A sum, and one in which no lane carries.
    Add,
    AddSmall,
    Sub,
    Neg,
    /// The smaller or larger; lanes that are signed, and that are all below 128.
    Min(Order),
    Max(Order),
    /// Of lanes in which these bits may be set.
    ShiftLeft(u32, u8),
    ShiftRight(u32, u8),
    /// Whether two lanes are the same, which differ in these bits at most; or whether they are not.
    Equal(u8),
    NotEqual(u8),
    /// Whether the first is at least the second, or below it.
    AtLeast(Order),
    Below(Order),
    /// Of one that is `bool`, the third or the second; they are `bool` themselves, or integers.
    SelectFlag,
    SelectByte,
    /// A `bool` as an integer.
    FlagToByte,
    Copy,
}

/// How lanes are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Signed,
    Unsigned,
    /// None is above 127, or below 0.
    Small,
}

impl Code {
    /// The function for arguments in these ranges, if each of its instructions has a form.
    pub(super) fn new(function: &Function, arguments: &[Range]) -> Option<Code> {
        let ranges = value_ranges(function, arguments, &[]);
        let mut bits: Vec<u8> = ranges[..function.params.len()].iter().map(|&range| within(range)).collect();
        let mut steps = Vec::new();
        for (value, inst) in function.values() {
            let operands: Vec<usize> = inst.operands().iter().map(|operand| operand.index()).collect();
            let lanes = Lanes { function, bits: &bits };
            let (form, order) = lanes.form(inst)?;
            bits.push(lanes.bits_of(form, inst) & within(ranges[value.index()]));
            steps.push((form, order.iter().map(|&place| operands[place]).collect()));
        }
        let results = function.results.iter().map(|result| result.index()).collect();
        Some(Code { params: function.params.len(), steps, results })
    }

    /// About how many instructions it is.
    pub(super) fn work(&self) -> usize {
        self.steps.iter().map(|(form, _)| form.work()).sum()
    }

    /// Appends its instructions for these arguments, and gives its results.
    pub(super) fn write<'k>(&self, k: &'k Builder, args: &[Word<'k>]) -> Vec<Word<'k>> {
        debug_assert_eq!(self.params, args.len());
        let mut values = args.to_vec();
        for (form, operands) in &self.steps {
            let operands: Vec<Word<'k>> = operands.iter().map(|&operand| values[operand]).collect();
            values.push(form.write(k, &operands));
        }
        self.results.iter().map(|&result| values[result]).collect()
    }
}

/// The bits that may be set in a byte of this range.
fn within(range: Range) -> u8 {
    match (range.min, range.max) {
        (0.., ..=255) => ((range.max as u32 + 1).next_power_of_two() - 1) as u8,
        _ => 0xff,
    }
}

/// The facts about the values of a function.
struct Lanes<'a> {
    function: &'a Function,
    bits: &'a [u8],
}

impl Lanes<'_> {
    /// The form of an instruction on four lanes, and which of its operands it takes.
    fn form(&self, inst: &Inst) -> Option<(Form, &'static [usize])> {
        let both = |form| Some((form, &[0, 1][..]));
        let swapped = |form| Some((form, &[1, 0][..]));
        let one = |form| Some((form, &[0][..]));
        if let Some(constant) = inst.as_constant() {
            // A wide one is a shift's, or the opcode that it goes to has no form.
            return Some((Form::Constant(constant.bits() as u8), &[]));
        }
        let of = |operand: usize| inst.operands().get(operand).and_then(|&value| self.function.type_of(value));
        // In a selection, that of the two.
        let ty = of(usize::from(inst.opcode == Opcode::Select))?;
        if !is_byte(ty) || !is_byte(inst.ty) {
            return None;
        }
        let is_flag = ty == Type::Bool;
        match inst.opcode {
            Opcode::And => both(Form::And),
            Opcode::Or => both(Form::Or),
            Opcode::Xor => both(Form::Xor),
            Opcode::Not => one(Form::Not),
            Opcode::Eq | Opcode::Ne if is_flag => {
                both(if inst.opcode == Opcode::Eq { Form::Equal(1) } else { Form::Xor })
            }
            Opcode::Eq => both(Form::Equal(self.differ(inst))),
            Opcode::Ne => both(Form::NotEqual(self.differ(inst))),
            Opcode::Select if is_flag => Some((Form::SelectFlag, &[0, 1, 2])),
            Opcode::Select => Some((Form::SelectByte, &[0, 1, 2])),
            Opcode::Cast if is_flag && inst.ty != Type::Bool => one(Form::FlagToByte),
            Opcode::Cast | Opcode::Bitcast if is_flag == (inst.ty == Type::Bool) => one(Form::Copy),
            _ if is_flag => None,
            Opcode::Add if self.is_small_sum(inst) => both(Form::AddSmall),
            Opcode::Add => both(Form::Add),
            Opcode::Sub => both(Form::Sub),
            Opcode::Neg => one(Form::Neg),
            Opcode::Min => both(Form::Min(self.order(inst, ty))),
            Opcode::Max => both(Form::Max(self.order(inst, ty))),
            Opcode::Ge => both(Form::AtLeast(self.order(inst, ty))),
            Opcode::Le => swapped(Form::AtLeast(self.order(inst, ty))),
            Opcode::Lt => both(Form::Below(self.order(inst, ty))),
            Opcode::Gt => swapped(Form::Below(self.order(inst, ty))),
            Opcode::Shl => one(Form::ShiftLeft(self.amount(inst)?, self.bits(inst, 0))),
            Opcode::Shr if ty == Type::U8 => one(Form::ShiftRight(self.amount(inst)?, self.bits(inst, 0))),
            _ => None,
        }
    }

    fn bits(&self, inst: &Inst, operand: usize) -> u8 {
        self.bits[inst.operands()[operand].index()]
    }

    /// By how much a shift shifts, if that is known.
    fn amount(&self, inst: &Inst) -> Option<u32> {
        self.function.as_constant(inst.operands()[1]).map(|amount| amount.bits() as u32 % 8)
    }

    fn is_small_sum(&self, inst: &Inst) -> bool {
        u32::from(self.bits(inst, 0)) + u32::from(self.bits(inst, 1)) <= 0xff
    }

    fn order(&self, inst: &Inst, ty: Type) -> Order {
        match ty.is_signed() {
            _ if (self.bits(inst, 0) | self.bits(inst, 1)) < 0x80 => Order::Small,
            true => Order::Signed,
            false => Order::Unsigned,
        }
    }

    /// In which bits the operands may differ.
    fn differ(&self, inst: &Inst) -> u8 {
        self.bits(inst, 0) | self.bits(inst, 1)
    }

    /// The bits that may be set in the result.
    fn bits_of(&self, form: Form, inst: &Inst) -> u8 {
        match form {
            Form::Constant(byte) => byte,
            Form::And => self.bits(inst, 0) & self.bits(inst, 1),
            Form::Or | Form::Xor | Form::Max(_) => self.bits(inst, 0) | self.bits(inst, 1),
            Form::SelectByte => self.bits(inst, 1) | self.bits(inst, 2),
            Form::ShiftLeft(by, bits) => bits << by,
            Form::ShiftRight(by, bits) => bits >> by,
            Form::FlagToByte => 1,
            Form::Copy => self.bits(inst, 0),
            _ => 0xff,
        }
    }
}

impl Form {
    /// About how many instructions it is, of those that take three operands in bitwise logic.
    fn work(self) -> usize {
        match self {
            Form::Constant(_) | Form::Copy => 0,
            Form::And | Form::Or | Form::Xor | Form::Not | Form::AddSmall => 1,
            Form::FlagToByte | Form::SelectFlag => 1,
            Form::ShiftLeft(by, bits) => 1 + usize::from((bits << by) >> by != bits),
            Form::ShiftRight(by, bits) => 1 + usize::from((bits >> by) << by != bits),
            Form::SelectByte => 3,
            Form::Equal(differ) => 1 + Form::NotEqual(differ).work(),
            Form::NotEqual(differ) if differ.count_ones() <= 1 => 2,
            Form::NotEqual(differ) => {
                if differ < 0x80 {
                    3
                } else {
                    5
                }
            }
            Form::Neg => 4,
            Form::Add | Form::Sub => 5,
            Form::AtLeast(order) | Form::Below(order) => order.work() + 1,
            Form::Min(order) | Form::Max(order) => order.work() + 5,
        }
    }

    fn write<'k>(self, k: &'k Builder, args: &[Word<'k>]) -> Word<'k> {
        match (self, args) {
            (Form::Constant(byte), []) => k.i32(usize::from(byte) * ONES),
            (Form::And, &[a, b]) => a & b,
            (Form::Or, &[a, b]) => a | b,
            (Form::Xor, &[a, b]) => a ^ b,
            (Form::Not, &[a]) => !a,
            (Form::Add, &[a, b]) => swar::add(a, b),
            (Form::AddSmall, &[a, b]) => a + b,
            (Form::Sub, &[a, b]) => swar::sub(a, b),
            (Form::Neg, &[a]) => swar::sub(k.i32(0), a),
            (Form::Min(order), &[a, b]) => swar::choose(order.at_least(a, b), b, a),
            (Form::Max(order), &[a, b]) => swar::choose(order.at_least(a, b), a, b),
            (Form::ShiftLeft(by, bits), &[a]) => match (bits << by) >> by == bits {
                true => a << by as usize,
                false => (a << by as usize) & (usize::from(0xff_u8 << by) * ONES),
            },
            (Form::ShiftRight(by, bits), &[a]) => match (bits >> by) << by == bits {
                true => a >> by as usize,
                false => (a >> by as usize) & (usize::from(0xff_u8 >> by) * ONES),
            },
            (Form::Equal(differ), &[a, b]) => !is_nonzero(a ^ b, differ),
            (Form::NotEqual(differ), &[a, b]) => is_nonzero(a ^ b, differ),
            (Form::AtLeast(order), &[a, b]) => order.at_least(a, b) >> 7,
            (Form::Below(order), &[a, b]) => !(order.at_least(a, b) >> 7),
            (Form::SelectFlag, &[flag, yes, no]) => no ^ ((yes ^ no) & flag),
            (Form::SelectByte, &[flag, yes, no]) => no ^ ((yes ^ no) & ((flag & ONES) * 0xff)),
            (Form::FlagToByte, &[flag]) => flag & ONES,
            (Form::Copy, &[a]) => a,
            _ => unreachable!("{self:?} of {} words", args.len()),
        }
    }
}

impl Order {
    fn work(self) -> usize {
        match self {
            Order::Small => 4,
            Order::Unsigned => 6,
            Order::Signed => 8,
        }
    }

    /// The highest bit of each lane set where a ≥ b, all other bits 0.
    fn at_least<'k>(self, a: Word<'k>, b: Word<'k>) -> Word<'k> {
        match self {
            Order::Small => swar::at_least(a, b, true),
            Order::Unsigned => swar::at_least(a, b, false),
            Order::Signed => swar::at_least(a ^ swar::HIGH, b ^ swar::HIGH, false),
        }
    }
}

/// Whether lanes are not 0, in which these bits may be set.
pub(super) fn is_nonzero(word: Word<'_>, bits: u8) -> Word<'_> {
    match bits {
        _ if bits.count_ones() <= 1 => word >> (bits.trailing_zeros() % 8) as usize,
        ..0x80 => (word + swar::LOW) >> 7,
        _ => (((word & swar::LOW) + swar::LOW) | word) >> 7,
    }
}

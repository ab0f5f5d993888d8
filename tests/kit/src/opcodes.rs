//! Every opcode on the operands that it treats specially, as functions of one record.

use monoscan_ir::{Class, Constant, Function, FunctionBuilder, Inst, Opcode, Rule, Table, Type, Value};

pub fn vector(lanes: usize) -> Type {
    Type::bytes(lanes).unwrap()
}

/// Values that opcodes treat specially, and some that they do not.
pub fn values(ty: Type) -> Vec<Constant> {
    match ty {
        Type::Bool => [false, true].map(Constant::from).to_vec(),
        Type::F32 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            0.1,
            255.5,
            -129.0,
            65504.0,
            65519.9,
            65520.0,
            6.1e-5,
            5.9e-8,
            2147483648.0,
            -2147483904.0,
            9.3e18,
            1.9e19,
            8388609.0,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            -1e-45,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            1e30,
            -1e30,
            f32::EPSILON,
        ]
        .map(Constant::from)
        .to_vec(),
        Type::F64 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            0.1,
            255.5,
            -129.0,
            65535.9,
            4294967296.0,
            2147483647.5,
            -2147483649.0,
            9.223372036854776e18,
            1.8446744073709552e19,
            4503599627370497.5,
            3.5e38,
            1e-46,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e300,
            f64::EPSILON,
        ]
        .map(Constant::from)
        .to_vec(),
        Type::Bytes(lanes) => {
            let pattern = |f: &dyn Fn(usize) -> u8| Constant::vector(&(0..lanes.get()).map(f).collect::<Vec<_>>());
            vec![
                pattern(&|_| 0),
                pattern(&|_| 255),
                pattern(&|i| i as u8),
                pattern(&|i| 15 - i as u8),
                pattern(&|i| (i * 7 % lanes.get()) as u8),
                pattern(&|i| if i % 2 == 0 { 16 + i as u8 } else { 0x80 + i as u8 }),
                pattern(&|i| (i * 37 + 11) as u8),
                pattern(&|i| if i + 1 == lanes.get() { 1 } else { 0 }),
            ]
        }
        _ => {
            let (bits, mask) = (ty.bits(), ty.mask());
            let mut all: Vec<u128> = vec![0, 1, 2, 3, 7, 10, 100, mask, mask - 1, mask - 6, mask >> 1, (mask >> 1) + 1];
            all.extend([
                mask >> 2,
                (mask >> 1) + 2,
                mask / 3,
                mask / 5 * 2,
                0x0123_4567_89ab_cdef,
                0xfedc_ba98_7654_3210,
            ]);
            all.extend([1 << (bits / 2), (1 << (bits / 2)) - 1]);
            all.into_iter().map(|value| Constant::new(ty, value)).collect()
        }
    }
}

/// The columns every case has: three operands, a shift amount, a condition, a byte, and vectors of other lengths.
pub fn columns(ty: Type) -> Vec<Type> {
    vec![ty, ty, ty, Type::U32, Type::Bool, Type::U8, vector(4), vector(12), vector(16)]
}

/// Each instruction on the columns' values that an opcode allows with first operand `ty`, as functions of one result.
pub fn functions(ty: Type) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    let mut add = |build: &dyn Fn(&mut FunctionBuilder, &[Value]) -> Value| {
        let mut b = FunctionBuilder::new();
        let params = b.params(&columns(ty));
        let result = build(&mut b, &params);
        all.push(b.finish(&[result]));
    };
    let every_type = || Type::SCALARS.into_iter().chain((1..=16).map(vector));
    for &opcode in Opcode::ALL {
        let accepts = |class: Class| class.contains(ty);
        match opcode.rule() {
            Rule::Unary(class) if accepts(class) => add(&|b, p| b.op(opcode, &p[..1])),
            Rule::Binary(class) | Rule::Compare(class) if accepts(class) => {
                add(&|b, p| b.op(opcode, &p[..2]));
                for constant in values(ty) {
                    add(&|b, p| {
                        let constant = b.constant(constant);
                        b.op(opcode, &[p[0], constant])
                    });
                    // What bounds a value from one side is known of it where it meets another.
                    if ty.is_float() && matches!(opcode, Opcode::Min | Opcode::Max) {
                        for bounded_first in [true, false] {
                            add(&|b, p| {
                                let constant = b.constant(constant);
                                let bounded = b.op(opcode, &[p[0], constant]);
                                b.op(opcode, &if bounded_first { [bounded, p[1]] } else { [p[1], bounded] })
                            });
                        }
                    }
                }
            }
            Rule::Ternary(class) if accepts(class) => add(&|b, p| b.op(opcode, &p[..3])),
            Rule::Shift if ty.is_int() => {
                add(&|b, p| b.op(opcode, &[p[0], p[3]]));
                for amount in [0u32, 1, 7, 8, 15, 31, 33, 63, u32::MAX] {
                    add(&|b, p| {
                        let amount = b.lit(amount);
                        b.op(opcode, &[p[0], amount])
                    });
                }
            }
            Rule::Count if ty.is_int() => add(&|b, p| b.op(opcode, &p[..1])),
            Rule::Select => {
                add(&|b, p| b.op(opcode, &[p[4], p[0], p[1]]));
                for zero_first in [true, false] {
                    add(&|b, p| {
                        let zero = b.constant(ty.zero());
                        b.op(opcode, &if zero_first { [p[4], zero, p[0]] } else { [p[4], p[0], zero] })
                    });
                }
                let Rule::Compare(class) = Opcode::Lt.rule() else { unreachable!() };
                for &by in Opcode::ALL.iter().filter(|by| accepts(class) && matches!(by.rule(), Rule::Compare(_))) {
                    for (yes, no) in [(0, 1), (1, 0), (2, 0), (1, 2)] {
                        add(&|b, p| {
                            let condition = b.op(by, &p[..2]);
                            b.op(opcode, &[condition, p[yes], p[no]])
                        });
                    }
                }
            }
            Rule::Cast if !ty.is_vector() => {
                for to in Type::SCALARS.into_iter().filter(|&to| to != Type::Bool || ty == Type::Bool) {
                    add(&|b, p| b.cast(to, p[0]));
                }
            }
            Rule::Bitcast if ty != Type::Bool => {
                for to in every_type().filter(|to| to.size() == ty.size() && *to != Type::Bool) {
                    add(&|b, p| b.bitcast(to, p[0]));
                    if ty.is_vector() {
                        // Lanes beyond the vector are not zero after this.
                        add(&|b, p| {
                            let a = b.unary(Opcode::Not, p[0]);
                            b.bitcast(to, a)
                        });
                    }
                }
            }
            Rule::Convert(from, _) if from == ty => add(&|b, p| b.op(opcode, &p[..1])),
            Rule::Table if ty == Type::U32 => {
                for (number, table) in tables().iter().enumerate() {
                    add(&|b, p| b.table(number as u32, table.ty, p[0]));
                    add(&|b, p| {
                        let bits = b.lit(3u32);
                        let index = b.binary(Opcode::And, p[0], bits);
                        b.table(number as u32, table.ty, index)
                    });
                }
            }
            Rule::Splat if ty == Type::U8 => {
                for lanes in 1..=16 {
                    add(&|b, p| b.splat(vector(lanes), p[0]));
                }
            }
            Rule::Lane if ty.is_vector() => {
                for lane in 0..ty.size() as u8 {
                    add(&|b, p| b.lane(p[0], lane));
                }
            }
            Rule::WithLane if ty.is_vector() => {
                for lane in 0..ty.size() as u8 {
                    add(&|b, p| b.with_lane(p[0], lane, p[5]));
                }
            }
            Rule::Permute if ty.is_vector() => {
                for index in [1, 6, 7, 8] {
                    add(&|b, p| b.op(opcode, &[p[0], p[index]]));
                    add(&|b, p| {
                        let dirty = b.unary(Opcode::Not, p[0]);
                        b.op(opcode, &[dirty, p[index]])
                    });
                    for below in [16u8, 8, 4, 1] {
                        add(&|b, p| {
                            let ty = b.type_of(p[index]);
                            let mask = b.constant(Constant::vector(&vec![below - 1; ty.size()]));
                            let indexes = b.binary(Opcode::And, p[index], mask);
                            b.op(opcode, &[p[0], indexes])
                        });
                    }
                }
            }
            _ => {}
        }
    }
    if ty.is_vector() {
        for opcode in [Opcode::Eq, Opcode::Ne] {
            add(&|b, p| {
                let dirty = b.unary(Opcode::Not, p[0]);
                let twice = b.unary(Opcode::Not, p[1]);
                b.op(opcode, &[dirty, twice])
            });
            add(&|b, p| {
                let ones = b.lit(255u8);
                let ty = b.type_of(p[0]);
                let splat = b.splat(ty, ones);
                b.op(opcode, &[p[0], splat])
            });
        }
    }
    all
}

pub fn tables() -> Vec<Table> {
    let types = Type::SCALARS.into_iter().chain((1..=16).map(vector));
    let mut all: Vec<Table> = types.map(|ty| Table::new(ty, values(ty).into_iter().cycle().take(5))).collect();
    all.push(Table::new(Type::U16, [Constant::from(7u16)]));
    all
}

/// All pairs of values, each with some values of the other columns.
pub fn cases(ty: Type) -> (Vec<Vec<u8>>, usize) {
    let types = columns(ty);
    let values_of: Vec<Vec<Constant>> = types.iter().map(|&ty| values(ty)).collect();
    let count = values_of[0].len();
    let mut bytes = vec![Vec::new(); types.len()];
    for case in 0..count * count * 2 {
        for (column, values) in values_of.iter().enumerate() {
            let place = match column {
                0 => case,
                1 => case / count,
                other => case * (2 * other + 1) + case / count + case / (count * count),
            };
            bytes[column].extend(values[place % values.len()].to_bytes());
        }
    }
    (bytes, count * count * 2)
}

pub fn describe(function: &Function) -> String {
    let inst = |inst: &Inst| {
        format!("{}{:?}", inst.opcode.name(), inst.operands().iter().map(|v| v.index()).collect::<Vec<_>>())
    };
    function.insts.iter().map(inst).collect::<Vec<_>>().join(";")
}

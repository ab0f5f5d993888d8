//! Families of operators that are associative, or are so where nothing overflows; and changes that
//! mostly break them.

use monoscan_ir::{Opcode, Type};

mod operator;

use crate::Random;
pub use operator::{Expr, Int, Operator};

fn binary(opcode: Opcode, a: Expr, b: Expr) -> Expr {
    Expr::Binary(opcode, Box::new(a), Box::new(b))
}

fn choose(condition: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::If(Box::new(condition), Box::new(yes), Box::new(no))
}

fn x(component: usize) -> Expr {
    Expr::Earlier(component)
}

fn y(component: usize) -> Expr {
    Expr::Later(component)
}

fn add(a: Expr, b: Expr) -> Expr {
    binary(Opcode::Add, a, b)
}

fn max(a: Expr, b: Expr) -> Expr {
    binary(Opcode::Max, a, b)
}

fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
    parts.into_iter().reduce(|a, b| binary(Opcode::And, a, b)).expect("something is demanded")
}

fn is_flag(component: usize) -> Expr {
    all([binary(Opcode::Le, Expr::Number(0), x(component)), binary(Opcode::Le, x(component), Expr::Number(1))])
}

/// One family a number; the numbers start again after the last.
pub fn family(number: usize, ty: Type) -> Operator {
    let int = Int(ty);
    let zero = || Expr::Number(0);
    let of = |identity: Vec<Expr>, combine: Vec<Expr>, valid: Option<Expr>| Operator {
        int,
        identity,
        combine,
        valid,
        follows: None,
    };
    match number % FAMILIES {
        0 => of(vec![zero()], vec![add(x(0), y(0))], None),
        1 => of(vec![Expr::Lowest], vec![max(x(0), y(0))], None),
        // x ↦ a·x + b.
        2 => of(
            vec![Expr::Number(1), zero()],
            vec![binary(Opcode::Mul, x(0), y(0)), add(binary(Opcode::Mul, y(0), x(1)), y(1))],
            None,
        ),
        // Where a path ends, and the highest that it went.
        3 => of(
            vec![zero(), zero()],
            vec![add(x(0), y(0)), max(x(1), add(x(0), y(1)))],
            Some(all([binary(Opcode::Le, zero(), x(1)), binary(Opcode::Le, x(0), x(1))])),
        ),
        // A sum that starts afresh at flags.
        4 => of(vec![zero(), zero()], vec![max(x(0), y(0)), choose(y(0), y(1), add(x(1), y(1)))], Some(is_flag(0))),
        // The latest value that there was.
        5 => of(
            vec![zero(), zero()],
            vec![max(x(0), y(0)), choose(y(0), y(1), x(1))],
            Some(all([is_flag(0), choose(x(0), Expr::Number(1), binary(Opcode::Eq, x(1), zero()))])),
        ),
        // Words: whether there is anything, whether it begins and ends inside a word, how many there are.
        6 => words(int),
        // (max, +), with the lowest number for nothing.
        7 => tropical(int, 2),
        8 => tropical(int, 1),
        // The best sum of neighbours: sum, best at the start, best at the end, best.
        9 => of(
            vec![zero(), zero(), zero(), zero()],
            vec![
                add(x(0), y(0)),
                max(x(1), add(x(0), y(1))),
                max(y(2), add(x(2), y(0))),
                max(max(x(3), y(3)), add(x(2), y(1))),
            ],
            Some(all([
                binary(Opcode::Le, zero(), x(1)),
                binary(Opcode::Le, zero(), x(2)),
                binary(Opcode::Le, x(0), x(1)),
                binary(Opcode::Le, x(0), x(2)),
                binary(Opcode::Le, x(1), x(3)),
                binary(Opcode::Le, x(2), x(3)),
            ])),
        ),
        // Clamps, composed.
        10 => of(
            vec![Expr::Lowest, Expr::Highest],
            vec![binary(Opcode::Min, max(x(0), y(0)), y(1)), binary(Opcode::Min, max(x(1), y(0)), y(1))],
            Some(binary(Opcode::Le, x(0), x(1))),
        ),
        // Whether numbers rise: anything, first, last, sorted.
        11 => of(
            vec![zero(), zero(), zero(), Expr::Number(1)],
            vec![
                max(x(0), y(0)),
                choose(x(0), x(1), y(1)),
                choose(y(0), y(2), x(2)),
                all([x(3), y(3), choose(all([x(0), y(0)]), binary(Opcode::Le, x(2), y(1)), Expr::Number(1))]),
            ],
            Some(all([
                is_flag(0),
                is_flag(3),
                choose(
                    x(0),
                    Expr::Number(1),
                    all([binary(Opcode::Eq, x(1), zero()), binary(Opcode::Eq, x(2), zero()), x(3)]),
                ),
            ])),
        ),
        12 => latest(int, binary(Opcode::Le, x(2), y(1))),
        // By a difference, which may overflow: then a record does not follow.
        13 => latest(int, binary(Opcode::Le, zero(), binary(Opcode::Sub, y(1), x(2)))),
        // At a distance that few states have by chance.
        _ => latest(int, binary(Opcode::Eq, y(1), add(x(2), Expr::Number(40)))),
    }
}

/// How many of sorted times are the last one: anything, first, last, how many. It is associative where times are sorted.
fn latest(int: Int, in_order: Expr) -> Operator {
    let zero = || Expr::Number(0);
    let as_late = all([x(0), binary(Opcode::Eq, x(2), y(2))]);
    let nothing = all([1, 2, 3].map(|component| binary(Opcode::Eq, x(component), zero())));
    let something = all([binary(Opcode::Le, x(1), x(2)), binary(Opcode::Le, Expr::Number(1), x(3))]);
    Operator {
        int,
        identity: vec![zero(), zero(), zero(), zero()],
        combine: vec![
            max(x(0), y(0)),
            choose(x(0), x(1), y(1)),
            choose(y(0), y(2), x(2)),
            choose(y(0), choose(as_late, add(x(3), y(3)), y(3)), x(3)),
        ],
        valid: Some(all([is_flag(0), choose(x(0), something, nothing)])),
        follows: Some(choose(all([x(0), y(0)]), in_order, Expr::Number(1))),
    }
}

/// How many families there are.
pub const FAMILIES: usize = 15;

fn words(int: Int) -> Operator {
    let zero = || Expr::Number(0);
    let joined = choose(all([x(2), y(1)]), Expr::Number(1), zero());
    let touches = binary(Opcode::Or, x(1), x(2));
    let has_words = choose(touches, binary(Opcode::Le, Expr::Number(1), x(3)), Expr::Number(1));
    // Two words that are not one have a gap between them, which states do not tell apart from none.
    let nothing = all([1, 2, 3].map(|component| binary(Opcode::Eq, x(component), zero())));
    Operator {
        int,
        identity: vec![zero(), zero(), zero(), zero()],
        combine: vec![
            max(x(0), y(0)),
            choose(x(0), x(1), y(1)),
            choose(y(0), y(2), x(2)),
            binary(Opcode::Sub, add(x(3), y(3)), joined),
        ],
        valid: Some(all([
            is_flag(0),
            is_flag(1),
            is_flag(2),
            binary(Opcode::Le, zero(), x(3)),
            choose(x(0), has_words, nothing),
        ])),
        follows: None,
    }
}

/// Matrices over (max, +), in which the lowest number stands for −∞: right where no sum becomes that number.
pub fn tropical(int: Int, size: usize) -> Operator {
    tropical_by(int, size, &|a, b| {
        let nothing = |part: &Expr| binary(Opcode::Eq, part.clone(), Expr::Lowest);
        choose(binary(Opcode::Or, nothing(&a), nothing(&b)), Expr::Lowest, add(a, b))
    })
}

/// The same with this product.
pub fn tropical_by(int: Int, size: usize, product: &dyn Fn(Expr, Expr) -> Expr) -> Operator {
    let entry = |i: usize, j: usize| {
        let terms = (0..size).map(|k| product(x(i * size + k), y(k * size + j)));
        terms.reduce(max).expect("there is a term")
    };
    let places = || (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
    Operator {
        int,
        identity: places().map(|(i, j)| if i == j { Expr::Number(0) } else { Expr::Lowest }).collect(),
        combine: places().map(|(i, j)| entry(i, j)).collect(),
        valid: None,
        follows: None,
    }
}

/// The operator, or what may follow in it, with one thing changed: an operand from the other state or of another component, another operation, a
/// constant, a missing or exchanged case, a number of the identity.
pub fn mutate(operator: &mut Operator, random: &mut Random) {
    let width = operator.identity.len();
    if random.below(12) == 0 {
        let part = random.below(width);
        operator.identity[part] =
            [Expr::Number(1), Expr::Number(0), Expr::Highest, Expr::Lowest][random.below(4)].clone();
        return;
    }
    let component = random.below(width);
    let changed = match &mut operator.follows {
        Some(follows) if random.below(3) == 0 => follows,
        _ => &mut operator.combine[component],
    };
    let mut count = 0;
    changed.parts(&mut |_| count += 1);
    let target = random.below(count);
    let mut place = 0;
    changed.parts(&mut |part| {
        if place == target {
            change(part, width, random);
        }
        place += 1;
    });
}

fn change(part: &mut Expr, width: usize, random: &mut Random) {
    *part = match part.clone() {
        Expr::Earlier(component) if random.below(3) == 0 => Expr::Earlier((component + 1) % width),
        Expr::Later(component) if random.below(3) == 0 => Expr::Later((component + 1) % width),
        Expr::Earlier(component) => Expr::Later(component),
        Expr::Later(component) => Expr::Earlier(component),
        Expr::Number(number) => Expr::Number(1 - number.min(1)),
        Expr::Lowest => Expr::Number(0),
        Expr::Highest => Expr::Number(1),
        Expr::If(condition, yes, no) => match random.below(3) {
            0 => *yes,
            1 => *no,
            _ => Expr::If(condition, no, yes),
        },
        Expr::Binary(opcode, a, b) => {
            use Opcode::{Add, AddSat, And, Div, Eq, Le, Lt, Max, Min, Mul, Or, Rem, Sub, SubSat};
            let others: &[Opcode] = match opcode {
                Add => &[AddSat, Sub, Max, Rem],
                Sub => &[SubSat, Add],
                Mul => &[Add, Div],
                Max => &[Min, Add, Div],
                Min => &[Max, Rem],
                And => &[Or],
                Or => &[And],
                Eq => &[Le],
                _ => &[Lt, Eq],
            };
            match random.below(4) {
                0 => Expr::Binary(opcode, b, a),
                _ => Expr::Binary(others[random.below(others.len())], a, b),
            }
        }
    };
}

//! Wrappers by cases, and composition of maps.

use super::*;

fn segmented(inner: &Stage) -> Stage {
    let types = [&[Type::Bool], &inner.state[..]].concat();
    let identity = [&[false.into()], &inner.identity[..]].concat();
    stage(&types, &identity, |code, x, y| {
        let flag = code.op(Or, x[0], y[0]);
        let combined = code.0.inline(&inner.combine, &[&x[1..], &y[1..]].concat());
        let chosen = combined.iter().zip(&y[1..]).map(|(&combined, &next)| code.select(y[0], next, combined));
        [vec![flag], chosen.collect()].concat()
    })
}

#[test]
fn wrappers_of_what_is_provable_are_proved_by_cases() {
    assert_proved(&segmented(&binary(Add, 0i32)), "in each of");
    assert_proved(&segmented(&affine(Type::F32)), "in each of");
    assert_proved(&segmented(&segmented(&affine(Type::I64))), "in each of");
    // A semigroup with an identity added: the flag says whether there is a value.
    let with_identity = stage(&[Type::Bool, Type::F64], &[false.into(), 0f64.into()], |code, x, y| {
        let largest = code.op(Max, x[1], y[1]);
        let next = code.select(x[0], largest, y[1]);
        vec![code.op(Or, x[0], y[0]), code.select(y[0], next, x[1])]
    });
    let judgement = judged(&with_identity);
    assert!(judgement.associativity.is_proved(), "{judgement}");
}

fn lane_map(lanes: usize) -> Stage {
    let ty = Type::bytes(lanes).unwrap();
    let identity = Constant::vector(&(0..lanes as u8).collect::<Vec<u8>>());
    stage(&[ty], &[identity], |code, x, y| vec![code.op(Permute, y[0], x[0])])
}

#[test]
fn composition_of_lane_maps_is_proved_where_lanes_are_indexes() {
    let ty = Type::bytes(8).unwrap();
    let rows = (0..256u32).map(|byte| Constant::vector(&(0..8).map(|q| (q * 3 + byte) as u8 % 8).collect::<Vec<u8>>()));
    let tables = [Table::new(ty, rows)];
    let automaton = with_lift(lane_map(8), &[Type::U8], |code, x| {
        let index = code.0.cast(Type::U32, x[0]);
        vec![code.0.table(0, ty, index)]
    });
    let judgement = judge(&automaton, &tables, Overflow::NeverOccurs);
    assert!(judgement.verdict().is_proved(), "{judgement}");
    assert_eq!(judgement.associativity.to_string(), "proved by construction: composition of lane maps");
    let valid = with_valid(lane_map(8), |code, x| {
        let last = code.lit(Constant::vector(&[7; 8]));
        let least = code.op(Min, x[0], last);
        code.op(Eq, least, x[0])
    });
    assert_proved(&valid, "by construction");
    assert_refuted(&lane_map(8), Law::Associativity);
}

#[test]
fn composition_of_maps_that_fill_several_vectors_is_proved() {
    let ty = Type::bytes(16).unwrap();
    let identity: Vec<Constant> =
        (0..2).map(|k| Constant::vector(&(0..16).map(|i| 16 * k + i).collect::<Vec<u8>>())).collect();
    let wide = stage(&[ty; 2], &identity, |code, x, y| {
        let sixteen = code.lit(Constant::vector(&[16; 16]));
        let result = |code: &mut Code, j: usize| {
            let (low, above) = (code.op(Permute, y[0], x[j]), code.op(Sub, x[j], sixteen));
            let high = code.op(Permute, y[1], above);
            code.op(Or, low, high)
        };
        vec![result(code, 0), result(code, 1)]
    });
    let wide = with_valid(wide, |code, x| {
        let last = code.lit(Constant::vector(&[31; 16]));
        let within = |code: &mut Code, j: usize| {
            let least = code.op(Min, x[j], last);
            code.op(Eq, x[j], least)
        };
        let (low, high) = (within(code, 0), within(code, 1));
        code.op(And, low, high)
    });
    assert_proved(&wide, "by construction");
}

/// Products of upper triangular matrices of truth values, of so many rows: one group of bools, whose cases are too many to try.
fn reachability(size: usize) -> Stage {
    let places: Vec<(usize, usize)> = (0..size).flat_map(|i| (i..size).map(move |j| (i, j))).collect();
    let at = |i: usize, j: usize| places.iter().position(|&place| place == (i, j)).unwrap();
    let identity: Vec<Constant> = places.iter().map(|(i, j)| (i == j).into()).collect();
    stage(&vec![Type::Bool; places.len()], &identity, |code, x, y| {
        let mut entry = |&(i, j): &(usize, usize)| {
            let paths = (i..=j).map(|k| code.op(And, x[at(i, k)], y[at(k, j)])).collect::<Vec<_>>();
            paths.into_iter().reduce(|one, other| code.op(Or, one, other)).unwrap()
        };
        places.iter().map(&mut entry).collect()
    })
}

#[test]
fn many_flags_in_one_group_are_judged_in_the_end() {
    for size in 2..=8 {
        let judgement = judged(&reachability(size));
        assert!(
            judgement.associativity.to_string().contains("tested") || judgement.associativity.is_proved(),
            "{judgement}"
        );
    }
}

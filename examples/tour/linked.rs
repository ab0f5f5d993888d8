//! Lists and brackets.

use monoscan::algo::brackets::{Side, enclosing, partners};
use monoscan::algo::lists::{NONE, rank, rank_by_jumping};

use crate::common::Failure;
use crate::{Table, bits, drawn};

pub(crate) fn linked(table: &Table) -> Result<(), Failure> {
    let mut order: Vec<u32> = (0..table.records as u32).collect();
    let mut draw = bits(30);
    for i in (1..order.len()).rev() {
        order.swap(i, draw() as usize % (i + 1));
    }
    let mut next = vec![NONE; order.len()];
    order.windows(2).for_each(|pair| next[pair[0] as usize] = pair[1]);
    let walk = || {
        let (mut ranks, mut element) = (vec![0; next.len()], order[0]);
        for rank in 0.. {
            ranks[element as usize] = rank;
            element = next[element as usize];
            if element == NONE {
                break;
            }
        }
        ranks
    };
    table.line(("lists::rank", ["6 n", "1", "6"]), || rank(&next), ("a walk", walk))?;
    let jumping = ("lists::rank_by_jumping", ["n log n", "log n", "log n+6"]);
    table.line(jumping, || rank_by_jumping(&next), ("a walk", walk))?;

    let sides: Vec<Side> = drawn(table.records, 31, |bits| {
        *[Side::Open, Side::Close, Side::Neither].get(bits as usize % 3).unwrap_or(&Side::Open)
    });
    table.line(
        ("brackets::partners", ["n", "0", "1"]),
        || partners(&sides),
        ("a stack", || {
            let (mut partners, mut stack) = (vec![NONE; sides.len()], Vec::new());
            for (place, side) in (0u32..).zip(&sides) {
                match side {
                    Side::Open => stack.push(place),
                    Side::Close => {
                        if let Some(open) = stack.pop() {
                            (partners[open as usize], partners[place as usize]) = (place, open);
                        }
                    }
                    Side::Neither => {}
                }
            }
            partners
        }),
    )?;
    table.line(
        ("brackets::enclosing", ["2 n", "0", "2"]),
        || enclosing(&sides),
        ("a stack", || {
            let mut stack = Vec::new();
            let innermost = |(place, side): (u32, &Side)| {
                if *side == Side::Close {
                    stack.pop();
                }
                let innermost = stack.last().copied().unwrap_or(NONE);
                if *side == Side::Open {
                    stack.push(place);
                }
                innermost
            };
            (0..).zip(&sides).map(innermost).collect()
        }),
    )
}

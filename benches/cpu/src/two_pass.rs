//! Two passes, as a user of rayon would write them: reduce the chunks on all threads, add these up,
//! then scan the chunks on all threads from what came before them. Memory is read twice.

use std::ops::Range;

use rayon::prelude::*;

/// Chunks a thread: fewer leave threads idle at the end, more cost time between the passes.
const CHUNKS: usize = 4;

/// Fills `y` with a scan. `reduce` gives what a range of elements does to a state, `apply` does it to a state that holds
/// before `usize` elements, and `replay` writes the results of a range from the state before it.
pub(crate) fn two_pass<Y: Send, A: Send, S: Send>(
    y: &mut [Y],
    start: S,
    reduce: impl Fn(Range<usize>) -> A + Sync,
    apply: impl Fn(&S, A, usize) -> S,
    replay: impl Fn(Range<usize>, S, &mut [Y]) + Sync,
) {
    let len = y.len();
    let chunk = len.div_ceil(CHUNKS * rayon::current_num_threads()).max(1);
    let range = |start: usize| start..len.min(start + chunk);
    let starts: Vec<usize> = (0..len).step_by(chunk).collect();
    let whole = &starts[..starts.len().saturating_sub(1)];
    let aggregates: Vec<A> = whole.par_iter().map(|&start| reduce(range(start))).collect();
    let mut carries = vec![start];
    for aggregate in aggregates {
        let next = apply(&carries[carries.len() - 1], aggregate, chunk);
        carries.push(next);
    }
    let work: Vec<_> = y.chunks_mut(chunk).zip(starts).zip(carries).collect();
    work.into_par_iter().for_each(|((y, start), carry)| replay(range(start), carry, y));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together_in_order() {
        for len in [0, 1, 2, 7, 8, 9, 100, 1001] {
            let x: Vec<String> = (0..len).map(|i| char::from(b'a' + (i % 26) as u8).to_string()).collect();
            let mut y = vec![String::new(); len];
            two_pass(
                &mut y,
                String::new(),
                |range| x[range].concat(),
                |carry, aggregate, _| format!("{carry}{aggregate}"),
                |range, mut carry, y| {
                    for (x, y) in x[range].iter().zip(y) {
                        carry.push_str(x);
                        y.clone_from(&carry);
                    }
                },
            );
            assert!((0..len).all(|i| y[i] == x[..=i].concat()), "{len}");
        }
    }
}

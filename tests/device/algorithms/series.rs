//! Series, and places in texts: each element beside what a loop remembers.

use monoscan::algo::on_gpu;

use super::{drawn, flags, here, lengths, pair, same, there, with_random};

#[test]
#[ignore = "needs a CUDA device"]
fn gaps_are_filled_from_either_side() {
    with_random(|random| {
        for len in lengths(random) {
            let x = drawn(random, len, |bits| (bits as u16, bits as f64));
            let none = (7, 0.5);
            for is_there in flags(random, len) {
                let filled = |places: &mut dyn Iterator<Item = usize>| {
                    let mut latest = none;
                    let value = |i: usize| {
                        if is_there[i] {
                            latest = x[i];
                        }
                        latest
                    };
                    places.map(value).collect::<Vec<_>>()
                };
                let (dx, dthere) = (there(&x), there(&is_there));
                same(&here(on_gpu::forward_fill(&dx, &dthere, none).unwrap()), &filled(&mut (0..len)));
                let mut back = here(on_gpu::backward_fill(&dx, &dthere, none).unwrap());
                back.reverse();
                same(&back, &filled(&mut (0..len).rev()));
            }
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn sessions_begin_after_pauses() {
    with_random(|random| {
        for len in lengths(random) {
            let gap = random.below(40u64);
            let mut time = 0;
            let pauses = drawn(random, len, |bits| bits % 30);
            let times: Vec<u64> = pauses
                .into_iter()
                .map(|pause| {
                    time += pause;
                    time
                })
                .collect();
            let mut expected = Vec::with_capacity(len);
            for i in 0..len {
                let before = expected.last().copied().unwrap_or(0);
                expected.push(before + (i > 0 && times[i] - times[i - 1] > gap) as u32);
            }
            same(&here(on_gpu::sessions(&there(&times), gap).unwrap()), &expected);
            let floats: Vec<f64> = times.iter().map(|&time| time as f64).collect();
            same(&here(on_gpu::sessions(&there(&floats), gap as f64).unwrap()), &expected);
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_greatest_value_and_the_steepest_sight_are_remembered() {
    with_random(|random| {
        for len in lengths(random) {
            // Few different ones, of which the first counts; NaN counts for nothing.
            let few = drawn(random, len, |bits| if bits % 7 == 0 { f32::NAN } else { (bits % 100) as f32 });
            let (mut best, mut place) = (f32::NEG_INFINITY, u32::MAX);
            let mut places = Vec::with_capacity(len);
            for (i, &x) in few.iter().enumerate() {
                if x > best {
                    (best, place) = (x, i as u32);
                }
                places.push(place);
            }
            same(&here(on_gpu::running_argmax(&there(&few)).unwrap()), &places);

            let altitudes = drawn(random, len, |bits| (bits % 10_000) as f64);
            let mut steepest = f64::NEG_INFINITY;
            let mut seen = Vec::with_capacity(len);
            for i in 0..len {
                let slope = (altitudes[i] - altitudes[0]) / i as f64;
                seen.push(i == 0 || slope > steepest);
                steepest = if i == 0 { steepest } else { steepest.max(slope) };
            }
            same(&here(on_gpu::line_of_sight(&there(&altitudes)).unwrap()), &seen);
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn bytes_have_lines_and_columns() {
    with_random(|random| {
        for len in lengths(random) {
            // Short lines, lines of thousands, newlines alone, and one line.
            for times in [5, 5000, 1, usize::MAX] {
                let text: Vec<u8> = (0..len).map(|_| if random.chance(times) { b'\n' } else { b'a' }).collect();
                let (mut line, mut column) = (0, 0);
                let (mut lines, mut columns) = (Vec::with_capacity(len), Vec::with_capacity(len));
                for &byte in &text {
                    lines.push(line);
                    columns.push(column);
                    (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
                }
                let (found_lines, found_columns) = pair(on_gpu::lines_and_columns(&there(&text)).unwrap());
                same(&found_lines, &lines);
                same(&found_columns, &columns);
            }
        }
    });
}

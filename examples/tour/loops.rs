//! The plain loops that algorithms stand beside, on any device.

use monoscan::ops::{Max, Moments};

/// The last number that is there, or 0 before the first.
pub(crate) fn latest<'x, T: Copy + Default + 'x>(
    records: impl Iterator<Item = (&'x T, &'x bool)>,
) -> impl Iterator<Item = T> {
    records.scan(T::default(), |last, (&x, &is_there)| {
        *last = if is_there { x } else { *last };
        Some(*last)
    })
}

pub(crate) fn backward_fill<T: Copy + Default>(x: &[T], is_there: &[bool]) -> Vec<T> {
    let mut filled: Vec<T> = latest(x.iter().zip(is_there).rev()).collect();
    filled.reverse();
    filled
}

/// Times that rise.
pub(crate) fn times(pauses: Vec<u64>) -> Vec<u64> {
    let mut now = 0;
    let after = |pause| {
        now += pause;
        now
    };
    pauses.into_iter().map(after).collect()
}

pub(crate) fn sessions(times: &[u64], gap: u64) -> Vec<u32> {
    let mut session = 0;
    let ends = times.windows(2).map(|pair| {
        session += (pair[1] - pair[0] > gap) as u32;
        session
    });
    [0].into_iter().chain(ends).collect()
}

pub(crate) fn running_argmax<T: PartialOrd>(x: &[T]) -> Vec<u32> {
    let mut highest = 0;
    let places = (0..x.len()).map(|i| {
        highest = if x[i] > x[highest] { i } else { highest };
        highest as u32
    });
    places.collect()
}

pub(crate) fn line_of_sight(hills: &[f64]) -> Vec<bool> {
    let mut steepest = f64::NEG_INFINITY;
    let sees = |(i, &hill): (usize, &f64)| {
        let slope = if i == 0 { f64::NEG_INFINITY } else { (hill - hills[0]) / i as f64 };
        let sees = i == 0 || slope > steepest;
        steepest = steepest.max(slope);
        sees
    };
    hills.iter().enumerate().map(sees).collect()
}

pub(crate) fn lines_and_columns(text: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let (mut line, mut column) = (0, 0);
    let place = |&byte: &u8| {
        let here = (line, column);
        (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
        here
    };
    text.iter().map(place).unzip()
}

/// Patterns to search for.
#[cfg(feature = "lexer")]
pub(crate) const PATTERNS: [&str; 3] = ["name", "[0-9]{3}", "e, [0-9]"];

/// Where matches of [`PATTERNS`] end, and of which, by a look back from each byte.
#[cfg(feature = "lexer")]
pub(crate) fn matches(text: &[u8]) -> Vec<(u64, Vec<usize>)> {
    let of_digits =
        |text: &[u8], count| text.len() >= count && text[text.len() - count..].iter().all(u8::is_ascii_digit);
    let found = |end: usize| {
        let text = &text[..end];
        let after_comma = of_digits(text, 1) && text[..end - 1].ends_with(b"e, ");
        let found = [text.ends_with(b"name"), of_digits(text, 3), after_comma];
        let patterns: Vec<usize> = (0..3).filter(|&pattern| found[pattern]).collect();
        (!patterns.is_empty()).then_some((end as u64, patterns))
    };
    (1..=text.len()).filter_map(found).collect()
}

/// A digit of two and what is carried into it: the digit of the result, and what is carried on.
pub(crate) type OfDigits = fn(u64, u64, bool) -> (u64, bool);

pub(crate) fn by_digits(a: &[u64], b: &[u64], of: OfDigits) -> (Vec<u64>, bool) {
    let mut carry = false;
    let digit = |(&a, &b): (&u64, &u64)| {
        let digit;
        (digit, carry) = of(a, b, carry);
        digit
    };
    let digits = a.iter().zip(b).map(digit).collect();
    (digits, carry)
}

pub(crate) fn by_rows(a: &[[u64; 4]], b: &[[u64; 4]], of: OfDigits) -> Vec<[u64; 4]> {
    let row = |(a, b): (&[u64; 4], &[u64; 4])| {
        let (mut row, mut carry) = ([0; 4], false);
        for place in 0..4 {
            (row[place], carry) = of(a[place], b[place], carry);
        }
        row
    };
    a.iter().zip(b).map(row).collect()
}

/// Each number, and the two results before.
pub(crate) fn of_order_two(x: &[u32], modulus: u64) -> Vec<u32> {
    let (mut y, mut before) = (0, 0);
    let step = |&x: &u32| {
        (y, before) = ((u64::from(x) + y + before) % modulus, y);
        y as u32
    };
    x.iter().map(step).collect()
}

pub(crate) fn three_parts<T: Copy>(x: &[T], classes: &[u8]) -> (Vec<T>, [usize; 3]) {
    let mut parts = [const { Vec::new() }; 3];
    x.iter().zip(classes).for_each(|(x, class)| parts[*class as usize].push(*x));
    (parts.concat(), parts.map(|part| part.len()))
}

pub(crate) fn maxima_by_flags<T: Copy + Ord>(heads: &[bool], x: &[T]) -> Vec<Max<T>> {
    let mut totals = Vec::new();
    for (&head, &x) in heads.iter().zip(x) {
        match totals.last_mut() {
            Some(Max(total)) if !head => *total = x.max(*total),
            _ => totals.push(Max(x)),
        }
    }
    totals
}

/// The moments of each run of equal keys, by Welford's loop.
pub(crate) fn moments_by_key(keys: &[u32], x: &[f64]) -> (Vec<u32>, Vec<Moments<f64>>) {
    let add = |Moments { count, mean, squares }: &mut Moments<f64>, x: &f64| {
        *count += 1.0;
        let from_mean = x - *mean;
        *mean += from_mean / *count;
        *squares += from_mean * (x - *mean);
    };
    by_key(keys, x, |x| Moments::of(*x), add)
}

/// The total of each run of equal keys, by a loop.
pub(crate) fn by_key<X, T>(
    keys: &[u32],
    x: &[X],
    of: impl Fn(&X) -> T,
    add: impl Fn(&mut T, &X),
) -> (Vec<u32>, Vec<T>) {
    let (mut names, mut totals) = (Vec::new(), Vec::new());
    for (key, x) in keys.iter().zip(x) {
        match totals.last_mut() {
            Some(total) if names.last() == Some(key) => add(total, x),
            _ => {
                names.push(*key);
                totals.push(of(x));
            }
        }
    }
    (names, totals)
}

/// Whether these have the same keys, and moments that differ by roundings alone.
pub(crate) fn nearly(a: &(Vec<u32>, Vec<Moments<f64>>), b: &(Vec<u32>, Vec<Moments<f64>>)) -> bool {
    let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale;
    let alike = |(a, b): (&Moments<f64>, &Moments<f64>)| {
        let scale = b.mean.abs() + b.variance().sqrt();
        a.count == b.count && near(a.mean, b.mean, scale) && near(a.variance(), b.variance(), scale * scale)
    };
    a.0 == b.0 && a.1.len() == b.1.len() && a.1.iter().zip(&b.1).all(alike)
}

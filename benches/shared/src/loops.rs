//! The plain sequential loops: what each workload is without a scan, and what every ratio is taken
//! to.

/// Running sums.
#[inline(never)]
pub fn sum_i32(x: &[i32], y: &mut [i32]) {
    let mut sum = 0i32;
    for (x, y) in x.iter().zip(y) {
        sum = sum.wrapping_add(*x);
        *y = sum;
    }
}

/// Running sums.
#[inline(never)]
pub fn sum_f32(x: &[f32], y: &mut [f32]) {
    let mut sum = 0.0;
    for (x, y) in x.iter().zip(y) {
        sum += x;
        *y = sum;
    }
}

/// `y[i] = a[i]·y[i−1] + b[i]`
#[inline(never)]
pub fn affine_f32(a: &[f32], b: &[f32], y: &mut [f32]) {
    let mut state = 0.0;
    for ((a, b), y) in a.iter().zip(b).zip(y) {
        state = a * state + b;
        *y = state;
    }
}

/// `y[i] = a[i]·y[i−1] + b[i]`
#[inline(never)]
pub fn affine_f64(a: &[f64], b: &[f64], y: &mut [f64]) {
    let mut state = 0.0;
    for ((a, b), y) in a.iter().zip(b).zip(y) {
        state = a * state + b;
        *y = state;
    }
}

/// The coefficients of a filter of two zeros and two poles.
#[derive(Clone, Copy)]
pub struct Biquad {
    /// Of `x[i]`, `x[i−1]`, `x[i−2]`.
    pub a: [f32; 3],
    /// Of `y[i−1]`, `y[i−2]`.
    pub b: [f32; 2],
}

/// A high-pass filter: two zeros at 1, two poles at 0.8.
pub const HIGH_PASS: Biquad = Biquad { a: [0.81, -1.62, 0.81], b: [1.6, -0.64] };

/// The filter in direct form I.
#[inline(never)]
pub fn biquad_f32(filter: Biquad, x: &[f32], y: &mut [f32]) {
    let Biquad { a: [a0, a1, a2], b: [b1, b2] } = filter;
    let (mut x1, mut x2, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0);
    for (&x0, y) in x.iter().zip(y) {
        let y0 = a0 * x0 + a1 * x1 + a2 * x2 + b1 * y1 + b2 * y2;
        *y = y0;
        (x1, x2, y1, y2) = (x0, x1, y0, y1);
    }
}

/// The state after each byte of an automaton that starts in 0; a row of `moves` for each state.
#[inline(never)]
pub fn states(moves: &[[u8; 256]], x: &[u8], y: &mut [u8]) {
    let mut state = 0;
    for (x, y) in x.iter().zip(y) {
        state = moves[usize::from(state)][usize::from(*x)];
        *y = state;
    }
}

/// Sums that start over at each head.
#[inline(never)]
pub fn segmented_i32(heads: &[bool], x: &[i32], y: &mut [i32]) {
    let mut sum = 0i32;
    for ((head, x), y) in heads.iter().zip(x).zip(y) {
        sum = if *head { *x } else { sum.wrapping_add(*x) };
        *y = sum;
    }
}

/// The runs of equal bytes, one after the other: the byte and how often. Gives how many there are.
#[inline(never)]
pub fn run_lengths(x: &[u8], runs: &mut [(u8, u32)]) -> usize {
    let Some((&first, rest)) = x.split_first() else { return 0 };
    let (mut run, mut count) = ((first, 1), 0);
    for &x in rest {
        if x == run.0 {
            run.1 += 1;
        } else {
            runs[count] = run;
            count += 1;
            run = (x, 1);
        }
    }
    runs[count] = run;
    count + 1
}

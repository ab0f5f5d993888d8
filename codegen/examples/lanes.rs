//! How kernels in lanes compare with scalar kernels and with the plain loop, one thread, in nanoseconds an element.

use std::hint::black_box;
use std::time::Instant;

use monoscan_codegen::cpu::{Access, Compiled, HostIsa, TileArgs, Vector};
use monoscan_ir::facts::Facts;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Program, Verified, text, verify};

fn program(
    inputs: &[&str],
    state: &str,
    identity: &str,
    lift: &str,
    combine: &str,
    output: &str,
    project: &str,
) -> Verified<Program> {
    let inputs: String = inputs.iter().map(|layout| format!("  input {{ {layout} }}\n")).collect();
    let text = format!(
        "program p\n{inputs}  stage ({state})\n    identity ({identity})\n    lift {lift}\n    combine {combine}\n  output write\n    column {{ {output} }}\n    project {project}\n"
    );
    verify(text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

struct Case {
    name: &'static str,
    program: Verified<Program>,
    /// Bytes of each input's records and of the output's.
    sizes: (Vec<usize>, usize),
    fill: fn(&mut [u8], usize),
    plain: fn(&[Vec<u8>], &mut [u8], usize),
}

fn get<T: Copy>(bytes: &[u8]) -> &[T] {
    // SAFETY: vectors of bytes this large are aligned to 16.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

fn get_mut<T: Copy>(bytes: &mut [u8]) -> &mut [T] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>()) }
}

fn ints(bytes: &mut [u8], column: usize) {
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = if column == 1 { (i * 7 % 64 == 0) as u8 } else { (i * 31 % 251) as u8 };
    }
}

fn f32s(bytes: &mut [u8], column: usize) {
    for (i, x) in get_mut::<f32>(bytes).iter_mut().enumerate() {
        *x = if column == 0 { 0.5 + (i % 7) as f32 / 16.0 } else { (i % 13) as f32 };
    }
}

fn f64s(bytes: &mut [u8], column: usize) {
    for (i, x) in get_mut::<f64>(bytes).iter_mut().enumerate() {
        *x = if column == 0 { 0.5 + (i % 7) as f64 / 16.0 } else { (i % 13) as f64 };
    }
}

macro_rules! sum {
    ($name:literal, $ty:ident, $size:literal, $op:literal, $zero:literal, $init:expr, $fill:ident, |$s:ident, $x:ident| $e:expr) => {
        Case {
            name: $name,
            program: {
                let ty = stringify!($ty);
                let layout = format!("size {0}, align {0}, {ty} @ 0", $size);
                let combine = format!("(%0: {ty}, %1: {ty}) {{ %2 = {}.{ty} %0, %1\n return %2 }}", $op);
                program(&[&layout], ty, $zero, &format!("(%0 = record.0: {ty}) {{ return %0 }}"), &combine, &layout, &format!("(%0 = state.0: {ty}) {{ return %0 }}"))
            },
            sizes: (vec![$size], $size),
            fill: $fill,
            plain: |inputs, output, _| {
                let mut $s: $ty = $init;
                for (&$x, y) in get::<$ty>(&inputs[0]).iter().zip(get_mut::<$ty>(output)) {
                    $s = $e;
                    *y = $s;
                }
            },
        }
    };
}

const AFFINE: &str =
    "(%0: T, %1: T, %2: T, %3: T) { %4 = mul.T %2, %0\n %5 = mul.T %2, %1\n %6 = add.T %5, %3\n return %4, %6 }";

fn affine(ty: &str, aos: bool) -> Verified<Program> {
    let size = if ty == "f32" { 4 } else { 8 };
    let column = format!("size {size}, align {size}, {ty} @ 0");
    let both = format!("size {0}, align {size}, {ty} @ 0, {ty} @ {size}", 2 * size);
    let inputs = if aos { vec![both.as_str()] } else { vec![column.as_str(), column.as_str()] };
    program(
        &inputs,
        &format!("{ty}, {ty}"),
        "1, 0",
        &format!("(%0 = record.0: {ty}, %1 = record.1: {ty}) {{ return %0, %1 }}"),
        &AFFINE.replace('T', ty),
        &column,
        &format!("(%0 = state.1: {ty}) {{ return %0 }}"),
    )
}

fn segmented() -> Verified<Program> {
    program(
        &["size 4, align 4, i32 @ 0", "size 1, align 1, bool @ 0"],
        "bool, i32",
        "false, 0",
        "(%0 = record.0: i32, %1 = record.1: bool) { return %1, %0 }",
        "(%0: bool, %1: i32, %2: bool, %3: i32) { %4 = or.bool %0, %2\n %5 = add.i32 %1, %3\n %6 = select.i32 %2, %3, %5\n return %4, %6 }",
        "size 4, align 4, i32 @ 0",
        "(%0 = state.1: i32) { return %0 }",
    )
}

fn cases() -> Vec<Case> {
    vec![
        sum!("sum i32", i32, 4, "add", "0", 0, ints, |s, x| s.wrapping_add(x)),
        sum!("sum f32", f32, 4, "add", "0", 0.0, f32s, |s, x| s + x),
        sum!("max f32", f32, 4, "max", "-inf", f32::NEG_INFINITY, f32s, |s, x| s.max(x)),
        sum!("sum i64", i64, 8, "add", "0", 0, ints, |s, x| s.wrapping_add(x)),
        sum!("sum f64", f64, 8, "add", "0", 0.0, f64s, |s, x| s + x),
        sum!("sum i16", i16, 2, "add", "0", 0, ints, |s, x| s.wrapping_add(x)),
        sum!("sum u8", u8, 1, "add", "0", 0, ints, |s, x| s.wrapping_add(x)),
        Case {
            name: "affine f32 columns",
            program: affine("f32", false),
            sizes: (vec![4, 4], 4),
            fill: f32s,
            plain: |inputs, output, _| {
                let mut s = 0f32;
                for ((&a, &b), y) in
                    get::<f32>(&inputs[0]).iter().zip(get::<f32>(&inputs[1])).zip(get_mut::<f32>(output))
                {
                    s = a * s + b;
                    *y = s;
                }
            },
        },
        Case {
            name: "affine f32 AoS",
            program: affine("f32", true),
            sizes: (vec![8], 4),
            fill: f32s,
            plain: |inputs, output, _| {
                let mut s = 0f32;
                for (&[a, b], y) in get::<[f32; 2]>(&inputs[0]).iter().zip(get_mut::<f32>(output)) {
                    s = a * s + b;
                    *y = s;
                }
            },
        },
        Case {
            name: "affine f64 columns",
            program: affine("f64", false),
            sizes: (vec![8, 8], 8),
            fill: f64s,
            plain: |inputs, output, _| {
                let mut s = 0f64;
                for ((&a, &b), y) in
                    get::<f64>(&inputs[0]).iter().zip(get::<f64>(&inputs[1])).zip(get_mut::<f64>(output))
                {
                    s = a * s + b;
                    *y = s;
                }
            },
        },
        Case {
            name: "segmented sum i32",
            program: segmented(),
            sizes: (vec![4, 1], 4),
            fill: ints,
            plain: |inputs, output, _| {
                let mut s = 0i32;
                for ((&x, &head), y) in get::<i32>(&inputs[0]).iter().zip(&inputs[1]).zip(get_mut::<i32>(output)) {
                    s = if head != 0 { x } else { s.wrapping_add(x) };
                    *y = s;
                }
            },
        },
    ]
}

fn main() {
    let isa = HostIsa::native().unwrap();
    let filter = std::env::args().nth(1).unwrap_or_default();
    println!("{:20} {:>8} | plain  scalar  lanes  lreduce W:reduce W:scan (ns) | jit scalar, lanes (us)", "", "n");
    for case in cases().iter().filter(|case| case.name.contains(&filter)) {
        let program = lower(&case.program, Form::default());
        let facts = Facts::of(&program);
        let time = Instant::now();
        let scalar = Compiled::in_vectors(&program, &facts, Access::Line, 1, Vector::NONE, &isa).unwrap();
        let scalar_jit = time.elapsed().as_micros();
        let time = Instant::now();
        let lanes = Compiled::in_vectors(&program, &facts, Access::Line, 1, Vector::ALL, &isa).unwrap();
        let lanes_jit = time.elapsed().as_micros();
        let wide =
            Compiled::in_vectors(&program, &facts, Access::Line, 8, Vector { reduce: true, ..Vector::NONE }, &isa)
                .unwrap();
        assert!(lanes.is_in_vectors(), "{}", case.name);
        for power in [10, 16, 20] {
            let n = 1usize << power;
            let inputs: Vec<Vec<u8>> = case
                .sizes
                .0
                .iter()
                .enumerate()
                .map(|(column, size)| {
                    let mut bytes = vec![0; size * n];
                    (case.fill)(&mut bytes, column);
                    bytes
                })
                .collect();
            let mut output = vec![0u8; case.sizes.1 * n];
            let bases: Vec<*const u8> = inputs.iter().map(|column| column.as_ptr()).collect();
            let out = [output.as_mut_ptr()];
            let mut slots = vec![0u128; 8 * lanes.state_stride() / 16];
            let rounds = (1usize << 23 >> power).max(8);
            let mut best = [f64::MAX; 6];
            for _ in 0..15 {
                for (which, best) in best.iter_mut().enumerate() {
                    let chunk = if which >= 4 { n / 8 / 16 * 16 - 16 } else { n };
                    let args = TileArgs::line(&bases, &out, (0, chunk as u64, n as u64), slots.as_mut_ptr().cast());
                    let time = Instant::now();
                    for _ in 0..rounds / 4 + 1 {
                        slots.fill(0);
                        let args = black_box(&args);
                        // SAFETY: columns have n records.
                        unsafe {
                            match which {
                                0 => (case.plain)(black_box(&inputs), black_box(&mut output), n),
                                1 => scalar.scan_one(args),
                                2 => lanes.scan_one(args),
                                3 => lanes.reduce(0, args),
                                4 => wide.reduce(0, args),
                                _ => wide.scan(args),
                            }
                        }
                    }
                    let ns = time.elapsed().as_nanos() as f64 / (rounds / 4 + 1) as f64 / n as f64;
                    *best = best.min(ns);
                }
            }
            let [plain, one, lane, reduce, wr, ws] = best;
            println!(
                "{:20} {n:>8} | {plain:.3}  {one:.3}  {lane:.3} ({:.2}x)  {reduce:.3}  {wr:.3} {ws:.3} ({:.2}x)| {scalar_jit} {lanes_jit}",
                case.name,
                plain / lane,
                plain / (wr + ws)
            );
        }
    }
}

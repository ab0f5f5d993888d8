//! The rows of the table: an operator each, with its data, what it costs in bytes, and CUB's name
//! for it.

mod automata;
mod loops;
mod maps;
mod numbers;
mod records;
mod segments;

use monoscan::Error;

use crate::line::Subject;
use crate::options::Size;

/// A row.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Bytes of an element that have to be read.
    pub(crate) read: usize,
    /// Bytes of a record of the output.
    pub(crate) written: usize,
    /// Bytes by which the output's address is no multiple of 256.
    pub(crate) offset: usize,
    /// How fast the largest size should be.
    pub(crate) bar: Bar,
    /// The row's name in `cub_scan.cu`.
    pub(crate) cub: Option<&'static str>,
    /// Its data, from a seed, and its meaning.
    pub(crate) make: fn(u64) -> Result<Box<dyn Subject>, Error>,
}

/// The aim of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Bar {
    /// This part of a copy's speed.
    OfCopy(f64),
    /// So many gigabytes a second of input, whatever is written for them.
    Read(f64),
    Nothing,
}

/// A row whose input and output are aligned. A number alone is a part of a copy's speed.
macro_rules! row {
    ($name:literal, $title:literal, $read:literal -> $written:literal, $bar:literal, $cub:expr, $make:expr) => {
        row!($name, $title, $read -> $written, Bar::OfCopy($bar), $cub, $make)
    };
    ($name:literal, $title:literal, $read:literal -> $written:literal, $bar:expr, $cub:expr, $make:expr) => {
        Row { name: $name, title: $title, read: $read, written: $written, offset: 0, bar: $bar, cub: $cub, make: $make }
    };
}

/// All rows.
#[rustfmt::skip]
pub(crate) const ALL: [Row; 34] = [
    row!("sum-i32", "sum i32", 4 -> 4, 0.97, Some("sum.i32.inclusive"), numbers::sum_i32),
    row!("sum-f32", "sum f32", 4 -> 4, 0.97, Some("sum.f32.inclusive"), numbers::sum_f32),
    row!("max-f32", "max f32", 4 -> 4, 0.97, Some("max.f32.inclusive"), numbers::max_f32),
    row!("sum-i64", "sum i64", 8 -> 8, 0.97, Some("sum.i64.inclusive"), numbers::sum_i64),
    row!("sum-f64", "sum f64", 8 -> 8, 0.97, Some("sum.f64.inclusive"), numbers::sum_f64),
    row!("sum-i16", "sum i16", 2 -> 2, 0.96, Some("sum.i16.inclusive"), numbers::sum_i16),
    row!("sum-u8", "sum u8", 1 -> 1, 0.94, Some("sum.u8.inclusive"), numbers::sum_u8),
    row!("carry", "carry pairs", 1 -> 1, 0.90, Some("carry.u8 (1B->1B)"), maps::carry),
    row!("affine-f32", "affine f32, AoS", 8 -> 8, 0.97, Some("affine.f32 (8B->8B)"), maps::affine_f32),
    row!("affine-f32-columns", "affine f32, columns a, b → y", 8 -> 4, 0.96, Some("affine.f32 SoA->y (8B->4B)"), maps::affine_f32_columns),
    row!("affine-f64", "affine f64, AoS", 16 -> 16, 0.95, Some("affine.f64 (16B->16B)"), maps::affine_f64),
    row!("matrix-f32", "2×2 matrix f32", 16 -> 16, 0.95, Some("mat2.f32 (16B->16B)"), maps::matrix_f32),
    row!("matrix-f64", "2×2 matrix f64", 32 -> 32, 0.90, Some("mat2.f64 (32B->32B)"), maps::matrix_f64),
    row!("segmented-i32", "segmented sum i32, u8 flags", 5 -> 4, 0.96, Some("segsum.i32 flags (5B->4B)"), segments::by_flags),
    row!("by-key-i32", "sum by key i32/i32", 8 -> 4, 0.95, Some("sumByKey.i32 (8B->4B)"), segments::by_key),
    row!("dfa-random", "16-state random DFA", 1 -> 1, 0.28, Some("dfa16.packed u8->u8"), automata::random),
    row!("dfa-json", "16-state JSON DFA", 1 -> 1, 0.65, Some("dfa.monoid256 u8->u8"), automata::json_tokens),
    row!("dfa-json-numbers", "16-state JSON DFA, numbers by the grammar", 1 -> 1, Bar::Nothing, None, automata::json_numbers),
    row!("lexer-json", "JSON lexer, label a byte", 1 -> 1, Bar::Read(1200.0), None, automata::lexer_labels),
    row!("lexer-json-tokens", "JSON lexer, tokens of 8 bytes", 1 -> 8, Bar::Read(850.0), None, automata::lexer_tokens),
    row!("lexer-json-tokens-of-strings", "JSON lexer, longer tokens of 8 bytes", 1 -> 8, Bar::Read(850.0), None, automata::lexer_tokens_of_strings),
    row!("widening", "sum u8 → u32", 1 -> 4, 0.90, Some("sum.u8->u32.inclusive"), numbers::widening),
    Row { offset: 4, ..row!("sum-i32-unaligned", "sum i32, output 4 bytes off", 4 -> 4, 0.70, Some("sum.i32.unaligned"), numbers::sum_i32) },
    row!("compaction", "compaction of i32, half kept", 4 -> 4, 0.93, Some("select.i32"), records::odd),
    row!("loop-max-f32", "loop: max f32", 4 -> 4, 0.97, None, loops::max_f32),
    row!("loop-widening", "loop: sum u8 → u32", 1 -> 4, 0.90, None, loops::widening),
    row!("loop-affine-f32-columns", "loop: affine f32, columns a, b → y", 8 -> 4, 0.96, None, loops::affine_f32_columns),
    row!("kadane", "Kadane, i32, by hand", 4 -> 4, Bar::Nothing, None, loops::best_by_hand),
    row!("kadane-i64", "Kadane in i64, by hand", 4 -> 4, Bar::Nothing, None, loops::best_by_hand_in_64_bits),
    row!("loop-kadane", "loop: Kadane, i32", 4 -> 4, Bar::Nothing, None, loops::best),
    row!("loop-dfa-json", "loop: 16-state JSON DFA", 1 -> 1, 0.65, None, automata::json_tokens_loop),
    row!("loop-bucket", "loop: a bucket of tokens, i32", 8 -> 4, 0.85, None, loops::bucket),
    row!("loop-json-strings", "loop: strings of JSON, i32", 1 -> 4, Bar::Nothing, None, loops::json_strings),
    row!("loop-json-depth", "loop: the depth of JSON, i32", 1 -> 4, 0.85, None, loops::json_depth),
];

impl Row {
    /// How many elements that is, if there is memory for them in two pieces with so much capacity.
    pub(crate) fn elements(&self, size: Size, capacity: u64) -> Option<u64> {
        // Each column begins at a multiple of 256 bytes.
        let fits =
            |elements: u64| elements * self.read as u64 + 256 <= capacity && elements * self.written as u64 <= capacity;
        let most = |power: u32| {
            let elements = 1u64 << power;
            let (read, moved) = (elements * self.read as u64, elements * (self.read + self.written) as u64);
            read <= crate::arena::MOST_READ && moved <= crate::arena::MOST_MOVED && fits(elements)
        };
        let largest = (0..=32).rev().find(|&power| most(power))?;
        match size {
            Size::Power(power) => (power <= largest).then_some(1 << power),
            Size::Largest => Some(1 << largest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{MOST_MOVED, MOST_READ};
    use crate::line::{PERIOD, Written};
    use monoscan::{Call, Column, ColumnMut, DynScan};

    /// The output of a scan on the host.
    struct Host {
        bytes: Vec<u8>,
        aligned: Vec<u64>,
    }

    impl Written for Host {
        fn read(&mut self, first: usize, bytes: usize) -> Result<&[u8], String> {
            self.aligned.resize(bytes.div_ceil(8), 0);
            let aligned = &mut bytemuck::cast_slice_mut(&mut self.aligned)[..bytes];
            aligned.copy_from_slice(&self.bytes[first..first + bytes]);
            Ok(aligned)
        }
    }

    /// A scan on the CPU is right, and is found wrong if one byte of it is.
    #[test]
    fn what_rows_expect_is_what_their_programs_mean() {
        let records = PERIOD + 12_345;
        for row in &ALL {
            let subject = (row.make)(7).unwrap_or_else(|error| panic!("{}: {error}", row.name));
            let program = subject.program();
            let repeated = |bytes: &Vec<u8>| [&bytes[..], &bytes[..12_345 * (bytes.len() / PERIOD)]].concat();
            let inputs: Vec<Vec<u8>> = subject.columns().iter().map(repeated).collect();
            let columns = inputs.iter().zip(&program.inputs);
            let columns: Vec<_> = columns.map(|(bytes, layout)| Column::from_bytes(bytes, layout).unwrap()).collect();
            let mut bytes = vec![0xa5; records * row.written];
            let output = ColumnMut::from_bytes(&mut bytes, &program.output.columns[0]).unwrap();
            let scan = DynScan::builder(program.clone()).build().unwrap();
            let written = scan.run(&Call::default(), &columns, &mut [output]).unwrap();
            assert_eq!(written, subject.written(records), "{}", row.name);
            let mut host = Host { bytes, aligned: Vec::new() };
            subject.check(records, &mut host).unwrap_or_else(|why| panic!("{}: {why}", row.name));
            for record in [0, 777, written / 2 - 2000, written - 1] {
                // The last byte of a number: its sign and more.
                let byte = (record + 1) * row.written - 1;
                host.bytes[byte] ^= 0x41;
                let why = subject.check(records, &mut host).unwrap_err();
                assert!(why.starts_with(&format!("element {record} is ")), "{}: {why}", row.name);
                host.bytes[byte] ^= 0x41;
            }
        }
    }

    #[test]
    fn largest_sizes_have_about_four_gibibytes_of_input() {
        for row in &ALL {
            let elements = row.elements(Size::Largest, 8 << 30).unwrap();
            let (read, moved) = (elements * row.read as u64, elements * (row.read + row.written) as u64);
            assert!(read <= MOST_READ && moved <= MOST_MOVED, "{}", row.name);
            assert!(2 * read > MOST_READ || 2 * moved > MOST_MOVED, "{}", row.name);
        }
    }

    #[test]
    fn every_row_has_a_program_with_its_bytes() {
        for row in &ALL {
            let subject = (row.make)(7).unwrap_or_else(|error| panic!("{}: {error}", row.name));
            let program = subject.program();
            let read: u32 = program.inputs.iter().map(|column| column.size).sum();
            let written: u32 = program.output.columns.iter().map(|column| column.size).sum();
            assert_eq!((read as usize, written as usize), (row.read, row.written), "{}", row.name);
            for (column, bytes) in program.inputs.iter().zip(subject.columns()) {
                assert_eq!(bytes.len(), PERIOD * column.size as usize, "{}", row.name);
            }
        }
    }
}

//! Programs in text form, grown at random and then damaged a little: most that still parse are
//! programs nobody would write.

use monoscan_ir::{Opcode, Program};
use scan_kit::random::{Options, random_program};

use crate::bytes::Bytes;

/// A grown program. A few thousand of them are enough: what the fuzzer can explore is what is done to them.
pub(crate) fn grown(bytes: &mut Bytes<'_>, options: &Options) -> Program {
    random_program(bytes.below(1 << 12) as u64, options)
}

/// The program's text after a few edits; none when the bytes are used up.
pub(crate) fn edited(bytes: &mut Bytes<'_>, program: &Program) -> String {
    let mut lines: Vec<String> = program.to_string().lines().map(str::to_owned).collect();
    for _ in 0..bytes.below(5) {
        edit(bytes, &mut lines);
    }
    lines.join("\n")
}

/// Damages one line, or moves or doubles it.
fn edit(bytes: &mut Bytes<'_>, lines: &mut Vec<String>) {
    let (line, other) = (bytes.below(lines.len()), bytes.below(lines.len()));
    match bytes.below(8) {
        0 => lines.swap(line, other),
        1 => lines.insert(line, lines[other].clone()),
        2 if lines.len() > 1 => drop(lines.remove(line)),
        _ => lines[line] = with_another_word(bytes, &lines[line]),
    }
}

/// The line with one word replaced, mostly by one that may stand in its place.
fn with_another_word(bytes: &mut Bytes<'_>, line: &str) -> String {
    let mut words: Vec<&str> = line.split_inclusive([' ', ',', '(', ')']).collect();
    if words.is_empty() {
        return line.to_owned();
    }
    let place = bytes.below(words.len());
    let word = words[place].trim_end_matches([' ', ',', '(', ')']);
    let end = &words[place][word.len()..];
    let new = another_word(bytes, word) + end;
    words[place] = &new;
    words.concat()
}

fn another_word(bytes: &mut Bytes<'_>, word: &str) -> String {
    const NUMBERS: [&str; 12] =
        ["0", "1", "-1", "2", "7", "255", "65536", "2147483648", "18446744073709551615", "-0.0", "1e-40", "inf"];
    const WORDS: [&str; 12] =
        ["true", "nan:7fc00000", "{", "}", "@0", "#15", "record.1", "next.0", "last", "index", "before.0.0", "[0 255]"];
    const TYPES: [&str; 10] = ["bool", "i8", "u8", "u16", "i32", "u64", "f32", "f64", "u8x4", "u8x16"];
    if let Some((name, ty)) = word.split_once('.')
        && Opcode::from_name(name).is_some()
    {
        return match bytes.chance(4) {
            true => format!("{name}.{}", bytes.pick(&TYPES)),
            false => format!("{}.{ty}", bytes.pick(Opcode::ALL).name()),
        };
    }
    match word.as_bytes().first() {
        Some(b'%') => format!("%{}", bytes.below(48)),
        Some(b'0'..=b'9' | b'-') => (*bytes.pick(&NUMBERS)).to_owned(),
        Some(b'a'..=b'z') if bytes.chance(2) => (*bytes.pick(&TYPES)).to_owned(),
        _ => (*bytes.pick(&WORDS)).to_owned(),
    }
}

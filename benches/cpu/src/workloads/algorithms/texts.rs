//! Text beside the standard library and crates for it.

use monoscan::algo::{AlgoError, text};
use monoscan::lexer::PatternSet;
use regex_automata::dfa::{Automaton, OverlappingState, dense};
use regex_automata::{Input, MatchKind};

use super::super::Session;
use super::{Same, enter_ours, one_thread};
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::Numbers;

/// Characters of one to four bytes, most of them of one, in so many bytes or up to three more.
pub(in super::super) fn utf8(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (mut numbers, mut text) = (Numbers::new(66), String::with_capacity(len + 3));
    while text.len() < len {
        text.push(match numbers.below(10) {
            0 => 'ß',
            1 => '∮',
            2 => '\u{10ffff}',
            _ => (b' ' + numbers.below(90) as u8).into(),
        });
    }
    let (text, y, pool) = (text.as_bytes(), &Same::of(vec![true], 1), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "from_utf8", 1), y, || *y.write() = vec![std::str::from_utf8(text).is_ok()]);
    enter_ours(&mut field, y, pool, || text::check_utf8(text).map(|()| *y.write() = vec![true]));
    field.race(session.effort)
}

/// Rows of a number, a quoted name with a comma, and a price: where the fields of each row end, as a number of fields, and how long each
/// is without quotes.
pub(in super::super) fn csv(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (mut numbers, mut rows) = (Numbers::new(67), String::new());
    while rows.len() < len {
        let [id, name, cents] = [1 << 32, 1000, 100_000].map(|bound| numbers.below(bound));
        rows += &format!("{id},\"name, {name}\",{}.{:02}\n", cents / 100, cents % 100);
    }
    let text = rows.as_bytes();
    let reader = || ::csv::ReaderBuilder::new().has_headers(false).from_reader(text);
    let by_crate = |y: &mut Vec<u32>| {
        let (mut reader, mut record, mut fields) = (reader(), ::csv::ByteRecord::new(), 0);
        y.clear();
        while reader.read_byte_record(&mut record).expect("it is well formed") {
            y.extend(record.iter().map(|field| field.len() as u32));
            fields += record.len() as u32;
            y.push(fields);
        }
    };
    let ours = |y: &mut Vec<u32>| {
        let found = text::csv(text, b',')?;
        y.clear();
        for row in found.rows().windows(2) {
            let length = |field: u32| found.unquoted(field as usize).len() as u32;
            y.extend((row[0]..row[1]).map(length));
            y.push(row[1]);
        }
        Ok(())
    };
    let mut expected = Vec::new();
    by_crate(&mut expected);
    let (y, pool) = (&Same::of(expected, len), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "csv", 1), y, || by_crate(&mut y.write()));
    enter_ours(&mut field, y, pool, || ours(&mut y.write()));
    field.race(session.effort)
}

/// Whole numbers of up to nine digits, one of two negative, a row each.
pub(in super::super) fn integers(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut numbers = Numbers::new(71);
    let rows: Vec<String> = (0..len).map(|_| format!("{}\n", numbers.below(1 << 31) as i64 - (1 << 30))).collect();
    let rivals: [Parser<i64>; 3] = [
        ("str::parse", |text| std::str::from_utf8(text).ok()?.parse().ok()),
        ("atoi", |text| atoi::atoi(text)),
        ("lexical-core", |text| lexical_core::parse(text).ok()),
    ];
    parsed(session, field, &rows.concat(), rivals, |fields| fields.integers(0, 0))
}

/// Amounts with two to six decimals, a row each.
pub(in super::super) fn floats(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut numbers = Numbers::new(72);
    let row = |_| {
        let decimals = 2 + numbers.below(5) as usize;
        format!("{:.decimals$}\n", numbers.between(-1e6, 1e6))
    };
    let rows: Vec<String> = (0..len).map(row).collect();
    let rivals: [Parser<f64>; 3] = [
        ("str::parse", |text| std::str::from_utf8(text).ok()?.parse().ok()),
        ("fast-float2", |text| fast_float2::parse(text).ok()),
        ("lexical-core", |text| lexical_core::parse(text).ok()),
    ];
    parsed(session, field, &rows.concat(), rivals, |fields| fields.floats(0, 0))
}

/// A parser of one number, and its name.
type Parser<T> = (&'static str, fn(&[u8]) -> Option<T>);

/// The one column of a CSV, whose fields are known. The first parser is the baseline.
fn parsed<T: Copy + PartialEq + Send + Sync>(
    session: &Session,
    field: Field<'_>,
    text: &str,
    rivals: [Parser<T>; 3],
    ours: fn(&text::Fields<'_>) -> Result<Vec<T>, AlgoError>,
) -> Vec<Row> {
    let fields = &text::csv(text.as_bytes(), b',').expect("no quote is open");
    let by = |parse: fn(&[u8]) -> Option<T>| {
        (0..fields.height()).map(|row| parse(fields.raw(row)).expect("it is a number")).collect::<Vec<T>>()
    };
    let (y, pool) = (&Same::of(by(rivals[0].1), 0), &one_thread());
    let mut field = field;
    for (place, (name, parse)) in rivals.into_iter().enumerate() {
        let role = if place == 0 { Role::Baseline } else { Role::Rival };
        field.enter((role, name, 1), y, move || *y.write() = by(parse));
    }
    enter_ours(&mut field, y, pool, move || ours(fields).map(|numbers| *y.write() = numbers));
    field.race(session.effort)
}

/// Words whose ends are looked for in letters at random, and one of any digits.
const PATTERNS: [&str; 4] = ["[a-e]{4}", "bad|cab", "[0-9]+", "ed? [a-c]"];

/// Where matches of four patterns end, and which match there, a bit for each.
pub(in super::super) fn patterns(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (mut numbers, letters) = (Numbers::new(68), b"abcdefghijkl 0123\n");
    let text = &(0..len).map(|_| letters[numbers.below(letters.len() as u64) as usize]).collect::<Vec<u8>>()[..];
    let set = &PatternSet::new(PATTERNS).expect("they are small");
    let all = dense::Config::new().match_kind(MatchKind::All);
    let dfa = dense::Builder::new().configure(all).build_many(&PATTERNS).expect("they are small");
    let by_dfa = |y: &mut Vec<(u64, u8)>| {
        let (input, mut state) = (Input::new(text), OverlappingState::start());
        y.clear();
        loop {
            dfa.try_search_overlapping_fwd(&input, &mut state).expect("nothing makes it stop early");
            let Some(found) = state.get_match() else { break };
            let (end, bit) = (found.offset() as u64, 1 << found.pattern().as_u32());
            match y.last_mut() {
                Some((last, bits)) if *last == end => *bits |= bit,
                _ => y.push((end, bit)),
            }
        }
    };
    let ours = |y: &mut Vec<(u64, u8)>| {
        let found = set.ends(text)?;
        let bits = |patterns: &[usize]| patterns.iter().fold(0, |bits, pattern| bits | 1 << pattern);
        y.clear();
        y.extend(found.iter().map(|found| (found.end, bits(found.patterns))));
        Ok(())
    };
    let mut expected = Vec::new();
    by_dfa(&mut expected);
    let (y, pool) = (&Same::of(expected, len), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "regex-automata", 1), y, || by_dfa(&mut y.write()));
    enter_ours(&mut field, y, pool, || ours(&mut y.write()));
    field.race(session.effort)
}

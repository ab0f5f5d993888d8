//! Lines, UTF-8, CSV and decimals.

use std::borrow::Cow;

use monoscan::algo::AlgoError;
use monoscan::algo::text::{check_utf8, csv, lines_and_columns, lines_and_columns_into};

use super::common::{for_lengths, generator, is_long};

/// So many bytes, drawn from these.
fn bytes(len: usize, of: &[u8]) -> Vec<u8> {
    let mut random = generator(len);
    (0..len).map(|_| *random.pick(of)).collect()
}

#[test]
fn lines_and_columns_are_counted_from_0() {
    for_lengths(100_003, |len| {
        for of in [&b"\n"[..], b"a", b"ab\n", &[b"x".repeat(500), b"\n".to_vec()].concat()] {
            let text = bytes(len, of);
            let (mut at, mut expected) = ((0, 0), (Vec::new(), Vec::new()));
            for byte in &text {
                expected.0.push(at.0);
                expected.1.push(at.1);
                at = if *byte == b'\n' { (at.0 + 1, 0) } else { (at.0, at.1 + 1) };
            }
            let (mut lines, mut columns) = (vec![7; len], vec![7; len]);
            lines_and_columns_into(&text, &mut lines, &mut columns).unwrap();
            assert_eq!((&lines, &columns), (&expected.0, &expected.1));
            assert_eq!(lines_and_columns(&text).unwrap(), expected);
        }
    });
    let (mut two, mut three) = ([7; 2], [7; 3]);
    let error = lines_and_columns_into(b"a\nb", &mut two, &mut three).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "lines", expected: 3, got: 2 }), "{error}");
    let error = lines_and_columns_into(b"a\nb", &mut three, &mut two).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "columns", expected: 3, got: 2 }), "{error}");
    assert_eq!((two, three), ([7; 2], [7; 3]));
}

fn utf8_as_the_standard_library_has_it(text: &[u8]) {
    let expected = std::str::from_utf8(text).map(drop).map_err(|error| error.valid_up_to());
    let got = check_utf8(text).map_err(|error| match error {
        AlgoError::InvalidUtf8 { valid_up_to } => valid_up_to,
        other => panic!("{other}"),
    });
    assert_eq!(got, expected, "{:x?}", &text[..text.len().min(20)]);
}

#[test]
fn utf8_is_checked_as_the_standard_library_does() {
    // Every start of up to four bytes that are at the end of a range.
    let ends = [0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee];
    let ends = [&ends[..], &[0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff]].concat();
    for a in &ends {
        for b in &ends {
            for c in &ends {
                ends.iter().for_each(|&d| utf8_as_the_standard_library_has_it(&[*a, *b, *c, d]));
                utf8_as_the_standard_library_has_it(&[*a, *b, *c]);
            }
            utf8_as_the_standard_library_has_it(&[*a, *b]);
        }
        utf8_as_the_standard_library_has_it(&[*a]);
    }
    for_lengths(40_000, |len| {
        let right: String = "aß∮\u{10ffff}\u{800}\u{d7ff}\u{e000}\n".chars().cycle().take(len).collect();
        let mut text = right.into_bytes();
        utf8_as_the_standard_library_has_it(&text);
        let mut random = generator(len);
        for _ in 0..4 {
            if let Some(byte) = text.len().checked_sub(1).map(|last| random.below(last + 1)) {
                let kept = std::mem::replace(&mut text[byte], *random.pick(&ends));
                utf8_as_the_standard_library_has_it(&text);
                text[byte] = kept;
                utf8_as_the_standard_library_has_it(&text[..byte]);
            }
        }
    });
}

/// Threads check parts of 2^15 bytes or a little more.
#[test]
fn utf8_that_goes_wrong_where_texts_are_cut_is_found_at_the_same_place() {
    const CUT: usize = 1 << 15;
    for right in ["x", "∮", "\u{10ffff}"] {
        let right = right.repeat(3 * CUT / right.len());
        // Cuts fall before each byte of a character.
        for before in 0..4 {
            utf8_as_the_standard_library_has_it(("x".repeat(before) + &right).as_bytes());
        }
        for wrong in [&[0xff][..], &[0xe1], &[0xe1, 0x80], &[0xf0, 0x90, 0x80], &[0x80; 3], &[0x80; 9]] {
            for at in (0..4).chain(CUT - 10..CUT + 4).chain(right.len() - 12..right.len() - 9) {
                let mut text = right.as_bytes().to_vec();
                text[at..at + wrong.len()].copy_from_slice(wrong);
                utf8_as_the_standard_library_has_it(&text);
                utf8_as_the_standard_library_has_it(&[&text[..at], wrong].concat());
            }
        }
    }
}

/// A reader of one byte at a time: the raw fields of each row.
fn by_hand(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), Vec::new(), false);
    for &byte in text {
        quoted ^= byte == b'"';
        match byte {
            b',' if !quoted => row.push(std::mem::take(&mut field)),
            b'\n' if !quoted => {
                if field.last() == Some(&b'\r') {
                    field.pop();
                }
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            byte => field.push(byte),
        }
    }
    if !text.is_empty() && (text.last() != Some(&b'\n') || !row.is_empty() || !field.is_empty()) {
        if field.last() == Some(&b'\r') {
            field.pop();
        }
        row.push(field);
        rows.push(row);
    }
    rows
}

#[test]
fn a_quote_that_is_not_closed_is_named() {
    for (text, place) in [
        ("\"abc\"\"", 0),
        ("a,\"b\"\"\nc,d\n", 2),
        ("x,\"oops\ny,\"fine\"\n", 2),
        ("\"a\",\"b\"\n\"c\"\"\",\"d\n", 14),
        ("a\"", 1),
        ("\"", 0),
    ] {
        let error = csv(text.as_bytes(), b',').unwrap_err();
        assert!(matches!(error, AlgoError::OpenQuote { place: at } if at == place), "{text}: {error}");
    }
}

#[test]
fn fields_are_those_of_a_reader_of_single_bytes() {
    for_lengths(100_003, |len| {
        for len in if is_long(len) { len..len + 1 } else { len..len + 4 } {
            for of in [&b"a,\n"[..], b"ab,\n\r\"", b"\n", b",", &[b"x".repeat(90), b",\n\"\"".to_vec()].concat()] {
                let mut text = bytes(len, of);
                // One block of 2^15 bytes has no quote, and lies between quotes or not.
                text.iter_mut().skip(1 << 15).take(1 << 15).filter(|byte| **byte == b'"').for_each(|byte| *byte = b'a');
                if text.iter().filter(|&&byte| byte == b'"').count() % 2 == 1 {
                    assert!(matches!(csv(&text, b','), Err(AlgoError::OpenQuote { place }) if text[place] == b'"'));
                    text.push(b'"');
                }
                let fields = csv(&text, b',').unwrap();
                let rows: Vec<Vec<Vec<u8>>> = (0..fields.height())
                    .map(|r| {
                        (fields.rows()[r]..fields.rows()[r + 1]).map(|k| fields.raw(k as usize).to_vec()).collect()
                    })
                    .collect();
                assert!(rows == by_hand(&text), "{:?}", String::from_utf8_lossy(&text[..text.len().min(60)]));
            }
        }
    });
}

/// Random fields, written with quotes where they need them and where they do not, and read again.
#[test]
fn columns_of_texts_are_what_was_written() {
    for_lengths(5001, |len| {
        for width in [1, 2, 5] {
            let mut random = generator(len);
            let mut field = || -> Vec<u8> {
                (0..random.below(9usize)).map(|_| *random.pick(b"ab,\n\"\r \xff")).collect::<Vec<u8>>()
            };
            let rows: Vec<Vec<Vec<u8>>> = (0..len).map(|_| (0..width).map(|_| field()).collect()).collect();
            let mut random = generator(len + 1);
            let mut written = |field: &Vec<u8>| match field.iter().any(|byte| b",\n\r\"".contains(byte)) {
                false if random.chance(2) => field.clone(),
                _ => [b"\"", &field.split(|&byte| byte == b'"').collect::<Vec<_>>().join(&b"\"\""[..])[..], b"\""]
                    .concat(),
            };
            let mut text = Vec::new();
            for row in &rows {
                let row: Vec<Vec<u8>> = row.iter().map(&mut written).collect();
                text.extend([&row.join(&b','), &b"\n"[..]].concat());
            }
            let fields = csv(&text, b',').unwrap();
            assert_eq!(fields.height(), len);
            for column in 0..width {
                for first in [0, len / 2, len] {
                    let expected: Vec<&[u8]> = rows[first..].iter().map(|row| &row[column][..]).collect();
                    assert!(fields.texts(first, column).unwrap() == expected, "column {column} of {len} rows");
                }
            }
        }
    });
}

#[test]
fn quotes_are_taken_off() {
    let text = br#""a ""b"" c",plain,"","""",x"y"#;
    let mut text = text.to_vec();
    text.push(b'"');
    let fields = csv(&text, b',').unwrap();
    let unquoted: Vec<String> = (0..5).map(|k| String::from_utf8(fields.unquoted(k).into_owned()).unwrap()).collect();
    assert_eq!(unquoted, [r#"a "b" c"#, "plain", "", "\"", "x\"y\""]);
}

#[test]
fn columns_of_decimals_become_numbers() {
    for_lengths(3001, |len| {
        let mut random = generator(len);
        let rows: Vec<(i64, f64)> = (0..len)
            .map(|_| (random.bits() as i64, f64::from_bits(random.bits())))
            .filter(|row| row.1.is_finite())
            .collect();
        let text: String = rows.iter().map(|(a, b)| format!("{a};\"{b:e}\"\r\n")).collect();
        let text = [b"integer;float\n", text.as_bytes()].concat();
        let fields = csv(&text, b';').unwrap();
        assert_eq!(fields.integers(1, 0).unwrap(), rows.iter().map(|row| row.0).collect::<Vec<_>>());
        assert_eq!(fields.floats(1, 1).unwrap(), rows.iter().map(|row| row.1).collect::<Vec<_>>());
    });
    let text = b"1,2\n3\n4,x";
    let fields = csv(text, b',').unwrap();
    assert_eq!(fields.integers(0, 0).unwrap(), [1, 3, 4]);
    let error = |result: Result<Vec<i64>, AlgoError>| result.unwrap_err().to_string();
    assert_eq!(error(fields.integers(0, 1)), "row 1 has no column 1: it has 1");
    assert_eq!(error(fields.integers(2, 1)), "row 2, column 1: `x` is no integer of 64 bits");
    assert!(matches!(fields.floats(2, 1), Err(AlgoError::NoNumber { row: 2, column: 1, .. })));
    assert!(matches!(fields.texts(0, 9), Err(AlgoError::NoField { row: 0, column: 9, fields: 2 })));
    for column in [7, usize::MAX] {
        let is_missing = |error| matches!(error, AlgoError::NoField { column: at, .. } if at == column);
        assert!(is_missing(fields.integers(0, column).unwrap_err()));
        assert!(is_missing(fields.floats(1, column).unwrap_err()));
    }
    // There may be no row behind a header, but no header is missing.
    assert_eq!((fields.integers(3, 9).unwrap(), fields.texts(3, 9).unwrap()), (vec![], Vec::<Cow<[u8]>>::new()));
    for first in [4, usize::MAX] {
        let is_beyond = |error| matches!(error, AlgoError::Row { got, height: 3 } if got == first);
        assert!(is_beyond(fields.integers(first, 0).unwrap_err()) && is_beyond(fields.floats(first, 0).unwrap_err()));
        assert!(is_beyond(fields.texts(first, 0).unwrap_err()));
    }
    let large = b"9223372036854775808";
    let error = error(csv(large, b',').unwrap().integers(0, 0));
    assert_eq!(error, "row 0, column 0: `9223372036854775808` is no integer of 64 bits");
}

#[test]
fn separators_that_mean_something_else_are_refused() {
    for separator in *b"\"\r\n" {
        let error = csv(b"a\r\nb", separator).unwrap_err();
        assert!(matches!(error, AlgoError::Separator { got } if got == separator), "{error}");
    }
    assert_eq!(
        csv(b"a", b'\r').unwrap_err().to_string(),
        r"'\r' as separator, expected no quote, newline or carriage return"
    );
}

#[test]
fn tokens_of_numbers_become_columns() {
    use monoscan::algo::text::Decimals;
    use monoscan::lexer::{Kind, Lexer};

    let rules = Lexer::builder().token("number", "[-+.0-9e]+").skip("other", "[^-+.0-9e]+");
    let lexer = rules.build().unwrap().only(&[Kind::Rule(0)]);
    for_lengths(3001, |len| {
        let mut random = generator(len);
        let rows: Vec<(i64, f64)> = (0..len)
            .map(|_| (random.bits() as i64, f64::from_bits(random.bits())))
            .filter(|row| row.1.is_finite())
            .collect();
        let text: String = rows.iter().map(|(a, b)| format!("at {a}: {b:e} m, ")).collect();
        let tokens = lexer.lex(text.as_bytes()).unwrap();
        let table = Decimals::new(text.as_bytes(), &tokens, 2).unwrap();
        assert_eq!(table.height(), rows.len());
        assert_eq!(table.integers(0).unwrap(), rows.iter().map(|row| row.0).collect::<Vec<_>>());
        assert_eq!(table.floats(1).unwrap(), rows.iter().map(|row| row.1).collect::<Vec<_>>());
    });
    let text = b"1, 2.5, 3, -, 9223372036854775808";
    let tokens = lexer.lex(text).unwrap();
    let refused = |error: AlgoError| match error {
        AlgoError::Token { token, bytes, expected, got } => (token, bytes, expected, got),
        error => panic!("{error}"),
    };
    let column = Decimals::new(text, &tokens, 1).unwrap();
    assert_eq!(refused(column.integers(0).unwrap_err()), (1, 3..6, "integer of 64 bits", "2.5".to_owned()));
    assert_eq!(refused(column.floats(0).unwrap_err()), (3, 11..12, "number", "-".to_owned()));
    // A token outside of the text that was given has no text.
    let column = Decimals::new(&text[..4], &tokens, 1).unwrap();
    assert_eq!(refused(column.floats(0).unwrap_err()), (1, 3..6, "number", String::new()));
    let error = Decimals::new(text, &tokens, 3).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "tokens", expected: 6, got: 5 }), "{error}");
    assert!(matches!(Decimals::new(text, &tokens, 0).unwrap_err(), AlgoError::NoColumns));
    let one = Decimals::new(text, &tokens, 1).unwrap();
    for error in [one.integers(1).unwrap_err(), one.floats(1).unwrap_err()] {
        assert!(matches!(error, AlgoError::Column { got: 1, expected: 1 }), "{error}");
    }
}

//! Labels and tokens of texts by lexers: by one scan, and by two, where an oracle reads the text
//! from its end first. Texts, labels and tokens are in device memory.
//!
//! Times are those of the clock, until the last result is there, since two scans are two launches.

use std::time::Instant;

use monoscan::lexer::{Lexer, RULE_SETS, Rules, TokenList};
use monoscan::{Device, DeviceVec};

use bench_shared::data;

use crate::arena::words;
use crate::options::Options;

/// Bytes of a text.
const BYTES: usize = 1 << 27;

/// Timed calls, after one that is verified.
const ROUNDS: usize = 9;

/// The name of a row, that of its rules, and a text for them.
type Text = (&'static str, &'static str, fn() -> Vec<u8>);

/// Each text is repeated.
const TEXTS: [Text; 7] = [
    ("json", "json", || data::json(1 << 20)),
    ("json-dense", "json", || b"[1,[2,3],{\"a\":4},[],[5,[6,{}]],7,0]\n".repeat(1 << 15)),
    ("json-exact", "json-exact", || data::json(1 << 20)),
    ("csv", "csv", || b"12,\"a, \"\"b\"\"\",,x y z,-7.25e3\r\n3,c,d,\"\",9\n".repeat(1 << 14)),
    ("log", "log", || {
        b"2026-11-22T22:13:07Z INFO scan[42]: kept 17 of 1024 in 3.5ms path=/var/log/x\n".repeat(1 << 13)
    }),
    ("c", "c", || include_bytes!("../../peers/cub_scan.cu").repeat(64)),
    ("rust", "rust", || include_bytes!("lexers.rs").repeat(256)),
];

/// JSON where a number that is cut off is no number, so that it takes more than one byte of look-ahead.
const EXACT_JSON: &str = r#"
    PUNCTUATION [{}\[\]:,]
    STRING      "([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"
    NUMBER      -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
    WORD        true|false|null
    skip SPACE  [ \t\n\r]+
"#;

/// Prints the speed of each. Whether all labels were right.
///
/// # Errors
/// The error of a device or a lexer.
pub(crate) fn measure(device: &Device, options: &Options) -> Result<bool, String> {
    let mut all_right = true;
    println!(
        "\n| text | scans | bytes a token | GB/s of text, labels | tokens | of a text of the host | the copy alone \
         | tokens on the host | the copies alone |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, rules, text) in TEXTS.into_iter().filter(|(name, ..)| options.wants(name)) {
        match row(device, (name, rules), text()) {
            Ok(line) => println!("{line}"),
            Err(why) => {
                all_right = false;
                println!("| {name} | BAD: {why} | | | | | | | |");
            }
        }
    }
    Ok(all_right)
}

fn row(device: &Device, (name, rules): (&str, &str), period: Vec<u8>) -> Result<String, String> {
    let mut sets = RULE_SETS.into_iter().chain([("json-exact", EXACT_JSON)]);
    let rules = sets.find(|(own, _)| *own == rules).ok_or("there are no such rules")?.1;
    let cpu = Lexer::new(Rules::parse(rules).map_err(words)?).map_err(words)?;
    let tables = cpu.tables().map_err(words)?;
    let text: Vec<u8> = period.iter().copied().cycle().take(BYTES).collect();
    let expected = tables.label_sequentially(&text);
    let part = &text[..period.len().min(BYTES)];
    let tokens = cpu.lex(part).map_err(words)?;
    let lexer = cpu.on(*device).map_err(words)?;
    if lexer.lex(part).map_err(words)? != tokens {
        return Err("tokens differ from those of the CPU".to_owned());
    }
    let length = period.len() as f64 / tokens.len() as f64;
    let mut on_device = DeviceVec::upload(device, &text).map_err(words)?;
    let mut found = DeviceVec::upload(device, &vec![0u8; BYTES]).map_err(words)?;
    let mut label = || lexer.labels_into(&on_device, &mut found).map_err(words)?.wait().map_err(words).map(drop);
    let labels = speed(&mut label)?;
    if found.to_vec().map_err(words)? != expected {
        return Err("labels of the last call differ from those of the plain loop".to_owned());
    }
    drop(found);
    let mut listed = lexer.lex_on_device(&on_device).map_err(words)?;
    let tokens = speed(&mut || lexer.lex_on_device_into(&on_device, &mut listed).map_err(words))?;
    let expected = cpu.lex(&text).map_err(words)?;
    let are_right = listed.starts().to_vec().map_err(words)? == expected.starts()
        && listed.ends().to_vec().map_err(words)? == expected.ends()
        && listed
            .kinds()
            .to_vec()
            .map_err(words)?
            .iter()
            .zip(expected.kinds())
            .all(|(&code, &kind)| code as u16 == kind & 0x7f);
    if !are_right || listed.len() != expected.len() {
        return Err("tokens on the device differ from those of the CPU".to_owned());
    }
    let mut list = TokenList::new();
    let host = speed(&mut || lexer.lex_into(&text, &mut list).map_err(words))?;
    if list != expected {
        return Err("tokens of a text of the host differ from those of the CPU".to_owned());
    }
    let up = speed(&mut || on_device.write(&text).map_err(words))?;
    let left = speed(&mut || {
        on_device.write(&text).map_err(words)?;
        lexer.lex_on_device_into(&on_device, &mut listed).map_err(words)
    })?;
    // The text there, and kinds, starts and ends of tokens back, into memory that was used before.
    let [mut starts, mut ends] = [expected.starts().to_vec(), expected.ends().to_vec()];
    let mut kinds = vec![0; expected.len()];
    let both = speed(&mut || {
        on_device.write(&text).map_err(words)?;
        listed.starts().read(&mut starts).map_err(words)?;
        listed.ends().read(&mut ends).map_err(words)?;
        listed.kinds().read(&mut kinds).map_err(words)
    })?;
    let scans = if tables.oracle_program().is_some() { 2 } else { 1 };
    Ok(format!(
        "| {name} | {scans} | {length:.1} | {labels:.0} | {tokens:.0} | {left:.1} | {up:.1} | {host:.1} | {both:.1} |"
    ))
}

/// GB/s of text: the median, after a call that is not timed.
fn speed(call: &mut dyn FnMut() -> Result<(), String>) -> Result<f64, String> {
    call()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        call()?;
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(BYTES as f64 / times[ROUNDS / 2] / 1e9)
}

//! Labels and tokens of texts by lexers: by one scan, and by two, where an oracle reads the text
//! from its end first. Texts, labels and tokens are in device memory.
//!
//! Times are those of the clock, until the last result is there, since two scans are two launches.

use std::time::Instant;

use monoscan::lexer::{Lexer, RULE_SETS, Rules};
use monoscan::{Device, DeviceVec};

use bench_shared::data;

use crate::arena::words;
use crate::options::Options;

/// Bytes of a text.
const BYTES: usize = 1 << 27;

/// Timed calls, after one that is verified.
const ROUNDS: usize = 9;

/// The name of rules, and a text for them.
type Text = (&'static str, fn() -> Vec<u8>);

/// Each text is repeated.
const TEXTS: [Text; 6] = [
    ("json", || data::json(1 << 20)),
    ("json-exact", || data::json(1 << 20)),
    ("csv", || b"12,\"a, \"\"b\"\"\",,x y z,-7.25e3\r\n3,c,d,\"\",9\n".repeat(1 << 14)),
    ("log", || b"2026-11-22T22:13:07Z INFO scan[42]: kept 17 of 1024 in 3.5ms path=/var/log/x\n".repeat(1 << 13)),
    ("c", || include_bytes!("../../peers/cub_scan.cu").repeat(64)),
    ("rust", || include_bytes!("lexers.rs").repeat(256)),
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
    println!("\n| rules | scans | bytes a token | GB/s of text, labels | tokens |\n|---|---|---|---|---|");
    for (name, text) in TEXTS.into_iter().filter(|(name, _)| options.wants(name)) {
        match labels(device, name, text()) {
            Ok(line) => println!("{line}"),
            Err(why) => {
                all_right = false;
                println!("| {name} | BAD: {why} | | | |");
            }
        }
    }
    Ok(all_right)
}

fn labels(device: &Device, name: &str, period: Vec<u8>) -> Result<String, String> {
    let mut sets = RULE_SETS.into_iter().chain([("json-exact", EXACT_JSON)]);
    let rules = sets.find(|(own, _)| *own == name).ok_or("there are no such rules")?.1;
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
    let on_device = DeviceVec::upload(device, &text).map_err(words)?;
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
    let scans = if tables.oracle_program().is_some() { 2 } else { 1 };
    Ok(format!("| {name} | {scans} | {length:.1} | {labels:.0} | {tokens:.0} |"))
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

//! Texts of many scripts, made from a seed.

use crate::Random;

/// Alphabets of scripts, marks, digits, blanks and signs: first and last of a range.
const RANGES: [(char, char); 34] = [
    ('a', 'z'),
    ('a', 'z'),
    ('a', 'z'),
    ('A', 'Z'),
    ('0', '9'),
    ('!', '/'),
    (':', '@'),
    ('\u{a0}', '\u{ff}'),
    ('\u{100}', '\u{24f}'),
    ('\u{2b0}', '\u{2ff}'),
    ('\u{300}', '\u{36f}'),
    ('\u{370}', '\u{3ff}'),
    ('\u{400}', '\u{4ff}'),
    ('\u{530}', '\u{58f}'),
    ('\u{590}', '\u{5ff}'),
    ('\u{600}', '\u{6ff}'),
    ('\u{900}', '\u{97f}'),
    ('\u{980}', '\u{9ff}'),
    ('\u{e00}', '\u{e7f}'),
    ('\u{10a0}', '\u{10ff}'),
    ('\u{1200}', '\u{137f}'),
    ('\u{1c4}', '\u{1cc}'),
    ('\u{1e00}', '\u{1fff}'),
    ('\u{2000}', '\u{206f}'),
    ('\u{20a0}', '\u{20bf}'),
    ('\u{2150}', '\u{218f}'),
    ('\u{2190}', '\u{23ff}'),
    ('\u{3000}', '\u{30ff}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{ff00}', '\u{ffef}'),
    ('\u{10400}', '\u{1044f}'),
    ('\u{1d400}', '\u{1d7ff}'),
    ('\u{1f300}', '\u{1faff}'),
];

const JOINTS: [&str; 24] = [
    " ",
    " ",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "   ",
    "\n",
    "\r\n",
    "\n\n  ",
    " \n",
    "\t",
    "'s ",
    "'LL",
    "'",
    "\u{a0}",
    "\u{3000} ",
    "\u{2003}\u{2003}",
    "\u{85}",
    "-",
    ", ",
    ". ",
    "",
];

/// A text of about so many bytes.
///
/// ```
/// let text = scan_kit::scripts::text(1, 400);
/// assert!((400..500).contains(&text.len()) && !text.is_ascii());
/// ```
pub fn text(seed: u64, bytes: usize) -> String {
    let (mut random, mut text) = (Random(seed), String::new());
    while text.len() < bytes {
        let &(first, last) = random.pick(&RANGES);
        for _ in 0..1 + random.below(9) {
            text.extend(char::from_u32(u32::from(first) + random.below(u32::from(last) - u32::from(first) + 1)));
        }
        text += *random.pick(&JOINTS);
    }
    text
}

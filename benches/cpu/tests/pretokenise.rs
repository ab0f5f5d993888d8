//! Pieces of texts, as the patterns of language models cut them, against `fancy-regex`.

use fancy_regex::Regex;
use monoscan::lexer::{CL100K, GPT2, O200K, Pretokeniser};
use scan_kit::scripts;

#[test]
fn pieces_are_those_that_fancy_regex_finds() {
    for pattern in [GPT2, CL100K, O200K] {
        let (split, regex) = (Pretokeniser::new(pattern).unwrap(), Regex::new(pattern).unwrap());
        for seed in 1..120 {
            let text = scripts::text(seed, 400);
            let expected: Vec<&str> = regex.find_iter(&text).map(|found| found.unwrap().as_str()).collect();
            assert_eq!(split.split(&text).unwrap().collect::<Vec<_>>(), expected, "{pattern}: {text:?}");
        }
    }
}

//! The kernel that finds words among tokens, in the emulator, against a map of the words.

use std::collections::BTreeMap;

use monoscan_codegen::nvptx::{HELPER_THREADS, HelperKernel, WordsArguments, WordsTable};
use scan_emulator::{Device, Kernel, Launch};
use scan_kit::Random;

/// Words of these lengths, and their kinds.
fn words(random: &mut Random, count: usize, longest: usize) -> BTreeMap<Vec<u8>, u8> {
    let word =
        |random: &mut Random| -> Vec<u8> { (0..1 + random.below(longest)).map(|_| *random.pick(b"abz\xff")).collect() };
    (0..count).map(|_| (word(random), 100 + random.below(28) as u8)).collect()
}

/// Texts of tokens: words, what is nearly one, and others.
fn token(random: &mut Random, words: &BTreeMap<Vec<u8>, u8>) -> Vec<u8> {
    let all: Vec<&Vec<u8>> = words.keys().collect();
    let mut token = random.pick(&all).to_vec();
    let place = random.below(token.len());
    match random.below(8) {
        0 => token[place] ^= 0x20,
        1 => token.push(b'a'),
        2 => token.extend(b"abzabzabzabzabzabzabz"),
        3 if token.len() > 1 => drop(token.pop()),
        _ => {}
    }
    token
}

#[test]
fn words_among_tokens_get_their_kinds() {
    let kernel = Kernel::compile(&HelperKernel::Words.emulated(), "scan").unwrap();
    let mut random = Random(11);
    let tile = HelperKernel::Words.tile();
    for case in 0..60u64 {
        let (count, longest) = (1 + random.below(60), *random.pick(&[1, 3, 8, 9, 16]));
        let words = words(&mut random, count, longest);
        let concerned = [3, 63, 64, 99];
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        for _ in 0..*random.pick(&[1, 2, 31, tile - 1, tile, tile + 1]) {
            // Some bytes between tokens are left out.
            text.extend(b" ".repeat(random.below(6) / 3));
            let token = token(&mut random, &words);
            spans.push((text.len(), text.len() + token.len()));
            text.extend(token);
        }
        let kinds: Vec<u8> = spans.iter().map(|_| *random.pick(&[3, 63, 64, 99, 2, 65, 127])).collect();
        let expected: Vec<u8> = spans
            .iter()
            .zip(&kinds)
            .map(|(&(start, end), kind)| match words.get(&text[start..end]) {
                Some(word) if concerned.contains(kind) => *word,
                _ => *kind,
            })
            .collect();
        let list: Vec<(Vec<u8>, u8)> = words.into_iter().collect();
        let table = WordsTable::new(&list, &concerned).expect("there are words");
        let column = |of: &dyn Fn(&(usize, usize)) -> usize| -> Vec<u8> {
            spans.iter().flat_map(|span| (of(span) as u32).to_le_bytes()).collect()
        };
        let mut device = Device::new();
        let on_device = device.buffer_shifted(&text, random.below(16));
        let (starts, ends) = (device.buffer(&column(&|span| span.0)), device.buffer(&column(&|span| span.1)));
        let (to, words) = (device.buffer(&kinds), device.buffer(table.bytes()));
        let arguments = WordsArguments {
            tokens: spans.len() as u64,
            text: device.address(on_device),
            text_bytes: text.len() as u64,
            starts: device.address(starts),
            ends: device.address(ends),
            kinds: device.address(to),
            table: device.address(words),
            ..table.arguments()
        };
        let launch = Launch {
            blocks: spans.len().div_ceil(tile) as u32,
            threads: HELPER_THREADS as u32,
            args: bytemuck::bytes_of(&arguments),
            seed: case,
            ..Launch::default()
        };
        kernel.launch(&mut device, &launch).unwrap();
        assert_eq!(device.read(to), expected, "case {case}");
    }
}

#[test]
fn there_is_no_table_without_words() {
    assert!(WordsTable::new(&[], &[1]).is_none());
}

//! Input data from a seeded generator: the same on every machine and in every run.

/// Pseudo-random numbers, by Steele, Lea and Flood's SplitMix64 (*Fast Splittable Pseudorandom Number Generators*, 2014).
pub struct Numbers(u64);

impl Numbers {
    /// From a seed. Each column of each workload has its own.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in 0 .. `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `low` .. `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `len` values of a generator.
pub fn column<T>(seed: u64, len: usize, mut value: impl FnMut(&mut Numbers) -> T) -> Vec<T> {
    let mut numbers = Numbers::new(seed);
    (0..len).map(|_| value(&mut numbers)).collect()
}

/// Whole numbers of −8 to 8. Their running sums stay far below 2²⁴, so that sums of `f32` are exact in every association.
pub fn small_integers<T: From<i8>>(len: usize) -> Vec<T> {
    column(1, len, |numbers| T::from(numbers.below(17) as i8 - 8))
}

/// Factors in 0.9 .. 1.1, and one 0 in 256. No product of them gets near the denormal numbers.
pub fn factors(len: usize) -> impl Iterator<Item = f64> {
    let mut numbers = Numbers::new(2);
    (0..len).map(move |_| if numbers.below(256) == 0 { 0.0 } else { numbers.between(0.9, 1.1) })
}

/// Factors in −1 .. 1. Products of a hundred of them pass through the denormal numbers to 0.
pub fn small_factors(len: usize) -> impl Iterator<Item = f64> {
    let mut numbers = Numbers::new(2);
    (0..len).map(move |_| numbers.between(-1.0, 1.0))
}

/// Samples in −1 .. 1.
pub fn samples(len: usize) -> impl Iterator<Item = f64> {
    let mut numbers = Numbers::new(3);
    (0..len).map(move |_| numbers.between(-1.0, 1.0))
}

/// Whether a segment starts: at every 32nd element on average.
pub fn heads(len: usize) -> Vec<bool> {
    column(4, len, |numbers| numbers.below(32) == 0)
}

/// Any bytes.
pub fn bytes(len: usize) -> Vec<u8> {
    column(5, len, |numbers| numbers.bits() as u8)
}

/// A random automaton of 16 states: where each byte leads from each state.
pub fn automaton() -> Vec<[u8; 16]> {
    column(6, 256, |numbers| std::array::from_fn(|_| numbers.below(16) as u8))
}

/// The same automaton with a row for each state.
pub fn by_state(moves: &[[u8; 16]]) -> Vec<[u8; 256]> {
    (0..16).map(|state| std::array::from_fn(|byte| moves[byte][state])).collect()
}

/// JSON text of exactly `len` bytes: records of all kinds of values, blanks behind the last whole one.
pub fn json(len: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(7);
    let mut text = Vec::with_capacity(len);
    loop {
        let record = record(&mut numbers);
        if text.len() + record.len() > len {
            text.resize(len, b' ');
            return text;
        }
        text.extend_from_slice(record.as_bytes());
    }
}

/// JSON text of exactly `len` bytes without blanks between tokens, most of it numbers: arrays of whole numbers of up to nine digits
/// and of fractions, blanks behind the last whole one.
pub fn json_of_numbers(len: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(9);
    let mut text = Vec::with_capacity(len);
    loop {
        let whole = (0..8).map(|_| numbers.bits() % 10u64.pow(1 + numbers.below(9) as u32)).map(|n| n.to_string());
        let whole: Vec<String> = whole.collect();
        let scale = 10f64.powi(numbers.below(7) as i32);
        let fractions: Vec<String> = (0..8).map(|_| (numbers.between(-1.0, 1.0) * scale).to_string()).collect();
        let row = format!("[{},{}],", whole.join(","), fractions.join(","));
        if text.len() + row.len() > len {
            text.resize(len, b' ');
            return text;
        }
        text.extend_from_slice(row.as_bytes());
    }
}

fn record(numbers: &mut Numbers) -> String {
    let words = ["scan", "carry", "prefix", "quote \\\"", "tab\\t", "caf\\u00e9", "naïve", "block of eight"];
    let mut word = || words[numbers.below(words.len() as u64) as usize];
    let (name, note, tags) =
        ([word(), word()].join(" "), [word(), word(), word(), word()].join(", "), [word(), word()]);
    let tags = tags.map(|tag| format!("\"{tag}\"")).join(", ");
    let (id, count, score) = (numbers.below(1 << 30), numbers.below(100), numbers.between(-1e3, 1e3));
    let (small, flag) = (numbers.between(0.0, 1.0) * 1e-6, ["true", "false", "null"][numbers.below(3) as usize]);
    format!(
        "{{\"id\": {id}, \"name\": \"{name}\",\n  \"tags\": [{tags}], \"at\": [{count}, {score:.3}, {small:e}],\n  \
         \"flag\": {flag}, \"note\": \"{note}\"}},\n"
    )
}

/// JSON text of exactly `len` bytes, most of it strings of up to 23 characters: objects of up to eight members, blanks behind
/// the last whole one.
pub fn json_of_strings(len: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(8);
    let mut text = Vec::with_capacity(len);
    loop {
        let members: Vec<String> = (0..=numbers.below(8)).map(|_| member(&mut numbers)).collect();
        let object = format!("{{{}}}\n", members.join(",\n    "));
        if text.len() + object.len() > len {
            text.resize(len, b' ');
            return text;
        }
        text.extend_from_slice(object.as_bytes());
    }
}

fn member(numbers: &mut Numbers) -> String {
    let name = string(numbers);
    let value = match numbers.below(5) {
        0 => format!("{:.3}", numbers.between(-1e4, 1e4)),
        1 => ["true", "null"][numbers.below(2) as usize].to_owned(),
        2 => {
            let list: Vec<String> = (0..=numbers.below(6)).map(|_| numbers.below(100_000).to_string()).collect();
            format!("[{}]", list.join(", "))
        }
        _ => string(numbers),
    };
    format!("{name}: {value}")
}

/// Letters and spaces, now and then an escape or what would be a token outside of a string.
fn string(numbers: &mut Numbers) -> String {
    let characters = 2 + numbers.below(22);
    let text: String = (0..characters)
        .map(|_| match numbers.below(40) {
            0 => ["\\\"", "\\\\", "\\n", "\\t", "\\/"][numbers.below(5) as usize].to_owned(),
            1..=5 => " ".to_owned(),
            6 => char::from(b",:{}[]0"[numbers.below(7) as usize]).to_string(),
            _ => char::from(b'a' + numbers.below(26) as u8).to_string(),
        })
        .collect();
    format!("\"{text}\"")
}

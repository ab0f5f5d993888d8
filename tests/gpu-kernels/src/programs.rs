//! Programs, each with records that it takes: those of the zoo, some written for what kernels do in
//! different ways, and random ones.
//!
//! All operators are exact and all records give valid states, so the association does not matter.

use monoscan::lexer::{CSV, JSON, LexerTables, PatternSet, RULE_SETS, Rules};
use monoscan::ops::{StateMap, Sum};
use monoscan::prelude::*;
use monoscan_ir::{Program, Type, Verified, verify};
use scan_kit::random::{Options, plain_program, random_program};

use crate::automata::{self, Maps};
use crate::bytes;
use scan_kit::programs as readable;
use scan_kit::{Random, json};

use scan_kit::zoo::{
    Affine, ArgMax, Bicyclic, Carry, Gaps, Hash, Interval, Matrix, Modular, PRIME, Segmented, Switch, Unitriangular,
    Wide, Words,
};

mod kept;
mod marked;
mod places;
mod text;

use kept::{KEPT_BY_NEXT, KEPT_COLUMNS, KEPT_EARLY, KEPT_IN_VAIN, KEPT_STATES, KEPT_SUMS, SELECTED};
use places::{KEPT_ENDS, KEPT_GAPS, KEPT_PLACES, KEPT_RUNS, KEPT_TWICE};
use text::{BRACKETS, CASCADE, LOOKED_UP, NEIGHBOURS, PADDED, recurrence, sum, unitriangular};

type Make = dyn Fn(&mut Random, usize) -> Vec<Vec<u8>> + Send + Sync;

/// A program, and records for it.
pub struct Case {
    /// As a user writes it.
    pub program: Verified<Program>,
    make: Box<Make>,
}

impl Case {
    /// Takes any bytes.
    pub fn of_bytes(program: Verified<Program>) -> Case {
        let sizes: Vec<usize> = program.inputs.iter().map(|layout| layout.size as usize).collect();
        let make = move |random: &mut Random, count| sizes.iter().map(|size| random.bytes(size * count)).collect();
        Case { program, make: Box::new(make) }
    }

    /// Takes what looks a little like JSON.
    fn of_text(program: Verified<Program>) -> Case {
        let make = |random: &mut Random, count: usize| {
            vec![(0..count).map(|_| *random.pick(b"{}[]\"\\ 1234-.e:,truefalsn\n")).collect()]
        };
        Case { program, make: Box::new(make) }
    }

    fn parsed(source: &str) -> Case {
        Case::of_bytes(readable::parse(source))
    }

    /// Scans states of a type; `make` gives record i.
    pub(crate) fn of_states<M: Monoid>(make: impl Fn(&mut Random, usize) -> M + Send + Sync + 'static) -> Case {
        let scan = Scan::<M>::new().expect("a monoid of the zoo");
        let program = scan.as_dyn().program().clone();
        let layout = program.inputs[0].clone();
        let make = move |random: &mut Random, count: usize| {
            // What is between fields is not zero, so that it shows where it counts.
            let mut bytes = random.bytes(layout.size as usize * count);
            for (i, bytes) in bytes.chunks_mut(layout.size as usize).enumerate() {
                let components = monoscan::lang::to_constants(&make(random, i));
                for (field, component) in layout.fields.iter().zip(components) {
                    let component = component.to_bytes();
                    bytes[field.offset as usize..][..component.len()].copy_from_slice(&component);
                }
            }
            vec![bytes]
        };
        Case { program, make: Box::new(make) }
    }

    /// So many records, column by column.
    pub fn records(&self, random: &mut Random, count: usize) -> Vec<Vec<u8>> {
        (self.make)(random, count)
    }
}

/// The monoids of the zoo: each catches what sums cannot.
pub fn of_the_zoo() -> Vec<Case> {
    let bicyclic = |r: &mut Random| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 };
    let small = |r: &mut Random| r.below(7) - 3;
    let affine = |r: &mut Random| (r.below(2) as f64 * 2.0 - 1.0, r.below(9) as f64 - 4.0);
    vec![
        Case::of_states(move |r, _| bicyclic(r)),
        Case::of_states(move |r, _| Unitriangular { a: small(r), b: small(r), corner: small(r) }),
        Case::of_states(|_, i| Interval { empty: false, start: i as u32, end: i as u32 + 1, broken: 0 }),
        Case::of_states(|r, _| Matrix { m: invertible::<2>(r) }),
        Case::of_states(|r, _| Matrix { m: invertible::<3>(r) }),
        Case::of_states(|r, _| Modular {
            m: std::array::from_fn(|_| std::array::from_fn(|_| r.below(PRIME as usize) as u64)),
        }),
        Case::of_states(|r, _| Hash { hash: r.below(256) as u64, power: 1_000_003 }),
        Case::of_states(|r, i| ArgMax { value: r.below(5) as i16, place: i as u32 }),
        Case::of_states(move |r, _| Segmented { start: r.chance(9), value: bicyclic(r) }),
        Case::of_states(move |r, _| Segmented {
            start: r.chance(20),
            value: Segmented { start: r.chance(5), value: bicyclic(r) },
        }),
        Case::of_states(|r, _| Carry { generate: r.chance(40), propagate: !r.chance(8) }),
        Case::of_states(|r, _| {
            let is_word = !r.chance(3);
            Words { any: true, first: is_word, last: is_word, count: u32::from(is_word) }
        }),
        Case::of_states(|r, _| {
            let time = r.below(1 << 16) as u16;
            Gaps { any: true, ascending: true, first: time, last: time, widest: 0 }
        }),
        Case::of_states(|r, _| Wide { sums: std::array::from_fn(|_| r.bits()) }),
        Case::of_states(|r, _| StateMap::<5> { to: std::array::from_fn(|_| r.below(5) as u8) }),
        Case::of_states(|r, _| StateMap::<16> { to: std::array::from_fn(|_| r.below(16) as u8) }),
        Case::of_states(move |r, _| {
            let (a, b) = affine(r);
            Affine { a, b }
        }),
        Case::of_states(move |r, _| {
            let (a, b) = affine(r);
            Affine { a: a as f32, b: b as f32 }
        }),
        Case::of_states(|r, _| *r.pick(&[Switch::Off, Switch::Unset, Switch::Unset, Switch::On])),
    ]
}

/// A matrix whose determinant is odd: products of others soon are 0, which hides what came before.
fn invertible<const N: usize>(random: &mut Random) -> [[u32; N]; N] {
    let entry = |r: &mut Random, row: usize, column: usize| match row.cmp(&column) {
        std::cmp::Ordering::Less => r.bits() as u32,
        std::cmp::Ordering::Equal => r.bits() as u32 | 1,
        std::cmp::Ordering::Greater => r.bits() as u32 & !1,
    };
    std::array::from_fn(|row| std::array::from_fn(|column| entry(random, row, column)))
}

/// Programs for what kernels do in different ways: sizes of records and states, columns, cascades, outputs that filter, tables.
pub fn by_hand() -> Vec<Case> {
    let u32_pair = "input { size 8, align 4, u32 @ 0, u32 @ 4 }";
    let u32_columns = "input { size 4, align 4, u32 @ 0 }\n  input { size 4, align 4, u32 @ 0 }";
    let mixed_columns = "input { size 1, align 1, u8 @ 0 }\n  input { size 3, align 1, u8 @ 1 }";
    let written = [
        sum("i32", 4),
        sum("u8", 1),
        sum("u16", 2),
        sum("u64", 8),
        recurrence("u32", u32_pair, "{ size 4, align 4, u32 @ 0 }"),
        recurrence("u32", u32_columns, "{ size 4, align 4, u32 @ 0 }"),
        recurrence("u8", mixed_columns, "{ size 1, align 1, u8 @ 0 }"),
        unitriangular("u8", 1),
        unitriangular("u16", 2),
        unitriangular("u32", 4),
        unitriangular("u64", 8),
        PADDED.into(),
        BRACKETS.into(),
        KEPT_SUMS.into(),
        SELECTED.into(),
        KEPT_IN_VAIN.into(),
        KEPT_STATES.into(),
        KEPT_STATES.replace("kept_states", "kept_states_after").replace("before.0.0", "after.0.0"),
        KEPT_BY_NEXT.into(),
        KEPT_EARLY.into(),
        KEPT_COLUMNS.into(),
        KEPT_RUNS.into(),
        KEPT_ENDS.into(),
        KEPT_PLACES.into(),
        KEPT_GAPS.into(),
        KEPT_TWICE.into(),
        // Both components are places of the last odd byte, which the filter does not ask for.
        KEPT_TWICE.replace("kept_twice", "kept_alike").replace("select.u64 %3", "select.u64 %6"),
        CASCADE.into(),
        NEIGHBOURS.into(),
        LOOKED_UP.into(),
    ];
    let readable = readable::all().into_iter().map(Case::of_bytes);
    let lexer = |rules| LexerTables::new(&Rules::parse(rules).expect("the rules parse")).expect("a lexer");
    // The maps of CSV have ids that are composed by a table.
    let lexers = [lexer(JSON).program(), lexer(JSON).token_program(), lexer(CSV).program()].map(Case::of_text);
    let written = written.iter().map(|source| Case::parsed(source));
    let of_text = with_an_oracle().chain(of_patterns());
    written.chain(readable).chain(lexers).chain(of_text).chain(of_automata()).chain(of_bytes()).collect()
}

/// Loops whose replay is the loop's own step, over columns of small numbers; and one of text, an automaton and a sum, whose second
/// fold leaves the replay a number of each byte.
pub fn of_loops() -> Vec<Case> {
    let program = |scan: &monoscan::DynScan| {
        let program = scan.program().clone();
        let sizes: Vec<usize> = program.inputs.iter().map(|layout| layout.size as usize).collect();
        let make = move |random: &mut Random, count: usize| {
            let mut column = |size: usize| -> Vec<u8> {
                (0..count).flat_map(|_| (random.below(40) as i64 - 20).to_le_bytes()[..size].to_vec()).collect()
            };
            sizes.iter().map(|&size| column(size)).collect()
        };
        Case { program, make: Box::new(make) }
    };
    let bucket = scan!(|t: i32, fill: i32, take: i32| -> i32 { ((t + fill).min(50) - take).max(0) });
    let bucket = Scan::from_loop(bucket, 7).expect("it is a clamp");
    let best = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { ((s.0 + x).max(0), s.1.max(s.0 + x)) });
    let best = Scan::loop_builder(best, (3, 5)).output(scan!(|s: (i32, i32)| -> i32 { s.1 - s.0 })).build();
    let volume =
        scan!(|v: i16, up: i16, down: i16| -> i16 { v.saturating_add(up).min(100).saturating_sub(down).max(-9) });
    let volume = Scan::from_loop(volume, 1).expect("it is a clamp");
    let of_numbers = [bucket.as_dyn(), best.expect("two levels").as_dyn(), volume.as_dyn()].map(program);
    of_numbers.into_iter().chain([depth()]).collect()
}

/// The depth of JSON: an automaton, and the sum of a number that it has of each byte.
fn depth() -> Case {
    let step = scan!(|s: (bool, bool, i32), c: u8| -> (bool, bool, i32) {
        let quote = c == b'"' && !s.1;
        let opens = if c == b'{' || c == b'[' { 1 } else { 0 };
        let closes = if c == b'}' || c == b']' { 1 } else { 0 };
        (s.0 ^ quote, c == b'\\' && s.0 && !s.1, if s.0 { s.2 } else { s.2 + opens - closes })
    });
    let output = scan!(|s: (bool, bool, i32)| -> i32 { s.2 });
    let depth = Scan::loop_builder(step, (false, false, 0)).output(output).build().expect("two levels");
    Case::of_text(depth.as_dyn().program().clone())
}

/// The tables of rules that come with monoscan.
fn tables(name: &str) -> LexerTables {
    let rules = RULE_SETS.into_iter().find(|(own, _)| *own == name).expect("it comes with monoscan").1;
    LexerTables::new(&Rules::parse(rules).expect("they parse")).expect("they fit")
}

/// The scans of lexers of more rule sets: oracles, and those that label and list what these give, if a symbol is a byte.
pub fn of_rule_sets() -> Vec<Case> {
    let of_set = |name| {
        let tables = tables(name);
        let [labels, tokens] = [tables.program(), tables.token_program()];
        let has_bytes = labels.inputs[0].size == 1;
        let second = [labels, tokens].into_iter().filter(move |_| has_bytes).map(Case::of_bytes);
        tables.oracle_program().map(Case::of_text).into_iter().chain(second)
    };
    ["csv", "ini", "sql", "c", "c-preprocessor"].into_iter().flat_map(of_set).collect()
}

/// The scans of lexers that read a text from its end first, by pairs of symbols and by symbols.
fn with_an_oracle() -> impl Iterator<Item = Case> {
    let (log, url) = (tables("log"), tables("url"));
    let oracle = Case::of_text(log.oracle_program().expect("they look ahead"));
    [oracle].into_iter().chain([log.token_program(), url.program()].map(Case::of_bytes))
}

/// All matches of patterns: of words, of such as look at what follows, and of such with maps of several vectors.
fn of_patterns() -> impl Iterator<Item = Case> {
    let set = |patterns: &[&str]| PatternSet::new(patterns).expect("they are small");
    let ahead = set(&["(?m:^)ab|b(?m:$)", r"\bab\b", "a$"]);
    let many = set(&[r"a[ab]{4}\b", "b{3}$"]);
    assert!(ahead.states() <= 16 && many.states() > 32, "{} and {}", ahead.states(), many.states());
    let places = [set(&["a+b", "[ab]{2}"]).program(), ahead.program(), many.program()];
    places.into_iter().chain([ahead.column_program(), many.column_program()]).enumerate().map(|(number, program)| {
        let program = program.expect("no more than 256 states").into_inner();
        let name = format!("patterns_{number}");
        let program = verify(Program { name, ..program }).expect("it was verified");
        let make = |random: &mut Random, count| vec![(0..count).map(|_| *random.pick(b"aaabbb \n")).collect()];
        Case { program, make: Box::new(make) }
    })
}

/// A program with the functions that take many instructions. Their bits are summed: they are the same everywhere, but for
/// those of NaN.
pub fn of_expansions() -> Case {
    #[scan_fn]
    fn bits(x: f64) -> u32 {
        let bits = x.to_bits();
        if x.is_nan() { 1 } else { (bits >> 32) as u32 ^ bits as u32 }
    }

    #[scan_fn]
    fn single(x: f32) -> u32 {
        if x.is_nan() { 1 } else { x.to_bits() }
    }

    #[scan_fn]
    fn lift(x: f64, y: f32, n: i32, byte: u8) -> Sum<u32> {
        const FACTORS: [[i32; 3]; 2] = [[1, -1, 2], [i32::MAX, i32::MIN, 3]];
        let doubles = bits(x.sin()) ^ bits(x.tan()) ^ bits(x.exp_m1()) ^ bits(x.ln_1p()) ^ bits(x.abs().powf(1.25));
        let singles = single(y.cos()) ^ single(y.powf(-0.75)) ^ single(y.powi(-3)) ^ single(f32::from(byte).ln_1p());
        let factor = FACTORS[byte.is_ascii_alphabetic() as usize][(byte % 3) as usize];
        let whole = n.saturating_mul(factor) as u32 ^ u32::from(byte | 1).ilog10() ^ (byte | 1).ilog2();
        Sum(doubles ^ singles.rotate_left(7) ^ whole)
    }
    let scan = Scan::<Sum<u32>>::builder().lift(lift {}).build().expect("a sum");
    Case::of_bytes(scan.as_dyn().program().clone())
}

/// Automata whose maps have ids, have them for some symbols, have none, or are words; and of maps in two vectors.
fn of_automata() -> Vec<Case> {
    let parsed =
        |name, maps: &Maps, by_index, lanes: &[u8]| readable::parse(&automata::program(name, maps, by_index, lanes));
    let turning = |random: &mut Random, count: usize| {
        let byte = |_| {
            let most = if random.chance(20) { 256 } else { 128 };
            random.below(most) as u8
        };
        vec![(0..count).map(byte).collect()]
    };
    let two_vectors =
        |name, next| Case::of_text(readable::parse(&automata::of_two_vectors(name, &automata::with_parity(next))));
    let [of_tokens, of_numbers] = [json::tokens, json::numbers].map(automata::of_moves);
    let turns = parsed("automaton_that_turns", &automata::that_turn(), false, &[0]);
    vec![
        Case::of_text(parsed("automaton_of_tokens", &of_tokens, false, &[0])),
        Case::of_text(parsed("automaton_of_numbers", &of_numbers, false, &[0])),
        Case::of_text(parsed("automaton_of_two_lanes", &of_numbers, false, &[5, 1])),
        Case::of_text(parsed("automaton_of_three_lanes", &of_numbers, false, &[0, 1, 2])),
        two_vectors("automaton_of_odd_tokens", json::tokens),
        two_vectors("automaton_of_odd_numbers", json::numbers),
        Case { program: turns, make: Box::new(turning) },
        Case::of_bytes(parsed("automaton_at_random", &automata::at_random(16), false, &[0])),
        Case::of_bytes(parsed("automaton_of_eight_states", &automata::at_random(8), false, &[0])),
        Case::of_bytes(parsed("automaton_of_five_states", &automata::at_random(5), false, &[1])),
        Case::of_bytes(parsed("automaton_of_four_states", &automata::at_random(4), false, &[0])),
        Case::of_bytes(parsed("automaton_by_index", &of_numbers, true, &[0])),
        Case::parsed(&automata::of_other_sources("automaton_of_sums", "after.0.0")),
        Case::parsed(&automata::of_other_sources("automaton_of_a_parameter", "parameter.0")),
        Case::parsed(&automata::of_floats("automaton_of_floats", 5)),
        Case::parsed(&automata::of_floats("automaton_of_many_floats", 16)),
    ]
}

/// The scans of the algorithms that run on a device. Neighbours are often equal. Of moments all numbers of a key are equal,
/// so that means are exact.
pub fn of_algorithms() -> Vec<Case> {
    let case = |program: Verified<Program>| {
        let sizes: Vec<usize> = program.inputs.iter().map(|layout| layout.size as usize).collect();
        let of_moments = program.inputs.last().is_some_and(|layout| layout.fields[0].ty == Type::F64);
        let make = move |random: &mut Random, count: usize| {
            let mut column = |size: usize| -> Vec<u8> {
                let (mut record, mut one_of) = (random.bytes(size), 1 + random.below(9));
                let mut next = |_| {
                    if random.chance(one_of) {
                        record = random.bytes(size);
                        record[1..].fill(0);
                    }
                    if random.chance(200) {
                        one_of = 1 + random.below(60);
                    }
                    record.clone()
                };
                (0..count).flat_map(&mut next).collect()
            };
            let mut columns: Vec<Vec<u8>> = sizes.iter().map(|&size| column(size)).collect();
            if let (true, [keys, floats]) = (of_moments, &mut columns[..]) {
                let keys = keys.chunks_exact(size_of::<u32>()).map(|key| f64::from(key[0]));
                *floats = keys.flat_map(f64::to_ne_bytes).collect();
            }
            columns
        };
        Case { program, make: Box::new(make) }
    };
    monoscan::algo::on_gpu::programs().expect("they are scans").into_iter().map(case).collect()
}

/// Programs of bytes. Most records are of those bytes that leave much of what came before.
pub fn of_bytes() -> Vec<Case> {
    let case = |(source, bytes): (String, &'static [u8])| {
        let program = readable::parse(&source);
        let columns = program.inputs.len();
        let byte = move |random: &mut Random| if random.chance(9) { random.bits() as u8 } else { *random.pick(bytes) };
        let column = move |random: &mut Random, count: usize| (0..count).map(|_| byte(random)).collect();
        Case { program, make: Box::new(move |random, count| (0..columns).map(|_| column(random, count)).collect()) }
    };
    bytes::programs().into_iter().map(case).collect()
}

/// Random programs whose records alone say which are kept.
pub fn marked_cases(seeds: std::ops::Range<u64>) -> Vec<Case> {
    seeds.map(|seed| Case::of_bytes(marked::program(seed))).collect()
}

/// Random programs: in turn ones of one to three stages, some of which filter, and plain ones.
pub fn random_cases(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let options = Options::cascades();
    let program = |seed| match seed % 2 {
        0 => random_program(seed, &options),
        _ => plain_program(seed),
    };
    seeds.map(|seed| Case::of_bytes(verify(program(seed)).expect("random programs verify"))).collect()
}

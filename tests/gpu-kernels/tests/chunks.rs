//! Transducers over chunks in the emulator, against a plain loop: all kinds of symbols and outputs,
//! columns at any address, tables in shared memory and outside.

use monoscan_codegen::gpu::{
    Arch, CHUNK_STEP, CHUNK_WINDOW, CHUNK_WINDOWS, ChunkTables, StateTable, Transducer, UNUSED_STATE,
};
use monoscan_codegen::nvptx::{ChunkKernel, ChunkPass, ChunkSymbols, ChunksArguments, HelperIr, TableIn};
use scan_emulator::{Device, Kernel, Launch};
use scan_kit::Random;

/// One whose symbols lead to few states each.
fn transducer(random: &mut Random, symbols: ChunkSymbols, output: usize) -> Transducer {
    let classes = symbols == ChunkSymbols::ClassesFromEnd;
    let states = *random.pick(&[1, 2, 7, 16, 40, 100, 300]);
    let count = if symbols == ChunkSymbols::Words { 300 } else { 1 + random.below(40) };
    let many = *random.pick(&[1, 4, 10, 28]);
    let (mut next, mut outputs) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let image: Vec<u16> = (0..1 + random.below(many)).map(|_| random.below(states) as u16).collect();
        // Some symbols leave states alone.
        let (stays, kept) = (random.chance(3), random.below(8));
        for state in 0..states {
            next.push(if stays && state < kept { state as u16 } else { *random.pick(&image) });
            outputs.push(random.below(output) as u16);
        }
    }
    let class_of = classes.then(|| std::array::from_fn(|_| random.below(count) as u8));
    Transducer { class_of, states, symbols: count, next, output: outputs }
}

/// The results, by a loop.
fn walked(of: &Transducer, found: &[usize]) -> Vec<u16> {
    let mut state = 0;
    let step = |&found: &usize| {
        let cell = of.class_of.map_or(found, |classes| usize::from(classes[found])) * of.states + state;
        state = usize::from(of.next[cell]);
        of.output[cell]
    };
    if of.class_of.is_none() {
        return found.iter().map(step).collect();
    }
    let mut outputs: Vec<u16> = found.iter().rev().map(step).collect();
    outputs.reverse();
    outputs
}

fn bytes_of(numbers: impl IntoIterator<Item = u16>, size: usize) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| number.to_le_bytes().into_iter().take(size)).collect()
}

struct Case {
    kernel: ChunkKernel,
    seed: u64,
}

fn launch(device: &mut Device, case: Case, table: &StateTable, arguments: &ChunksArguments, to: usize) {
    let planned = case.kernel;
    let kernel = ChunkKernel::planned(planned.pass, planned.symbols, planned.most_states, (table, Arch::Sm90));
    let kernel = ChunkKernel { table_in: planned.table_in, threads: planned.threads, ..kernel };
    let shared_bytes = kernel.shared_bytes(table.bytes.len());
    let kernel = Kernel::compile(&kernel.emulated(), "scan").unwrap();
    let launch = Launch {
        blocks: to as u32,
        threads: planned.threads as u32,
        shared_bytes,
        args: bytemuck::bytes_of(arguments),
        seed: case.seed,
        ..Launch::default()
    };
    kernel.launch(device, &launch).unwrap();
}

fn check(seed: u64, symbols: ChunkSymbols, pass: ChunkPass, long: bool) {
    let mut random = Random(seed);
    let output_bytes = if pass == ChunkPass::ToBytes { 1 } else { 2 };
    let (of, tables) = loop {
        let of = transducer(&mut random, symbols, if output_bytes == 1 { 256 } else { 1000 });
        if let Some(tables) = ChunkTables::of(&of) {
            break (of, tables);
        }
    };
    let records: usize = *random.pick(&[1, 31, 63, 64, 65, 127, 128, 129, 500, 2100, 4300, 4340]);
    let chunk = CHUNK_STEP * *random.pick(&[1, 1, 2, 3]);
    let (records, threads) = if long { (3 * 32 * CHUNK_STEP + 1000, 32) } else { (records, *random.pick(&[32, 64])) };
    let below = if of.class_of.is_some() { 256 } else { of.symbols };
    let found: Vec<usize> = (0..records).map(|_| random.below(below)).collect();
    // Of three texts, one and its outputs are not at whole pieces.
    let shifted = seed / 2 % 3 == 2;
    let blocks = if long { 1 } else { 1 + random.below(2) };
    Line { of, tables, symbols, pass, chunk, threads, blocks, shifted }.check(seed, &mut random, &found);
}

/// A transducer over the chunks of a line.
struct Line {
    of: Transducer,
    tables: ChunkTables,
    symbols: ChunkSymbols,
    pass: ChunkPass,
    chunk: usize,
    threads: usize,
    blocks: usize,
    shifted: bool,
}

impl Line {
    /// Compares outputs with those of the loop. Gives how many states each chunk's range has, in the order in which chunks are read.
    fn check(&self, seed: u64, random: &mut Random, found: &[usize]) -> Vec<usize> {
        let Line { of, tables, symbols, pass, chunk, threads, blocks, shifted } = self;
        let (symbols, pass, chunk, threads, records) = (*symbols, *pass, *chunk, *threads, found.len());
        let output_bytes = if pass == ChunkPass::ToBytes { 1 } else { 2 };
        let expected = bytes_of(walked(of, found), output_bytes);
        let size = if symbols == ChunkSymbols::Words { 2 } else { 1 };
        let found = bytes_of(found.iter().map(|&found| found as u16), size);
        let shift = |random: &mut Random| if *shifted { random.below(16) & !1 } else { 0 };
        let table_in = match random.below(3) {
            0 => TableIn::Device,
            1 if tables.walk.bytes.len() < 16 << 10 => TableIn::EachBank,
            _ => TableIn::Shared,
        };

        let mut device = Device::new();
        let chunks = records.div_ceil(chunk);
        let input = device.buffer_shifted(&found, shift(random));
        let output = device.buffer_shifted(&vec![0xa5; expected.len()], shift(random));
        let [next, walk] = [&tables.next, &tables.walk].map(|table| device.buffer(&table.bytes));
        let images: Vec<u8> = tables.images.iter().flat_map(|image| image.to_le_bytes()).collect();
        let (images, members) = (device.buffer(&images), device.buffer(&bytes_of(tables.members.iter().copied(), 2)));
        let ranges = device.buffer(&vec![0x11; 2 * tables.most_states * chunks]);
        let maps = device.buffer(&vec![0x11; tables.most_states * chunks]);
        let list = device.buffer(&vec![0; ChunksArguments::LISTED + 4 * chunks]);
        let mut arguments = ChunksArguments {
            records: records as u64,
            chunk: chunk as u64,
            input: device.address(input),
            table: device.address(next),
            table_bytes: tables.next.bytes.len() as u64,
            row: tables.next.row as u64,
            images: device.address(images),
            members: device.address(members),
            symbols: tables.symbols as u64,
            depth: tables.depth as u64,
            ranges: device.address(ranges),
            maps: device.address(maps),
            begins: 0,
            output: device.address(output),
            list: device.address(list),
        };
        let kernel = |pass| ChunkKernel {
            pass,
            symbols,
            most_states: tables.most_states,
            wide: false,
            table_in,
            threads,
            blocks: 1,
        };
        for pass in [ChunkPass::Ranges, ChunkPass::Maps] {
            launch(&mut device, Case { kernel: kernel(pass), seed }, &tables.next, &arguments, *blocks);
        }
        let composed = device.read(maps);
        let mut begin = 0u8;
        let mut next = |map: &[u8]| {
            let led = map[usize::from(begin)];
            std::mem::replace(&mut begin, led)
        };
        let begins: Vec<u8> = composed.chunks(tables.most_states).map(&mut next).collect();
        let begins = device.buffer(&begins);
        arguments = ChunksArguments {
            begins: device.address(begins),
            table: device.address(walk),
            table_bytes: tables.walk.bytes.len() as u64,
            row: tables.walk.row as u64,
            ..arguments
        };
        launch(&mut device, Case { kernel: kernel(pass), seed }, &tables.walk, &arguments, *blocks);
        assert_eq!(device.read(list)[..4], [0; 4], "seed {seed}: the list is empty again");
        assert_eq!(device.read(output), expected, "seed {seed}: {symbols:?} {pass:?}, {records} by {chunk}");
        let states = |range: &[u8]| range.chunks(2).filter(|&state| state != UNUSED_STATE.to_le_bytes()).count();
        device.read(ranges).chunks(2 * tables.most_states).map(states).collect()
    }
}

#[test]
fn chunks_give_what_a_loop_gives() {
    for seed in 0..24 {
        for symbols in [ChunkSymbols::ClassesFromEnd, ChunkSymbols::Bytes, ChunkSymbols::Words] {
            check(seed, symbols, if seed % 2 == 0 { ChunkPass::ToBytes } else { ChunkPass::ToWords }, false);
        }
    }
}

/// Two states stay apart, or change places, until a symbol leads both to one.
fn rarely_together(symbols: ChunkSymbols) -> Transducer {
    let maps = [[0, 1, 0], [1, 0, 1], [0, 0, 0]];
    let class_of = (symbols == ChunkSymbols::ClassesFromEnd).then(|| std::array::from_fn(|byte| byte as u8 % 3));
    let output = (0..9).map(|cell| 7 * cell).collect();
    Transducer { class_of, states: 3, symbols: 3, next: maps.concat(), output }
}

#[test]
fn ranges_of_several_states_are_looked_for_farther_away() {
    let (mut of_one, mut of_several) = ([0; CHUNK_WINDOWS], 0);
    for seed in 0..36 {
        let mut random = Random(seed);
        let symbols = [ChunkSymbols::ClassesFromEnd, ChunkSymbols::Bytes, ChunkSymbols::Words][seed as usize % 3];
        let (of, records) = (rarely_together(symbols), 3000 + random.below(200));
        let is_read_from_end = of.class_of.is_some();
        let found: Vec<usize> =
            (0..records).map(|_| if random.below(100) == 0 { 2 } else { random.below(2) }).collect();
        let (tables, chunk) = (ChunkTables::of(&of).unwrap(), CHUNK_STEP * (1 + random.below(2)));
        let pass = if seed % 2 == 0 { ChunkPass::ToBytes } else { ChunkPass::ToWords };
        let line = Line { of, tables, symbols, pass, chunk, threads: 32, blocks: 1, shifted: seed % 4 > 1 };
        let states = line.check(seed, &mut random, &found);
        let mut read = found;
        if is_read_from_end {
            read.reverse();
        }
        // The first chunk in memory begins at a multiple, whichever is read first.
        let first = if is_read_from_end { (records - 1) % chunk + 1 } else { chunk };
        for (number, &states) in states.iter().enumerate() {
            let before = if number == 0 { 0 } else { first + (number - 1) * chunk };
            let windows = (before / CHUNK_WINDOW).min(CHUNK_WINDOWS);
            let window = |of: usize| &read[before - (of + 1) * CHUNK_WINDOW..before - of * CHUNK_WINDOW];
            match (0..windows).find(|&of| window(of).contains(&2)) {
                Some(of) => {
                    of_one[of] += 1;
                    assert_eq!(states, 1, "seed {seed}, chunk {number}: symbol 2 is in window {of}");
                }
                None if windows == 0 => assert_eq!(states, 1, "seed {seed}, chunk {number}: the text begins there"),
                None => {
                    of_several += 1;
                    assert_eq!(states, 2, "seed {seed}, chunk {number}: symbol 2 is in no window");
                }
            }
        }
    }
    let least = of_one.into_iter().chain([of_several]).min();
    assert!(least > Some(50), "{of_one:?} of one state, by windows; {of_several} of two");
}

#[test]
fn threads_take_more_than_one_chunk() {
    check(3, ChunkSymbols::Bytes, ChunkPass::ToBytes, true);
}

#[test]
fn every_architecture_has_the_kernels_over_chunks() {
    for arch in Arch::ALL {
        let (pass, table_in) = (ChunkPass::Maps, TableIn::Shared);
        let (symbols, threads, blocks) = (ChunkSymbols::Words, 256, 4);
        let kernel = ChunkKernel { pass, symbols, most_states: 32, wide: true, table_in, threads, blocks };
        let ptx = HelperIr::over_chunks(kernel, arch).compile().unwrap();
        assert!(ptx.contains(".visible .entry scan("));
    }
}

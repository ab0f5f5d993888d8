//! The block of bytes that a kernel takes, as [`Arguments`] lays it out.

use std::borrow::Cow;
use std::time::Duration;

use monoscan_codegen::gpu::Arguments;
use monoscan_ir::Constant;
use smallvec::SmallVec;

use super::kernel::Launch;

/// The arguments of most kernels fit here.
pub(super) type Block = SmallVec<[u8; 256]>;

/// The arguments of a launch, with the addresses of its workspace and of where totals go.
pub(super) fn pack(layout: &Arguments, launch: &Launch<'_>, workspace: u64, totals: u64, limit: Duration) -> Block {
    let mut block = Block::from_elem(0, layout.bytes());
    let mut put = |offset: usize, word: u64| block[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
    put(Arguments::RECORDS, launch.span.records as u64);
    put(Arguments::WORKSPACE, workspace);
    put(Arguments::TOTAL, totals);
    put(Arguments::TIMEOUT, u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    put(Arguments::CAPACITY, launch.capacity as u64);
    put(Arguments::REVERSED, u64::from(launch.reversed));
    put(Arguments::ROWS, launch.span.threads() as u64);
    put(Arguments::PITCH, launch.span.pitch as u64);
    put(Arguments::STEP, launch.span.step as u64);
    put(Arguments::STATES_OF_ROWS, launch.states_of_rows);
    put(Arguments::CHUNK, launch.span.chunk as u64);
    for (place, &address) in launch.columns.iter().enumerate() {
        put(layout.column(place), address);
    }
    let states =
        [(layout.start(), launch.start), (layout.init(), launch.init)].map(|(at, state)| (at, &layout.states, state));
    for (at, layout, values) in states.into_iter().chain([(layout.parameters(), &layout.parameters, launch.parameters)])
    {
        layout.write_to(values, &mut block[at..at + layout.size as usize]);
    }
    block
}

/// The states of rows, of each the start and the initial state, as kernels find them.
pub(super) fn states_of_rows<'s>(
    layout: &Arguments,
    states: impl Iterator<Item = [Cow<'s, [Constant]>; 2]>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for state in states.flatten() {
        bytes.extend(layout.states.to_bytes(&state));
        bytes.resize(bytes.len().next_multiple_of(layout.init() - layout.start()), 0);
    }
    bytes
}

/// The states that a kernel left, one behind the other.
pub(super) fn unpack(layout: &Arguments, bytes: &[u8]) -> Vec<Constant> {
    let (states, fields) = (bytes.chunks_exact(layout.states.size.max(1) as usize), &layout.states.fields);
    // There may be millions of them.
    let mut constants = Vec::with_capacity(states.len() * fields.len());
    for state in states {
        constants.extend(fields.iter().map(|field| Constant::from_bytes(field.ty, &state[field.offset as usize..])));
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernel::Span;
    use monoscan_ir::{Layout, Type};

    fn word(block: &[u8], offset: usize) -> u64 {
        u64::from_le_bytes(block[offset..offset + 8].try_into().unwrap())
    }

    #[test]
    fn every_argument_is_at_its_place() {
        let states = Layout::packed(&[Type::U64, Type::Bool, Type::F32]);
        let layout = Arguments { inputs: 2, outputs: 1, states, parameters: Layout::packed(&[Type::U16, Type::F32]) };
        let parameters = [Constant::from(3u16), Constant::from(0.5f32)];
        let start = [Constant::from(7u64), Constant::from(true), Constant::from(1.5f32)];
        let init = [Constant::from(9u64), Constant::from(false), Constant::from(-2f32)];
        let launch = Launch {
            span: Span { rows: 3, records: 1000, pitch: 1024, step: 2, chunk: 1000 },
            reversed: true,
            start: &start,
            init: &init,
            states_of_rows: 0xcc00,
            parameters: &parameters,
            columns: &[0x1000, 0x2001, 0x3002],
            capacity: 77,
            totals: true,
            totals_to: None,
        };
        let block = pack(&layout, &launch, 0xaa00, 0xbb00, Duration::from_secs(10));
        let numbers: Vec<u64> = (0..11).map(|place| word(&block, 8 * place)).collect();
        assert_eq!(numbers, [1000, 0xaa00, 0xbb00, 10_000_000_000, 77, 1, 3, 1024, 2, 0xcc00, 1000]);
        let columns: Vec<u64> = (0..3).map(|place| word(&block, 88 + 8 * place)).collect();
        assert_eq!(columns, [0x1000, 0x2001, 0x3002]);
        // Columns end at 112, where states begin; what is packed has its fields at multiples of their size.
        assert_eq!(layout.start(), 112);
        assert_eq!(unpack(&layout, &block[112..][..layout.states.size as usize]), start);
        assert_eq!(unpack(&layout, &block[layout.init()..][..layout.states.size as usize]), init);
        let at = layout.parameters();
        assert_eq!((&block[at..at + 2], &block[at + 4..at + 8]), (&3u16.to_le_bytes()[..], &0.5f32.to_le_bytes()[..]));
        assert_eq!(block.len(), layout.bytes());
        assert_eq!(word(&block, 112), 7);
        // A row's own states lie as those of the block do.
        let rows = [[&start, &init], [&init, &start]].map(|row| row.map(|state| Cow::Borrowed(&state[..])));
        let rows = states_of_rows(&layout, rows.into_iter());
        assert_eq!(rows.len(), 2 * layout.row_bytes());
        assert_eq!(rows[..layout.row_bytes()], block[layout.start()..layout.parameters()]);
        let second = &rows[layout.row_bytes() + layout.init() - layout.start()..];
        assert_eq!(unpack(&layout, &second[..layout.states.size as usize]), start);
    }

    #[test]
    fn times_without_end_are_the_longest_time() {
        let layout =
            Arguments { inputs: 0, outputs: 0, states: Layout::packed(&[Type::U8]), parameters: Layout::default() };
        let span = Span { rows: 1, records: 1, pitch: 0, step: 1, chunk: 1 };
        let launch = Launch {
            span,
            reversed: false,
            start: &[],
            init: &[],
            states_of_rows: 0,
            parameters: &[],
            columns: &[],
            capacity: 0,
            totals: false,
            totals_to: None,
        };
        assert_eq!(word(&pack(&layout, &launch, 0, 0, Duration::MAX), Arguments::TIMEOUT), u64::MAX);
    }
}

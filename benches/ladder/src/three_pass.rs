//! Three passes: kernels one after the other, and the end of each is where all blocks wait for each
//! other.
//!
//! | kernel | blocks | does |
//! |---|---|---|
//! | `reduce` | one for each tile | puts what the tile's records come to into the workspace |
//! | `carries` | one | replaces these by what is before each tile |
//! | `scan` | one for each tile | scans the tile from there |
//!
//! The first passes of this kind scanned in their first kernel and added the carries to what that
//! had written, which moves each record four times. Reducing first moves it three times, and runs
//! every program, since no state is written but the tiles'.

use super::block::Block;
use super::records::Records;
use super::{KernelArguments, Kit};
use monoscan_codegen::gpu::{Arguments, HEADER_BYTES};
use monoscan_codegen::nvptx::parts::{Ty, Value};
use monoscan_codegen::nvptx::parts::{get, set, variables};

/// About how many words of tile aggregates a thread of `carries` has in registers.
const WORDS_IN_HAND: usize = 8;

/// Writes `reduce`.
pub(super) fn reduce(args: KernelArguments<'_, '_>, kit: &Kit<'_>) {
    let (k, block) = (args.k, kit.block(args));
    let tile = k.block().resize(Ty::I64);
    let records = Records::load(&block, tile, kit.design.records, args.word(Arguments::RECORDS));
    let aggregate = block.scan(&records.fold(&block)).aggregate;
    k.when(block.thread.is(k.i32(0)), || {
        block.lanes.packing().store_shared(k, place(&block, tile), &aggregate);
    });
}

/// Writes `carries`.
pub(super) fn carries(args: KernelArguments<'_, '_>, kit: &Kit<'_>) {
    let (k, block) = (args.k, kit.block(args));
    let (lanes, packing) = (block.lanes, block.lanes.packing());
    let tile = kit.design.threads * kit.design.records;
    let tiles = (args.word(Arguments::RECORDS) + (tile - 1)).udiv(k.i64(tile));
    let each = (WORDS_IN_HAND / packing.words).max(1);
    let carry = variables(&lanes.recipe.start(args, 0));
    k.range(k.i64(0), tiles, k.i64(block.threads * each), |first| {
        let own = |tile: usize| first + block.thread.resize(Ty::I64) * each + tile;
        let load = |tile: usize| {
            let aggregate = variables(&lanes.identity());
            k.when(own(tile).below(tiles), || set(&aggregate, &packing.load_shared(k, place(&block, own(tile)))));
            get(&aggregate)
        };
        let aggregates: Vec<_> = (0..each).map(load).collect();
        let fold = aggregates[1..].iter().fold(aggregates[0].clone(), |fold, next| lanes.combine(&fold, next));
        let scanned = block.scan(&fold);
        let mut before = block.behind(&get(&carry), &scanned.before);
        for (tile, aggregate) in aggregates.iter().enumerate() {
            k.when(own(tile).below(tiles), || packing.store_shared(k, place(&block, own(tile)), &before));
            before = lanes.combine(&before, aggregate);
        }
        set(&carry, &lanes.combine(&get(&carry), &scanned.aggregate));
        k.barrier();
    });
    k.when(block.thread.is(k.i32(0)), || lanes.recipe.tell_total(args, 0, k.i64(0), &get(&carry)));
}

/// Writes `scan`.
pub(super) fn scan(args: KernelArguments<'_, '_>, kit: &Kit<'_>) {
    let (k, block) = (args.k, kit.block(args));
    let tile = k.block().resize(Ty::I64);
    let records = Records::load(&block, tile, kit.design.records, args.word(Arguments::RECORDS));
    let carry = block.lanes.packing().load_shared(k, place(&block, tile));
    let scanned = block.scan(&records.fold(&block));
    records.replay(block.behind(&carry, &scanned.before));
}

/// Where a tile's state is in the workspace.
fn place<'k>(block: &Block<'k, '_>, tile: Value<'k>) -> Value<'k> {
    let workspace = block.lanes.args.word(Arguments::WORKSPACE).as_global();
    workspace.at(HEADER_BYTES).byte(tile * block.lanes.packing().shared_bytes())
}

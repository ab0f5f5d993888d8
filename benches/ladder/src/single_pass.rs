//! One pass: blocks run at the same time, and find their carry in what the blocks before them
//! publish meanwhile.
//!
//! A tile publishes up to twice, in the same place: its aggregate, then its inclusive prefix. Which
//! of the two it is says the highest bit of the tag. Tiles are taken by ticket, so a tile waits
//! only for tiles that run.

use super::block::Block;
use super::records::Records;
use super::rung::Between;
use super::{KernelArguments, Kit};
use monoscan_codegen::gpu::Arguments;
use monoscan_codegen::nvptx::parts::TileStates;
use monoscan_codegen::nvptx::parts::ticket;
use monoscan_codegen::nvptx::parts::{State, select};
use monoscan_codegen::nvptx::parts::{Ty, Value, Var};
use monoscan_codegen::nvptx::parts::{get, set, variables};

/// How many of the tiles before it a tile looks at together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Window {
    /// One after the other, as a thread alone does.
    Thread,
    /// As many as a warp has lanes.
    Warp,
}

const LANES: usize = 32;
/// The bit of a tag that says that a state is an inclusive prefix. Other bits count launches, so a workspace is good for 2³¹ of them.
const PREFIX: i128 = 1 << 31;

/// Writes the kernel.
pub(super) fn scan(args: KernelArguments<'_, '_>, kit: &Kit<'_>) {
    let (k, block) = (args.k, kit.block(args));
    let (lanes, packing) = (block.lanes, block.lanes.packing());
    let tile = Tile::draw(block, kit);
    let records = Records::load(&block, tile.number.resize(Ty::I64), kit.design.records, tile.records);
    let scanned = block.scan(&records.fold(&block));
    let carried = block.base.at(kit.shared.carry);
    k.when((block.thread >> 5).is(k.i32(0)), || {
        let carry = match kit.design.between {
            Between::LookBack(window) => {
                k.when(lanes.is_first(), || tile.aggregates.publish(tile.number, &scanned.aggregate));
                tile.look_back(window)
            }
            _ => tile.wait(),
        };
        let prefix = lanes.combine(&carry, &scanned.aggregate);
        k.when(lanes.is_first(), || {
            tile.prefixes.publish(tile.number, &prefix);
            packing.store_shared(k, carried, &carry);
            let is_last = ((tile.number.resize(Ty::I64) + 1) * kit.tile()).at_least(tile.records);
            k.when(is_last, || lanes.recipe.tell_total(args, 0, k.i64(0), &prefix));
        });
    });
    k.barrier();
    records.replay(block.behind(&packing.load_shared(k, carried), &scanned.before));
}

/// The tile of a block.
struct Tile<'k, 'a> {
    block: Block<'k, 'a>,
    number: Value<'k>,
    /// Records of the line.
    records: Value<'k>,
    /// Where tiles publish, as aggregates and as prefixes.
    aggregates: TileStates<'k, 'a>,
    prefixes: TileStates<'k, 'a>,
}

impl<'k, 'a> Tile<'k, 'a> {
    /// Takes a ticket.
    fn draw(block: Block<'k, 'a>, kit: &Kit<'_>) -> Tile<'k, 'a> {
        let (lanes, k) = (block.lanes, block.lanes.k);
        let records = lanes.args.word(Arguments::RECORDS);
        let workspace = lanes.args.word(Arguments::WORKSPACE).as_global();
        let all = (records + (kit.tile() - 1)).udiv(k.i64(kit.tile()));
        let drawn = block.base.at(kit.shared.ticket);
        let ticket = ticket::draw(k, (block.thread, drawn), workspace, all, k.bool(false));
        let launch = ticket.launch & k.int(Ty::I32, PREFIX - 1);
        let slot_bytes = lanes.packing().tile_state_bytes();
        let tile_states = |tag| TileStates { lanes, workspace, tag, slot_bytes, offset: 0, base: k.i64(0) };
        Tile {
            block,
            number: ticket.number.resize(Ty::I32),
            records,
            aggregates: tile_states(launch),
            prefixes: tile_states(launch | k.int(Ty::I32, PREFIX)),
        }
    }

    /// Waits for the prefix of the tile before. Called by a warp, as is what follows.
    fn wait(&self) -> State<'k> {
        let (k, lanes) = (self.block.lanes.k, self.block.lanes);
        let carry = variables(&lanes.recipe.start(lanes.args, 0));
        k.when(self.number.is_not(k.i32(0)), || set(&carry, &self.prefixes.wait(self.number - 1)));
        get(&carry)
    }

    /// Adds up what the tiles before have published, window by window, back to a prefix.
    fn look_back(&self, window: Window) -> State<'k> {
        let (k, lanes) = (self.block.lanes.k, self.block.lanes);
        let carry = variables(&lanes.identity());
        let end = k.var(self.number);
        k.forever(|windows| {
            let (state, has_prefix) = match window {
                Window::Thread => self.read_one(end.get()),
                Window::Warp => self.read_window(end.get()),
            };
            set(&carry, &lanes.combine(&state, &get(&carry)));
            k.leave_if(windows, has_prefix);
            let passed = if window == Window::Warp { LANES } else { 1 };
            end.set(end.get() - passed);
        });
        get(&carry)
    }

    /// The state of the last tile before `end`, and whether it is a prefix.
    fn read_one(&self, end: Value<'k>) -> (State<'k>, Value<'k>) {
        let (k, lanes) = (self.block.lanes.k, self.block.lanes);
        let (state, is_prefix) = self.read(end + k.i32(LANES - 1), k.i32(LANES));
        // Lanes that read at other moments have seen other things. One lane's view is everybody's.
        let first = |word: Value<'k>| k.shuffle_from(word, k.i32(0));
        (lanes.packing().map(k, &state, first), first(is_prefix.resize(Ty::I32)).is_not(k.i32(0)))
    }

    /// The fold of the 32 tiles before `end` from the last prefix among them on, and whether there is one.
    fn read_window(&self, end: Value<'k>) -> (State<'k>, Value<'k>) {
        let (k, lanes) = (self.block.lanes.k, self.block.lanes);
        let (state, is_prefix) = self.read(end + lanes.lane, k.i32(LANES));
        let prefixes = k.ballot(is_prefix);
        let has_prefix = prefixes.is_not(k.i32(0));
        let last = has_prefix.select(k.i32(LANES - 1) - prefixes.math("ctlz", &[k.bool(false)]), k.i32(0));
        let counted = select(lanes.lane.at_least(last), &state, &lanes.identity());
        (lanes.fold(counted, |_| k.bool(true)), has_prefix)
    }

    /// Waits for what tile `place - shift` publishes, and says whether that is a prefix. Before the first tile is the line's start, which is one.
    fn read(&self, place: Value<'k>, shift: Value<'k>) -> (State<'k>, Value<'k>) {
        let (k, lanes) = (self.block.lanes.k, self.block.lanes);
        let packing = lanes.packing();
        let is_before = place.below(shift);
        let slot = self.prefixes.slot(is_before.select(k.i32(0), place - shift));
        let found: Vec<Var<'k>> = (0..packing.words).map(|_| k.unset(Ty::I32)).collect();
        let found_prefix = k.unset(Ty::BOOL);
        self.prefixes.until_ready(|| {
            let (words, tags) = packing.read(k, slot);
            set(&found, &words);
            let all = |tag: Value<'k>| tags.iter().fold(k.bool(true), |all, other| other.is(tag) & all);
            let (aggregate, prefix) = (all(self.aggregates.tag), all(self.prefixes.tag));
            found_prefix.set(prefix);
            aggregate | prefix | is_before
        });
        let start = lanes.recipe.start(lanes.args, 0);
        (select(is_before, &start, &packing.unpack(k, &get(&found))), found_prefix.get() | is_before)
    }
}

//! The work of the kernels on a chunk: find its range, lead its states on, write its outputs.

use super::super::argument;
use super::led::{Led, Step, half};
use super::{CHUNK_WINDOW, CHUNK_WINDOWS, Chunk, ChunksArguments, PIECE, four_of};
use crate::gpu::UNUSED_STATE;
use crate::nvptx::emit::{Ty, Value, Var};

/// How many states are led on together.
pub(super) const TOGETHER: usize = 2;

/// Two states that are none.
const UNUSED: usize = (UNUSED_STATE as usize) << 16 | UNUSED_STATE as usize;

impl<'k> Chunk<'k> {
    /// Where a chunk's range is.
    fn range(&self, number: Value<'k>) -> Value<'k> {
        argument!(self.k, ChunksArguments.ranges).as_global().byte(number * (2 * self.kernel.most_states))
    }

    /// The vectors of states of a range.
    fn vectors(&self) -> impl Iterator<Item = usize> + use<> {
        (0..2 * self.kernel.most_states).step_by(PIECE)
    }

    /// Finds the range. A chunk whose next one may begin in several states is listed; the others lead all to one.
    pub(super) fn find_range(&self, list: Value<'k>) {
        let k = self.k;
        let is_listed = k.var(k.bool(false));
        k.when(self.is_there, || {
            let map = self.map();
            (0..self.kernel.most_states).step_by(PIECE).for_each(|byte| map.at(byte).store(four_of(k.i32(0)), PIECE));
            let found = self.range_found();
            is_listed.set(found.at_least(k.i32(2)) & self.number.is_not(k.i64(0)));
        });
        let lanes = k.ballot(is_listed.get());
        let ones = |lanes: Value<'k>| lanes.math("ctpop", &[]);
        let place = k.var(k.i32(0));
        k.when(self.lane.is(k.i32(0)) & lanes.is_not(k.i32(0)), || place.set(k.atomic_add(list, ones(lanes))));
        let before = ones(lanes & ((k.i32(1) << self.lane) - 1));
        let place = (k.shuffle_from(place.get(), k.i32(0)) + before).resize(Ty::I64);
        k.when(is_listed.get() & place.below(self.count), || {
            let number = (self.number - 1).resize(Ty::I32);
            list.at(ChunksArguments::LISTED).byte(place * 4).store(number, 4);
        });
    }

    /// Finds the states of the range in the symbols before the chunk, or from the first state, if the text begins there. Gives how
    /// many they are. What is led on from farther away leads to some of the states that are found nearer. So where two are left, a
    /// symbol that leads to one is looked for in the window before. (More are seldom brought together there.)
    fn range_found(&self) -> Value<'k> {
        let (k, bytes) = (self.k, self.kernel.symbols.bytes());
        let range = self.alone(self.lane).at(CHUNK_WINDOW * bytes);
        let before = if self.is_from_end() { self.records - self.end() } else { self.begin };
        let loaded = before.umin(k.i64(CHUNK_WINDOW)).resize(Ty::I32);
        let [window, found] = [(); 2].map(|()| k.var(k.i32(0)));
        k.forever(|windows| {
            self.load_window(window.get(), loaded);
            let (image, behind) = self.image_found(window.get(), loaded);
            k.leave_if(windows, window.get().is_not(k.i32(0)) & (image & 0xff).is_not(k.i32(1)));
            found.set(self.led_on(image, (window.get(), behind), range));
            window.set(window.get() + 1);
            let has_window = before.at_least((window.get().resize(Ty::I64) + 1) * CHUNK_WINDOW);
            let is_asked = found.get().is(k.i32(TOGETHER)) & window.get().below(k.i32(CHUNK_WINDOWS));
            k.leave_if(windows, !(is_asked & has_window));
        });
        let to = self.range(self.number);
        self.vectors().for_each(|byte| to.at(byte).store(range.at(byte).load(Ty::Words(4), PIECE), PIECE));
        found.get()
    }

    /// The image of a symbol of a window, of one with few states, and how many symbols of the window are behind it; or that of the
    /// first state, before as many as are loaded if that is not all.
    fn image_found(&self, window: Value<'k>, loaded: Value<'k>) -> (Value<'k>, Value<'k>) {
        let k = self.k;
        let image_of = |symbol: Value<'k>| {
            argument!(self.k, ChunksArguments.images).as_global().byte(symbol * 4).load_constant(Ty::I32, 4)
        };
        // An image is where its states are, and in the low byte how many.
        let image = k.var(image_of(argument!(self.k, ChunksArguments.symbols).resize(Ty::I32)));
        let behind = k.var(loaded);
        k.when(loaded.is(k.i32(CHUNK_WINDOW)), || {
            image.set(k.i32(0xff));
            let depth = argument!(self.k, ChunksArguments.depth).resize(Ty::I32);
            let nearer = window * CHUNK_WINDOW;
            let piece = k.var(k.i32(0));
            k.repeat_while(
                || (image.get() & 0xff).at_least(k.i32(2)) & piece.get().below(k.i32(self.window_pieces())),
                || {
                    self.window_piece(piece.get(), false, &|symbol, distance| {
                        let (own, count) = (image_of(symbol), image.get() & 0xff);
                        // Of those that are led on together, what is farther away leaves fewer.
                        let is_farther = (own & 0xff).is(count) & count.is(k.i32(TOGETHER));
                        let is_better = (own & 0xff).below(count) | is_farther;
                        let is_taken = is_better & depth.below(nearer + distance);
                        image.set(is_taken.select(own, image.get()));
                        behind.set(is_taken.select(distance - 1, behind.get()));
                    });
                    piece.set(piece.get() + 1);
                },
            );
        });
        (image.get(), behind.get())
    }

    /// Leads the states of an image to the chunk, through so many symbols of a window and through the nearer windows. What they lead
    /// to becomes the range; gives how many that are.
    fn led_on(&self, image: Value<'k>, (window, behind): (Value<'k>, Value<'k>), range: Value<'k>) -> Value<'k> {
        let k = self.k;
        self.vectors().for_each(|byte| range.at(byte).store(four_of(k.i32(UNUSED)), PIECE));
        let (count, first) = (image & 0xff, image >> 8);
        let found = k.var(k.i32(0));
        k.range(k.i32(0), count, k.i32(TOGETHER), |place| {
            let member = |number: usize| {
                let place = first + (place + number).umin(count - 1);
                argument!(self.k, ChunksArguments.members).as_global().byte(place * 2).load_constant(Ty::Int(16), 2)
            };
            let states = self.states(|number| member(number).resize(Ty::I32));
            let (window, behind) = (k.var(window), k.var(behind));
            k.forever(|windows| {
                let through = behind.get();
                let pieces = (through + (self.symbols_of_piece() - 1)) >> self.symbols_of_piece().ilog2() as usize;
                k.range(k.i32(0), pieces, k.i32(1), |place| {
                    self.window_piece(pieces - 1 - place, true, &|symbol, distance| {
                        let is_led = through.at_least(distance);
                        for state in states {
                            state.set(is_led.select(self.next(state.get(), symbol), state.get()));
                        }
                    });
                });
                k.leave_if(windows, window.get().is(k.i32(0)));
                // The image of a window but the first has one state, so none of this window is read again.
                window.set(window.get() - 1);
                behind.set(k.i32(CHUNK_WINDOW));
                self.load_window(window.get(), k.i32(CHUNK_WINDOW));
            });
            for state in states {
                let is_known = k.var(k.bool(false));
                k.range(k.i32(0), found.get(), k.i32(1), |known| {
                    let known = range.byte(known * 2).load(Ty::Int(16), 2).resize(Ty::I32);
                    is_known.set(is_known.get() | known.is(state.get()));
                });
                k.when(!is_known.get() & found.get().below(k.i32(self.kernel.most_states)), || {
                    range.byte(found.get() * 2).store(state.get().resize(Ty::Int(16)), 2);
                    found.set(found.get() + 1);
                });
            }
        });
        found.get()
    }

    fn symbols_of_piece(&self) -> usize {
        PIECE / self.kernel.symbols.bytes()
    }

    fn window_pieces(&self) -> usize {
        CHUNK_WINDOW / self.symbols_of_piece()
    }

    /// The symbols of a piece of the window, and how far before the chunk each is: those that are read last are in piece 0.
    fn window_piece(&self, piece: Value<'k>, in_order: bool, step: &dyn Fn(Value<'k>, Value<'k>)) {
        let (k, length) = (self.k, self.symbols_of_piece());
        let place = if self.is_from_end() { piece } else { k.i32(self.window_pieces() - 1) - piece };
        let symbols = self.symbols_at(self.alone(self.lane).byte(place * PIECE));
        for number in 0..length {
            let nearness = if in_order { length - 1 - number } else { number };
            let place = if self.is_from_end() { nearness } else { length - 1 - nearness };
            step(symbols[place], piece * length + (nearness + 1));
        }
    }

    /// Copies so many symbols of a window before the chunk: all of it, or, from the end, all before the last chunk.
    fn load_window(&self, window: Value<'k>, count: Value<'k>) {
        let (k, bytes) = (self.k, self.kernel.symbols.bytes());
        let to = self.alone(self.lane);
        let nearer = window.resize(Ty::I64) * CHUNK_WINDOW;
        let first = if self.is_from_end() { self.end() + nearer } else { self.begin - CHUNK_WINDOW - nearer };
        let from = self.input().byte(first * bytes);
        let is_aligned = (from.address() & (PIECE - 1)).is(k.i64(0));
        let copy = |ty: Ty, byte: Value<'k>| {
            let each = ty.bits() as usize / 8;
            to.byte(byte).store(from.byte(byte).load_constant(ty, each), each);
        };
        k.either(
            is_aligned & count.is(k.i32(CHUNK_WINDOW)),
            || (0..CHUNK_WINDOW * bytes).step_by(PIECE).for_each(|byte| copy(Ty::Words(4), k.i32(byte))),
            || k.range(k.i32(0), count * bytes, k.i32(bytes), |byte| copy(self.found(), byte)),
        );
    }

    /// Where the map of the chunk is.
    fn map(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.maps).as_global().byte(self.number * self.kernel.most_states)
    }

    /// Leads the states of the range on, and numbers those they end in as the next chunk's range does.
    pub(super) fn find_maps(&self) {
        let (k, most) = (self.k, self.kernel.most_states);
        k.warp_barrier();
        self.told(self.lane).store(self.begin, 8);
        k.warp_barrier();
        let led = Led::of(self, self.range(self.number));
        let through = |symbols: &dyn Fn(Step<'_, 'k>)| led.go_on(self, symbols);
        self.over(
            self.is_there,
            &|| {
                through(&|step| {
                    self.over_slice(&|symbol| {
                        step(symbol);
                        None
                    });
                });
                led.merge(k);
            },
            &|symbol| {
                through(&|step| step(symbol));
                None
            },
        );
        let next = self.range((self.number + 1).umin(self.count - 1));
        let others: Vec<Value<'k>> =
            self.vectors().map(|byte| next.at(byte).load_constant(Ty::Words(4), PIECE)).collect();
        let other = |number: usize| half(others[number / 8].word(number % 8 / 2), number % 2);
        led.each(k, |place, state| {
            let is = |number: usize| state.is(other(number)).select(k.i32(number), k.i32(0));
            let number = (1..most).map(is).reduce(|one, other| one | other).expect("there are several");
            self.map().byte(place).store(number.resize(Ty::I8), 1);
        });
    }

    /// States that are led on together, from these.
    pub(super) fn states(&self, first: impl Fn(usize) -> Value<'k>) -> [Var<'k>; TOGETHER] {
        std::array::from_fn(|number| self.k.var(first(number)))
    }

    /// Walks the chunk from the state in which it begins.
    pub(super) fn write_outputs(&self) {
        let k = self.k;
        let begins = argument!(self.k, ChunksArguments.begins).as_global().byte(self.number).load_constant(Ty::I8, 1);
        // If the scan between failed, numbers are anything: some state is taken then.
        let begins = begins.resize(Ty::I32).umin(k.i32(self.kernel.most_states - 1));
        let first = self.range(self.number).byte(begins * 2).load_constant(Ty::Int(16), 2).resize(Ty::I32);
        let state = k.var(first.is(k.i32(UNUSED_STATE.into())).select(k.i32(0), first));
        // Half of an entry is the next state, the other one the output.
        let half = 8 * self.kernel.given_at();
        let step = |symbol: Value<'k>| {
            let entry = self.entry(Ty::Int(2 * half as u16), state.get(), symbol);
            state.set(entry & ((1 << half) - 1));
            Some(entry)
        };
        self.over(self.is_there, &|| self.over_slice(&step), &step);
    }
}

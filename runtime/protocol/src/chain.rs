//! Tickets, and the chain of carries from tile to tile.
//!
//! The life of a tile is a sequence of types, and each step consumes the one before:
//!
//! ```text
//! Chain::take ──► Ticket ──wait(&mut carry)──► Turn ──publish(&prefix)──► done
//!                    │                           │
//!                    └────────── dropped ────────┴──► the chain is poisoned
//! ```
//!
//! A [`Ticket`] says that this thread owes the chain the prefix of one tile. A [`Turn`] says moreover that every earlier
//! prefix is published, so that of all threads only this one may publish now. There is one ticket a tile, so no tile is
//! published twice, out of order, or without its carry having been read.
//!
//! # Memory
//!
//! Since prefixes are published strictly in order, and each is read (by the tile after it) before the next is written,
//! only one prefix is alive at a time. A single place in memory would do. There is a small fixed ring of them, so that
//! threads that wait for different tiles poll different cache lines and a handover disturbs only the thread it is for,
//! as in Anderson's array lock ("The performance of spin lock alternatives", 1990). How many threads take part
//! does not matter to it; more threads than slots only share lines again. A chain is a few kilobytes and allocates
//! nothing; it can live on the caller's stack.
//!
//! Scans on GPUs look back over many tiles, because thousands are in flight and a chain's latency would add up. On a CPU
//! a handful are, and a handover costs a cache miss against the microseconds of a tile: the chain of adjacent tiles
//! (Yan, Long and Zhang, "StreamScan", PPoPP 2013) is all it takes, and it fixes the association.

use crate::sync::{AtomicBool, AtomicUsize, CacheLine, Ordering, UnsafeCell, wait_for};
use std::{array, error, fmt, mem};

/// The largest state that a chain carries.
pub const MAX_STATE_BYTES: usize = 256;

/// Slots in the ring of carries. Any number is right. Two let loom see slots reused within three tiles.
const SLOTS: usize = if cfg!(loom) { 2 } else { 8 };

/// The place of a tile among the tiles of its scan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileIndex(usize);

impl TileIndex {
    /// The tile that `index` tiles come before.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// How many tiles come before this one.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for TileIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile {}", self.0)
    }
}

/// Hands out the tiles of a scan, in order, each to one taker.
///
/// Alone, it serves work whose tiles need nothing from each other; with carries, it is part of a [`Chain`].
///
/// ```
/// use scan_protocol::chain::{TileIndex, Tickets};
///
/// let tickets = Tickets::new(2);
/// assert_eq!(tickets.take(), Some(TileIndex::new(0)));
/// assert_eq!(tickets.take(), Some(TileIndex::new(1)));
/// assert_eq!(tickets.take(), None);
/// assert_eq!(tickets.take(), None);
/// ```
#[derive(Debug)]
pub struct Tickets {
    next: AtomicUsize,
    tiles: usize,
}

impl Tickets {
    /// Tickets for tiles 0 to `tiles` − 1.
    pub fn new(tiles: usize) -> Self {
        Self { next: AtomicUsize::new(0), tiles }
    }

    /// The next tile, or none after the last one, however often it is asked.
    pub fn take(&self) -> Option<TileIndex> {
        // Relaxed: a ticket carries no data, it only must be unique, and a read-modify-write makes it so. The counter
        // stops at `tiles`, so it cannot wrap.
        self.next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < self.tiles).then(|| next + 1))
            .ok()
            .map(TileIndex)
    }
}

/// The tiles of one scan and the carries between them, shared by the threads that work on it.
///
/// `prefix(t) = combine(prefix(t − 1), aggregate(t))`, whoever computes it: the result does not depend on the number
/// of threads.
///
/// ```
/// use scan_protocol::chain::Chain;
///
/// // Strings of one byte a tile, concatenated: an operator that minds the order.
/// let mut chain = Chain::new(3, b"...")?;
/// while let Some(ticket) = chain.take() {
///     let letter = b'a' + ticket.tile().get() as u8;
///     let mut carry = [0; 3];
///     let turn = ticket.wait(&mut carry)?;
///     turn.publish(&[carry[1], carry[2], letter]);
/// }
/// let mut total = [0; 3];
/// chain.total(&mut total)?;
/// assert_eq!(&total, b"abc");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chain {
    /// The carry that enters tile t passes through slot t mod [`SLOTS`].
    slots: [Slot; SLOTS],
    tickets: CacheLine<Tickets>,
    state_bytes: usize,
    poisoned: AtomicBool,
}

impl Chain {
    /// A chain of `tiles` tiles, whose first one is entered by the state `seed`. All states have the seed's size.
    ///
    /// # Errors
    ///
    /// [`StateTooLarge`] if the seed has more than [`MAX_STATE_BYTES`].
    pub fn new(tiles: usize, seed: &[u8]) -> Result<Self, StateTooLarge> {
        if seed.len() > MAX_STATE_BYTES {
            return Err(StateTooLarge { bytes: seed.len() });
        }
        let mut first = [0; MAX_STATE_BYTES];
        first[..seed.len()].copy_from_slice(seed);
        Ok(Self {
            // Only the first slot's number is true: slot k will carry into tile k first, and k is not 0.
            slots: array::from_fn(|slot| Slot::new(0, if slot == 0 { first } else { [0; MAX_STATE_BYTES] })),
            tickets: CacheLine(Tickets::new(tiles)),
            state_bytes: seed.len(),
            poisoned: AtomicBool::new(false),
        })
    }

    /// The next tile, or none if all are taken.
    ///
    /// Publish a tile before taking the next on the same thread: a thread that waits for its own later tile waits for
    /// ever.
    pub fn take(&self) -> Option<Ticket<'_>> {
        self.tickets.0.take().map(|tile| Ticket { debt: Debt { chain: self, tile } })
    }

    /// Declares that some prefix will never come: all who wait, and all who come to wait, get [`Poisoned`], except
    /// where the carry is already there. Dropping a [`Ticket`] or a [`Turn`] does this.
    pub fn poison(&self) {
        // Relaxed: the flag guards no data, it only has to arrive.
        self.poisoned.store(true, Ordering::Relaxed);
    }

    /// Whether a tile was given up.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Copies the inclusive prefix of the last tile: the ⊕ of the seed and everything after it. Without tiles, the seed.
    ///
    /// # Errors
    ///
    /// [`Poisoned`] if the last tile was not published.
    ///
    /// # Panics
    ///
    /// If `total` has not the seed's size.
    pub fn total(&mut self, total: &mut [u8]) -> Result<(), Poisoned> {
        // The last prefix is the carry into the tile after the last. `&mut self` proves that no turn is out.
        let end = TileIndex(self.tickets.0.tiles);
        if !self.slot(end).has_carry_into(end) {
            return Err(Poisoned);
        }
        self.read(end, total);
        Ok(())
    }

    fn slot(&self, tile: TileIndex) -> &Slot {
        &self.slots[tile.0 % SLOTS]
    }

    /// Copies the carry into `tile`, which must be there and stay there: it does until `tile` is published.
    fn read(&self, tile: TileIndex, carry: &mut [u8]) {
        assert_eq!(carry.len(), self.state_bytes, "a carry has the size of the seed");
        self.slot(tile).carry.with(|state| {
            // SAFETY: the callers have seen `has_carry_into(tile)`, and nobody writes to the chain meanwhile, since that
            // takes the turn of `tile`: it is the calling thread's in `Ticket::wait`, and `Chain::total` has the chain to
            // itself.
            let state = unsafe { &*state };
            carry.copy_from_slice(&state[..carry.len()]);
        });
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("tickets", &self.tickets.0)
            .field("state_bytes", &self.state_bytes)
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

/// A tile that this thread took and whose prefix it owes. Dropping it poisons the chain.
#[must_use = "dropping a ticket poisons the chain"]
#[derive(Debug)]
pub struct Ticket<'chain> {
    debt: Debt<'chain>,
}

impl<'chain> Ticket<'chain> {
    /// The tile taken.
    pub fn tile(&self) -> TileIndex {
        self.debt.tile
    }

    /// Waits for the tile before to be published and copies its inclusive prefix into `carry`; for the first tile,
    /// the seed. Reduce the tile before calling this, so that tiles overlap.
    ///
    /// # Errors
    ///
    /// [`Poisoned`] if the chain was poisoned and the carry is not there. `carry` is then untouched.
    ///
    /// # Panics
    ///
    /// If `carry` has not the seed's size. (As every panic that drops a ticket, it poisons the chain.)
    pub fn wait(self, carry: &mut [u8]) -> Result<Turn<'chain>, Poisoned> {
        let Debt { chain, tile } = self.debt;
        let slot = chain.slot(tile);
        wait_for(|| match slot.has_carry_into(tile) {
            true => Some(Ok(())),
            false => chain.is_poisoned().then_some(Err(Poisoned)),
        })?;
        chain.read(tile, carry);
        Ok(Turn { debt: self.debt })
    }
}

/// The right to publish the prefix of a tile, next in the chain. Dropping it poisons the chain.
#[must_use = "dropping a turn poisons the chain"]
#[derive(Debug)]
pub struct Turn<'chain> {
    debt: Debt<'chain>,
}

impl Turn<'_> {
    /// The tile whose turn it is.
    pub fn tile(&self) -> TileIndex {
        self.debt.tile
    }

    /// Publishes the tile's inclusive prefix, combine(carry, aggregate), and lets the next tile go on.
    ///
    /// # Panics
    ///
    /// If `prefix` has not the seed's size. The chain is then poisoned.
    pub fn publish(self, prefix: &[u8]) {
        let Debt { chain, tile } = self.debt;
        assert_eq!(prefix.len(), chain.state_bytes, "a prefix has the size of the seed");
        let next = TileIndex(tile.0 + 1);
        let slot = chain.slot(next);
        slot.carry.with_mut(|state| {
            // SAFETY: this thread has the turn of `tile`, which exists once. The slot held the carry into an earlier
            // tile, or this one; that tile's owner read it before it published, and every publication since then
            // happened before this turn. The slot's next reader comes after `hand_over`.
            let state = unsafe { &mut *state };
            state[..prefix.len()].copy_from_slice(prefix);
        });
        slot.hand_over(next);
        // The prefix is paid.
        mem::forget(self.debt);
    }
}

/// A prefix owed to the chain: dropped unpaid, it poisons.
struct Debt<'chain> {
    chain: &'chain Chain,
    tile: TileIndex,
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        self.chain.poison();
    }
}

impl fmt::Debug for Debt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tile, f)
    }
}

/// One place of the ring: a state, and the tile that it is the carry into. Together on lines of their own, so that a
/// small state arrives with the number that announces it.
#[repr(C, align(128))]
struct Slot {
    into: AtomicUsize,
    carry: UnsafeCell<[u8; MAX_STATE_BYTES]>,
}

// SAFETY: a chain reads a slot's state only after `has_carry_into`, and writes it only while it has the turn: see the
// two accesses.
unsafe impl Sync for Slot {}

impl Slot {
    fn new(into: usize, carry: [u8; MAX_STATE_BYTES]) -> Self {
        Self { into: AtomicUsize::new(into), carry: UnsafeCell::new(carry) }
    }

    /// Acquire, with the release of [`hand_over`](Self::hand_over): who sees the number sees the state, and everything
    /// that earlier tiles did before they published.
    fn has_carry_into(&self, tile: TileIndex) -> bool {
        self.into.load(Ordering::Acquire) == tile.0
    }

    fn hand_over(&self, tile: TileIndex) {
        self.into.store(tile.0, Ordering::Release);
    }
}

/// A tile of the scan was given up, so the carry that was asked for will never come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poisoned;

impl fmt::Display for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tile of the scan was given up: its prefix, and all after it, will never come")
    }
}

impl error::Error for Poisoned {}

/// A state has more bytes than a chain carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateTooLarge {
    /// The size of the refused state.
    pub bytes: usize,
}

impl fmt::Display for StateTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a state of {} bytes is too large: a chain carries at most {MAX_STATE_BYTES}", self.bytes)
    }
}

impl error::Error for StateTooLarge {}

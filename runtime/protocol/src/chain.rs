//! Tickets, and the chain of carries from tile to tile.
//!
//! A cascade of scans runs in one pass over memory: a thread folds a tile's first level, learns its carry and publishes
//! its prefix, folds the second level, which reads the true states of the first, and so on. So a chain has a *link* for
//! each level: a carry of its own from tile to tile. A plain scan has one.
//!
//! The life of a tile is a sequence of types, and each step consumes the one before:
//!
//! ```text
//!                    ┌──────────── the next link ─────────┐
//!                    ▼                                    │
//! Chain::take ──► Ticket ──wait(&mut carry)──► Turn ──publish(&prefix)──► after the last link: done
//!                    │                           │
//!                    └────────── dropped ────────┴──► the chain is poisoned
//! ```
//!
//! A [`Ticket`] says that this thread owes the chain the prefix of one tile, on one link and all links after it. A
//! [`Turn`] says moreover that on this link every earlier prefix is published, so that of all threads only this one may
//! publish now. There is one ticket a tile, so on no link a tile is published twice, out of order, or without its carry
//! having been read.
//!
//! Scans on GPUs look back over many tiles, because thousands are in flight and a chain's latency would add up. On a CPU
//! a handful are, and a handover costs a cache miss against the microseconds of a tile: the chain of adjacent tiles
//! (Yan, Long and Zhang, "StreamScan", PPoPP 2013) is all it takes, and it fixes the association.

use crate::ring::Ring;
use crate::sync::{AtomicBool, AtomicUsize, CacheLine, Ordering, wait_for};
use std::{error, fmt, mem};

/// The largest state that a link carries.
pub const MAX_STATE_BYTES: usize = 1024;

/// The most links that a chain has.
pub const MAX_LINKS: usize = 4;

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
/// On each link, `prefix(t) = combine(prefix(t − 1), aggregate(t))`, whoever computes it: the result does not depend on
/// the number of threads.
///
/// ```
/// use scan_protocol::chain::Chain;
///
/// // A balance, and its highest level so far, which reads the balance: two links. A tile is one payment.
/// let payments = [3, -5, 4];
/// let mut chain = Chain::new(payments.len(), &[&0i32.to_ne_bytes(), &i32::MIN.to_ne_bytes()])?;
/// while let Some(ticket) = chain.take() {
///     let payment = payments[ticket.tile().get()];
///     let mut carry = [0; 4];
///
///     let turn = ticket.wait(&mut carry)?;
///     let balance = i32::from_ne_bytes(carry) + payment;
///     let ticket = turn.publish(&balance.to_ne_bytes()).expect("the second link is next");
///
///     let turn = ticket.wait(&mut carry)?;
///     let highest = i32::from_ne_bytes(carry).max(balance);
///     assert!(turn.publish(&highest.to_ne_bytes()).is_none());
/// }
/// let mut total = [0; 4];
/// chain.total(0, &mut total)?;
/// assert_eq!(i32::from_ne_bytes(total), 2);
/// chain.total(1, &mut total)?;
/// assert_eq!(i32::from_ne_bytes(total), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chain {
    ring: Ring,
    links: usize,
    /// The size of each link's states.
    state_bytes: [usize; MAX_LINKS],
    poisoned: AtomicBool,
    tickets: CacheLine<Tickets>,
}

impl Chain {
    /// A chain of `tiles` tiles, with a link for each of `seeds`: the state that enters the first tile. All states of a
    /// link have its seed's size.
    ///
    /// Costs one allocation, of about eight times the largest seed (but at least one pair of cache lines) a link.
    ///
    /// # Errors
    ///
    /// [`BadSeeds`] if there is no seed, or more than [`MAX_LINKS`], or one of more than [`MAX_STATE_BYTES`].
    pub fn new(tiles: usize, seeds: &[&[u8]]) -> Result<Self, BadSeeds> {
        if !(1..=MAX_LINKS).contains(&seeds.len()) {
            return Err(BadSeeds::Links { links: seeds.len() });
        }
        let mut state_bytes = [0; MAX_LINKS];
        for (bytes, seed) in state_bytes.iter_mut().zip(seeds) {
            *bytes = seed.len();
            if *bytes > MAX_STATE_BYTES {
                return Err(BadSeeds::TooLarge { bytes: *bytes });
            }
        }
        Ok(Self {
            ring: Ring::new(seeds),
            links: seeds.len(),
            state_bytes,
            poisoned: AtomicBool::new(false),
            tickets: CacheLine(Tickets::new(tiles)),
        })
    }

    /// The next tile, or none if all are taken.
    ///
    /// Publish a tile before taking the next on the same thread: a thread that waits for its own later tile waits for
    /// ever.
    pub fn take(&self) -> Option<Ticket<'_>> {
        self.tickets.0.take().map(|tile| Ticket { debt: Debt { chain: self, tile, link: 0 } })
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

    /// Copies the inclusive prefix of the last tile on `link`: the ⊕ of the seed and everything after it. Without tiles,
    /// the seed.
    ///
    /// # Errors
    ///
    /// [`Poisoned`] if the last tile was not published.
    ///
    /// # Panics
    ///
    /// If there is no such link, or `total` has not its seed's size.
    pub fn total(&mut self, link: usize, total: &mut [u8]) -> Result<(), Poisoned> {
        assert!(link < self.links, "link {link} of a chain of {}", self.links);
        self.assert_size(link, total, "total");
        // The last prefix is the carry into the tile after the last.
        let end = self.tickets.0.tiles;
        let slot = self.ring.slot(link, end);
        if !slot.has_carry_into(end) {
            return Err(Poisoned);
        }
        // SAFETY: `&mut self` proves that no turn is out, so that nobody writes.
        unsafe { slot.read(total) };
        Ok(())
    }

    fn assert_size(&self, link: usize, state: &[u8], role: &str) {
        assert_eq!(state.len(), self.state_bytes[link], "a {role} has the size of the link's seed");
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("tickets", &self.tickets.0)
            .field("state_bytes", &&self.state_bytes[..self.links])
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

/// A tile that this thread took and whose prefix it owes on a link. Dropping it poisons the chain.
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

    /// The link whose carry is next, from 0.
    pub fn link(&self) -> usize {
        self.debt.link
    }

    /// Waits for the tile before to be published on this link and copies its inclusive prefix into `carry`; for the
    /// first tile, the seed. Reduce the tile before calling this, so that tiles overlap.
    ///
    /// # Errors
    ///
    /// [`Poisoned`] if the chain was poisoned and the carry is not there. `carry` is then untouched.
    ///
    /// # Panics
    ///
    /// If `carry` has not the size of the link's seed. (As every panic that drops a ticket, it poisons the chain.)
    pub fn wait(self, carry: &mut [u8]) -> Result<Turn<'chain>, Poisoned> {
        let Debt { chain, tile: TileIndex(tile), link } = self.debt;
        chain.assert_size(link, carry, "carry");
        let slot = chain.ring.slot(link, tile);
        wait_for(|| match slot.has_carry_into(tile) {
            true => Some(Ok(())),
            false => chain.is_poisoned().then_some(Err(Poisoned)),
        })?;
        // SAFETY: the carry is there, and written before it was handed over. Nobody writes on this link meanwhile, since
        // that takes the turn of this tile, which is now this thread's.
        unsafe { slot.read(carry) };
        Ok(Turn { debt: self.debt })
    }
}

/// The right to publish the prefix of a tile, next on its link. Dropping it poisons the chain.
#[must_use = "dropping a turn poisons the chain"]
#[derive(Debug)]
pub struct Turn<'chain> {
    debt: Debt<'chain>,
}

impl<'chain> Turn<'chain> {
    /// The tile whose turn it is.
    pub fn tile(&self) -> TileIndex {
        self.debt.tile
    }

    /// The link on which it is, from 0.
    pub fn link(&self) -> usize {
        self.debt.link
    }

    /// Publishes the tile's inclusive prefix, combine(carry, aggregate), and lets the next tile go on. What comes back
    /// is the same tile's ticket for the next link, or none if this link was the last.
    ///
    /// # Panics
    ///
    /// If `prefix` has not the size of the link's seed. The chain is then poisoned.
    pub fn publish(self, prefix: &[u8]) -> Option<Ticket<'chain>> {
        let Turn { mut debt } = self;
        let Debt { chain, tile: TileIndex(tile), link } = debt;
        chain.assert_size(link, prefix, "prefix");
        let next = tile + 1;
        let slot = chain.ring.slot(link, next);
        // SAFETY: this thread has the turn of `tile` on this link, which exists once. The slot held the carry into an
        // earlier tile, or this one; that tile's owner read it before it published, and every publication since then
        // happened before this turn. The slot's next reader comes after `hand_over`.
        unsafe { slot.write(prefix) };
        slot.hand_over(next);
        debt.link += 1;
        if debt.link < chain.links {
            Some(Ticket { debt })
        } else {
            // The tile is paid.
            mem::forget(debt);
            None
        }
    }
}

/// The prefix of a tile owed to the chain, on a link and all after it: dropped unpaid, it poisons.
struct Debt<'chain> {
    chain: &'chain Chain,
    tile: TileIndex,
    link: usize,
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        self.chain.poison();
    }
}

impl fmt::Debug for Debt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, link {}", self.tile, self.link)
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

/// Seeds that no chain is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSeeds {
    /// There are no links, or too many.
    Links {
        /// How many there are.
        links: usize,
    },
    /// A state has more bytes than a link carries.
    TooLarge {
        /// The size of the refused state.
        bytes: usize,
    },
}

impl fmt::Display for BadSeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Links { links } => write!(f, "{links} links are refused: a chain has 1 to {MAX_LINKS}"),
            Self::TooLarge { bytes } => {
                write!(f, "a state of {bytes} bytes is too large: a link carries at most {MAX_STATE_BYTES}")
            }
        }
    }
}

impl error::Error for BadSeeds {}

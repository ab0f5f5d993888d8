//! A scan to try, with every carry and every end checked: what the tests with real threads share with those under
//! shuttle.

use scan_protocol::{
    chain::{Chain, Poisoned, Ticket},
    crew::{HelperTask, with_helpers},
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A scan to try: how large, and where a thread fails, if one does.
#[derive(Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) tiles: usize,
    pub(crate) links: usize,
    pub(crate) fails: Option<(usize, Step)>,
}

/// What a thread does to its tile, in this order.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Reduce(usize),
    Fold(usize),
    Replay,
}

impl Step {
    /// All of a tile.
    pub(crate) fn all(links: usize) -> Vec<Self> {
        (0..links).flat_map(|link| [Self::Reduce(link), Self::Fold(link)]).chain([Self::Replay]).collect()
    }
}

impl Trial {
    /// The scan by a crew. It must end as told, and leave the totals that this end implies.
    pub(crate) fn run(&self, spawn: impl FnMut(HelperTask), helpers: usize) {
        let mut chain = self.chain();
        let job = || {
            let worked = self.work(&chain);
            assert!(worked.is_ok() || self.fails.is_some(), "poisoned without a reason");
        };
        let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn, helpers, &job)));
        let why = ended.err().map(|payload| *payload.downcast::<&str>().expect("an assertion of this test failed"));
        assert_eq!(why, self.fails.map(|_| "failed as told"));
        for link in 0..self.links {
            let mut total = [0; 8];
            let total = chain.total(link, &mut total).map(|()| u64::from_ne_bytes(total));
            match self.fails {
                None => assert_eq!(total, Ok(prefix_of(self.tiles, link))),
                // Nobody publishes what was given up. (On links before, or in the replay, the others may have gone on.)
                Some((_, Step::Reduce(failed) | Step::Fold(failed))) if failed <= link => {
                    assert_eq!(total, Err(Poisoned));
                }
                Some(_) => assert!(matches!(total, Err(Poisoned)) || total == Ok(prefix_of(self.tiles, link))),
            }
        }
    }

    /// A seed of its own for each link.
    fn chain(&self) -> Chain {
        let seeds: Vec<_> = (0..self.links).map(|link| prefix_of(0, link).to_ne_bytes()).collect();
        Chain::new(self.tiles, &seeds.iter().map(|seed| &seed[..]).collect::<Vec<_>>()).expect("few and small")
    }

    /// Takes tiles until none is left or the chain is poisoned. Every carry must be right.
    fn work(&self, chain: &Chain) -> Result<(), Poisoned> {
        while let Some(ticket) = chain.take() {
            self.tile(ticket)?;
        }
        Ok(())
    }

    fn tile(&self, ticket: Ticket<'_>) -> Result<(), Poisoned> {
        let tile = ticket.tile().get();
        let mut next = Some(ticket);
        for link in 0..self.links {
            let ticket = next.expect("a ticket for each link");
            self.at(tile, Step::Reduce(link));
            let mut carry = [0; 8];
            let turn = ticket.wait(&mut carry)?;
            assert_eq!(u64::from_ne_bytes(carry), prefix_of(tile, link), "the carry of tile {tile} on link {link}");
            self.at(tile, Step::Fold(link));
            next = turn.publish(&prefix_of(tile + 1, link).to_ne_bytes());
        }
        assert!(next.is_none(), "no ticket after the last link");
        self.at(tile, Step::Replay);
        Ok(())
    }

    fn at(&self, tile: usize, step: Step) {
        if self.fails == Some((tile, step)) {
            resume_unwind(Box::new("failed as told"));
        }
    }
}

/// What the tiles before `tile` come to on `link`: a hash of their sequence, so that an order, a gap or a repetition shows.
fn prefix_of(tile: usize, link: usize) -> u64 {
    (0..tile as u64).fold(link as u64, |hash, tile| hash.wrapping_mul(0x9e37_79b9).wrapping_add(tile + 1))
}

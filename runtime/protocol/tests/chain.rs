//! The chain with real threads, and its edges: sizes, poison, what is refused. (`loom.rs` and `shuttle.rs` have the
//! interleavings.)
#![cfg(not(any(loom, shuttle)))]

use scan_protocol::chain::{BadSeeds, Chain, MAX_LINKS, MAX_STATE_BYTES, Poisoned, Tickets, TileIndex};
use std::{panic, thread};

/// x ↦ a·x + b modulo 2^64, as two words: composing such maps does not commute.
fn compose((a, b): (u64, u64), (c, d): (u64, u64)) -> (u64, u64) {
    (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d))
}

fn aggregate(tile: TileIndex) -> (u64, u64) {
    (2 * tile.get() as u64 + 3, tile.get() as u64 ^ 0x5bd1)
}

fn bytes((a, b): (u64, u64)) -> [u8; 16] {
    (u128::from(a) | u128::from(b) << 64).to_ne_bytes()
}

fn words(bytes: [u8; 16]) -> (u64, u64) {
    let both = u128::from_ne_bytes(bytes);
    (both as u64, (both >> 64) as u64)
}

/// Miri is some thousand times slower.
fn many(tiles: usize) -> usize {
    if cfg!(miri) { tiles / 300 } else { tiles }
}

/// Works until no tile is left, and reports the carry of each tile it took.
fn work(chain: &Chain) -> Vec<(TileIndex, (u64, u64))> {
    let mut carries = Vec::new();
    while let Some(ticket) = chain.take() {
        let tile = ticket.tile();
        let mut carry = [0; 16];
        let turn = ticket.wait(&mut carry).expect("nobody gives up");
        turn.publish(&bytes(compose(words(carry), aggregate(tile))));
        carries.push((tile, words(carry)));
    }
    carries
}

#[test]
fn every_tile_gets_the_prefix_of_all_before_it_for_any_number_of_threads() {
    const SEED: (u64, u64) = (1, 7);
    for (threads, tiles) in [(1, 100), (2, 1), (2, 0), (2, many(10_000)), (5, many(10_000)), (17, many(3_000))] {
        let mut chain = Chain::new(tiles, &[&bytes(SEED)]).unwrap();
        let mut carries: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&chain))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        carries.sort();
        assert_eq!(carries.len(), tiles);
        let mut prefix = SEED;
        for (index, (tile, carry)) in carries.into_iter().enumerate() {
            assert_eq!((tile, carry), (TileIndex::new(index), prefix), "{threads} threads");
            prefix = compose(prefix, aggregate(tile));
        }
        let mut total = [0; 16];
        chain.total(0, &mut total).unwrap();
        assert_eq!(words(total), prefix);
    }
}

#[test]
fn states_may_have_any_size_up_to_the_limit() {
    for size in [0, 1, 7, 8, 12, 120, 121, 256, MAX_STATE_BYTES] {
        let mut chain = Chain::new(20, &[&vec![0; size]]).unwrap();
        while let Some(ticket) = chain.take() {
            let step = ticket.tile().get() as u8;
            let mut state = vec![0xff; size];
            let turn = ticket.wait(&mut state).unwrap();
            assert!(state.iter().all(|&byte| byte == step));
            turn.publish(&vec![step + 1; size]);
        }
        let mut total = vec![0; size];
        chain.total(0, &mut total).unwrap();
        assert_eq!(total, vec![20; size]);
    }
    let refused = Chain::new(20, &[&[0], &[0; MAX_STATE_BYTES + 1]]).unwrap_err();
    assert_eq!(refused, BadSeeds::TooLarge { bytes: MAX_STATE_BYTES + 1 });
    assert_eq!(refused.to_string(), "a state of 1025 bytes is too large: a link carries at most 1024");
}

/// The state of a link, of the link's own size: a count, repeated.
fn counted(link: usize, count: usize) -> Vec<u8> {
    [count as u8, !(count as u8)].repeat([1, 300, 60, 9][link])
}

#[test]
fn links_are_separate_and_come_in_order() {
    for links in 1..=MAX_LINKS {
        for (threads, tiles) in [(1, 20), (3, many(2_000))] {
            let seeds: Vec<_> = (0..links).map(|link| counted(link, 10 * link)).collect();
            let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
            let mut chain = Chain::new(tiles, &seeds).unwrap();
            let work = || {
                while let Some(ticket) = chain.take() {
                    let tile = ticket.tile();
                    let mut next = Some(ticket);
                    for (link, seed) in seeds.iter().enumerate() {
                        let ticket = next.expect("a ticket for each link");
                        assert_eq!((ticket.tile(), ticket.link()), (tile, link));
                        let mut carry = vec![0; seed.len()];
                        let turn = ticket.wait(&mut carry).unwrap();
                        assert_eq!((turn.tile(), turn.link()), (tile, link));
                        // On link l, each tile adds l + 1.
                        let before = 10 * link + (link + 1) * tile.get();
                        assert_eq!(carry, counted(link, before));
                        next = turn.publish(&counted(link, before + link + 1));
                    }
                    assert!(next.is_none(), "no ticket after the last link");
                }
            };
            thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
            for (link, seed) in seeds.iter().enumerate() {
                let mut total = vec![0; seed.len()];
                chain.total(link, &mut total).unwrap();
                assert_eq!(total, counted(link, 10 * link + (link + 1) * tiles));
            }
        }
    }
}

#[test]
fn a_chain_has_a_link_and_not_too_many() {
    for links in [0, MAX_LINKS + 1] {
        let refused = Chain::new(1, &vec![&[0u8] as &[u8]; links]).unwrap_err();
        assert_eq!(refused, BadSeeds::Links { links });
        assert_eq!(refused.to_string(), format!("{links} links are refused: a chain has 1 to 4"));
    }
}

#[test]
fn a_tile_given_up_between_links_releases_the_waiters_of_every_link() {
    let mut chain = Chain::new(2, &[&[1], &[2]]).unwrap();
    let second_link = chain.take().unwrap().wait(&mut [0]).unwrap().publish(&[3]).unwrap();
    let mut carry = [0];
    // What was published before stays published.
    let waiting = chain.take().unwrap().wait(&mut carry).unwrap().publish(&[4]).unwrap();
    assert_eq!(carry, [3]);
    let waited = thread::scope(|scope| {
        let waiter = scope.spawn(move || waiting.wait(&mut [0]).map(drop));
        drop(second_link);
        waiter.join().unwrap()
    });
    assert_eq!(waited, Err(Poisoned));
    assert_eq!([0, 1].map(|link| chain.total(link, &mut [0])), [Ok(()), Err(Poisoned)]);
}

#[test]
fn tickets_end_and_stay_ended() {
    let tickets = Tickets::new(2);
    assert_eq!([(); 5].map(|()| tickets.take().map(TileIndex::get)), [Some(0), Some(1), None, None, None]);
}

#[test]
fn a_scan_without_tiles_totals_its_seed() {
    let mut chain = Chain::new(0, &[b"seed"]).unwrap();
    assert!(chain.take().is_none());
    let mut total = *b"....";
    chain.total(0, &mut total).unwrap();
    assert_eq!(&total, b"seed");
}

#[test]
fn the_number_of_tiles_has_no_limit() {
    let chain = Chain::new(usize::MAX, &[&[1]]).unwrap();
    chain.take().unwrap().wait(&mut [0]).unwrap().publish(&[2]);
    let mut carry = [0];
    let _turn = chain.take().unwrap().wait(&mut carry).unwrap();
    assert_eq!(carry, [2]);
}

#[test]
fn a_dropped_ticket_or_turn_releases_the_waiters_with_an_error() {
    for drop_the_turn in [false, true] {
        let mut chain = Chain::new(3, &[&[0]]).unwrap();
        let first = chain.take().unwrap();
        thread::scope(|scope| {
            let waiters = [chain.take().unwrap(), chain.take().unwrap()].map(|ticket| {
                scope.spawn(move || {
                    let mut carry = [9];
                    let refused = ticket.wait(&mut carry).map(drop);
                    assert_eq!(carry, [9], "an error leaves the carry untouched");
                    refused
                })
            });
            if drop_the_turn {
                drop(first.wait(&mut [0]).unwrap());
            } else {
                drop(first);
            }
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Err(Poisoned));
            }
        });
        assert!(chain.is_poisoned());
        assert_eq!(chain.total(0, &mut [0]), Err(Poisoned));
    }
}

#[test]
fn a_panic_while_a_tile_is_owed_poisons_the_chain() {
    let chain = Chain::new(2, &[&[0]]).unwrap();
    let unwound = thread::scope(|scope| {
        scope
            .spawn(|| {
                let _ticket = chain.take().unwrap();
                panic::resume_unwind(Box::new("the reduction failed"));
            })
            .join()
    });
    assert!(unwound.is_err());
    assert_eq!(chain.take().unwrap().wait(&mut [0]).map(drop), Err(Poisoned));
}

#[test]
fn a_carry_that_is_there_is_given_out_even_after_poisoning() {
    let chain = Chain::new(2, &[&[5]]).unwrap();
    chain.poison();
    let mut carry = [0];
    chain.take().unwrap().wait(&mut carry).unwrap().publish(&[6]);
    assert_eq!(carry, [5]);
}

#[test]
fn an_unfinished_scan_has_no_total() {
    // Eight tiles end in the slot where the seed was.
    for tiles in [1, 8, 9] {
        let mut chain = Chain::new(tiles, &[&[0]]).unwrap();
        assert_eq!(chain.total(0, &mut [0]), Err(Poisoned));
    }
}

#[test]
#[should_panic = "link 1 of a chain of 1"]
fn the_total_of_a_link_that_is_not_there_is_a_bug() {
    let _ = Chain::new(0, &[&[0; 8]]).unwrap().total(1, &mut [0; 8]);
}

#[test]
#[should_panic = "a carry has the size of the link's seed"]
fn a_carry_of_another_size_is_a_bug() {
    let chain = Chain::new(1, &[&[0; 8]]).unwrap();
    let _ = chain.take().unwrap().wait(&mut [0; 4]);
}

#[test]
#[should_panic = "a prefix has the size of the link's seed"]
fn a_prefix_of_another_size_is_a_bug() {
    let chain = Chain::new(1, &[&[0; 8]]).unwrap();
    chain.take().unwrap().wait(&mut [0; 8]).unwrap().publish(&[0; 9]);
}

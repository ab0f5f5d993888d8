//! Brackets: their partners, and what encloses each place.
//!
//! Of any run of brackets those that have no partner in it are some that close, and then some that
//! open. Two such words make one: where they meet, brackets are matched. Such words grow with the
//! run, so no scan carries them; but blocks of the text have short ones. Each block matches its own
//! brackets by a stack, and one stack over the words of all blocks does the rest: Bar-On and
//! Vishkin, *Optimal Parallel Generation of a Computation Tree Form* (TOPLAS 1985).
//!
//! ```text
//! a block    ( ) ) ( ( )     of which  ) (  have no partner in it
//! monoid     such words, joined: the bicyclic monoid of counts, with the places of the brackets
//! cost       work n, depth 1 loop, then one on one thread, as blocks share its stack, over brackets
//!            without a partner in their blocks of 32768: few, unless nesting is deep
//! passes     1
//! bytes      5 a place; 16 for each of those brackets, and 8 of its pair anywhere
//! ```
//!
//! The bracket that encloses a place is on top of the stack there: one more loop over each block,
//! from the brackets that are open where it begins.
//!
//! ```text
//! enclosing  work 2 n, depth two loops and the one between them on one thread, 2 passes; bytes 6 a
//!            place, and 16 for each of those brackets
//! ```

use std::hint::select_unpredictable;

use monoscan_runtime::space::zeros;

use super::lists::NONE;
use super::{AlgoError, check_length, counted_twice};
use crate::parallel;
use crate::prelude::*;

/// Places of a block.
const BLOCK: usize = 1 << 15;

/// The side of a bracket that is at a place, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ScanType)]
#[repr(u8)]
pub enum Side {
    /// Neither.
    #[default]
    Neither,
    /// It opens one.
    Open,
    /// It closes one.
    Close,
}

impl Side {
    /// `(`, `[` and `{` open, `)`, `]` and `}` close.
    pub fn of_byte(byte: u8) -> Side {
        match byte {
            b'(' | b'[' | b'{' => Side::Open,
            b')' | b']' | b'}' => Side::Close,
            _ => Side::Neither,
        }
    }
}

/// The place of each bracket's partner; [`NONE`] for one that is unmatched, and where there is no bracket.
///
/// ```
/// use monoscan::algo::{brackets::{Side, partners}, lists::NONE};
/// let sides: Vec<Side> = "(a())))".bytes().map(Side::of_byte).collect();
/// assert_eq!(partners(&sides)?, [4, NONE, 3, 2, 0, NONE, NONE]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`] for 2³¹ places and more.
pub fn partners(sides: &[Side]) -> Result<Vec<u32>, AlgoError> {
    counted_twice(sides.len())?;
    let mut partners = zeros(sides.len())?;
    partners_into(sides, &mut partners)?;
    Ok(partners)
}

/// [`partners`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::{brackets::{Side, partners_into}, lists::NONE};
/// let mut partners = [0; 4];
/// partners_into(&[Side::Open, Side::Neither, Side::Close, Side::Close], &mut partners)?;
/// assert_eq!(partners, [2, NONE, 0, NONE]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`] as [`partners`].
pub fn partners_into(sides: &[Side], partners: &mut [u32]) -> Result<(), AlgoError> {
    check_length("partners", sides.len(), partners.len())?;
    counted_twice(sides.len())?;
    let match_block = |block: usize, (sides, partners): (&[Side], &mut [u32])| {
        let first = (block * BLOCK) as u32;
        Unmatched::of(sides, first, |place, open, is_pair| {
            // A place without a partner here is written twice, so that there is no branch.
            partners[(place - first) as usize] = select_unpredictable(is_pair, open, NONE);
            let other = select_unpredictable(is_pair, open, place);
            partners[(other - first) as usize] = select_unpredictable(is_pair, place, NONE);
        })
    };
    let unmatched = parallel::map(sides.chunks(BLOCK).zip(partners.chunks_mut(BLOCK)), match_block);
    let mut stack: Vec<u32> = Vec::new();
    for Unmatched { closing, opening } in unmatched {
        for close in closing {
            if let Some(open) = stack.pop() {
                (partners[open as usize], partners[close as usize]) = (close, open);
            }
        }
        stack.extend(opening);
    }
    Ok(())
}

/// The place of the nearest bracket before each place that is open there; [`NONE`] if none is. A bracket does not enclose itself
/// or its partner.
///
/// ```
/// use monoscan::algo::{brackets::{Side, enclosing}, lists::NONE};
/// let sides: Vec<Side> = "(a(b)c)d".bytes().map(Side::of_byte).collect();
/// assert_eq!(enclosing(&sides)?, [NONE, 0, 0, 2, 0, 0, NONE, NONE]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`partners`].
pub fn enclosing(sides: &[Side]) -> Result<Vec<u32>, AlgoError> {
    counted_twice(sides.len())?;
    let mut enclosing = zeros(sides.len())?;
    enclosing_into(sides, &mut enclosing)?;
    Ok(enclosing)
}

/// [`enclosing`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::{brackets::{Side, enclosing_into}, lists::NONE};
/// let mut enclosing = [0; 4];
/// enclosing_into(&[Side::Open, Side::Neither, Side::Open, Side::Close], &mut enclosing)?;
/// assert_eq!(enclosing, [NONE, 0, 0, 0]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`partners_into`].
pub fn enclosing_into(sides: &[Side], enclosing: &mut [u32]) -> Result<(), AlgoError> {
    check_length("enclosing", sides.len(), enclosing.len())?;
    counted_twice(sides.len())?;
    let of_block = |block: usize, sides: &[Side]| Unmatched::of(sides, (block * BLOCK) as u32, |_, _, _| ());
    let unmatched = parallel::map(sides.chunks(BLOCK), of_block);
    // What is open where each block begins, as far as it is closed there, and one more.
    let mut stack: Vec<u32> = Vec::new();
    let open = unmatched.into_iter().map(|Unmatched { closing, opening }| {
        let left = stack.len().saturating_sub(closing.len());
        let open = stack[left.saturating_sub(1)..].to_vec();
        stack.truncate(left);
        stack.extend(opening);
        open
    });
    let open: Vec<Vec<u32>> = open.collect();

    let blocks = sides.chunks(BLOCK).zip(enclosing.chunks_mut(BLOCK)).zip(open);
    parallel::for_each(blocks, |block, ((sides, enclosing), open)| {
        let mut stack = Stack::new(&open, sides.len());
        for ((place, side), enclosing) in ((block * BLOCK) as u32..).zip(sides).zip(enclosing) {
            stack.pop_if(*side == Side::Close);
            *enclosing = stack.top();
            stack.push_if(*side == Side::Open, place);
        }
    });
    Ok(())
}

/// The brackets of a block that have no partner in it: each that closes is before each that opens.
struct Unmatched {
    closing: Vec<u32>,
    opening: Vec<u32>,
}

impl Unmatched {
    /// Those of a block that begins at place `first`; tells of each place what is open there, and whether it closes that.
    fn of(sides: &[Side], first: u32, mut tell: impl FnMut(u32, u32, bool)) -> Unmatched {
        let (mut closing, mut stack) = (Vec::new(), Stack::new(&[], sides.len()));
        for (place, &side) in (first..).zip(sides) {
            let open = stack.top();
            let has_popped = stack.pop_if(side == Side::Close);
            tell(place, open, has_popped);
            // Rare, where nesting is not deep.
            if side == Side::Close && !has_popped {
                closing.push(place);
            }
            stack.push_if(side == Side::Open, place);
        }
        Unmatched { closing, opening: stack.into_items() }
    }
}

/// A stack that pushes and pops without a branch: which brackets come is not foreseen.
pub(super) struct Stack {
    /// [`NONE`], the items from the bottom on, and space for what may be pushed.
    items: Vec<u32>,
    len: usize,
}

impl Stack {
    /// With these items, and space for so many more, as often as it is asked to push.
    pub(super) fn new(items: &[u32], more: usize) -> Stack {
        let mut all = vec![0; 1 + items.len() + more];
        all[0] = NONE;
        all[1..=items.len()].copy_from_slice(items);
        Stack { items: all, len: items.len() }
    }

    /// The item on top; [`NONE`] if there is none.
    #[inline(always)]
    pub(super) fn top(&self) -> u32 {
        self.items[self.len]
    }

    /// Takes the item on top away, if there is one and it shall. Says whether it did.
    #[inline(always)]
    pub(super) fn pop_if(&mut self, it_shall: bool) -> bool {
        let pops = it_shall & (self.len > 0);
        self.len -= usize::from(pops);
        pops
    }

    /// Puts an item on top, if it shall.
    #[inline(always)]
    pub(super) fn push_if(&mut self, it_shall: bool, item: u32) {
        self.items[self.len + 1] = item;
        self.len += usize::from(it_shall);
    }

    fn into_items(self) -> Vec<u32> {
        self.items[1..=self.len].to_vec()
    }
}

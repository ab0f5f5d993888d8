//! Components → groups that depend on each other → levels of a cascade.

use rustc_hash::FxHashSet;

use super::Flat;
use super::code::{Code, Components, MAX_COMPONENTS};
use super::family::{Effect, Ends, Family, Group, classify, own_fold, table_of};
use crate::function::Value;
use crate::program::MAX_STAGES;
use crate::types::Type;

/// A group with its family, in its stage.
pub(super) struct Placed {
    pub(super) members: Vec<usize>,
    pub(super) effect: Effect,
    pub(super) level: usize,
    /// How it is folded in the loop's own numbers, once that is looked for.
    pub(super) ends: Option<Ends>,
}

/// Why there are no groups.
pub(super) enum Failed {
    /// No family has these.
    Group { members: Vec<usize> },
    /// All have families, but the cascade is too long.
    Levels { needed: usize, members: Vec<usize> },
}

/// Most components of averages that are put together.
const MOST_JOINED: usize = 3;

/// Most states of a table that several small groups are put together in.
const SMALL_TABLE: usize = 16;

/// The groups of a loop with their families, in at most three levels.
pub(super) fn groups(code: &mut Code<'_>, flat: &Flat, next: &[Value]) -> Result<Vec<Placed>, Failed> {
    let reads: Vec<Components> = next.iter().map(|&next| code.depends(next)).collect();
    let mut placed = Vec::new();
    for members in strongly_connected(&reads) {
        match classify(&mut group(code, flat, next, &members)) {
            Some(effect) => placed.push(Placed { members, effect, level: 0, ends: None }),
            None => return Err(Failed::Group { members }),
        }
    }
    set_levels(&mut placed, &reads);
    while let Some(joined) = join_tables(code, flat, next, &placed, &reads) {
        placed = joined;
    }
    while let Some(joined) = join_averages(code, flat, next, &placed, &reads) {
        placed = joined;
    }
    let mut hopeless = FxHashSet::default();
    while depth(&placed) > MAX_STAGES {
        let Some(shorter) = shorten(code, flat, next, (&placed, &reads), &mut hopeless) else {
            let last = depth(&placed) - 1;
            let members = placed.iter().filter(|group| group.level == last).flat_map(|group| group.members.clone());
            return Err(Failed::Levels { needed: last + 1, members: members.collect() });
        };
        placed = shorter;
    }
    placed.sort_by_key(|group| (group.level, group.members[0]));
    Ok(placed)
}

/// The same groups over fresh code, which has nothing of the families that were tried in vain.
///
/// # Errors
/// The members of a group that has no family any more.
pub(super) fn again(
    code: &mut Code<'_>,
    flat: &Flat,
    next: &[Value],
    groups: Vec<Placed>,
) -> Result<Vec<Placed>, Vec<usize>> {
    let each = groups.into_iter().map(|placed| {
        let mut group = group(code, flat, next, &placed.members);
        let effect = match placed.effect.family {
            Family::Table { .. } => table_of(&mut group),
            _ => classify(&mut group),
        };
        match effect {
            Some(effect) => {
                let ends = own_fold(&mut group, &effect);
                Ok(Placed { effect, ends, ..placed })
            }
            None => Err(placed.members),
        }
    });
    each.collect()
}

/// These components, to try families on.
pub(super) fn group<'a, 't>(
    code: &'a mut Code<'t>,
    flat: &'a Flat,
    next: &'a [Value],
    members: &'a [usize],
) -> Group<'a, 't> {
    let types: &'a [Type] = &flat.step.params[..flat.initial.len()];
    let wraps = members.iter().any(|&member| flat.overflows.wrapped >> member & 1 == 1);
    Group { code, members, types, next, initial: &flat.initial, wraps, assumed: None }
}

/// Which groups depend on each other in a circle, those that are read first.
fn strongly_connected(reads: &[Components]) -> Vec<Vec<usize>> {
    let mut reached = reads.to_vec();
    for through in 0..reached.len() {
        let further = reached[through];
        for all in &mut reached {
            if *all >> through & 1 == 1 {
                *all |= further;
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut is_in = 0u128;
    for i in 0..reached.len() {
        if is_in >> i & 1 == 1 {
            continue;
        }
        let mutual = |j: usize| i == j || (reached[i] >> j & 1 == 1 && reached[j] >> i & 1 == 1);
        let members: Vec<usize> = (0..reached.len()).filter(|&j| mutual(j)).collect();
        members.iter().for_each(|&member| is_in |= 1 << member);
        groups.push(members);
    }
    // A group reaches whatever those that it reads do.
    groups.sort_by_key(|members| reached[members[0]].count_ones());
    groups
}

fn mask(members: &[usize]) -> Components {
    members.iter().fold(0, |mask, &member| mask | 1 << member)
}

/// The components outside of the group that it reads.
fn reads_of(group: &Placed, reads: &[Components]) -> Components {
    let all = group.members.iter().fold(0, |all, &member| all | reads[member]);
    all & !mask(&group.members)
}

fn depth(placed: &[Placed]) -> usize {
    placed.iter().map(|group| group.level + 1).max().unwrap_or(0)
}

/// The levels of all groups together.
fn height(placed: &[Placed]) -> usize {
    placed.iter().map(|group| group.level).sum()
}

/// The members of each group, and the components outside that it reads.
fn masks(placed: &[Placed], reads: &[Components]) -> Vec<(Components, Components)> {
    placed.iter().map(|group| (mask(&group.members), reads_of(group, reads))).collect()
}

/// Each group one level above the highest that it reads; none if groups read each other in a circle.
fn levels(groups: &[(Components, Components)]) -> Option<Vec<usize>> {
    let components = |mut of: Components| {
        std::iter::from_fn(move || {
            let first = (of != 0).then(|| of.trailing_zeros() as usize)?;
            of &= of - 1;
            Some(first)
        })
    };
    let (mut levels, mut above) = (vec![0; groups.len()], [1; MAX_COMPONENTS]);
    for _ in 0..=groups.len() {
        let mut changed = false;
        for (&(members, reads), level) in groups.iter().zip(&mut levels) {
            let least = components(reads).map(|read| above[read]).max().unwrap_or(0);
            changed |= least > *level;
            *level = least.max(*level);
            components(members).for_each(|member| above[member] = *level + 1);
        }
        if !changed {
            return Some(levels);
        }
    }
    None
}

/// Sets the level of each group. False if groups read each other in a circle.
fn set_levels(placed: &mut [Placed], reads: &[Components]) -> bool {
    let Some(levels) = levels(&masks(placed, reads)) else { return false };
    placed.iter_mut().zip(levels).for_each(|(group, level)| group.level = level);
    true
}

/// The groups with two of them put together, if `effect` has a family for both.
fn joined(
    placed: &[Placed],
    (i, j): (usize, usize),
    reads: &[Components],
    effect: impl FnOnce(&[usize]) -> Option<Effect>,
) -> Option<Vec<Placed>> {
    let mut members = [placed[i].members.clone(), placed[j].members.clone()].concat();
    members.sort_unstable();
    let effect = effect(&members)?;
    let rest = placed.iter().enumerate().filter(|(place, _)| *place != i && *place != j).map(|(_, group)| group);
    let copy =
        |group: &Placed| Placed { members: group.members.clone(), effect: group.effect.clone(), level: 0, ends: None };
    let mut all: Vec<Placed> = rest.map(copy).collect();
    all.push(Placed { members, effect, level: 0, ends: None });
    set_levels(&mut all, reads).then_some(all)
}

/// Pairs of groups of which the first reads the second.
fn reading(placed: &[Placed], reads: &[Components]) -> Vec<(usize, usize)> {
    let pairs = (0..placed.len()).flat_map(|i| (0..placed.len()).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| i != j && reads_of(&placed[i], reads) & mask(&placed[j].members) != 0).collect()
}

/// Flags and small machines of which one reads the other become one machine, where that makes the cascade shorter.
fn join_tables(
    code: &mut Code<'_>,
    flat: &Flat,
    next: &[Value],
    placed: &[Placed],
    reads: &[Components],
) -> Option<Vec<Placed>> {
    let types = flat.types();
    let is_small = |group: &Placed| {
        let flags = group.members.iter().all(|&member| types[member] == Type::Bool);
        flags || matches!(group.effect.family, Family::Table { .. })
    };
    for (i, j) in reading(placed, reads) {
        if !is_small(&placed[i]) || !is_small(&placed[j]) {
            continue;
        }
        let both = joined(placed, (i, j), reads, |members| {
            let effect = table_of(&mut group(code, flat, next, members))?;
            matches!(effect.family, Family::Table { states } if states <= SMALL_TABLE).then_some(effect)
        });
        if let Some(both) = both.filter(|both| height(both) < height(placed)) {
            return Some(both);
        }
    }
    None
}

/// Averages of averages, and other affine maps with constant factors of which one reads the other, become one map of vectors: one fold
/// of all is less work than one for each, and its matrix follows from the length.
fn join_averages(
    code: &mut Code<'_>,
    flat: &Flat,
    next: &[Value],
    placed: &[Placed],
    reads: &[Components],
) -> Option<Vec<Placed>> {
    let is_average = |effect: &Effect| matches!(effect.family, Family::Affine { constant: true, .. });
    let fits = |i: usize, j: usize| placed[i].members.len() + placed[j].members.len() <= MOST_JOINED;
    let pairs = reading(placed, reads).into_iter();
    let mut both = pairs.filter(|&(i, j)| is_average(&placed[i].effect) && is_average(&placed[j].effect) && fits(i, j));
    both.find_map(|(i, j)| {
        let both = joined(placed, (i, j), reads, |members| {
            classify(&mut group(code, flat, next, members)).filter(is_average)
        })?;
        (height(&both) < height(placed)).then_some(both)
    })
}

/// Two groups of which one reads the other put together in one family: the pair that shortens the cascade most. The members of pairs
/// that no family has are not tried again.
fn shorten(
    code: &mut Code<'_>,
    flat: &Flat,
    next: &[Value],
    (placed, reads): (&[Placed], &[Components]),
    hopeless: &mut FxHashSet<Components>,
) -> Option<Vec<Placed>> {
    let own = masks(placed, reads);
    let mut pairs: Vec<((usize, usize), (usize, usize))> = Vec::new();
    for (i, j) in reading(placed, reads) {
        code.fuel.spend(placed.len());
        let both = own[i].0 | own[j].0;
        if code.fuel.is_spent() || hopeless.contains(&both) {
            continue;
        }
        // The pair comes where the earlier of both was.
        let mut groups = own.clone();
        groups[i.min(j)] = (both, (own[i].1 | own[j].1) & !both);
        groups.remove(i.max(j));
        if let Some(levels) = levels(&groups) {
            let key = (levels.iter().max().map_or(0, |level| level + 1), levels.iter().sum());
            pairs.push((key, (i, j)));
        }
    }
    pairs.retain(|(key, _)| *key < (depth(placed), height(placed)));
    pairs.sort_by_key(|(key, _)| *key);
    pairs.into_iter().find_map(|(_, (i, j))| {
        let shorter = joined(placed, (i, j), reads, |members| classify(&mut group(code, flat, next, members)));
        if shorter.is_none() {
            hopeless.insert(own[i].0 | own[j].0);
        }
        shorter
    })
}

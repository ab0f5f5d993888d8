//! Trees and forests.

use monoscan::algo::AlgoError;
use monoscan::algo::brackets::Side;
use monoscan::algo::lists::NONE;
use monoscan::algo::trees::Tour;
use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;

use super::common::{Random, for_lengths, generator, in_pools};
use super::linked::shuffled;

/// Parents of chains, stars, random trees and forests, whose nodes are numbered in any order, or parents before children.
fn forests(len: usize) -> Vec<Vec<u32>> {
    let mut random = generator(len);
    let mut forest = |parent: &dyn Fn(u64, u64) -> u64, names: fn(usize, &mut Random) -> Vec<u32>| {
        let names = names(len, &mut random);
        let mut parents = vec![NONE; len];
        for i in 0..len as u64 {
            let bits = random.bits();
            let parent = if i == 0 { u64::MAX } else { parent(i, bits) };
            parents[names[i as usize] as usize] = names.get(parent as usize).copied().unwrap_or(NONE);
        }
        parents
    };
    let in_order = |len, _: &mut Random| (0..len as u32).collect();
    let drawn = |i: u64, bits: u64| bits % i;
    let many = |i: u64, bits: u64| if bits.is_multiple_of(8) { u64::MAX } else { i - 1 - bits % i.min(5) };
    vec![
        forest(&|i, _| i - 1, shuffled),
        forest(&|_, _| 0, shuffled),
        forest(&drawn, shuffled),
        forest(&many, shuffled),
        forest(&|_, _| u64::MAX, shuffled),
        forest(&|i, _| i - 1, in_order),
        forest(&drawn, in_order),
        forest(&many, in_order),
    ]
}

/// Measures by walking, without recursion.
struct Walked {
    depths: Vec<u32>,
    preorder: Vec<u32>,
    postorder: Vec<u32>,
    sizes: Vec<u32>,
    leaves: Vec<u32>,
    subtree_sums: Vec<i64>,
    path_sums: Vec<i64>,
}

fn walk(parents: &[u32], values: &[i64]) -> Walked {
    let len = parents.len();
    let mut children = vec![Vec::new(); len + 1];
    for (node, &parent) in parents.iter().enumerate() {
        children[if parent == NONE { len } else { parent as usize }].push(node);
    }
    let [depths, preorder, postorder, leaves] = std::array::from_fn(|_| vec![0; len]);
    let mut all = Walked {
        depths,
        preorder,
        postorder,
        sizes: vec![1; len],
        leaves,
        subtree_sums: values.to_vec(),
        path_sums: values.to_vec(),
    };
    let (mut entered, mut left) = (0, 0);
    let mut stack: Vec<(usize, bool)> = children[len].iter().rev().map(|&root| (root, true)).collect();
    while let Some((node, enters)) = stack.pop() {
        let parent = Some(parents[node] as usize).filter(|&parent| parent < len);
        if enters {
            all.preorder[node] = entered;
            entered += 1;
            if let Some(parent) = parent {
                all.depths[node] = all.depths[parent] + 1;
                all.path_sums[node] += all.path_sums[parent];
            }
            all.leaves[node] = children[node].is_empty() as u32;
            stack.push((node, false));
            stack.extend(children[node].iter().rev().map(|&child| (child, true)));
        } else {
            all.postorder[node] = left;
            left += 1;
            if let Some(parent) = parent {
                all.sizes[parent] += all.sizes[node];
                all.leaves[parent] += all.leaves[node];
                all.subtree_sums[parent] += all.subtree_sums[node];
            }
        }
    }
    all
}

fn measures(tour: &Tour, values: &[i64], walked: &Walked) {
    assert_eq!(tour.len(), values.len());
    assert!(tour.depths() == walked.depths);
    assert!(tour.preorder() == walked.preorder);
    assert!(tour.postorder() == walked.postorder);
    assert!(tour.sizes() == walked.sizes);
    assert!(tour.leaves().unwrap() == walked.leaves);
    assert!(tour.subtree_sums(values).unwrap() == walked.subtree_sums);
    assert!(tour.path_sums(values).unwrap() == walked.path_sums);
}

#[test]
fn measures_of_forests_are_those_of_a_walk() {
    // More nodes than are walked in any order.
    for_lengths(40_009, |len| {
        for parents in forests(len) {
            let values: Vec<i64> = (0..parents.len() as i64).map(|i| i * i % 1013 - 400).collect();
            let walked = walk(&parents, &values);
            measures(&Tour::of_parents(&parents).unwrap(), &values, &walked);

            // The same forest as parentheses, whose nodes are numbered as they open.
            let mut order: Vec<u32> = (0..parents.len() as u32).collect();
            order.sort_by_key(|&node| walked.preorder[node as usize]);
            let name = |&node: &u32| if node == NONE { NONE } else { walked.preorder[node as usize] };
            let renamed: Vec<u32> = order.iter().map(|&node| name(&parents[node as usize])).collect();
            let mut steps = vec![Side::Neither; 2 * parents.len()];
            let (depths, sizes) = (&walked.depths, &walked.sizes);
            for (i, &node) in order.iter().enumerate() {
                let (depth, size) = (depths[node as usize] as usize, sizes[node as usize] as usize);
                steps[2 * i - depth] = Side::Open;
                steps[2 * i - depth + 2 * size - 1] = Side::Close;
            }
            measures(&Tour::of_parentheses(&steps).unwrap(), &values, &walk(&renamed, &values));
        }
    });
}

#[test]
fn sums_of_integers_in_trees_wrap() {
    let chain: Vec<u32> = [NONE].into_iter().chain(0..99).collect();
    let tour = Tour::of_parents(&chain).unwrap();
    for value in [i32::MIN, i32::MAX] {
        let mut sums: Vec<i32> = (1..=100).map(|i: i32| value.wrapping_mul(i)).collect();
        assert_eq!(tour.path_sums(&[value; 100]).unwrap(), sums);
        sums.reverse();
        assert_eq!(tour.subtree_sums(&[value; 100]).unwrap(), sums);
    }
}

/// Totals by walking: of a subtree one node after the other in order, of a path from the root.
fn totals<M: Monoid>(parents: &[u32], values: &[M]) -> (Vec<M>, Vec<M>) {
    let Walked { preorder, sizes, .. } = walk(parents, &vec![0; parents.len()]);
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|&node| preorder[node]);
    let (mut subtrees, mut paths) = (values.to_vec(), values.to_vec());
    for &node in &order {
        if parents[node] != NONE {
            paths[node] = paths[parents[node] as usize].combine(values[node]);
        }
    }
    for (place, &node) in order.iter().enumerate().rev() {
        let (mut child, end) = (place + 1, place + sizes[node] as usize);
        while child < end {
            subtrees[node] = subtrees[node].combine(subtrees[order[child]]);
            child += sizes[order[child]] as usize;
        }
    }
    (subtrees, paths)
}

/// The same, and two chains with a leaf at each node: leaves are entered before the rest of the chain, or after it.
fn all_forests(len: usize) -> Vec<Vec<u32>> {
    let caterpillar = (0..len as u32).map(|i| if i == 0 { NONE } else { (i - 1) / 2 * 2 });
    let half = len as u32 / 2;
    let comb = (0..len as u32).map(|i| match i {
        0 => NONE,
        i if i <= half => i - 1,
        i => i - half - 1,
    });
    [forests(len), vec![caterpillar.collect(), comb.collect()]].concat()
}

#[test]
fn totals_of_any_monoid_are_those_of_a_walk() {
    for_lengths(40_009, |len| {
        for parents in all_forests(len) {
            let mut random = generator(len);
            let tour = Tour::of_parents(&parents).unwrap();
            // Maps modulo a power of two do not commute, and no grouping of them overflows.
            let maps: Vec<Shift> =
                (0..len).map(|_| Shift { a: random.bits() as u8 | 1, b: random.bits() as u8 }).collect();
            let (subtrees, paths) = totals(&parents, &maps);
            assert!(tour.subtree_totals(&maps).unwrap() == subtrees, "{len} nodes");
            assert!(tour.path_totals(&maps).unwrap() == paths, "{len} nodes");

            let values: Vec<Max<f64>> = (0..len).map(|_| Max(random.bits() as f64)).collect();
            let (subtrees, paths) = totals(&parents, &values);
            assert!(tour.subtree_totals(&values).unwrap() == subtrees, "{len} nodes");
            assert!(tour.path_totals(&values).unwrap() == paths, "{len} nodes");
        }
    });
}

/// x ↦ a·x + b of bytes, which wrap.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shift {
    a: u8,
    b: u8,
}

#[scan_monoid]
impl Monoid for Shift {
    fn identity() -> Self {
        Shift { a: 1, b: 0 }
    }

    fn combine(self, next: Self) -> Self {
        Shift { a: next.a.wrapping_mul(self.a), b: next.a.wrapping_mul(self.b).wrapping_add(next.b) }
    }
}

#[test]
fn sums_of_floats_have_the_values_of_their_own_nodes_only() {
    let tour = Tour::of_parents(&[NONE, 0, 0, 2]).unwrap();
    assert_eq!(tour.subtree_sums(&[1e8f32, 1.0, 1.0, 1.0]).unwrap(), [1e8, 1.0, 2.0, 1.0]);
    assert_eq!(tour.path_sums(&[1f32, 1e10, 1.0, 1.0]).unwrap(), [1.0, 1e10, 2.0, 3.0]);
    for_lengths(40_009, |len| {
        for parents in all_forests(len) {
            // Integers that are added exactly, in any order; huge values and infinities are in a few nodes.
            let mut random = generator(len);
            let exact: Vec<i64> = (0..len).map(|_| random.below(1000) as i64 - 500).collect();
            let marks: Vec<i64> = (0..len).map(|_| random.chance(50) as i64).collect();
            let huge = |i: usize| if i.is_multiple_of(2) { 1e300 } else { f64::INFINITY };
            let values: Vec<f64> = (0..len).map(|i| if marks[i] > 0 { huge(i) } else { exact[i] as f64 }).collect();
            let (sums, marked) = (walk(&parents, &exact), walk(&parents, &marks));
            let tour = Tour::of_parents(&parents).unwrap();
            let check = |got: Vec<f64>, sums: &[i64], marked: &[i64]| {
                for ((got, sum), marked) in got.into_iter().zip(sums).zip(marked) {
                    assert!(if *marked == 0 { got == *sum as f64 } else { got >= 1e300 }, "{got} of {len} nodes");
                }
            };
            check(tour.subtree_sums(&values).unwrap(), &sums.subtree_sums, &marked.subtree_sums);
            check(tour.path_sums(&values).unwrap(), &sums.path_sums, &marked.path_sums);
        }
    });
}

/// The sums over subtrees and paths that a loop makes: of subtrees from the node that is entered last to the first.
fn by_loops(parents: &[u32], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let Walked { preorder, .. } = walk(parents, &vec![0; parents.len()]);
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|&node| preorder[node]);
    let (mut subtrees, mut paths) = (values.to_vec(), values.to_vec());
    for &node in order.iter().rev().filter(|&&node| parents[node] != NONE) {
        subtrees[parents[node] as usize] += subtrees[node];
    }
    for &node in order.iter().filter(|&&node| parents[node] != NONE) {
        paths[node] += paths[parents[node] as usize];
    }
    (subtrees, paths)
}

/// Blocks have 8192 nodes, and four threads share more than 2^16.
#[test]
fn floats_in_trees_are_rounded_as_by_the_loop_with_and_without_threads() {
    let bits = |floats: &[f64]| floats.iter().map(|float| float.to_bits()).collect::<Vec<u64>>();
    for len in [1000, 1 << 16, 9 * 8192, 9 * 8192 + 1] {
        for parents in all_forests(len) {
            let mut random = generator(len);
            let values: Vec<f64> =
                (0..len).map(|_| random.bits() as i32 as f64 * 0.1f64.powi(random.below(9))).collect();
            let sums: Vec<Sum<f64>> = values.iter().map(|value| Sum(*value)).collect();
            let (subtrees, paths) = by_loops(&parents, &values);
            let (totals, _) = totals(&parents, &sums);
            let totals: Vec<f64> = totals.iter().map(|total| total.0).collect();
            let tour = Tour::of_parents(&parents).unwrap();
            for threads in [1, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    assert!(
                        bits(&tour.subtree_sums(&values).unwrap()) == bits(&subtrees),
                        "{len} nodes, {threads} threads"
                    );
                    assert!(bits(&tour.path_sums(&values).unwrap()) == bits(&paths), "{len} nodes, {threads} threads");
                    let got: Vec<f64> = tour.subtree_totals(&sums).unwrap().iter().map(|total| total.0).collect();
                    assert!(bits(&got) == bits(&totals), "{len} nodes, {threads} threads");
                    let got: Vec<f64> = tour.path_totals(&sums).unwrap().iter().map(|total| total.0).collect();
                    assert!(bits(&got) == bits(&paths), "{len} nodes, {threads} threads");
                });
            }
        }
    }
}

/// Integers are sums of a scan there, and maps are combined in the order of the nodes.
#[test]
fn integers_and_maps_in_trees_are_those_of_a_walk_where_threads_share_them() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for len in [9 * 8192, 9 * 8192 + 1] {
        for parents in all_forests(len) {
            let mut random = generator(len);
            let values: Vec<i64> = (0..len).map(|_| random.bits() as i32 as i64).collect();
            let maps: Vec<Shift> =
                (0..len).map(|_| Shift { a: random.bits() as u8 | 1, b: random.bits() as u8 }).collect();
            let (sums, (subtrees, paths)) = (walk(&parents, &values), totals(&parents, &maps));
            let tour = Tour::of_parents(&parents).unwrap();
            pool.install(|| {
                assert!(tour.subtree_sums(&values).unwrap() == sums.subtree_sums, "{len} nodes");
                assert!(tour.path_sums(&values).unwrap() == sums.path_sums, "{len} nodes");
                assert!(tour.leaves().unwrap() == sums.leaves, "{len} nodes");
                assert!(tour.subtree_totals(&maps).unwrap() == subtrees, "{len} nodes");
                assert!(tour.path_totals(&maps).unwrap() == paths, "{len} nodes");
            });
        }
    }
}

/// An identity would show where blocks meet: the greater of −∞ and NaN is −∞, and 0 + −0 is 0.
#[test]
fn totals_of_trees_are_of_their_values_alone() {
    for len in [1u32, 2, 8192, 8193, 30_000, 70_000] {
        let chain: Vec<u32> = [NONE].into_iter().chain(0..len - 1).collect();
        let star: Vec<u32> = (0..len).map(|node| if node == 0 { NONE } else { 0 }).collect();
        for parents in [chain, star] {
            let tour = Tour::of_parents(&parents).unwrap();
            let none = vec![Max(f64::NAN); len as usize];
            let [subtrees, paths] = [tour.subtree_totals(&none), tour.path_totals(&none)].map(Result::unwrap);
            assert!(subtrees.iter().chain(&paths).all(|total| total.0.is_nan()), "{len} nodes");
            let zeros = vec![-0.0f32; len as usize];
            let [subtrees, paths] = [tour.subtree_sums(&zeros), tour.path_sums(&zeros)].map(Result::unwrap);
            assert!(subtrees.iter().chain(&paths).all(|sum| sum.is_sign_negative()), "{len} nodes");
        }
    }
}

#[test]
fn a_million_nodes_in_a_chain_or_a_star_have_their_sums() {
    let len = 1_000_000u32;
    let chain: Vec<u32> = [NONE].into_iter().chain(0..len - 1).collect();
    let star: Vec<u32> = (0..len).map(|node| if node == 0 { NONE } else { 0 }).collect();
    let ones = vec![1.0f32; len as usize];
    let up_to = |last: u32| (1..=last).map(|i| i as f32);
    let chain = Tour::of_parents(&chain).unwrap();
    assert!(chain.path_sums(&ones).unwrap().into_iter().eq(up_to(len)));
    assert!(chain.subtree_sums(&ones).unwrap().into_iter().rev().eq(up_to(len)));
    let star = Tour::of_parents(&star).unwrap();
    assert!(star.path_sums(&ones).unwrap()[1..].iter().all(|&sum| sum == 2.0));
    assert_eq!(star.subtree_sums(&ones).unwrap()[..2], [len as f32, 1.0]);
}

#[test]
fn what_is_no_forest_is_refused() {
    let parents = |parents: &[u32]| Tour::of_parents(parents).unwrap_err();
    assert!(matches!(parents(&[NONE, 2]), AlgoError::Index { argument: "parents", place: 1, expected: 2, got: 2 }));
    assert!(matches!(parents(&[0]), AlgoError::Cycle { element: 0 }));
    assert!(matches!(parents(&[NONE, 2, 3, 1]), AlgoError::Cycle { element: 1..=3 }));
    // Nodes that only lead into a cycle are not on it.
    assert!(matches!(parents(&[1, 2, 3, 2]), AlgoError::Cycle { element: 2..=3 }));
    assert!(matches!(parents(&[NONE, 2, 3, 4, 4]), AlgoError::Cycle { element: 4 }));
    // So are those of more nodes than are walked.
    let mut many: Vec<u32> = (0..40_000).map(|node| if node == 0 { NONE } else { node + 1 }).collect();
    (many[1], many[2], many[39_999]) = (2, 1, 2);
    in_pools(|| assert!(matches!(parents(&many), AlgoError::Cycle { element: 1..=2 })));
    let sides = |text: &str| text.bytes().map(Side::of_byte).collect::<Vec<_>>();
    for (text, first) in [("()(", 2), (")(", 0), ("(x)", 1)] {
        let error = Tour::of_parentheses(&sides(text)).unwrap_err();
        assert!(matches!(error, AlgoError::Unmatched { place } if place == first), "{text}: {error}");
    }
    let tour = Tour::of_parentheses(&sides("()")).unwrap();
    for totals in [tour.subtree_totals(&[1, 2].map(Max)), tour.path_totals(&[1, 2].map(Max))] {
        assert!(matches!(totals, Err(AlgoError::Length { argument: "values", expected: 1, got: 2 })));
    }
    for sums in [tour.subtree_sums(&[1, 2]), tour.path_sums(&[1, 2])] {
        assert!(matches!(sums, Err(AlgoError::Length { argument: "values", expected: 1, got: 2 })));
    }
}

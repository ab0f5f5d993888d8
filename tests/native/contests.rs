//! Short calls, of which the first ones are shared by a function and generated code, until one is
//! found to be faster. Results are the same from the first call to the last. A build with debug
//! assertions tries no function: `cargo test --release --test native` has the contests.

use super::*;

/// Calls of each kind: more than decide.
const CALLS: usize = 200;

/// Lengths of several binary logarithms, those included that decide nothing.
const LENGTHS: [usize; 6] = [0, 1, 15, 63, 300, 5000];

type Make<M> = fn(&mut Random) -> M;

/// The results of every kind of short call over these records.
fn calls<M: Monoid + PartialEq + Debug>(scan: &Scan<M>, x: &[M], random: &mut Random) -> Vec<Vec<M>> {
    let flags: Vec<bool> = (0..x.len()).map(|_| random.below(5) == 0).collect();
    let starts = (0..x.len()).filter(|&place| place == 0 || flags[place]);
    // Some segments are empty.
    let mut offsets: Vec<usize> = [0].into_iter().chain(starts).chain([x.len(); 2]).collect();
    offsets.sort_unstable();
    let mut results = vec![
        scan.inclusive(x).unwrap(),
        scan.exclusive(x).unwrap(),
        vec![scan.reduce(x).unwrap()],
        scan.segmented(&flags).inclusive(x).unwrap(),
        scan.segmented(&flags).exclusive(x).unwrap(),
        scan.segmented(&offsets).inclusive(x).unwrap(),
        scan.segmented(&offsets).exclusive(x).unwrap(),
    ];
    let mut carry = x.first().copied().unwrap_or(M::identity());
    results.push(scan.resuming(&mut carry).inclusive(x).unwrap());
    results.push(vec![carry]);
    // Over their input functions do not write.
    let mut replaced = vec![x.to_vec(); 4];
    scan.inclusive_in_place(&mut replaced[0]).unwrap();
    scan.segmented(&flags).inclusive_in_place(&mut replaced[1]).unwrap();
    scan.segmented(&offsets).exclusive_in_place(&mut replaced[2]).unwrap();
    for (row, pitch) in [(1, 1), (3, 3), (16, 20), (40, 40)] {
        let Ok(rows) = Rows::new(x.len() / pitch, row, pitch) else { continue };
        let mut written = x.to_vec();
        scan.rows(rows).inclusive_into(x, &mut written).unwrap();
        results.push(written.clone());
        scan.rows(rows).exclusive_into(x, &mut written).unwrap();
        results.push(written);
        scan.rows(rows).inclusive_in_place(&mut replaced[3]).unwrap();
    }
    results.extend(replaced);
    results
}

fn compare<M: Monoid + PartialEq + Debug>(make: Make<M>) {
    let build = |native| {
        let plan = PlanOptions { native, ..PlanOptions::default() };
        Scan::<M>::builder().threads(1).plan(plan).build().unwrap()
    };
    let [tried, generated] = [None, Some(false)].map(build);
    let mut random = Random(31);
    for len in LENGTHS {
        for call in 0..CALLS {
            let x: Vec<M> = (0..len).map(|_| make(&mut random)).collect();
            let mut same = Random(call as u64);
            let one = calls(&tried, &x, &mut same);
            let mut same = Random(call as u64);
            let other = calls(&generated, &x, &mut same);
            for (kind, (one, other)) in one.iter().zip(&other).enumerate() {
                assert!(one == other, "{len} records, call {call}, kind {kind}: {one:?}, not {other:?}");
            }
        }
    }
}

#[test]
fn short_calls_give_what_generated_code_gives() {
    compare::<Sum<u8>>(|random| Sum(random.below(250) as u8));
    compare::<Sum<i32>>(|random| Sum(random.below(1000) - 500));
    // Each addition rounds, so that another order shows.
    compare::<Sum<f64>>(|random| Sum(f64::from(random.below(1000)) * 0.1));
    compare::<Sum<f32>>(|random| Sum(random.below(1000) as f32 * 0.1));
    compare::<Max<f32>>(|random| Max(random.below(1000) as f32));
    compare::<Corner>(|random| {
        let mut number = || random.below(3) - 1;
        Corner { a: number(), b: number(), corner: number() }
    });
    compare::<Affine<f64>>(|random| Affine { a: 0.9, b: f64::from(random.below(100)) });
}

//! Random loops: what is derived is built.

use monoscan_ir::{Constant, Type, interp};
use monoscan_runtime::{DynScan, Error};
use scan_kit::Random;
use scan_kit::checked_loops::is_exact;
use scan_kit::loop_step::step_arguments;
use scan_kit::random::random_loop;

use super::{Data, Sequential, StatesAfter, any_plan, seeds, small};

#[test]
fn what_is_derived_is_built_and_gives_what_the_loop_gives() {
    let (all, mut built, mut wrong) = (seeds(120), 0, Vec::new());
    for seed in all.clone() {
        let mut random = Random(seed);
        let of = random_loop(seed);
        let plan = any_plan(&mut random);
        let scan = match DynScan::loop_builder(&of).and_then(|builder| builder.plan(plan).threads(1).build()) {
            Ok(scan) => scan,
            Err(Error::NotAScan(_)) => continue,
            Err(error) => {
                wrong.push(format!("seed {seed}: {error}\nfrom {:?}\n{}", of.initial, of.step));
                continue;
            }
        };
        built += 1;
        let len = [40, 40, 300, 300, 2000][random.below(5)];
        let types: Vec<Type> = of.inputs.iter().flat_map(|column| column.types()).collect();
        let parameters: Vec<Constant> = of.parameters.iter().map(|&ty| small(ty, &mut random)).collect();
        let record = |_| types.iter().map(|&ty| small(ty, &mut random)).collect();
        let records: Vec<Vec<Constant>> = (0..len).map(record).collect();
        let bytes = |place: usize| records.iter().flat_map(|record| record[place].to_bytes()).collect();
        let inputs = of.inputs.iter().enumerate().map(|(place, layout)| (bytes(place), layout)).collect();
        let data = Data { inputs, outputs: &of.output.columns, len };
        let states = |places: &[usize]| {
            let records: Vec<Vec<Constant>> = places.iter().map(|&place| records[place].clone()).collect();
            let mut state = of.initial.clone();
            let next = |place: usize| {
                let arguments = step_arguments(&of, &state, &parameters, &records, place);
                let (next, overflowed) = interp::call_checked(&of.step.function, &arguments, &of.tables);
                state = next;
                (!overflowed).then(|| state.clone())
            };
            (0..records.len()).map_while(next).collect()
        };
        let states: Option<&StatesAfter<'_>> = if is_exact(&of) { Some(&states) } else { None };
        let expected = Sequential { start: of.initial.clone(), states };
        if let Some(why) = data.wrong(&scan.with(&parameters).unwrap(), &expected, &mut random) {
            wrong.push(format!("seed {seed}: {why}\nfrom {:?}\n{}", of.initial, of.step));
        }
    }
    println!("{built} of {all:?} are scans");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(built * 5 > all.count(), "{built}");
}

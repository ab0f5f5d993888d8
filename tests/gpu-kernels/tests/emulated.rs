//! Kernels in the emulator write what the interpreter says, and leave the workspace as the next
//! launch needs it.
//!
//! Kernels and calls are drawn at random, the same in every run; `MONOSCAN_ROUNDS=20` draws as many
//! times as many.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use monoscan_codegen::gpu::{Arch, FAULT_STUCK, GROUP, GpuPlan, MOST_BUFFERS, Schedule};
use monoscan_codegen::nvptx::{KernelPlan, PlanError};
use monoscan_ir::Constant;
use monoscan_ir::interp::{self, Mode, Request};
use monoscan_ir::transform::{Form, lower};
use scan_emulator::{Fault, Intrinsic};
use scan_gpu_kernels::{
    CASCADES, Call, Case, Failure, RING, SCHEDULES, SHIFTED, Subject, by_hand, form, marked_cases, of_algorithms,
    of_bytes, of_expansions, of_floats, of_loops, of_rule_sets, of_the_zoo, random_cases, small_plan, wide_sums,
};
use scan_kit::Random;

/// About the most records of a call.
const MOST: usize = 3000;

/// How many times as many kernels as usual.
fn rounds() -> u64 {
    std::env::var("MONOSCAN_ROUNDS").map_or(1, |rounds| rounds.parse().expect("MONOSCAN_ROUNDS is a number"))
}

/// The requests of calls, by the schedules that they were run by.
#[derive(Default)]
struct Seen(BTreeSet<(&'static str, &'static str)>);

impl Seen {
    fn note(&mut self, subject: &Subject<'_>, call: &Call) {
        let schedule = subject.plan().schedule.name();
        let tile = subject.plan().tile();
        let aspects = [
            (call.reversed, "reversed"),
            (call.started, "started"),
            (call.resumed, "resumed"),
            (call.totals, "totals"),
            (call.in_place, "in place"),
            (call.rows() > 1, "rows"),
            (call.each && call.rows() > 1, "states of each row"),
            (call.planes > 1 && call.gap > 0, "gaps"),
            (call.shifts != [0; 3], "unaligned"),
            (call.records == 1, "one record"),
            (call.records == tile, "one tile"),
            (call.records == tile + 1, "a tile and one"),
            (call.records > 3 * tile, "tiles"),
            (subject.keeps(), "keeps"),
            (subject.keeps() && call.capacity < 1000, "small capacity"),
            (subject.is_cascade(), "cascade"),
            (subject.is_cascade() && call.started && call.totals, "started cascade, totals"),
            (subject.has_starts(), "starts of each segment"),
        ];
        self.0.extend(aspects.into_iter().filter(|(asked, _)| *asked).map(|(_, aspect)| (schedule, aspect)));
    }

    fn must_have(&self, schedule: Schedule, aspects: &[&'static str]) {
        for aspect in aspects {
            assert!(self.0.contains(&(schedule.name(), aspect)), "{schedule:?}: no call was for {aspect}");
        }
    }
}

/// Some calls, a few at a time in one workspace, of a kernel by each schedule.
fn check(cases: &[Case], seed: u64) -> Seen {
    let mut seen = Seen::default();
    for round in 0..rounds() {
        let random = &mut Random(seed + 1000 * round);
        for case in cases {
            check_one(case, random, &mut seen);
        }
    }
    seen
}

/// Gives how many launches that was.
fn check_one(case: &Case, random: &mut Random, seen: &mut Seen) -> usize {
    let mut launches = 0;
    for schedule in SCHEDULES {
        let form = form(random);
        let subject = match Subject::new(case, form, &small_plan(random, case, form, schedule)) {
            Ok(subject) => subject,
            Err(error @ (PlanError::Buffers { .. } | PlanError::Warps { .. })) => panic!("{error}: {:?}", case.program),
            Err(_) => continue,
        };
        for _ in 0..3 {
            let calls: Vec<Call> = (0..3).map(|_| Call::random(random, &subject, MOST)).collect();
            calls.iter().for_each(|call| seen.note(&subject, call));
            subject.must_be_right(&calls);
            launches += calls.len();
        }
    }
    launches
}

#[test]
fn the_zoo() {
    let seen = check(&of_the_zoo(), 1);
    let everywhere = ["started", "totals", "in place", "one record"];
    let tiles = ["one tile", "a tile and one", "tiles"];
    seen.must_have(RING, &[&everywhere[..], &tiles].concat());
    seen.must_have(SHIFTED, &[&everywhere[..], &tiles, &["unaligned"]].concat());
    let anywhere = ["rows", "states of each row", "gaps", "reversed", "unaligned"];
    seen.must_have(Schedule::LookBack, &[&everywhere[..], &tiles, &anywhere].concat());
    seen.must_have(Schedule::Columnar, &[&everywhere[..], &anywhere].concat());
}

#[test]
fn programs_by_hand() {
    let seen = check(&by_hand(), 2);
    let all = ["resumed", "keeps", "small capacity", "cascade", "started cascade, totals", "starts of each segment"];
    seen.must_have(RING, &all);
    seen.must_have(SHIFTED, &[&all[..], &["unaligned"]].concat());
    seen.must_have(Schedule::LookBack, &all);
}

#[test]
fn scans_of_algorithms() {
    let seen = check(&of_algorithms(), 9);
    seen.must_have(RING, &["keeps", "tiles", "resumed"]);
    seen.must_have(Schedule::LookBack, &["keeps", "tiles", "reversed"]);
}

/// Runs and segments begin with the identity, which shows where they begin with NaN or −0.
#[test]
fn functions_of_many_instructions() {
    check(&[of_expansions()], 7);
}

/// Where the loop is less work than the stages, threads enter its state from theirs. Programs of loops start from a state of
/// these.
#[test]
fn replays_by_the_step_of_a_loop() {
    for (number, case) in of_loops().iter().enumerate() {
        // Two levels take more buffers than one.
        let ring = if number % 2 == 1 { CASCADES } else { RING };
        for (schedule, mode) in
            [(ring, Mode::Inclusive), (ring, Mode::Exclusive), (Schedule::LookBack, Mode::Inclusive)]
        {
            let form = Form { mode, ..Form::default() };
            let plan = GpuPlan { schedule, warps: 2, load_group: 1, load_groups: 3 };
            let subject = Subject::new(case, form, &plan).expect("a plan that fits");
            let tile = subject.plan().tile();
            let call = |records| Call { schedule: (number + records) as u64, started: true, ..Call::line(records) };
            subject.must_be_right(&[1, tile, tile + 1, 5 * tile + 7].map(call));
        }
    }
}

#[test]
fn floats_that_are_special() {
    let seen = check(&of_floats(), 4);
    seen.must_have(RING, &["started", "totals", "tiles"]);
    seen.must_have(Schedule::LookBack, &["started", "rows", "tiles"]);
    seen.must_have(Schedule::Columnar, &["started", "rows", "totals"]);
}

/// In tiles of their plans' own shape, and with the tables that these have space for.
#[test]
fn automata() {
    let is_lexer = |case: &Case| ["lexer", "oracle", "munch"].contains(&&case.program.name[..]);
    let is_one = |case: &Case| case.program.name.starts_with("automaton_") || is_lexer(case);
    for (seed, case) in by_hand().iter().filter(|case| is_one(case)).enumerate() {
        let is_cascade = lower(&case.program, Form::default()).levels().len() > 1;
        for schedule in [if is_cascade { CASCADES } else { RING }, Schedule::LookBack] {
            let plan = GpuPlan { schedule, warps: 2, load_group: 16, load_groups: 3 };
            let Ok(subject) = Subject::new(case, Form::default(), &plan) else { continue };
            let tile = subject.plan().tile();
            let call =
                |records: usize| Call { schedule: seed as u64, totals: true, started: true, ..Call::line(records) };
            subject.must_be_right(&[call(3 * tile + 5), call(tile)]);
        }
    }
}

/// Oracles, labels and lists of tokens of the rules that come with monoscan, in a line and in one that goes on.
#[test]
fn lexers_of_rule_sets() {
    let mut run = 0;
    for (seed, case) in of_rule_sets().iter().enumerate() {
        let is_cascade = lower(&case.program, Form::default()).levels().len() > 1;
        for schedule in [if is_cascade { CASCADES } else { RING }, Schedule::LookBack] {
            let plan = GpuPlan { schedule, warps: 2, load_group: 16, load_groups: 1 };
            let Ok(subject) = Subject::new(case, Form::default(), &plan) else { continue };
            let tile = subject.plan().tile();
            let call = |records| Call { data: seed as u64, schedule: seed as u64, ..Call::line(records) };
            subject.must_be_right(&[call(2 * tile + 5), Call { started: true, totals: true, ..call(tile) }]);
            run += 1;
        }
    }
    assert!(run > 12, "{run} kernels");
}

/// In words of marks that are full and in others, four records at a time and one by one, in tiles inside and at both ends.
#[test]
fn marks() {
    let of_places = ["kept_ends", "kept_places", "kept_runs", "kept_gaps", "kept_twice", "kept_alike"];
    for (seed, name) in of_places.into_iter().chain(["selected", "kept_columns", "kept_in_vain"]).enumerate() {
        let case = named(name);
        for (load_group, load_groups) in [(16, 3), (4, 5), (4, 17), (1, 33)] {
            let plan = GpuPlan { schedule: RING, warps: 2, load_group, load_groups };
            let Ok(subject) = Subject::new(&case, Form::default(), &plan) else { continue };
            let tile = subject.plan().tile();
            let of = seed as u64;
            let call = |records| Call { data: of, schedule: of, started: true, totals: true, ..Call::line(records) };
            subject.must_be_right(&[5 * tile, 3 * tile + 5, tile].map(call));
        }
    }
}

#[test]
fn random_marks() {
    let cases = marked_cases(0..16 * rounds());
    check(&cases, 6).must_have(RING, &["keeps", "tiles", "small capacity", "started", "totals"]);
    for (seed, case) in cases.iter().enumerate() {
        for (load_group, load_groups) in [(16, 3), (4, 9), (4, 17)] {
            let plan = GpuPlan { schedule: RING, warps: 2, load_group, load_groups };
            let Ok(subject) = Subject::new(case, Form::default(), &plan) else { continue };
            let tile = subject.plan().tile();
            let of = seed as u64;
            let call = |records| Call { data: of, schedule: of, started: true, totals: true, ..Call::line(records) };
            subject.must_be_right(&[2 * tile + 5, tile].map(call));
        }
    }
}

/// In units of whole words and others, in full tiles and the rest.
#[test]
fn bytes() {
    for (seed, case) in of_bytes().iter().enumerate() {
        let random = &mut Random(seed as u64);
        for (load_group, load_groups) in [(16, 3), (4, 5), (2, 1)] {
            for schedule in [RING, Schedule::LookBack] {
                let plan = GpuPlan { schedule, warps: 1, load_group, load_groups };
                let Ok(subject) = Subject::new(case, form(random), &plan) else { continue };
                let tile = subject.plan().tile();
                let lengths = [2 * tile + random.below(tile), tile];
                let call = |records| Call { records, planes: 1, ..Call::random(random, &subject, tile) };
                subject.must_be_right(&lengths.map(call));
            }
        }
    }
}

/// Kernels may use that states are valid, so records that give others would tell nothing.
#[test]
fn records_give_valid_states() {
    let cases = [of_the_zoo(), by_hand(), of_algorithms(), of_loops(), of_floats(), of_bytes(), random_cases(0..24)];
    for case in cases.iter().flatten() {
        let random = &mut Random(5);
        let parameters: Vec<Constant> = case.program.parameters.iter().map(|ty| ty.zero()).collect();
        for count in (1..=3).cycle().take(60) {
            let columns = case.records(random, count);
            let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
            let request = Request { parameters: parameters.clone(), ..Request::default() };
            let run = interp::run(&case.program, &columns, &request).expect("records of the program");
            for (stage, state) in case.program.stages.iter().zip(&run.states_after) {
                let is_valid = |valid| interp::call(valid, state, &case.program.tables)[0].bits() != 0;
                assert!(stage.valid.as_ref().is_none_or(is_valid), "{state:?} in\n{}", *case.program);
            }
        }
    }
}

#[test]
fn random_programs() {
    let seen = check(&random_cases(0..24 * rounds()), 3);
    seen.must_have(Schedule::LookBack, &["keeps", "small capacity"]);
    seen.must_have(RING, &["keeps", "cascade", "tiles"]);
}

/// For `MONOSCAN_SOAK` seconds, from the seed `MONOSCAN_SEED` on.
#[test]
#[ignore = "takes as long as it is told: cargo xtask soak SECONDS"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seconds, first) = (number("MONOSCAN_SOAK").unwrap_or(1), number("MONOSCAN_SEED").unwrap_or(0));
    let start = Instant::now();
    let (mut launches, mut seed) = (0, first);
    while start.elapsed() < Duration::from_secs(seconds) {
        for case in random_cases(seed..seed + 1) {
            launches += check_one(&case, &mut Random(seed), &mut Seen::default());
        }
        seed += 1;
    }
    println!("seeds {first} to {seed}: {launches} launches in the emulator, all as the interpreter's");
}

fn named(name: &str) -> Case {
    by_hand().into_iter().find(|case| case.program.name == name).expect("a program by hand")
}

fn small(case: &Case, schedule: Schedule, warps: usize) -> Subject<'_> {
    Subject::new(case, Form::default(), &GpuPlan { schedule, warps, load_group: 1, load_groups: 1 })
        .expect("a plan that fits")
}

#[test]
fn around_groups_of_tiles() {
    for (name, schedule) in [
        ("recurrence", RING),
        ("neighbours", RING),
        ("neighbours", SHIFTED),
        ("cascade_of_three", CASCADES),
        ("kept_sums", CASCADES),
        ("recurrence", Schedule::LookBack),
        ("cascade_of_three", Schedule::LookBack),
        ("brackets", Schedule::LookBack),
    ] {
        let case = named(name);
        let subject = small(&case, schedule, 1);
        let group = GROUP * subject.plan().tile();
        for (seed, records) in [group - 1, group, group + 1, group + 40, 2 * group, 2 * group + 1, 2 * group + 5 * 32]
            .into_iter()
            .enumerate()
        {
            let call = |launch: usize| Call {
                schedule: (2 * seed + launch) as u64,
                processors: 6,
                resident: 6,
                started: true,
                totals: true,
                ..Call::line(records)
            };
            subject.must_be_right(&[call(0), call(1)]);
        }
    }
}

/// Of wide states a window is one group, so that it takes several to get past more.
#[test]
fn windows_of_one_group() {
    let case = wide_sums();
    for schedule in [RING, SHIFTED] {
        let subject = small(&case, schedule, 1);
        let group = GROUP * subject.plan().tile();
        for (seed, records) in [group, group + 1, 2 * group + 40].into_iter().enumerate() {
            let seed = seed as u64;
            let call =
                Call { schedule: seed, processors: 6, resident: 6, started: true, totals: true, ..Call::line(records) };
            subject.must_be_right(&[call]);
        }
    }
}

/// The first fold of a cascade is twice as far ahead, and numbers of any size are judged.
#[test]
fn rings_of_too_few_buffers_are_refused() {
    let refused = |name: &str, buffers: usize, ahead: usize| {
        let schedule = Schedule::Ring { buffers, ahead, shifted: false };
        let plan = GpuPlan { schedule, warps: 1, load_group: 1, load_groups: 1 };
        match KernelPlan::with(&lower(&named(name).program, Form::default()), &plan, Arch::Sm90) {
            Err(PlanError::Buffers { needs, .. }) => Some(needs),
            _ => None,
        }
    };
    assert_eq!([refused("recurrence", 4, 3), refused("recurrence", 5, 3)], [Some(5), None]);
    assert_eq!([refused("kept_sums", 7, 3), refused("kept_sums", 8, 3)], [Some(8), None]);
    for ahead in [0, MOST_BUFFERS, 1 << 63, usize::MAX] {
        assert!(
            refused("kept_sums", MOST_BUFFERS, ahead).is_some() && refused("recurrence", usize::MAX, ahead).is_some()
        );
    }
}

/// A block that nobody answers gives up, and so do all others; the launch ends, and says so.
#[test]
fn waits_in_vain_end() {
    for schedule in [RING, Schedule::LookBack] {
        let case = named("recurrence");
        let subject = small(&case, schedule, 1);
        let publish = subject
            .kernel
            .calls()
            .find(|(_, intrinsic, _)| *intrinsic == Intrinsic::StorePair)
            .expect("tiles are published");
        for totals in [false, true] {
            let call = Call { timeout: 1000, totals, ..Call::line(7 * subject.plan().tile()) };
            let told = if totals { FAULT_STUCK } else { 0 };
            match subject.run(&[call], &[Fault::WithoutCall(publish.0)]) {
                Err(Failure::Left { found, .. }) => assert_eq!(found, [0, 1, FAULT_STUCK, told]),
                other => panic!("{schedule:?}: {other:?}"),
            }
        }
    }
}

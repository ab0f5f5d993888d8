//! Each call that orders something or tells other blocks something is there for a reason, and so is
//! each look at a tag: without it, some schedule goes wrong.

use monoscan_codegen::gpu::{GROUP, GpuPlan, Schedule};
use monoscan_ir::transform::Form;
use scan_emulator::{Fault, Intrinsic};
use scan_gpu_kernels::{CASCADES, Call, Case, RING, SHIFTED, Subject, by_hand};

/// Schedules that a right kernel is right under.
const SCHEDULES: u64 = 16;

/// Schedules within which a mistake must show.
const MOST_SCHEDULES: u64 = 100;

/// Steps within which a right launch ends. A launch with a mistake may have no end.
const PATIENCE: u64 = 2_000_000;

/// A kernel with tiles so small that many of them take little time.
fn with_kernel(name: &str, schedule: Schedule, act: impl FnOnce(&Subject<'_>)) {
    let case: Case = by_hand().into_iter().find(|case| case.program.name == name).expect("a program by hand");
    let plan = GpuPlan { schedule, warps: 2, load_group: 1, load_groups: 1 };
    let subject = Subject::new(&case, Form::default(), &plan).expect("a plan that fits");
    (0..SCHEDULES).for_each(|schedule| subject.must_be_right(&calls(&subject, schedule)));
    act(&subject);
}

/// Launches in one workspace: of few tiles and of one, or of more than a group.
fn calls(subject: &Subject<'_>, schedule: u64) -> Vec<Call> {
    let tile = subject.plan().tile();
    let lengths = if schedule % 4 == 3 || schedule >= SCHEDULES {
        vec![137 * tile + 1]
    } else {
        vec![7 * tile + 3, tile - 1, 5 * tile - 1]
    };
    let call = |(launch, records): (usize, usize)| Call {
        data: schedule,
        schedule: 3 * schedule + launch as u64,
        resident: 8,
        processors: 8,
        started: true,
        totals: schedule % 2 == 1,
        patience: PATIENCE,
        // The program that a shifted ring is tried with has fields of four bytes.
        shifts: if subject.plan().schedule == SHIFTED { [4; 3] } else { [0; 3] },
        ..Call::line(records)
    };
    lengths.into_iter().enumerate().map(call).collect()
}

/// The first schedule that something goes wrong under.
fn first_failure(subject: &Subject<'_>, faults: &[Fault]) -> Option<u64> {
    (0..MOST_SCHEDULES).find(|&schedule| subject.run(&calls(subject, schedule), faults).is_err())
}

fn each_call_is_missed(subject: &Subject<'_>) {
    let mut before = None;
    for (call, intrinsic, text) in subject.kernel.calls() {
        // Says that waiting had no end, which these launches have no cause to say.
        if intrinsic == Intrinsic::StoreControl && text.ends_with("i32 1)") {
            continue;
        }
        // What these kernels could do without, by the emulator's rules.
        let is_spare = match intrinsic {
            // The end of the kernel, too, waits for bulk stores to land.
            Intrinsic::BulkWait => true,
            // After a look at what others say of that, the lanes that waited for other blocks come together again; nothing that
            // they wrote or read needs it.
            Intrinsic::WarpBarrier => before == Some(Intrinsic::LoadControl),
            _ => false,
        };
        before = Some(intrinsic);
        let tells = matches!(intrinsic, Intrinsic::StoreWord | Intrinsic::StorePair | Intrinsic::StoreControl);
        if (intrinsic.orders() || tells) && !is_spare {
            let failure = first_failure(subject, &[Fault::WithoutCall(call)]);
            assert!(failure.is_some(), "{}: {call:?}, {text}, is not missed", subject.name());
        }
    }
}

/// The kernel's text without one look at a tag each: comparisons with the word that is one more than the epoch.
fn without_tags(text: &str) -> Vec<String> {
    let is_tag = |value: &str| {
        let definition = format!("  {value} = add i32 ");
        text.lines().any(|line| line.starts_with(&definition) && line.ends_with(", 1"))
    };
    let checks = text.match_indices(" = icmp eq i32 ").filter_map(|(start, found)| {
        let operands = start + found.len();
        let end = operands + text[operands..].find('\n')?;
        let (found, tag) = text[operands..end].split_once(", ")?;
        is_tag(tag).then(|| format!("{}{found}, {found}{}", &text[..operands], &text[end..]))
    });
    checks.collect()
}

fn each_tag_is_looked_at(subject: &Subject<'_>) {
    let mutants = without_tags(&subject.text);
    // At least each of the states that a lane reads of a group.
    assert!(mutants.len() >= GROUP / 32, "{}", subject.text);
    for (check, text) in mutants.iter().enumerate() {
        let failure = first_failure(&subject.with_text(text), &[]);
        assert!(failure.is_some(), "{}: tag {check} of {} is not missed", subject.name(), mutants.len());
    }
}

/// The kernel's text with each look at an output symbol once so that it finds none, and without each place that is listed because of
/// one. These symbols are the bytes in shared memory whose comparison with 0 decides a branch, places the numbers of two bytes that are
/// stored there.
fn without_output_symbols(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_symbol = |value: &str| {
        let definition = format!("{value} = load i8, ptr addrspace(3)");
        lines.iter().any(|line| line.trim_start().starts_with(&definition))
    };
    let mutant = |line: &str| {
        if line.contains("store i16 ") && line.contains("addrspace(3)") {
            return Some(String::new());
        }
        let (is_marked, operands) = line.split_once(" = icmp ne i8 ")?;
        let symbol = operands.strip_suffix(", 0")?;
        let branch = format!("br i1 {}, ", is_marked.trim_start());
        let decides = lines.iter().any(|line| line.contains(&branch));
        (decides && is_symbol(symbol)).then(|| line.replace(", 0", &format!(", {symbol}")))
    };
    let mutants = lines.iter().enumerate().filter_map(|(place, line)| {
        let mutant = mutant(line)?;
        Some([&lines[..place], &[&mutant[..]], &lines[place + 1..]].concat().join("\n") + "\n")
    });
    mutants.collect()
}

fn each_output_symbol_counts(subject: &Subject<'_>) {
    let mutants = without_output_symbols(&subject.text);
    assert!(mutants.len() >= 2, "a look and a place: {}", subject.text);
    for (place, text) in mutants.iter().enumerate() {
        let failure = first_failure(&subject.with_text(text), &[]);
        assert!(failure.is_some(), "{}: mutant {place} of {} is right", subject.name(), mutants.len());
    }
}

#[test]
fn calls_of_the_ring() {
    with_kernel("looked_up", RING, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_that_keeps() {
    with_kernel("digits", RING, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_that_leaves_symbols() {
    with_kernel("lexer", RING, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_over_shifted_columns() {
    with_kernel("recurrence", SHIFTED, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_of_two_levels_that_keeps() {
    with_kernel("kept_sums", CASCADES, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_that_marks() {
    with_kernel("kept_places", RING, each_call_is_missed);
}

#[test]
fn calls_of_the_ring_that_puts_side_by_side() {
    with_kernel("kept_columns", RING, each_call_is_missed);
}

#[test]
fn output_symbols_of_the_ring() {
    with_kernel("lexer_tokens", CASCADES, each_output_symbol_counts);
}

#[test]
fn calls_of_look_back() {
    with_kernel("cascade_of_three", Schedule::LookBack, each_call_is_missed);
    with_kernel("looked_up", Schedule::LookBack, each_call_is_missed);
}

#[test]
fn calls_of_look_back_that_keeps() {
    with_kernel("brackets", Schedule::LookBack, each_call_is_missed);
}

#[test]
fn tags_in_the_ring() {
    with_kernel("recurrence", RING, each_tag_is_looked_at);
}

#[test]
fn tags_in_look_back() {
    with_kernel("unitriangular_u64", Schedule::LookBack, each_tag_is_looked_at);
}

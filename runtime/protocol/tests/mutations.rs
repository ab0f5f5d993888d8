//! Each rule of the protocol is broken, one at a time, and loom or shuttle must notice.
//!
//! A broken rule may do anything, so each is broken in a process of its own; whatever ends that
//! process but success is taken as noticing.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p monoscan-protocol --release --test mutations
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p monoscan-protocol --release --test mutations
//! ```

#[cfg(loom)]
mod models;
#[cfg(shuttle)]
mod schedules;
#[cfg(any(loom, shuttle))]
mod trial;

use monoscan_protocol::rules::Rule;

/// Loom sees what orderings allow.
const BY_LOOM: [Rule; 8] = [
    Rule::AnnounceAfterWriting,
    Rule::ReadAfterAnnounced,
    Rule::ClaimAfterReading,
    Rule::ClaimOnce,
    Rule::LeaveAfterStep,
    Rule::ReturnAfterSteps,
    Rule::WaitForSteps,
    Rule::EnterWhileOpen,
];

/// Shuttle sees what takes more threads, more tiles and more preemptions.
const BY_SHUTTLE: [Rule; 6] =
    [Rule::ClaimOnce, Rule::ClaimUnread, Rule::ReadUnclaimed, Rule::Rescue, Rule::Sweep, Rule::StopAfterPanic];

#[test]
fn every_rule_is_broken_somewhere() {
    let is_broken = |rule: &Rule| BY_LOOM.contains(rule) || BY_SHUTTLE.contains(rule);
    assert_eq!(Rule::ALL.iter().find(|rule| !is_broken(rule)), None);
}

#[cfg(any(loom, shuttle))]
mod broken {
    use super::*;
    use std::process::Command;

    /// Which rule the child process breaks, by its place in [`Rule::ALL`]; anything else for none.
    const BREAK: &str = "BROKEN_RULE";

    /// Whether the cases run through with this rule broken.
    fn passes(rule: Option<Rule>) -> bool {
        let place = rule.and_then(|rule| Rule::ALL.iter().position(|&known| known == rule));
        let program = std::env::current_exe().expect("this test runs");
        let output = Command::new(program)
            .args(["--exact", "broken::cases", "--ignored", "--test-threads", "1"])
            .env(BREAK, place.map_or("none".into(), |place| place.to_string()))
            .output()
            .expect("a test can be run again");
        output.status.success()
    }

    #[test]
    fn every_broken_rule_is_noticed() {
        assert!(passes(None), "nothing is broken");
        let rules: &[Rule] = if cfg!(loom) { &BY_LOOM } else { &BY_SHUTTLE };
        let unnoticed: Vec<&Rule> = rules.iter().filter(|&&rule| passes(Some(rule))).collect();
        assert!(unnoticed.is_empty(), "{unnoticed:?}");
    }

    #[test]
    #[ignore = "the child process of the test above"]
    fn cases() {
        let place = std::env::var(BREAK).ok().and_then(|place| place.parse::<usize>().ok());
        if let Some(place) = place {
            Rule::ALL[place].break_alone();
        }
        run();
    }

    #[cfg(loom)]
    fn run() {
        use crate::trial::Trial;
        models::model(2, || models::lend(1));
        for in_place in [false, true] {
            // Of two tiles the last is parked and never reduced ahead; of three, one is.
            models::model(2, move || models::scan(Trial::new(2, 1, in_place), 1));
            models::model(1, move || models::scan(Trial::new(3, 1, in_place), 1));
        }
    }

    #[cfg(shuttle)]
    fn run() {
        use schedules::{explore, random, random_with_a_panic, run_with_helpers_of_all_kinds};
        explore(5_000, || run_with_helpers_of_all_kinds(random()));
        explore(1_000, || run_with_helpers_of_all_kinds(random_with_a_panic()));
    }
}

#![allow(missing_docs)]
use monoscan_codegen::gpu::{Arch, Schedule, Way};
use monoscan_codegen::nvptx::{
    emulated,
    ladder::{self, Rung},
};
use monoscan_ir::facts::Facts;
use monoscan_ir::transform::{Form, lower, without_outputs};
use scan_gpu_kernels::*;
use std::hash::{DefaultHasher, Hash, Hasher};

fn hash(text: &str) -> u64 {
    let mut h = DefaultHasher::new();
    text.hash(&mut h);
    h.finish()
}

fn main() {
    let dir = std::env::args().nth(1);
    let cases: Vec<Case> = by_hand()
        .into_iter()
        .chain(of_the_zoo())
        .chain(of_wide_states())
        .chain(of_bytes())
        .chain(of_floats())
        .chain(random_cases(0..20))
        .collect();
    let save = |name: &str, text: &str| {
        if let Some(dir) = &dir {
            std::fs::write(format!("{dir}/{:016x}", hash(text)), format!("; {name}\n{text}")).unwrap();
        }
    };
    for (number, case) in cases.iter().enumerate() {
        for heads in [false, true] {
            let form = Form { heads, ..Form::default() };
            let lowered = lower(&case.program, form);
            let programs =
                if heads || number % 4 > 0 { vec![lowered] } else { vec![without_outputs(&lowered), lowered] };
            for (which, program) in programs.iter().enumerate() {
                let facts = Facts::of(program);
                for arch in [Arch::Sm80, Arch::Sm90] {
                    for way in [Way::Plain, Way::Shifted, Way::Short, Way::Any, Way::Columnar] {
                        let name = format!("{number} {} heads={heads} {which} {arch} {way:?}", case.program.name);
                        let mut done = false;
                        for plan in way.plans(program, arch) {
                            if let Ok(kernel) = emulated(program, &facts, &plan, arch) {
                                let m = kernel.manifest;
                                println!(
                                    "{name} {plan} | {:016x} {} {} {}",
                                    hash(&kernel.text),
                                    m.threads,
                                    m.shared_bytes,
                                    m.tile_state_bytes
                                );
                                save(&name, &kernel.text);
                                done = true;
                                break;
                            }
                        }
                        if !done {
                            println!("{name} none");
                        }
                    }
                }
                if !heads && number < 12 && arch_once() {
                    for rung in Rung::ALL {
                        match ladder::emulated(program, &facts, rung, Arch::Sm90) {
                            Ok(k) => {
                                println!("{number} ladder {rung} {:016x}", hash(&k.text));
                                save("ladder", &k.text)
                            }
                            Err(_) => println!("{number} ladder {rung} none"),
                        }
                    }
                }
                // Small plans.
                let mut random = Random::new(number as u64);
                for schedule in [
                    Schedule::Ring { stages: 5, ahead: 3, shifted: false },
                    Schedule::Ring { stages: 5, ahead: 3, shifted: true },
                    Schedule::LookBack,
                ] {
                    let plan = small_plan(&mut random, case, schedule);
                    let name = format!("{number} {} heads={heads} {which} small {plan}", case.program.name);
                    match emulated(program, &facts, &plan, Arch::Sm90) {
                        Ok(kernel) => {
                            let m = kernel.manifest;
                            println!(
                                "{name} | {:016x} {} {} {}",
                                hash(&kernel.text),
                                m.threads,
                                m.shared_bytes,
                                m.tile_state_bytes
                            );
                            save(&name, &kernel.text);
                        }
                        Err(_) => println!("{name} none"),
                    }
                }
            }
        }
    }
}
fn arch_once() -> bool {
    true
}

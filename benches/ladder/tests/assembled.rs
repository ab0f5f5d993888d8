//! Every rung of the ladder is PTX that NVIDIA's assembler takes, and what a rung cannot run is
//! refused.

use gpu_ladder::{LadderError, LadderKernels, Rung};
use monoscan_codegen::gpu::{Arch, Arguments};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{text, verify};
use scan_kit::ptxas;

/// A scan of records of so many `u32`, each added up by itself.
fn sums(words: usize) -> Lowered {
    let list = |item: &dyn Fn(usize) -> String| (0..words).map(item).collect::<Vec<_>>().join(", ");
    let layout = format!("size {}, align 4, {}", 4 * words, list(&|w| format!("u32 @ {}", 4 * w)));
    let add = |w: usize| format!("%{} = add.u32 %{w}, %{}\n", 2 * words + w, words + w);
    with_stage(&format!(
        "program sums
          input {{ {layout} }}
          stage ({})
            identity ({})
            lift ({}) {{ return {} }}
            combine ({}) {{
              {}
              return {}
            }}
          output write
            column {{ {layout} }}
            project ({}) {{ return {} }}",
        list(&|_| "u32".into()),
        list(&|_| "0".into()),
        list(&|w| format!("%{w} = record.{w}: u32")),
        list(&|w| format!("%{w}")),
        (0..2 * words).map(|w| format!("%{w}: u32")).collect::<Vec<_>>().join(", "),
        (0..words).map(add).collect::<String>(),
        list(&|w| format!("%{}", 2 * words + w)),
        list(&|w| format!("%{w} = state.{w}: u32")),
        list(&|w| format!("%{w}")),
    ))
}

fn with_stage(text: &str) -> Lowered {
    lower(&verify(text::parse(text).unwrap()).unwrap(), Form::default())
}

fn compile(program: &Lowered, rung: Rung, arch: Arch) -> Result<LadderKernels, LadderError> {
    gpu_ladder::compile(program, rung, arch)
}

#[test]
fn the_assembler_takes_every_rung_and_nothing_spills() {
    for words in [1, 4] {
        let program = sums(words);
        for (arch, rung) in [Arch::Sm80, Arch::Sm90].into_iter().flat_map(|arch| Rung::ALL.map(|rung| (arch, rung))) {
            let kernels = match compile(&program, rung, arch) {
                Ok(kernels) => kernels,
                Err(error) => {
                    assert!(rung == Rung::Ring && arch == Arch::Sm80, "{rung} for {arch}: {error}");
                    continue;
                }
            };
            let report = ptxas::assemble(&kernels.text, arch.name()).unwrap_or_else(|why| panic!("{rung}: {why}"));
            for launch in &kernels.launches {
                assert!(report.contains(&format!("'{}'", launch.entry)), "{rung}: {report}");
            }
            let spills = report
                .lines()
                .filter(|line| line.contains("spill"))
                .filter(|line| !line.contains(" 0 bytes spill stores"));
            assert_eq!(spills.count(), 0, "{rung} of {words} words for {arch}: {report}");
        }
    }
}

#[test]
fn records_of_a_thread_move_in_wide_accesses() {
    let program = sums(1);
    for (rung, accesses) in
        [(Rung::LookBackWarp, 0), (Rung::Coarsened4, 1), (Rung::Coarsened12, 3), (Rung::Coarsened16, 4)]
    {
        let text = compile(&program, rung, Arch::Sm90).unwrap().text;
        let count = |what: &str| text.lines().filter(|line| line.contains(what) && line.contains(".v4.")).count();
        assert_eq!((count("ld.global"), count("st.global")), (accesses, accesses), "{rung}: {text}");
    }
}

#[test]
fn launches_cover_every_record() {
    let program = sums(1);
    for rung in Rung::ALL {
        let kernels = gpu_ladder::emulated(&program, rung, Arch::Sm90).unwrap();
        assert_eq!(kernels.arguments, Arguments::of(&program));
        for records in [1, kernels.tile, kernels.tile + 1, 1000 * kernels.tile] {
            let last = kernels.launches.last().unwrap();
            let tiles = records.div_ceil(kernels.tile);
            let expected = if rung == Rung::Ring { tiles.min(132) } else { tiles };
            assert_eq!(kernels.blocks(last, records, 132), expected, "{rung}");
            assert!(kernels.workspace_bytes(records) >= 64 + tiles * kernels.tile_state_bytes);
        }
        assert_eq!(kernels.launches.len(), if rung.reads() == 2 { 3 } else { 1 }, "{rung}");
    }
}

fn refusal(program: &Lowered, rung: Rung, arch: Arch) -> String {
    match compile(program, rung, arch) {
        Err(LadderError::Unfit(why)) => why.to_string(),
        other => panic!("{rung} is not refused: {other:?}"),
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let wide = refusal(&sums(32), Rung::HillisSteele, Arch::Sm120);
    assert!(wide.contains("131208 bytes of shared memory, sm_120 has 101376"), "{wide}");
    let ring = refusal(&sums(1), Rung::Ring, Arch::Sm80);
    assert!(ring.contains("no ring of this program for sm_80"), "{ring}");
}

#[test]
fn programs_that_read_the_next_record_are_refused() {
    let program = with_stage(
        "program steps
          input { size 4, align 4, u32 @ 0 }
          stage (u32)
            identity (0)
            lift (%0 = record.0: u32, %1 = next.0: u32) {
              %2 = sub.u32 %1, %0
              return %2
            }
            combine (%0: u32, %1: u32) {
              %2 = add.u32 %0, %1
              return %2
            }
          output write
            column { size 4, align 4, u32 @ 0 }
            project (%0 = state.0: u32) { return %0 }",
    );
    for rung in Rung::ALL {
        assert!(refusal(&program, rung, Arch::Sm90).contains("read a neighbour"), "{rung}");
    }
}

//! Writes the PTX of a program in text form: `ptx PROGRAM ARCH (ring STAGES AHEAD | look-back | columnar) WARPS UNITS OUT`.
use scan_codegen::gpu::{Arch, GpuPlan, Schedule};
use scan_ir::transform::{Form, lower};
use scan_ir::{facts::Facts, text, verify};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let n = |i: usize| a[i].parse::<usize>();
    let program = verify(text::parse(&std::fs::read_to_string(&a[1])?)?)?;
    let lowered = lower(&program, Form::default());
    let facts = Facts::of(&lowered);
    let zeros = lowered.inputs.iter().chain(&lowered.output.columns).map(|c| c.size.trailing_zeros()).max().unwrap();
    let (schedule, rest) = match a[3].as_str() {
        "ring" => (Schedule::Ring { stages: n(4)?, ahead: n(5)? }, 6),
        "look-back" => (Schedule::LookBack, 4),
        _ => (Schedule::Columnar, 4),
    };
    let plan = GpuPlan { schedule, warps: n(rest)?, unit: 1 << 4u32.saturating_sub(zeros), units: n(rest + 1)? };
    let arch = Arch::from_name(&a[2]).ok_or("arch")?;
    let t = std::time::Instant::now();
    if std::env::var("IR").is_ok() {
        println!("{}", scan_codegen::nvptx::emulated(&lowered, &facts, &plan, arch)?.text);
        return Ok(());
    }
    let kernel = scan_codegen::nvptx::compile(&lowered, &facts, &plan, arch)?;
    let m = &kernel.manifest;
    eprintln!(
        "{} : {:?}; threads {} shared {} state {} args {}",
        plan,
        t.elapsed(),
        m.threads,
        m.shared_bytes,
        m.tile_state_bytes,
        m.arguments.bytes()
    );
    std::fs::write(&a[rest + 2], &kernel.text)?;
    Ok(())
}

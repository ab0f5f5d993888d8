//! The emulator and `intrinsics.ll` agree on what intrinsics there are, and other functions are
//! refused.

use scan_emulator::{CompileError, Device, Intrinsic, Kernel, Launch, LaunchError, Misuse};

const CONTRACT: &str = include_str!("../../../codegen/src/nvptx/emit/intrinsics.ll");

#[test]
fn every_atom_of_the_contract_has_a_body_here_and_no_other_has() {
    let names = CONTRACT.lines().filter(|line| line.starts_with("define ")).map(|line| {
        let name = line.split_once('@').unwrap().1;
        name.split_once('(').unwrap().0
    });
    assert_eq!(names.collect::<Vec<_>>(), Intrinsic::ALL.iter().map(|intrinsic| intrinsic.name()).collect::<Vec<_>>());
}

fn refusal(text: &str) -> CompileError {
    Kernel::compile(text, "kernel").err().unwrap()
}

#[test]
fn an_atom_of_another_type_is_refused() {
    let error = refusal("declare i64 @scan.thread()\ndefine void @kernel(ptr %args) { ret void }");
    assert!(matches!(error, CompileError::Signature { .. }), "{error}");
}

#[test]
fn a_function_that_is_no_atom_is_refused() {
    let error = refusal("declare i32 @tid()\ndefine void @kernel(ptr %args) { ret void }");
    assert_eq!(error, CompileError::UnknownFunction("tid".to_owned()));
}

#[test]
fn atomic_instructions_and_machine_code_are_refused() {
    for instruction in [
        "fence acquire",
        "%old = atomicrmw add ptr %args, i32 1 monotonic",
        "call void asm sideeffect \"bar.sync 0;\", \"\"()",
        "%word = load atomic i64, ptr %args monotonic, align 8",
    ] {
        let error = refusal(&format!("define void @kernel(ptr %args) {{\n  {instruction}\n  ret void\n}}"));
        assert!(matches!(error, CompileError::Refused { .. }), "{instruction}: {error}");
    }
}

#[test]
fn a_kernel_of_another_name_or_type_is_refused() {
    assert_eq!(refusal("define void @other(ptr %args) { ret void }"), CompileError::NoKernel("kernel".to_owned()));
    let error = refusal("define void @kernel(i32 %count) { ret void }");
    assert!(matches!(error, CompileError::Entry { .. }), "{error}");
}

#[test]
fn text_that_is_no_ir_is_an_error() {
    assert!(matches!(refusal("kernel"), CompileError::Parse(_)));
}

/// The intrinsics that only compute do it as the contract says.
#[test]
fn bytes_are_picked_and_added_and_floats_are_rounded() {
    let text = "
        declare i32 @scan.pick_bytes(i32, i32, i32)
        declare i32 @scan.add_bytes(i32, i32)
        declare i32 @scan.select_bits(i32, i32, i32)
        declare i32 @scan.highest_bit(i32)
        declare i32 @scan.opaque(i32)
        declare float @scan.from_f16(i16)
        declare i16 @scan.to_f16(float)
        declare i16 @scan.to_bf16(float)
        define void @kernel(ptr %args) {
          %out = load ptr addrspace(1), ptr %args, align 16
          %picked = call i32 @scan.pick_bytes(i32 50462976, i32 117835012, i32 13401)
          %added = call i32 @scan.add_bytes(i32 -16678657, i32 -3)
          %selected = call i32 @scan.select_bits(i32 4080, i32 305419896, i32 -1)
          %twelfth = call i32 @scan.highest_bit(i32 4097)
          %none = call i32 @scan.highest_bit(i32 0)
          %shared = call i32 @scan.opaque(i32 %none)
          %bits = xor i32 %twelfth, %shared
          %number = call float @scan.from_f16(i16 15360)
          %sum = fadd float %number, 0x3F40000000000000
          %half = call i16 @scan.to_f16(float %sum)
          %brain = call i16 @scan.to_bf16(float 0x3FF0100000000000)
          %second = getelementptr i8, ptr addrspace(1) %out, i64 4
          %third = getelementptr i8, ptr addrspace(1) %out, i64 6
          %fourth = getelementptr i8, ptr addrspace(1) %out, i64 8
          %fifth = getelementptr i8, ptr addrspace(1) %out, i64 12
          %sixth = getelementptr i8, ptr addrspace(1) %out, i64 16
          store i32 %bits, ptr addrspace(1) %sixth, align 4
          store i32 %picked, ptr addrspace(1) %out, align 4
          store i32 %selected, ptr addrspace(1) %fifth, align 4
          store i32 %added, ptr addrspace(1) %fourth, align 4
          store i16 %half, ptr addrspace(1) %second, align 2
          store i16 %brain, ptr addrspace(1) %third, align 2
          ret void
        }";
    let pick = |selector: u32| text.replace("13401", &selector.to_string());
    let run = |text: &str| {
        let kernel = Kernel::compile(text, "kernel").unwrap();
        let mut device = Device::new();
        let out = device.buffer(&[0; 20]);
        let args = device.address(out).to_le_bytes();
        kernel.launch(&mut device, &Launch { args: &args, ..Launch::default() }).map(|_| device.read(out))
    };
    // 1 + 2^-11 lies between two binary16 floats, and 1 + 2^-8 between two of bfloat16: the even one is 1.
    let words = [7, 0, 6, 3, 0, 0x3c, 0x80, 0x3f, 0x7c, 2, 0, 0, 0x7f, 0xf6, 0xff, 0xff, !12, 0xff, 0xff, 0xff];
    assert_eq!(run(&pick(0x3607)), Ok(words.to_vec()));
    let misuse = run(&pick(0x3608)).unwrap_err();
    assert!(matches!(misuse, LaunchError::Misuse { misuse: Misuse::Argument { found: 8, .. }, .. }), "{misuse}");
}

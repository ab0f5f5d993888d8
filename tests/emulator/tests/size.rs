//! A launch as large as those of real kernels: 4 blocks of 608 threads, 40 tiles of 36 KiB, with
//! scans of warps by shuffles.

use scan_emulator::{Device, Kernel, Launch};

const TEXT: &str = include_str!("kernels/large.ll");

#[test]
fn a_launch_of_real_size_is_right() {
    let kernel = Kernel::compile(TEXT, "large").unwrap();
    let (blocks, tiles, tile_bytes) = (4u32, 10u32, 576 * 64);
    for seed in 0..4 {
        let data: Vec<u8> = (0..blocks * tiles * tile_bytes / 4).flat_map(|number| number.to_le_bytes()).collect();
        let mut device = Device::new();
        let (input, out) = (device.buffer(&data), device.buffer(&vec![0; data.len()]));
        let mut args = Vec::new();
        args.extend(device.address(input).to_le_bytes());
        args.extend(device.address(out).to_le_bytes());
        args.extend(tiles.to_le_bytes());
        let shared_bytes = 2 * tile_bytes as usize + 32;
        let launch = Launch { blocks, threads: 608, shared_bytes, args: &args, seed, ..Launch::default() };
        kernel.launch(&mut device, &launch).unwrap();
        // Each group of 16 numbers got the sum over the lanes up to its own of their first numbers.
        let read: Vec<u32> =
            device.read(out).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        for (warp, numbers) in read.chunks(16 * 32).enumerate() {
            let first = (warp * 16 * 32) as u32;
            let mut sum = 0u32;
            for (lane, group) in numbers.chunks(16).enumerate() {
                sum = sum.wrapping_add(first + 16 * lane as u32);
                let expected = (0..16).map(|index| (first + 16 * lane as u32 + index).wrapping_add(sum));
                assert!(group.iter().copied().eq(expected), "seed {seed}, warp {warp}, lane {lane}");
            }
        }
    }
}

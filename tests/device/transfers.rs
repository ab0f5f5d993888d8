//! On a device: records go there and back whole, whatever their number and size, in new memory and
//! in old.

use monoscan::{Argument, DeviceVec, Error};
use scan_kit::Random;

use super::on_gpu::gpu;

/// Around where copies begin to go in pieces, around borders of these, and where slots are used again.
const BYTES: [usize; 12] = [
    0,
    1,
    (2 << 20) - 1,
    2 << 20,
    (2 << 20) + 1,
    (4 << 20) + 77,
    (8 << 20) - 1,
    (32 << 20) - 3,
    32 << 20,
    (32 << 20) + 1,
    (72 << 20) + 12_345,
    100_000_003,
];

#[test]
#[ignore = "needs a CUDA device"]
fn records_go_there_and_back() {
    let mut random = Random(11);
    let longest: Vec<u8> = random.bytes(BYTES[11]);
    let mut reused = DeviceVec::upload(&gpu(), &[7u8; 40 << 20]).unwrap();
    for bytes in BYTES {
        let records = &longest[longest.len() - bytes..];
        let new = DeviceVec::upload(&gpu(), records).unwrap();
        assert!(new.to_vec().unwrap() == records, "{bytes} bytes in new memory");
        reused.write(records).unwrap();
        assert_eq!(reused.len(), bytes);
        let mut read = vec![9; bytes + 2];
        reused.read(&mut read[1..=bytes]).unwrap();
        assert!(read[1..=bytes] == *records && (read[0], read[bytes + 1]) == (9, 9), "{bytes} bytes in old memory");
    }
    let wide: Vec<(u32, u64)> = (0..1_000_000).map(|i| (i, u64::from(i) << 33)).collect();
    assert!(DeviceVec::upload(&gpu(), &wide).unwrap().to_vec().unwrap() == wide);
}

#[test]
#[ignore = "needs a CUDA device"]
fn another_number_of_records_is_not_read() {
    let x = DeviceVec::upload(&gpu(), &[1, 2, 3]).unwrap();
    let mut four = [9; 4];
    let error = x.read(&mut four).unwrap_err();
    assert!(matches!(error, Error::Length { argument: Argument::Output(0), expected: 3, got: 4 }), "{error}");
    assert_eq!(four, [9; 4]);
}

#[test]
#[ignore = "needs a CUDA device"]
fn threads_copy_at_the_same_time() {
    std::thread::scope(|scope| {
        for thread in 0..6u64 {
            scope.spawn(move || {
                let mut random = Random(thread);
                for turn in 0..6 {
                    let records: Vec<u64> = (0..500_000 * (turn + 1)).map(|_| random.bits()).collect();
                    assert!(DeviceVec::upload(&gpu(), &records).unwrap().to_vec().unwrap() == records);
                }
            });
        }
    });
}

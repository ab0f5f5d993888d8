#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scan_fuzz::engine(data));

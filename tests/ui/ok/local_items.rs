use monoscan::prelude::*;

pub(crate) fn main() {
    #[derive(Clone, Copy, ScanType)]
    struct Local {
        x: f32,
        y: [u8; 2],
    }

    #[scan_fn]
    fn first(s: Local) -> u8 {
        s.y[0]
    }

    fn takes<F: ScanFn<(Local,), Out = u8>>(f: F) -> u8 {
        f.call((Local { x: 1.0, y: [7, 8] },))
    }
    assert_eq!(takes(first {}), 7);
}

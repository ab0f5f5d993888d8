//! A random automaton of 16 states on random bytes: the state after each byte.

use std::ops::Range;

use super::Session;
use crate::output::Output;
use crate::race::Field;
use crate::report::{Role, Row};
use crate::two_pass::two_pass;
use bench_shared::{data, loops, scans};

/// The state that a byte leads to from each state.
type Map = [u8; 16];

/// In C.
type Foreign = unsafe extern "C" fn(*const Map, *const u8, *mut u8, usize);

pub(super) fn states(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (moves, x) = (&data::automaton()[..], &data::bytes(len)[..]);
    let by_state = &data::by_state(moves)[..];
    let mut expected = vec![0; len];
    loops::states(by_state, x, &mut expected);
    let y = &Output::exact(expected);
    let ours = [1, 2].map(|threads| scans::states(moves, threads).expect("maps are a monoid"));
    let table = &Premultiplied::new(by_state);
    let mut field = field;

    field.enter((Role::Baseline, "plain loop", 1), y, || loops::states(by_state, x, &mut y.write()[..]));
    for (threads, scan) in (1..).zip(&ours) {
        let run = || {
            scan.inclusive_into(x, &mut y.write()[..]).expect("columns of one length");
        };
        field.enter((Role::Ours, "monoscan", threads), y, run);
    }
    field.enter((Role::Rival, "premultiplied table", 1), y, || table.states(x, &mut y.write()[..]));
    field.enter((Role::Rival, "table by byte", 1), y, || run(moves, 0, x, &mut y.write()[..]));
    let tbb_scan = session.peers.tbb_scan.as_ref().map_err(Clone::clone).and_then(|native| {
        // SAFETY: so it is declared.
        unsafe { native.function::<Foreign>("states") }
    });
    let tbb_scan = tbb_scan.map(|scan| {
        // SAFETY: there are 256 maps, and both columns have this length.
        move || unsafe { scan(moves.as_ptr(), x.as_ptr(), y.write().as_mut_ptr(), x.len()) }
    });
    field.enter_if((Role::Rival, "TBB parallel_scan, maps", 2), y, tbb_scan);
    let by_hand = compose().map(|compose| move || by_hand(moves, compose, x, &mut y.write()[..]));
    field.enter_if((Role::Rival, "rayon two-pass, maps", 2), y, by_hand);
    field.race(session.effort)
}

/// A table in which states are where their rows begin: one addition and one load a byte.
struct Premultiplied(Vec<u16>);

impl Premultiplied {
    fn new(by_state: &[[u8; 256]]) -> Premultiplied {
        Premultiplied(by_state.iter().flatten().map(|&state| u16::from(state) << 8).collect())
    }

    #[inline(never)]
    fn states(&self, x: &[u8], y: &mut [u8]) {
        let mut row = 0;
        for (x, y) in x.iter().zip(y) {
            row = self.0[usize::from(row) + usize::from(*x)];
            *y = (row >> 8) as u8;
        }
    }
}

/// From a state on, by a table with a row for each byte: where a row begins does not wait for the state.
#[inline(never)]
fn run(moves: &[Map], mut state: u8, x: &[u8], y: &mut [u8]) {
    for (x, y) in x.iter().zip(y) {
        state = moves[usize::from(*x)][usize::from(state)];
        *y = state;
    }
}

/// The map of some bytes, composed one after the other.
type Compose = fn(&[Map], &[u8]) -> Map;

/// By byte permutations.
fn compose() -> Result<Compose, String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128};

        #[target_feature(enable = "ssse3")]
        fn run(moves: &[Map], x: &[u8]) -> Map {
            let mut map: Map = std::array::from_fn(|state| state as u8);
            // SAFETY: a map is 16 bytes, to read or to write.
            unsafe {
                let mut all = _mm_loadu_si128(map.as_ptr().cast());
                for &x in x {
                    all = _mm_shuffle_epi8(_mm_loadu_si128(moves[usize::from(x)].as_ptr().cast()), all);
                }
                _mm_storeu_si128(map.as_mut_ptr().cast(), all);
            }
            map
        }
        if is_x86_feature_detected!("ssse3") {
            // SAFETY: the processor has these instructions.
            return Ok(|moves, x| unsafe { run(moves, x) });
        }
    }
    Err("this processor has no byte permutation that is written out here".into())
}

fn by_hand(moves: &[Map], compose: Compose, x: &[u8], y: &mut [u8]) {
    let reduce = |range: Range<usize>| compose(moves, &x[range]);
    let replay = |range: Range<usize>, state, y: &mut [u8]| run(moves, state, &x[range], y);
    two_pass(y, 0u8, reduce, |&state, map, _| map[usize::from(state)], replay);
}

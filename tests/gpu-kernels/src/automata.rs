//! Automata, whose maps are folded in names and replayed by bytes where a program allows it, and
//! programs that do not.

use std::fmt::Write;

use scan_kit::Random;

/// A map of states for each byte.
pub(crate) type Maps = Vec<Vec<u8>>;

/// The maps of an automaton of 16 states, by its moves.
pub(crate) fn of_moves(next: fn(u8, u8) -> u8) -> Maps {
    (0..=255).map(|byte| (0..16).map(|state| next(state, byte)).collect()).collect()
}

/// Half of the bytes are permutations from a group of 64, half are any maps: more than can be named.
pub(crate) fn that_turn() -> Maps {
    let turn = |byte: u8| (0..16).map(|state: u8| (state * 5 + byte) & 15).collect();
    (0..=127).map(turn).chain(at_random(16).into_iter().skip(128)).collect()
}

/// Any maps, of which there are too many.
pub(crate) fn at_random(states: u64) -> Maps {
    let mut random = Random(1);
    (0..256).map(|_| (0..states).map(|_| random.below(states) as u8).collect()).collect()
}

/// The scan of these maps. Its lift looks up the map of the byte, or of the byte and the index; it writes these lanes.
pub(crate) fn program(name: &str, maps: &Maps, by_index: bool, lanes: &[u8]) -> String {
    let states = maps[0].len();
    let mut table = String::new();
    for map in maps {
        let map: Vec<String> = map.iter().map(u8::to_string).collect();
        write!(table, " [{}]", map.join(" ")).expect("a string takes all");
    }
    let identity: Vec<String> = (0..states).map(|state| state.to_string()).collect();
    let (reads, place) = match by_index {
        true => (", %1 = index: u64", "%2 = cast.u8 %1\n      %3 = add.u8 %0, %2\n      %4 = cast.u32 %3"),
        false => ("", "%1 = cast.u32 %0"),
    };
    let (place_of, map) = if by_index { ("%4", "%5") } else { ("%1", "%2") };
    let columns = "\n    column { size 1, align 1, u8 @ 0 }".repeat(lanes.len());
    let written: Vec<String> =
        lanes.iter().zip(1..).map(|(lane, value)| format!("      %{value} = lane.u8 %0, #{lane}")).collect();
    let results: Vec<String> = (1..=lanes.len()).map(|value| format!("%{value}")).collect();
    format!(
        "program {name}
  input {{ size 1, align 1, u8 @ 0 }}
  table u8x{states} = [{}]
  stage (u8x{states})
    identity ([{}])
    lift (%0 = record.0: u8{reads}) {{
      {place}
      {map} = table.u8x{states} {place_of}, @0
      return {map}
    }}
    combine (%0: u8x{states}, %1: u8x{states}) {{
      %2 = permute.u8x{states} %1, %0
      return %2
    }}
  output write{columns}
    project (%0 = state.0: u8x{states}) {{
{}
      return {}
    }}",
        table.trim_start(),
        identity.join(" "),
        written.join("\n"),
        results.join(", ")
    )
}

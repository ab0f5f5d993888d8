//! Automata, whose maps are folded by ids and replayed by bytes where a program allows it, and
//! programs that do not.

use std::fmt::Write;

use scan_kit::Random;

/// A map of states for each byte.
pub(crate) type Maps = Vec<Vec<u8>>;

/// The maps of an automaton of 16 states, by its moves.
pub(crate) fn of_moves(next: fn(u8, u8) -> u8) -> Maps {
    (0..=255).map(|byte| (0..16).map(|state| next(state, byte)).collect()).collect()
}

/// Half of the bytes are permutations from a group of 64, half are any maps: more than can have ids.
pub(crate) fn that_turn() -> Maps {
    let turn = |byte: u8| (0..16).map(|state: u8| (state * 5 + byte) & 15).collect();
    (0..=127).map(turn).chain(at_random(16).into_iter().skip(128)).collect()
}

/// Any maps, of which there are too many.
pub(crate) fn at_random(states: u64) -> Maps {
    let mut random = Random(1);
    (0..256).map(|_| (0..states).map(|_| random.below(states) as u8).collect()).collect()
}

/// The maps of an automaton of 32 states: one of 16, and whether an odd number of quotation marks came.
pub(crate) fn with_parity(next: fn(u8, u8) -> u8) -> Maps {
    let moved = |state: u8, byte: u8| (state & 16 ^ if byte == b'"' { 16 } else { 0 }) | next(state & 15, byte);
    (0..=255).map(|byte| (0..32).map(|state| moved(state, byte)).collect()).collect()
}

/// The scan of these maps of 32 states, each of which takes two vectors; it writes the state that state 0 leads to.
pub(crate) fn of_two_vectors(name: &str, maps: &Maps) -> String {
    let vector = |lanes: &[u8]| format!("[{}]", lanes.iter().map(u8::to_string).collect::<Vec<_>>().join(" "));
    let table: Vec<String> = maps.iter().flat_map(|map| map.chunks(16).map(vector)).collect();
    let identity: Vec<u8> = (0..32).collect();
    format!(
        "program {name}
  input {{ size 1, align 1, u8 @ 0 }}
  table u8x16 = [{}]
  stage (u8x16, u8x16)
    identity ({}, {})
    lift (%0 = record.0: u8) {{
      %1 = cast.u32 %0
      %2 = add.u32 %1, %1
      %3 = table.u8x16 %2, @0
      %4 = const.u32 1
      %5 = add.u32 %2, %4
      %6 = table.u8x16 %5, @0
      return %3, %6
    }}
    combine (%0: u8x16, %1: u8x16, %2: u8x16, %3: u8x16) {{
      %4 = const.u8x16 {}
      %5 = permute.u8x16 %2, %0
      %6 = sub.u8x16 %0, %4
      %7 = permute.u8x16 %3, %6
      %8 = or.u8x16 %5, %7
      %9 = permute.u8x16 %2, %1
      %10 = sub.u8x16 %1, %4
      %11 = permute.u8x16 %3, %10
      %12 = or.u8x16 %9, %11
      return %8, %12
    }}
  output write
    column {{ size 1, align 1, u8 @ 0 }}
    project (%0 = state.0: u8x16) {{
      %1 = lane.u8 %0, #0
      return %1
    }}",
        table.join(" "),
        vector(&identity[..16]),
        vector(&identity[16..]),
        vector(&[16; 16]),
    )
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

/// A declared automaton whose input symbols depend on more than the records: on the sum of a stage below, or on a parameter.
pub(crate) fn of_other_sources(name: &str, source: &str) -> String {
    format!(
        "program {name}
  input {{ size 1, align 1, u8 @ 0 }}
  parameter u32
  table u8x4 = [[0 1 2 3] [1 2 3 0] [0 0 2 2] [3 3 0 1]]
  stage (u32)
    identity (0)
    lift (%0 = record.0: u8) {{
      %1 = cast.u32 %0
      return %1
    }}
    combine (%0: u32, %1: u32) {{
      %2 = add.u32 %0, %1
      return %2
    }}
  stage automaton (u8x4)
    identity ([0 1 2 3])
    lift (%0 = record.0: u8, %1 = {source}: u32) {{
      %2 = cast.u32 %0
      %3 = add.u32 %1, %2
      %4 = const.u32 3
      %5 = and.u32 %3, %4
      %6 = table.u8x4 %5, @0
      return %6
    }}
    combine (%0: u8x4, %1: u8x4) {{
      %2 = permute.u8x4 %1, %0
      return %2
    }}
    valid (%0: u8x4) {{
      %1 = const.u8x4 [3 3 3 3]
      %2 = min.u8x4 %0, %1
      %3 = eq.bool %2, %0
      return %3
    }}
  output write
    column {{ size 1, align 1, u8 @ 0 }}
    column {{ size 4, align 4, u32 @ 0 }}
    project (%0 = after.1.0: u8x4, %1 = after.0.0: u32) {{
      %2 = lane.u8 %0, #1
      return %2, %1
    }}"
    )
}

/// A declared automaton whose input symbols are what floats do: fall, stay or rise. Its states are steps of a counter
/// that stops at both ends.
pub(crate) fn of_floats(name: &str, states: usize) -> String {
    let map = |next: &dyn Fn(usize) -> usize| {
        let lanes: Vec<String> = (0..states).map(|state| next(state).to_string()).collect();
        format!("[{}]", lanes.join(" "))
    };
    let last = states - 1;
    let (down, stay, up) =
        (map(&|state| state.saturating_sub(1)), map(&|state| state), map(&|state| last.min(state + 1)));
    format!(
        "program {name}
  input {{ size 4, align 4, f32 @ 0 }}
  table u8x{states} = [{down} {stay} {up}]
  stage automaton (u8x{states})
    identity ({stay})
    lift (%0 = record.0: f32) {{
      %1 = const.f32 0.0
      %2 = ge.bool %0, %1
      %3 = gt.bool %0, %1
      %4 = cast.u32 %2
      %5 = cast.u32 %3
      %6 = add.u32 %4, %5
      %7 = table.u8x{states} %6, @0
      return %7
    }}
    combine (%0: u8x{states}, %1: u8x{states}) {{
      %2 = permute.u8x{states} %1, %0
      return %2
    }}
    valid (%0: u8x{states}) {{
      %1 = const.u8x{states} [{}]
      %2 = min.u8x{states} %0, %1
      %3 = eq.bool %2, %0
      return %3
    }}
  output write
    column {{ size 1, align 1, u8 @ 0 }}
    project (%0 = state.0: u8x{states}) {{
      %1 = lane.u8 %0, #0
      return %1
    }}",
        vec![last.to_string(); states].join(" ")
    )
}

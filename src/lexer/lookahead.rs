//! Finds out why one forward pass cannot lex a set of rules without an oracle, and says so with the
//! shortest examples.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::dfa::{RuleIndex, State, TokenDfa, sample_bytes};
use super::gather::Kind;
use super::rules::Rules;

/// Bytes whose fate the next byte does not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The rule that matches the part before the last byte of `incomplete`, if one does.
    pub after: Option<String>,
    /// The rule that may go on.
    pub rule: String,
    /// No rule matches this, but more bytes may make it a token. Its last byte belongs to that token or to a later one.
    pub incomplete: Vec<u8>,
    /// A shortest token that it may become.
    pub complete: Vec<u8>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rule, incomplete, complete] = [&self.rule, &quote(&self.incomplete), &quote(&self.complete)];
        match (&self.after, self.incomplete.split_last()) {
            (Some(after), Some((last, token))) => write!(
                f,
                "after {after} {}, rule {rule} may continue with {} only if more bytes follow ({complete}): \
                 give the incomplete form {incomplete} a rule of its own",
                quote(token),
                quote(&[*last]),
            ),
            _ => write!(
                f,
                "no rule matches {incomplete}, but rule {rule} may if more bytes follow ({complete}): \
                 give the incomplete form {incomplete} a rule of its own"
            ),
        }
    }
}

/// The bytes in quotes, those in the middle of a long example left out.
pub(super) fn quote(bytes: &[u8]) -> String {
    match bytes.len() {
        0..=40 => format!("\"{}\"", bytes.escape_ascii()),
        all => {
            format!("\"{}\" … ({} bytes) … \"{}\"", bytes[..16].escape_ascii(), all, bytes[all - 16..].escape_ascii())
        }
    }
}

/// Whether conditions (a) and (b) of [`super::restart`] hold.
pub(super) fn is_decided(dfa: &TokenDfa) -> bool {
    let steps = |q: State| (0..dfa.classes).map(move |class| dfa.next(q, class));
    let is_open = |q: &State| *q != TokenDfa::DEAD && dfa.accept(*q).is_none();
    let enters_open = |q: State| steps(q).any(|to| is_open(&to));
    let accepting = dfa.states().filter(|&q| dfa.accept(q).is_some());
    !accepting.chain(steps(TokenDfa::START).filter(is_open)).any(enters_open)
}

/// The conflicts that break them: one for each pair of rules that have any, in the order of the rules.
pub(super) fn find(dfa: &TokenDfa, rules: &Rules) -> Vec<Conflict> {
    let dead_ends = undecided(dfa);
    if dead_ends.is_empty() {
        return Vec::new();
    }
    let samples = sample_bytes(&dfa.class_of, dfa.classes);
    let predecessors = predecessors(dfa);
    let name = |rule: RuleIndex| rules.name(Kind::Rule(rule)).to_owned();
    let mut conflicts = BTreeMap::new();
    for rule in 0..rules.len() as RuleIndex {
        let completion = Completion::of(dfa, &predecessors, rule);
        for (after, best) in completion.shortest(&dead_ends) {
            let (state, incomplete) = (best.state, best.incomplete.to_vec());
            let complete = [&incomplete[..], &completion.bytes(dfa, &samples, state)].concat();
            conflicts
                .insert((after, rule), Conflict { after: after.map(name), rule: name(rule), incomplete, complete });
        }
    }
    conflicts.into_values().collect()
}

/// Live states that do not accept, under the rule that matches all but the last byte on the way there; with shortest such
/// ways.
type DeadEnds = BTreeMap<(Option<RuleIndex>, State), Vec<u8>>;

/// All ways into a live state that does not accept, other than by one byte from the start.
///
/// If any edge breaks (a) or (b), one of these ways does: follow the edge's bytes from the last accepting state on, or
/// from the start where there is none.
fn undecided(dfa: &TokenDfa) -> DeadEnds {
    let samples = sample_bytes(&dfa.class_of, dfa.classes);
    let open = |q: State| q != TokenDfa::DEAD && dfa.accept(q).is_none();
    let steps = |q: State| (0..dfa.classes).map(move |c| (c, dfa.next(q, c)));

    let mut found = DeadEnds::new();
    let anywhere = Paths::search(dfa, [(TokenDfa::START, vec![])], |q| q != TokenDfa::DEAD);
    for from in dfa.states().filter(|&q| dfa.accept(q).is_some()) {
        for (class, to) in steps(from).filter(|&(_, q)| open(q)) {
            let way = [&anywhere.to(from, &samples)[..], &[samples[class]]].concat();
            let known = found.entry((dfa.accept(from), to)).or_insert_with(|| way.clone());
            if way.len() < known.len() {
                *known = way;
            }
        }
    }
    let one_byte = steps(TokenDfa::START).filter(|&(_, q)| open(q));
    let two_bytes: Vec<_> = one_byte
        .flat_map(|(first, q)| steps(q).map(move |(second, to)| (to, vec![first, second])))
        .filter(|&(q, _)| open(q))
        .collect();
    let pending = Paths::search(dfa, two_bytes, open);
    found.extend(dfa.states().filter(|&q| pending.reaches(q)).map(|q| ((None, q), pending.to(q, &samples))));
    found
}

/// The states from which each state is entered.
fn predecessors(dfa: &TokenDfa) -> Vec<Vec<State>> {
    let mut before = vec![Vec::new(); dfa.states().count()];
    for from in dfa.states() {
        for class in 0..dfa.classes {
            before[dfa.next(from, class).index()].push(from);
        }
    }
    before
}

/// Shortest paths from some states to all that they reach.
struct Paths {
    arrivals: Vec<Option<Arrival>>,
}

#[derive(Clone)]
enum Arrival {
    Seed(Vec<usize>),
    Step(State, usize),
}

impl Paths {
    /// Breadth first from `seeds`, each with the classes that led there, through states that `enter` admits.
    fn search(
        dfa: &TokenDfa,
        seeds: impl IntoIterator<Item = (State, Vec<usize>)>,
        enter: impl Fn(State) -> bool,
    ) -> Paths {
        let mut arrivals = vec![None; dfa.states().count()];
        let mut queue = VecDeque::new();
        for (state, classes) in seeds {
            if arrivals[state.index()].is_none() {
                arrivals[state.index()] = Some(Arrival::Seed(classes));
                queue.push_back(state);
            }
        }
        while let Some(from) = queue.pop_front() {
            for class in 0..dfa.classes {
                let to = dfa.next(from, class);
                if enter(to) && arrivals[to.index()].is_none() {
                    arrivals[to.index()] = Some(Arrival::Step(from, class));
                    queue.push_back(to);
                }
            }
        }
        Paths { arrivals }
    }

    fn reaches(&self, state: State) -> bool {
        self.arrivals[state.index()].is_some()
    }

    /// The bytes of the path to a state that is reached.
    fn to(&self, state: State, samples: &[u8]) -> Vec<u8> {
        let mut classes = Vec::new();
        let mut at = state;
        while let Some(Arrival::Step(from, class)) = &self.arrivals[at.index()] {
            classes.push(*class);
            at = *from;
        }
        if let Some(Arrival::Seed(seed)) = &self.arrivals[at.index()] {
            classes.extend(seed.iter().rev());
        }
        classes.iter().rev().map(|&class| samples[class]).collect()
    }
}

/// How far every state is from a token of one rule.
struct Completion {
    distance: Vec<Option<usize>>,
}

/// A dead end that the rule gets out of. The order is by what reads best as an example.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Example<'a> {
    complete_length: usize,
    incomplete_length: usize,
    incomplete: &'a [u8],
    state: State,
}

impl Completion {
    fn of(dfa: &TokenDfa, predecessors: &[Vec<State>], rule: RuleIndex) -> Completion {
        let accepts = |q: &State| dfa.accept(*q) == Some(rule);
        let mut distance: Vec<_> = dfa.states().map(|q| accepts(&q).then_some(0)).collect();
        let mut queue: VecDeque<_> = dfa.states().filter(accepts).collect();
        while let Some(to) = queue.pop_front() {
            for &from in &predecessors[to.index()] {
                if distance[from.index()].is_none() {
                    distance[from.index()] = distance[to.index()].map(|d| d + 1);
                    queue.push_back(from);
                }
            }
        }
        Completion { distance }
    }

    /// For each rule that may precede, the shortest example among the dead ends behind it.
    fn shortest<'a>(&self, dead_ends: &'a DeadEnds) -> BTreeMap<Option<RuleIndex>, Example<'a>> {
        let mut best = BTreeMap::new();
        for (&(after, state), incomplete) in dead_ends {
            let Some(rest) = self.distance[state.index()] else { continue };
            let incomplete_length = incomplete.len();
            let example = Example { complete_length: incomplete_length + rest, incomplete_length, incomplete, state };
            best.entry(after).and_modify(|known: &mut Example| *known = example.min(*known)).or_insert(example);
        }
        best
    }

    /// Shortest bytes that lead from `state` to a token of the rule; none where nothing does.
    fn bytes(&self, dfa: &TokenDfa, samples: &[u8], state: State) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut at = state;
        for left in (0..self.distance[at.index()].unwrap_or(0)).rev() {
            let nearer = |&class: &usize| self.distance[dfa.next(at, class).index()] == Some(left);
            let class = (0..dfa.classes).find(nearer).expect("a distance is one more than some successor's");
            bytes.push(samples[class]);
            at = dfa.next(at, class);
        }
        bytes
    }
}

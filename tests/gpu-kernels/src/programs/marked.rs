//! Random programs in which records alone say which are kept, and whose components are the places
//! of the last records of some kind: often of the kind that is kept.

use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value, Verified, verify,
};
use scan_kit::Random;

/// A condition on a record of the first column, and maybe on one beside it.
#[derive(Clone, Copy)]
enum Question {
    /// Whether these bits differ from those of the next record, or of the one before. They do where there is none.
    Differs { next: bool, bits: u8 },
    /// Whether these bits are all 0.
    IsZero { bits: u8 },
    /// Whether the low byte is below this.
    IsBelow(u8),
}

impl Question {
    fn random(random: &mut Random) -> Question {
        let bits = *random.pick(&[1, 3, 7, 0x11, 0x3f]);
        match random.below(4) {
            0 => Question::IsZero { bits },
            1 => Question::IsBelow(*random.pick(&[1, 20, 128, 250])),
            _ => Question::Differs { next: random.chance(2), bits },
        }
    }

    fn reads(self) -> Vec<Source> {
        match self {
            Question::Differs { next: true, .. } => vec![Source::Record(0), Source::Next(0), Source::Last],
            Question::Differs { next: false, .. } => vec![Source::Prev(0), Source::First, Source::Record(0)],
            Question::IsZero { .. } | Question::IsBelow(_) => vec![Source::Record(0)],
        }
    }

    /// The answer, by the values of sources.
    fn ask(self, b: &mut FunctionBuilder, of: &dyn Fn(Source) -> Value) -> Value {
        let low = |b: &mut FunctionBuilder, source| b.cast(Type::U8, of(source));
        let is_any = |b: &mut FunctionBuilder, value, bits: u8, compare| {
            let (bits, zero) = (b.lit(bits), b.lit(0u8));
            let of_these = b.binary(Opcode::And, value, bits);
            b.binary(compare, of_these, zero)
        };
        match self {
            Question::Differs { next, bits } => {
                let (beside, none) =
                    if next { (Source::Next(0), Source::Last) } else { (Source::Prev(0), Source::First) };
                let (own, beside) = (low(b, Source::Record(0)), low(b, beside));
                let differences = b.binary(Opcode::Xor, own, beside);
                let differs = is_any(b, differences, bits, Opcode::Ne);
                b.binary(Opcode::Or, differs, of(none))
            }
            Question::IsZero { bits } => {
                let own = low(b, Source::Record(0));
                is_any(b, own, bits, Opcode::Eq)
            }
            Question::IsBelow(bound) => {
                let (own, bound) = (low(b, Source::Record(0)), b.lit(bound));
                b.binary(Opcode::Lt, own, bound)
            }
        }
    }
}

/// A mapping that reads these sources, and what it makes of them.
fn mapping(
    mut reads: Vec<Source>,
    key: Type,
    make: impl FnOnce(&mut FunctionBuilder, &dyn Fn(Source) -> Value) -> Vec<Value>,
) -> Mapping {
    reads.sort();
    reads.dedup();
    let mut b = FunctionBuilder::new();
    let type_of = |source: &Source| match source {
        Source::Record(_) | Source::Next(_) | Source::Prev(_) => key,
        Source::First | Source::Last => Type::Bool,
        _ => Type::U64,
    };
    let values = b.params(&reads.iter().map(type_of).collect::<Vec<_>>());
    let of = |source: Source| values[reads.binary_search(&source).expect("it is read")];
    let results = make(&mut b, &of);
    Mapping { function: b.finish(&results), reads }
}

/// The component that no record changes, or that is the place of the last one of a kind: its index and so much more.
type Component = Option<(Question, u64)>;

fn stage(components: &[Component], key: Type) -> Stage {
    let reads = components.iter().flatten().flat_map(|(question, _)| question.reads()).chain([Source::Index]);
    let lift = mapping(reads.collect(), key, |b, of| {
        let zero = b.lit(0u64);
        let component = |&component: &Component| match component {
            None => zero,
            Some((question, offset)) => {
                let (is_so, offset) = (question.ask(b, of), b.lit(offset));
                let place = b.binary(Opcode::Add, of(Source::Index), offset);
                b.select(is_so, place, zero)
            }
        };
        components.iter().map(component).collect()
    });
    let mut b = FunctionBuilder::new();
    let both = b.params(&vec![Type::U64; 2 * components.len()]);
    let largest = (0..components.len()).map(|c| b.binary(Opcode::Max, both[c], both[components.len() + c]));
    let largest: Vec<Value> = largest.collect();
    let state = vec![Type::U64; components.len()];
    let identity = vec![Constant::from(0u64); components.len()];
    Stage { state, identity, lift, combine: b.finish(&largest), ..Stage::default() }
}

/// One of them.
pub(super) fn program(seed: u64) -> Verified<Program> {
    let random = &mut Random(seed);
    let key = *random.pick(&[Type::U8, Type::U16, Type::U32, Type::U64]);
    let (kept, other) = (Question::random(random), Question::random(random));
    let component = |random: &mut Random| {
        let any = Question::random(random);
        let question = *random.pick(&[kept, kept, other, other, any]);
        (!random.chance(6)).then(|| (question, *random.pick(&[0, 1, 3])))
    };
    let stages: Vec<Vec<Component>> =
        (0..1 + random.below(2)).map(|_| (0..1 + random.below(2)).map(|_| component(random)).collect()).collect();
    let states = (0u32..).zip(&stages).flat_map(|(stage, components)| {
        (0..components.len() as u32)
            .flat_map(move |component| [Source::Before { stage, component }, Source::After { stage, component }])
    });
    let beside = if random.chance(4) { vec![Source::Next(0), Source::Prev(0)] } else { Vec::new() };
    let sources: Vec<Source> = states.chain([Source::Record(0), Source::Index]).chain(beside).collect();
    let written: Vec<(Source, Type)> = (0..1 + random.below(3))
        .map(|_| (*random.pick(&sources), *random.pick(&[Type::U8, Type::U32, Type::U64])))
        .collect();
    let filter = mapping(kept.reads(), key, |b, of| vec![kept.ask(b, of)]);
    let project = mapping(written.iter().map(|&(source, _)| source).collect(), key, |b, of| {
        written.iter().map(|&(source, ty)| b.cast(ty, of(source))).collect()
    });
    let columns = written.iter().map(|&(_, ty)| Layout::of(ty)).collect();
    let program = Program {
        parameters: Vec::new(),
        name: format!("marked_{seed}"),
        tables: Vec::new(),
        inputs: vec![Layout::of(key)],
        stages: stages.iter().map(|components| stage(components, key)).collect(),
        output: Output { filter: Some(filter), project, columns },
        sequential: None,
    };
    verify(program).expect("it is typed as it should be")
}

//! Where matches end by the definition: p ends at e if the text from some s ≤ e to e is in the
//! language of p. Assertions hold or fail where they stand in the whole text.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Places with the patterns that end there; those without any are left out.
pub(super) fn ends(patterns: &[Hir], text: &[u8]) -> Vec<(u64, Vec<usize>)> {
    let ends_of = |pattern: &Hir| (0..=text.len()).flat_map(|start| from(pattern, text, start)).collect();
    let ends: Vec<BTreeSet<usize>> = patterns.iter().map(ends_of).collect();
    let at = |end| (0..patterns.len()).filter(|&pattern| ends[pattern].contains(&end)).collect::<Vec<usize>>();
    (0..=text.len()).map(|end| (end as u64, at(end))).filter(|(_, set)| !set.is_empty()).collect()
}

/// Where a match that begins at `start` may end.
pub(super) fn from(pattern: &Hir, text: &[u8], start: usize) -> BTreeSet<usize> {
    match pattern.kind() {
        HirKind::Empty => BTreeSet::from([start]),
        HirKind::Literal(literal) => {
            text[start..].starts_with(&literal.0).then_some(start + literal.0.len()).into_iter().collect()
        }
        HirKind::Class(class) => BTreeSet::from_iter(in_class(class, &text[start..]).map(|len| start + len)),
        HirKind::Look(look) => holds(*look, text, start).then_some(start).into_iter().collect(),
        HirKind::Capture(capture) => from(&capture.sub, text, start),
        HirKind::Alternation(parts) => parts.iter().flat_map(|part| from(part, text, start)).collect(),
        HirKind::Concat(parts) => parts.iter().fold(BTreeSet::from([start]), |ends, part| behind(part, text, &ends)),
        HirKind::Repetition(repetition) => {
            let once = |ends: &BTreeSet<usize>| behind(&repetition.sub, text, ends);
            let mut ends = (0..repetition.min).fold(BTreeSet::from([start]), |ends, _| once(&ends));
            let mut all = ends.clone();
            let more = repetition.max.map_or(u32::MAX, |max| max - repetition.min);
            for _ in 0..more {
                ends = once(&ends).difference(&all).copied().collect();
                if ends.is_empty() {
                    break;
                }
                all.extend(&ends);
            }
            all
        }
    }
}

fn behind(part: &Hir, text: &[u8], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    starts.iter().flat_map(|&start| from(part, text, start)).collect()
}

/// The length of the byte or character of a class that the text begins with.
fn in_class(class: &Class, text: &[u8]) -> Option<usize> {
    match class {
        Class::Bytes(class) => {
            let byte = *text.first()?;
            class.iter().any(|range| (range.start()..=range.end()).contains(&byte)).then_some(1)
        }
        Class::Unicode(class) => {
            let len = (1..=text.len().min(4)).find(|&len| std::str::from_utf8(&text[..len]).is_ok())?;
            let character = std::str::from_utf8(&text[..len]).ok()?.chars().next()?;
            class.iter().any(|range| (range.start()..=range.end()).contains(&character)).then_some(len)
        }
    }
}

/// As regex-syntax describes each assertion.
fn holds(look: Look, text: &[u8], at: usize) -> bool {
    let (before, next) = (at.checked_sub(1).map(|last| text[last]), text.get(at).copied());
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let [word_before, word_next] = [is_word(before), is_word(next)];
    let [cr, lf] = [Some(b'\r'), Some(b'\n')];
    match look {
        Look::Start => before.is_none(),
        Look::End => next.is_none(),
        Look::StartLF => before.is_none() || before == lf,
        Look::EndLF => next.is_none() || next == lf,
        Look::StartCRLF => before.is_none() || before == lf || before == cr && next != lf,
        Look::EndCRLF => next.is_none() || next == cr || next == lf && before != cr,
        Look::WordAscii => word_before != word_next,
        Look::WordAsciiNegate => word_before == word_next,
        Look::WordStartAscii => !word_before && word_next,
        Look::WordEndAscii => word_before && !word_next,
        Look::WordStartHalfAscii => !word_before,
        Look::WordEndHalfAscii => !word_next,
        _ => panic!("{look:?} is Unicode's"),
    }
}

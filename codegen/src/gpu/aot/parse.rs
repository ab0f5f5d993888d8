//! A manifest from its text. It comes from a file, so nothing is taken for granted: no text makes
//! this panic, and the numbers of what it accepts are within bounds that no launch overflows.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use monoscan_ir::facts::Range;
use monoscan_ir::transform::Form;
use monoscan_ir::transform::Role;
use monoscan_ir::{Constant, Layout, MAX_RECORD_BYTES, Mode, Type, text};

use super::{AotManifest, Component, FORMAT, ManifestError};
use crate::gpu::{Arch, Arguments, GpuPlan, Manifest, Schedule};

impl FromStr for AotManifest {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<AotManifest, ManifestError> {
        let mut lines = Lines::new(text);
        lines.number("monoscan-kernel", FORMAT as usize..=FORMAT as usize)?;
        let version = lines.value("version", "a version of monoscan", nonempty)?;
        let program = lines.value("program", "a program's name", |name| Some(name.to_owned()))?;
        let arch = lines.value("arch", &one_of(&Arch::ALL), Arch::from_name)?;
        let ptx_sha256 = lines.value("ptx-sha256", "64 hexadecimal digits", hash)?;
        let mode = lines.value("mode", "`inclusive` or `exclusive`", |word| match word {
            "inclusive" => Some(Mode::Inclusive),
            "exclusive" => Some(Mode::Exclusive),
            _ => None,
        })?;
        let (heads, init) = (lines.truth("heads")?, lines.truth("init")?);
        let keeps = lines.value("output", "`write` or `emit`", |word| match word {
            "write" => Some(false),
            "emit" => Some(true),
            _ => None,
        })?;
        let plan = lines.plan()?;
        let threads = lines.number("threads", 1..=1024)?;
        let shared_bytes = lines.number("shared-bytes", 0..=1 << 20)?;
        let tile_state_bytes = lines.number("tile-state-bytes", 0..=1 << 20)?;
        let states = lines.value("states", LAYOUT, layout)?;
        let of_type = |ty: Type| move |value: &str| component(value, ty);
        let components = states.fields.iter().map(|field| {
            let expected =
                format!("`own`, `flag`, `previous`, `check` or `rank`, a literal of type {} and its range", field.ty);
            lines.value("component", &expected, of_type(field.ty))
        });
        let components = components.collect::<Result<Vec<Component>, _>>()?;
        let mut parameters = Vec::new();
        while lines.peek("parameter").is_some() {
            parameters.push(lines.value("parameter", "a type", Type::from_name)?);
        }
        let parameters = Layout::packed(&parameters);
        let inputs = lines.layouts("input")?;
        let outputs = lines.layouts("column")?;
        lines.end()?;
        let arguments = Arguments { inputs: inputs.len(), outputs: outputs.len(), states, parameters };
        let launch = Manifest { plan, threads, shared_bytes, tile_state_bytes, arguments, inputs, outputs };
        let previous = components.iter().any(|component| component.role == Role::Previous);
        let form = Form { mode, heads, init, checked: false, previous };
        Ok(AotManifest { version, program, arch, ptx_sha256, form, keeps, components, launch })
    }
}

const LAYOUT: &str = "a layout, such as `{ size 4, align 4, i32 @ 0 }`";

/// The lines that mean something, with their numbers.
struct Lines<'a> {
    rest: Vec<(usize, &'a str)>,
    end: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let lines = text.lines().enumerate().map(|(place, line)| (place + 1, line.trim()));
        let mut rest: Vec<_> = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
        rest.reverse();
        Lines { rest, end: text.lines().count() + 1 }
    }

    /// The value of the next line, if that has this key.
    fn peek(&self, key: &str) -> Option<&'a str> {
        let (_, line) = self.rest.last()?;
        let (found, value) = line.split_once(' ').unwrap_or((line, ""));
        (found == key).then(|| value.trim())
    }

    /// The next line as `key value`.
    fn value<T>(&mut self, key: &str, what: &str, read: impl FnOnce(&'a str) -> Option<T>) -> Result<T, ManifestError> {
        let value = self.peek(key).ok_or_else(|| self.unexpected(&format!("`{key}` and {what}")))?;
        let value = read(value).ok_or_else(|| self.unexpected(&format!("`{key}` and {what}")))?;
        self.rest.pop();
        Ok(value)
    }

    fn number(&mut self, key: &str, within: RangeInclusive<usize>) -> Result<usize, ManifestError> {
        let what = match within.start() == within.end() {
            true => within.start().to_string(),
            false => format!("a number from {} to {}", within.start(), within.end()),
        };
        self.value(key, &what, |value| value.parse().ok().filter(|number| within.contains(number)))
    }

    fn truth(&mut self, key: &str) -> Result<bool, ManifestError> {
        self.value(key, "`true` or `false`", |word| word.parse().ok())
    }

    fn plan(&mut self) -> Result<GpuPlan, ManifestError> {
        let schedule = self.value("schedule", "`ring buffers B ahead A`, `look-back` or `columnar`", schedule)?;
        let (warps, load_group) = (self.number("warps", 1..=32)?, self.number("load-group", 1..=1 << 10)?);
        Ok(GpuPlan { schedule, warps, load_group, load_groups: self.number("load-groups", 1..=1 << 10)? })
    }

    fn layouts(&mut self, key: &str) -> Result<Vec<Layout>, ManifestError> {
        let mut layouts = Vec::new();
        while self.peek(key).is_some() {
            layouts.push(self.value(key, LAYOUT, layout)?);
        }
        Ok(layouts)
    }

    /// The last line, which tells a whole file from one that was cut.
    fn end(&mut self) -> Result<(), ManifestError> {
        match self.rest[..] {
            [(_, "end")] => Ok(()),
            [.., (_, "end")] => {
                self.rest.pop();
                Err(self.unexpected("nothing after `end`"))
            }
            _ => Err(self.unexpected("`input`, `column` or `end`")),
        }
    }

    fn unexpected(&self, expected: &str) -> ManifestError {
        let next = self.rest.last().map(|&(line, text)| (line, format!("`{text}`")));
        let (line, got) = next.unwrap_or_else(|| (self.end, "the end".into()));
        ManifestError { line, expected: expected.into(), got }
    }
}

fn one_of(names: &[impl Display]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("one of {}", names.join(", "))
}

fn nonempty(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn hash(value: &str) -> Option<String> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (digits && value.len() == 64).then(|| value.to_owned())
}

fn schedule(value: &str) -> Option<Schedule> {
    let words: Vec<&str> = value.split_whitespace().collect();
    match words[..] {
        [ring @ ("ring" | "shifted-ring"), "buffers", buffers, "ahead", ahead] => {
            let (buffers, ahead) = (buffers.parse().ok()?, ahead.parse().ok()?);
            Some(Schedule::Ring { buffers, ahead, shifted: ring == "shifted-ring" })
                .filter(|_| (1..64).contains(&ahead) && (ahead + 2..=64).contains(&buffers))
        }
        ["look-back"] => Some(Schedule::LookBack),
        ["columnar"] => Some(Schedule::Columnar),
        _ => None,
    }
}

/// A layout whose fields lie within its records.
fn layout(value: &str) -> Option<Layout> {
    let layout = text::parse_layout(value).ok()?;
    let end = |field: &monoscan_ir::Field| u64::from(field.offset) + field.ty.size() as u64;
    let fits = layout.fields.iter().all(|field| end(field) <= u64::from(layout.size));
    (fits && layout.size as usize <= MAX_RECORD_BYTES).then_some(layout)
}

fn component(value: &str, ty: Type) -> Option<Component> {
    let (role, rest) = value.split_once(' ')?;
    let role = match role {
        "own" => Role::User,
        "flag" => Role::SegmentFlag,
        "previous" => Role::Previous,
        "check" => Role::Check,
        "rank" => Role::Rank,
        _ => return None,
    };
    let (identity, bounds) = rest.rsplit_once(' ')?;
    let identity: Constant = text::parse_constant(identity.trim(), ty).ok()?;
    let range = range(bounds).filter(|range| range.holds(identity))?;
    Some(Component { role, identity, range })
}

fn range(text: &str) -> Option<Range> {
    if text == "any" {
        return Some(Range::full(Type::F64));
    }
    let (min, max) = text.split_once("..=")?;
    let range = Range { min: min.parse().ok()?, max: max.parse().ok()? };
    (range.min <= range.max).then_some(range)
}

//! A manifest from its text. It comes from a file, so nothing is taken for granted: no text makes
//! this panic, and the numbers of what it accepts are within bounds that no launch overflows.

use std::ops::RangeInclusive;
use std::str::FromStr;

use monoscan_ir::transform::{Form, SegmentStart};
use monoscan_ir::{Mode, Program, Verified, text, verify};

use super::{AotManifest, ExpectedLine, ExpectedValue, FORMAT, FoundLine, ManifestError};
use super::{launch, lowered_for, lowered_sha256};
use crate::gpu::{Arch, GpuPlan, Schedule};

impl FromStr for AotManifest {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<AotManifest, ManifestError> {
        let mut lines = Lines::new(text);
        lines.number("monoscan-kernel", FORMAT as usize..=FORMAT as usize)?;
        let version = lines.value("version", ExpectedValue::Version, nonempty)?;
        let arch = lines.value("arch", ExpectedValue::Arch, Arch::from_name)?;
        let ptx_sha256 = lines.value("ptx-sha256", ExpectedValue::Hash, hash)?;
        let hashed = lines.value("lowered-sha256", ExpectedValue::Hash, hash)?;
        let mode = lines.one_of("mode", &["inclusive", "exclusive"], [Mode::Inclusive, Mode::Exclusive])?;
        let heads = lines.truth("heads")?;
        let starts = [SegmentStart::Identity, SegmentStart::Init, SegmentStart::Each];
        let start = lines.one_of("start", &["identity", "init", "each"], starts)?;
        let checked = lines.truth("checked")?;
        let any_states = lines.truth("any-states")?;
        let plan = lines.plan()?;
        let threads = lines.number("threads", 1..=1024)?;
        let shared_bytes = lines.number("shared-bytes", 0..=1 << 20)?;
        let tile_state_bytes = lines.number("tile-state-bytes", 0..=1 << 20)?;
        let program = lines.program()?;
        let form = Form { mode, heads, start, checked, previous: program.reads_previous() };
        let lowered = lowered_for(&program, (form, any_states));
        if lowered_sha256(&lowered) != hashed {
            return Err(ManifestError::Lowered { version });
        }
        let launch = launch(&lowered, plan, [threads, shared_bytes, tile_state_bytes]);
        Ok(AotManifest { version, arch, ptx_sha256, program, lowered, launch })
    }
}

/// The lines that mean something, with their numbers, before the program's text.
struct Lines<'a> {
    rest: Vec<(usize, &'a str)>,
    /// From the program's name to the end.
    program: &'a str,
    /// The number of the line behind those above.
    end: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let start = text.find("\nprogram ").map_or(text.len(), |place| place + 1);
        let (head, program) = text.split_at(start);
        let lines = head.lines().enumerate().map(|(place, line)| (place + 1, line.trim()));
        let mut rest: Vec<_> = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
        rest.reverse();
        Lines { rest, program, end: head.lines().count() + 1 }
    }

    /// The value of the next line, if that has this key.
    fn peek(&self, key: &str) -> Option<&'a str> {
        let (_, line) = self.rest.last()?;
        let (found, value) = line.split_once(' ').unwrap_or((line, ""));
        (found == key).then(|| value.trim())
    }

    /// The next line as `key value`.
    fn value<T>(
        &mut self,
        key: &'static str,
        expected: ExpectedValue,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, ManifestError> {
        let value = self.peek(key).and_then(read);
        let value = value.ok_or_else(|| self.unexpected(ExpectedLine::Value { key, value: expected }))?;
        self.rest.pop();
        Ok(value)
    }

    fn number(&mut self, key: &'static str, within: RangeInclusive<usize>) -> Result<usize, ManifestError> {
        let expected = ExpectedValue::Number(within.clone());
        self.value(key, expected, |value| value.parse().ok().filter(|number| within.contains(number)))
    }

    fn truth(&mut self, key: &'static str) -> Result<bool, ManifestError> {
        self.value(key, ExpectedValue::Truth, |word| word.parse().ok())
    }

    /// One of these words, as the value that it stands for.
    fn one_of<T, const N: usize>(
        &mut self,
        key: &'static str,
        words: &'static [&'static str; N],
        values: [T; N],
    ) -> Result<T, ManifestError> {
        let find = |word| words.iter().zip(values).find(|(known, _)| **known == word).map(|(_, value)| value);
        self.value(key, ExpectedValue::OneOf(words), find)
    }

    fn plan(&mut self) -> Result<GpuPlan, ManifestError> {
        let schedule = self.value("schedule", ExpectedValue::Schedule, Schedule::from_words)?;
        let (warps, load_group) = (self.number("warps", 1..=32)?, self.number("load-group", 1..=1 << 10)?);
        Ok(GpuPlan { schedule, warps, load_group, load_groups: self.number("load-groups", 1..=1 << 10)? })
    }

    /// The program, and the last line, which tells a whole file from one that was cut.
    fn program(&self) -> Result<Verified<Program>, ManifestError> {
        if !self.rest.is_empty() || self.program.is_empty() {
            return Err(self.unexpected(ExpectedLine::Program));
        }
        let whole = self.program.trim_end();
        let text = whole.strip_suffix("end").filter(|text| text.ends_with('\n'));
        let text = text.ok_or_else(|| ManifestError::Line {
            line: self.end + whole.lines().count(),
            expected: ExpectedLine::End,
            got: FoundLine(None),
        })?;
        let program = text::parse(text).map_err(|errors| ManifestError::Program { line: self.end, errors })?;
        Ok(verify(program)?)
    }

    fn unexpected(&self, expected: ExpectedLine) -> ManifestError {
        let next = self.rest.last();
        let (line, got) = next.map_or((self.end, None), |&(line, text)| (line, Some(text.to_owned())));
        ManifestError::Line { line, expected, got: FoundLine(got) }
    }
}

fn nonempty(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn hash(value: &str) -> Option<String> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (digits && value.len() == 64).then(|| value.to_owned())
}

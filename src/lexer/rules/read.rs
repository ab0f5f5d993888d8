//! Reads rules, from lines of text or from a builder's calls, and checks each on its own.

use std::collections::HashMap;

use regex_automata::util::syntax::parse_with;
use regex_syntax::hir::{Hir, HirKind};

use super::super::RuleForm;
use super::meaningless::{Meaningless, meaningless};
use super::{ERROR_NAME, Fault, MAX_RULES, Place, Role, Rule, RuleFault, Rules, RulesError, syntax};

/// The prefix for kinds of incomplete tokens.
#[derive(Clone, Debug)]
struct Incomplete {
    prefix: String,
    place: Place,
    /// The rules that have such kinds, with the places where they are named; all of them if none is named.
    of: Vec<(String, Place)>,
}

/// The rules so far, and what was wrong with others.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Reader {
    rules: Vec<Rule>,
    /// Every name that was given to a rule, with the place where it first was, whatever is wrong with that rule.
    names: HashMap<String, Place>,
    faults: Vec<RuleFault>,
    incomplete: Option<Incomplete>,
    strict_ties: bool,
    /// Whether there was one rule too many, which is said once.
    is_full: bool,
    /// Calls of a builder.
    calls: usize,
}

impl Reader {
    /// Reads a line of a text.
    pub(super) fn line(&mut self, line: usize, source: &str) {
        if source.trim().is_empty() || source.trim_start().starts_with('#') {
            return;
        }
        let at = |offset: usize| Place::Text { line, column: source[..offset].chars().count() + 1 };
        let mut words = Words { source: source.trim_end(), offset: 0 };
        let (place, first) = words.word();
        match first {
            "keyword" => {
                let listed = words.listed();
                if listed.is_empty() {
                    self.fault(at(words.offset), Fault::NoKeyword);
                }
                for (place, word) in listed {
                    match word.starts_with('#') {
                        true => self.fault(at(place), Fault::Comment { found: word.to_owned() }),
                        false => self.keyword(word, at(place)),
                    }
                }
            }
            "incomplete" => {
                let mut listed = words.listed().into_iter().map(|(place, word)| (word.to_owned(), at(place)));
                let (prefix, place) = listed.next().unwrap_or_else(|| (String::new(), at(words.offset)));
                self.incomplete(&prefix, place, listed.collect());
            }
            "strict_ties" => {
                self.strict_ties();
                if let Some(&(place, _)) = words.listed().first() {
                    self.fault(at(place), Fault::NotAlone { found: source[place..].trim_end().to_owned() });
                }
            }
            _ => {
                let skip = first == "skip";
                let (place, name) = if skip { words.word() } else { (place, first) };
                let (pattern_place, pattern) = words.rest();
                let role = if skip { Role::Skip } else { Role::Token };
                if !skip && chooses(name, pattern) {
                    return self.fault(at(place), Fault::Choice { name: name.to_owned() });
                }
                if let Some(instead) = other_form(name, pattern) {
                    let instead = if skip { format!("skip {instead}") } else { instead };
                    let fault = Fault::OtherForm { name: name.to_owned(), pattern: pattern.to_owned(), instead };
                    return self.fault(at(place), fault);
                }
                self.rule(role, (name, at(place)), (pattern, at(pattern_place)));
            }
        }
    }

    /// The next call of a builder.
    fn call(&mut self) -> Place {
        self.calls += 1;
        Place::Builder { rule: self.calls, column: 1 }
    }

    pub(in super::super) fn call_rule(&mut self, role: Role, name: &str, pattern: &str) {
        let place = self.call();
        self.rule(role, (name, place), (pattern, place));
    }

    pub(in super::super) fn call_keyword(&mut self, word: &str) {
        let place = self.call();
        self.keyword(word, place);
    }

    pub(in super::super) fn call_incomplete(&mut self, prefix: &str, of: &[&str]) {
        let place = self.call();
        self.incomplete(prefix, place, of.iter().map(|&name| (name.to_owned(), place)).collect());
    }

    /// Asks for rules of which none shadows another.
    pub(in super::super) fn strict_ties(&mut self) {
        self.strict_ties = true;
    }

    /// A rule of an enum's variant. Calls come in the order of the rules. Variants tell kinds apart, so a keyword may be named as
    /// one of them, or `ERROR`; only keywords must differ.
    pub(in super::super) fn call_form(&mut self, variant: &'static str, name: &str, form: RuleForm) {
        self.calls += 1;
        let place = Place::Variant { rule: self.calls, name: variant, column: 1 };
        match form {
            RuleForm::Token(regex) => self.variant(Role::Token, name, regex, place),
            RuleForm::Skip(regex) => self.variant(Role::Skip, name, regex, place),
            RuleForm::Keyword("") => self.fault(place, Fault::NoKeyword),
            RuleForm::Keyword(word) => {
                if self.is_new(word, Role::Keyword, place) {
                    self.push(word, literal(word), Role::Keyword, place);
                }
            }
            RuleForm::Incomplete(of) => self.incomplete_kind(name, of, place),
        }
    }

    fn variant(&mut self, role: Role, name: &str, regex: &str, place: Place) {
        match check_regex(name, regex, place) {
            Ok(()) => self.push(name, regex.to_owned(), role, place),
            Err(fault) => self.faults.push(fault),
        }
    }

    /// A kind of its own for what begins a token of the rule at a place.
    fn incomplete_kind(&mut self, name: &str, of: usize, place: Place) {
        let fault = match self.rules.get(of) {
            Some(rule) if !rule.has_pattern() => Fault::UnknownRule { name: rule.name.clone() },
            Some(rule) if is_one_byte(&rule.pattern) => Fault::NeverIncomplete { name: rule.name.clone() },
            Some(_) => return self.push(name, String::new(), Role::Incomplete { of }, place),
            // Rules with faults have no place.
            None if !self.faults.is_empty() => return,
            None => Fault::UnknownRule { name: name.to_owned() },
        };
        self.fault(place, fault);
    }

    fn rule(&mut self, role: Role, (name, place): (&str, Place), (pattern, at): (&str, Place)) {
        if let Err(fault) = check_name(name) {
            return self.fault(place, fault);
        }
        let is_new = self.declare(name, role, place);
        match check_regex(name, pattern, at) {
            Ok(()) if is_new => self.push(name, pattern.to_owned(), role, place),
            Ok(()) => {}
            Err(fault) => self.faults.push(fault),
        }
    }

    fn keyword(&mut self, word: &str, place: Place) {
        if word.is_empty() {
            return self.fault(place, Fault::NoKeyword);
        }
        self.add(word, literal(word), Role::Keyword, place);
    }

    fn incomplete(&mut self, prefix: &str, place: Place, of: Vec<(String, Place)>) {
        if self.incomplete.is_some() {
            return self.fault(place, Fault::SecondPrefix);
        }
        match check_name(prefix) {
            Ok(()) => self.incomplete = Some(Incomplete { prefix: prefix.to_owned(), place, of }),
            Err(fault) => self.fault(place, fault),
        }
    }

    fn fault(&mut self, place: Place, fault: Fault) {
        self.faults.push(RuleFault { place, fault });
    }

    /// Whether this name is free; from now on it is not.
    fn declare(&mut self, name: &str, role: Role, place: Place) -> bool {
        if name == ERROR_NAME {
            self.fault(place, Fault::Reserved { role });
            return false;
        }
        self.is_new(name, role, place)
    }

    /// Whether no rule has this name; from now on one has.
    fn is_new(&mut self, name: &str, role: Role, place: Place) -> bool {
        if let Some(&first) = self.names.get(name) {
            self.fault(place, Fault::Duplicate { name: name.to_owned(), role, first });
            return false;
        }
        self.names.insert(name.to_owned(), place);
        true
    }

    /// A rule that is right on its own, if its name is free.
    fn add(&mut self, name: &str, pattern: String, role: Role, place: Place) {
        if self.declare(name, role, place) {
            self.push(name, pattern, role, place);
        }
    }

    /// A rule that is right on its own, whose name was declared.
    fn push(&mut self, name: &str, pattern: String, role: Role, place: Place) {
        if self.rules.len() == MAX_RULES {
            if !std::mem::replace(&mut self.is_full, true) {
                self.fault(place, Fault::TooMany);
            }
            return;
        }
        self.rules.push(Rule { name: name.to_owned(), pattern, role });
    }

    /// The rules that calls gave; see [`finish`](Reader::finish).
    pub(in super::super) fn finish_calls(self) -> Result<Rules, RulesError> {
        self.finish(Place::Builder { rule: 1, column: 1 })
    }

    /// The rules, with kinds for incomplete tokens if these have a prefix; or all faults, in the order of their places. `empty` is
    /// the place of the first rule, which is missing if there is none.
    pub(super) fn finish(mut self, empty: Place) -> Result<Rules, RulesError> {
        if self.rules.is_empty() && self.faults.is_empty() {
            self.fault(empty, Fault::NoRules { in_text: matches!(empty, Place::Text { .. }) });
        }
        let incomplete = self.incomplete.take();
        if let Some(incomplete) = &incomplete {
            self.name_incomplete(incomplete);
        }
        self.faults.sort_by_key(|fault| fault.place);
        match self.faults.is_empty() {
            true => Ok(Rules {
                rules: self.rules,
                strict_ties: self.strict_ties,
                // The kinds of an enum name their rules.
                names_each_incomplete: incomplete.is_none_or(|incomplete| !incomplete.of.is_empty()),
            }),
            false => Err(RulesError { faults: self.faults }),
        }
    }

    /// Adds a kind for what begins a token of a rule, for each rule that has one.
    fn name_incomplete(&mut self, Incomplete { prefix, place, of }: &Incomplete) {
        if of.is_empty() && self.names.contains_key(prefix) {
            return self.fault(*place, Fault::NoPrefix { name: prefix.clone() });
        }
        for (name, place) in of {
            let one_byte = self.rules.iter().any(|rule| rule.name == *name && is_one_byte(&rule.pattern));
            if !self.names.contains_key(name) {
                self.fault(*place, Fault::UnknownRule { name: name.clone() });
            } else if one_byte {
                self.fault(*place, Fault::NeverIncomplete { name: name.clone() });
            }
        }
        for index in 0..self.rules.len() {
            let rule = &self.rules[index];
            let is_named = || of.iter().any(|(name, _)| *name == rule.name);
            let wanted = if of.is_empty() { rule.role != Role::Keyword } else { is_named() };
            if wanted && !is_one_byte(&rule.pattern) {
                let name = format!("{prefix}{}", rule.name);
                self.add(&name, String::new(), Role::Incomplete { of: index }, *place);
            }
        }
    }
}

/// A line being taken apart from the left; what it yields comes with its byte offset.
struct Words<'a> {
    source: &'a str,
    offset: usize,
}

impl<'a> Words<'a> {
    fn rest(&mut self) -> (usize, &'a str) {
        let rest = self.source[self.offset..].trim_start();
        self.offset = self.source.len() - rest.len();
        (self.offset, rest)
    }

    /// The words of the rest, up to a comment; `offset` is that of its `#` or of the end.
    fn listed(&mut self) -> Vec<(usize, &'a str)> {
        let mut listed = Vec::new();
        loop {
            let (place, word) = self.word();
            if word.is_empty() || word == "#" {
                self.offset = place;
                return listed;
            }
            listed.push((place, word));
        }
    }

    fn word(&mut self) -> (usize, &'a str) {
        let (place, rest) = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        self.offset = place + word.len();
        (place, word)
    }
}

/// A regex that matches a text and nothing else.
fn literal(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    text.bytes().map(escape).collect()
}

/// Whether a regex, which parses, matches single bytes only: nothing begins such a token.
fn is_one_byte(pattern: &str) -> bool {
    parse_with(pattern, &syntax()).is_ok_and(|regex| regex.properties().maximum_len() == Some(1))
}

/// The line that seems to be meant, where a word that another lexer's rules begin with would be a name, or a sign between name and
/// regex a part of the regex.
fn other_form(name: &str, pattern: &str) -> Option<String> {
    let (word, rest) = pattern.split_once(char::is_whitespace)?;
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(name));
    let begins_with_name = check_name(word).is_ok();
    Some(match word {
        "=" | ":" | ":=" | "::=" => format!("{name} {}", rest.trim_start()),
        _ if begins_with_name && is(&["skip", "ignore"]) => format!("skip {pattern}"),
        _ if begins_with_name && is(&["token", "rule"]) => pattern.to_owned(),
        _ if is(&["keyword", "keywords"]) => format!("keyword {pattern}"),
        _ => return None,
    })
}

/// Whether a line seems to say which kinds are wanted.
fn chooses(name: &str, pattern: &str) -> bool {
    let mut words = pattern.split_whitespace();
    name.eq_ignore_ascii_case("only") && words.next().is_some_and(|word| check_name(word).is_ok())
}

fn check_name(name: &str) -> Result<(), Fault> {
    let mut letters = name.chars();
    let starts_well = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if !starts_well || !letters.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return Err(Fault::Name { found: name.to_owned() });
    }
    Ok(())
}

fn check_regex(name: &str, pattern: &str, place: Place) -> Result<(), RuleFault> {
    let name = name.to_owned();
    let fault = |fault| Err(RuleFault { place, fault });
    if pattern.is_empty() {
        return fault(Fault::NoRegex { name });
    }
    let regex = match parse_with(pattern, &syntax()) {
        Ok(regex) => regex,
        Err(error) => return fault(Fault::Regex { name, message: in_words("rules", &error) }),
    };
    if let Some((offset, meaningless)) = meaningless(pattern) {
        let fault = match meaningless {
            Meaningless::Lazy => Fault::Lazy { name },
            Meaningless::Repeated => Fault::Repeated { name },
        };
        return Err(RuleFault { place: place.right(pattern[..offset].chars().count()), fault });
    }
    if !regex.properties().look_set().is_empty() {
        return fault(Fault::LookAround { name });
    }
    if matches_empty(&regex) {
        return fault(Fault::Empty { name });
    }
    Ok(())
}

/// Whether a regex without look-around matches the empty string. The parser's shortest length is unknown where a part matches nothing.
fn matches_empty(regex: &Hir) -> bool {
    match regex.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Repetition(repeated) => repeated.min == 0 || matches_empty(&repeated.sub),
        HirKind::Capture(group) => matches_empty(&group.sub),
        HirKind::Concat(parts) => parts.iter().all(matches_empty),
        HirKind::Alternation(parts) => parts.iter().any(matches_empty),
    }
}

/// The parser's words, and what would do where `what`, such as rules, are about bytes.
pub(in crate::lexer) fn in_words(what: &str, error: &regex_syntax::Error) -> String {
    let needs_unicode = matches!(
        error,
        regex_syntax::Error::Translate(error) if *error.kind() == regex_syntax::hir::ErrorKind::UnicodeNotAllowed
    );
    match needs_unicode {
        true => format!("{error}\n{what} are about bytes: write `(?u:…)` around what is about Unicode"),
        false => error.to_string(),
    }
}

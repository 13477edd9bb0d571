//! Regular expressions with the syntax and the meaning of ICU, which are those of MySQL: a parser, a machine that tries one way after the
//! other within limits, and an automaton as a fast path. Main types: [`Regex`], [`Search`].
//!
//! It knows text in UTF-8 and MySQL's errors, nothing else of SQL.

#![forbid(unsafe_code)]

mod brackets;
mod class;
mod cluster;
mod fast;
mod first;
mod fold;
mod machine;
mod parenthesis;
mod parser;
mod place;
mod program;
mod property;
mod quantifier;
mod scanner;
mod tree;

#[cfg(test)]
mod tests;

use errors::{SqlResult, sql_error};
use fast::Fast;
use first::First;
pub use machine::Limits;
use machine::{Machine, UNSET};
pub use parser::Flags;
use program::Program;
use regex_automata::util::captures::Captures;
use regex_automata::{Input, meta};
use std::collections::HashMap;
use std::ops::Range;

/// Places of a text that are tried before a kill is looked for.
const KILL_LOOK_PLACES: usize = 1 << 16;

/// A compiled pattern.
#[derive(Debug)]
pub struct Regex {
    program: Program,
    first: First,
    least_characters: usize,
    groups: u32,
    names: HashMap<String, u32>,
    fast: Option<Fast>,
}

impl Regex {
    /// Compiles a pattern; `interrupt` is asked now and then whether to go on. Errors: 3700 for one that is too long, 3685 to 3697, 3887, 3900 and 4007 for a bad one, 1235 for what is missing here.
    pub fn new(pattern: &str, flags: Flags, interrupt: &dyn Fn() -> SqlResult<()>) -> SqlResult<Regex> {
        if pattern.is_empty() {
            return Err(sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT));
        }
        let parser::Parsed { node, groups, names } = parser::parse(pattern, flags, interrupt)?;
        let program = program::compile(&node, groups);
        Ok(Regex {
            first: First::new(&node),
            least_characters: node.least_characters() as usize,
            fast: Fast::new(node, program.state_size),
            program,
            groups,
            names,
        })
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups as usize
    }

    /// The number of the group of that name.
    pub fn group_named(&self, name: &str) -> Option<usize> {
        self.names.get(name).map(|group| *group as usize)
    }
}

/// The matches of a pattern in a text, one after the other.
pub struct Search<'a> {
    regex: &'a Regex,
    machine: Machine<'a>,
    automaton: Option<&'a meta::Regex>,
    captures: Option<Captures>,
    found: Option<Range<usize>>,
    next_start: usize,
    places: usize,
}

impl<'a> Search<'a> {
    /// From a byte of the text on. `interrupt` is asked now and then whether to go on. Error 3698 for a text beyond what can be counted.
    pub fn new(
        regex: &'a Regex,
        subject: &'a str,
        start: usize,
        limits: Limits,
        interrupt: &'a dyn Fn() -> SqlResult<()>,
    ) -> SqlResult<Search<'a>> {
        if u32::try_from(subject.len()).is_err() {
            return Err(sql_error!(ER_REGEXP_STACK_OVERFLOW));
        }
        Ok(Search {
            regex,
            machine: Machine::new(&regex.program, subject, limits, interrupt),
            automaton: regex.fast.as_ref().and_then(|fast| fast.automaton(subject, limits)),
            captures: None,
            found: None,
            next_start: start,
            places: 0,
        })
    }

    /// The bytes of the next match. Errors: 3698 and 3699 for one that takes too much, and what the interrupt says.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot fail and end")]
    pub fn next(&mut self) -> SqlResult<Option<Range<usize>>> {
        let subject = self.machine.subject;
        if self.next_start > subject.len() {
            return Ok(None);
        }
        self.found = match self.automaton {
            Some(automaton) => self.next_of_automaton(automaton),
            None => self.next_of_machine()?,
        };
        match &self.found {
            None => self.next_start = subject.len() + 1,
            Some(found) => {
                self.machine.last_end = found.end;
                // Behind an empty match the next one begins one character further.
                self.next_start = match found.is_empty() {
                    true => found.end + subject[found.end..].chars().next().map_or(1, char::len_utf8),
                    false => found.end,
                };
            }
        }
        Ok(self.found.clone())
    }

    fn next_of_automaton(&mut self, automaton: &meta::Regex) -> Option<Range<usize>> {
        let input = Input::new(self.machine.subject).range(self.next_start..);
        if self.regex.groups == 0 {
            return automaton.search(&input).map(|found| found.range());
        }
        let captures = self.captures.get_or_insert_with(|| automaton.create_captures());
        automaton.search_captures(&input, captures);
        captures.get_match().map(|found| found.range())
    }

    fn next_of_machine(&mut self) -> SqlResult<Option<Range<usize>>> {
        let subject = self.machine.subject;
        let mut start = self.next_start;
        while let Some(place) = self.candidate(start) {
            self.places += 1;
            if self.places.is_multiple_of(KILL_LOOK_PLACES) {
                (self.machine.interrupt)()?;
            }
            if let Some(end) = self.machine.match_at(place)? {
                return Ok(Some(place..end));
            }
            start = place + subject[place..].chars().next().map_or(1, char::len_utf8);
        }
        Ok(None)
    }

    /// The first place from that on where a match may begin.
    fn candidate(&self, start: usize) -> Option<usize> {
        let subject = self.machine.subject;
        let place = match &self.regex.first {
            First::TextStart => (start == 0).then_some(0)?,
            First::LineStart => {
                let begins_line = |place: &usize| {
                    let before = place::character_before(subject, *place);
                    let splits = before == Some('\r') && subject[*place..].starts_with('\n');
                    before.is_none_or(class::is_line_end) && !splits
                };
                let mut places = subject.get(start..)?.char_indices().map(|(at, _)| start + at);
                places.find(begins_line).or_else(|| Some(subject.len()).filter(begins_line))?
            }
            First::OneOf(class) => {
                start + subject.get(start..)?.find(|character| class.contains(character))?
            }
            First::Anything => start,
        };
        (place + self.regex.least_characters <= subject.len()).then_some(place)
    }

    /// The bytes of a group of the last match, from 1; None where it took no part.
    pub fn group(&self, group: usize) -> Option<Range<usize>> {
        if self.automaton.is_some() {
            return self.captures.as_ref()?.get_group(group).map(|span| span.range());
        }
        let slot = program::group_slot(group as u32) as usize;
        match self.machine.slots.get(slot..slot + 2)? {
            [start, end] if *start != UNSET && *end != UNSET => Some(*start as usize..*end as usize),
            _ => None,
        }
    }
}

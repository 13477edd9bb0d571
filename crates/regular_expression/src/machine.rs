//! Runs a program over a text: what fits is tried in turn, and what does not goes back to the last saved state. Main type: [`Machine`].
//!
//! What is saved counts against the limits of time and stack as it does in ICU, so that the same patterns run into them. A state is
//! small: where to go on, and how long the list of changed slots was then.

use crate::class::{Class, is_line_end};
use crate::cluster;
use crate::fold;
use crate::place::{character_before, dot, folded_text, holds, line_break, one, same_text};
use crate::program::{Count, Instruction, Label, Program, Slot};
use crate::tree::Dot;
use errors::{SqlResult, sql_error};

/// Saved states of a tick: the unit of the limit of time.
pub(crate) const TICK_STATES: u64 = 10_000;
/// States at a time, and changes of slots since, where no limit is set: some 400 MB.
const STATES_MAX: usize = 1 << 25;
/// Bytes that may be taken before a kill is looked for.
const RUN_BYTES_MAX: usize = 1 << 20;
/// Changes that are not worth looking through.
const CHANGES_KEPT: usize = 1 << 10;
/// What a slot holds before it is set.
pub(crate) const UNSET: u32 = u32::MAX;

/// What a match may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Saved states over all of a search, in units of 10,000: regexp_time_limit. 0 for no limit.
    pub ticks: u64,
    /// Bytes of saved states at a time, of four for each slot: regexp_stack_limit. 0 for no limit.
    pub stack_bytes: u64,
}

/// Where to go on after what did not match.
#[derive(Clone, Copy)]
struct State {
    label: Label,
    at: u32,
    changes: u32,
}

/// The state of a search in a text.
pub(crate) struct Machine<'a> {
    pub program: &'a Program,
    pub subject: &'a str,
    pub limits: Limits,
    pub interrupt: &'a dyn Fn() -> SqlResult<()>,
    /// Where `\G` holds.
    pub last_end: usize,
    pub slots: Vec<u32>,
    states: Vec<State>,
    /// Slots that changed since the first saved state, and what they held.
    changes: Vec<(Slot, u32)>,
    /// States saved up to now.
    saved: u64,
    run_bytes: usize,
}

/// What an instruction came to.
enum Outcome {
    /// Goes on behind, at that place.
    At(usize),
    /// Goes on there.
    To(Label, usize),
    Mismatch,
}

use Outcome::{At, Mismatch, To};

impl<'a> Machine<'a> {
    /// At the beginning of a search.
    pub fn new(
        program: &'a Program,
        subject: &'a str,
        limits: Limits,
        interrupt: &'a dyn Fn() -> SqlResult<()>,
    ) -> Machine<'a> {
        Machine {
            program,
            subject,
            limits,
            interrupt,
            last_end: 0,
            slots: Vec::new(),
            states: Vec::new(),
            changes: Vec::new(),
            saved: 0,
            run_bytes: 0,
        }
    }

    /// The end of a match that begins at a byte. Errors: 3698, 3699, and what the interrupt says.
    pub fn match_at(&mut self, start: usize) -> SqlResult<Option<usize>> {
        self.slots.clear();
        self.slots.resize(self.program.slots as usize, UNSET);
        self.states.clear();
        self.changes.clear();
        self.tick()?;
        self.check_room(0)?;
        let (mut label, mut at): (Label, usize) = (0, start);
        loop {
            let program = self.program;
            let instruction = &program.instructions[label as usize];
            if let Instruction::Match = instruction {
                return Ok(Some(at));
            }
            match self.step(instruction, label, at)? {
                At(next) => (label, at) = (label + 1, next),
                To(next, place) => (label, at) = (next, place),
                Mismatch => match self.back() {
                    Some(state) => (label, at) = (state.label, state.at as usize),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Takes the last saved state.
    fn back(&mut self) -> Option<State> {
        let state = self.states.pop()?;
        while self.changes.len() > state.changes as usize {
            let (slot, held) = self.changes.pop()?;
            self.slots[slot as usize] = held;
        }
        Some(state)
    }

    /// Saves a state. Errors as of [`Machine::match_at`].
    #[inline]
    fn save(&mut self, label: Label, at: usize) -> SqlResult<()> {
        self.tick()?;
        self.check_room(self.states.len() as u64 + 1)?;
        if self.states.len().max(self.changes.len()) >= STATES_MAX {
            return Err(sql_error!(ER_REGEXP_STACK_OVERFLOW));
        }
        self.states.push(State { label, at: at as u32, changes: self.changes.len() as u32 });
        Ok(())
    }

    /// Error 3698 where so many states are too much, beside the two that ICU begins with.
    #[inline]
    fn check_room(&self, states: u64) -> SqlResult<()> {
        let slots = (states + 2) * u64::from(self.program.state_size);
        match self.limits.stack_bytes > 0 && slots > self.limits.stack_bytes / 4 {
            true => Err(sql_error!(ER_REGEXP_STACK_OVERFLOW)),
            false => Ok(()),
        }
    }

    /// Counts a saved state. Error 3699 where there are too many.
    #[inline]
    fn tick(&mut self) -> SqlResult<()> {
        self.saved += 1;
        if self.saved.is_multiple_of(TICK_STATES) { self.look_around() } else { Ok(()) }
    }

    #[cold]
    fn look_around(&mut self) -> SqlResult<()> {
        (self.interrupt)()?;
        if self.limits.ticks > 0 && self.saved / TICK_STATES >= self.limits.ticks {
            return Err(sql_error!(ER_REGEXP_TIME_OUT));
        }
        Ok(())
    }

    #[inline]
    fn set(&mut self, slot: Slot, value: usize) {
        let held = std::mem::replace(&mut self.slots[slot as usize], value as u32);
        if !self.states.is_empty() {
            self.changes.push((slot, held));
        }
    }

    /// Of a slot that has changed more than once since the last saved state, what it held first is all that is given back: rounds that save
    /// nothing take no memory.
    fn forget_repeated(&mut self) {
        let Some(since) = self.states.last().map(|state| state.changes as usize) else { return };
        if self.changes.len() - since <= 2 * self.slots.len() + CHANGES_KEPT {
            return;
        }
        let mut is_kept = vec![false; self.slots.len()];
        let mut end = since;
        for at in since..self.changes.len() {
            let (slot, held) = self.changes[at];
            if !std::mem::replace(&mut is_kept[slot as usize], true) {
                self.changes[end] = (slot, held);
                end += 1;
            }
        }
        self.changes.truncate(end);
    }

    /// The most changes that were kept so far.
    #[cfg(test)]
    pub fn changes_kept(&self) -> usize {
        self.changes.capacity()
    }

    fn get(&self, slot: Slot) -> usize {
        self.slots[slot as usize] as usize
    }

    /// Forgets the states saved since a mark.
    fn cut(&mut self, slot: Slot) {
        self.states.truncate(self.get(slot));
        if self.states.is_empty() {
            self.changes.clear();
        }
    }

    #[inline]
    fn step(&mut self, instruction: &Instruction, label: Label, at: usize) -> SqlResult<Outcome> {
        let matched = match instruction {
            Instruction::Character(character) => one(self.subject, at, |found| found == *character),
            Instruction::FoldedCharacter(character) => {
                one(self.subject, at, |found| fold::simple(found) == *character)
            }
            Instruction::Class(class) => one(self.subject, at, |found| class.contains(found)),
            Instruction::Text(text) => {
                self.subject.as_bytes()[at..].starts_with(text.as_bytes()).then(|| at + text.len())
            }
            Instruction::FoldedText(text) => folded_text(self.subject, text, at),
            Instruction::Dot(single) => dot(self.subject, *single, at),
            Instruction::LineBreak => line_break(self.subject, at),
            Instruction::Cluster => {
                let end = cluster::end(self.subject, at);
                self.took(end.unwrap_or(at) - at)?;
                end
            }
            Instruction::Assert(assertion) => {
                holds(self.subject, *assertion, self.last_end, at).then_some(at)
            }
            Instruction::BackReference { slot, folded } => self.back_reference(*slot, *folded, at)?,
            _ => return self.control(instruction, label, at),
        };
        Ok(matched.map_or(Mismatch, At))
    }

    /// What changes more than the place.
    fn control(&mut self, instruction: &Instruction, label: Label, at: usize) -> SqlResult<Outcome> {
        match instruction {
            Instruction::GroupStart(slot) => self.set(slot + 2, at),
            Instruction::GroupEnd(slot) => {
                self.set(*slot, self.get(slot + 2));
                self.set(slot + 1, at);
            }
            Instruction::Save(other) => self.save(*other, at)?,
            Instruction::Jump(target) => return Ok(To(*target, at)),
            Instruction::JumpSaving(target) => {
                self.save(label + 1, at)?;
                return Ok(To(*target, at));
            }
            Instruction::StorePlace(slot) => self.set(*slot, at),
            Instruction::JumpIfMoved(slot, target) => {
                if self.get(*slot) < at {
                    self.save(label + 1, at)?;
                    return Ok(To(*target, at));
                }
            }
            Instruction::ClassLoop(class, slot) => return self.class_loop(class, *slot, label, at),
            Instruction::DotLoop(dot, slot) => return self.dot_loop(*dot, *slot, label, at),
            Instruction::StepBack { slot, over_line_ends } => {
                return self.step_back(*slot, *over_line_ends, label, at);
            }
            Instruction::CountStart(count, end) => return self.count_start(*count, *end, label, at),
            Instruction::CountNext(count, body) => return self.count_next(*count, *body, label, at),
            Instruction::Mark(slot) => self.set(*slot, self.states.len()),
            Instruction::Cut(slot) => self.cut(*slot),
            Instruction::LookStart { slot, is_behind } => {
                self.set(*slot, self.states.len());
                self.set(slot + 1, at);
                if *is_behind {
                    self.set(slot + 2, UNSET as usize);
                }
            }
            Instruction::LookEnd(slot) => {
                self.cut(*slot);
                return Ok(At(self.get(slot + 1)));
            }
            Instruction::BehindNext { slot, least, most } => {
                return self.behind_next(*slot, *least, *most, label);
            }
            Instruction::BehindEnd(slot) if self.get(slot + 1) != at => return Ok(Mismatch),
            Instruction::BehindEnd(_) => {}
            _ => return Ok(Mismatch),
        }
        Ok(At(at))
    }

    fn back_reference(&mut self, slot: Slot, folded: bool, at: usize) -> SqlResult<Option<usize>> {
        let (start, end) = (self.slots[slot as usize], self.slots[slot as usize + 1]);
        if start == UNSET || end == UNSET {
            return Ok(None);
        }
        let text = &self.subject[start as usize..end as usize];
        self.took(text.len())?;
        Ok(same_text(self.subject, text, folded, at))
    }

    /// Counts what took time and saved no state.
    #[inline]
    fn took(&mut self, bytes: usize) -> SqlResult<()> {
        self.run_bytes += bytes;
        if self.run_bytes > RUN_BYTES_MAX {
            self.run_bytes = 0;
            (self.interrupt)()?;
        }
        Ok(())
    }

    fn class_loop(&mut self, class: &Class, slot: Slot, label: Label, at: usize) -> SqlResult<Outcome> {
        let rest = &self.subject[at..];
        let end = rest.char_indices().find(|(_, character)| !class.contains(*character));
        self.ran(slot, label, at, at + end.map_or(rest.len(), |(end, _)| end))
    }

    fn dot_loop(&mut self, dot: Dot, slot: Slot, label: Label, at: usize) -> SqlResult<Outcome> {
        let rest = &self.subject[at..];
        let end = match dot {
            Dot::Lines => rest.find(is_line_end),
            Dot::UnixLines => rest.find('\n'),
            Dot::All => None,
        };
        self.ran(slot, label, at, at + end.unwrap_or(rest.len()))
    }

    /// Behind a run that goes up to a byte.
    fn ran(&mut self, slot: Slot, label: Label, at: usize, end: usize) -> SqlResult<Outcome> {
        self.took(end - at)?;
        if end > at {
            self.set(slot, at);
            self.save(label + 1, end)?;
        }
        Ok(To(label + 2, end))
    }

    fn step_back(&mut self, slot: Slot, over_line_ends: bool, label: Label, at: usize) -> SqlResult<Outcome> {
        if self.get(slot) == at {
            return Ok(At(at));
        }
        let mut before = at - character_before(self.subject, at).map_or(1, char::len_utf8);
        if over_line_ends
            && before > self.get(slot)
            && self.subject.as_bytes()[before - 1..].starts_with(b"\r\n")
        {
            before -= 1;
        }
        self.save(label, before)?;
        Ok(At(before))
    }

    fn count_start(&mut self, count: Count, end: Label, label: Label, at: usize) -> SqlResult<Outcome> {
        self.set(count.slot, 0);
        if count.most.is_none() {
            self.set(count.slot + 1, at);
        }
        if count.least > 0 {
            return Ok(At(at));
        }
        if count.lazy {
            self.save(label + 1, at)?;
            return Ok(To(end, at));
        }
        self.save(end, at)?;
        Ok(At(at))
    }

    fn count_next(&mut self, count: Count, body: Label, label: Label, at: usize) -> SqlResult<Outcome> {
        let rounds = self.get(count.slot) + 1;
        self.set(count.slot, rounds);
        if count.most.is_some_and(|most| rounds >= most as usize) {
            return Ok(At(at));
        }
        if rounds < count.least as usize {
            self.tick()?;
            self.forget_repeated();
            return Ok(To(body, at));
        }
        if count.most.is_none() {
            // A round that took nothing would be followed by others like it.
            if self.get(count.slot + 1) == at {
                return Ok(At(at));
            }
            self.set(count.slot + 1, at);
        }
        if count.lazy {
            self.save(body, at)?;
            return Ok(At(at));
        }
        self.save(label + 1, at)?;
        Ok(To(body, at))
    }

    /// Where a look behind begins next.
    fn behind_next(&mut self, slot: Slot, least: u32, most: u32, label: Label) -> SqlResult<Outcome> {
        let place = self.get(slot + 1);
        let (start, characters) = match self.slots[slot as usize + 2] {
            UNSET => {
                let mut start = place;
                for _ in 0..least {
                    let Some(before) = character_before(self.subject, start) else { return Ok(Mismatch) };
                    start -= before.len_utf8();
                }
                (start, least as usize)
            }
            start => {
                let start = start as usize;
                let Some(before) = character_before(self.subject, start) else { return Ok(Mismatch) };
                (start - before.len_utf8(), self.get(slot + 3) + 1)
            }
        };
        if characters > most as usize {
            return Ok(Mismatch);
        }
        self.set(slot + 2, start);
        self.set(slot + 3, characters);
        self.save(label, start)?;
        Ok(At(start))
    }
}

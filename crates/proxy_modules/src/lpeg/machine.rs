//! Runs the program of a pattern over a text. What waits (choices, calls) stands on a list of its own with a limit, so neither a
//! pattern nor a text makes Rust's stack grow. Main type: [`Machine`].

use mlua::Value;

use super::captures::{Event, Reader};
use super::program::{ByteSet, Capture, Op};
use crate::function::Failure;

/// Calls and choices that may wait.
const WAITING_MAX: usize = 20_000;

/// What waits.
enum Waiting {
    /// Where to go on, from where in the text, with how many captures.
    Choice { op: usize, position: usize, captures: usize },
    /// Where the call came from.
    Call { op: usize },
}

/// A match that runs.
pub(super) struct Machine<'a> {
    ops: &'a [Op],
    text: &'a [u8],
    waiting: Vec<Waiting>,
    /// Captures so far.
    pub(super) events: Vec<Event>,
    /// What functions of match time returned.
    pub(super) returned: Vec<Vec<Value>>,
}

/// What a step leads to.
enum Step {
    To(isize),
    Fails,
}

impl<'a> Machine<'a> {
    pub(super) fn new(ops: &'a [Op], text: &'a [u8]) -> Machine<'a> {
        Machine { ops, text, waiting: Vec::new(), events: Vec::new(), returned: Vec::new() }
    }

    /// Where the match that begins at `position` ends; None if there is none.
    pub(super) fn run(&mut self, mut position: usize, reader: &Reader<'_>) -> Result<Option<usize>, Failure> {
        let mut at = 0;
        while let Some(op) = self.ops.get(at) {
            match self.step(op, at, &mut position, reader)? {
                Step::To(distance) => at = at.wrapping_add_signed(distance),
                Step::Fails => match self.backtrack() {
                    Some((op, earlier)) => (at, position) = (op, earlier),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(position))
    }

    fn step(
        &mut self,
        op: &Op,
        at: usize,
        position: &mut usize,
        reader: &Reader<'_>,
    ) -> Result<Step, Failure> {
        let rest = &self.text[*position..];
        let taken = match op {
            Op::Text(text) => rest.starts_with(text).then_some(text.len()),
            Op::Any(count) => (rest.len() >= *count).then_some(*count),
            Op::Set(bytes) => rest.first().filter(|byte| has(bytes, **byte)).map(|_| 1),
            Op::Span(bytes) => Some(rest.iter().take_while(|byte| has(bytes, **byte)).count()),
            _ => return self.control(op, at, position, reader),
        };
        Ok(match taken {
            Some(bytes) => {
                *position += bytes;
                Step::To(1)
            }
            None => Step::Fails,
        })
    }

    /// Everything that does not look at the text.
    fn control(
        &mut self,
        op: &Op,
        at: usize,
        position: &mut usize,
        reader: &Reader<'_>,
    ) -> Result<Step, Failure> {
        Ok(match op {
            Op::Choice(distance) => {
                let captures = self.events.len();
                self.wait(Waiting::Choice {
                    op: at.wrapping_add_signed(*distance),
                    position: *position,
                    captures,
                })?;
                Step::To(1)
            }
            Op::Commit(distance) => {
                self.waiting.pop();
                Step::To(*distance)
            }
            Op::PartialCommit(distance) => match self.waiting.last_mut() {
                Some(Waiting::Choice { position: earlier, captures, .. }) if *earlier != *position => {
                    *earlier = *position;
                    *captures = self.events.len();
                    Step::To(*distance)
                }
                _ => {
                    self.waiting.pop();
                    Step::To(1)
                }
            },
            Op::BackCommit(distance) => {
                if let Some(Waiting::Choice { position: earlier, .. }) = self.waiting.pop() {
                    *position = earlier;
                }
                Step::To(*distance)
            }
            Op::FailTwice => {
                self.waiting.pop();
                Step::Fails
            }
            Op::Jump(distance) => Step::To(*distance),
            Op::Call(distance) => {
                self.wait(Waiting::Call { op: at })?;
                Step::To(*distance)
            }
            Op::OpenCall(name) => {
                return Err(Failure::Text(format!("reference to rule '{}' outside a grammar", name.shown())));
            }
            Op::Return => match self.waiting.pop() {
                Some(Waiting::Call { op }) => {
                    Step::To((op as isize).wrapping_sub(at as isize).wrapping_add(1))
                }
                _ => Step::Fails,
            },
            Op::Open(capture) => {
                self.events.push(Event::Open { capture: *capture, position: *position });
                Step::To(1)
            }
            Op::Close => {
                self.events.push(Event::Close { position: *position });
                Step::To(1)
            }
            Op::Ask(function, with_part) => self.ask(*function, *with_part, position, reader)?,
            Op::Fail | Op::Text(_) | Op::Any(_) | Op::Set(_) | Op::Span(_) => Step::Fails,
        })
    }

    fn wait(&mut self, waiting: Waiting) -> Result<(), Failure> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(Failure::Text("too many pending calls/choices".to_owned()));
        }
        self.waiting.push(waiting);
        Ok(())
    }

    /// The last choice: where to go on, and from where in the text.
    fn backtrack(&mut self) -> Option<(usize, usize)> {
        loop {
            if let Waiting::Choice { op, position, captures } = self.waiting.pop()? {
                self.events.truncate(captures);
                return Some((op, position));
            }
        }
    }

    /// A function of match time: it says whether the part matches and where it ends, and what is captured.
    fn ask(
        &mut self,
        function: i64,
        with_part: bool,
        position: &mut usize,
        reader: &Reader<'_>,
    ) -> Result<Step, Failure> {
        let mut depth = 0;
        let open = self.events.iter().rposition(|event| match event {
            Event::Close { .. } => {
                depth += 1;
                false
            }
            Event::Open { .. } if depth > 0 => {
                depth -= 1;
                false
            }
            Event::Open { capture, .. } => *capture == Capture::Asked,
        });
        let open = open.unwrap_or(0);
        self.events.push(Event::Close { position: *position });
        let mut values = reader.ask(self, function, open, *position, with_part)?.into_iter();
        let start = match self.events[open] {
            Event::Open { position, .. } | Event::Close { position } => position,
        };
        self.events.truncate(open);
        let end = match values.next() {
            None | Some(Value::Nil | Value::Boolean(false)) => return Ok(Step::Fails),
            Some(Value::Boolean(true)) => *position,
            Some(value) => {
                let wanted = match value {
                    Value::Integer(wanted) => wanted,
                    Value::Number(wanted) => wanted as i64,
                    _ => 0,
                };
                let end = usize::try_from(wanted).ok().and_then(|wanted| wanted.checked_sub(1));
                end.filter(|end| (*position..=self.text.len()).contains(end)).ok_or_else(|| {
                    Failure::Text("invalid position returned by match-time capture".to_owned())
                })?
            }
        };
        *position = end;
        let values: Vec<Value> = values.collect();
        if !values.is_empty() {
            let capture = Capture::Returned(self.returned.len());
            self.returned.push(values);
            self.events.push(Event::Open { capture, position: start });
            self.events.push(Event::Close { position: end });
        }
        Ok(Step::To(1))
    }
}

fn has(bytes: &ByteSet, byte: u8) -> bool {
    bytes[usize::from(byte >> 6)] & 1 << (byte & 63) != 0
}

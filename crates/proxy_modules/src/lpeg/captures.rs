//! The values of a match, from the captures that its machine wrote down. Main type: [`Reader`].

use mlua::{Function, Lua, LuaString, MultiValue, Table, Value};

use super::machine::Machine;
use super::program::Capture;
use crate::function::Failure;

/// Captures inside of each other.
const DEPTH_MAX: usize = 150;

/// Begin or end of a capture.
#[derive(Clone, Copy)]
pub(super) enum Event {
    Open { capture: Capture, position: usize },
    Close { position: usize },
}

/// What the values are made of besides the captures.
pub(super) struct Reader<'a> {
    pub(super) lua: &'a Lua,
    pub(super) subject: &'a LuaString,
    pub(super) text: &'a [u8],
    /// The pattern's Lua values by number.
    pub(super) kept: &'a Table,
    /// Arguments of the match behind the position.
    pub(super) arguments: Vec<Value>,
    /// Lua's own, so that what a function raises stays what it is.
    pub(super) protected_call: &'a Function,
}

type Values = Result<Vec<Value>, Failure>;

impl Reader<'_> {
    /// All values of a match that has ended.
    pub(super) fn all(&self, machine: &Machine<'_>) -> Values {
        self.between(machine, 0, machine.events.len(), 0)
    }

    /// Asks a function of match time about the part whose capture opens at that index.
    pub(super) fn ask(
        &self,
        machine: &Machine<'_>,
        function: i64,
        open: usize,
        position: usize,
        part: bool,
    ) -> Values {
        let end = machine.events.len() - 1;
        let mut arguments = vec![Value::String(self.subject.clone()), Value::Integer(position as i64 + 1)];
        let inner = self.between(machine, open + 1, end, 0)?;
        if inner.is_empty() && part {
            arguments.push(self.part(machine, open)?);
        }
        arguments.extend(inner);
        self.call(function, arguments)
    }

    /// The values of the captures in a range of events.
    fn between(&self, machine: &Machine<'_>, from: usize, to: usize, depth: usize) -> Values {
        let mut values = Vec::new();
        let mut at = from;
        while at < to {
            values.extend(self.values(machine, at, depth)?);
            at = close_of(machine, at) + 1;
        }
        Ok(values)
    }

    /// `Ct`. Each value goes into the table at once: Lua has room for some thousands outside of tables.
    fn collected(&self, machine: &Machine<'_>, open: usize, depth: usize) -> Result<Value, Failure> {
        let table = self.lua.create_table()?;
        let mut count = 0;
        let (mut at, end) = (open + 1, close_of(machine, open));
        while at < end {
            for value in self.values(machine, at, depth + 1)? {
                count += 1;
                table.raw_set(count, value)?;
            }
            at = close_of(machine, at) + 1;
        }
        Ok(Value::Table(table))
    }

    /// The values of the capture that opens at an index.
    fn values(&self, machine: &Machine<'_>, open: usize, depth: usize) -> Values {
        if depth > DEPTH_MAX {
            return Err(Failure::Text("too many nested captures".to_owned()));
        }
        let Event::Open { capture, position } = machine.events[open] else { return Ok(Vec::new()) };
        let inner = || -> Values { self.between(machine, open + 1, close_of(machine, open), depth + 1) };
        let inner_or_part = || -> Values {
            let values = inner()?;
            if values.is_empty() { Ok(vec![self.part(machine, open)?]) } else { Ok(values) }
        };
        Ok(match capture {
            Capture::Simple => {
                let mut values = vec![self.part(machine, open)?];
                values.extend(inner()?);
                values
            }
            Capture::Position => vec![Value::Integer(position as i64 + 1)],
            Capture::Constant(number) => {
                let list: Table = self.kept.raw_get(number)?;
                let count: i64 = list.raw_get("n")?;
                (1..=count).map(|index| list.raw_get(index)).collect::<mlua::Result<_>>()?
            }
            Capture::Argument(number) => match self.arguments.get(number - 1) {
                Some(value) => vec![value.clone()],
                None => return Err(Failure::Text(format!("reference to absent argument #{number}"))),
            },
            Capture::Back(count) => self.values(machine, earlier(machine, open, count)?, depth + 1)?,
            Capture::Table => vec![self.collected(machine, open, depth)?],
            Capture::Substitution => vec![self.substituted(machine, open, depth)?],
            Capture::Accumulator => vec![self.accumulated(machine, open, depth)?],
            Capture::Text(number) => vec![self.replaced(machine, open, number)?],
            Capture::Query(number) => {
                let table: Table = self.kept.raw_get(number)?;
                let key = inner_or_part()?.swap_remove(0);
                match if key.is_nil() { Value::Nil } else { table.get::<Value>(key)? } {
                    Value::Nil => Vec::new(),
                    value => vec![value],
                }
            }
            Capture::Function(number) => self.call(number, inner_or_part()?)?,
            Capture::Returned(number) => machine.returned[number].clone(),
            Capture::Asked => inner()?,
        })
    }

    /// The text that a capture spans.
    fn part(&self, machine: &Machine<'_>, open: usize) -> Result<Value, Failure> {
        Ok(Value::String(self.lua.create_string(&self.text[span(machine, open)])?))
    }

    fn call(&self, function: i64, arguments: Vec<Value>) -> Values {
        let function: Value = self.kept.raw_get(function)?;
        let mut all = MultiValue::from_vec(arguments);
        all.push_front(function);
        let mut results: MultiValue = self.protected_call.call(all)?;
        match results.pop_front() {
            Some(Value::Boolean(true)) => Ok(results.into_vec()),
            _ => Err(Failure::Value(results.pop_front().unwrap_or(Value::Nil))),
        }
    }

    /// `Cs`.
    fn substituted(&self, machine: &Machine<'_>, open: usize, depth: usize) -> Result<Value, Failure> {
        let whole = span(machine, open);
        let mut out = Vec::new();
        let mut copied = whole.start;
        let (mut at, end) = (open + 1, close_of(machine, open));
        while at < end {
            let part = span(machine, at);
            if let Some(value) = self.values(machine, at, depth + 1)?.into_iter().next() {
                let kind = value.type_name();
                let Some(text) = self.lua.coerce_string(value)? else {
                    return Err(Failure::Text(format!("invalid replacement value (a {kind})")));
                };
                out.extend(self.text.get(copied..part.start).unwrap_or_default());
                out.extend(&*text.as_bytes());
                copied = part.end;
            }
            at = close_of(machine, at) + 1;
        }
        out.extend(self.text.get(copied..whole.end).unwrap_or_default());
        Ok(Value::String(self.lua.create_string(out)?))
    }

    /// `Ca`: the first capture is the start, the others are functions of what there is so far and what they captured.
    fn accumulated(&self, machine: &Machine<'_>, open: usize, depth: usize) -> Result<Value, Failure> {
        let (mut at, end) = (open + 1, close_of(machine, open));
        let mut start = if at < end { self.values(machine, at, depth + 1)? } else { Vec::new() };
        if start.len() != 1 {
            return Err(Failure::Text("no initial value for accumulator capture".to_owned()));
        }
        let mut value = start.swap_remove(0);
        at = close_of(machine, at) + 1;
        while at < end {
            let close = close_of(machine, at);
            let Event::Open { capture: Capture::Function(number), .. } = machine.events[at] else {
                return Err(Failure::Text("invalid (non function) capture to accumulate".to_owned()));
            };
            let mut arguments = self.between(machine, at + 1, close, depth + 1)?;
            if arguments.is_empty() {
                arguments.push(self.part(machine, at)?);
            }
            arguments.insert(0, value);
            value = self.call(number, arguments)?.into_iter().next().unwrap_or(Value::Nil);
            at = close + 1;
        }
        Ok(value)
    }

    /// `/ "text"`: %0 is the part, %1 to %9 are the texts captured inside, from the outermost in.
    fn replaced(&self, machine: &Machine<'_>, open: usize, number: i64) -> Result<Value, Failure> {
        let template: LuaString = self.kept.raw_get(number)?;
        let inner = open + 1..close_of(machine, open);
        let mut opens = vec![open];
        for at in inner {
            if let Event::Open { capture, .. } = machine.events[at]
                && opens.len() <= 9
            {
                if capture != Capture::Simple {
                    let index = opens.len();
                    return Err(Failure::Text(format!("invalid capture #{index} in replacement pattern")));
                }
                opens.push(at);
            }
        }
        let mut out = Vec::new();
        let template = template.as_bytes();
        let mut bytes = template.iter();
        while let Some(byte) = bytes.next() {
            let digit = match byte {
                b'%' => bytes.next().copied().unwrap_or(b'%'),
                byte => {
                    out.push(*byte);
                    continue;
                }
            };
            if !digit.is_ascii_digit() {
                out.push(digit);
                continue;
            }
            let index = usize::from(digit - b'0');
            let Some(at) = opens.get(index) else {
                return Err(Failure::Text(format!("invalid capture index ({index})")));
            };
            out.extend(&self.text[span(machine, *at)]);
        }
        Ok(Value::String(self.lua.create_string(out)?))
    }
}

/// The index of the end of the capture that opens at `open`.
fn close_of(machine: &Machine<'_>, open: usize) -> usize {
    let mut depth = 0usize;
    for (index, event) in machine.events.iter().enumerate().skip(open) {
        match event {
            Event::Open { .. } => depth += 1,
            Event::Close { .. } => depth -= 1,
        }
        if depth == 0 {
            return index;
        }
    }
    machine.events.len() - 1
}

fn span(machine: &Machine<'_>, open: usize) -> std::ops::Range<usize> {
    let start = match machine.events[open] {
        Event::Open { position, .. } | Event::Close { position } => position,
    };
    match machine.events[close_of(machine, open)] {
        // What is looked at ahead may end before it began to be captured.
        Event::Close { position } => start..position.max(start),
        Event::Open { .. } => start..start,
    }
}

/// The capture that ended so many captures before the one at `at`; those around it do not count.
fn earlier(machine: &Machine<'_>, at: usize, count: usize) -> Result<usize, Failure> {
    let mut left = count;
    let mut depth = 0;
    for index in (0..at).rev() {
        match machine.events[index] {
            Event::Close { .. } => depth += 1,
            Event::Open { .. } if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    left -= 1;
                    if left == 0 {
                        return Ok(index);
                    }
                }
            }
            Event::Open { .. } => {}
        }
    }
    Err(Failure::Text(format!("invalid back reference ({count})")))
}

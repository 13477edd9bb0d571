//! Module `lpeg`: patterns over texts as LPeg 0.8 has them, which came with the proxy. Patterns are objects with operators; each
//! keeps the Lua values (functions, tables, constants) that its captures need in its user value, where the collector sees them.

mod captures;
mod machine;
mod program;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use mlua::{AnyUserData, Function, Lua, Table, UserData, UserDataFields, Value};

use self::captures::Reader;
use self::machine::Machine;
use self::program::{Capture, Op, Pattern, RuleName, set_of};
use crate::function::{Arguments, Binder, Failure, Outcome, nothing, one, one_string};
use crate::module;

/// Instructions of a pattern.
const OPS_MAX: usize = 1 << 20;

/// Where the module's table lies for the metatable of patterns.
const METHODS: &str = "proxy_modules.lpeg";

/// A pattern as scripts hold it, and its program once it was asked to match.
struct Object {
    pattern: Pattern,
    program: OnceLock<Arc<[Op]>>,
}

impl Object {
    fn program(&self) -> Arc<[Op]> {
        Arc::clone(self.program.get_or_init(|| self.pattern.compiled().into()))
    }
}

impl UserData for Object {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_meta_field_with("__index", |lua| lua.named_registry_value::<Table>(METHODS));
        fields.add_meta_field_with("__mul", |lua| module::binder(lua)?.function(lua, sequence));
        fields.add_meta_field_with("__add", |lua| module::binder(lua)?.function(lua, alternative));
        fields.add_meta_field_with("__sub", |lua| module::binder(lua)?.function(lua, difference));
        fields.add_meta_field_with("__div", |lua| module::binder(lua)?.function(lua, divided));
        fields.add_meta_field_with("__pow", |lua| module::binder(lua)?.function(lua, repeated));
        fields.add_meta_field_with("__len", |lua| {
            module::binder(lua)?.function(lua, |lua, arguments| {
                let part = operand(lua, arguments, 1)?;
                object(lua, part.pattern.ahead(), part.kept)
            })
        });
        fields.add_meta_field_with("__unm", |lua| {
            module::binder(lua)?.function(lua, |lua, arguments| {
                let part = operand(lua, arguments, 1)?;
                object(lua, part.pattern.negated(), part.kept)
            })
        });
    }
}

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    lua.set_named_registry_value(METHODS, &table)?;
    define_constructors(lua, binder, &table)?;
    define_captures(lua, binder, &table)?;
    let protected_call: Function = lua.globals().get("pcall")?;
    binder
        .define(lua, &table, "match", move |lua, arguments| match_subject(lua, arguments, &protected_call))?;
    binder.define(lua, &table, "type", |lua, arguments| match arguments.value(1) {
        Value::UserData(value) if value.is::<Object>() => one_string(lua, "pattern"),
        _ => one(Value::Nil),
    })?;
    binder.define(lua, &table, "version", |lua, _| one_string(lua, "0.8"))?;
    binder.define(lua, &table, "print", |lua, arguments| {
        let print: Function = lua.globals().get("print")?;
        for (index, op) in operand(lua, arguments, 1)?.pattern.compiled().iter().enumerate() {
            print.call::<()>(format!("{index:02}: {op:?}"))?;
        }
        nothing()
    })?;
    Ok(table)
}

fn define_constructors(lua: &Lua, binder: &Binder, table: &Table) -> mlua::Result<()> {
    binder.define(lua, table, "P", |lua, arguments| {
        if let Value::UserData(value) = arguments.value(1)
            && value.is::<Object>()
        {
            return one(arguments.value(1).clone());
        }
        let part = operand(lua, arguments, 1)?;
        object(lua, part.pattern, part.kept)
    })?;
    binder.define(lua, table, "S", |lua, arguments| {
        let set = set_of(&arguments.string(lua, 1)?.as_bytes());
        object(lua, Pattern::set(set), None)
    })?;
    binder.define(lua, table, "span", |lua, arguments| {
        let set = set_of(&arguments.string(lua, 1)?.as_bytes());
        object(lua, Pattern::set(set).at_least(0), None)
    })?;
    binder.define(lua, table, "R", |lua, arguments| {
        let mut set = [0; 4];
        for number in 1..=arguments.count() {
            let range = arguments.string(lua, number)?;
            let [first, last] = *range.as_bytes() else {
                return Err(Failure::Argument(number, "range must have two characters".to_owned()));
            };
            for byte in first..=last {
                set[usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
        }
        object(lua, Pattern::set(set), None)
    })?;
    binder.define(lua, table, "V", |lua, arguments| match arguments.value(1) {
        Value::Nil => Err(Failure::Argument(1, "non-nil value expected".to_owned())),
        value => object(lua, Pattern::rule(rule_name(value)?), None),
    })
}

fn define_captures(lua: &Lua, binder: &Binder, table: &Table) -> mlua::Result<()> {
    for (name, capture) in [
        ("C", Capture::Simple),
        ("Ct", Capture::Table),
        ("Cs", Capture::Substitution),
        ("Ca", Capture::Accumulator),
    ] {
        binder.define(lua, table, name, move |lua, arguments| {
            let part = operand(lua, arguments, 1)?;
            object(lua, part.pattern.captured(capture), part.kept)
        })?;
    }
    binder.define(lua, table, "Cp", |lua, _| {
        object(lua, Pattern::text(b"").captured(Capture::Position), None)
    })?;
    binder.define(lua, table, "Cc", |lua, arguments| {
        let list = lua.create_table()?;
        list.raw_set("n", arguments.count())?;
        for (index, value) in arguments.from(1).into_iter().enumerate() {
            list.raw_set(index + 1, value)?;
        }
        let (number, kept) = keep(lua, None, Value::Table(list))?;
        object(lua, Pattern::text(b"").captured(Capture::Constant(number)), Some(kept))
    })?;
    binder.define(lua, table, "Carg", |lua, arguments| {
        match usize::try_from(arguments.integer(lua, 1)?) {
            Ok(number @ 1..) => object(lua, Pattern::text(b"").captured(Capture::Argument(number)), None),
            _ => Err(Failure::Argument(1, "invalid argument index".to_owned())),
        }
    })?;
    binder.define(lua, table, "Cb", |lua, arguments| match usize::try_from(arguments.integer(lua, 1)?) {
        Ok(count @ 1..) => object(lua, Pattern::text(b"").captured(Capture::Back(count)), None),
        _ => Err(Failure::Argument(1, "invalid back reference".to_owned())),
    })?;
    binder.define(lua, table, "Cmt", |lua, arguments| {
        let part = operand(lua, arguments, 1)?;
        let Value::Function(function) = arguments.value(2) else {
            return Err(arguments.wrong(2, "function"));
        };
        let (number, kept) = keep(lua, part.kept, Value::Function(function.clone()))?;
        object(lua, part.pattern.asked(number, true), Some(kept))
    })
}

/// A pattern and the Lua values that it keeps; the table is never changed once a pattern has it.
struct Part {
    pattern: Pattern,
    kept: Option<Table>,
}

/// What is a pattern, or stands for one.
fn operand(lua: &Lua, arguments: &Arguments, number: usize) -> Result<Part, Failure> {
    let pattern = match arguments.value(number) {
        Value::UserData(value) if value.is::<Object>() => return part_of(value),
        Value::String(text) => Pattern::text(&text.as_bytes()),
        Value::Integer(count) => Pattern::count(*count),
        Value::Number(count) => Pattern::count(*count as i64),
        Value::Boolean(value) => Pattern::boolean(*value),
        Value::Table(rules) => return grammar(lua, rules, number),
        Value::Function(function) => {
            let (function, kept) = keep(lua, None, Value::Function(function.clone()))?;
            return Ok(Part { pattern: Pattern::text(b"").asked(function, false), kept: Some(kept) });
        }
        _ => return Err(arguments.wrong(number, "pattern")),
    };
    Ok(Part { pattern, kept: None })
}

fn part_of(value: &AnyUserData) -> Result<Part, Failure> {
    let pattern = value.borrow::<Object>()?.pattern.clone();
    Ok(Part { pattern, kept: value.user_value()? })
}

/// A new object of the pattern.
fn object(lua: &Lua, pattern: Pattern, kept: Option<Table>) -> Outcome {
    if pattern.length() > OPS_MAX {
        return Err(Failure::Text("pattern too big".to_owned()));
    }
    let object = lua.create_userdata(Object { pattern, program: OnceLock::new() })?;
    if let Some(kept) = kept {
        object.set_user_value(kept)?;
    }
    one(Value::UserData(object))
}

/// Adds a value to those that are kept: its number, and the new table. Numbers are never used twice, so that tables can be put
/// together.
fn keep(lua: &Lua, kept: Option<Table>, value: Value) -> Result<(i64, Table), Failure> {
    static NEXT: AtomicI64 = AtomicI64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let table = lua.create_table()?;
    table.raw_set(number, value)?;
    Ok((number, joined(lua, kept, Some(table))?.unwrap_or(lua.create_table()?)))
}

/// The values of both.
fn joined(lua: &Lua, first: Option<Table>, second: Option<Table>) -> mlua::Result<Option<Table>> {
    let (first, second) = match (first, second) {
        (Some(first), Some(second)) => (first, second),
        (first, second) => return Ok(first.or(second)),
    };
    let both = lua.create_table()?;
    for table in [first, second] {
        table.for_each(|number: i64, value: Value| both.raw_set(number, value))?;
    }
    Ok(Some(both))
}

/// `p1 * p2`.
fn sequence(lua: &Lua, arguments: &Arguments) -> Outcome {
    let (first, second) = (operand(lua, arguments, 1)?, operand(lua, arguments, 2)?);
    object(lua, first.pattern.then(second.pattern), joined(lua, first.kept, second.kept)?)
}

/// `p1 + p2`.
fn alternative(lua: &Lua, arguments: &Arguments) -> Outcome {
    let (first, second) = (operand(lua, arguments, 1)?, operand(lua, arguments, 2)?);
    object(lua, first.pattern.or(second.pattern), joined(lua, first.kept, second.kept)?)
}

/// `p1 - p2`: p1 where p2 does not match.
fn difference(lua: &Lua, arguments: &Arguments) -> Outcome {
    let (first, second) = (operand(lua, arguments, 1)?, operand(lua, arguments, 2)?);
    object(lua, first.pattern.without(second.pattern), joined(lua, first.kept, second.kept)?)
}

/// `p / text`, `p / table`, `p / function`.
fn divided(lua: &Lua, arguments: &Arguments) -> Outcome {
    let part = operand(lua, arguments, 1)?;
    let value = arguments.value(2).clone();
    let capture = match value {
        Value::String(_) => Capture::Text,
        Value::Table(_) => Capture::Query,
        Value::Function(_) => Capture::Function,
        _ => return Err(Failure::Argument(2, "invalid replacement value".to_owned())),
    };
    let (number, kept) = keep(lua, part.kept, value)?;
    object(lua, part.pattern.captured(capture(number)), Some(kept))
}

/// `p ^ n`: at least n times, at most -n times.
fn repeated(lua: &Lua, arguments: &Arguments) -> Outcome {
    let part = operand(lua, arguments, 1)?;
    let count = arguments.integer(lua, 2)?;
    let times = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 {
        return object(lua, part.pattern.at_most(times), part.kept);
    }
    if part.pattern.is_nullable {
        return Err(Failure::Text("loop body may accept empty string".to_owned()));
    }
    object(lua, part.pattern.at_least(times), part.kept)
}

fn rule_name(value: &Value) -> Result<RuleName, Failure> {
    match value {
        Value::String(text) => Ok(RuleName::Text(text.as_bytes().to_vec())),
        Value::Integer(number) => Ok(RuleName::Number((*number as f64).to_bits())),
        Value::Number(number) => Ok(RuleName::Number(number.to_bits())),
        Value::Boolean(value) => Ok(RuleName::Boolean(*value)),
        _ => Err(Failure::Text("names of rules are strings, numbers or booleans".to_owned())),
    }
}

/// A table of rules; field 1 is the first rule or its name.
fn grammar(lua: &Lua, table: &Table, number: usize) -> Result<Part, Failure> {
    let first = match table.raw_get::<Value>(1)? {
        Value::Nil if table.raw_len() == 0 && table.is_empty() => {
            return Err(Failure::Argument(number, "empty grammar".to_owned()));
        }
        Value::UserData(_) | Value::Nil => RuleName::Number(1f64.to_bits()),
        name => rule_name(&name)?,
    };
    let mut rules = Vec::new();
    let mut kept = None;
    for pair in table.pairs::<Value, Value>() {
        let (name, value) = pair?;
        let name = rule_name(&name)?;
        let Value::UserData(value) = value else {
            if name == RuleName::Number(1f64.to_bits()) {
                continue;
            }
            return Err(Failure::Text("invalid field in grammar".to_owned()));
        };
        if !value.is::<Object>() {
            return Err(Failure::Text("invalid field in grammar".to_owned()));
        }
        let part = part_of(&value)?;
        kept = joined(lua, kept, part.kept)?;
        if name == first {
            rules.insert(0, (name, part.pattern));
        } else {
            rules.push((name, part.pattern));
        }
    }
    if rules.first().is_none_or(|(name, _)| *name != first) {
        return Err(Failure::Text(format!("rule '{}' is not defined in given grammar", first.shown())));
    }
    if rules.iter().fold(0usize, |sum, (_, rule)| sum.saturating_add(rule.length())) > OPS_MAX {
        return Err(Failure::Text("pattern too big".to_owned()));
    }
    Ok(Part { pattern: program::grammar(rules).map_err(Failure::Text)?, kept })
}

/// `match(pattern, subject [, init, ...])`: the captures, or without any where the match ends; nil if there is none.
fn match_subject(lua: &Lua, arguments: &Arguments, protected_call: &Function) -> Outcome {
    let (program, kept) = match arguments.value(1) {
        Value::UserData(value) if value.is::<Object>() => {
            (value.borrow::<Object>()?.program(), value.user_value::<Option<Table>>()?)
        }
        _ => {
            let part = operand(lua, arguments, 1)?;
            (part.pattern.compiled().into(), part.kept)
        }
    };
    let subject = arguments.string(lua, 2)?;
    let text = subject.as_bytes();
    let length = text.len() as i64;
    let start = match if arguments.is_absent(3) { 1 } else { arguments.integer(lua, 3)? } {
        init @ 1.. => (init - 1).min(length),
        0 => length,
        init => length.saturating_add(init).max(0),
    };
    let reader = Reader {
        lua,
        subject: &subject,
        text: &text,
        kept: &kept.unwrap_or(lua.create_table()?),
        arguments: arguments.from(4),
        protected_call,
    };
    let mut machine = Machine::new(&program, &text);
    let Some(end) = machine.run(usize::try_from(start).unwrap_or(0), &reader)? else {
        return one(Value::Nil);
    };
    let values = reader.all(&machine)?;
    if values.is_empty() { one(Value::Integer(end as i64 + 1)) } else { Ok(values) }
}

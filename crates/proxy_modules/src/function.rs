//! Functions of a module, written in Rust, that look to a script as C functions of Lua do: arguments are converted as
//! `luaL_check*` does, and what is raised is a string that begins with the caller's position, not an error object of the
//! embedding. Main types: [`Binder`], [`Arguments`], [`Failure`].

use mlua::{Function, Lua, LuaString, MultiValue, Table, Value};

/// Makes the Lua function around one in Rust: it raises what the inner one only returns.
const BINDING: &str = include_str!("lua/binding.lua");

/// First results of an inner function, as [`BINDING`] takes them: what follows are the results, a text to raise with the
/// caller's position, or a value to raise.
const RETURNED: i64 = 0;
const RAISED_TEXT: i64 = -1;
const RAISED_VALUE: i64 = -2;

/// Why a function does not return.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The argument of that number (from 1) does not fit: why.
    Argument(usize, String),
    /// Raised with the caller's position before it.
    Text(String),
    /// Raised as it is: what a function of the script has raised.
    Value(Value),
    /// Of the interpreter: out of memory, or of a function that was called back.
    Lua(mlua::Error),
}

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Failure {
        Failure::Lua(error)
    }
}

/// What a function returns.
pub(crate) type Outcome = Result<Vec<Value>, Failure>;

/// No value, one value: what most functions return.
pub(crate) fn nothing() -> Outcome {
    Ok(Vec::new())
}

/// As [`nothing`], with a value.
pub(crate) fn one(value: Value) -> Outcome {
    Ok(vec![value])
}

/// A string as the only value.
pub(crate) fn one_string(lua: &Lua, bytes: impl AsRef<[u8]>) -> Outcome {
    one(Value::String(lua.create_string(bytes)?))
}

/// `nil` and a text: how the functions of files report what went wrong.
pub(crate) fn refused(lua: &Lua, text: &str) -> Outcome {
    Ok(vec![Value::Nil, Value::String(lua.create_string(text)?)])
}

/// Makes Lua functions of Rust functions. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Binder {
    bind: Function,
}

impl Binder {
    /// One for that interpreter.
    pub(crate) fn new(lua: &Lua) -> mlua::Result<Binder> {
        Ok(Binder { bind: lua.load(BINDING).set_name("=[binding]").eval()? })
    }

    /// The Lua function that calls `body`.
    pub(crate) fn function<F>(&self, lua: &Lua, body: F) -> mlua::Result<Function>
    where
        F: Fn(&Lua, &Arguments) -> Outcome + Send + Sync + 'static,
    {
        self.bind.call(inner(lua, body)?)
    }

    /// Puts the function into a module under its name.
    pub(crate) fn define<F>(&self, lua: &Lua, module: &Table, name: &str, body: F) -> mlua::Result<()>
    where
        F: Fn(&Lua, &Arguments) -> Outcome + Send + Sync + 'static,
    {
        module.raw_set(name, self.function(lua, body)?)
    }
}

/// The function that [`BINDING`] takes; for modules that have a binding of their own.
pub(crate) fn inner<F>(lua: &Lua, body: F) -> mlua::Result<Function>
where
    F: Fn(&Lua, &Arguments) -> Outcome + Send + Sync + 'static,
{
    lua.create_function(move |lua, values: MultiValue| pack(lua, body(lua, &Arguments { values })))
}

/// The form that [`BINDING`] takes.
fn pack(lua: &Lua, outcome: Outcome) -> mlua::Result<MultiValue> {
    let (status, values) = match outcome {
        Ok(values) => (RETURNED, values),
        Err(Failure::Lua(error)) => return Err(error),
        Err(Failure::Value(value)) => (RAISED_VALUE, vec![value]),
        Err(Failure::Text(text)) => (RAISED_TEXT, vec![Value::String(lua.create_string(text)?)]),
        Err(Failure::Argument(number, why)) => {
            // Level 0 is this function, level 1 the one that the script called.
            let name =
                lua.inspect_stack(1, |frame| frame.names().name.map(|name| name.into_owned())).flatten();
            let text = format!("bad argument #{number} to '{}' ({why})", name.as_deref().unwrap_or("?"));
            (RAISED_TEXT, vec![Value::String(lua.create_string(text)?)])
        }
    };
    let mut packed = MultiValue::from_vec(values);
    packed.push_front(Value::Integer(status));
    Ok(packed)
}

/// The arguments of a call.
pub(crate) struct Arguments {
    values: MultiValue,
}

impl Arguments {
    /// The same arguments with a nil before them.
    pub(crate) fn behind_one_more(&self) -> Arguments {
        let mut values = self.values.clone();
        values.push_front(Value::Nil);
        Arguments { values }
    }

    /// The argument of that number, from 1; nil when it was not given.
    pub(crate) fn value(&self, number: usize) -> &Value {
        self.values.get(number - 1).unwrap_or(&Value::Nil)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// All from that number on.
    pub(crate) fn from(&self, number: usize) -> Vec<Value> {
        self.values.iter().skip(number - 1).cloned().collect()
    }

    /// Whether there is none of that number, or nil.
    pub(crate) fn is_absent(&self, number: usize) -> bool {
        self.value(number).is_nil()
    }

    /// A string; numbers are strings too.
    pub(crate) fn string(&self, lua: &Lua, number: usize) -> Result<LuaString, Failure> {
        match self.value(number) {
            Value::String(text) => Ok(text.clone()),
            value @ (Value::Integer(_) | Value::Number(_)) => {
                lua.coerce_string(value.clone())?.ok_or_else(|| self.wrong(number, "string"))
            }
            _ => Err(self.wrong(number, "string")),
        }
    }

    /// A string that is text for the operating system or the log.
    pub(crate) fn text(&self, lua: &Lua, number: usize) -> Result<String, Failure> {
        Ok(self.string(lua, number)?.to_string_lossy())
    }

    /// A number; strings that look like one are numbers too.
    pub(crate) fn number(&self, lua: &Lua, number: usize) -> Result<f64, Failure> {
        as_number(lua, self.value(number))?.ok_or_else(|| self.wrong(number, "number"))
    }

    /// A number without its fraction.
    pub(crate) fn integer(&self, lua: &Lua, number: usize) -> Result<i64, Failure> {
        Ok(self.number(lua, number)? as i64)
    }

    /// A table.
    pub(crate) fn table(&self, number: usize) -> Result<&Table, Failure> {
        match self.value(number) {
            Value::Table(table) => Ok(table),
            _ => Err(self.wrong(number, "table")),
        }
    }

    /// That the argument is not of the type that was expected.
    pub(crate) fn wrong(&self, number: usize, expected: &str) -> Failure {
        let got = if number > self.values.len() { "no value" } else { type_name(self.value(number)) };
        Failure::Argument(number, format!("{expected} expected, got {got}"))
    }
}

/// A number, or a string that looks like one.
pub(crate) fn as_number(lua: &Lua, value: &Value) -> mlua::Result<Option<f64>> {
    match value {
        Value::Integer(integer) => Ok(Some(*integer as f64)),
        Value::Number(number) => Ok(Some(*number)),
        Value::String(_) => lua.coerce_number(value.clone()),
        _ => Ok(None),
    }
}

/// As Lua's `type()`: the embedding has more types of its own.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        Value::LightUserData(_) | Value::Error(_) => "userdata",
        other => other.type_name(),
    }
}

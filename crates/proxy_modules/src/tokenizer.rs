//! Module `mysql.tokenizer`: `tokenize(statement)` gives a list object with `#` and `[i]`, each token with `token_id`,
//! `token_name` and `text`.

use mlua::{AnyUserData, Function, Lua, Table, UserData, UserDataFields, Value};

use crate::function::{self, Arguments, Binder, Failure, Outcome, one};
use crate::lexer::{self, Token};
use crate::module;

/// Makes the function that is asked for a token around one that only finds it. Tokens are objects of Lua's own, whose fields are
/// read without a call: a script reads each several times.
const TOKENS: &str = include_str!("lua/tokens.lua");

/// What `tokenize` returns.
struct Tokens(Vec<Token>);

impl UserData for Tokens {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_meta_field_with("__index", |lua| {
            lua.load(TOKENS).set_name("=[tokens]").call::<Function>(function::inner(lua, token_at)?)
        });
        fields.add_meta_field_with("__newindex", |lua| module::binder(lua)?.function(lua, refuse_assignment));
        fields.add_meta_field_with("__len", |lua| module::binder(lua)?.function(lua, count));
    }
}

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table = module::described(lua, "LuaMySQLTokenizer 0.1", "splits statements into tokens")?;
    binder.define(lua, &table, "tokenize", |lua, arguments| {
        let statement = arguments.string(lua, 1)?;
        let tokens = lexer::tokens(&statement.as_bytes());
        one(Value::UserData(lua.create_userdata(Tokens(tokens))?))
    })?;
    Ok(table)
}

/// The object behind the first argument. A metamethod always gets one, unless a script took it out of the metatable.
fn object(arguments: &Arguments) -> Result<&AnyUserData, Failure> {
    match arguments.value(1) {
        Value::UserData(object) => Ok(object),
        _ => Err(arguments.wrong(1, "userdata")),
    }
}

/// The parts of a token: number, name, text; nothing if there is none of that position.
fn token_at(lua: &Lua, arguments: &Arguments) -> Outcome {
    let tokens = object(arguments)?.borrow::<Tokens>()?;
    let position = arguments.integer(lua, 2)?;
    let index = usize::try_from(position).ok().and_then(|position| position.checked_sub(1));
    let Some(token) = index.and_then(|index| tokens.0.get(index)) else { return Ok(Vec::new()) };
    Ok(vec![
        Value::Integer(i64::from(token.id)),
        Value::String(lua.create_string(token.name())?),
        Value::String(lua.create_string(&token.text)?),
    ])
}

fn refuse_assignment(lua: &Lua, arguments: &Arguments) -> Outcome {
    arguments.integer(lua, 2)?;
    Err(arguments.wrong(3, "nil"))
}

fn count(_: &Lua, arguments: &Arguments) -> Outcome {
    one(Value::Integer(object(arguments)?.borrow::<Tokens>()?.0.len() as i64))
}

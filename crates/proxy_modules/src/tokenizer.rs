//! Module `mysql.tokenizer`: `tokenize(statement)` gives a list object with `#` and `[i]`, each token with `token_id`,
//! `token_name` and `text`.

use mlua::{AnyUserData, Lua, Table, UserData, UserDataFields, Value};

use crate::function::{Arguments, Binder, Failure, Outcome, nothing, one, one_string};
use crate::lexer::{self, Token};
use crate::module;

/// What `tokenize` returns.
struct Tokens(Vec<Token>);

impl UserData for Tokens {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_meta_field_with("__index", |lua| module::binder(lua)?.function(lua, token_at));
        fields.add_meta_field_with("__newindex", |lua| module::binder(lua)?.function(lua, refuse_assignment));
        fields.add_meta_field_with("__len", |lua| module::binder(lua)?.function(lua, count));
    }
}

impl UserData for Token {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_meta_field_with("__index", |lua| module::binder(lua)?.function(lua, field_of_token));
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

fn token_at(lua: &Lua, arguments: &Arguments) -> Outcome {
    let tokens = object(arguments)?.borrow::<Tokens>()?;
    let position = arguments.integer(lua, 2)?;
    let index = usize::try_from(position).ok().and_then(|position| position.checked_sub(1));
    match index.and_then(|index| tokens.0.get(index)) {
        Some(token) => one(Value::UserData(lua.create_userdata(token.clone())?)),
        None => nothing(),
    }
}

fn refuse_assignment(lua: &Lua, arguments: &Arguments) -> Outcome {
    arguments.integer(lua, 2)?;
    Err(arguments.wrong(3, "nil"))
}

fn count(_: &Lua, arguments: &Arguments) -> Outcome {
    one(Value::Integer(object(arguments)?.borrow::<Tokens>()?.0.len() as i64))
}

fn field_of_token(lua: &Lua, arguments: &Arguments) -> Outcome {
    let token = object(arguments)?.borrow::<Token>()?;
    let key = arguments.text(lua, 2)?;
    match key.as_str() {
        "text" => one_string(lua, &token.text),
        "token_name" => one_string(lua, token.name()),
        "token_id" => one(Value::Integer(i64::from(token.id))),
        _ => Err(Failure::Text(format!("tokens[...] has no {key} field"))),
    }
}

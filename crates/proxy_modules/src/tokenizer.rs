//! Module `mysql.tokenizer`: `tokenize(statement)` gives a list object with `#` and `[i]`, each token with `token_id`,
//! `token_name` and `text`.

use std::borrow::Cow;

use mlua::{AnyUserData, Function, Lua, LuaString, Table, UserData, UserDataFields, Value};

use crate::function::{self, Arguments, Binder, Failure, Outcome, one};
use crate::lexer;
use crate::module;

/// Makes the function that is asked for a token around one that only finds it. Tokens are objects of Lua's own, whose fields are
/// read without a call: a script reads each several times.
const TOKENS: &str = include_str!("lua/tokens.lua");

/// What `tokenize` returns. A statement may have millions of tokens, so each is a few bytes: their texts lie in the statement, or in
/// `unquoted` if they are not as they stand there.
struct Tokens {
    statement: LuaString,
    unquoted: Vec<u8>,
    entries: Vec<Entry>,
}

/// A token in the list.
struct Entry {
    id: u16,
    is_unquoted: bool,
    /// Where its text begins and ends.
    start: u32,
    end: u32,
}

impl Tokens {
    /// None for a statement that is too long for the numbers of an entry.
    fn of(statement: LuaString) -> Option<Tokens> {
        let (mut entries, mut unquoted) = (Vec::new(), Vec::<u8>::new());
        let bytes = statement.as_bytes();
        u32::try_from(bytes.len()).ok()?;
        let base = bytes.as_ptr().addr();
        lexer::each_token(&bytes, |token| {
            let is_unquoted = matches!(token.text, Cow::Owned(_));
            let start = if is_unquoted { unquoted.len() } else { token.text.as_ptr().addr() - base };
            assert!(start + token.text.len() <= bytes.len(), "a token's text is part of its statement");
            if is_unquoted {
                unquoted.extend(&*token.text);
            }
            // Unquoted texts are together no longer than the statement.
            let (start, end) = (start as u32, (start + token.text.len()) as u32);
            entries.push(Entry { id: token.id, is_unquoted, start, end });
        });
        drop(bytes);
        Some(Tokens { statement, unquoted, entries })
    }

    /// The text of an entry.
    fn text(&self, lua: &Lua, entry: &Entry) -> mlua::Result<LuaString> {
        let range = entry.start as usize..entry.end as usize;
        if entry.is_unquoted {
            return lua.create_string(&self.unquoted[range]);
        }
        lua.create_string(&self.statement.as_bytes()[range])
    }
}

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
        let tokens = Tokens::of(statement)
            .ok_or_else(|| Failure::Text("the statement has 4 GiB or more".to_owned()))?;
        one(Value::UserData(lua.create_userdata(tokens)?))
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
    let Some(entry) = index.and_then(|index| tokens.entries.get(index)) else { return Ok(Vec::new()) };
    Ok(vec![
        Value::Integer(i64::from(entry.id)),
        Value::String(lua.create_string(lexer::name_of(entry.id))?),
        Value::String(tokens.text(lua, entry)?),
    ])
}

fn refuse_assignment(lua: &Lua, arguments: &Arguments) -> Outcome {
    arguments.integer(lua, 2)?;
    Err(arguments.wrong(3, "nil"))
}

fn count(_: &Lua, arguments: &Arguments) -> Outcome {
    one(Value::Integer(object(arguments)?.borrow::<Tokens>()?.entries.len() as i64))
}

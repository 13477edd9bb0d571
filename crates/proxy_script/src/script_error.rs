//! Errors of scripts: raised with the line that they happened on, and told as the log shows them.

use mlua::debug::Debug;
use mlua::{Error, Lua, Value};

/// An error as `error(message)` in the calling script would raise it: with chunk and line in front.
pub(crate) fn raised(lua: &Lua, message: impl AsRef<str>) -> Error {
    // Level 0 is the function of this crate, level 1 the script that called it.
    let place = lua.inspect_stack(1, place);
    Error::RuntimeError(format!("{}{}", place.flatten().unwrap_or_default(), message.as_ref()))
}

/// Chunk and line as they stand before a message.
pub(crate) fn place(frame: &Debug<'_>) -> Option<String> {
    let source = frame.source();
    let line = frame.current_line()?;
    Some(format!("{}:{line}: ", source.short_src.as_deref().unwrap_or("?")))
}

/// The type's name as error messages of Lua's library have it.
pub(crate) fn type_name(value: Option<&Value>) -> &'static str {
    match value {
        None => "no value",
        Some(Value::Nil) => "nil",
        Some(Value::Boolean(_)) => "boolean",
        Some(Value::LightUserData(_) | Value::UserData(_) | Value::Error(_)) => "userdata",
        Some(Value::Integer(_) | Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Table(_)) => "table",
        Some(Value::Function(_)) => "function",
        Some(Value::Thread(_)) => "thread",
        Some(_) => "userdata",
    }
}

/// The message of an error without the stack that the embedding puts behind it. An error value that is no string is `(null)`.
pub(crate) fn text(error: &Error) -> String {
    match error {
        Error::CallbackError { cause, .. } => text(cause),
        Error::WithContext { cause, .. } => text(cause),
        Error::RuntimeError(message) | Error::MemoryError(message) => {
            let message = without_stack(message);
            if is_object(message) { "(null)".to_owned() } else { message.to_owned() }
        }
        Error::SyntaxError { message, .. } => without_stack(message).to_owned(),
        Error::ExternalError(cause) => cause.to_string(),
        other => without_stack(&other.to_string()).to_owned(),
    }
}

/// The embedding tells an error value that is no text by its type and address.
fn is_object(message: &str) -> bool {
    let kinds = ["table", "function", "thread", "userdata"];
    let Some((kind, address)) = message.split_once(": 0x") else { return false };
    kinds.contains(&kind) && address.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn without_stack(message: &str) -> &str {
    message.split_once("\nstack traceback:").map_or(message, |(message, _)| message)
}

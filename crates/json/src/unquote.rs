//! JSON_UNQUOTE: [`unquote`].

use std::borrow::Cow;
use values::json::{Node, TextError, Watch, read, read_whole_string};

/// The content of a text that is a string in quotes; other texts as they are. Fails if there are quotes at both ends and what
/// is between them is no string.
pub fn unquote<'t>(text: &'t [u8], watch: &dyn Watch) -> Result<Cow<'t, [u8]>, TextError> {
    if text.len() < 2 || !text.starts_with(b"\"") || !text.ends_with(b"\"") {
        return Ok(Cow::Borrowed(text));
    }
    if let Some(content) = read_whole_string(text, watch)? {
        return Ok(content);
    }
    // What is wrong with it; a NUL ends it.
    Ok(match Node::of(&read(text, watch)?) {
        Node::String(content) => Cow::Owned(content.to_vec()),
        _ => Cow::Borrowed(text),
    })
}

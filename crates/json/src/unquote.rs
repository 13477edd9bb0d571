//! JSON_UNQUOTE: [`unquote`].

use std::borrow::Cow;
use values::json::{Built, TextError, read};

/// The content of a text that is a string in quotes; other texts as they are. Fails if there are quotes at both ends and what
/// is between them is no string.
pub fn unquote(text: &[u8]) -> Result<Cow<'_, [u8]>, TextError> {
    if text.len() < 2 || !text.starts_with(b"\"") || !text.ends_with(b"\"") {
        return Ok(Cow::Borrowed(text));
    }
    Ok(match read(text)? {
        Built::String(content) => content,
        _ => Cow::Borrowed(text),
    })
}

//! What tables may be called. Their files are called by the numbers of their spaces ([`buffer::space_path`]), so a name is never in the
//! way of a file; but one that MySQL could call no file by is refused as MySQL refuses it (rule D6 in the engine's README).

use dictionary::TableName;
use engine_error::{EngineError, EngineResult, FailedRename};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What MySQL calls the file of a table, and the first builds did: `schema/table.ibd`, with its way of writing characters that file
/// systems may not like.
pub fn name_path(name: &TableName) -> PathBuf {
    PathBuf::from(encoded(&name.schema)).join(format!("{}{}", encoded(&name.table), buffer::DATA_FILE_SUFFIX))
}

/// Longest name that Linux file systems take, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Whether a part of a path is longer than a file system takes.
pub fn is_too_long(path: &Path) -> bool {
    path.iter().any(|part| part.len() > NAME_BYTES_MAX)
}

/// Checks that a table can be called so. Error: NameTooLong.
pub fn need_short_name(name: &TableName) -> EngineResult<()> {
    if is_too_long(&name_path(name)) { Err(EngineError::NameTooLong) } else { Ok(()) }
}

/// As [`need_short_name`], for a table that has another name now. Error: RenameFailed.
pub fn need_short_new_name(old: &TableName, new: &TableName) -> EngineResult<()> {
    if old == new || !is_too_long(&name_path(new)) {
        return Ok(());
    }
    let [from, to] = [old, new].map(|name| format!("./{}", name_path(name).with_extension("").display()));
    Err(EngineError::RenameFailed(Box::new(FailedRename { from, to })))
}

/// A name with every character but ASCII letters, digits and underscores as `@` and four hexadecimal digits (more for
/// characters beyond the basic plane).
pub fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            out.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "@{:04x}", u32::from(character));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_written_in_hexadecimal() {
        assert_eq!(encoded("plain_1"), "plain_1");
        assert_eq!(encoded("a-b/.."), "a@002db@002f@002e@002e");
        assert_eq!(encoded("\u{e9}"), "@00e9");
        let name = TableName { schema: "s".to_owned(), table: "t$".to_owned() };
        assert_eq!(name_path(&name), PathBuf::from("s/t@0024.ibd"));
    }
}

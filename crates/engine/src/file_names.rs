//! Names of data files: `schema/table.ibd`, with MySQL's way of writing characters that file systems may not like.

use dictionary::TableName;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use stdx::ids::SpaceId;

/// The file of a table, relative to the data directory.
pub(crate) fn table_path(name: &TableName) -> PathBuf {
    PathBuf::from(encoded(&name.schema)).join(format!("{}{}", encoded(&name.table), buffer::DATA_FILE_SUFFIX))
}

/// A name in the same directory that no table's file has.
pub(crate) fn temporary_path(path: &Path, space: SpaceId) -> PathBuf {
    path.with_file_name(format!("#sql-{}{}", space.0, buffer::DATA_FILE_SUFFIX))
}

/// Longest name that Linux file systems take, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Whether a part of a path is longer than a file system takes.
pub(crate) fn is_too_long(path: &Path) -> bool {
    path.iter().any(|part| part.len() > NAME_BYTES_MAX)
}

/// A name with every character but ASCII letters, digits and underscores as `@` and four hexadecimal digits (more for
/// characters beyond the basic plane).
pub(crate) fn encoded(name: &str) -> String {
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
        assert_eq!(table_path(&name), PathBuf::from("s/t@0024.ibd"));
    }
}

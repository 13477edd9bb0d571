//! Option files: groups, `name=value`, quotes and escapes, `!include` and `!includedir`.

use super::{BadOption, normal_name, read_text};
use env::{Disk, DiskErrorKind, OpenMode};
use session::{OptionSetting, OptionSource};
use std::path::Path;

/// Groups that are the server's.
const GROUPS: [&str; 4] = ["mysqld", "server", "iruka", "iruka-9.7"];
/// Files may include files, so deep.
const INCLUDE_DEPTH_MAX: u32 = 10;

/// Whether there is such a file. One that cannot be read counts: without it, another server would start than the one it describes.
pub fn exists(disk: &dyn Disk, path: &Path) -> bool {
    !disk.open(path, OpenMode::ReadOnly).is_err_and(|error| error.kind == DiskErrorKind::NotFound)
}

/// Appends the options of a file to `settings`.
pub fn read(disk: &dyn Disk, path: &Path, settings: &mut Vec<OptionSetting>) -> Result<(), BadOption> {
    read_nested(disk, path, settings, 0)
}

fn read_nested(
    disk: &dyn Disk,
    path: &Path,
    settings: &mut Vec<OptionSetting>,
    depth: u32,
) -> Result<(), BadOption> {
    if depth > INCLUDE_DEPTH_MAX {
        return Err(BadOption(format!("'{}': files include each other too deeply", path.display())));
    }
    let text = read_text(disk, path).map_err(|error| {
        BadOption(format!(
            "option file {}: correct --defaults-file, its rights, or what includes it",
            error.0
        ))
    })?;
    let mut is_ours = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(included) = line.strip_prefix("!includedir") {
            read_directory(disk, Path::new(included.trim()), settings, depth + 1)?;
        } else if let Some(included) = line.strip_prefix("!include") {
            read_nested(disk, Path::new(included.trim()), settings, depth + 1)?;
        } else if let Some(group) = line.strip_prefix('[') {
            let name = group.split_once(']').map(|(name, _)| name.trim());
            let name = name.ok_or_else(|| wrong_line(path, index, line))?;
            is_ours = GROUPS.contains(&name);
        } else if is_ours && !line.is_empty() && !line.starts_with(['#', ';']) {
            settings.push(option(path, index, line)?);
        }
    }
    Ok(())
}

/// The `.cnf` files of a directory, in the order of their names.
fn read_directory(
    disk: &dyn Disk,
    directory: &Path,
    settings: &mut Vec<OptionSetting>,
    depth: u32,
) -> Result<(), BadOption> {
    let names = disk.list(directory).map_err(|error| BadOption(error.to_string()))?;
    for name in names.iter().filter(|name| name.ends_with(".cnf")) {
        read_nested(disk, &directory.join(name), settings, depth)?;
    }
    Ok(())
}

fn option(path: &Path, index: usize, line: &str) -> Result<OptionSetting, BadOption> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name, Some(plain_value(value))),
        None => (strip_comment(line), None),
    };
    let name = normal_name(name);
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(wrong_line(path, index, line));
    }
    Ok(OptionSetting {
        name,
        value,
        source: OptionSource::File(format!("'{}' line {}", path.display(), index + 1)),
    })
}

fn wrong_line(path: &Path, index: usize, line: &str) -> BadOption {
    BadOption(format!(
        "option file '{}' line {}: '{line}' is neither [GROUP] nor NAME nor NAME=VALUE: correct it, or put # in front",
        path.display(),
        index + 1
    ))
}

/// A comment may follow a value that has no quotes.
fn strip_comment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before).trim()
}

/// Quotes are taken off and escapes are resolved.
fn plain_value(text: &str) -> String {
    let text = text.trim();
    let quoted = text.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    let inner = match quoted {
        Some(quote) => text[1..].rsplit_once(quote).map_or(&text[1..], |(inner, _)| inner),
        None => strip_comment(text),
    };
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('b') => value.push('\u{8}'),
            Some('s') => value.push(' '),
            Some(escaped @ ('\\' | '"' | '\'')) => value.push(escaped),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

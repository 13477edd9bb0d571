//! `mysqld-auto.cnf`: what SET PERSIST keeps. Main type: [`PersistedVariables`].
//! The file is JSON of the shape that MySQL writes; a file is replaced as a whole, so a crash leaves the old or the new.

use env::{Environment, OpenMode};
use errors::{SqlResult, sql_error};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "mysqld-auto.cnf";
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Persisted values as text, by variable name.
#[derive(Clone, Debug, Default)]
pub struct PersistedVariables {
    values: BTreeMap<String, String>,
}

impl PersistedVariables {
    /// Reads the file; nothing if there is none.
    pub fn load(environment: &Environment) -> PersistedVariables {
        let read = || {
            let file = environment.disk.open(Path::new(FILE), OpenMode::Existing).ok()?;
            let length = file.len().ok().filter(|length| *length <= FILE_BYTES_MAX)?;
            let mut bytes = vec![0; length as usize];
            file.read_at(&mut bytes, 0).ok()?;
            String::from_utf8(bytes).ok()
        };
        PersistedVariables { values: read().map(|text| parse(&text)).unwrap_or_default() }
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Keeps a value.
    pub fn set(&mut self, name: &str, value: String, environment: &Environment) -> SqlResult<()> {
        self.values.insert(name.to_owned(), value);
        self.save(environment)
    }

    /// Forgets a value (all without name). Whether there was one.
    pub fn reset(&mut self, name: Option<&str>, environment: &Environment) -> SqlResult<bool> {
        let found = match name {
            Some(name) => self.values.remove(name).is_some(),
            None => {
                self.values.clear();
                true
            }
        };
        self.save(environment)?;
        Ok(found)
    }

    fn save(&self, environment: &Environment) -> SqlResult<()> {
        let temporary = format!("{FILE}.backup");
        let write = || -> env::DiskResult<()> {
            let file = environment.disk.open(Path::new(&temporary), OpenMode::CreateIfMissing)?;
            let text = self.print();
            file.set_len(0)?;
            file.write_at(text.as_bytes(), 0)?;
            file.sync_all()?;
            environment.disk.rename(Path::new(&temporary), Path::new(FILE))?;
            environment.disk.sync_directory(Path::new(""))
        };
        env::blocking::region(write).map_err(|error| sql_error!(ER_ERROR_ON_WRITE, FILE, 5, error))
    }

    fn print(&self) -> String {
        let mut out = String::from("{\"Version\": 2, \"mysql_dynamic_variables\": {");
        for (position, (name, value)) in self.values.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            // Writing to a String does not fail.
            let _ = write!(out, "{comma}{}: {{\"Value\": {}}}", json(name), json(value));
        }
        out.push_str("}}\n");
        out
    }
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            control if (control as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Finds every `"name": {"Value": "text"` of the file, whatever objects are around it.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut strings: Vec<(String, usize)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'"' {
            let (string, end) = parse_string(text, at + 1);
            strings.push((string, end));
            at = end;
        } else {
            at += 1;
        }
    }
    let mut values = BTreeMap::new();
    for window in strings.windows(3) {
        let is_value = window[1].0 == "Value" && text[window[1].1..].trim_start().starts_with(':');
        if is_value {
            values.insert(window[0].0.clone(), window[2].0.clone());
        }
    }
    values
}

/// The string that starts at `at`, behind its quote, and where the text goes on behind its end.
fn parse_string(text: &str, at: usize) -> (String, usize) {
    let mut out = String::new();
    let mut characters = text[at..].char_indices();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => return (out, at + offset + 1),
            '\\' => match characters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((start, 'u')) => {
                    let digits = text.get(at + start + 1..at + start + 5).unwrap_or_default();
                    let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                    out.push(code.unwrap_or('\u{fffd}'));
                    for _ in 0..digits.len() {
                        characters.next();
                    }
                }
                Some((_, other)) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    (out, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_comes_back() {
        let mut variables = PersistedVariables::default();
        variables.values.insert("sql_mode".to_owned(), "A,\"B\"\\\n\u{1}".to_owned());
        variables.values.insert("max_connections".to_owned(), "200".to_owned());
        assert_eq!(parse(&variables.print()), variables.values);
    }

    #[test]
    fn a_file_of_mysql_is_read() {
        let text = r#"{"Version": 2, "mysql_dynamic_variables": {"max_connections": {"Value": "152", "Metadata":
            {"Timestamp": 1, "User": "root", "Host": "localhost"}}, "sql_mode": {"Value": "", "Metadata": {}}}}"#;
        let values = parse(text);
        assert_eq!(values.get("max_connections").map(String::as_str), Some("152"));
        assert_eq!(values.get("sql_mode").map(String::as_str), Some(""));
    }
}

//! `mysqld-auto.cnf`: what SET PERSIST keeps. Main type: [`PersistedVariables`].
//! The file is JSON of the shape that MySQL writes; a file is replaced as a whole, so a crash leaves the old or the new.

use env::{DiskErrorKind, Environment, OpenMode};
use errors::{SqlResult, sql_error};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "mysqld-auto.cnf";

/// Persisted values as text, by variable name.
#[derive(Clone, Debug, Default)]
pub struct PersistedVariables {
    values: BTreeMap<String, String>,
}

impl PersistedVariables {
    /// Reads the file; nothing if there is none. Error 1105 for one that cannot be read or is not whole: what it lacks would be gone
    /// with the next SET PERSIST.
    pub fn load(environment: &Environment) -> SqlResult<PersistedVariables> {
        let refused = |reason: &dyn std::fmt::Display| {
            let advice = "Put it right, or remove it: then no persisted variables are set.";
            errors::code::ER_UNKNOWN_ERROR
                .message(format!("Persisted config file '{FILE}' is corrupt ({reason}). {advice}"))
        };
        let file = match environment.disk.open(Path::new(FILE), OpenMode::Existing) {
            Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(PersistedVariables::default()),
            opened => opened.map_err(|error| refused(&error))?,
        };
        let length = file.len().map_err(|error| refused(&error))?;
        let mut bytes = vec![0; length as usize];
        file.read_at(&mut bytes, 0).map_err(|error| refused(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| refused(&error))?;
        // An empty file is one that MySQL has made and not written.
        if !text.trim().is_empty() && !is_whole(&text) {
            return Err(refused(&"it is no JSON object, or cut off"));
        }
        Ok(PersistedVariables { values: parse(&text) })
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Keeps a value.
    pub fn set(&mut self, name: &str, value: String, environment: &Environment) -> SqlResult<()> {
        let before = self.values.insert(name.to_owned(), value);
        self.save(environment).inspect_err(|_| {
            match before {
                Some(value) => self.values.insert(name.to_owned(), value),
                None => self.values.remove(name),
            };
        })
    }

    /// Forgets a value (all without name). Whether there was one.
    pub fn reset(&mut self, name: Option<&str>, environment: &Environment) -> SqlResult<bool> {
        let before = self.values.clone();
        let found = match name {
            Some(name) => self.values.remove(name).is_some(),
            None => {
                self.values.clear();
                true
            }
        };
        self.save(environment).inspect_err(|_| self.values = before)?;
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
        env::blocking::region(write).map_err(|error| {
            // Half of it is of no use, and takes room. Once it is renamed there is none.
            let _ = environment.disk.remove(Path::new(&temporary));
            sql_error!(ER_ERROR_ON_WRITE, FILE, 5, error)
        })
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

/// Whether a text is one object: every brace and every string that begins in it ends, and nothing follows.
fn is_whole(text: &str) -> bool {
    let text = text.trim();
    let (mut open, mut at) = (0u32, 0);
    while at < text.len() {
        match text.as_bytes()[at] {
            b'"' => {
                let end = parse_string(text, at + 1).1;
                if !text[..end].ends_with('"') {
                    return false;
                }
                at = end;
                continue;
            }
            b'{' => open += 1,
            b'}' if open == 0 => return false,
            b'}' => open -= 1,
            _ if open == 0 => return false,
            _ => {}
        }
        at += 1;
        if open == 0 && at < text.len() {
            return false;
        }
    }
    open == 0 && !text.is_empty()
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
    use env::simulated::SimulatedDisk;

    #[test]
    fn file_comes_back() {
        let mut variables = PersistedVariables::default();
        variables.values.insert("sql_mode".to_owned(), "A,\"B\"\\\n\u{1}".to_owned());
        variables.values.insert("max_connections".to_owned(), "200".to_owned());
        assert_eq!(parse(&variables.print()), variables.values);
    }

    #[test]
    fn a_full_disk_leaves_nothing_behind() {
        let disk = SimulatedDisk::new(1);
        let environment = Environment::simulated(disk.clone(), 1);
        let mut variables = PersistedVariables::default();
        variables.set("max_connections", "200".to_owned(), &environment).unwrap();
        let used = disk.used_bytes();
        disk.set_capacity_bytes(Some(used + 100));
        let refused = variables.set("init_connect", "x".repeat(2000), &environment);
        assert_eq!(refused.unwrap_err().number(), 1026);
        assert_eq!(disk.used_bytes(), used);
        assert_eq!(PersistedVariables::load(&environment).unwrap().values, variables.values);
    }

    #[test]
    fn a_file_that_is_cut_or_rotten_is_refused() {
        let disk = SimulatedDisk::new(1);
        let environment = Environment::simulated(disk.clone(), 1);
        let mut variables = PersistedVariables::default();
        variables.set("init_connect", "x".repeat(2 << 20), &environment).unwrap();
        variables.set("sql_mode", "{\"".to_owned(), &environment).unwrap();
        let loaded = PersistedVariables::load(&environment).unwrap();
        assert_eq!(loaded.values, variables.values);
        let text = variables.print();
        for cut in [1, 40, text.len() - 2, text.len() - 30] {
            let file = environment.disk.open(Path::new(FILE), OpenMode::Existing).unwrap();
            file.set_len(cut as u64).unwrap();
            assert!(PersistedVariables::load(&environment).is_err(), "{cut}");
            variables.save(&environment).unwrap();
        }
        let file = environment.disk.open(Path::new(FILE), OpenMode::Existing).unwrap();
        file.write_at(b"\xff", 0).unwrap();
        assert!(PersistedVariables::load(&environment).is_err());
    }

    #[test]
    fn what_could_not_be_written_is_not_kept() {
        let disk = SimulatedDisk::new(1);
        let environment = Environment::simulated(disk.clone(), 1);
        let mut variables = PersistedVariables::default();
        variables.set("max_connections", "1".to_owned(), &environment).unwrap();
        disk.set_capacity_bytes(Some(0));
        assert!(variables.set("max_connections", "2".to_owned(), &environment).is_err());
        assert!(variables.set("sort_buffer_size", "3".to_owned(), &environment).is_err());
        disk.set_capacity_bytes(None);
        variables.set("sql_mode", String::new(), &environment).unwrap();
        let kept: Vec<_> = variables.iter().collect();
        assert_eq!(kept, [("max_connections", "1"), ("sql_mode", "")]);
        assert_eq!(PersistedVariables::load(&environment).unwrap().values, variables.values);
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

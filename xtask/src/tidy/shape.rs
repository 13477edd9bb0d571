//! The shape of crates and types: how long a crate is, and over how many files the methods of one type are spread.
//!
//! Rules:
//! 1. Lines of a crate are those of its sources without generated code and without tests (`tests.rs`, `*_tests.rs`, what is below
//!    `tests/`, and a `mod tests` at a file's end): the ceiling is for what has to be read to change the product.
//! 2. A crate over the ceiling stands in `tidy.toml` with its lines on the day of the entry, a type with its files. An entry may only
//!    fall: one that is not needed any more, or is above what there is (by some lines for crates), is a finding.
//! 3. Methods are those of `impl Type` blocks. Implementations of traits do not count: where they stand is the trait's business.

use super::Source;
use super::ceilings::allowed;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of a crate.
const CRATE_LINES_MAX: usize = 12_000;
/// A grammar of MySQL's size is one thing.
const PARSER_LINES_MAX: usize = 16_000;
/// An entry of `tidy.toml` may be so much above what the crate has.
const SLACK_LINES: usize = 250;
/// Files with methods of one type.
const METHOD_FILES_MAX: usize = 8;
/// So many of the types with the most lines of methods are printed.
const SHOWN_TYPES: usize = 5;

/// The methods of a type: its files, and the lines of its blocks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Methods {
    files: BTreeSet<String>,
    lines: usize,
}

/// Lists crates over their ceiling, entries for them that should be lower, and types whose methods are in too many files.
pub fn check(sources: &[Source], exceptions: &toml::Table, findings: &mut Vec<String>) {
    for (name, lines) in crate_lines(sources) {
        check_crate(name, lines, allowed(exceptions, "crates", name, "lines"), findings);
    }
    for ((owner, name), methods) in methods(sources) {
        let name = format!("{owner}::{name}");
        let entry = allowed(exceptions, "types", &name, "files");
        check_type(&name, methods.files.len(), entry, findings);
    }
}

/// Prints the types with the most lines of methods.
pub fn print_largest(sources: &[Source]) {
    let mut types: Vec<_> = methods(sources).into_iter().collect();
    types.sort_by_key(|(_, methods)| std::cmp::Reverse(methods.lines));
    for ((owner, name), methods) in types.iter().take(SHOWN_TYPES) {
        println!(
            "tidy: {owner}::{name} has {} lines of methods in {} files",
            methods.lines,
            methods.files.len()
        );
    }
}

fn check_crate(name: &str, lines: usize, entry: Option<usize>, findings: &mut Vec<String>) {
    let ceiling = if name == "parser" { PARSER_LINES_MAX } else { CRATE_LINES_MAX };
    match entry {
        None if lines > ceiling => findings.push(format!("crates/{name}: {lines} lines, ceiling {ceiling}")),
        None => {}
        Some(entry) if lines > entry => {
            findings.push(format!("crates/{name}: {lines} lines, tidy.toml allows {entry}"));
        }
        Some(_) if lines <= ceiling => {
            findings.push(format!("tidy.toml: crates/{name} has {lines} lines and needs no entry"));
        }
        Some(entry) if lines + SLACK_LINES < entry => {
            findings.push(format!("tidy.toml: crates/{name} has {lines} lines, lower its entry of {entry}"));
        }
        Some(_) => {}
    }
}

fn check_type(name: &str, files: usize, entry: Option<usize>, findings: &mut Vec<String>) {
    let ceiling = entry.unwrap_or(METHOD_FILES_MAX);
    if files > ceiling {
        findings.push(format!("methods of {name} are in {files} files, ceiling {ceiling}"));
    } else if entry.is_some() && files <= METHOD_FILES_MAX {
        findings.push(format!("tidy.toml: methods of {name} are in {files} files and need no entry"));
    } else if files < ceiling && entry.is_some() {
        findings
            .push(format!("tidy.toml: methods of {name} are in {files} files, lower its entry of {ceiling}"));
    }
}

/// Product sources of crates: neither generated nor tests.
pub(super) fn product(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| {
        !source.crate_name().is_empty()
            && !source.is_generated()
            && !source.is_test()
            && !source.path.ends_with("_tests.rs")
    })
}

/// The lines before the tests at a file's end.
pub(super) fn product_lines(source: &Source) -> impl Iterator<Item = &str> {
    source.text.lines().take_while(|line| *line != "mod tests {")
}

fn crate_lines(sources: &[Source]) -> BTreeMap<&str, usize> {
    let mut lines = BTreeMap::new();
    for source in product(sources) {
        *lines.entry(source.crate_name()).or_default() += product_lines(source).count();
    }
    lines
}

/// Methods by crate and type.
fn methods(sources: &[Source]) -> BTreeMap<(&str, &str), Methods> {
    let mut found: BTreeMap<(&str, &str), Methods> = BTreeMap::new();
    for source in product(sources) {
        let mut open = None;
        for line in product_lines(source) {
            let opened = if open.is_none() { type_of(line) } else { None };
            if let Some(name) = open.or(opened) {
                let methods = found.entry((source.crate_name(), name)).or_default();
                methods.lines += 1;
                methods.files.insert(source.path.clone());
                let is_closed = line.starts_with('}') || opened.is_some() && line.ends_with("{}");
                open = if is_closed { None } else { Some(name) };
            }
        }
    }
    found
}

/// The type of a line that opens an `impl` block of formatted source; None for other lines and for a trait's implementation.
fn type_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => after_generics(generics)?,
        None => rest,
    };
    let rest = rest.strip_prefix(' ')?;
    if rest.contains(" for ") {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
    rest[..end].rsplit("::").next().filter(|name| !name.is_empty())
}

/// What is behind the `>` of an opened `<`.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // Not that of `->`.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + 1..]);
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn blocks_have_types() {
        let types = [
            ("impl Session {", Some("Session")),
            ("impl<'a> Frame<'a> {", Some("Frame")),
            ("impl<F: Fn(u8) -> Vec<u8>> run::Runner<F> {", Some("Runner")),
            ("impl SystemTables<'_> {", Some("SystemTables")),
            ("impl Drop for Session {", None),
            ("impl<T: Into<u8>> From<T> for Id {", None),
            ("implement", None),
            ("    impl Inner {", None),
        ];
        for (line, expected) in types {
            assert_eq!(type_of(line), expected, "{line}");
        }
    }

    #[test]
    fn methods_are_counted_by_type_and_file() {
        let text =
            "impl A {\n    fn one() {}\n}\nimpl Drop for A {\n    fn drop(&mut self) {}\n}\nimpl B {}\n";
        let sources = [
            source("crates/x/src/a.rs", text),
            source("crates/x/src/b.rs", "impl A {\n}\n#[cfg(test)]\nmod tests {\nimpl A {\n}\n}\n"),
            source("crates/x/src/tests.rs", "impl A {\n}\n"),
            source("crates/x/src/generated/c.rs", "impl A {\n}\n"),
        ];
        let found = methods(&sources);
        let a = &found[&("x", "A")];
        assert_eq!((a.lines, a.files.len()), (5, 2));
        assert_eq!(found[&("x", "B")].lines, 1);
        assert_eq!(crate_lines(&sources)["x"], 7 + 3);
    }

    #[test]
    fn a_type_in_nine_files_is_found() {
        let files = |count: usize| -> Vec<Source> {
            (0..count).map(|at| source(&format!("crates/x/src/{at}.rs"), "impl A {\n}\n")).collect()
        };
        let count = |count: usize| {
            let mut findings = Vec::new();
            check(&files(count), &toml::Table::new(), &mut findings);
            findings.len()
        };
        assert_eq!((count(METHOD_FILES_MAX), count(METHOD_FILES_MAX + 1)), (0, 1));
    }

    #[test]
    fn entries_of_types_only_fall() {
        let findings = |files: usize, entry: Option<usize>| {
            let mut findings = Vec::new();
            check_type("x::A", files, entry, &mut findings);
            findings.len()
        };
        assert_eq!((findings(20, Some(20)), findings(21, Some(20)), findings(19, Some(20))), (0, 1, 1));
        assert_eq!((findings(8, None), findings(9, None), findings(8, Some(20))), (0, 1, 1));
    }

    #[test]
    fn entries_of_crates_only_fall() {
        let findings = |lines: usize, entry: Option<usize>| {
            let mut findings = Vec::new();
            check_crate("x", lines, entry, &mut findings);
            findings.len()
        };
        let entry = CRATE_LINES_MAX + 1_000;
        assert_eq!((findings(CRATE_LINES_MAX, None), findings(CRATE_LINES_MAX + 1, None)), (0, 1));
        assert_eq!((findings(entry, Some(entry)), findings(entry + 1, Some(entry))), (0, 1));
        assert_eq!(findings(entry - SLACK_LINES - 1, Some(entry)), 1);
        assert_eq!(findings(CRATE_LINES_MAX, Some(CRATE_LINES_MAX + 10)), 1);
    }
}

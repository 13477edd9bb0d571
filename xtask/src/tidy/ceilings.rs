//! Ceilings on file and function length. `tidy.toml` holds those over the ceiling, each with a reason;
//! an entry may only shrink, and one that is no longer needed must go.

use super::Source;
use crate::files::{exists, read};

/// Lines of a file without its tests.
const FILE_LINES_MAX: usize = 800;
/// Lines of a function, signature included.
const FUNCTION_LINES_MAX: usize = 70;

/// What may be over a ceiling: `tidy.toml`.
pub fn exceptions() -> Result<toml::Table, String> {
    match exists("tidy.toml") {
        true => read("tidy.toml")?.parse().map_err(|error| format!("tidy.toml: {error}")),
        false => Ok(toml::Table::new()),
    }
}

/// Lists files and functions over their ceiling.
pub fn check(sources: &[Source], exceptions: &toml::Table, findings: &mut Vec<String>) {
    for source in sources.iter().filter(|source| !source.is_generated()) {
        check_file(source, exceptions, findings);
        if !source.is_test() {
            check_functions(source, exceptions, findings);
        }
    }
}

/// What an entry allows, in `unit`.
pub(super) fn allowed(exceptions: &toml::Table, section: &str, key: &str, unit: &str) -> Option<usize> {
    let allowed = exceptions.get(section)?.get(key)?.get(unit)?.as_integer()?;
    usize::try_from(allowed).ok()
}

fn check_file(source: &Source, exceptions: &toml::Table, findings: &mut Vec<String>) {
    let lines = source.text.lines().take_while(|line| *line != "mod tests {").count();
    let ceiling = allowed(exceptions, "files", &source.path, "lines").unwrap_or(FILE_LINES_MAX);
    if lines > ceiling {
        findings.push(format!("{}: {lines} lines, ceiling {ceiling}", source.path));
    }
}

fn check_functions(source: &Source, exceptions: &toml::Table, findings: &mut Vec<String>) {
    for function in functions(&source.text) {
        let key = format!("{}:{}", source.path, function.name);
        let ceiling = allowed(exceptions, "functions", &key, "lines").unwrap_or(FUNCTION_LINES_MAX);
        if function.lines > ceiling {
            findings.push(format!(
                "{}:{}: function {} has {} lines, ceiling {ceiling}",
                source.path, function.start, function.name, function.lines
            ));
        }
    }
}

struct Function {
    name: String,
    start: usize,
    lines: usize,
}

/// The functions of formatted source: from the line with `fn` to the `}` of the same indent.
fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let Some(name) = function_name(body) else { continue };
        if body.ends_with(';') || body.ends_with('}') {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let end = lines[at..].iter().position(|later| *later == closing);
        if let Some(length) = end {
            found.push(Function { name, start: at + 1, lines: length + 1 });
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    const LEADS: [&str; 6] = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe "];
    let mut rest = line;
    while let Some(lead) = LEADS.iter().find(|lead| rest.starts_with(**lead)) {
        rest = &rest[lead.len()..];
    }
    let name = rest.strip_prefix("fn ")?;
    Some(name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn function_lengths() {
        let text = "impl A {\n    pub fn one(&self) -> u8 {\n        1\n    }\n\n    fn two() {}\n}\nfn three(\n    a: u8,\n) {\n}\n";
        let found: Vec<(String, usize)> = functions(text).into_iter().map(|f| (f.name, f.lines)).collect();
        assert_eq!(found, vec![("one".to_owned(), 3), ("three".to_owned(), 4)]);
    }
}

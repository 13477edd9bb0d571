//! Documents that must be there and stay true: the README of each mechanism, and the test files that
//! `docs/compatibility.md` names.

use crate::files::{exists, read};

/// Crates whose mechanism is explained in a README of its own.
const MECHANISMS: [&str; 10] =
    ["page", "redo", "buffer", "btree", "txn", "engine", "values", "wire", "functions", "expression"];

/// Documents of the project's root and `docs/`.
const DOCUMENTS: [&str; 8] = [
    "README.md",
    "LICENSE",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/ARCHITECTURE.md",
    "docs/compatibility.md",
    "docs/dependencies.md",
    "docs/formats.md",
];

/// Lists documents that are missing and test files that the compatibility table names but the tree lacks.
pub fn check(findings: &mut Vec<String>) -> Result<(), String> {
    let readmes = MECHANISMS.iter().map(|name| format!("crates/{name}/README.md"));
    for path in readmes.chain(DOCUMENTS.iter().map(|path| (*path).to_owned())) {
        if !exists(&path) {
            findings.push(format!("{path}: missing"));
        }
    }
    if exists("docs/compatibility.md") {
        for path in named_tests(&read("docs/compatibility.md")?) {
            if !exists(&path) {
                findings.push(format!("docs/compatibility.md: names {path}, which does not exist"));
            }
        }
    }
    Ok(())
}

/// The paths in backquotes that lead into `tests/` or `crates/`.
fn named_tests(table: &str) -> Vec<String> {
    table
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| (word.starts_with("tests/") || word.starts_with("crates/")) && !word.contains('*'))
        .map(str::to_owned)
        .collect()
}

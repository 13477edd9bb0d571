//! House style as code: each check reads the tree and lists its findings; any finding fails the task.
//! A check is only ever made stricter. What is over a ceiling today stands in `tidy.toml` and may only shrink.

mod ceilings;
mod circles;
mod documents;
mod layers;
mod shape;
mod sources;
mod test_programs;

use crate::files::{read, tracked};

/// One file of the tree.
pub struct Source {
    /// Path below the workspace root.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// The crate that the file belongs to, or "" outside `crates/`.
    pub fn crate_name(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or("")
    }

    /// Whether a task wrote the file.
    pub fn is_generated(&self) -> bool {
        self.path.contains("/generated/")
    }

    /// Whether the file holds only tests.
    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}

/// Runs every check.
pub fn run() -> Result<(), String> {
    let mut sources = Vec::new();
    for path in tracked()? {
        if path.ends_with(".rs") {
            let text = read(&path)?;
            sources.push(Source { path, text });
        }
    }
    let mut findings = Vec::new();
    layers::check(&mut findings)?;
    sources::check(&sources, &mut findings);
    let exceptions = ceilings::exceptions()?;
    ceilings::check(&sources, &exceptions, &mut findings);
    shape::check(&sources, &exceptions, &mut findings);
    circles::check(&sources, &exceptions, &mut findings);
    documents::check(&mut findings)?;
    test_programs::check(&sources, &mut findings)?;
    for (path, text) in crate::generate::sources()? {
        if read(path).unwrap_or_default() != text {
            findings.push(format!("{path}: not what `cargo xtask generate` writes"));
        }
    }
    shape::print_largest(&sources);
    if findings.is_empty() {
        println!("tidy: {} sources, nothing to mend", sources.len());
        return Ok(());
    }
    Err(format!("{}\ntidy: {} findings", findings.join("\n"), findings.len()))
}

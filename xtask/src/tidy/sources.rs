//! What every source file must have and must not have: header, unsafe only where allowed, banned words.

use super::Source;

/// Crates in which a leaf module may hold `unsafe`.
const UNSAFE_CRATES: [&str; 4] = ["stdx", "env", "buffer", "page"];

/// Words that must not stand in product code, each with what to do instead.
const BANNED: [(&str, &str); 5] = [
    (concat!("TO", "DO"), "finish it, or list it in docs/compatibility.md"),
    (concat!("FIX", "ME"), "finish it, or list it in docs/compatibility.md"),
    (concat!("XX", "X:"), "say what is wrong and mend it"),
    (concat!("#[", "ignore"), "a test runs or does not exist"),
    (concat!("allow(", "dead_code)"), "delete what nobody uses"),
];

/// Lists the files without header, with banned words, or with `unsafe` outside its crates.
pub fn check(sources: &[Source], findings: &mut Vec<String>) {
    for source in sources.iter().filter(|source| !source.is_generated()) {
        check_header(source, findings);
        check_words(source, findings);
        check_unsafe(source, findings);
    }
}

fn check_header(source: &Source, findings: &mut Vec<String>) {
    if !source.is_test() && !source.text.starts_with("//!") {
        findings.push(format!("{}: no module header (//!)", source.path));
    }
}

fn check_words(source: &Source, findings: &mut Vec<String>) {
    for (number, line) in source.text.lines().enumerate() {
        for (word, instead) in BANNED {
            if line.contains(word) {
                findings.push(format!("{}:{}: {word}: {instead}", source.path, number + 1));
            }
        }
    }
}

fn check_unsafe(source: &Source, findings: &mut Vec<String>) {
    let name = source.crate_name();
    if name.is_empty() || UNSAFE_CRATES.contains(&name) {
        return;
    }
    let is_root = source.path.ends_with("/src/lib.rs") || source.path.ends_with("/src/main.rs");
    if is_root && !source.text.contains("#![forbid(unsafe_code)]") {
        findings.push(format!("{}: crate root lacks #![forbid(unsafe_code)]", source.path));
    }
}

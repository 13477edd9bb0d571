//! Circles between the folders of a crate: a folder that uses another must not be used by it, neither directly nor over a third.
//!
//! Rules:
//! 1. A folder is one directly below a crate's `src`; the file that names its modules (`folder/mod.rs` or `folder.rs`) belongs to it.
//!    Files beside the folders are no folders: what all folders share stands there.
//! 2. A use is a path from the crate's root (`crate::folder::..`, in an import or in code) or up to it by `super::`. A name that the
//!    root hands on (`pub use folder::Name;` in `lib.rs` or `main.rs`) counts as its folder.
//! 3. Tests count as little as elsewhere.

use super::Source;
use super::ceilings::allowed;
use super::shape::{product, product_lines};
use std::collections::{BTreeMap, BTreeSet};

/// Which folders a folder uses, each with a file where it does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// Lists the circles of each crate, with the files that tie them. What `tidy.toml` allows under `circles` may only shrink.
pub fn check(sources: &[Source], exceptions: &toml::Table, findings: &mut Vec<String>) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in product(sources) {
        crates.entry(source.crate_name()).or_default().push(source);
    }
    for (name, files) in crates {
        let uses = uses_of(name, &files);
        let found = circles(&uses);
        let folders: usize = found.iter().map(BTreeSet::len).sum();
        match allowed(exceptions, "circles", name, "folders") {
            Some(entry) if folders < entry => {
                findings.push(format!(
                    "tidy.toml: crates/{name} has {folders} folders in circles, its entry allows {entry}"
                ));
            }
            Some(entry) if folders == entry => {}
            _ => findings.extend(found.iter().map(|circle| {
                format!("crates/{name}: folders use each other in a circle: {}", shown(circle, &uses))
            })),
        }
    }
}

/// `a -> b (file)` for each use within the circle.
fn shown(circle: &BTreeSet<String>, uses: &Uses) -> String {
    let mut arrows = Vec::new();
    for from in circle {
        for (to, file) in uses[from].iter().filter(|(to, _)| circle.contains(*to)) {
            arrows.push(format!("{from} -> {to} ({file})"));
        }
    }
    arrows.join(", ")
}

fn uses_of(name: &str, files: &[&Source]) -> Uses {
    let root = format!("crates/{name}/src/");
    let inside = |source: &&Source| source.path.strip_prefix(&root).map(str::to_owned);
    let folders: BTreeSet<String> = files
        .iter()
        .filter_map(inside)
        .filter_map(|path| path.split_once('/').map(|(folder, _)| folder.to_owned()))
        .collect();
    let mut handed_on = BTreeMap::new();
    for source in
        files.iter().filter(|source| matches!(inside(source).as_deref(), Some("lib.rs" | "main.rs")))
    {
        for path in imported(&code(source)) {
            if let [folder, .., last] = path.as_slice()
                && folders.contains(folder)
            {
                handed_on.insert(last.clone(), folder.clone());
            }
        }
    }
    let mut uses = Uses::new();
    for source in files {
        let Some(path) = inside(source) else { continue };
        let Some(own) = folder_of(&path, &folders) else { continue };
        for first in root_names(&code(source), depth_of(&path)) {
            let other = if folders.contains(&first) { Some(&first) } else { handed_on.get(&first) };
            if let Some(other) = other.filter(|other| **other != own) {
                let used = uses.entry(own.clone()).or_default();
                used.entry(other.clone()).or_insert_with(|| path.clone());
            }
        }
    }
    uses
}

/// The folder that a file below `src` belongs to.
fn folder_of(path: &str, folders: &BTreeSet<String>) -> Option<String> {
    let first = path.split_once('/').map(|(folder, _)| folder).or_else(|| path.strip_suffix(".rs"))?;
    folders.get(first).cloned()
}

/// How many `super::` lead from the file's module to the root.
fn depth_of(path: &str) -> usize {
    let parts = path.split('/').count();
    if path.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// The text without comments.
fn code(source: &Source) -> String {
    let lines = product_lines(source).filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The names directly below the root that the text uses: by `crate::`, or by as many `super::` as lead there.
fn root_names(text: &str, depth: usize) -> BTreeSet<String> {
    let upwards = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for lead in ["crate::", &upwards] {
        for (at, _) in text.match_indices(lead) {
            let goes_on =
                text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$');
            if !goes_on {
                let behind = &text[at + lead.len()..];
                names.extend(paths(behind).into_iter().filter_map(|path| path.into_iter().next()));
            }
        }
    }
    names
}

/// What `use` statements without a lead name: paths from the root, if the text is the root's.
fn imported(text: &str) -> Vec<Vec<String>> {
    let starts = text.match_indices("use ").filter(|(at, _)| {
        let before = text[..*at].rsplit('\n').next().unwrap_or("");
        before.is_empty() || before.starts_with("pub")
    });
    starts.flat_map(|(at, lead)| paths(&text[at + lead.len()..])).collect()
}

/// The paths at the text's start: one, or those of a `{..}` group.
fn paths(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        return members(group).into_iter().flat_map(paths).collect();
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, behind) = text.split_at(end);
    if name.is_empty() {
        return Vec::new();
    }
    let Some(behind) = behind.strip_prefix("::") else { return vec![vec![name.to_owned()]] };
    let mut longer = paths(behind);
    if longer.is_empty() {
        longer.push(Vec::new());
    }
    longer.iter_mut().for_each(|path| path.insert(0, name.to_owned()));
    longer
}

/// The members of a group whose `{` was read, up to its `}`.
fn members(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(&text[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members
}

/// Sets of folders each of which reaches all others of its set.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|folder| (folder, reached_from(folder, uses))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (folder, others) in &reached {
        let is_new = !found.iter().any(|circle| circle.contains(*folder));
        if is_new && others.contains(*folder) {
            let back =
                |other: &&&String| reached.get(**other).is_some_and(|of_other| of_other.contains(*folder));
            found.push(others.iter().filter(back).map(|other| (*other).clone()).collect());
        }
    }
    found
}

fn reached_from<'a>(folder: &'a String, uses: &'a Uses) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![folder];
    while let Some(next) = open.pop() {
        for other in uses.get(next).into_iter().flat_map(|used| used.keys()) {
            if reached.insert(other) {
                open.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source { path: format!("crates/x/src/{path}"), text: (*text).to_owned() })
            .collect();
        let mut findings = Vec::new();
        check(&sources, &toml::Table::new(), &mut findings);
        findings
    }

    #[test]
    fn folders_that_use_each_other_are_found() {
        let there = ("a/one.rs", "use crate::b::Two;\n");
        for back in [
            "use crate::a::One;\n",
            "use crate::{c, a::One};\n",
            "use super::super::a::One;\n",
            "fn f() {\n    crate::a::one();\n}\n",
            "use crate::One;\n",
        ] {
            let root = ("lib.rs", "mod a;\nmod b;\npub use a::{Other, One};\n");
            assert_eq!(findings(&[there, ("b/two.rs", back), root]).len(), 1, "{back}");
        }
    }

    #[test]
    fn a_circle_over_a_third_folder_is_one() {
        let files = [
            ("a/mod.rs", "use crate::b::B;\n"),
            ("b/mod.rs", "use crate::c::C;\n"),
            ("c/mod.rs", "use super::a::A;\n"),
        ];
        let found = findings(&files);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("a -> b (a/mod.rs), b -> c (b/mod.rs), c -> a (c/mod.rs)"), "{}", found[0]);
    }

    #[test]
    fn entries_only_fall() {
        let sources = [("a/mod.rs", "use crate::b::B;\n"), ("b/mod.rs", "use crate::a::A;\n")]
            .map(|(path, text)| Source { path: format!("crates/x/src/{path}"), text: text.to_owned() });
        let findings = |entry: usize| {
            let exceptions = format!("[circles]\nx = {{ folders = {entry} }}\n").parse().unwrap();
            let mut findings = Vec::new();
            check(&sources, &exceptions, &mut findings);
            findings.len()
        };
        assert_eq!((findings(1), findings(2), findings(3)), (1, 0, 1));
    }

    #[test]
    fn what_is_no_circle_is_none() {
        let files = [
            ("a/one.rs", "use crate::b::Two;\nuse super::inner::Three;\n"),
            (
                "b/two.rs",
                "// Not crate::a, as a comment says.\nuse other::a::One;\nuse crate::shared::All;\n",
            ),
            ("shared.rs", "use crate::a::One;\n"),
            ("b/tests.rs", "use crate::a::One;\n"),
            ("b/three.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n"),
        ];
        assert_eq!(findings(&files), Vec::<String>::new());
    }
}

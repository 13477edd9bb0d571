//! Crates whose test files are modules of one program (`tests/main.rs`): a file that nobody names would be built by nobody, and its
//! tests would pass for ever.

use super::Source;
use crate::files::read;

/// Lists files beside a `tests/main.rs` that are neither modules of it nor programs in the crate's manifest.
pub fn check(sources: &[Source], findings: &mut Vec<String>) -> Result<(), String> {
    for program in sources {
        let Some(folder) = program.path.strip_suffix("/main.rs").filter(|folder| folder.ends_with("/tests"))
        else {
            continue;
        };
        let manifest = read(&format!("{}/Cargo.toml", program.path.trim_end_matches("/tests/main.rs")))?;
        for source in sources.iter().filter(|source| source.path != program.path) {
            let Some(name) = module_in(&source.path, folder) else { continue };
            let is_module = program.text.lines().any(|line| line == format!("mod {name};"));
            if !is_module && !manifest.contains(&format!("\"tests/{name}.rs\"")) {
                findings.push(format!("{}: no program has it: name it in {}", source.path, program.path));
            }
        }
    }
    Ok(())
}

/// The name of a module whose file lies directly in a folder.
fn module_in<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    (!name.contains('/')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_directly_in_the_folder_are_modules() {
        assert_eq!(module_in("crates/a/tests/b.rs", "crates/a/tests"), Some("b"));
        assert_eq!(module_in("crates/a/tests/common/mod.rs", "crates/a/tests"), None);
        assert_eq!(module_in("crates/ab/tests/b.rs", "crates/a/tests"), None);
    }
}

//! The direction of dependencies: `layers.toml` against every `Cargo.toml`, and the list of outside crates
//! against `docs/dependencies.md`.

use crate::files::{exists, folders, read};

/// Lists each dependency that goes upward or sideways to a crate named later, each crate without layer, and
/// each outside crate without a reason.
pub fn check(findings: &mut Vec<String>) -> Result<(), String> {
    let order = crate_order()?;
    let reasons = if exists("docs/dependencies.md") { read("docs/dependencies.md")? } else { String::new() };
    let mut manifests = folders("crates")?;
    manifests.push("xtask".into());
    for folder in manifests {
        let path = folder.join("Cargo.toml").display().to_string();
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let manifest: toml::Table = read(&path)?.parse().map_err(|error| format!("{path}: {error}"))?;
        let Some(own) = order.iter().position(|known| *known == name) else {
            findings.push(format!("{path}: crate is in no layer of layers.toml"));
            continue;
        };
        for dependency in dependencies(&manifest, "dependencies") {
            match order.iter().position(|known| *known == dependency) {
                Some(other) if other >= own => {
                    findings.push(format!("{path}: {name} must not know {dependency} (layers.toml)"));
                }
                Some(_) => {}
                None => check_reason(&path, &dependency, &reasons, findings),
            }
        }
        for dependency in dependencies(&manifest, "dev-dependencies") {
            if !order.contains(&dependency) {
                check_reason(&path, &dependency, &reasons, findings);
            }
        }
    }
    Ok(())
}

fn check_reason(path: &str, dependency: &str, reasons: &str, findings: &mut Vec<String>) {
    if !reasons.contains(&format!("| {dependency} |")) {
        findings.push(format!("{path}: {dependency} has no line in docs/dependencies.md"));
    }
}

fn dependencies(manifest: &toml::Table, section: &str) -> Vec<String> {
    manifest
        .get(section)
        .and_then(|table| table.as_table())
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

/// All crates, lowest first.
fn crate_order() -> Result<Vec<String>, String> {
    let layers: toml::Table =
        read("layers.toml")?.parse().map_err(|error| format!("layers.toml: {error}"))?;
    let mut order = Vec::new();
    for layer in layers.get("layer").and_then(|value| value.as_array()).into_iter().flatten() {
        for name in layer.get("crates").and_then(|value| value.as_array()).into_iter().flatten() {
            order.extend(name.as_str().map(str::to_owned));
        }
    }
    Ok(order)
}

//! File access of the development tasks. They run beside the product, so `env` is not used here.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Reads a text file.
pub fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// Reads a file of any bytes.
pub fn read_bytes(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{path}: {error}"))
}

/// Writes a text file and the folders it needs.
pub fn write(path: &str, text: &str) -> Result<(), String> {
    if let Some(folder) = Path::new(path).parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{path}: {error}"))?;
    }
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}

/// Writes a file of any bytes, with those rights, and the folders it needs, through which everybody may go.
pub fn write_bytes(path: &str, content: &[u8], mode: u32) -> Result<(), String> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let failed = |error: std::io::Error| format!("{path}: {error}");
    if let Some(folder) = Path::new(path).parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(failed)?;
    }
    std::fs::write(path, content).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(failed)
}

/// Whether something is at that path.
pub fn exists(path: &str) -> bool {
    Path::new(path).exists()
}

/// The folders below `folder`, by name.
pub fn folders(folder: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut found: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    Ok(found)
}

/// The files that git tracks or would track, below the current folder.
pub fn tracked() -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let mut files: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|path| exists(path))
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Makes an empty folder for temporary files.
pub fn temporary_folder(name: &str) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    let folder = folder.display().to_string();
    remove_folder(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{folder}: {error}"))?;
    Ok(folder)
}

/// Removes a file.
pub fn remove_file(path: &str) -> Result<(), String> {
    std::fs::remove_file(path).map_err(|error| format!("{path}: {error}"))
}

/// Removes a folder with what is in it, if it is there.
pub fn remove_folder(folder: &str) {
    // What is left lies in the system's folder for temporary files.
    let _ = std::fs::remove_dir_all(folder);
}

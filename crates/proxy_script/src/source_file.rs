//! A script's file, read again when it changed. Main type: [`SourceFile`].
#![allow(clippy::disallowed_methods)]

use std::io::Error;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The file with what was read of it. Scripts are an administrator's files, not the server's data: they are read as they lie.
#[derive(Debug)]
pub(crate) struct SourceFile {
    path: PathBuf,
    read: Option<(Stamp, Arc<[u8]>)>,
}

/// Differs when the file does.
type Stamp = (u64, u64, i64, i64);

impl SourceFile {
    pub fn new(path: PathBuf) -> SourceFile {
        SourceFile { path, read: None }
    }

    /// What the file holds now.
    pub fn current(&mut self) -> Result<Arc<[u8]>, String> {
        let failed = |error: Error| {
            let why = error.to_string().replace("(os error ", "(");
            format!("stat({}) failed: {why}", self.path.display())
        };
        let about = std::fs::metadata(&self.path).map_err(failed)?;
        if about.is_dir() {
            return Err("Is a directory".to_owned());
        }
        let stamp = (about.ino(), about.len(), about.mtime(), about.mtime_nsec());
        if let Some((known, source)) = &self.read
            && *known == stamp
        {
            return Ok(Arc::clone(source));
        }
        let source = std::fs::read(&self.path).map_err(|error| error.to_string())?;
        let source: Arc<[u8]> = without_first_line(source).into();
        self.read = Some((stamp, Arc::clone(&source)));
        Ok(source)
    }
}

/// A first line that begins with `#` is for the shell; its end stays, so that lines keep their numbers.
fn without_first_line(mut source: Vec<u8>) -> Vec<u8> {
    if source.first() == Some(&b'#') {
        let end = source.iter().position(|byte| *byte == b'\n').unwrap_or(source.len());
        source.drain(..end);
    }
    source
}

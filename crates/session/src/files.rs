//! Files on the server's disk for LOAD DATA, INTO OUTFILE and LOAD_FILE(), within secure_file_priv.
//! Main type: [`SessionFiles`].

use crate::instance::Instance;
use crate::variables::{SystemValue, id};
use env::{DiskError, DiskErrorKind, File, OpenMode};
use errors::{SqlError, SqlResult, sql_error};
use exec::{FilePieces, FileWriter, ServerFiles};
use std::path::{Component, Path};
use std::sync::Arc;

const PIECE_BYTES: usize = 1 << 16;

/// The files that a session may open.
pub struct SessionFiles {
    instance: Arc<Instance>,
    /// Whether the user has the FILE privilege.
    allowed: bool,
}

impl SessionFiles {
    /// For a session whose user has (or has not) the FILE privilege.
    pub fn new(instance: &Arc<Instance>, allowed: bool) -> SessionFiles {
        SessionFiles { instance: Arc::clone(instance), allowed }
    }

    /// Errors: 1045 without FILE, 1290 outside secure_file_priv.
    fn check(&self, path: &str) -> SqlResult<()> {
        if !self.allowed {
            return Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "FILE"));
        }
        if is_within(&self.instance, path) {
            Ok(())
        } else {
            Err(sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv"))
        }
    }
}

/// Whether secure_file_priv allows that path: NULL allows none, the empty text all.
fn is_within(instance: &Instance, path: &str) -> bool {
    match instance.global_value(id::SECURE_FILE_PRIV) {
        SystemValue::Text(folder) if folder.is_empty() => true,
        SystemValue::Text(folder) => {
            let climbs = Path::new(path).components().any(|part| part == Component::ParentDir);
            !climbs && Path::new(path).starts_with(&*folder)
        }
        _ => false,
    }
}

fn cannot_open(path: &str, error: &DiskError) -> SqlError {
    match error.kind {
        DiskErrorKind::NotFound => sql_error!(ER_FILE_NOT_FOUND, path, 2, "No such file or directory"),
        _ => sql_error!(ER_FILE_NOT_FOUND, path, error.errno, error),
    }
}

/// LOAD_FILE(): the whole file, if it may be read and is not longer than `bytes_max`.
pub fn read_whole(instance: &Instance, path: &str, bytes_max: u64) -> Option<Vec<u8>> {
    if !is_within(instance, path) {
        return None;
    }
    let file = instance.environment().disk.open(Path::new(path), OpenMode::Existing).ok()?;
    let length = file.len().ok().filter(|length| *length <= bytes_max)?;
    let mut bytes = vec![0; length as usize];
    file.read_at(&mut bytes, 0).ok()?;
    Some(bytes)
}

struct Reader {
    file: Arc<dyn File>,
    offset: u64,
    length: u64,
    path: String,
}

impl FilePieces for Reader {
    fn next_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        let left = (self.length - self.offset).min(PIECE_BYTES as u64) as usize;
        if left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; left];
        let read = env::blocking::region(|| self.file.read_at(&mut piece, self.offset));
        read.map_err(|error| sql_error!(ER_ERROR_ON_READ, self.path, 5, error))?;
        self.offset += left as u64;
        Ok(Some(piece))
    }
}

struct Writer {
    file: Arc<dyn File>,
    offset: u64,
    path: String,
}

impl FileWriter for Writer {
    fn write(&mut self, bytes: &[u8]) -> SqlResult<()> {
        let written = env::blocking::region(|| self.file.write_at(bytes, self.offset));
        written.map_err(|error| sql_error!(ER_ERROR_ON_WRITE, self.path, 5, error))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn finish(&mut self) -> SqlResult<()> {
        let synced = env::blocking::region(|| self.file.sync_all());
        synced.map_err(|error| sql_error!(ER_ERROR_ON_WRITE, self.path, 5, error))
    }
}

impl ServerFiles for SessionFiles {
    fn open(&mut self, path: &str) -> SqlResult<Box<dyn FilePieces>> {
        self.check(path)?;
        let disk = &self.instance.environment().disk;
        let file =
            disk.open(Path::new(path), OpenMode::Existing).map_err(|error| cannot_open(path, &error))?;
        let length = file.len().map_err(|error| cannot_open(path, &error))?;
        Ok(Box::new(Reader { file, offset: 0, length, path: path.to_owned() }))
    }

    fn create(&mut self, path: &str) -> SqlResult<Box<dyn FileWriter>> {
        self.check(path)?;
        let disk = &self.instance.environment().disk;
        let file = disk.open(Path::new(path), OpenMode::CreateNew).map_err(|error| match error.kind {
            DiskErrorKind::AlreadyExists => sql_error!(ER_FILE_EXISTS_ERROR, path),
            _ => sql_error!(ER_CANT_CREATE_FILE, path, error.errno, error),
        })?;
        Ok(Box::new(Writer { file, offset: 0, path: path.to_owned() }))
    }
}

//! Files on the server's disk for LOAD DATA, INTO OUTFILE and LOAD_FILE(), within secure_file_priv.
//! Main type: [`SessionFiles`]. NULL, the default, allows no file at all; a folder allows what really lies in it, wherever
//! symbolic links on the way lead; the empty text allows all.

use crate::instance::Instance;
use env::{DiskError, DiskErrorKind, File, OpenMode};
use errors::{ErrorCode, SqlError, SqlResult, sql_error};
use exec::{FilePieces, FileWriter, ServerFiles};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use variables::{SystemValue, id};

const PIECE_BYTES: usize = 1 << 16;

/// The files that a session may open.
pub struct SessionFiles<'s> {
    instance: &'s Instance,
    /// Whether the user has the FILE privilege.
    allowed: bool,
}

impl SessionFiles<'_> {
    /// For a session whose user has (or has not) the FILE privilege.
    pub fn new(instance: &Instance, allowed: bool) -> SessionFiles<'_> {
        SessionFiles { instance, allowed }
    }

    /// Where the file really is. Errors: 1227 without FILE, 1290 outside secure_file_priv.
    fn allowed_path(&self, path: &str, purpose: Purpose) -> SqlResult<PathBuf> {
        if !self.allowed {
            return Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "FILE"));
        }
        let found = real_path(self.instance, path, purpose);
        found.ok_or_else(|| sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv"))
    }
}

/// What a file is looked up for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Create,
}

/// Where a path leads, if secure_file_priv allows that place. A new file has the place of its folder. A path to nothing
/// is allowed by its text alone: opening it fails.
fn real_path(instance: &Instance, path: &str, purpose: Purpose) -> Option<PathBuf> {
    let written = Path::new(path);
    let folder = match instance.global_value(id::SECURE_FILE_PRIV) {
        SystemValue::Text(folder) if folder.is_empty() => return Some(written.to_path_buf()),
        SystemValue::Text(folder) if !folder.eq_ignore_ascii_case("NULL") => folder,
        _ => return None,
    };
    let disk = &instance.environment().disk;
    let folder = disk.real_path(Path::new(&*folder)).ok()?;
    let place = match purpose {
        Purpose::Read => disk.real_path(written),
        Purpose::Create => {
            let name = written.file_name()?;
            disk.real_path(written.parent()?).map(|parent| parent.join(name))
        }
    };
    match place {
        Ok(place) => place.starts_with(&folder).then_some(place),
        Err(error) if error.kind == DiskErrorKind::NotFound => {
            let climbs = written.components().any(|part| part == Component::ParentDir);
            (!climbs && written.starts_with(&folder)).then(|| written.to_path_buf())
        }
        Err(_) => None,
    }
}

/// Errors of the operating system have numbers of their own below 1000.
const EE_CANT_CREATE_FILE: ErrorCode = ErrorCode {
    number: 1,
    state: "HY000",
    name: "EE_CANTCREATEFILE",
    format: "Can't create/write to file '%s' (OS errno %d - %s)",
};
const EE_STAT: ErrorCode = ErrorCode {
    number: 13,
    state: "HY000",
    name: "EE_STAT",
    format: "Can't get stat of '%s' (OS errno %d - %s)",
};

fn file_error(code: ErrorCode, path: &str, error: &DiskError) -> SqlError {
    let text = std::io::Error::from_raw_os_error(error.errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    code.with(&[&path, &error.errno, &text])
}

/// LOAD_FILE(): the whole file, if it may be read and is not longer than `bytes_max`.
pub fn read_whole(instance: &Instance, path: &str, bytes_max: u64) -> Option<Vec<u8>> {
    let place = real_path(instance, path, Purpose::Read)?;
    let file = instance.environment().disk.open(&place, OpenMode::ReadOnly).ok()?;
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

impl ServerFiles for SessionFiles<'_> {
    fn open(&mut self, path: &str) -> SqlResult<Box<dyn FilePieces>> {
        let place = self.allowed_path(path, Purpose::Read)?;
        let disk = &self.instance.environment().disk;
        let file =
            disk.open(&place, OpenMode::ReadOnly).map_err(|error| file_error(EE_STAT, path, &error))?;
        let length = file.len().map_err(|error| file_error(EE_STAT, path, &error))?;
        Ok(Box::new(Reader { file, offset: 0, length, path: path.to_owned() }))
    }

    fn create(&mut self, path: &str) -> SqlResult<Box<dyn FileWriter>> {
        let place = self.allowed_path(path, Purpose::Create)?;
        let disk = &self.instance.environment().disk;
        let file = disk.open(&place, OpenMode::CreateNew).map_err(|error| match error.kind {
            DiskErrorKind::AlreadyExists => sql_error!(ER_FILE_EXISTS_ERROR, path),
            _ => file_error(EE_CANT_CREATE_FILE, path, &error),
        })?;
        Ok(Box::new(Writer { file, offset: 0, path: path.to_owned() }))
    }
}

//! Module `lfs` (LuaFileSystem): attributes, directories, times. Scripts work on the system's files, not on the server's data, so
//! this does not go through `env`.
#![allow(clippy::disallowed_methods)]

use std::fs::{FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use env::{Clock, RealClock};
use mlua::{Lua, LuaString, Table, Value};
use rustix::fs::{AtFlags, Mode, Timespec, Timestamps};

use crate::function::{Arguments, Binder, Failure, Outcome, nothing, one, one_string, refused};
use crate::module;

/// Rights of a new directory before the process's mask.
const DIRECTORY_MODE: u32 = 0o777;

/// Names of the fields of `attributes`, in no particular order.
const ATTRIBUTES: [&str; 13] = [
    "dev",
    "ino",
    "mode",
    "nlink",
    "uid",
    "gid",
    "rdev",
    "access",
    "modification",
    "change",
    "size",
    "blocks",
    "blksize",
];

/// The module's table.
pub(crate) fn open(lua: &Lua, binder: &Binder) -> mlua::Result<Table> {
    let table = module::described(lua, "LuaFileSystem 1.2", "files and directories")?;
    binder.define(lua, &table, "attributes", attributes)?;
    binder.define(lua, &table, "chdir", |lua, arguments| {
        let path = arguments.text(lua, 1)?;
        match std::env::set_current_dir(&path) {
            Ok(()) => one(Value::Boolean(true)),
            Err(error) => {
                let why = system_text(&error);
                refused(lua, &format!("Unable to change working directory to '{path}'\n{why}\n"))
            }
        }
    })?;
    binder.define(lua, &table, "currentdir", |lua, _| match std::env::current_dir() {
        Ok(path) => one_string(lua, path.as_os_str().as_encoded_bytes()),
        Err(error) => refused(lua, &system_text(&error)),
    })?;
    binder.define(lua, &table, "mkdir", |lua, arguments| {
        let path = arguments.text(lua, 1)?;
        finish(lua, rustix::fs::mkdir(path, Mode::from_raw_mode(DIRECTORY_MODE)).map_err(Into::into))
    })?;
    binder.define(lua, &table, "rmdir", |lua, arguments| {
        let path = arguments.text(lua, 1)?;
        finish(lua, std::fs::remove_dir(path))
    })?;
    binder.define(lua, &table, "touch", touch)?;
    for name in ["lock", "unlock"] {
        // The number of a file that io.open() opened cannot be had without the C interface.
        binder.define(lua, &table, name, move |_, _| Err(Failure::Text(format!("{name}: not supported"))))?;
    }
    let binder_of_iterators = binder.clone();
    binder.define(lua, &table, "dir", move |lua, arguments| {
        let path = arguments.text(lua, 1)?;
        let entries = names_in(Path::new(&path))
            .map_err(|error| Failure::Text(format!("cannot open {path}: {}", system_text(&error))))?;
        let iterator = Mutex::new(Some(entries.into_iter()));
        let next = binder_of_iterators.function(lua, move |lua, _| {
            let mut iterator = iterator.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(entries) = iterator.as_mut() else {
                return Err(Failure::Argument(1, "closed directory".to_owned()));
            };
            match entries.next() {
                Some(name) => one_string(lua, name),
                None => {
                    *iterator = None;
                    one(Value::Nil)
                }
            }
        })?;
        one(Value::Function(next))
    })?;
    Ok(table)
}

/// All names, the directory itself and its parent first.
fn names_in(path: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut names = vec![b".".to_vec(), b"..".to_vec()];
    for entry in std::fs::read_dir(path)? {
        names.push(entry?.file_name().into_encoded_bytes());
    }
    Ok(names)
}

/// `attributes(path [, name])`: one attribute or a table of all; links are followed.
fn attributes(lua: &Lua, arguments: &Arguments) -> Outcome {
    let path = arguments.text(lua, 1)?;
    let Ok(metadata) = std::fs::metadata(&path) else {
        return refused(lua, &format!("cannot obtain information from file `{path}'"));
    };
    if let Value::String(name) = arguments.value(2) {
        // For a name that it does not know the original jumps to address 0.
        return match attribute(lua, &metadata, name)? {
            Some(value) => one(value),
            None => nothing(),
        };
    }
    let table = lua.create_table()?;
    for name in ATTRIBUTES {
        table.raw_set(name, attribute(lua, &metadata, &lua.create_string(name)?)?)?;
    }
    one(Value::Table(table))
}

fn attribute(lua: &Lua, metadata: &Metadata, name: &LuaString) -> mlua::Result<Option<Value>> {
    let number = match &*name.as_bytes() {
        b"mode" => return Ok(Some(Value::String(lua.create_string(kind(metadata.file_type()))?))),
        b"dev" => metadata.dev() as i64,
        b"ino" => metadata.ino() as i64,
        b"nlink" => metadata.nlink() as i64,
        b"uid" => i64::from(metadata.uid()),
        b"gid" => i64::from(metadata.gid()),
        b"rdev" => metadata.rdev() as i64,
        b"access" => metadata.atime(),
        b"modification" => metadata.mtime(),
        b"change" => metadata.ctime(),
        b"size" => metadata.size() as i64,
        b"blocks" => metadata.blocks() as i64,
        b"blksize" => metadata.blksize() as i64,
        _ => return Ok(None),
    };
    Ok(Some(Value::Integer(number)))
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => "link",
        kind if kind.is_socket() => "socket",
        kind if kind.is_fifo() => "named pipe",
        kind if kind.is_char_device() => "char device",
        kind if kind.is_block_device() => "block device",
        _ => "other",
    }
}

/// `touch(path [, access [, modification]])`: sets the times in seconds, to now without any; the second is as the first.
fn touch(lua: &Lua, arguments: &Arguments) -> Outcome {
    let path = arguments.text(lua, 1)?;
    let access = match arguments.is_absent(2) {
        true => RealClock.wall().as_secs() as i64,
        false => arguments.integer(lua, 2)?,
    };
    let modification = if arguments.is_absent(3) { access } else { arguments.integer(lua, 3)? };
    let [last_access, last_modification] =
        [access, modification].map(|seconds| Timespec { tv_sec: seconds, tv_nsec: 0 });
    let times = Timestamps { last_access, last_modification };
    finish(lua, rustix::fs::utimensat(rustix::fs::CWD, path, &times, AtFlags::empty()).map_err(Into::into))
}

/// true, or nil and why not.
fn finish(lua: &Lua, done: std::io::Result<()>) -> Outcome {
    match done {
        Ok(()) => one(Value::Boolean(true)),
        Err(error) => refused(lua, &system_text(&error)),
    }
}

/// The system's words for an error, without the number that std adds.
fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

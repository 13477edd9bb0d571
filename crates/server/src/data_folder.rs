//! Whether a folder can be the data folder, before anything is made in it. Main function: [`check`].

use env::name_of;
use env::{Disk, RealDisk};
use rustix::fs::{Access, FileType, Stat, access, stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::path::Path;

/// Files of ours, any of which says that the folder is in use by Iruka or was.
const OURS: [&str; 3] = ["iruka_system.ibd", "redo/", "iruka.lock"];
/// Files that hold what was committed: with one of these it is ours, whatever else lies there.
const DATA: [&str; 2] = ["iruka_system.ibd", "redo/"];
/// What MySQL and MariaDB have in their data folders.
const MYSQL: [&str; 8] = [
    "ibdata1",
    "mysql.ibd",
    "mysql/",
    "ib_logfile0",
    "#innodb_redo/",
    "#ib_16384_0.dblwr",
    "undo_001",
    "aria_log_control",
];
/// What may lie in the folder before the first start: of the file system, keys, options, logs, sockets.
const HARMLESS_NAMES: [&str; 4] = ["lost+found/", "auto.cnf", "mysqld-auto.cnf", "mysqld-auto.cnf.backup"];
const HARMLESS_ENDS: [&str; 7] = [".pem", ".log", ".err", ".pid", ".sock", ".sock.lock", ".cnf"];

/// What is wrong with the folder, where, and what to do; nothing is made or changed.
pub fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match stat(folder) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Directory => {
            return Err(format!("data folder '{shown}' is a file: choose another path with --datadir"));
        }
        Ok(_) => {}
        Err(Errno::NOENT) => return check_parent(folder),
        Err(error) => return Err(cannot_use(folder, error)),
    }
    check_rights(folder, "data folder", Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)?;
    let names = RealDisk::new(folder).list(Path::new("")).map_err(|error| error.to_string())?;
    check_names(folder, &names)?;
    for name in names.iter().filter(|name| OURS.contains(&name.as_str())) {
        check_rights(&folder.join(name.trim_end_matches('/')), "file", Access::READ_OK | Access::WRITE_OK)?;
    }
    Ok(())
}

/// A folder that is to be made: the nearest one above it that exists must allow that.
fn check_parent(folder: &Path) -> Result<(), String> {
    for parent in folder.ancestors().skip(1) {
        match stat(parent) {
            Ok(_) => {
                let what = format!("data folder '{}' cannot be made: folder", folder.display());
                return check_rights(parent, &what, Access::WRITE_OK | Access::EXEC_OK);
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(cannot_use(folder, error)),
        }
    }
    Ok(())
}

fn cannot_use(folder: &Path, error: Errno) -> String {
    let (shown, error) = (folder.display(), std::io::Error::from(error));
    format!("data folder '{shown}' cannot be used: {error}: choose another one with --datadir")
}

/// Whether a path may be used as asked. A file system that is mounted for reading is told where something is written.
fn check_rights(path: &Path, what: &str, asked: Access) -> Result<(), String> {
    match access(path, asked) {
        Err(Errno::ACCESS | Errno::PERM) => {}
        _ => return Ok(()),
    }
    let server = name_of(geteuid().as_raw());
    let owner = stat(path).map_or_else(|_| "another account".to_owned(), |found| owner_of(&found));
    Err(format!(
        "{what} '{}' belongs to {owner}, and the server, which runs as {server}, may not use it: give the folder and all in it to \
         {server} (chown -R), start the server as the owner, or choose another folder with --datadir",
        path.display()
    ))
}

fn owner_of(found: &Stat) -> String {
    format!("{} (mode {:04o})", name_of(found.st_uid), found.st_mode & 0o7777)
}

fn check_names(folder: &Path, names: &[String]) -> Result<(), String> {
    let has = |sought: &[&str]| names.iter().find(|name| sought.contains(&name.as_str()));
    let shown = folder.display();
    if has(&DATA).is_some() {
        return Ok(());
    }
    if let Some(found) = has(&MYSQL) {
        let found = found.trim_end_matches('/');
        return Err(format!(
            "data folder '{shown}' is one of MySQL or MariaDB ('{found}' is there), whose files Iruka does not read: choose another \
             folder with --datadir, and load a dump of the other server (mysqldump --all-databases) into it"
        ));
    }
    if has(&OURS).is_some() {
        return Ok(());
    }
    let is_harmless = |name: &&String| {
        HARMLESS_NAMES.contains(&name.as_str())
            || name.starts_with('.')
            || HARMLESS_ENDS.iter().any(|end| name.ends_with(end))
    };
    match names.iter().find(|name| !is_harmless(name)) {
        None => Ok(()),
        Some(strange) => Err(format!(
            "data folder '{shown}' is not empty and not one of Iruka ('{}' is there): choose an empty folder, or one that does not \
             exist, with --datadir",
            strange.trim_end_matches('/')
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_whose_folder_it_is() {
        let judge = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            check_names(Path::new("/d"), &names)
        };
        for ours in [
            &[][..],
            &["lost+found/", "server-cert.pem", ".snapshot/", "error.log", "mysql.sock"],
            &["iruka.lock"],
            &["iruka_system.ibd", "mysql/", "letter.txt"],
            &["redo/", "mysql.ibd"],
        ] {
            assert_eq!(judge(ours), Ok(()), "{ours:?}");
        }
        for mysql in [&["ibdata1", "auto.cnf"][..], &["aria_log_control"], &["mysql.ibd", "iruka.lock"]] {
            assert!(judge(mysql).is_err_and(|text| text.contains("MySQL or MariaDB")), "{mysql:?}");
        }
        assert!(judge(&["letter.txt"]).is_err_and(|text| text.contains("'letter.txt' is there")));
    }
}

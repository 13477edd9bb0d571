//! Certificates and keys in the data directory, under MySQL's names. Made on the first start.

use crate::config::{Configuration, read_text};
use crate::rsa_key::RsaKey;
use crate::tls;
use env::{Disk, DiskError, DiskErrorKind, OpenMode};
use std::path::Path;
use std::sync::Arc;
use wire::auth::exchange::PasswordKey;

const AUTHORITY: &str = "ca.pem";
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";
const PRIVATE_KEY: &str = "private_key.pem";
const PUBLIC_KEY: &str = "public_key.pem";

/// What is told of files that cannot be written: the server goes on with what it has in memory, and the next start makes others.
type Tell<'a> = &'a dyn Fn(&str);

/// The TLS configuration: from the files that the options name, else from the data directory.
pub fn tls_configuration(
    disk: &dyn Disk,
    configuration: &Configuration,
    tell: Tell<'_>,
) -> Result<Option<Arc<rustls::ServerConfig>>, String> {
    if !configuration.tls {
        return Ok(None);
    }
    let (certificate, key, advice) = match &configuration.tls_files {
        Some((certificate, key)) => {
            (certificate.as_path(), key.as_path(), "correct --ssl-cert and --ssl-key")
        }
        None => {
            if !has_text(disk, CERTIFICATE) || is_empty(disk, KEY) {
                let made = tls::generate().map_err(|error| error.to_string())?;
                let files = [
                    (AUTHORITY, &made.authority, OpenMode::CreateIfMissing),
                    (KEY, &made.key, OpenMode::CreatePrivate),
                    // Last: with it, all are there.
                    (CERTIFICATE, &made.certificate, OpenMode::CreateIfMissing),
                ];
                write_all(disk, files, tell);
                return tls::server_config(&made.certificate, &made.key).map(Some);
            }
            (Path::new(CERTIFICATE), Path::new(KEY), "remove both, and the next start makes others")
        }
    };
    let read = |what: &str, path: &Path| {
        read_text(disk, path).map_err(|error| format!("The {what} cannot be used: {}: {advice}", error.0))
    };
    let texts = (read("TLS certificate", certificate)?, read("TLS key", key)?);
    let config = tls::server_config(&texts.0, &texts.1).map_err(|reason| {
        let (certificate, key) = (certificate.display(), key.display());
        format!("TLS cannot be offered with certificate '{certificate}' and key '{key}': {reason}: {advice}")
    });
    config.map(Some)
}

/// The RSA key pair for passwords without TLS.
pub fn password_key(disk: &dyn Disk, tell: Tell<'_>) -> Result<RsaKey, String> {
    if has_text(disk, PRIVATE_KEY) {
        let pem = read_text(disk, Path::new(PRIVATE_KEY)).map_err(|error| error.0)?;
        return RsaKey::from_pem(&pem).map_err(|error| format!("{PRIVATE_KEY}: {}", error.0));
    }
    let (key, pem) = RsaKey::generate().map_err(|error| error.0)?;
    let public = String::from_utf8_lossy(key.public_key_pem()).into_owned();
    let files =
        [(PUBLIC_KEY, &public, OpenMode::CreateIfMissing), (PRIVATE_KEY, &pem, OpenMode::CreatePrivate)];
    write_all(disk, files, tell);
    Ok(key)
}

/// Whether a file is there that is not empty. One that cannot be read counts: it is not made anew.
fn has_text(disk: &dyn Disk, name: &str) -> bool {
    match disk.open(Path::new(name), OpenMode::ReadOnly) {
        Ok(file) => !file.is_empty().unwrap_or_default(),
        Err(error) => error.kind != DiskErrorKind::NotFound,
    }
}

/// Whether a file is there with nothing in it, as a full disk may have left it.
fn is_empty(disk: &dyn Disk, name: &str) -> bool {
    let file = disk.open(Path::new(name), OpenMode::ReadOnly);
    file.is_ok_and(|file| file.is_empty().unwrap_or_default())
}

fn write_all<const COUNT: usize>(disk: &dyn Disk, files: [(&str, &String, OpenMode); COUNT], tell: Tell<'_>) {
    for (name, text, mode) in files {
        if let Err(error) = write(disk, name, text, mode) {
            tell(&format!("{name} cannot be written: {error}. The next start makes another one"));
            return;
        }
    }
}

/// A file gets its name when it is whole.
fn write(disk: &dyn Disk, name: &str, text: &str, mode: OpenMode) -> Result<(), DiskError> {
    let temporary = format!("{name}.new");
    let written = || {
        let file = disk.open(Path::new(&temporary), mode)?;
        file.set_len(0)?;
        file.write_at(text.as_bytes(), 0)?;
        file.sync_all()?;
        disk.rename(Path::new(&temporary), Path::new(name))?;
        disk.sync_directory(Path::new(""))
    };
    written().inspect_err(|_| {
        let _ = disk.remove(Path::new(&temporary));
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use env::simulated::SimulatedDisk;

    #[test]
    fn keys_are_written_whole_or_kept_in_memory() {
        let disk = SimulatedDisk::new(1);
        let told = std::cell::RefCell::new(Vec::new());
        let tell = |text: &str| told.borrow_mut().push(text.to_owned());
        disk.set_capacity_bytes(Some(100));
        password_key(&disk, &tell).unwrap();
        assert_eq!(told.borrow().len(), 1, "{told:?}");
        assert_eq!(disk.list(Path::new("")).unwrap(), Vec::<String>::new());
        // What an earlier version left there.
        disk.open(Path::new(PRIVATE_KEY), OpenMode::CreateNew).unwrap();
        disk.set_capacity_bytes(None);
        let made = password_key(&disk, &tell).unwrap();
        let read = password_key(&disk, &tell).unwrap();
        assert_eq!(made.public_key_pem(), read.public_key_pem());
        assert_eq!(told.borrow().len(), 1);
        disk.corrupt(Path::new(PRIVATE_KEY), 0, b"no key");
        assert!(password_key(&disk, &tell).is_err(), "what somebody put there is not replaced");
    }
}

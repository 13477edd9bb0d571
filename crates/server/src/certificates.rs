//! Certificates and keys in the data directory, under MySQL's names. Made on the first start.

use crate::config::{Configuration, read_text};
use crate::rsa_key::RsaKey;
use crate::tls;
use env::{Disk, DiskError, OpenMode};
use std::path::Path;
use std::sync::Arc;
use wire::auth::exchange::PasswordKey;

const AUTHORITY: &str = "ca.pem";
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";
const PRIVATE_KEY: &str = "private_key.pem";
const PUBLIC_KEY: &str = "public_key.pem";

/// The TLS configuration: from the files that the options name, else from the data directory.
pub fn tls_configuration(
    disk: &dyn Disk,
    configuration: &Configuration,
) -> Result<Option<Arc<rustls::ServerConfig>>, String> {
    if !configuration.tls {
        return Ok(None);
    }
    let (certificate, key) = match &configuration.tls_files {
        Some((certificate, key)) => (certificate.as_path(), key.as_path()),
        None => {
            if disk.open(Path::new(CERTIFICATE), OpenMode::Existing).is_err() {
                make_certificates(disk)?;
            }
            (Path::new(CERTIFICATE), Path::new(KEY))
        }
    };
    let read = |path| read_text(disk, path).map_err(|error| error.0);
    tls::server_config(&read(certificate)?, &read(key)?).map(Some)
}

fn make_certificates(disk: &dyn Disk) -> Result<(), String> {
    let made = tls::generate().map_err(|error| error.to_string())?;
    let files = [(AUTHORITY, &made.authority), (KEY, &made.key), (CERTIFICATE, &made.certificate)];
    for (name, text) in files {
        let mode = if name == KEY { OpenMode::CreatePrivate } else { OpenMode::CreateIfMissing };
        write(disk, name, text, mode).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The RSA key pair for passwords without TLS.
pub fn password_key(disk: &dyn Disk) -> Result<RsaKey, String> {
    if disk.open(Path::new(PRIVATE_KEY), OpenMode::Existing).is_ok() {
        let pem = read_text(disk, Path::new(PRIVATE_KEY)).map_err(|error| error.0)?;
        return RsaKey::from_pem(&pem).map_err(|error| format!("{PRIVATE_KEY}: {}", error.0));
    }
    let (key, pem) = RsaKey::generate().map_err(|error| error.0)?;
    let public = String::from_utf8_lossy(key.public_key_pem());
    write(disk, PUBLIC_KEY, &public, OpenMode::CreateIfMissing).map_err(|error| error.to_string())?;
    write(disk, PRIVATE_KEY, &pem, OpenMode::CreatePrivate).map_err(|error| error.to_string())?;
    Ok(key)
}

fn write(disk: &dyn Disk, name: &str, text: &str, mode: OpenMode) -> Result<(), DiskError> {
    let file = disk.open(Path::new(name), mode)?;
    file.set_len(0)?;
    file.write_at(text.as_bytes(), 0)?;
    file.sync_all()?;
    disk.sync_directory(Path::new(""))
}

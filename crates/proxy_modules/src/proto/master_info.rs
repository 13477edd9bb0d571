//! The file `master.info` of a replica before MySQL 8: one value a line, the first being the count of lines.

use wire::reader::{Malformed, Reader};

use super::{Decoded, Fields};
use crate::function::Failure;

/// The lines behind the count, in their order: name, and whether it is a number.
const LINES: [(&str, bool); 13] = [
    ("master_log_file", false),
    ("master_log_pos", true),
    ("master_host", false),
    ("master_user", false),
    ("master_password", false),
    ("master_port", true),
    ("master_connect_retry", true),
    ("master_ssl", true),
    ("master_ssl_ca", false),
    ("master_ssl_capath", false),
    ("master_ssl_cert", false),
    ("master_ssl_cipher", false),
    ("master_ssl_key", false),
];
/// The line that files with at least [`VERIFYING_LINES`] lines have besides.
const VERIFY: &str = "master_ssl_verify_server_cert";
const VERIFYING_LINES: u32 = 15;

pub(super) fn encode(fields: &Fields<'_>) -> Result<Vec<u8>, Failure> {
    let count = fields.integer("master_lines", 0)? as u32;
    let mut out = format!("{count}\n").into_bytes();
    for (name, is_number) in LINES {
        if is_number {
            out.extend((fields.integer(name, 0)? as u32).to_string().bytes());
        } else {
            out.extend(fields.bytes(name)?.unwrap_or_default());
        }
        out.push(b'\n');
    }
    if count >= VERIFYING_LINES {
        out.extend(format!("{}\n", fields.integer(VERIFY, 0)? as u32).bytes());
    }
    Ok(out)
}

pub(super) fn decode(text: &mut Reader<'_>, fields: &Fields<'_>) -> Decoded {
    let mut lines = Lines { rest: text.take_rest() };
    let count = lines.number()?;
    fields.set("master_lines", count)?;
    for (name, is_number) in LINES {
        if is_number {
            fields.set(name, lines.number()?)?;
        } else {
            fields.set_filled(name, lines.next()?)?;
        }
    }
    if count >= VERIFYING_LINES {
        fields.set(VERIFY, lines.number()?)?;
    }
    Ok(())
}

/// Takes lines off the front; each has to end with a line feed.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a [u8], Malformed> {
        let end = self.rest.iter().position(|byte| *byte == b'\n').ok_or(Malformed)?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(line)
    }

    fn number(&mut self) -> Result<u32, Malformed> {
        std::str::from_utf8(self.next()?).ok().and_then(|line| line.parse().ok()).ok_or(Malformed)
    }
}

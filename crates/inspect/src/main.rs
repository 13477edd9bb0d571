//! `cargo xtask inspect page FILE NUMBER [clustered]` and `cargo xtask inspect log DATADIR [--from LSN] [--groups N]`: what stands on disk, by
//! the byte tables of docs/formats.md. Reads only, and takes no lock: of a directory in use it may see
//! the end of the log half written, and call that damage.
#![forbid(unsafe_code)]

mod log;
mod page_text;

use std::process::ExitCode;

const USAGE: &str =
    "usage: inspect page FILE NUMBER [clustered] | inspect log DATADIR [--from LSN] [--groups N]";
/// Bytes of a key or value that are shown.
const SHOWN_BYTES: usize = 24;

/// The first bytes as hexadecimal digits, and how many there are.
fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHOWN_BYTES { format!("{digits}.. ({} bytes)", bytes.len()) } else { digits }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        ["page", file, number] => page_text::print(file, number.parse().map_err(|_| USAGE)?, false),
        ["page", file, number, "clustered"] => {
            page_text::print(file, number.parse().map_err(|_| USAGE)?, true)
        }
        ["log", directory, options @ ..] => log::print(directory, options),
        _ => Err(USAGE.to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

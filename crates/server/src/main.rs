//! The program `iruka`: `iruka serve` runs a server, everything else is help.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

const USAGE: &str =
    "usage: iruka serve [--datadir DIR] [--port PORT] [--socket PATH] [--bind-address ADDRESS]
                   [--defaults-file FILE] [--VARIABLE=VALUE ...]
       iruka --version";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, rest)) if command == "serve" => match server::serve(rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // The disk of the log may be full, and the error is told by the exit code too.
                let _ = writeln!(std::io::stderr(), "iruka: {}", error.0);
                ExitCode::FAILURE
            }
        },
        Some((command, _)) if matches!(command.as_str(), "--version" | "-V" | "version") => {
            println!("iruka {} for Linux on {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
            ExitCode::SUCCESS
        }
        Some((command, _)) if matches!(command.as_str(), "--help" | "-h" | "help") => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

//! The program `iruka`: `iruka serve` runs a server, everything else is help.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

const USAGE: &str =
    "usage: iruka serve [--datadir DIR] [--port PORT] [--socket PATH] [--bind-address ADDRESS]
                   [--defaults-file FILE | --no-defaults] [--VARIABLE=VALUE ...]
       iruka serve --initialize-insecure [--datadir DIR]
       iruka proxy [OPTION ...]
       iruka --version | --help

All system variables are options: --max-connections=500 is max_connections, see SHOW VARIABLES.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        // As with mysqld, nothing starts where help is asked for, whatever else is said. `-h` is a folder there.
        Some((command, rest)) if command == "serve" && asks(rest, &["--help", "-?"]) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Some((command, rest)) if command == "serve" && asks(rest, &["--version", "-V"]) => {
            print_version();
            ExitCode::SUCCESS
        }
        Some((command, rest)) if command == "serve" => match server::serve(rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // The disk of the log may be full, and the error is told by the exit code too.
                let _ = writeln!(std::io::stderr(), "iruka: {}", error.0);
                ExitCode::FAILURE
            }
        },
        Some((command, rest)) if command == "proxy" => match proxy::run(rest) {
            Ok(code) => ExitCode::from(code),
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "iruka proxy: {why}");
                ExitCode::FAILURE
            }
        },
        Some((command, _)) if matches!(command.as_str(), "--version" | "-V" | "version") => {
            print_version();
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

fn asks(arguments: &[String], names: &[&str]) -> bool {
    arguments.iter().any(|argument| names.contains(&argument.as_str()))
}

fn print_version() {
    println!("iruka {} for Linux on {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
}

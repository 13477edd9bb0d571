//! The program `iruka`: a table of commands, of which `serve` runs a server.
#![forbid(unsafe_code)]

use command_line::{Command, Program};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

/// All commands, besides those that every program has (help, version, man, completion).
const COMMANDS: &[Command] = &[
    Command { name: "serve", page: server::page, run: server::run },
    Command { name: "proxy", page: proxy::page, run: proxy::run },
];

fn main() -> ExitCode {
    let program = Program {
        name: "iruka",
        title: "Iruka",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a MySQL-compatible database server",
        usage: &["iruka COMMAND [OPTION ...]"],
        about: &["'iruka serve' makes the folder ./data at its first start and listens on 127.0.0.1:3306."],
        commands: COMMANDS,
    };
    program.run(&std::env::args().skip(1).collect::<Vec<String>>())
}

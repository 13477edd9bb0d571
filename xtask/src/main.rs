//! Development tasks, run as `cargo xtask NAME`: `generate` writes the generated sources.

mod generate;

fn main() -> std::process::ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let result = match task.as_str() {
        "generate" => generate::run(),
        _ => Err("usage: cargo xtask generate".to_owned()),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            std::process::ExitCode::FAILURE
        }
    }
}

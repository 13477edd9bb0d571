//! The clients that people have, if they are installed: logins over TLS, RSA, the cache, and compression.

use super::TestServer;
use super::fake::FakeInstance;
use std::process::Command;

/// Runs a client; None if it is not installed.
fn run(program: &str, arguments: &[&str], port: u16) -> Option<String> {
    let port = format!("-P{port}");
    let output = Command::new(program)
        .args(["--no-defaults", "-h127.0.0.1", &port, "-N", "-B"])
        .args(arguments)
        .env("MYSQL_PWD", "pw")
        .output()
        .ok()?;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {error}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_client_of_this_machine() {
    let server = TestServer::start(FakeInstance::default());
    for arguments in [
        &["-uold", "-e", "USER"][..],
        &["-usha", "--ssl", "-e", "USER"],
        &["-usha", "-e", "USER"],
        &["-uold", "--compress", "-e", "USER"],
    ] {
        let Some(answer) = run("mariadb", arguments, server.port) else { return };
        assert!(answer.trim_end().ends_with("@localhost"), "{answer}");
    }
}

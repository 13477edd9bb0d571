//! Runs the scripts of `tests/proxy/modules` and compares what they print and log with what they did in MySQL Proxy 0.8.5, as
//! `record.sh` there wrote it down. With a file in PROXY_MODULES_SCRIPT, that one is run and its output shown instead.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use mlua::{Lua, MultiValue};
use proxy_modules::{Host, Level, install};

/// What the modules use of the table `proxy`, which is the host's.
const CONSTANTS: [(&str, i64); 11] = [
    ("PROXY_SEND_QUERY", 1),
    ("PROXY_SEND_RESULT", 2),
    ("MYSQLD_PACKET_OK", 0),
    ("MYSQLD_PACKET_ERR", 255),
    ("MYSQL_TYPE_LONG", 3),
    ("MYSQL_TYPE_STRING", 254),
    ("COM_QUERY", 3),
    ("BACKEND_STATE_UP", 1),
    ("BACKEND_STATE_DOWN", 2),
    ("BACKEND_TYPE_RW", 1),
    ("BACKEND_TYPE_RO", 2),
];

/// Keeps what a script prints, logs and asks for.
#[derive(Default)]
struct Recorder {
    output: Mutex<String>,
}

impl Recorder {
    fn line(&self, line: &str) {
        let mut output = self.output.lock().unwrap();
        output.push_str(line);
        output.push('\n');
    }
}

impl Host for Recorder {
    fn log(&self, level: Level, text: &str) {
        // What the modules themselves complain of has other words in the original.
        if text.starts_with("(/") {
            self.line(&format!("({}) {text}", level.name()));
        }
    }

    fn shutdown(&self) {
        self.line("shutdown");
    }
}

/// What a script writes. A script of the proxy is named by its path alone, without the mark of a file.
fn run(path: &str, text: &str) -> String {
    let lua = Lua::new();
    let recorder = Arc::new(Recorder::default());
    let printer = Arc::clone(&recorder);
    let print = lua
        .create_function(move |lua, values: MultiValue| {
            let mut cells = Vec::new();
            for value in values {
                cells.push(
                    lua.globals()
                        .get::<mlua::Function>("tostring")?
                        .call::<mlua::LuaString>(value)?
                        .to_string_lossy(),
                );
            }
            printer.line(&cells.join("\t"));
            Ok(())
        })
        .unwrap();
    lua.globals().set("print", print).unwrap();
    let proxy = lua.create_table().unwrap();
    for (name, value) in CONSTANTS {
        proxy.set(name, value).unwrap();
    }
    lua.globals().set("proxy", proxy).unwrap();
    let host: Arc<dyn Host> = recorder.clone();
    install(&lua, host).unwrap();
    if let Err(error) = lua.load(text).set_name(path).exec() {
        recorder.line(&format!("error: {error}"));
    }
    recorder.output.lock().unwrap().clone()
}

#[test]
fn scripts_write_what_they_do_in_the_original() {
    if let Some(script) = std::env::var_os("PROXY_MODULES_SCRIPT") {
        let text = std::fs::read_to_string(&script).unwrap();
        print!("{}", run(script.to_str().unwrap(), &text));
        return;
    }
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/proxy/modules").canonicalize().unwrap();
    let mut scripts: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
    scripts.sort();
    assert!(!scripts.is_empty());
    let prelude = std::fs::read_to_string(folder.join("prelude.lua_part")).unwrap();
    for script in scripts {
        let expected = std::fs::read_to_string(script.with_extension("out")).unwrap();
        let text = prelude.clone() + &std::fs::read_to_string(&script).unwrap();
        let got = run(&format!("/cases/{}", script.file_name().unwrap().to_str().unwrap()), &text);
        for (number, (expected, got)) in expected.lines().zip(got.lines()).enumerate() {
            assert_eq!(expected, got, "line {} of {}", number + 1, script.with_extension("out").display());
        }
        assert_eq!(expected.lines().count(), got.lines().count(), "lines of {}", script.display());
    }
}

#[test]
fn differences_are_as_they_say() {
    let output = run("/cases/differences.lua", include_str!("differences.lua"));
    assert!(output.ends_with("done\n") || output.ends_with(" done\n"), "{output}");
    assert!(output.contains("(error) (/cases/differences.lua:"), "{output}");
}

#[test]
fn a_module_wins_over_a_file() {
    let folder = std::env::temp_dir().join(format!("proxy_modules_{}", std::process::id()));
    std::fs::create_dir_all(folder.join("proxy")).unwrap();
    std::fs::write(folder.join("proxy/commands.lua"), "return 'of the path'").unwrap();
    std::fs::write(folder.join("own.lua"), "return 'of the path'").unwrap();
    let script = format!(
        "package.path = '{}/?.lua' print(type(require('proxy.commands')), require('own'))",
        folder.display()
    );
    assert_eq!(run("/cases/path.lua", &script), "table\tof the path\n");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn shutdown_reaches_the_host() {
    assert_eq!(run("/cases/end.lua", "require('chassis').set_shutdown()"), "shutdown\n");
}

#[test]
fn random_bytes_raise_strings_only() {
    let output = run("/cases/random.lua", include_str!("random.lua"));
    assert!(output.starts_with("(critical) (/cases/random.lua:"), "{output}");
}

//! MySQL Proxy's command line and option file. Main type: [`Options`].

use crate::log::LEVELS;
use crate::option_file;
use crate::shared::Settings;
use command_line::{CommandOption, Entry, OptionGroup, OptionValue, Page, Section};
use proxy_script::{INSTRUCTIONS_MAX_DEFAULT, Level, MEMORY_BYTES_MAX_DEFAULT};
use std::path::PathBuf;
use std::time::Duration;

/// What the program is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub proxy_address: String,
    pub backends: Vec<String>,
    pub read_only_backends: Vec<String>,
    pub script: Option<PathBuf>,
    pub runs_proxy: bool,
    pub settings: Settings,
    pub admin: Option<AdminOptions>,
    pub base_directory: Option<PathBuf>,
    pub log_level: Level,
    pub log_file: Option<PathBuf>,
    pub daemon: bool,
    pub keepalive: bool,
    pub pid_file: Option<PathBuf>,
    pub user: Option<String>,
    pub max_open_files: Option<u64>,
    pub event_threads: usize,
    pub lua_path: Option<String>,
    pub lua_cpath: Option<String>,
    pub script_instructions_max: u64,
    pub script_memory_bytes_max: usize,
}

/// The admin plug-in's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AdminOptions {
    pub address: String,
    pub user: String,
    pub password: String,
    pub script: PathBuf,
}

/// An option.
struct Known {
    name: &'static str,
    short: Option<char>,
    value: OptionValue,
    /// It may be given again for a further value.
    repeats: bool,
    default: &'static str,
    help: &'static str,
}

const fn option(
    name: &'static str,
    short: Option<char>,
    value: OptionValue,
    default: &'static str,
    help: &'static str,
) -> Known {
    Known { name, short, value, repeats: false, default, help }
}

const fn list(
    name: &'static str,
    short: Option<char>,
    value: OptionValue,
    default: &'static str,
    help: &'static str,
) -> Known {
    Known { name, short, value, repeats: true, default, help }
}

const LEVEL_NAMES: &[&str] = &["error", "critical", "warning", "message", "info", "debug"];

const KNOWN: &[Known] = &[
    option(
        "proxy-address",
        Some('P'),
        OptionValue::Text("ADDRESS"),
        ":4040",
        "Where clients connect: HOST:PORT, :PORT or a socket's path.",
    ),
    list(
        "proxy-backend-addresses",
        Some('b'),
        OptionValue::Text("ADDRESS"),
        "127.0.0.1:3306",
        "A server; give it again for more.",
    ),
    list(
        "proxy-read-only-backend-addresses",
        Some('r'),
        OptionValue::Text("ADDRESS"),
        "",
        "A server that only scripts choose.",
    ),
    option("proxy-lua-script", Some('s'), OptionValue::File, "", "The script."),
    option("proxy-skip-profiling", None, OptionValue::None, "", "Taken for its old meaning, does nothing."),
    option("proxy-fix-bug-25371", None, OptionValue::None, "", "Taken for its old meaning, does nothing."),
    option(
        "proxy-pool-no-change-user",
        None,
        OptionValue::None,
        "",
        "Hand pooled connections over without COM_CHANGE_USER.",
    ),
    option("no-proxy", None, OptionValue::None, "", "Do not start the proxy plug-in."),
    option(
        "proxy-connect-timeout",
        None,
        OptionValue::Text("SECONDS"),
        "2.0",
        "Seconds for connecting to a server.",
    ),
    option(
        "proxy-read-timeout",
        None,
        OptionValue::Text("SECONDS"),
        "28800",
        "Seconds until an idle session is closed.",
    ),
    option(
        "proxy-write-timeout",
        None,
        OptionValue::Text("SECONDS"),
        "28800",
        "Seconds for a client to take what is sent to it.",
    ),
    option("admin-address", None, OptionValue::Text("ADDRESS"), ":4041", "Where administrators connect."),
    option("admin-username", None, OptionValue::Text("NAME"), "", "The administrator's name."),
    option("admin-password", None, OptionValue::Text("PASSWORD"), "", "The administrator's password."),
    option("admin-lua-script", None, OptionValue::File, "", "The script that answers administrators."),
    option("defaults-file", None, OptionValue::File, "", "A file with options in the group [mysql-proxy]."),
    list(
        "plugins",
        None,
        OptionValue::OneOf(&["proxy", "admin"]),
        "proxy",
        "Proxy, admin; give it again for both.",
    ),
    option("plugin-dir", None, OptionValue::Folder, "", "Taken for its old meaning, does nothing."),
    option("basedir", None, OptionValue::Folder, "", "Relative names of files start here; absolute itself."),
    option(
        "log-level",
        None,
        OptionValue::OneOf(LEVEL_NAMES),
        "critical",
        "Error, critical, warning, message, info or debug.",
    ),
    option("log-file", None, OptionValue::File, "", "The log; standard error if not given."),
    option("log-backtrace-on-crash", None, OptionValue::None, "", "Taken for its old meaning, does nothing."),
    option("verbose-shutdown", None, OptionValue::None, "", "Taken for its old meaning, does nothing."),
    option("daemon", None, OptionValue::None, "", "Run in the background."),
    option("keepalive", None, OptionValue::None, "", "Start again after a crash."),
    option("pid-file", None, OptionValue::File, "", "Where the process number is written."),
    option("user", None, OptionValue::Text("NAME"), "", "Become this user after the start."),
    option("max-open-files", None, OptionValue::Text("N"), "", "File descriptors that may be open."),
    option("event-threads", None, OptionValue::Text("N"), "1", "Threads that serve clients."),
    option("lua-path", None, OptionValue::Text("PATTERNS"), "", "Package.path of scripts."),
    option(
        "lua-cpath",
        None,
        OptionValue::Text("PATTERNS"),
        "",
        "Package.cpath of scripts; modules in C are not loaded.",
    ),
    option(
        "lua-instructions-max",
        None,
        OptionValue::Text("N"),
        "100000000",
        "A hook that needs more is stopped.",
    ),
    option(
        "lua-memory-max",
        None,
        OptionValue::Text("BYTES"),
        "1073741824",
        "Bytes that all scripts together may hold.",
    ),
    option("help", Some('?'), OptionValue::None, "", "Show this."),
    option("help-all", None, OptionValue::None, "", "Show this."),
    option("help-proxy", None, OptionValue::None, "", "Show this."),
    option("version", Some('V'), OptionValue::None, "", "Show the version."),
];

/// What `iruka proxy --help` and the man page say.
pub fn page() -> Page {
    let options = KNOWN.iter().map(|known| CommandOption {
        name: known.name.to_owned(),
        letter: known.short,
        value: known.value,
        text: known.help.to_owned(),
        default: (!known.default.is_empty()).then(|| known.default.to_owned()),
        range: None,
    });
    let codes = [("0", "It was told to end."), ("1", "It cannot start: the last line says why.")];
    Page {
        name: "iruka proxy",
        manual: 8,
        summary: "stands between MySQL's clients and servers, with the scripts of MySQL Proxy",
        usage: &[
            "iruka proxy [--proxy-address=ADDRESS] [--proxy-backend-addresses=ADDRESS ...]",
            "    [--proxy-lua-script=FILE] [--NAME=VALUE ...]",
        ],
        about: &[
            "Addresses are HOST:PORT, :PORT for all of this machine, [IPV6]:PORT, HOST, or a socket's path.",
        ],
        groups: vec![OptionGroup { title: "Options", options: options.collect() }],
        sections: vec![Section {
            title: "Exit codes",
            entries: codes.map(|(code, text)| Entry::new(code, text)).to_vec(),
        }],
    }
}

/// Options by name with their values in the order in which they were given.
type Given = Vec<(&'static str, String)>;

/// Whether help is asked for by a name that only MySQL Proxy has; the program itself answers to the others.
pub(crate) fn asks_for_help(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| ["--help-all", "--help-proxy"].contains(&argument.as_str()))
}

/// Reads the command line, and the option file that it names. The command line wins.
pub(crate) fn parse(arguments: &[String]) -> Result<Options, String> {
    let given = command_line(arguments)?;
    let mut all = Given::new();
    if let Some(file) = last(&given, "defaults-file") {
        for (key, value) in option_file::read(file)? {
            // Unknown keys are other programs'.
            let Some(known) = KNOWN.iter().find(|known| known.name == key) else { continue };
            if has(&given, known.name) {
                continue;
            }
            match known.value {
                _ if known.repeats => {
                    all.extend(value.split(',').map(|part| (known.name, part.trim().to_owned())))
                }
                OptionValue::None if matches!(value.as_str(), "0" | "false") => {}
                _ => all.push((known.name, value)),
            }
        }
    }
    all.extend(given);
    options(&all)
}

fn command_line(arguments: &[String]) -> Result<Given, String> {
    let mut given = Given::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        let known = KNOWN.iter().find(|known| {
            name.strip_prefix("--") == Some(known.name)
                || known.short.is_some_and(|short| name == format!("-{short}"))
        });
        let Some(known) = known else { return Err(format!("unknown option: {argument}")) };
        let value = match (known.value, value) {
            (OptionValue::None, _) => String::new(),
            (_, Some(value)) => value,
            (_, None) => rest.next().cloned().ok_or_else(|| format!("Missing argument for {name}"))?,
        };
        let is_address = known.repeats && known.name != "plugins";
        if is_address && value.contains(',') {
            return Err(format!(
                "--{}: give the option again for a further address, not a comma",
                known.name
            ));
        }
        given.push((known.name, value));
    }
    Ok(given)
}

fn has(given: &Given, name: &str) -> bool {
    given.iter().any(|(known, _)| *known == name)
}

fn last<'a>(given: &'a Given, name: &str) -> Option<&'a str> {
    given.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

fn all(given: &Given, name: &str) -> Vec<String> {
    given.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.clone()).collect()
}

fn options(given: &Given) -> Result<Options, String> {
    let text = |name: &str| last(given, name).map(str::to_owned);
    let or_default = |name: &str| {
        let default = KNOWN.iter().find(|known| known.name == name).map_or("", |known| known.default);
        text(name).unwrap_or_else(|| default.to_owned())
    };
    let base_directory = text("basedir").map(PathBuf::from);
    if let Some(directory) = &base_directory
        && !directory.is_absolute()
    {
        return Err(format!("--basedir option must be an absolute path, but was {}", directory.display()));
    }
    let path = |name: &str| {
        text(name)
            .map(|file| base_directory.as_ref().map_or_else(|| PathBuf::from(&file), |base| base.join(&file)))
    };
    let mut backends = all(given, "proxy-backend-addresses");
    if backends.is_empty() {
        backends.push(or_default("proxy-backend-addresses"));
    }
    let level = or_default("log-level");
    let Some((_, log_level)) = LEVELS.iter().find(|(name, _)| *name == level) else {
        return Err(format!("--log-level=... failed, level '{level}' is unknown"));
    };
    let event_threads: usize = number(given, "event-threads")?.unwrap_or(1);
    if event_threads < 1 {
        return Err("--event-threads has to be >= 1".to_owned());
    }
    let plugins = all(given, "plugins");
    let runs = |name: &str| plugins.iter().any(|plugin| plugin == name);
    if let Some(unknown) = plugins.iter().find(|name| !["proxy", "admin"].contains(&name.as_str())) {
        return Err(format!("plugin '{unknown}' is not there: proxy and admin are"));
    }
    Ok(Options {
        proxy_address: or_default("proxy-address"),
        backends,
        read_only_backends: all(given, "proxy-read-only-backend-addresses"),
        script: path("proxy-lua-script"),
        runs_proxy: (plugins.is_empty() || runs("proxy")) && !has(given, "no-proxy"),
        settings: Settings {
            connect_timeout: seconds(given, "proxy-connect-timeout", 2.0)?,
            read_timeout: seconds(given, "proxy-read-timeout", 28_800.0)?,
            write_timeout: seconds(given, "proxy-write-timeout", 28_800.0)?,
            pool_no_change_user: has(given, "proxy-pool-no-change-user"),
        },
        admin: if runs("admin") { Some(admin(&or_default, &path)?) } else { None },
        log_level: *log_level,
        log_file: path("log-file"),
        daemon: has(given, "daemon"),
        keepalive: has(given, "keepalive"),
        pid_file: path("pid-file"),
        user: text("user"),
        max_open_files: number(given, "max-open-files")?,
        event_threads,
        lua_path: text("lua-path").or_else(|| std::env::var("LUA_PATH").ok()),
        lua_cpath: text("lua-cpath").or_else(|| std::env::var("LUA_CPATH").ok()),
        script_instructions_max: number(given, "lua-instructions-max")?.unwrap_or(INSTRUCTIONS_MAX_DEFAULT),
        script_memory_bytes_max: number(given, "lua-memory-max")?.unwrap_or(MEMORY_BYTES_MAX_DEFAULT),
        base_directory,
    })
}

fn admin(
    or_default: &impl Fn(&str) -> String,
    path: &impl Fn(&str) -> Option<PathBuf>,
) -> Result<AdminOptions, String> {
    let needed = |name: &str| match or_default(name) {
        value if value.is_empty() => Err(format!("--{name} needs to be set")),
        value => Ok(value),
    };
    Ok(AdminOptions {
        address: or_default("admin-address"),
        user: needed("admin-username")?,
        password: needed("admin-password")?,
        script: path("admin-lua-script").ok_or("--admin-lua-script needs to be set")?,
    })
}

fn number<N: std::str::FromStr>(given: &Given, name: &str) -> Result<Option<N>, String> {
    let Some(text) = last(given, name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("Cannot parse integer value '{text}' for --{name}"))
}

/// Seconds, perhaps with a fraction; negative ones mean the default.
fn seconds(given: &Given, name: &str, default: f64) -> Result<Duration, String> {
    let value: f64 = match last(given, name) {
        None => default,
        Some(text) => text.parse().map_err(|_| format!("Cannot parse double value '{text}' for --{name}"))?,
    };
    let value = if value < 0.0 { default } else { value };
    Duration::try_from_secs_f64(value).map_err(|_| format!("--{name}={value} is out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str]) -> Result<Options, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        parse(&arguments)
    }

    #[test]
    fn defaults_are_those_of_mysql_proxy() {
        let options = run(&[]).unwrap();
        assert_eq!(options.proxy_address, ":4040");
        assert_eq!(options.backends, ["127.0.0.1:3306"]);
        assert_eq!(options.settings.connect_timeout, Duration::from_secs(2));
        assert!(options.runs_proxy && options.admin.is_none());
    }

    #[test]
    fn values_follow_in_both_forms_and_lists_repeat() {
        let options =
            run(&["-b", "a:1", "--proxy-backend-addresses=b:2", "-r", "c:3", "--proxy-connect-timeout=0.5"])
                .unwrap();
        assert_eq!(options.backends, ["a:1", "b:2"]);
        assert_eq!(options.read_only_backends, ["c:3"]);
        assert_eq!(options.settings.connect_timeout, Duration::from_millis(500));
    }

    #[test]
    fn mistakes_are_told() {
        for (arguments, why) in [
            (&["foo"][..], "unknown option: foo"),
            (&["-b", "a:1,b:2"], "not a comma"),
            (&["--event-threads=0"], ">= 1"),
            (&["--event-threads=x"], "Cannot parse integer"),
            (&["--basedir=relative"], "absolute"),
            (&["--log-level=loud"], "unknown"),
            (&["--plugins=admin"], "--admin-username needs to be set"),
            (&["-s"], "Missing argument"),
        ] {
            let error = run(arguments).unwrap_err();
            assert!(error.contains(why), "{arguments:?}: {error}");
        }
    }
}

//! What the server is told: the command line and option files. Main type: [`Configuration`].
//! The server uses a few options itself; all system variables are checked and kept by `session`.

mod option_file;
mod start_options;

pub use start_options::{LETTERS, START_OPTIONS};

use crate::start_error::{place, unknown};
use env::{Disk, RealDisk, SystemAccount};
use proxy_script::ScriptOptions;
use session::{OptionSetting, OptionSource};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use variables::VariableId;

/// Option files that are read when the command line names none. MySQL's own ones are left alone: they may name the
/// data directory of another server.
const DEFAULT_FILES: [&str; 2] = ["/etc/iruka.cnf", "/etc/iruka/iruka.cnf"];
const DEFAULT_PORT: u16 = 3306;
const DEFAULT_BACKLOG: i32 = 4096;
const DEFAULT_VERBOSITY: u64 = 2;

/// A wrong option; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption(pub String);

/// Everything the server was told.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Options in the order in which they count; the last one wins.
    pub settings: Vec<OptionSetting>,
    /// `datadir`, absolute.
    pub data_directory: PathBuf,
    /// TCP addresses to listen on; none with `skip_networking`.
    pub addresses: Vec<SocketAddr>,
    /// Path of the UNIX socket, absolute.
    pub socket: PathBuf,
    /// `pid_file`, absolute.
    pub pid_file: PathBuf,
    /// `user`, with the place where it is said.
    pub user: Option<(String, String)>,
    /// `log_error`, absolute; None for standard error.
    pub log_file: Option<PathBuf>,
    /// `log_error_verbosity`, until the variables are settled.
    pub log_verbosity: u64,
    /// `open_files_limit`; 0 for what the server likes.
    pub descriptors_wanted: u64,
    /// `back_log`.
    pub backlog: i32,
    /// TLS is offered.
    pub tls: bool,
    /// `ssl_cert` and `ssl_key`, absolute, if given.
    pub tls_files: Option<(PathBuf, PathBuf)>,
    /// Make the data directory and end (`--initialize`, `--initialize-insecure`).
    pub initialize_only: bool,
    /// `proxy_lua_script`, relative to the working directory, with its limits.
    pub script: Option<(PathBuf, ScriptOptions)>,
}

impl Configuration {
    /// Reads the command line (without the program's and the command's name) and the option files it leads to.
    pub fn read(arguments: &[String], working_directory: &Path) -> Result<Configuration, BadOption> {
        let disk = RealDisk::new(working_directory);
        let (files, mut settings) = parse_arguments(arguments)?;
        let mut all = Vec::new();
        match files.only {
            Some(file) => option_file::read(&disk, Path::new(&file), &mut all)?,
            None if files.none => {}
            None => {
                for file in DEFAULT_FILES.iter().map(Path::new) {
                    if option_file::exists(&disk, file) {
                        option_file::read(&disk, file, &mut all)?;
                    }
                }
            }
        }
        if let Some(file) = files.extra {
            option_file::read(&disk, Path::new(&file), &mut all)?;
        }
        all.append(&mut settings);
        Configuration::settle(all, working_directory)
    }

    /// Works out what the server itself needs.
    fn settle(settings: Vec<OptionSetting>, working_directory: &Path) -> Result<Configuration, BadOption> {
        let look = Lookup(&settings);
        let data_directory = working_directory.join(data_directory(&look)?);
        let in_data = |name: &str, default: &str| data_directory.join(look.text(name).unwrap_or(default));
        let log_file = match look.text("log_error") {
            None | Some("" | "stderr") => None,
            Some(path) => Some(data_directory.join(path)),
        };
        let tls_files = match (look.text("ssl_cert"), look.text("ssl_key")) {
            (Some(certificate), Some(key)) => {
                Some((data_directory.join(certificate), data_directory.join(key)))
            }
            (None, None) => None,
            _ => return Err(BadOption("ssl_cert and ssl_key are to be given together".to_owned())),
        };
        let mut configuration = Configuration {
            addresses: addresses(&look)?,
            socket: in_data("socket", "mysql.sock"),
            pid_file: in_data("pid_file", "iruka.pid"),
            backlog: look.number("back_log")?.unwrap_or(DEFAULT_BACKLOG),
            tls: !look.is_off("ssl"),
            initialize_only: look.is_on("initialize") || look.is_on("initialize_insecure"),
            user: look
                .find("user")
                .and_then(|setting| Some((setting.value.clone()?, place(&setting.source)))),
            log_file,
            log_verbosity: look.number("log_error_verbosity").ok().flatten().unwrap_or(DEFAULT_VERBOSITY),
            tls_files,
            script: script(&look, working_directory)?,
            data_directory,
            descriptors_wanted: look.number("open_files_limit").ok().flatten().unwrap_or(0),
            settings,
        };
        configuration.add_defaults();
        Ok(configuration)
    }

    /// Defaults that depend on the machine or on other options go in front: everything given wins over them.
    fn add_defaults(&mut self) {
        use env::Threads;
        const POOL_BYTES_MIN: u64 = 128 << 20;
        let memory_bytes = env::RealThreads.memory_limit_bytes();
        let pool_bytes = (memory_bytes / 2).max(POOL_BYTES_MIN) >> 20 << 20;
        let bind_address = if self.given("bind_address") { None } else { Some("127.0.0.1".to_owned()) };
        let defaults = [
            ("innodb_buffer_pool_size", Some(pool_bytes.to_string())),
            ("max_connections", Some(connections_of(memory_bytes).to_string())),
            ("bind_address", bind_address),
            ("socket", Some(self.socket.display().to_string())),
            ("pid_file", Some(self.pid_file.display().to_string())),
        ];
        let given = std::mem::take(&mut self.settings);
        let source = || OptionSource::File("defaults of this machine".to_owned());
        let defaults = defaults.into_iter().filter_map(|(name, value)| {
            value.map(|value| OptionSetting { name: name.to_owned(), value: Some(value), source: source() })
        });
        let is_variable =
            |setting: &OptionSetting| !start_options::is_start_option(&normal_name(&setting.name));
        self.settings = defaults.chain(given.into_iter().filter(is_variable)).collect();
    }

    fn given(&self, name: &str) -> bool {
        Lookup(&self.settings).find(name).is_some()
    }

    /// Gives the process to the account that `--user` names, if it is root's. The text is a warning.
    pub fn take_account(&self) -> Result<Option<String>, BadOption> {
        let Some((name, place)) = &self.user else { return Ok(None) };
        let option = format!("option '--user' ({place})");
        let account = SystemAccount::find(name).ok_or_else(|| {
            BadOption(format!(
                "{option}: the system has no account '{name}': make it (useradd --system), or name another"
            ))
        })?;
        let present = rustix::process::geteuid();
        if present.as_raw() == account.user {
            return Ok(None);
        }
        if !present.is_root() {
            return Ok(Some(format!(
                "{option} has no effect: only a server that root starts can change its account"
            )));
        }
        let taken = account.take_over();
        taken.map_err(|error| BadOption(format!("{option}: '{name}' cannot be taken: {error}")))?;
        Ok(None)
    }

    /// Folders that options name must be there.
    pub fn check_folders(&self) -> Result<(), BadOption> {
        let Some(setting) = Lookup(&self.settings).find("secure_file_priv") else { return Ok(()) };
        let folder = setting.value.as_deref().unwrap_or_default();
        let is_place = !folder.is_empty() && !folder.eq_ignore_ascii_case("NULL");
        let path = self.data_directory.join(folder);
        if is_place && !RealDisk::new(Path::new("/")).directory_exists(&path).unwrap_or(false) {
            let (place, path) = (place(&setting.source), path.display());
            let text = format!(
                "option '--secure-file-priv' ({place}): there is no folder '{path}': make it, or name another"
            );
            return Err(BadOption(text));
        }
        Ok(())
    }

    /// Whether nothing but this machine can connect.
    pub fn is_loopback_only(&self) -> bool {
        self.addresses.iter().all(|address| address.ip().is_loopback())
    }
}

/// The script that all clients' commands go through, if there is one.
fn script(
    look: &Lookup<'_>,
    working_directory: &Path,
) -> Result<Option<(PathBuf, ScriptOptions)>, BadOption> {
    let Some(path) = look.text("proxy_lua_script").filter(|path| !path.is_empty()) else { return Ok(None) };
    let text = |name: &str| look.text(name).map(str::to_owned);
    let options = ScriptOptions {
        lua_path: text("lua_path"),
        lua_cpath: text("lua_cpath"),
        instructions_max: look
            .number("lua_instructions_max")?
            .unwrap_or(proxy_script::INSTRUCTIONS_MAX_DEFAULT),
        memory_bytes_max: look.number("lua_memory_max")?.unwrap_or(proxy_script::MEMORY_BYTES_MAX_DEFAULT),
    };
    Ok(Some((working_directory.join(path), options)))
}

/// How many connections a machine is good for. Idle ones cost some KiB; one whose statement waits costs a thread and what the statement
/// holds. MySQL's 151 is the least: 500 clients should need no option on a machine of today.
fn connections_of(memory_bytes: u64) -> u64 {
    const BYTES_EACH: u64 = 4 << 20;
    const CONNECTIONS_MIN: u64 = 151;
    const CONNECTIONS_MAX: u64 = 10_000;
    (memory_bytes / BYTES_EACH).clamp(CONNECTIONS_MIN, CONNECTIONS_MAX)
}

/// `--defaults-file` and its relatives.
#[derive(Default)]
struct DefaultsFiles {
    only: Option<String>,
    extra: Option<String>,
    none: bool,
}

/// `--name=value`, `--name value`, `--switch`, and the few one-letter options that scripts use.
fn parse_arguments(arguments: &[String]) -> Result<(DefaultsFiles, Vec<OptionSetting>), BadOption> {
    let mut files = DefaultsFiles::default();
    let mut settings = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let (name, mut value) = match argument.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) => (normal_name(name), Some(value.to_owned())),
                None => (normal_name(long), None),
            },
            None => short_option(argument)?,
        };
        if value.is_none() && rest.peek().is_some_and(|next| !next.starts_with('-')) {
            value = rest.next().cloned();
        }
        match name.as_str() {
            "defaults_file" => files.only = Some(required(&name, value)?),
            "defaults_extra_file" => files.extra = Some(required(&name, value)?),
            "no_defaults" => files.none = true,
            _ => settings.push(OptionSetting { name, value, source: OptionSource::CommandLine }),
        }
    }
    Ok((files, settings))
}

fn short_option(argument: &str) -> Result<(String, Option<String>), BadOption> {
    if !argument.starts_with('-') {
        return Err(BadOption(format!(
            "'{argument}' is no option: options begin with --, and have one value at most"
        )));
    }
    let unknown = || BadOption(unknown(&format!("option '{argument}' (command line)"), argument));
    let (letter, value) =
        argument.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)).ok_or_else(unknown)?;
    let (_, name) = LETTERS.iter().find(|(known, _)| letter.starts_with(*known)).ok_or_else(unknown)?;
    Ok(((*name).to_owned(), (!value.is_empty()).then(|| value.to_owned())))
}

fn required(name: &str, value: Option<String>) -> Result<String, BadOption> {
    value.ok_or_else(|| BadOption(format!("option '--{name}' needs a value")))
}

/// `-` and `_` are the same in option names, and case does not count.
fn normal_name(name: &str) -> String {
    name.trim().replace('-', "_").to_ascii_lowercase()
}

/// Looks options up by name.
struct Lookup<'a>(&'a [OptionSetting]);

impl<'a> Lookup<'a> {
    fn find(&self, name: &str) -> Option<&'a OptionSetting> {
        let is_it = |setting: &&OptionSetting| {
            let given = normal_name(&setting.name);
            given.strip_prefix("loose_").unwrap_or(&given) == name
        };
        self.0.iter().rev().find(is_it)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.find(name).and_then(|setting| setting.value.as_deref())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, BadOption> {
        match self.text(name).map(|text| text.trim().parse()) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(self.not_a_number(name)),
        }
    }

    fn not_a_number(&self, name: &str) -> BadOption {
        let range = variables::find(name).map(VariableId::variable);
        let range = range.map_or_else(String::new, |of| format!(" from {} to {}", of.minimum, of.maximum));
        let place = self.find(name).map_or_else(String::new, |setting| place(&setting.source));
        let (value, name) = (self.text(name).unwrap_or_default(), name.replace('_', "-"));
        BadOption(format!("option '--{name}' ({place}): '{value}' is not a whole number{range}"))
    }

    fn is_on(&self, name: &str) -> bool {
        let is_true =
            |value: &str| !matches!(value.to_ascii_lowercase().as_str(), "0" | "off" | "false" | "no");
        self.find(name).is_some_and(|setting| setting.value.as_deref().is_none_or(is_true))
    }

    fn is_off(&self, name: &str) -> bool {
        let skipped = self.is_on(&format!("skip_{name}")) || self.is_on(&format!("disable_{name}"));
        skipped || (self.find(name).is_some() && !self.is_on(name))
    }
}

/// `datadir`. One without a value would be the folder in which the server was started.
fn data_directory<'a>(look: &Lookup<'a>) -> Result<&'a str, BadOption> {
    match look.find("datadir") {
        None => Ok("data"),
        Some(OptionSetting { value: Some(path), .. }) if !path.is_empty() => Ok(path),
        Some(_) => Err(BadOption("option '--datadir' needs a value".to_owned())),
    }
}

/// `bind_address` is a list of addresses and of names that the system resolves; `*` stands for both address families.
fn addresses(look: &Lookup<'_>) -> Result<Vec<SocketAddr>, BadOption> {
    let port = look.number("port")?.unwrap_or(DEFAULT_PORT);
    if look.is_on("skip_networking") {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for text in look.text("bind_address").unwrap_or("127.0.0.1").split(',').map(str::trim) {
        found.push(match text {
            // One socket of the IPv6 wildcard takes both families.
            "*" => SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port),
            "localhost" => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            text => match text.parse() {
                Ok(address) => SocketAddr::new(address, port),
                Err(_) => named_address(look, text, port)?,
            },
        });
    }
    Ok(found)
}

/// The first address of a host's name.
fn named_address(look: &Lookup<'_>, name: &str, port: u16) -> Result<SocketAddr, BadOption> {
    let resolved = if name.is_empty() { None } else { (name, port).to_socket_addrs().ok() };
    resolved.and_then(|mut addresses| addresses.next()).ok_or_else(|| {
        let place = look.find("bind_address").map_or_else(String::new, |setting| place(&setting.source));
        BadOption(format!(
            "option '--bind-address' ({place}): '{name}' is neither an IP address nor a name that has one: correct it"
        ))
    })
}

/// Reads a small text file.
pub fn read_text(disk: &dyn Disk, path: &Path) -> Result<String, BadOption> {
    let bytes = (|| {
        let file = disk.open(path, env::OpenMode::ReadOnly)?;
        let mut bytes = vec![0; file.len()?.min(TEXT_BYTES_MAX) as usize];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    })();
    let bytes = bytes.map_err(|error: env::DiskError| {
        let reason = match error.errno {
            0 => error.to_string(),
            number => std::io::Error::from_raw_os_error(number).to_string(),
        };
        BadOption(format!("'{}' cannot be read: {reason}", path.display()))
    })?;
    String::from_utf8(bytes).map_err(|_| BadOption(format!("'{}' is not UTF-8 text", path.display())))
}

/// Largest option file, certificate or key.
const TEXT_BYTES_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests;

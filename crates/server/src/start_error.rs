//! Why the server does not start, in words that say what is wrong, where, and what to do. Main type: [`StartError`].

use crate::config::{BadOption, Configuration, read_text};
use crate::descriptors::Descriptors;
use crate::page::option_names;
use command_line::{USAGE_FAILURE, nearest};
use env::RealDisk;
use session::{OptionSource, WrongOption};
use std::path::Path;
use std::process::ExitCode;
use variables::{Kind, SystemVariable, find};

/// Number of the error for a variable that there is not.
const UNKNOWN_VARIABLE: u16 = 1193;
/// Number of the error for a value that a variable does not take.
const WRONG_VALUE: u16 = 1231;

/// Why the server did not start, or had to stop; the text is for people.
#[derive(Debug)]
pub struct StartError {
    /// What is wrong, where, and what to do.
    pub text: String,
    /// The command line or an option file is to blame: nothing was started, and trying again does not help.
    pub is_usage: bool,
    /// Standard error has it already: the error log is there.
    pub is_told: bool,
}

impl<E: std::fmt::Display> From<E> for StartError {
    fn from(error: E) -> StartError {
        StartError { text: error.to_string(), is_usage: false, is_told: false }
    }
}

impl StartError {
    /// A wrong option, as the configuration found it.
    pub fn of_option(error: BadOption) -> StartError {
        StartError { text: error.0, is_usage: true, is_told: false }
    }

    /// A wrong option, as the instance found it.
    pub fn of_variable(wrong: &WrongOption) -> StartError {
        let Some(setting) = &wrong.setting else { return StartError::from(wrong.error.message()) };
        let option = format!("option '--{}' ({})", setting.name.replace('_', "-"), place(&setting.source));
        let text = match wrong.error.number() {
            UNKNOWN_VARIABLE => unknown(&option, &setting.name),
            WRONG_VALUE => match (find(&setting.name), &setting.value) {
                (Some(id), Some(value)) => format!("{option}: '{value}' is not {}", values_of(id.variable())),
                (Some(id), None) => format!("{option} needs a value: {}", values_of(id.variable())),
                _ => format!("{option}: {}", wrong.error.message()),
            },
            _ => format!("{option}: {}", wrong.error.message()),
        };
        StartError { text, is_usage: true, is_told: false }
    }

    /// With what to do about it, where the text does not tell.
    pub fn with_advice(self, configuration: &Configuration) -> StartError {
        let folder = configuration.data_directory.display();
        let known = ADVICE.iter().find(|(reason, _)| self.text.contains(reason));
        // What is told already by who knows more is not told again.
        let advice = match known.map(|(_, advice)| advice) {
            None => return self,
            Some(Advice::Descriptors) => {
                let limit = Descriptors::limit_of_process();
                format!(
                    "The process may have {limit} file descriptors, which is too few: raise the limit of the account or service (ulimit -n)"
                )
            }
            Some(Advice::Locked) => {
                let other = read_text(&RealDisk::new(Path::new("/")), &configuration.pid_file);
                let other =
                    other.map_or_else(|_| String::new(), |text| format!(" (process {})", text.trim()));
                format!(
                    "Another server{other} has the data folder '{folder}': stop it, or choose another folder with --datadir"
                )
            }
            Some(Advice::NoSpace) => {
                let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
                let limit = limit.map_or_else(String::new, |bytes| {
                    format!(
                        "; a file of the process may have {bytes} bytes (ulimit -f), which may be too few"
                    )
                });
                format!("Make room on the disk of '{folder}', or choose another one with --datadir{limit}")
            }
            Some(Advice::Newer) => {
                "Start it with that server, or load a dump into a new folder (--datadir)".to_owned()
            }
            Some(Advice::Damaged)
                if self.text.contains("put ") || self.text.contains("innodb_force_recovery") =>
            {
                return self;
            }
            Some(Advice::Damaged) => {
                format!(
                    "Put the files of '{folder}' back as they were, or load a backup into a new folder (--datadir)"
                )
            }
        };
        StartError { text: format!("{}. {advice}", self.text.trim_end_matches('.')), ..self }
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        if self.is_usage { ExitCode::from(USAGE_FAILURE) } else { ExitCode::FAILURE }
    }
}

/// What is to be done, by reason.
#[derive(Clone, Copy)]
enum Advice {
    Descriptors,
    Locked,
    NoSpace,
    Newer,
    Damaged,
}

/// Reasons that many steps of a start may meet, as the operating system and the engine word them.
const ADVICE: [(&str, Advice); 8] = [
    ("Too many open files", Advice::Descriptors),
    ("locked by another process", Advice::Locked),
    ("File too large", Advice::NoSpace),
    ("there is no room for its files", Advice::NoSpace),
    ("No space left on device", Advice::NoSpace),
    ("Disk quota exceeded", Advice::NoSpace),
    ("written by a newer server", Advice::Newer),
    ("is damaged", Advice::Damaged),
];

/// Where an option was given, in words.
pub fn place(source: &OptionSource) -> String {
    match source {
        OptionSource::File(place) => place.clone(),
        OptionSource::Persisted => "mysqld-auto.cnf".to_owned(),
        OptionSource::CommandLine => "command line".to_owned(),
    }
}

/// What is said of an option that there is not.
pub fn unknown(option: &str, name: &str) -> String {
    let names = option_names();
    let near: Vec<String> =
        nearest(name, names.iter().map(String::as_str)).into_iter().map(|name| format!("--{name}")).collect();
    let near = if near.is_empty() { String::new() } else { format!("near it: {}; ", near.join(", ")) };
    format!(
        "unknown {option}; {near}'iruka serve --help' shows all, and --loose-NAME is ignored if it is unknown"
    )
}

/// The values that a variable takes, in words that follow "is not" and "needs".
fn values_of(variable: &SystemVariable) -> String {
    match variable.kind {
        Kind::Boolean => "ON or OFF".to_owned(),
        Kind::Integer => {
            format!("a whole number from {} to {} (K, M, G may follow)", variable.minimum, variable.maximum)
        }
        Kind::Double => "a number".to_owned(),
        Kind::String => "a value of it".to_owned(),
        Kind::Enumeration => format!("one of {}", variable.members.join(", ")),
        Kind::Set => format!("a list of {}", variable.members.join(", ")),
        Kind::Flags => {
            format!("a list of NAME=on and NAME=off with the names {}", variable.members.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use errors::sql_error;
    use session::OptionSetting;

    fn wrong(name: &str, value: Option<&str>, error: errors::SqlError) -> String {
        let setting = OptionSetting {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            source: OptionSource::File("'/x.cnf' line 3".to_owned()),
        };
        StartError::of_variable(&WrongOption { setting: Some(setting), error }).text
    }

    #[test]
    fn wrong_options_are_told_with_their_place_and_what_is_right() {
        let told =
            wrong("max_conections", Some("3"), sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, "max_conections"));
        assert!(
            told.starts_with(
                "unknown option '--max-conections' ('/x.cnf' line 3); near it: --max-connections"
            ),
            "{told}"
        );
        let told = wrong("port", Some("x"), sql_error!(ER_WRONG_VALUE_FOR_VAR, "port", "x"));
        assert!(
            told.starts_with("option '--port' ('/x.cnf' line 3): 'x' is not a whole number from 0 to 65535"),
            "{told}"
        );
        let told =
            wrong("query_cache_type", None, sql_error!(ER_WRONG_VALUE_FOR_VAR, "query_cache_type", ""));
        assert!(told.ends_with("needs a value: one of OFF, ON, DEMAND"), "{told}");
    }

    #[test]
    fn reasons_get_their_advice_once() {
        let arguments = ["--no-defaults".to_owned()];
        let configuration = Configuration::read(&arguments, Path::new("/work")).unwrap();
        let told = |text: &str| StartError::from(text).with_advice(&configuration).text;
        let limit = Descriptors::limit_of_process();
        let descriptors = told("Too many open files (os error 24)");
        assert!(descriptors.contains(&format!("may have {limit} file descriptors")), "{descriptors}");
        assert!(told("page 3 is damaged.").contains("is damaged. Put the files of '/work/data' back"));
        assert_eq!(told("page 3 is damaged: put it back"), "page 3 is damaged: put it back");
        assert_eq!(told("Something else"), "Something else");
    }
}

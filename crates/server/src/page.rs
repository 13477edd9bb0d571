//! What is told of `iruka serve`: its options, from the table of system variables and that of the options that only steer the start.

use crate::config::{LETTERS, START_OPTIONS};
use command_line::{CommandOption, Entry, OptionGroup, OptionValue, Page, Section};
use variables::option_help::{self, COMPUTED, OptionHelp};
use variables::{Kind, Scope, SystemVariable, VariableId};

/// Headings of the groups of `option_help.tsv`.
const GROUPS: [(&str, &str); 11] = [
    ("start", "Start and files"),
    ("network", "Network"),
    ("tls", "TLS and passwords"),
    ("log", "Error log"),
    ("memory", "Memory"),
    ("storage", "Storage"),
    ("transactions", "Transactions and locks"),
    ("statements", "Statements"),
    ("cache", "Kept results"),
    ("languages", "Character sets, languages, time"),
    ("accounts", "Accounts"),
];
/// Options of MySQL that are taken and shown, and change nothing.
const WITHOUT_EFFECT: &str = "Options of MySQL that SHOW VARIABLES shows and that change nothing here";

/// The page of `iruka serve`.
pub fn page() -> Page {
    let start = START_OPTIONS.iter().map(|option| CommandOption {
        name: with_dashes(option.name),
        letter: letter(option.name),
        value: option.value,
        text: option.text.to_owned(),
        default: None,
        range: None,
    });
    let asking = [("help", '?', "Shows this and ends."), ("version", 'V', "Shows the version and ends.")];
    let asking = asking.map(|(name, letter, text)| CommandOption {
        name: name.to_owned(),
        letter: Some(letter),
        value: OptionValue::None,
        text: text.to_owned(),
        default: None,
        range: None,
    });
    let mut groups =
        vec![OptionGroup { title: "Options of the command", options: start.chain(asking).collect() }];
    for (group, title) in GROUPS {
        let options = option_help::ALL.iter().filter(|help| help.group == group);
        let options = options.map(|help| of_variable(help.variable.variable(), Some(help))).collect();
        groups.push(OptionGroup { title, options });
    }
    let others = VariableId::all().filter(|id| option_help::of(*id).is_none()).map(VariableId::variable);
    let others = others.filter(|variable| variable.scope != Scope::Session && !is_told_above(variable));
    let options = others.map(|variable| of_variable(variable, None)).collect();
    groups.push(OptionGroup { title: WITHOUT_EFFECT, options });
    Page {
        name: "iruka serve",
        manual: 8,
        summary: "runs a MySQL-compatible database server",
        usage: &[
            "iruka serve [--datadir=FOLDER] [--port=N] [--socket=FILE] [--bind-address=ADDRESSES]",
            "    [--defaults-file=FILE | --no-defaults] [--NAME=VALUE ...]",
            "iruka serve --initialize-insecure [--datadir=FOLDER]",
        ],
        about: &ABOUT,
        groups,
        sections: sections(),
    }
}

const ABOUT: [&str; 3] = [
    "Every system variable is an option: --max-connections=500 sets max_connections. In names - and _ are the same; a value \
     may also follow as the next word. Numbers may end with K, M, G, T, P or E. --skip-NAME and --disable-NAME switch off, \
     --loose-NAME=VALUE is no mistake if there is no such option.",
    "Option files have groups in brackets, of which [mysqld], [server], [iruka] and [iruka-9.7] are read, and a line NAME=VALUE \
     for each option. What is said later wins, and the command line is last. SET PERSIST keeps values in the data folder, \
     which win over all others.",
    "A number beyond its range is set to the end of the range, with a warning.",
];

fn sections() -> Vec<Section> {
    let code = |code: &str, text: &str| Entry::new(code, text);
    let codes = vec![
        code("0", "The server was told to stop (SHUTDOWN, SIGTERM or SIGINT), and all is written."),
        code(
            "1",
            "The server could not start or had to stop: the last lines of the error log say why, and what to do.",
        ),
        code(
            "2",
            "An option, its value or an option file is wrong. Nothing was started, and trying again does not help.",
        ),
        code(
            "134",
            "The server ended itself (SIGABRT) because going on could have damaged data. The next start recovers.",
        ),
    ];
    let signals = vec![
        Entry::new("SIGTERM, SIGINT", "Stops the server: running statements get 30 seconds to end."),
        Entry::new("SIGHUP, SIGXFSZ", "Do nothing."),
    ];
    let environment = vec![Entry::new(
        "NOTIFY_SOCKET",
        "A service manager's socket, which is told READY=1 when connections are accepted, and STOPPING=1 (systemd's Type=notify).",
    )];
    let files = vec![
        Entry::new(
            "/etc/iruka.cnf, /etc/iruka/iruka.cnf",
            "Option files that are read if no option names others.",
        ),
        Entry::new("iruka.lock", "In the data folder: locked by the server that has it."),
        Entry::new(
            "ca.pem, server-cert.pem, server-key.pem",
            "In the data folder: certificates made at the first start.",
        ),
        Entry::new("mysqld-auto.cnf", "In the data folder: what SET PERSIST keeps."),
    ];
    vec![
        Section { title: "Exit codes", entries: codes },
        Section { title: "Signals", entries: signals },
        Section { title: "Environment", entries: environment },
        Section { title: "Files", entries: files },
    ]
}

/// Some options that steer the start are variables, too.
fn is_told_above(variable: &SystemVariable) -> bool {
    START_OPTIONS.iter().any(|option| option.name == variable.name)
}

fn of_variable(variable: &SystemVariable, help: Option<&OptionHelp>) -> CommandOption {
    let word = help.map_or("", |help| help.value);
    let default = match help.map_or("", |help| help.default) {
        "" => variable.default.unwrap_or("NULL"),
        told => told,
    };
    let is_bounded =
        variable.kind == Kind::Integer || variable.maximum > variable.minimum && is_number(variable);
    CommandOption {
        name: with_dashes(variable.name),
        letter: letter(variable.name),
        value: value(variable, word),
        text: help.map_or("", |help| help.text).to_owned(),
        default: Some(default.to_owned()),
        range: is_bounded.then_some((variable.minimum, variable.maximum)),
    }
}

fn is_number(variable: &SystemVariable) -> bool {
    matches!(variable.kind, Kind::Integer | Kind::Double)
}

fn value(variable: &SystemVariable, word: &'static str) -> OptionValue {
    match (variable.kind, word) {
        (_, "FILE") => OptionValue::File,
        (_, "FOLDER") => OptionValue::Folder,
        (Kind::Boolean, _) => OptionValue::Switch,
        (Kind::Enumeration, _) => OptionValue::OneOf(variable.members),
        (Kind::Set, _) => OptionValue::AnyOf(variable.members),
        (Kind::Flags, _) => OptionValue::Flags(variable.members),
        (Kind::Integer | Kind::Double, "") => OptionValue::Text("N"),
        (Kind::String, "") => OptionValue::Text("TEXT"),
        (_, word) => OptionValue::Text(word),
    }
}

fn with_dashes(name: &str) -> String {
    name.replace('_', "-")
}

fn letter(name: &str) -> Option<char> {
    LETTERS.iter().find(|(_, known)| *known == name).map(|(letter, _)| *letter)
}

/// The names of all options, with dashes.
pub fn option_names() -> Vec<String> {
    let computed = |id: &VariableId| option_help::of(*id).is_some_and(|help| help.group == COMPUTED);
    let variables = VariableId::all().filter(|id| !computed(id)).map(|id| with_dashes(id.variable().name));
    variables.chain(START_OPTIONS.iter().map(|option| with_dashes(option.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_told_once_with_its_default() {
        let page = page();
        let mut names: Vec<&str> = page.options().map(|option| option.name.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let is_option = |help: &&OptionHelp| help.group != COMPUTED;
        for help in option_help::ALL.iter().filter(is_option) {
            assert!(GROUPS.iter().any(|(group, _)| *group == help.group), "{}", help.group);
        }
        for id in VariableId::all().filter(|id| id.variable().scope != Scope::Session) {
            let is_computed = option_help::of(id).is_some_and(|help| help.group == COMPUTED);
            let name = with_dashes(id.variable().name);
            // The option asks for what the variable shows.
            if name == "version" {
                continue;
            }
            assert_eq!(names.binary_search(&name.as_str()).is_ok(), !is_computed, "{name}");
        }
        let port = page.options().find(|option| option.name == "port").expect("a port");
        assert_eq!(port.title(), "-P, --port=N");
        assert_eq!(port.description(), "Number of the TCP port. From 0 to 65535. Default: 3306.");
    }
}

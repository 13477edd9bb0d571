//! Options that only steer the start and that are no system variables.

use command_line::OptionValue;

/// One of them.
pub struct StartOption {
    /// Name, as options are compared.
    pub name: &'static str,
    /// What comes behind it.
    pub value: OptionValue,
    /// What it does.
    pub text: &'static str,
}

/// All of them, in the order in which help shows them.
pub const START_OPTIONS: [StartOption; 15] = [
    StartOption {
        name: "defaults_file",
        value: OptionValue::File,
        text: "Reads options from this file only. Default: /etc/iruka.cnf and /etc/iruka/iruka.cnf, if they exist.",
    },
    StartOption {
        name: "defaults_extra_file",
        value: OptionValue::File,
        text: "Reads options from this file, too, after the others.",
    },
    StartOption { name: "no_defaults", value: OptionValue::None, text: "Reads no option file." },
    StartOption {
        name: "initialize_insecure",
        value: OptionValue::Switch,
        text: "Makes the data folder and ends. Account root@localhost has no password.",
    },
    StartOption { name: "initialize", value: OptionValue::Switch, text: "The same." },
    StartOption {
        name: "user",
        value: OptionValue::Text("NAME"),
        text: "Account of the system, by name or number, that the server runs as if root starts it.",
    },
    StartOption {
        name: "proxy_lua_script",
        value: OptionValue::File,
        text: "A script of MySQL Proxy that the commands of all clients go through.",
    },
    StartOption {
        name: "lua_path",
        value: OptionValue::Text("PATTERNS"),
        text: "package.path of the script.",
    },
    StartOption {
        name: "lua_cpath",
        value: OptionValue::Text("PATTERNS"),
        text: "package.cpath of the script; modules in C are not loaded.",
    },
    StartOption {
        name: "lua_instructions_max",
        value: OptionValue::Text("N"),
        text: "A hook of the script that needs more instructions is stopped.",
    },
    StartOption {
        name: "lua_memory_max",
        value: OptionValue::Text("BYTES"),
        text: "What the scripts of all clients together may hold.",
    },
    StartOption { name: "basedir", value: OptionValue::Folder, text: "Accepted and without effect." },
    StartOption { name: "console", value: OptionValue::Switch, text: "Accepted and without effect." },
    StartOption { name: "gdb", value: OptionValue::Switch, text: "Accepted and without effect." },
    StartOption { name: "no_monitor", value: OptionValue::Switch, text: "Accepted and without effect." },
];

/// Options that have a letter.
pub const LETTERS: [(char, &str); 4] = [('P', "port"), ('h', "datadir"), ('b', "basedir"), ('u', "user")];

/// Whether the name, in lower case and with `_`, is one of them.
pub fn is_start_option(name: &str) -> bool {
    START_OPTIONS.iter().any(|option| option.name == name)
}

//! A program of several commands. Main type: [`Program`]; its table of commands is all that a new command needs.

use crate::completion::{SHELLS, Shell};
use crate::page::{Entry, Page, Section};
use crate::{help, manual, nearest};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The exit code of a command line that is wrong: trying again does not help.
pub const USAGE_FAILURE: u8 = 2;

/// One command.
pub struct Command {
    /// What is typed.
    pub name: &'static str,
    /// What is told of it.
    pub page: fn() -> Page,
    /// What it does with the arguments behind its name. It need not know `--help` and `--version`.
    pub run: fn(&[String]) -> ExitCode,
}

/// A program.
pub struct Program {
    /// What is typed.
    pub name: &'static str,
    /// Its name in a sentence.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Half a sentence: what it is.
    pub summary: &'static str,
    /// How it is typed, a line for each way.
    pub usage: &'static [&'static str],
    /// Paragraphs of its help.
    pub about: &'static [&'static str],
    /// Its commands, besides those that every program has.
    pub commands: &'static [Command],
}

/// The commands that every program has.
const OWN: [(&str, &str); 4] = [
    ("help [COMMAND]", "shows this, or the options of a command"),
    ("version", "shows the version"),
    ("man [COMMAND]", "prints the man page of the program or of a command (for man -l -)"),
    ("completion SHELL", "prints completion for bash, zsh or fish, to be sourced by it"),
];

impl Program {
    /// Runs what the arguments (without the program's name) say.
    pub fn run(&self, arguments: &[String]) -> ExitCode {
        let Some((first, rest)) = arguments.split_first() else {
            return self.wrong("no command is given");
        };
        let second = rest.first().map(String::as_str);
        if let Some(command) = self.command(first) {
            // Nothing starts where help is asked for, whatever else is said.
            return match () {
                () if asks(rest, &["--help", "-?"]) => print(&help::text(&(command.page)())),
                () if asks(rest, &["--version", "-V"]) => print(&self.version_line()),
                () => (command.run)(rest),
            };
        }
        match (first.as_str(), second) {
            ("help" | "--help" | "-h" | "-?", Some(name)) => self.page_of(name, help::text),
            ("help" | "--help" | "-h" | "-?", None) => print(&help::text(&self.page())),
            ("man", Some(name)) => self.page_of(name, |page| self.manual(page)),
            ("man", None) => print(&self.manual(&self.page())),
            ("version" | "--version" | "-V", _) => print(&self.version_line()),
            ("completion", shell) => match shell.and_then(Shell::of) {
                Some(shell) => print(&shell.script(self)),
                None => self.wrong_word("shell", shell.unwrap_or_default(), SHELLS.to_vec()),
            },
            _ => self.wrong_word("command", first, self.names()),
        }
    }

    fn command(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// The names of all commands.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let own = OWN.iter().filter_map(|(usage, _)| usage.split(' ').next());
        self.commands.iter().map(|command| command.name).chain(own).collect()
    }

    fn version_line(&self) -> String {
        format!("{} {} for Linux on {}\n", self.name, self.version, std::env::consts::ARCH)
    }

    fn page_of(&self, name: &str, text: impl Fn(&Page) -> String) -> ExitCode {
        match self.command(name) {
            Some(command) => print(&text(&(command.page)())),
            None => self.wrong_word("command", name, self.names()),
        }
    }

    fn manual(&self, page: &Page) -> String {
        manual::roff(page, self.title, self.version)
    }

    /// The page of the program itself.
    fn page(&self) -> Page {
        let commands = self.commands.iter().map(|command| (command.name, (command.page)().summary));
        let entries = commands.chain(OWN).map(|(usage, summary)| Entry::new(usage, &sentence(summary)));
        let codes = [
            ("0", "All is well."),
            ("1", "A command failed: its last lines say why."),
            ("2", "The command line is wrong: trying again does not help."),
        ];
        let codes = codes.map(|(code, text)| Entry::new(code, text));
        Page {
            name: self.name,
            manual: 1,
            summary: self.summary,
            usage: self.usage,
            about: self.about,
            groups: Vec::new(),
            sections: vec![
                Section { title: "Commands", entries: entries.collect() },
                Section { title: "Exit codes", entries: codes.to_vec() },
            ],
        }
    }

    fn wrong_word(&self, kind: &str, word: &str, known: Vec<&'static str>) -> ExitCode {
        if word.is_empty() {
            return self.wrong(&format!("no {kind} is given; known are {}", known.join(", ")));
        }
        match nearest(word, known.iter().copied()).as_slice() {
            [] => self.wrong(&format!("unknown {kind} '{word}'; known are {}", known.join(", "))),
            near => self.wrong(&format!("unknown {kind} '{word}'; near it: {}", near.join(", "))),
        }
    }

    fn wrong(&self, text: &str) -> ExitCode {
        // Nobody can be told when standard error fails; the code tells.
        let _ = writeln!(std::io::stderr(), "{0}: {text}\n{0}: '{0} help' shows all commands", self.name);
        ExitCode::from(USAGE_FAILURE)
    }
}

/// Half a sentence as a whole one.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

fn asks(arguments: &[String], names: &[&str]) -> bool {
    arguments.iter().any(|argument| names.contains(&argument.as_str()))
}

/// Prints a text to standard output. A reader that has seen enough is no failure.
pub fn print(text: &str) -> ExitCode {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

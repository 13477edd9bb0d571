//! Completion of commands, options and values for shells. Main type: [`Shell`].

use crate::page::{CommandOption, OptionValue, Page};
use crate::program::Program;

/// The shells, by name.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// A shell whose completion can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash, without any library of completions.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

impl Shell {
    /// The shell of that name.
    pub fn of(name: &str) -> Option<Shell> {
        match name {
            "bash" => Some(Shell::Bash),
            "zsh" => Some(Shell::Zsh),
            "fish" => Some(Shell::Fish),
            _ => None,
        }
    }

    /// The script that the shell is to source.
    pub(crate) fn script(self, program: &Program) -> String {
        let pages: Vec<(&str, Page)> =
            program.commands.iter().map(|command| (command.name, (command.page)())).collect();
        match self {
            Shell::Bash => bash(program, &pages),
            Shell::Zsh => zsh(program, &pages),
            Shell::Fish => fish(program, &pages),
        }
    }
}

/// Words are read from the line itself: bash cuts its words at `=`, too.
fn bash(program: &Program, pages: &[(&str, Page)]) -> String {
    let name = program.name;
    let mut out = format!(
        "# Completion of {name} for bash.\n_{name}() {{\n    \
         local line=${{COMP_LINE:0:COMP_POINT}} word option names= values= files=\n    \
         word=${{line##*[[:space:]]}}\n    COMPREPLY=()\n    \
         if (( COMP_CWORD == 1 )); then\n        \
         COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n        return\n    fi\n    case ${{COMP_WORDS[1]}} in\n    \
         help|man) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n    \
         completion) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
        program.names().join(" "),
        pages.iter().map(|(command, _)| *command).collect::<Vec<_>>().join(" "),
        SHELLS.join(" "),
    );
    for (command, page) in pages {
        out += &format!("    {command})\n        names='");
        for option in page.options() {
            let equals = if has_value(option) { "=" } else { "" };
            out += &format!("--{}{equals} ", option.name);
        }
        out += "'\n        case ${word%%=*} in\n";
        for option in page.options() {
            let what = match option.value {
                OptionValue::File => "files=-f".to_owned(),
                OptionValue::Folder => "files=-d".to_owned(),
                value if value.choices().is_empty() => continue,
                value => format!("values='{}'", value.choices().join(" ")),
            };
            out += &format!("        --{}) {what} ;;\n", option.name);
        }
        out += "        esac ;;\n";
    }
    out += &format!(
        "    esac\n    \
         if [[ $word == *=* ]]; then\n        \
         word=${{word#*=}}\n        \
         COMPREPLY=($(compgen $files -W \"$values\" -- \"$word\"))\n    else\n        \
         COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n        \
         [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null\n    fi\n    return 0\n}}\n\
         complete -F _{name} {name}\n"
    );
    out
}

fn has_value(option: &CommandOption) -> bool {
    !matches!(option.value, OptionValue::None | OptionValue::Switch)
}

fn zsh(program: &Program, pages: &[(&str, Page)]) -> String {
    let name = program.name;
    let mut out = format!(
        "#compdef {name}\n# Completion of {name} for zsh.\n_{name}() {{\n    \
         if (( CURRENT == 2 )); then\n        compadd -- {}\n        return\n    fi\n    case $words[2] in\n    \
         help|man) compadd -- {} ;;\n    completion) compadd -- {} ;;\n",
        program.names().join(" "),
        pages.iter().map(|(command, _)| *command).collect::<Vec<_>>().join(" "),
        SHELLS.join(" "),
    );
    for (command, page) in pages {
        out += &format!("    {command})\n        shift words; (( CURRENT-- ))\n        _arguments \\\n");
        for option in page.options() {
            let text = zsh_text(&first_sentence(option));
            let action = match option.value {
                OptionValue::File => "_files".to_owned(),
                OptionValue::Folder => "_files -/".to_owned(),
                value if value.choices().is_empty() => " ".to_owned(),
                value => format!("({})", value.choices().join(" ")),
            };
            out += &match (option.value, option.value.placeholder()) {
                (OptionValue::Switch, Some(word)) => {
                    format!("            '--{}=-[{text}]::{word}:{action}' \\\n", option.name)
                }
                (_, Some(word)) => format!("            '--{}=[{text}]:{word}:{action}' \\\n", option.name),
                (_, None) => format!("            '--{}[{text}]' \\\n", option.name),
            };
        }
        out += "            && return ;;\n";
    }
    out += &format!(
        "    esac\n}}\n\
         # The file is loaded as the function itself where it lies in fpath, and sourced elsewhere.\n\
         if [[ $funcstack[1] == _{name} ]]; then _{name} \"$@\"; else compdef _{name} {name}; fi\n"
    );
    out
}

/// Brackets end a description, a colon ends it within one, and a quote ends the word.
fn zsh_text(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '[' | ']' | ':' => out.extend(['\\', character]),
            '\'' => out.push_str("'\\''"),
            other => out.push(other),
        }
    }
    out
}

fn fish(program: &Program, pages: &[(&str, Page)]) -> String {
    let name = program.name;
    let mut out = format!(
        "# Completion of {name} for fish.\ncomplete -c {name} -f\n\
         complete -c {name} -n __fish_use_subcommand -a '{}'\n\
         complete -c {name} -n '__fish_seen_subcommand_from help man' -a '{}'\n\
         complete -c {name} -n '__fish_seen_subcommand_from completion' -a '{}'\n",
        program.names().join(" "),
        pages.iter().map(|(command, _)| *command).collect::<Vec<_>>().join(" "),
        SHELLS.join(" "),
    );
    for (command, page) in pages {
        for option in page.options() {
            let value = match option.value {
                OptionValue::File => " -r -F".to_owned(),
                OptionValue::Folder => " -x -a '(__fish_complete_directories)'".to_owned(),
                OptionValue::None => String::new(),
                OptionValue::Switch => " -a 'ON OFF'".to_owned(),
                value => format!(" -x -a '{}'", value.choices().join(" ")),
            };
            let text = first_sentence(option).replace('\\', "\\\\").replace('\'', "\\'");
            out += &format!(
                "complete -c {name} -n '__fish_seen_subcommand_from {command}' -l {}{value} -d '{text}'\n",
                option.name
            );
        }
    }
    out
}

fn first_sentence(option: &CommandOption) -> String {
    option
        .text
        .split_once(". ")
        .map_or(option.text.as_str(), |(first, _)| first)
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::example;
    use crate::program::Command;
    use std::process::ExitCode;

    const PROGRAM_COMMANDS: &[Command] =
        &[Command { name: "work", page: example, run: |_| ExitCode::SUCCESS }];

    fn script(shell: Shell) -> String {
        let program = Program {
            name: "tool",
            title: "Tool",
            version: "1",
            summary: "",
            usage: &[],
            about: &[],
            commands: PROGRAM_COMMANDS,
        };
        shell.script(&program)
    }

    /// What bash offers for a line.
    fn offered(line: &str) -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let text = format!(
            "{}\nCOMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({line}); COMP_CWORD={}; _tool; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script(Shell::Bash),
            words.len() - 1
        );
        let output = std::process::Command::new("bash").args(["-c", &text]).output().expect("bash runs");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    #[test]
    fn bash_completes() {
        assert_eq!(offered("tool wo"), ["work"]);
        assert_eq!(offered("tool completion z"), ["zsh"]);
        assert_eq!(offered("tool work --p"), ["--port=", "--parts="]);
        assert_eq!(offered("tool work --bare --mode="), ["fast", "slow"]);
        assert_eq!(offered("tool work --quick=OF"), ["OFF"]);
        assert_eq!(offered("tool work --folder=/us"), ["/usr"]);
        assert_eq!(offered("tool work --port=1"), [""]);
    }

    #[test]
    fn texts_end_no_word_of_the_shells() {
        let zsh = script(Shell::Zsh);
        assert!(zsh.contains("'--port=[What port is, in '\\''words'\\'' \\[of\\] a-z\\:"), "{zsh}");
        assert!(zsh.contains("::ON|OFF:(ON OFF)'"), "{zsh}");
        let fish = script(Shell::Fish);
        assert!(fish.contains("-l mode -x -a 'fast slow' -d 'What mode is, in \\'words\\'"), "{fish}");
    }
}

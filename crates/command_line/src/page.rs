//! What is known of one command. Main type: [`Page`].

/// One command, as help, completion and the man page show it.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What is typed to run it, e.g. "iruka serve".
    pub name: &'static str,
    /// The section of the manual.
    pub manual: u8,
    /// Half a sentence: what it is.
    pub summary: &'static str,
    /// How it is typed, a line for each way.
    pub usage: &'static [&'static str],
    /// Paragraphs: what is to be known before the options.
    pub about: &'static [&'static str],
    /// Options, the command's own ones first.
    pub groups: Vec<OptionGroup>,
    /// Lists behind the options: exit codes, files.
    pub sections: Vec<Section>,
}

/// Options under one heading.
#[derive(Clone, Debug)]
pub struct OptionGroup {
    /// The heading.
    pub title: &'static str,
    /// The options.
    pub options: Vec<CommandOption>,
}

/// One option.
#[derive(Clone, Debug)]
pub struct CommandOption {
    /// Its name with dashes, without the two in front.
    pub name: String,
    /// Its letter, if it has one.
    pub letter: Option<char>,
    /// What comes behind the name.
    pub value: OptionValue,
    /// A sentence or two; may be empty.
    pub text: String,
    /// The value if it is not given; None if that says nothing.
    pub default: Option<String>,
    /// Smallest and largest number.
    pub range: Option<(i128, i128)>,
}

/// What comes behind an option's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Nothing.
    None,
    /// ON or OFF; nothing is ON.
    Switch,
    /// Text, with the word that stands for it.
    Text(&'static str),
    /// The path of a file.
    File,
    /// The path of a folder.
    Folder,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Any of these, with commas between them.
    AnyOf(&'static [&'static str]),
    /// Each of these on or off: `a=on,b=off`.
    Flags(&'static [&'static str]),
}

impl OptionValue {
    /// The word that stands for the value; None if there is no value.
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            OptionValue::None => None,
            OptionValue::Switch => Some("ON|OFF"),
            OptionValue::Text(word) => Some(word),
            OptionValue::File => Some("FILE"),
            OptionValue::Folder => Some("FOLDER"),
            OptionValue::OneOf(_) => Some("NAME"),
            OptionValue::AnyOf(_) => Some("NAMES"),
            OptionValue::Flags(_) => Some("FLAGS"),
        }
    }

    /// The values there are, if they are few; ON and OFF for a switch.
    pub fn choices(self) -> &'static [&'static str] {
        match self {
            OptionValue::Switch => &["ON", "OFF"],
            OptionValue::OneOf(choices) => choices,
            _ => &[],
        }
    }
}

impl CommandOption {
    /// `-P, --port=N`, as help and man page begin an option.
    pub fn title(&self) -> String {
        let letter = self.letter.map(|letter| format!("-{letter}, ")).unwrap_or_default();
        match self.value {
            OptionValue::None => format!("{letter}--{}", self.name),
            OptionValue::Switch => format!("{letter}--{}[=ON|OFF]", self.name),
            value => format!("{letter}--{}={}", self.name, value.placeholder().unwrap_or_default()),
        }
    }

    /// What it does, which values it takes, and what counts without it.
    pub fn description(&self) -> String {
        let mut sentences = vec![self.text.clone()];
        match self.value {
            OptionValue::OneOf(names) => sentences.push(format!("One of {}.", names.join(", "))),
            OptionValue::AnyOf(names) => sentences.push(format!("Any of {}.", names.join(", "))),
            OptionValue::Flags(names) => {
                sentences.push(format!("Pairs as {}=on of {}.", names[0], names.join(", ")));
            }
            _ => {}
        }
        if let Some((smallest, largest)) = self.range {
            sentences.push(format!("From {smallest} to {largest}."));
        }
        match self.default.as_deref() {
            None => {}
            Some("") => sentences.push("Default: empty.".to_owned()),
            Some(default) => sentences.push(format!("Default: {default}.")),
        }
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join(" ")
    }
}

/// A list with a heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What is listed.
    pub entries: Vec<Entry>,
}

/// A term and what is said of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// E.g. an exit code or a path.
    pub term: String,
    /// A sentence or two.
    pub text: String,
}

impl Entry {
    /// That term and that text.
    pub fn new(term: &str, text: &str) -> Entry {
        Entry { term: term.to_owned(), text: text.to_owned() }
    }
}

impl Page {
    /// All options.
    pub fn options(&self) -> impl Iterator<Item = &CommandOption> {
        self.groups.iter().flat_map(|group| &group.options)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A page with an option of every kind.
    pub fn example() -> Page {
        let option = |name: &str, value, default: Option<&str>, range| CommandOption {
            name: name.to_owned(),
            letter: (name == "port").then_some('P'),
            value,
            text: format!(
                "What {name} is, in 'words' [of] a-z: enough of them to fill more than a line of text when they are all told."
            ),
            default: default.map(str::to_owned),
            range,
        };
        Page {
            name: "tool work",
            manual: 8,
            summary: "works",
            usage: &["tool work [OPTION ...]"],
            about: &["It works."],
            groups: vec![
                OptionGroup { title: "First", options: vec![option("bare", OptionValue::None, None, None)] },
                OptionGroup {
                    title: "Second",
                    options: vec![
                        option("port", OptionValue::Text("N"), Some("3306"), Some((0, 65535))),
                        option("quick", OptionValue::Switch, Some("OFF"), None),
                        option("mode", OptionValue::OneOf(&["fast", "slow"]), Some("fast"), None),
                        option("parts", OptionValue::AnyOf(&["a", "b"]), Some(""), None),
                        option("file", OptionValue::File, None, None),
                        option("folder", OptionValue::Folder, None, None),
                        option("flags", OptionValue::Flags(&["x", "y"]), None, None),
                    ],
                },
            ],
            sections: vec![Section { title: "Exit codes", entries: vec![Entry::new("0", "All is well.")] }],
        }
    }
}

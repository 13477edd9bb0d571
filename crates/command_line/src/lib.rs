//! What a program tells of its commands and options: help, man pages, completion for shells, the names that a mistyped one is nearest to.
//! Main types: [`Program`] with its table of [`Command`]s, and [`Page`], of which everything is made that people read.
//! Knows no command's work: a command brings its page and a function.
#![forbid(unsafe_code)]

mod completion;
mod help;
mod manual;
mod nearest;
mod page;
mod program;

pub use completion::{SHELLS, Shell};
pub use help::text as help;
pub use nearest::nearest;
pub use page::{CommandOption, Entry, OptionGroup, OptionValue, Page, Section};
pub use program::{Command, Program, USAGE_FAILURE, print};

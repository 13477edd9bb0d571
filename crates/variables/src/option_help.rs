//! What help says of the variables that change something when they are given as options. Main type: [`OptionHelp`], found by [`of`].
//! Range, members and compiled default stand in the catalogue; the table here is generated from `data/option_help.tsv`.

use crate::VariableId;

#[rustfmt::skip]
#[path = "generated/option_help.rs"]
#[allow(clippy::all)]
mod table;

pub use table::ALL;

/// The group of variables that the server computes: they are shown, and are no options.
pub const COMPUTED: &str = "-";

/// What help says of one variable.
#[derive(Clone, Copy, Debug)]
pub struct OptionHelp {
    /// Of which.
    pub variable: VariableId,
    /// Under which heading.
    pub group: &'static str,
    /// The word that stands for the value; empty: one that its kind gives.
    pub value: &'static str,
    /// The default in words, if it is not the compiled one.
    pub default: &'static str,
    /// A sentence or two.
    pub text: &'static str,
}

/// The help of a variable; none if the option changes nothing.
pub fn of(variable: VariableId) -> Option<&'static OptionHelp> {
    ALL.iter().find(|help| help.variable == variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    #[test]
    fn each_variable_is_told_once_and_in_sentences() {
        for (at, help) in ALL.iter().enumerate() {
            let name = help.variable.variable().name;
            assert!(ALL[..at].iter().all(|other| other.variable != help.variable), "{name}");
            assert_eq!(help.text.is_empty(), help.group == COMPUTED, "{name}");
            assert!(help.text.is_empty() || help.text.ends_with('.'), "{name}");
            assert!(help.group == COMPUTED || help.variable.variable().scope != Scope::Session, "{name}");
        }
        assert_eq!(of(crate::id::PORT).map(|help| help.group), Some("network"));
        assert!(of(crate::id::KEY_BUFFER_SIZE).is_none());
    }
}

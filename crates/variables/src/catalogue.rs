//! What is known of every system variable. Main type: [`SystemVariable`], found by [`find`].
//! The table is generated from `data/system_variables.tsv`.

#[rustfmt::skip]
#[path = "generated/system_variables.rs"]
#[allow(clippy::all)]
pub mod id;

/// The place of a variable in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u16);

/// Which copies of a variable exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One for the server.
    Global,
    /// One for each session.
    Session,
    /// One for the server, which new sessions copy.
    Both,
}

/// What values a variable takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ON and OFF.
    Boolean,
    /// Whole numbers.
    Integer,
    /// Approximate numbers.
    Double,
    /// Text.
    String,
    /// One of the members.
    Enumeration,
    /// Any of the members.
    Set,
    /// Each member on or off: `a=on,b=off`.
    Flags,
}

/// A system variable.
#[derive(Clone, Copy, Debug)]
pub struct SystemVariable {
    /// Name in lower case.
    pub name: &'static str,
    /// Copies.
    pub scope: Scope,
    /// Values.
    pub kind: Kind,
    /// Whether SET changes it while the server runs.
    pub dynamic: bool,
    /// Whether the SET_VAR hint may change it.
    pub hint: bool,
    /// Smallest number.
    pub minimum: i128,
    /// Largest number.
    pub maximum: i128,
    /// Numbers are rounded down to a multiple of this.
    pub multiple: u64,
    /// Compiled default as text; None is NULL.
    pub default: Option<&'static str>,
    /// Members of enumerations, sets and flags, by position.
    pub members: &'static [&'static str],
    /// Privileges one of which SET SESSION takes; none: everybody may.
    pub session_privileges: &'static [&'static str],
}

impl VariableId {
    /// What is known of it.
    pub fn variable(self) -> &'static SystemVariable {
        &id::ALL[self.0 as usize]
    }

    /// All variables by name.
    pub fn all() -> impl Iterator<Item = VariableId> {
        (0..id::ALL.len() as u16).map(VariableId)
    }
}

/// The variable of that name, without regard to case.
pub fn find(name: &str) -> Option<VariableId> {
    let lower = name.to_ascii_lowercase();
    id::ALL
        .binary_search_by(|variable| variable.name.cmp(lower.as_str()))
        .ok()
        .map(|at| VariableId(at as u16))
}

/// Pairs of an old name and its present one: a change of either shows in both.
const ALIASES: &[(VariableId, VariableId)] = &[
    (id::INIT_SLAVE, id::INIT_REPLICA),
    (id::LOG_SLAVE_UPDATES, id::LOG_REPLICA_UPDATES),
    (id::LOG_SLOW_SLAVE_STATEMENTS, id::LOG_SLOW_REPLICA_STATEMENTS),
    (id::MASTER_VERIFY_CHECKSUM, id::SOURCE_VERIFY_CHECKSUM),
    (id::SLAVE_EXEC_MODE, id::REPLICA_EXEC_MODE),
    (id::SLAVE_NET_TIMEOUT, id::REPLICA_NET_TIMEOUT),
    (id::SLAVE_PARALLEL_WORKERS, id::REPLICA_PARALLEL_WORKERS),
    (id::SQL_SLAVE_SKIP_COUNTER, id::SQL_REPLICA_SKIP_COUNTER),
    (id::SYNC_MASTER_INFO, id::SYNC_SOURCE_INFO),
    (id::IDENTITY, id::LAST_INSERT_ID),
];

/// The other name of a variable that has two.
pub fn alias(variable: VariableId) -> Option<VariableId> {
    ALIASES.iter().find_map(|(old, new)| match variable {
        _ if variable == *old => Some(*new),
        _ if variable == *new => Some(*old),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        assert!(id::ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert_eq!(find("AutoCommit"), Some(id::AUTOCOMMIT));
        assert_eq!(find("no_such"), None);
        assert_eq!(id::MAX_ALLOWED_PACKET.variable().multiple, 1024);
    }
}

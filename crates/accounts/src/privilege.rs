//! Privileges: the static ones as bits, the dynamic ones as names. Main type: [`Privileges`].

/// A set of static privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges(pub u64);

macro_rules! privileges {
    ($($name:ident = $bit:literal, $text:literal;)*) => {
        #[allow(missing_docs)]
        impl Privileges {
            $(pub const $name: Privileges = Privileges(1 << $bit);)*
        }

        /// Every static privilege with its name, in the order in which SHOW GRANTS prints them.
        pub const NAMED: &[(Privileges, &str)] = &[$((Privileges::$name, $text)),*];
    };
}

privileges! {
    SELECT = 0, "SELECT";
    INSERT = 1, "INSERT";
    UPDATE = 2, "UPDATE";
    DELETE = 3, "DELETE";
    CREATE = 4, "CREATE";
    DROP = 5, "DROP";
    RELOAD = 6, "RELOAD";
    SHUTDOWN = 7, "SHUTDOWN";
    PROCESS = 8, "PROCESS";
    FILE = 9, "FILE";
    REFERENCES = 11, "REFERENCES";
    INDEX = 12, "INDEX";
    ALTER = 13, "ALTER";
    SHOW_DATABASES = 14, "SHOW DATABASES";
    SUPER = 15, "SUPER";
    CREATE_TEMPORARY_TABLES = 16, "CREATE TEMPORARY TABLES";
    LOCK_TABLES = 17, "LOCK TABLES";
    EXECUTE = 18, "EXECUTE";
    REPLICATION_SLAVE = 19, "REPLICATION SLAVE";
    REPLICATION_CLIENT = 20, "REPLICATION CLIENT";
    CREATE_VIEW = 21, "CREATE VIEW";
    SHOW_VIEW = 22, "SHOW VIEW";
    CREATE_ROUTINE = 23, "CREATE ROUTINE";
    ALTER_ROUTINE = 24, "ALTER ROUTINE";
    CREATE_USER = 25, "CREATE USER";
    EVENT = 26, "EVENT";
    TRIGGER = 27, "TRIGGER";
    CREATE_TABLESPACE = 28, "CREATE TABLESPACE";
    CREATE_ROLE = 29, "CREATE ROLE";
    DROP_ROLE = 30, "DROP ROLE";
}

impl Privileges {
    /// None.
    pub const NONE: Privileges = Privileges(0);
    /// GRANT OPTION. Not among [`NAMED`]: it is printed as WITH GRANT OPTION.
    pub const GRANT: Privileges = Privileges(1 << 10);
    /// All that can be granted at the global level.
    pub const ALL_GLOBAL: Privileges = Privileges(0x7fff_ffff & !(1 << 10));
    /// All that can be granted on a schema.
    pub const ALL_SCHEMA: Privileges = Privileges(
        Privileges::ALL_TABLE.0
            | Privileges::CREATE_TEMPORARY_TABLES.0
            | Privileges::LOCK_TABLES.0
            | Privileges::EXECUTE.0
            | Privileges::CREATE_ROUTINE.0
            | Privileges::ALTER_ROUTINE.0
            | Privileges::EVENT.0,
    );
    /// All that can be granted on a table.
    pub const ALL_TABLE: Privileges = Privileges(
        Privileges::SELECT.0
            | Privileges::INSERT.0
            | Privileges::UPDATE.0
            | Privileges::DELETE.0
            | Privileges::CREATE.0
            | Privileges::DROP.0
            | Privileges::REFERENCES.0
            | Privileges::INDEX.0
            | Privileges::ALTER.0
            | Privileges::CREATE_VIEW.0
            | Privileges::SHOW_VIEW.0
            | Privileges::TRIGGER.0,
    );
    /// All that can be granted on a column.
    pub const ALL_COLUMN: Privileges = Privileges(
        Privileges::SELECT.0 | Privileges::INSERT.0 | Privileges::UPDATE.0 | Privileges::REFERENCES.0,
    );

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in the set.
    pub const fn intersects(self, other: Privileges) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    pub const fn with(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// The set without `other`.
    pub const fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names as messages list them, GRANT among them.
    pub fn list(self) -> String {
        let (before, behind) = (Privileges(Privileges::GRANT.0 - 1), !(Privileges::GRANT.0 * 2 - 1));
        let mut names: Vec<&str> = Privileges(self.0 & before.0).names().collect();
        names.extend(self.contains(Privileges::GRANT).then_some("GRANT"));
        names.extend(Privileges(self.0 & behind).names());
        names.join(", ")
    }

    /// Names in SHOW GRANTS order; GRANT OPTION is left out.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMED.iter().filter(move |(bit, _)| self.contains(*bit)).map(|(_, name)| *name)
    }
}

/// The static privilege of that upper-case name.
pub fn find_static(name: &str) -> Option<Privileges> {
    if name == "GRANT OPTION" || name == "GRANT" {
        return Some(Privileges::GRANT);
    }
    NAMED.iter().find(|(_, text)| *text == name).map(|(bit, _)| *bit)
}

/// The dynamic privilege of administrators' accounts: who lacks it has no power over them.
pub const SYSTEM_USER: &str = "SYSTEM_USER";

/// The dynamic privileges, sorted.
pub const DYNAMIC: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    SYSTEM_USER,
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_global_is_every_named_bit() {
        let all = NAMED.iter().fold(0, |bits, (bit, _)| bits | bit.0);
        assert_eq!(all, Privileges::ALL_GLOBAL.0);
        assert!(Privileges::ALL_GLOBAL.contains(Privileges::ALL_SCHEMA));
        assert!(DYNAMIC.is_sorted());
    }
}

//! What a metadata lock is on. Main type: [`LockKey`].
//! Locks are of names, because CREATE and RENAME lock what does not exist yet. The order of keys is the order in which a
//! statement takes several, so that two statements do not wait for each other.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

/// The kind of thing that a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// The server: FLUSH TABLES WITH READ LOCK against statements that change something.
    Global,
    /// The server's definitions: LOCK INSTANCE FOR BACKUP against statements that change any.
    Backup,
    /// A schema: DROP DATABASE against whatever makes, renames or removes a table in it.
    Schema,
    /// A table.
    Table,
    /// The server's commits: FLUSH TABLES WITH READ LOCK against COMMIT.
    Commit,
    /// A name of GET_LOCK().
    UserLock,
}

impl Namespace {
    /// OBJECT_TYPE of performance_schema.metadata_locks.
    pub fn name(self) -> &'static str {
        match self {
            Namespace::Global => "GLOBAL",
            Namespace::Backup => "BACKUP LOCK",
            Namespace::Schema => "SCHEMA",
            Namespace::Table => "TABLE",
            Namespace::Commit => "COMMIT",
            Namespace::UserLock => "USER LEVEL LOCK",
        }
    }
}

/// What is locked. Cheap to copy; its hash is worked out once, because a kept plan's locks are taken by every execution.
#[derive(Clone, Debug)]
pub struct LockKey(Arc<KeyText>);

#[derive(Debug)]
struct KeyText {
    namespace: Namespace,
    schema: String,
    name: String,
    hash: u64,
}

impl LockKey {
    /// The definitions of the server.
    pub fn backup() -> LockKey {
        BACKUP_KEY.clone()
    }

    /// A table.
    pub fn table(schema: &str, table: &str) -> LockKey {
        LockKey::new(Namespace::Table, schema, table)
    }

    /// A schema.
    pub fn schema(schema: &str) -> LockKey {
        LockKey::new(Namespace::Schema, schema, "")
    }

    /// A user lock, by its name in the form that is compared.
    pub fn user_lock(name: &str) -> LockKey {
        LockKey::new(Namespace::UserLock, "", name)
    }

    pub(super) fn new(namespace: Namespace, schema: &str, name: &str) -> LockKey {
        let hash = HASH_KEYS.hash_one((namespace, schema, name));
        LockKey(Arc::new(KeyText { namespace, schema: schema.to_owned(), name: name.to_owned(), hash }))
    }

    /// What kind of thing it is.
    pub fn namespace(&self) -> Namespace {
        self.0.namespace
    }

    /// Schema; empty for what belongs to none.
    pub fn schema_name(&self) -> &str {
        &self.0.schema
    }

    /// Table or user lock; empty for a schema and the server.
    pub fn object_name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn hash_value(&self) -> u64 {
        self.0.hash
    }
}

/// There is one of its kind.
static BACKUP_KEY: LazyLock<LockKey> = LazyLock::new(|| LockKey::new(Namespace::Backup, "", ""));

/// Names come from clients: without the keys nobody can make many of them meet in one place.
static HASH_KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl PartialEq for LockKey {
    fn eq(&self, other: &LockKey) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.cmp(other) == std::cmp::Ordering::Equal)
    }
}

impl Eq for LockKey {}

impl std::hash::Hash for LockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for LockKey {
    fn partial_cmp(&self, other: &LockKey) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LockKey {
    fn cmp(&self, other: &LockKey) -> std::cmp::Ordering {
        let (left, right) = (&*self.0, &*other.0);
        (left.namespace, &left.schema, &left.name).cmp(&(right.namespace, &right.schema, &right.name))
    }
}

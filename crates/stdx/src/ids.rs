//! Ids and positions of the storage layers. Each is a type of its own, so that none can stand for another.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A tablespace: one data file. 0 is the system tablespace (data dictionary).
    SpaceId(u32)
}
id! {
    /// A page within its tablespace, counted from 0 (the space header page).
    PageNumber(u32)
}
id! {
    /// Log sequence number: the byte offset of a record's end in the endless redo log.
    Lsn(u64)
}
id! {
    /// A transaction that writes. Ids rise in the order of first writes; 0 means "no transaction, visible to all".
    TransactionId(u64)
}
id! {
    /// The place of a commit in the one total commit order. A snapshot is one of these.
    CommitTimestamp(u64)
}
id! {
    /// A table, for the life of its definition's storage. Never used again after the table is dropped.
    TableId(u64)
}
id! {
    /// An index, unique over all tables. Never used again after the index is dropped.
    IndexId(u64)
}

impl IndexId {
    /// Indexes of temporary tables have ids from here on: they are handed out in memory, and nothing on disk has them.
    pub const FIRST_TEMPORARY: IndexId = IndexId(1 << 62);

    /// Whether it is an index of a temporary table: one session's, without locks, versions and log.
    #[inline]
    pub fn is_temporary(self) -> bool {
        self.0 >> 62 == 1
    }
}

impl TableId {
    /// Whether it is a temporary table: their ids are handed out with those of their indexes.
    #[inline]
    pub fn is_temporary(self) -> bool {
        IndexId(self.0).is_temporary()
    }
}

/// The address of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// The tablespace.
    pub space: SpaceId,
    /// The page within it.
    pub number: PageNumber,
}

impl std::fmt::Display for PageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.space, self.number)
    }
}

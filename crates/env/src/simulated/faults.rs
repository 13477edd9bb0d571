//! What can be made to go wrong on a simulated disk, and the counters by which it is aimed.

/// One planned fault: the `nth` operation (from 0) of `class` fails as `kind` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which operations are counted.
    pub class: OperationClass,
    /// The number of the one that fails, from 0, over the life of the disk.
    pub nth: u64,
    /// How it fails.
    pub kind: FaultKind,
}

/// Kinds of operations, each with a counter of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationClass {
    /// `read_at`.
    Read,
    /// `write_at`.
    Write,
    /// `sync_data`, `sync_all`, `sync_directory`.
    Sync,
    /// `allocate`, `set_len`, `discard`, and opening a file that is thereby created.
    Allocate,
    /// `remove`, `rename`, `create_directory`, `remove_directory`.
    Namespace,
    /// Every operation but reads.
    AnyMutation,
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An input/output error. A failed sync also loses, for good, a random part of what it should have saved: the
    /// kernel marks pages clean although they were not written.
    InputOutput,
    /// The disk is full. A write stores nothing. A sync fails as one with an input/output error.
    NoSpace,
    /// A write stores its first half and then reports a full disk.
    ShortWrite,
    /// A sync reports success and does nothing: the mistake that tests plant to prove that they would see it.
    SilentlySkipped,
}

/// How many operations a simulated disk has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// `read_at`.
    pub reads: u64,
    /// `write_at`.
    pub writes: u64,
    /// `sync_data`, `sync_all`, `sync_directory`.
    pub syncs: u64,
    /// `allocate`, `set_len`, creations.
    pub allocations: u64,
    /// Directory changes other than creations.
    pub namespace: u64,
    /// Every operation but reads: the numbers that `crash_at` takes.
    pub mutations: u64,
}

impl OperationCounts {
    /// Counts one operation and gives its number within its class.
    pub(super) fn count(&mut self, class: OperationClass) -> u64 {
        let counter = match class {
            OperationClass::Read => &mut self.reads,
            OperationClass::Write => &mut self.writes,
            OperationClass::Sync => &mut self.syncs,
            OperationClass::Allocate => &mut self.allocations,
            OperationClass::Namespace => &mut self.namespace,
            OperationClass::AnyMutation => &mut self.mutations,
        };
        *counter += 1;
        *counter - 1
    }
}

//! A wait for a row lock as the graph of waits asks about it. Main type: [`RowWait`].

use super::owner::{Owner, WaitEnd};
use super::table::LockTable;
use crate::wait_graph::{Blockers, WaitRequest, Waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One owner's wait in the queue of one row.
#[derive(Debug)]
pub(super) struct RowWait {
    pub(super) table: Arc<LockTable>,
    pub(super) owner: Arc<Owner>,
    /// Counts victims that waited for a row.
    pub(super) victims: Arc<AtomicU64>,
}

impl Waiting for RowWait {
    fn blockers(&self, found: &mut Blockers) -> Option<u64> {
        self.table.blockers(&self.owner, found)
    }

    fn weight(&self) -> u64 {
        self.owner.weight()
    }

    fn end_as_victim(&self, wait_number: u64) -> bool {
        let chosen = self.table.give_up(&self.owner, Some(wait_number), WaitEnd::Victim);
        self.victims.fetch_add(u64::from(chosen), Ordering::Relaxed);
        chosen
    }

    fn request(&self) -> Option<WaitRequest> {
        self.table.request_of(&self.owner).map(WaitRequest::Row)
    }
}

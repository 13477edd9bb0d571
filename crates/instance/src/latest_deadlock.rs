//! The deadlock that was found last, for SHOW ENGINE INNODB STATUS. Main type: [`Deadlock`].

use crate::instance::Instance;
use crate::lock_place::lock_text;
use engine::{CycleMember, WaitRequest};
use std::sync::Arc;

/// Bytes of a statement that are kept.
const STATEMENT_BYTES_MAX: usize = 1024;

/// A cycle of waits, as it was when it was found.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// When, microseconds since 1970.
    pub wall_microseconds: i64,
    /// Each waits for the next, the last for the first. The last began to wait last.
    pub members: Vec<DeadlockMember>,
    /// Which of them was given up.
    pub victim: usize,
}

/// A member of the cycle.
#[derive(Clone, Debug, Default)]
pub struct DeadlockMember {
    /// Its connection; 0 if it is none.
    pub session_id: u64,
    /// Of the connection.
    pub user: String,
    /// Of the connection.
    pub host: String,
    /// The beginning of the statement that waits.
    pub statement: Vec<u8>,
    /// Since its transaction began.
    pub active_seconds: u64,
    /// The id of its transaction; 0 of one that has not written, or has ended.
    pub transaction: u64,
    /// What it waits for, in words of that moment: tables may be altered or gone when they are read.
    pub request: String,
}

impl Instance {
    /// From now on deadlocks are noted.
    pub(crate) fn watch_deadlocks(self: &Arc<Instance>) {
        let instance = Arc::downgrade(self);
        self.engine().waits().watch(Box::new(move |members, victim| {
            if let Some(instance) = instance.upgrade() {
                instance.note_deadlock(members, victim);
            }
        }));
    }

    /// Called while all of them wait still. Cycles without a row lock end with another error and no rollback.
    fn note_deadlock(&self, members: &[CycleMember], victim: usize) {
        if !members.iter().any(|member| matches!(member.request, Some(WaitRequest::Row(_)))) {
            return;
        }
        let mut noted: Vec<DeadlockMember> = members.iter().map(|member| self.member(member)).collect();
        // The first is the one that closed the cycle.
        noted.rotate_left(1);
        let victim = (victim + members.len() - 1) % members.len();
        let deadlock = Deadlock { wall_microseconds: self.wall_microseconds(), members: noted, victim };
        *stdx::sync::lock(self.deadlock_slot()) = Some(Arc::new(deadlock));
    }

    fn member(&self, member: &CycleMember) -> DeadlockMember {
        let request = match &member.request {
            Some(WaitRequest::Row(lock)) => lock_text(self.engine(), lock),
            Some(WaitRequest::Name(name)) => format!("{name} waiting\n"),
            None => String::new(),
        };
        let transaction = match &member.request {
            Some(WaitRequest::Row(lock)) => lock.transaction,
            _ => member.session_id.map_or(0, |id| self.writer_of(id)),
        };
        let mut noted = DeadlockMember { request, transaction, ..DeadlockMember::default() };
        let session = member.session_id.and_then(|id| self.registry().get(id as u32));
        let Some(session) = session else { return noted };
        noted.session_id = u64::from(session.id);
        if let Some(open) = session.transaction.get() {
            let active = self.monotonic_microseconds().saturating_sub(open.began_microseconds);
            noted.active_seconds = active / 1_000_000;
        }
        let description = session.describe();
        noted.user.clone_from(&description.user);
        noted.host.clone_from(&description.host);
        let shown = description.statement.len().min(STATEMENT_BYTES_MAX);
        noted.statement = description.statement[..shown].to_vec();
        noted
    }

    /// The transaction of a session, if it has written.
    fn writer_of(&self, session_id: u64) -> u64 {
        let mut writers = self.engine().status().writers.into_iter();
        writers.find(|writer| writer.session_id == session_id).map_or(0, |writer| writer.id.0)
    }

    /// The deadlock that was found last.
    pub fn latest_deadlock(&self) -> Option<Arc<Deadlock>> {
        stdx::sync::lock(self.deadlock_slot()).clone()
    }
}

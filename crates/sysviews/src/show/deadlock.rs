//! The section of SHOW ENGINE INNODB STATUS about the deadlock that was found last.

use crate::system_tables::lock_text;
use engine::WaitRequest;
use expression::TimeZone;
use instance::{Deadlock, DeadlockMember, Instance};

/// The section; empty if no deadlock was found yet.
pub(super) fn deadlock_section(instance: &Instance) -> String {
    let Some(deadlock) = instance.latest_deadlock() else { return String::new() };
    let Deadlock { wall_microseconds, members, victim } = &*deadlock;
    let at = TimeZone::UTC.local(*wall_microseconds);
    let members = members.iter().enumerate();
    let members: String = members.map(|(number, one)| member_text(instance, number + 1, one)).collect();
    format!(
        "------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n\
         {:04}-{:02}-{:02} {:02}:{:02}:{:02} 0\n{members}*** WE ROLL BACK TRANSACTION ({})\n",
        at.date.year,
        at.date.month,
        at.date.day,
        at.hour,
        at.minute,
        at.second,
        victim + 1,
    )
}

fn member_text(instance: &Instance, number: usize, member: &DeadlockMember) -> String {
    let DeadlockMember { session_id, user, host, statement, active_seconds, request } = member;
    let id = match request {
        Some(WaitRequest::Row(lock)) if lock.transaction != 0 => lock.transaction,
        _ => 0,
    };
    let who = match session_id {
        0 => String::new(),
        id => format!(
            "MySQL thread id {id}, OS thread handle 0, query id 0 {host} {user}\n{}\n",
            String::from_utf8_lossy(statement)
        ),
    };
    let waits_for = match request {
        Some(WaitRequest::Row(lock)) => lock_text(instance, lock),
        Some(WaitRequest::Name(name)) => format!("{name} waiting\n"),
        None => String::new(),
    };
    format!(
        "*** ({number}) TRANSACTION:\nTRANSACTION {id}, ACTIVE {active_seconds} sec\n{who}\n\
         *** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{waits_for}\n"
    )
}

//! The section of SHOW ENGINE INNODB STATUS about the deadlock that was found last.

use expression::TimeZone;
use instance::{Deadlock, DeadlockMember, Instance};

/// The section; empty if no deadlock was found yet.
pub(super) fn deadlock_section(instance: &Instance) -> String {
    let Some(deadlock) = instance.latest_deadlock() else { return String::new() };
    let Deadlock { wall_microseconds, members, victim } = &*deadlock;
    let at = TimeZone::UTC.local(*wall_microseconds);
    let members = members.iter().enumerate();
    let members: String = members.map(|(number, one)| member_text(number + 1, one)).collect();
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

fn member_text(number: usize, member: &DeadlockMember) -> String {
    let DeadlockMember { session_id, user, host, statement, active_seconds, transaction, request } = member;
    let who = match session_id {
        0 => String::new(),
        id => format!(
            "MySQL thread id {id}, OS thread handle 0, query id 0 {host} {user}\n{}\n",
            String::from_utf8_lossy(statement)
        ),
    };
    format!(
        "*** ({number}) TRANSACTION:\nTRANSACTION {transaction}, ACTIVE {active_seconds} sec\n{who}\n\
         *** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{request}\n"
    )
}

//! Values of status variables: sums of sessions' counters, and those that are looked up when asked for.
//! Main function: [`rows`].

use crate::instance::Instance;
use crate::kept_result::KeptResult;
use crate::registry::SessionShared;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use variables::status::{StatusId, id};

/// The server's total of a counter.
pub fn total(instance: &Instance, id: StatusId) -> u64 {
    let live: u64 = instance.registry().all().iter().map(|session| session.counters.get(id)).sum();
    instance.ended_counters().get(id) + live
}

/// Tables that are open.
pub fn open_tables(instance: &Instance) -> usize {
    instance.engine().dictionary().open_table_count()
}

/// Name and value of every status variable whose name is wanted, for one session or the whole server.
pub fn rows(
    instance: &Instance,
    session: Option<&SessionShared>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let sessions = instance.registry().all();
    let sum = |id: StatusId| {
        instance.ended_counters().get(id)
            + sessions.iter().map(|session| session.counters.get(id)).sum::<u64>()
    };
    let of_engine: HashMap<&str, u64> =
        metrics::counter_values().chain(instance.engine().status_variables()).collect();
    // What nobody can be served any more is thrown out before it is counted: MySQL does so when a table changes.
    if is_wanted(id::QCACHE_QUERIES_IN_CACHE.variable().name)
        || is_wanted(id::QCACHE_FREE_MEMORY.variable().name)
    {
        instance.results().retain(KeptResult::may_be_right);
    }
    StatusId::all()
        .filter(|id| is_wanted(id.variable().name))
        .map(|id| {
            let variable = id.variable();
            let of_engine = || of_engine.get(variable.name).map(u64::to_string);
            let value = match live_value(instance, id, session).or_else(of_engine) {
                Some(value) => value,
                None => match session.filter(|_| variable.per_session) {
                    Some(session) => session.counters.get(id).to_string(),
                    None if variable.text => String::new(),
                    None => sum(id).to_string(),
                },
            };
            (variable.name, value)
        })
        .collect()
}

/// Values that no counter holds.
fn live_value(instance: &Instance, id: StatusId, session: Option<&SessionShared>) -> Option<String> {
    let registry = instance.registry();
    let count = |number: usize| number.to_string();
    Some(match id {
        id::UPTIME | id::UPTIME_SINCE_FLUSH_STATUS => instance.uptime_seconds().to_string(),
        id::THREADS_CONNECTED => registry.connected.load(Ordering::Relaxed).to_string(),
        id::MAX_USED_CONNECTIONS => registry.connected_max.load(Ordering::Relaxed).to_string(),
        id::THREADS_RUNNING => count(registry.all().iter().filter(|session| session.is_running()).count()),
        id::GLOBAL_CONNECTION_MEMORY => instance.statement_memory().reserved_bytes().to_string(),
        id::PREPARED_STMT_COUNT => instance.prepared_memory().count().to_string(),
        id::OPENED_TABLE_DEFINITIONS => instance.engine().dictionary().opened_table_count().to_string(),
        id::OPEN_TABLES | id::OPEN_TABLE_DEFINITIONS | id::OPENED_TABLES => count(open_tables(instance)),
        id::QCACHE_FREE_BLOCKS
        | id::QCACHE_FREE_MEMORY
        | id::QCACHE_INSERTS
        | id::QCACHE_LOWMEM_PRUNES
        | id::QCACHE_QUERIES_IN_CACHE
        | id::QCACHE_TOTAL_BLOCKS => of_results(instance, id).to_string(),
        id::SSL_VERSION | id::SSL_CIPHER => {
            let details = session.and_then(|session| session.describe().tls.clone()).unwrap_or_default();
            if id == id::SSL_VERSION { details.version } else { details.cipher }
        }
        id::COMPRESSION => "OFF".to_owned(),
        id::RESOURCE_GROUP_SUPPORTED => "OFF".to_owned(),
        id::LAST_QUERY_COST => "0.000000".to_owned(),
        id::INNODB_REDO_LOG_CAPACITY_RESIZED => {
            instance.global_number(variables::id::INNODB_REDO_LOG_CAPACITY).to_string()
        }
        _ => return None,
    })
}

/// Figures of the kept results.
fn of_results(instance: &Instance, id: StatusId) -> u64 {
    let figures = instance.results().figures();
    match id {
        id::QCACHE_FREE_BLOCKS => u64::from(figures.bytes < figures.capacity_bytes),
        id::QCACHE_FREE_MEMORY => figures.capacity_bytes.saturating_sub(figures.bytes),
        id::QCACHE_INSERTS => figures.inserted,
        id::QCACHE_LOWMEM_PRUNES => figures.pruned,
        id::QCACHE_QUERIES_IN_CACHE => figures.count,
        // As MySQL counts: one for the text and one for the rows of each, and one of free memory.
        _ => 2 * figures.count + u64::from(figures.bytes < figures.capacity_bytes),
    }
}

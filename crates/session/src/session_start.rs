//! The variables that a session starts with. Sessions that start alike share them, and the settings that follow from
//! them, until one of them changes a variable: connecting works nothing out that an earlier connection did.
//! Main type: [`SessionStarts`].

use crate::session::Session;
use crate::statement_settings::StatementSettings;
use charset::CollationId;
use std::sync::{Arc, PoisonError, RwLock};
use variables::SessionVariables;
use variables::id;
use wire::capabilities::client;

/// Kinds of sessions that are remembered: drivers and tools of one server, each with its schemas.
const STARTS_MAX: usize = 32;

/// How the sessions of late have started.
#[derive(Debug, Default)]
pub(crate) struct SessionStarts(RwLock<Vec<Arc<SessionStart>>>);

#[derive(Debug)]
struct SessionStart {
    key: StartKey,
    variables: Arc<SessionVariables>,
    /// Those of the session that was the first one; names and ids of others differ.
    settings: StatementSettings,
}

/// What a session's first variables and settings depend on.
#[derive(Debug, PartialEq, Eq)]
struct StartKey {
    /// Of the global variables.
    generation: u64,
    collation: Option<CollationId>,
    capabilities: u64,
    schema: Option<Arc<str>>,
    schema_collation: Option<CollationId>,
}

impl SessionStarts {
    fn find(&self, key: &StartKey) -> Option<Arc<SessionStart>> {
        let starts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        starts.iter().find(|start| start.key == *key).cloned()
    }

    /// Remembers one. What started with other global variables does not come again.
    fn add(&self, start: SessionStart) {
        let mut starts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|other| other.key.generation == start.key.generation);
        starts.truncate(STARTS_MAX - 1);
        starts.insert(0, Arc::new(start));
    }
}

impl Session {
    /// Gives a session whose variables are the global ones its own: collation of the handshake (None: the global
    /// character sets), time-out of interactive clients, collation of the default schema.
    pub(crate) fn start_variables(&mut self, collation: Option<CollationId>) {
        let instance = Arc::clone(&self.instance);
        let key = StartKey {
            generation: self.state.variables.generation(),
            collation,
            capabilities: self.capabilities,
            schema: self.schema.clone(),
            schema_collation: self.schema_collation(),
        };
        self.forget_settings();
        if let Some(start) = instance.session_starts().find(&key) {
            self.state.variables = Arc::clone(&start.variables);
            let _ = self.settings.set(start.settings.for_session(self));
            return;
        }
        self.make_variables(collation);
        let settings = self.settings().clone();
        let variables = Arc::clone(&self.state.variables);
        instance.session_starts().add(SessionStart { key, variables, settings });
    }

    fn make_variables(&mut self, collation: Option<CollationId>) {
        if let Some(collation) = collation {
            self.set_client_collation(collation);
        }
        if self.capabilities & u64::from(client::INTERACTIVE) != 0 {
            let timeout = self.state.variables.get(id::INTERACTIVE_TIMEOUT).clone();
            self.store_variable(id::WAIT_TIMEOUT, timeout);
        }
        if self.schema.is_some() {
            self.follow_schema_collation();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Instance;
    use crate::tests::{Printer, connect, environment, info, run, start};
    use accounts::ClientHost;
    use wire::result::SessionChange;

    const NAMES: &str =
        "select @@character_set_client, @@collation_connection, @@character_set_database, database()";

    fn open(instance: &Arc<Instance>, collation: u16, schema: &str, capabilities: u32) -> Box<Session> {
        let account = instance.find_account("root", &ClientHost::local()).unwrap();
        let mut info = info(instance, "root");
        (info.collation, info.schema) = (collation, schema.to_owned());
        info.capabilities |= u64::from(capabilities);
        Session::open(instance, info, &account).unwrap()
    }

    #[test]
    fn each_kind_of_start_has_its_variables_the_second_time_too() {
        let (_disk, environment) = environment();
        let instance = start(&environment);
        let mut root = connect(&instance, "root").unwrap();
        run(&mut root, "create database old charset latin1");
        for _ in 0..2 {
            assert_eq!(run(&mut open(&instance, 8, "", 0), NAMES), ["latin1|latin1_swedish_ci|utf8mb4|NULL"]);
            assert_eq!(run(&mut open(&instance, 46, "old", 0), NAMES), ["utf8mb4|utf8mb4_bin|latin1|old"]);
            let mut interactive = open(&instance, 46, "", client::INTERACTIVE);
            run(&mut interactive, "set global interactive_timeout = 77");
            let timeout = run(&mut open(&instance, 46, "", client::INTERACTIVE), "select @@wait_timeout");
            assert_eq!(timeout, ["77"]);
            assert_eq!(run(&mut open(&instance, 46, "", 0), "select @@wait_timeout"), ["28800"]);
        }
        run(&mut root, "alter database old charset gbk");
        assert_eq!(run(&mut open(&instance, 46, "old", 0), NAMES), ["utf8mb4|utf8mb4_bin|gbk|old"]);
    }

    #[test]
    fn sessions_that_started_alike_are_apart() {
        let (_disk, environment) = environment();
        let instance = start(&environment);
        let mut first = open(&instance, 46, "", 0);
        let mut second = open(&instance, 46, "", 0);
        run(&mut first, "set sql_mode = ''");
        assert_eq!(run(&mut second, "select 1/0, @@sql_mode <> ''"), ["NULL|1"]);
        assert_eq!(run(&mut first, "select @@sql_mode"), [""]);
        let ids = [&mut first, &mut second].map(|session| run(session, "select connection_id()"));
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn a_reset_goes_back_to_the_global_variables() {
        let (_disk, environment) = environment();
        let instance = start(&environment);
        let mut session = open(&instance, 8, "mysql", 0);
        // What the login's OK packet says.
        assert!(matches!(&session.changes[..], [SessionChange::Schema(name)] if name == "mysql"));
        run(&mut session, "set names gbk");
        session.reset_connection(&mut Printer::default());
        assert_eq!(run(&mut session, NAMES), ["utf8mb4|utf8mb4_0900_ai_ci|utf8mb4|mysql"]);
    }

    /// Pools reset connections whose schema somebody dropped meanwhile.
    #[test]
    fn a_reset_takes_everything_back_whatever_became_of_the_schema() {
        let (_disk, environment) = environment();
        let instance = start(&environment);
        let mut other = connect(&instance, "root").unwrap();
        run(
            &mut other,
            "create role r; create database old charset latin1; create database now charset latin1",
        );
        run(&mut other, "grant r to root@localhost; set default role r to root@localhost");
        for schema in ["old", "now"] {
            let mut session = open(&instance, 46, schema, 0);
            run(
                &mut session,
                "set role none; set sql_mode = 'PIPES_AS_CONCAT', time_zone = '+05:00', max_error_count = 0",
            );
            run(&mut other, "drop database if exists old");
            let mut printer = Printer::default();
            session.reset_connection(&mut printer);
            assert_eq!(printer.take_lines(), ["OK 0"]);
            let told = run(
                &mut session,
                "select database(), @@time_zone, from_unixtime(0), 1 || 'b', current_role(); \
                 select cast('x' as signed); show warnings",
            );
            let first = format!("{schema}|SYSTEM|1970-01-01 00:00:00|1|NONE");
            assert_eq!(told, [&*first, "0", "Warning|1292|Truncated incorrect INTEGER value: 'x'"]);
        }
    }
}

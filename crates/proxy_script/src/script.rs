//! A connection's script: its hooks, called one by one. Main types: [`Script`], [`Decision`].

use crate::connection::Connection;
use crate::constants::{IGNORE_RESULT, SEND_QUERY, SEND_RESULT};
use crate::engine::{Locked, ScriptEngine};
use crate::host::Level;
use crate::injected::{Answer, InjectionObject};
use crate::response::{Dialect, Reply, reply};
use crate::script_error::text;
use mlua::{Function, IntoLua, Lua, Table, Value};
use std::sync::Arc;

/// Bytes of an answer that are worth a collection of their own.
const COLLECTED_BYTES_MIN: usize = 1 << 20;

/// What a hook wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: the usual goes on.
    Pass,
    /// Send what is in the queue.
    SendQueries,
    /// Send this to the client instead.
    Reply(Reply),
    /// The result goes to nobody; before the login: use the pooled connection.
    Ignore,
}

/// A script with its environment.
pub struct Script {
    engine: Arc<ScriptEngine>,
    connection: Arc<Connection>,
    environment: Table,
    fields: Table,
    /// The file, as messages name it.
    path: String,
}

impl Script {
    pub(crate) fn new(
        engine: Arc<ScriptEngine>,
        connection: Arc<Connection>,
        environment: Table,
        fields: Table,
        path: String,
    ) -> Script {
        Script { engine, connection, environment, fields, path }
    }

    /// Whether the script has that hook now.
    pub fn has(&self, hook: &str) -> bool {
        let _locked = self.engine.locked();
        self.environment.get::<Function>(hook).is_ok()
    }

    /// Before a backend is connected.
    pub fn connect_server(&self) -> Decision {
        // The client has told nothing yet.
        self.call("connect_server", Value::Nil, Dialect { capabilities: 0 })
    }

    /// After the server's greeting.
    pub fn read_handshake(&self) -> Decision {
        self.call("read_handshake", Value::Nil, Dialect { capabilities: 0 })
    }

    /// After the client's login packet.
    pub fn read_auth(&self, dialect: Dialect) -> Decision {
        self.connection.state().queries.clear();
        self.call("read_auth", Value::Nil, dialect)
    }

    /// For each packet of the server in a login.
    pub fn read_auth_result(&self, packet: &[u8], dialect: Dialect) -> Decision {
        let locked = self.engine.locked();
        let argument = locked.lua.create_table().and_then(|argument| {
            argument.set("packet", locked.lua.create_string(packet)?)?;
            Ok(argument)
        });
        match argument {
            Ok(argument) => self.run(&locked, "read_auth_result", argument, dialect),
            Err(error) => self.failed("read_auth_result", &error),
        }
    }

    /// For each command. The queue is empty before, and filled after only with [`Decision::SendQueries`].
    pub fn read_query(&self, packet: &[u8], dialect: Dialect) -> Decision {
        let locked = self.engine.locked();
        self.connection.state().queries.clear();
        let decision = match locked.lua.create_string(packet) {
            Ok(argument) => self.run(&locked, "read_query", argument, dialect),
            Err(error) => self.failed("read_query", &error),
        };
        drop(locked);
        self.with_queue_checked(decision)
    }

    fn with_queue_checked(&self, decision: Decision) -> Decision {
        let mut state = self.connection.state();
        let queued = state.queries.len();
        match decision {
            Decision::SendQueries if queued == 0 => {
                let text = "'return proxy.PROXY_SEND_QUERY' used without proxy.queue:append() or :prepend(). Assuming 'nil' was returned";
                self.engine.host.log(Level::Critical, text);
                Decision::Pass
            }
            Decision::Pass if queued > 0 => {
                let text = format!(
                    "proxy.queue:append() or :prepend() used without 'return proxy.PROXY_SEND_QUERY'. Discarding {queued} elements from the queue."
                );
                self.engine.host.log(Level::Critical, &text);
                state.queries.clear();
                Decision::Pass
            }
            Decision::Reply(reply) => {
                state.queries.clear();
                Decision::Reply(reply)
            }
            other => other,
        }
    }

    /// After the answer to an injected query. Gives the answer's bytes back, for the case that they are sent on.
    pub fn read_query_result(&self, answer: Answer, dialect: Dialect) -> (Decision, Vec<u8>) {
        let locked = self.engine.locked();
        let answer = Arc::new(answer);
        let object = InjectionObject { answer: Arc::clone(&answer), host: Arc::clone(&self.engine.host) };
        let decision = self.run(&locked, "read_query_result", object, dialect);
        if answer.bytes.len() > COLLECTED_BYTES_MIN {
            // To the collector its object is a small one: it would let many pile up. A failure is one of the next hook, too.
            let _ = locked.lua.gc_collect();
        }
        drop(locked);
        // What the script has kept shares it.
        let bytes = Arc::try_unwrap(answer).map_or_else(|answer| answer.bytes.clone(), |answer| answer.bytes);
        (decision, bytes)
    }

    /// Logs that the script decided about a result that went to the client as it came.
    pub fn note_late_change(&self) {
        let text = format!(
            "read_query_result() in {} tries to modify the resultset, but hasn't asked to buffer it in proxy.query:append(..., {{ resultset_is_needed = true }}). We ignore the change to the result-set.",
            self.path
        );
        self.engine.host.log(Level::Critical, &text);
    }

    /// Logs that a result is dropped, since the client has had so many.
    pub fn note_extra_result(&self, sent: u32, injection_id: i64) {
        let text = format!(
            "got asked to send a resultset, but ignoring it as we already have sent {sent} resultset(s). injection-id: {injection_id}"
        );
        self.engine.host.log(Level::Critical, &text);
    }

    /// Logs that a second result would go to the client as it comes.
    pub fn note_second_stream(&self) {
        let text = format!(
            "proxy.queries:append() in {} can only have one injected query without {{ resultset_is_needed = true }} set. We close the client connection now.",
            self.path
        );
        self.engine.host.log(Level::Critical, &text);
    }

    /// When the client has gone.
    pub fn disconnect_client(&self) {
        self.call("disconnect_client", Value::Nil, Dialect { capabilities: 0 });
    }

    /// Writes to the log that scripts write to.
    pub fn log(&self, level: Level, text: &str) {
        self.engine.host.log(level, text);
    }

    fn call(&self, name: &str, argument: impl IntoLua, dialect: Dialect) -> Decision {
        self.run(&self.engine.locked(), name, argument, dialect)
    }

    /// Calls a hook. What has its name and is no function is no hook.
    fn run(&self, locked: &Locked, name: &str, argument: impl IntoLua, dialect: Dialect) -> Decision {
        self.engine.begin();
        let arguments = (&self.environment, &self.fields, name, argument);
        let returned = locked.dispatch.call::<(bool, Value)>(arguments);
        let lua = &locked.lua;
        match returned.map(|(_, value)| number_of(lua, value)) {
            Err(error) => self.failed(name, &error),
            Ok(SEND_QUERY) => Decision::SendQueries,
            Ok(IGNORE_RESULT) if takes_ignore(name) => Decision::Ignore,
            Ok(SEND_RESULT) => self.reply(lua, dialect),
            Ok(0) => Decision::Pass,
            Ok(other) => {
                let text = format!(
                    "({name}) returned {other}, which means nothing here. Assuming 'nil' was returned"
                );
                self.engine.host.log(Level::Warning, &text);
                Decision::Pass
            }
        }
    }

    fn reply(&self, lua: &Lua, dialect: Dialect) -> Decision {
        let response = self.fields.raw_get::<Value>("response").unwrap_or(Value::Nil);
        let mut notes = Vec::new();
        let reply = reply(lua, &response, &self.path, dialect, &mut notes);
        for note in notes {
            self.engine.host.log(Level::Warning, &note);
        }
        Decision::Reply(reply.unwrap_or_else(|why| {
            self.engine.host.log(Level::Message, &why);
            Reply::proxy_error("(lua) handling proxy.response failed, check error-log")
        }))
    }

    fn failed(&self, name: &str, error: &mlua::Error) -> Decision {
        self.engine.host.log(Level::Critical, &format!("({name}) {}", text(error)));
        if name == "read_query" && self.engine.was_stopped(error) {
            // Whoever can make a hook too long must not get past it by that.
            return Decision::Reply(Reply::proxy_error(
                "(lua) the script was stopped: the command was not run",
            ));
        }
        Decision::Pass
    }
}

fn takes_ignore(hook: &str) -> bool {
    matches!(hook, "connect_server" | "read_query_result")
}

/// What a hook returned, as a number: a text that looks like one counts, a fraction is cut, all else is 0.
fn number_of(lua: &Lua, value: Value) -> i64 {
    match value {
        Value::Integer(number) => number,
        value => lua.coerce_number(value).ok().flatten().unwrap_or(0.0) as i64,
    }
}

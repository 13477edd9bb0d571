//! A server without sockets, on a simulated disk. Main types: [`World`], [`Client`].

use crate::answers::{Answer, Answers};
use env::Environment;
use env::simulated::SimulatedDisk;
use errors::{SqlResult, sql_error};
use session::{ClientHost, ConnectionControl, ConnectionInfo, Instance, InstanceOptions, Session};
use session::{OptionSetting, OptionSource};
use std::sync::Arc;

/// CLIENT_PROTOCOL_41 and CLIENT_DEPRECATE_EOF.
const CAPABILITIES: u32 = 1 << 9 | 1 << 24;

struct NoControl;

impl ConnectionControl for NoControl {
    fn close(&self) {}
}

/// A server.
pub struct World {
    instance: Arc<Instance>,
}

/// A session and its answers.
pub struct Client {
    session: Box<Session>,
    answers: Answers,
}

impl World {
    /// A new one without tables.
    pub fn new() -> SqlResult<World> {
        World::open(SimulatedDisk::new(7), ("16M", "16M"), false)
    }

    /// One on a disk, with those sizes of the buffer pool and of the log. `statements_only`: nothing but statements uses the disk.
    pub fn open(disk: SimulatedDisk, (pool, log): (&str, &str), statements_only: bool) -> SqlResult<World> {
        let sizes = [("innodb-buffer-pool-size", pool), ("innodb_redo_log_capacity", log)];
        World::open_with(Environment::simulated(disk, 7), &sizes, statements_only)
    }

    /// One in an environment, started with those options.
    pub fn open_with(
        environment: Environment,
        settings: &[(&str, &str)],
        statements_only: bool,
    ) -> SqlResult<World> {
        let setting = |(name, value): &(&str, &str)| OptionSetting {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
            source: OptionSource::CommandLine,
        };
        let options = InstanceOptions {
            settings: settings.iter().map(setting).collect(),
            data_directory: "/data".to_owned(),
            loopback_only: true,
            descriptors_max: None,
            statements_only,
        };
        Ok(World { instance: Instance::open(environment, options)? })
    }

    /// A client who is root, with a schema if one is named.
    pub fn connect(&self, schema: &str) -> SqlResult<Client> {
        self.connect_as("root", schema)
    }

    /// A client.
    pub fn connect_as(&self, user: &str, schema: &str) -> SqlResult<Client> {
        let host = ClientHost::local();
        let account = self.instance.find_account(user, &host);
        let account = account.ok_or_else(|| sql_error!(ER_INTERNAL_ERROR, "there is no such account"))?;
        let info = ConnectionInfo {
            id: self.instance.next_connection_id(),
            user: user.to_owned(),
            host,
            schema: schema.to_owned(),
            capabilities: CAPABILITIES.into(),
            collation: 255,
            tls: None,
            attributes: wire::connection_attributes::ConnectionAttributes::default(),
            control: Arc::new(NoControl),
        };
        Ok(Client {
            session: Session::open(&self.instance, info, &account)?,
            answers: Answers::new(CAPABILITIES),
        })
    }

    /// What its sessions share.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Ends it.
    pub fn close(self) {
        // What it held is thrown away with its disk.
        let _ = self.instance.engine().shutdown();
    }
}

impl Client {
    /// CONNECTION_ID().
    pub fn id(&self) -> u32 {
        self.session.id()
    }

    /// What a statement answers.
    pub fn ask(&mut self, sql: &str) -> Answer {
        let lsn = self.session.query(sql.as_bytes(), &mut self.answers);
        if let Err(reason) = self.session.instance().flush_log(lsn) {
            return Answer { error: Some((0, reason.to_string())), ..Answer::default() };
        }
        self.answers.take()
    }

    /// Runs a statement that does not fail.
    pub fn run(&mut self, sql: &str) -> Result<(), String> {
        match self.ask(sql).error {
            Some((number, text)) => Err(format!("{number} {text}: {sql}")),
            None => Ok(()),
        }
    }
}

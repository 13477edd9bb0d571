//! SHOW forms about the server, its sessions and accounts.

use super::deadlock::deadlock_section;
use super::{Listing, Showing};
use crate::result::{
    column, computed, line_column, not_null, optional_text, sized_column, text, text_column,
};
use crate::system_tables::{self, SHORT_STATEMENT_CHARACTERS};
use accounts::Privileges;
use accounts::print;
use charset::CollationId;
use errors::{Condition, Level, SqlResult, sql_error};
use parser::ast::{EngineShow, Show, ShowFilter, UserName, VariableScope};
use values::{ColumnType, TypeKind, Value};
use wire::result::ResultColumn;

impl Showing<'_> {
    pub(super) fn server_listing(&mut self, show: &Show) -> SqlResult<(Listing, ShowFilter)> {
        let none = ShowFilter::None;
        Ok(match show {
            Show::Variables { scope, filter } => (self.variable_listing(*scope), filter.clone()),
            Show::Status { scope, filter } => (self.status_listing(*scope), filter.clone()),
            Show::Warnings { .. } => (self.condition_listing(false)?, none),
            Show::Errors { .. } => (self.condition_listing(true)?, none),
            Show::WarningCount => (count_listing("@@session.warning_count", self.counts.0), none),
            Show::ErrorCount => (count_listing("@@session.error_count", self.counts.1), none),
            Show::Processlist { full } => (self.process_listing(*full), none),
            Show::Grants { user, using } => (self.grant_listing(user.as_ref(), using)?, none),
            Show::CreateUser(user) => (self.create_user_listing(user)?, none),
            Show::Engine { name, what } => (self.engine_listing(name, *what)?, none),
            Show::CharacterSets(filter) => (self.charset_listing()?, filter.clone()),
            Show::Collations(filter) => (self.collation_listing()?, filter.clone()),
            Show::Engines => (self.engines_listing(), none),
            Show::Privileges => {
                let columns = [("Privilege", 10), ("Context", 15), ("Comment", 64)]
                    .map(|(name, characters)| line_column(name, characters))
                    .to_vec();
                (Listing { columns, rows: system_tables::privilege_rows() }, none)
            }
            Show::Plugins => (plugin_listing(), none),
            _ => self.empty_listing(show)?,
        })
    }

    fn variable_listing(&mut self, scope: Option<VariableScope>) -> Listing {
        let global = matches!(scope, Some(VariableScope::Global));
        let rows = self.system_tables().variable_texts(global, |_| true);
        Listing {
            columns: pair_columns(),
            rows: rows.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect(),
        }
    }

    fn status_listing(&mut self, scope: Option<VariableScope>) -> Listing {
        let global = matches!(scope, Some(VariableScope::Global));
        let session = (!global).then_some(self.shared);
        let rows = instance::status_values::rows(self.instance, session, &|_| true);
        Listing {
            columns: pair_columns(),
            rows: rows.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect(),
        }
    }

    fn condition_listing(&self, errors_only: bool) -> SqlResult<Listing> {
        let (offset, count) = self.limit;
        let columns = vec![
            line_column("Level", 7),
            not_null(computed(sized_column("Code", TypeKind::Int, true, 5))),
            line_column("Message", 512),
        ];
        let rows = self
            .diagnostics
            .conditions()
            .iter()
            .filter(|condition| !errors_only || condition.level == Level::Error)
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .map(condition_row)
            .collect();
        Ok(Listing { columns, rows })
    }

    fn process_listing(&mut self, full: bool) -> Listing {
        let info = match full {
            true => column("Info", ColumnType::text(TypeKind::LongText, CollationId::UTF8MB3_GENERAL_CI)),
            false => text_column("Info", SHORT_STATEMENT_CHARACTERS as u32),
        };
        let columns = vec![
            not_null(computed(sized_column("Id", TypeKind::BigInt, false, 22))),
            line_column("User", 32),
            line_column("Host", 255),
            computed(text_column("db", 64)),
            line_column("Command", 16),
            not_null(computed(sized_column("Time", TypeKind::Int, false, 8))),
            computed(text_column("State", 30)),
            computed(info),
        ];
        let rows = self
            .system_tables()
            .processes()
            .into_iter()
            .map(|process| {
                let statement = process.statement.map(|statement| match full {
                    true => statement,
                    false => statement.chars().take(SHORT_STATEMENT_CHARACTERS).collect(),
                });
                vec![
                    Value::UInt(u64::from(process.id)),
                    text(process.user),
                    text(process.host),
                    optional_text(process.schema),
                    text(process.command),
                    Value::Int(process.seconds as i64),
                    text(process.state),
                    optional_text(statement),
                ]
            })
            .collect();
        Listing { columns, rows }
    }

    fn grant_listing(&mut self, user: Option<&UserName>, using: &[UserName]) -> SqlResult<Listing> {
        let name = match user {
            None | Some(UserName::CurrentUser) => self.user.account.clone(),
            Some(UserName::Account { name, host }) => {
                accounts::AccountName::new(name, host.as_deref().unwrap_or("%"))
            }
        };
        if name != self.user.account
            && !self.user.current_grants(self.instance).table("mysql", "user").contains(Privileges::SELECT)
        {
            return Err(self.user.denied_table("SELECT", "user"));
        }
        let accounts = self.instance.accounts();
        let account = accounts.get(&name);
        let account = account.ok_or_else(|| sql_error!(ER_NONEXISTING_GRANT, name.user, name.host))?;
        let mut roles = Vec::new();
        for role in using {
            if let UserName::Account { name: user, host } = role {
                let role = accounts::AccountName::new(user, host.as_deref().unwrap_or("%"));
                if !accounts.may_activate(account, &role) {
                    return Err(sql_error!(ER_ROLE_NOT_GRANTED, role.user, role.host, name.user, name.host));
                }
                roles.push(role);
            }
        }
        if using.is_empty() && matches!(user, None | Some(UserName::CurrentUser)) {
            roles.clone_from(&self.user.active_roles);
        }
        let roles = accounts.roles_in_force(account, &roles);
        let mut shown = account.clone();
        shown.absorb(&roles);
        let mut further = print::FurtherRoles::default();
        further.administered.extend(roles.iter().flat_map(|role| role.administered_roles()));
        // Only without a name are the mandatory roles shown.
        further.mandatory.extend(user.is_none().then(|| accounts.mandatory_roles()).into_iter().flatten());
        let rows = print::grants(&shown, further).into_iter().map(|line| vec![text(line)]).collect();
        let columns = vec![line_column(&format!("Grants for {name}"), 1024)];
        Ok(Listing { columns, rows })
    }

    fn create_user_listing(&mut self, user: &UserName) -> SqlResult<Listing> {
        let name = match user {
            UserName::CurrentUser => self.user.account.clone(),
            UserName::Account { name, host } => {
                accounts::AccountName::new(name, host.as_deref().unwrap_or("%"))
            }
        };
        if name != self.user.account
            && !self.user.current_grants(self.instance).schema("mysql").contains(Privileges::SELECT)
        {
            return Err(self.user.denied_schema("mysql"));
        }
        let accounts = self.instance.accounts();
        let missing = || {
            let shown = format!("{} (User account does not exist)", name.message());
            sql_error!(ER_CANNOT_USER, "SHOW CREATE USER", shown)
        };
        let account = accounts.get(&name).ok_or_else(missing)?;
        let columns = vec![line_column(&format!("CREATE USER for {name}"), 256)];
        Ok(Listing { columns, rows: vec![vec![text(print::create_user(account))]] })
    }

    fn engine_listing(&mut self, name: &str, what: EngineShow) -> SqlResult<Listing> {
        self.user.require_global(self.instance, Privileges::PROCESS)?;
        let columns = [("Type", 10), ("Name", 512), ("Status", 10)]
            .map(|(name, characters)| line_column(name, characters))
            .to_vec();
        if !name.eq_ignore_ascii_case("innodb") {
            return match crate::engines::find(name) {
                Some(_) => Ok(Listing { columns, rows: Vec::new() }),
                None => Err(sql_error!(ER_UNKNOWN_STORAGE_ENGINE, name)),
            };
        }
        let rows = match what {
            EngineShow::Status => vec![vec![text("InnoDB"), text(""), text(self.engine_status())]],
            EngineShow::Mutex | EngineShow::Logs => Vec::new(),
        };
        Ok(Listing { columns, rows })
    }

    /// SHOW ENGINE INNODB STATUS in the layout that monitoring templates read.
    fn engine_status(&self) -> String {
        let instance = self.instance;
        let now = expression::TimeZone::UTC.local(instance.wall_microseconds());
        let line = "=====================================";
        let lsn = instance.engine().durable_lsn();
        let status = instance.engine().status();
        let deadlock = deadlock_section(instance);
        let transactions = transactions_section(instance, &status);
        let waits = status.log_room_waits;
        let waited_ms = waits.waited.as_millis();
        let pages = instance.global_number(variables::id::INNODB_BUFFER_POOL_SIZE) / 16_384;
        format!(
            "\n{line}\n{:04}-{:02}-{:02} {:02}:{:02}:{:02} 0 INNODB MONITOR OUTPUT\n{line}\n\
             Per second averages calculated from the last {} seconds\n{deadlock}{transactions}---\nLOG\n---\nLog flushed up to   {lsn}\n\
             Waits for room in the log {}, {waited_ms} ms\n\
             ----------------------\nBUFFER POOL AND MEMORY\n----------------------\nBuffer pool size   {pages}\n\
             ----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n",
            now.date.year,
            now.date.month,
            now.date.day,
            now.hour,
            now.minute,
            now.second,
            instance.uptime_seconds().max(1),
            waits.waits,
        )
    }

    fn charset_listing(&mut self) -> SqlResult<Listing> {
        let rows = self.system_rows("information_schema", "CHARACTER_SETS")?;
        let columns = vec![
            not_null(text_column("Charset", 64)),
            not_null(text_column("Description", 2048)),
            not_null(text_column("Default collation", 64)),
            not_null(column("Maxlen", ColumnType::integer(TypeKind::Int, true))),
        ];
        let rows = rows.into_iter().map(|row| [0, 2, 1, 3].map(|at| row[at].clone()).to_vec()).collect();
        Ok(Listing { columns, rows })
    }

    fn collation_listing(&mut self) -> SqlResult<Listing> {
        let rows = self.system_rows("information_schema", "COLLATIONS")?;
        let columns = vec![
            not_null(text_column("Collation", 64)),
            not_null(text_column("Charset", 64)),
            not_null(column("Id", ColumnType::big_int_unsigned())),
            not_null(text_column("Default", 3)),
            not_null(text_column("Compiled", 3)),
            not_null(column("Sortlen", ColumnType::integer(TypeKind::Int, true))),
            not_null(column("Pad_attribute", ColumnType::char(9, CollationId::UTF8MB3_BIN))),
        ];
        let rows = rows
            .into_iter()
            .map(|mut row| {
                row[6] = text(if row[6] == Value::UInt(1) { "PAD SPACE" } else { "NO PAD" });
                row
            })
            .collect();
        Ok(Listing { columns, rows })
    }

    fn engines_listing(&mut self) -> Listing {
        let names = ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"];
        let rows = crate::engines::ROWS.iter().map(|row| row.map(text).to_vec()).collect();
        Listing { columns: names.map(|name| text_column(name, 80)).to_vec(), rows }
    }

    /// SHOW EVENTS asks for the EVENT privilege before it looks for the schema. Errors 1044, 1046.
    fn require_events(&mut self, schema: Option<&String>) -> SqlResult<()> {
        let schema = schema.map(String::as_str).or(self.schema);
        let schema = schema.ok_or_else(|| sql_error!(ER_NO_DB_ERROR))?.to_owned();
        match self.user.current_grants(self.instance).schema(&schema).contains(Privileges::EVENT) {
            true => Ok(()),
            false => Err(self.user.denied_schema(&schema)),
        }
    }

    /// Columns of the forms about replication. Error 1227 for who may not look at it.
    fn replication_columns(&mut self, show: &Show) -> SqlResult<&'static [&'static str]> {
        if let Show::Replicas = show {
            self.user.require_global(self.instance, Privileges::REPLICATION_SLAVE)?;
            return Ok(&["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"]);
        }
        if !self
            .user
            .current_grants(self.instance)
            .global()
            .intersects(Privileges::SUPER.with(Privileges::REPLICATION_CLIENT))
        {
            return Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "SUPER, REPLICATION CLIENT"));
        }
        match show {
            Show::BinaryLogs => Err(sql_error!(ER_NO_BINARY_LOGGING)),
            Show::BinaryLogStatus => {
                Ok(&["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"])
            }
            _ => Ok(&["Replica_IO_State", "Source_Host", "Source_User"]),
        }
    }

    /// Forms about what Iruka has not got: the same columns as MySQL, no rows; or MySQL's own error.
    fn empty_listing(&mut self, show: &Show) -> SqlResult<(Listing, ShowFilter)> {
        let names: &[&str] = match show {
            Show::Triggers { schema, .. } => {
                let schema = self.shown_schema(schema.as_ref())?;
                self.user.require_schema_use(self.instance, &schema)?;
                &[
                    "Trigger",
                    "Event",
                    "Table",
                    "Statement",
                    "Timing",
                    "Created",
                    "sql_mode",
                    "Definer",
                    "character_set_client",
                    "collation_connection",
                    "Database Collation",
                ]
            }
            Show::Events { schema, .. } => {
                self.require_events(schema.as_ref())?;
                &[
                    "Db",
                    "Name",
                    "Definer",
                    "Time zone",
                    "Type",
                    "Execute at",
                    "Interval value",
                    "Interval field",
                    "Starts",
                    "Ends",
                    "Status",
                    "Originator",
                    "character_set_client",
                    "collation_connection",
                    "Database Collation",
                ]
            }
            Show::ProcedureStatus(_) | Show::FunctionStatus(_) | Show::LibraryStatus(_) => &[
                "Db",
                "Name",
                "Type",
                "Language",
                "Definer",
                "Modified",
                "Created",
                "Security_type",
                "Comment",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ],
            Show::BinaryLogs | Show::BinaryLogStatus | Show::ReplicaStatus { .. } | Show::Replicas => {
                self.replication_columns(show)?
            }
            Show::Profiles => &["Query_ID", "Duration", "Query"],
            Show::Profile { .. } => &["Status", "Duration"],
            Show::CreateProgram { name, kind } => {
                let kind = format!("{kind:?}").to_uppercase();
                return Err(sql_error!(ER_SP_DOES_NOT_EXIST, kind, name.name));
            }
            _ => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "this SHOW statement")),
        };
        let columns = names.iter().map(|name| text_column(name, 64)).collect();
        Ok((Listing { columns, rows: Vec::new() }, ShowFilter::None))
    }
}

/// The TRANSACTIONS part of the status: InnoDB's lines, then where old row versions are.
fn transactions_section(instance: &instance::Instance, status: &engine::EngineStatus) -> String {
    let seconds = instance.uptime_seconds();
    let unfinished = instance.engine().unfinished().into_iter().map(|writer| {
        format!(
            "---TRANSACTION {}, ACTIVE {seconds} sec recovered trx\n\
             ROLLING BACK {} lock struct(s), heap size 0, 0 row lock(s), undo log entries {}\n",
            writer.id, writer.lock_objects, writer.undo_records
        )
    });
    let unfinished: String = unfinished.collect();
    format!(
        "------------\nTRANSACTIONS\n------------\nTrx id counter {}\n\
         Purge done for trx's n:o < {} undo n:o < 0 state: running\nHistory list length {}\n\
         Old row versions {}, {} bytes in memory; {} of them spilled, {} bytes in the temporary file; {} failed spill writes\n\
         Commit table {} bytes in memory, undo places of {} chunks of ids in the temporary file, {} old unfinished transactions\n\
         LIST OF TRANSACTIONS FOR EACH SESSION:\n{unfinished}",
        status.next_transaction,
        status.watermark,
        status.history_list_length,
        status.old_versions,
        status.old_version_bytes,
        status.spilled_versions,
        status.spilled_version_bytes,
        status.spill_failures,
        status.commit_table.array_bytes_made,
        status.commit_table.spilled_chunks,
        status.commit_table.exceptions,
    )
}

fn pair_columns() -> Vec<ResultColumn> {
    vec![not_null(text_column("Variable_name", 64)), text_column("Value", 1024)]
}

fn condition_row(condition: &Condition) -> Vec<Value> {
    vec![
        text(condition.level.name()),
        Value::UInt(u64::from(condition.error.number())),
        text(condition.error.message()),
    ]
}

fn count_listing(name: &str, count: u64) -> Listing {
    Listing {
        columns: vec![computed(sized_column(name, TypeKind::BigInt, true, 21))],
        rows: vec![vec![Value::UInt(count)]],
    }
}

fn plugin_listing() -> Listing {
    let columns = ["Name", "Status", "Type", "Library", "License"].map(|name| text_column(name, 64)).to_vec();
    let row = |(name, kind): &(&str, &str)| {
        vec![text(*name), text("ACTIVE"), text(*kind), Value::Null, text("Apache-2.0")]
    };
    let rows = system_tables::PLUGINS.iter().map(row).collect();
    Listing { columns, rows }
}

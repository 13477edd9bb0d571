//! Accounts on disk: rows of a hidden table of the engine, changed in the engine's transactions.
//! Main functions: [`load`] at start, [`save`] for a change.
//!
//! Table `#system.accounts`: (user, host) primary key; `definition` in the text form of [`Account::encode`].

use crate::account::{Account, AccountName};
use crate::privilege::Privileges;
use crate::table::AccountTable;
use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
use engine::{Engine, EngineError, KillFlag, RowBatch, ScanOptions, Table, TransactionOptions};
use errors::handler::HA_ERR_TABLE_READONLY;
use errors::{SqlError, SqlResult, sql_error};
use std::sync::Arc;
use stdx::ids::{IndexId, Lsn, TableId};
use values::row::RowView;
use values::{ColumnType, TypeKind, Value};

/// Schema that no statement can name.
pub const SYSTEM_SCHEMA: &str = "#system";
const ACCOUNTS: &str = "accounts";
const ROWS_PER_BATCH: usize = 256;

/// Reads all accounts; on first start makes the table and root@localhost without password, the latter only while
/// nobody can connect from elsewhere.
///
/// What is lost of them refuses the start, or everybody could become root. Only a start by force goes on without: then root@localhost
/// has no password, while nobody can connect from elsewhere, so that the data can be dumped.
pub fn load(engine: &Engine, loopback_only: bool) -> SqlResult<AccountTable> {
    let is_forced = engine.is_forced();
    let found = match open_table(engine).and_then(|table| {
        read(engine, &table).map_err(|error| {
            let error = error.into_sql(ACCOUNTS);
            let text = format!("{} {LOST_HINT}", error.message());
            SqlError::new(error.number(), error.state(), text)
        })
    }) {
        Err(_) if is_forced => Vec::new(),
        found => found?,
    };
    let mut accounts = AccountTable::default();
    found.into_iter().for_each(|account| accounts.put(account));
    let first_start = accounts.all().next().is_none();
    if first_start && loopback_only {
        let root = root();
        if !is_forced {
            let lsn = write(engine, &[(root.name.clone(), Some(root.clone()))])?;
            engine.flush_log(lsn).map_err(|error| error.into_sql(ACCOUNTS))?;
        }
        accounts.put(root);
    }
    Ok(accounts)
}

/// How to go on when the accounts are lost.
const LOST_HINT: &str = "Without the accounts the server does not start. Put the file back, or start with innodb_force_recovery=1 and bind_address=127.0.0.1, where root@localhost \
     needs no password, dump the data, and load the dump into a new directory";

fn root() -> Account {
    let mut root = Account::new(AccountName::new("root", "localhost"));
    root.global = Privileges::ALL_GLOBAL.with(Privileges::GRANT);
    root.dynamic = crate::privilege::DYNAMIC.iter().map(|name| ((*name).to_owned(), true)).collect();
    root
}

fn read(engine: &Engine, table: &Arc<Table>) -> Result<Vec<Account>, EngineError> {
    let transaction = engine.begin(TransactionOptions::default());
    let mut scan = transaction.scan(table, ScanOptions::default())?;
    let (mut batch, mut found) = (RowBatch::new(), Vec::new());
    while scan.next_batch(&transaction, &mut batch, ROWS_PER_BATCH)? {
        for at in 0..batch.len() {
            found.push(decode(table, batch.row(at))?);
        }
    }
    Ok(found)
}

fn decode(table: &Table, row: &[u8]) -> Result<Account, EngineError> {
    let corrupt = || EngineError::Corrupt("account table".to_owned());
    let view = RowView::new(table.layout(), row).map_err(|_| corrupt())?;
    let text = |column: usize| match view.value(column) {
        Value::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| corrupt()),
        _ => Err(corrupt()),
    };
    let name = AccountName { user: text(0)?, host: text(1)? };
    Account::decode(name, &text(2)?).ok_or_else(corrupt)
}

fn open_table(engine: &Engine) -> SqlResult<Arc<Table>> {
    if let Some(table) = engine.dictionary().table(SYSTEM_SCHEMA, ACCOUNTS) {
        return Ok(table);
    }
    let schema = SchemaDefinition { name: SYSTEM_SCHEMA.to_owned(), collation: CollationId::BINARY };
    match engine.create_schema(schema, &KillFlag::default()) {
        Ok(()) | Err(EngineError::SchemaExists(_)) => {}
        Err(error) => return Err(error.into_sql(SYSTEM_SCHEMA)),
    }
    engine.create_table(definition(), &KillFlag::default()).map_err(|error| error.into_sql(ACCOUNTS))
}

fn definition() -> TableDefinition {
    let column = |name: &str, column_type: ColumnType| ColumnDefinition {
        name: name.to_owned(),
        column_type,
        nullable: false,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        names_collation: false,
        comment: String::new(),
    };
    let part = |column| IndexPart { column, prefix_length: None, descending: false };
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: SYSTEM_SCHEMA.to_owned(), table: ACCOUNTS.to_owned() },
        columns: vec![
            column("user", ColumnType::varbinary(255)),
            column("host", ColumnType::varbinary(255)),
            column("definition", ColumnType::new(TypeKind::LongBlob)),
        ],
        indexes: vec![IndexDefinition {
            id: IndexId(0),
            name: "PRIMARY".to_owned(),
            kind: IndexKind::Primary,
            parts: vec![part(0), part(1)],
            comment: String::new(),
            invisible: false,
            generated: false,
        }],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

/// Writes the accounts of those names, which `changed` has or has no more, in one transaction. The caller keeps others from
/// changing accounts and publishes the table. Returns the commit's LSN.
pub fn save(engine: &Engine, changed: &AccountTable, names: &[AccountName]) -> SqlResult<Lsn> {
    let changes: Vec<(AccountName, Option<Account>)> =
        names.iter().map(|name| (name.clone(), changed.get(name).cloned())).collect();
    write(engine, &changes)
}

/// Why the engine does not take a change of accounts.
fn refused(error: EngineError) -> SqlError {
    match error {
        EngineError::ReadOnlyTables => {
            sql_error!(ER_ACL_OPERATION_FAILED, HA_ERR_TABLE_READONLY, "Table is read only")
        }
        error => error.into_sql(ACCOUNTS),
    }
}

fn write(engine: &Engine, changes: &[(AccountName, Option<Account>)]) -> SqlResult<Lsn> {
    let table = engine.dictionary().table(SYSTEM_SCHEMA, ACCOUNTS);
    let table = table.ok_or_else(|| sql_error!(ER_NO_SUCH_TABLE, SYSTEM_SCHEMA, ACCOUNTS))?;
    let transaction = engine.begin(TransactionOptions::default());
    for (name, account) in changes {
        let names =
            [Value::Bytes(name.user.clone().into_bytes()), Value::Bytes(name.host.clone().into_bytes())];
        let mut key = Vec::new();
        let layout = table.indexes()[0].key_layout();
        layout.encode(&names, &mut key).map_err(|_| sql_error!(ER_INTERNAL_ERROR, "account key"))?;
        match transaction.delete(&table, &key) {
            Ok(()) | Err(EngineError::RowNotFound) => {}
            Err(error) => return Err(refused(error)),
        }
        if let Some(account) = account {
            let [user, host] = names;
            let row = [user, host, Value::Bytes(account.encode().into_bytes())];
            let row =
                table.layout().encode(&row).map_err(|_| sql_error!(ER_INTERNAL_ERROR, "account row"))?;
            transaction.insert(&table, &row).map_err(refused)?;
        }
    }
    transaction.commit().map_err(|error| error.into_sql(ACCOUNTS))
}

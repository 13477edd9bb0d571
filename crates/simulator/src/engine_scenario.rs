//! Crash scenarios of the whole engine: [`EngineScenario`] runs a [`Workload`] through a [`World`], which tells the
//! oracle what is committed and what was acknowledged.

use std::path::Path;
use std::sync::Arc;

use charset::CollationId;
use dictionary::{SchemaDefinition, TableDefinition};
use engine::{
    Engine, EngineError, EngineOptions, EngineResult, KillFlag, Table, Transaction, TransactionOptions,
};
use env::simulated::SimulatedDisk;
use env::{Disk, Environment};
use stdx::ids::Lsn;
use values::Value;

use crate::database::{
    Contents, Database, Row, SCHEMA, describe_difference, empty_contents, read_back, table_name,
};
use crate::{Generator, Oracle, Scenario};

/// What a workload does in a world that may end at any operation.
pub type Workload = fn(&mut World<'_>) -> EngineResult<()>;

/// A workload on an engine of a given size.
#[derive(Clone, Copy)]
pub struct EngineScenario {
    /// Short name.
    pub name: &'static str,
    /// What it does.
    pub workload: Workload,
    /// What it does after that, when the engine has ended and started again.
    pub then: Option<Workload>,
    /// How many tables stay open that nobody uses.
    pub tables_open_max: usize,
    /// Decides its random choices.
    pub seed: u64,
    /// Bytes of the buffer pool: small ones write pages of unfinished transactions.
    pub pool_bytes: u64,
    /// Bytes of the redo log: small ones wrap.
    pub log_bytes: u64,
    /// Bytes of memory for old versions: small ones spill.
    pub version_memory_bytes: u64,
    /// Whether pages are written twice. Off only to prove that the simulation sees torn pages.
    pub doublewrite: bool,
    /// Acknowledge commits before they are durable. On only to prove that the simulation sees it.
    pub acknowledges_early: bool,
}

impl EngineScenario {
    /// A scenario of ordinary size.
    pub fn new(name: &'static str, workload: Workload) -> Self {
        Self {
            name,
            workload,
            then: None,
            tables_open_max: 100,
            seed: 1,
            pool_bytes: 2 << 20,
            log_bytes: 4 << 20,
            version_memory_bytes: 256 << 20,
            doublewrite: true,
            acknowledges_early: false,
        }
    }

    fn open(&self, disk: &SimulatedDisk) -> EngineResult<Engine> {
        let options = EngineOptions {
            buffer_pool_bytes: self.pool_bytes,
            redo_log_bytes: self.log_bytes,
            version_memory_bytes: self.version_memory_bytes,
            doublewrite: self.doublewrite,
            tables_open_max: self.tables_open_max,
            background_threads: false,
            ..EngineOptions::default()
        };
        Engine::open(Environment::simulated(disk.clone(), self.seed), options)
    }
}

impl EngineScenario {
    /// Runs the workload on a disk of `capacity` bytes until it ends or the disk is full; then reads everything, lifts the
    /// limit and writes again. True if the disk was full.
    pub fn run_on_full_disk(
        &self,
        disk: &SimulatedDisk,
        capacity: u64,
        oracle: &mut Oracle<Database>,
    ) -> Result<bool, String> {
        let engine = self.open(disk).map_err(|error| format!("open: {error:?}"))?;
        disk.set_capacity_bytes(Some(capacity));
        let random = Generator::new(self.seed);
        let mut world = World { engine, oracle, random, acknowledges_early: false, last_commit: Lsn(0) };
        let worked = world.create_schema().and_then(|()| (self.workload)(&mut world));
        let was_full = match worked {
            Ok(()) => false,
            Err(EngineError::NoSpace) => true,
            Err(error) => return Err(format!("full disk gives {error:?}")),
        };
        let last_commit = world.last_commit;
        world.flush(last_commit).map_err(|error| format!("flush on a full disk: {error:?}"))?;
        if read_back(&world.engine)? != *world.oracle.current() {
            return Err("rows differ while the disk is full".into());
        }
        disk.set_capacity_bytes(None);
        let table = crate::database::definition("after_all");
        let go_on = || {
            if world.oracle.current().is_none() {
                world.create_schema()?;
            }
            world.create_table(table)?;
            let (table, row) = (world.table("after_all"), world.row(1, 100, 50_000));
            let mut work = world.begin();
            work.insert(&table, row)?;
            world.commit(work)?;
            world.engine.purge()?;
            world.engine.checkpoint()
        };
        go_on().map_err(|error| format!("with room again: {error:?}"))?;
        Ok(was_full)
    }
}

impl Scenario for EngineScenario {
    type Oracle = Oracle<Database>;

    fn name(&self) -> &'static str {
        self.name
    }

    fn oracle(&self) -> Self::Oracle {
        Oracle::new(None)
    }

    fn run(&self, disk: &SimulatedDisk, oracle: &mut Self::Oracle) -> Result<(), String> {
        let acknowledges_early = self.acknowledges_early;
        let run = |oracle: &mut Oracle<Database>| {
            let engine = self.open(disk)?;
            let random = Generator::new(self.seed);
            let mut world = World { engine, oracle, random, acknowledges_early, last_commit: Lsn(0) };
            world.create_schema()?;
            (self.workload)(&mut world)?;
            let Some(then) = self.then else { return Ok(()) };
            world.engine.shutdown()?;
            let World { engine, oracle, random, .. } = world;
            drop(engine);
            let engine = self.open(disk)?;
            let last_commit = engine.last_commit();
            then(&mut World { engine, oracle, random, acknowledges_early, last_commit })
        };
        run(oracle).map_err(|error: EngineError| format!("{error:?}"))
    }

    fn verify(&self, disk: &SimulatedDisk, oracle: &Self::Oracle) -> Result<usize, String> {
        let engine = self.open(disk).map_err(|error| format!("open: {error:?}"))?;
        // A start removes files that no table has. It sets aside those of which the dictionary knows nothing: there are none.
        let lost = disk.list(Path::new("#lost+found")).unwrap_or_default();
        if !lost.is_empty() {
            return Err(format!("files that nobody knows: {lost:?}"));
        }
        let found = checked_contents(&engine)?;
        // What the crash left unfinished is read as it was before it, while it is rolled back too.
        let (mut records, mut left) = (1, 1);
        while left > 0 {
            left = engine.roll_back_unfinished(records).map_err(|error| format!("rollback: {error:?}"))?;
            records *= 4;
            if checked_contents(&engine)? != found {
                return Err(format!("the rollback changes what is seen: {left} transactions are left"));
            }
        }
        oracle.judge(&found).map_err(|loss| {
            format!(
                "{loss}; from the acknowledged state: {}",
                describe_difference(oracle.acknowledged(), &found)
            )
        })
    }
}

/// Checks all of a database and reads it.
fn checked_contents(engine: &Engine) -> Result<Database, String> {
    let faults = engine.check().map_err(|error| format!("check: {error:?}"))?;
    if faults.is_empty() { read_back(engine) } else { Err(format!("check: {faults:?}")) }
}

/// Creates the schema of all simulated tables.
pub fn create_schema(engine: &Engine) -> EngineResult<()> {
    engine.create_schema(
        SchemaDefinition { name: SCHEMA.into(), collation: CollationId::BINARY },
        &KillFlag::default(),
    )
}

/// An engine with the oracle that watches it.
pub struct World<'w> {
    /// The engine.
    pub engine: Engine,
    /// Random choices of the workload.
    pub random: Generator,
    oracle: &'w mut Oracle<Database>,
    acknowledges_early: bool,
    /// End of the last commit: readers see it once the log is durable up to there.
    last_commit: Lsn,
}

impl World<'_> {
    fn create_schema(&mut self) -> EngineResult<()> {
        self.definition_change(|database| *database = Some(Default::default()), create_schema)
    }

    /// The contents of a table after the last commit.
    pub fn contents(&self, table: &str) -> Contents {
        let database = self.oracle.current().as_ref();
        database.and_then(|tables| tables.get(table)).cloned().unwrap_or_default()
    }

    /// The open table of that name.
    pub fn table(&self, table: &str) -> Arc<Table> {
        let found = self.engine.dictionary().table(SCHEMA, table);
        found.unwrap_or_else(|| panic!("table {table} is not in the dictionary"))
    }

    /// Runs a definition change, durable on return; `change` makes it in the oracle.
    pub fn definition_change<R>(
        &mut self,
        change: impl FnOnce(&mut Database),
        run: impl FnOnce(&Engine) -> EngineResult<R>,
    ) -> EngineResult<R> {
        let mut next = self.oracle.current().clone();
        change(&mut next);
        self.oracle.commit(next);
        let result = run(&self.engine);
        match result {
            Ok(_) => self.oracle.acknowledge(),
            Err(EngineError::NoSpace) => self.oracle.retract(),
            Err(_) => {}
        }
        result
    }

    /// CREATE TABLE.
    pub fn create_table(&mut self, definition: TableDefinition) -> EngineResult<()> {
        let (name, contents) = (definition.name.table.clone(), empty_contents(&definition));
        self.definition_change(
            |database| {
                database.get_or_insert_default().insert(name, contents);
            },
            |engine| engine.create_table(definition, &KillFlag::default()).map(|_| ()),
        )
    }

    /// DROP TABLE.
    pub fn drop_table(&mut self, table: &str) -> EngineResult<()> {
        self.definition_change(
            |database| {
                database.get_or_insert_default().remove(table);
            },
            |engine| engine.drop_tables(&[table_name(table)], &KillFlag::default()),
        )
    }

    /// Begins a transaction.
    pub fn begin(&self) -> Work {
        let transaction = self.engine.begin(TransactionOptions::default());
        Work { transaction, database: self.oracle.current().clone() }
    }

    /// Commits without waiting for the log.
    pub fn commit_lazily(&mut self, work: Work) -> EngineResult<Lsn> {
        self.oracle.commit(work.database);
        self.last_commit = work.transaction.commit()?;
        Ok(self.last_commit)
    }

    /// Makes commits up to there durable, which acknowledges them.
    pub fn flush(&mut self, lsn: Lsn) -> EngineResult<()> {
        if self.acknowledges_early {
            self.oracle.acknowledge();
        }
        self.engine.flush_log(lsn)?;
        assert!(self.engine.durable_lsn() >= lsn, "flush_log returned before the log was durable");
        self.oracle.acknowledge();
        Ok(())
    }

    /// Commits and waits.
    pub fn commit(&mut self, work: Work) -> EngineResult<()> {
        let lsn = self.commit_lazily(work)?;
        self.flush(lsn)
    }

    /// Random bytes of random length.
    pub fn bytes_up_to(&mut self, length: u64) -> Vec<u8> {
        let length = self.random.below(length + 1);
        self.random.bytes(length)
    }

    /// A row of [`crate::database::definition`].
    pub fn row(&mut self, id: i64, pad_bytes_max: u64, data_bytes_max: u64) -> Vec<Value> {
        let k = Value::Int(self.random.below(50) as i64);
        let pad = Value::Bytes(self.bytes_up_to(pad_bytes_max));
        let data = match data_bytes_max {
            0 => Value::Null,
            bytes => Value::Bytes(self.bytes_up_to(bytes)),
        };
        vec![Value::Int(id), k, pad, data]
    }
}

/// A transaction with the database as it will be when it commits.
pub struct Work {
    /// The transaction.
    pub transaction: Transaction,
    /// The database with its changes.
    pub database: Database,
}

impl Work {
    fn rows(&mut self, table: &Table) -> &mut std::collections::BTreeMap<i64, Row> {
        let name = table.definition().name.table.clone();
        &mut self.database.get_or_insert_default().entry(name).or_default().rows
    }

    /// INSERT.
    pub fn insert(&mut self, table: &Arc<Table>, row: Vec<Value>) -> EngineResult<()> {
        self.transaction.insert(table, &encode(table, &row))?;
        let id = id_of(&row);
        self.rows(table).insert(id, Arc::new(row));
        Ok(())
    }

    /// UPDATE of the row with the same id, or of `old_id` to another.
    pub fn update(&mut self, table: &Arc<Table>, old_id: i64, row: Vec<Value>) -> EngineResult<()> {
        self.transaction.update(table, &key(table, old_id), &encode(table, &row))?;
        let id = id_of(&row);
        self.rows(table).remove(&old_id);
        self.rows(table).insert(id, Arc::new(row));
        Ok(())
    }

    /// DELETE.
    pub fn delete(&mut self, table: &Arc<Table>, id: i64) -> EngineResult<()> {
        self.transaction.delete(table, &key(table, id))?;
        self.rows(table).remove(&id);
        Ok(())
    }
}

fn id_of(row: &[Value]) -> i64 {
    match row.first() {
        Some(Value::Int(id)) => *id,
        other => panic!("row without id: {other:?}"),
    }
}

/// A row in the table's layout.
pub fn encode(table: &Table, row: &[Value]) -> Vec<u8> {
    table.layout().encode(row).unwrap_or_else(|error| panic!("row does not encode: {error:?}"))
}

/// The clustered key of a row.
pub fn key(table: &Table, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    let encoded = table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key);
    encoded.unwrap_or_else(|error| panic!("key does not encode: {error:?}"));
    key
}

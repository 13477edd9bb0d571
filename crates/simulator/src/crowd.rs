//! Crashes under many threads: [`Crowd`] runs writers and the engine's own background threads on a simulated disk
//! that crashes at a random operation. Not repeatable to the operation, so each promise is one that holds for any
//! interleaving: every writer finds its own last acknowledged state or the next, and money only moves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{
    Engine, EngineError, EngineOptions, EngineResult, KillFlag, ReadMode, Table, Transaction,
    TransactionOptions, WaitPolicy,
};
use env::Environment;
use env::simulated::SimulatedDisk;
use values::Value;
use values::row::RowView;

use crate::crash::Damage;
use crate::database::{Database, Row, SCHEMA, definition, read_back};
use crate::engine_scenario::{create_schema, encode, key};
use crate::{Generator, Oracle};

/// Keys of a writer's journal rows start here times its number.
const KEYS_PER_WRITER: i64 = 1_000_000;
const ACCOUNTS: i64 = 12;
const BALANCE: i64 = 1000;

/// Writers on one engine.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// Decides choices and the moment of the crash.
    pub seed: u64,
    /// Threads that write.
    pub writers: i64,
    /// Transactions of each, if no crash comes first.
    pub transactions: i64,
    /// The crash comes at an operation below this.
    pub crash_before: u64,
    /// Bytes of the buffer pool.
    pub pool_bytes: u64,
    /// Bytes of the redo log.
    pub log_bytes: u64,
}

type Journal = BTreeMap<i64, Row>;

/// One writer's promises.
type WriterOracle = Arc<Mutex<Oracle<Journal>>>;

impl Crowd {
    fn open(&self, disk: &SimulatedDisk) -> EngineResult<Engine> {
        let options = EngineOptions {
            buffer_pool_bytes: self.pool_bytes,
            redo_log_bytes: self.log_bytes,
            // So little that versions spill.
            version_memory_bytes: 8 << 10,
            background_threads: true,
            ..EngineOptions::default()
        };
        Engine::open(Environment::simulated(disk.clone(), self.seed), options)
    }

    /// Runs the writers into one crash and checks what each damage leaves. Returns the number of acknowledged commits.
    pub fn run(&self) -> Result<usize, String> {
        let disk = SimulatedDisk::new(self.seed);
        let engine = self.open(&disk).map_err(|error| format!("open: {error:?}"))?;
        prepare(&engine).map_err(|error| format!("prepare: {error:?}"))?;
        let mut random = Generator::new(self.seed);
        disk.crash_at(disk.counts().mutations + random.below(self.crash_before));
        let oracles: Vec<WriterOracle> =
            (0..self.writers).map(|_| Arc::new(Mutex::new(Oracle::new(Journal::new())))).collect();
        let failures = self.write_until_crash(&engine, &oracles);
        disk.crash();
        drop(engine);
        if let Some(failure) = failures.first() {
            return Err(failure.clone());
        }
        for damage in [Damage::DurableOnly, Damage::Kill, Damage::Torn(self.seed), Damage::Torn(!self.seed)] {
            let found = damage.restart(&disk);
            self.verify(&found, &oracles).map_err(|message| format!("{damage:?}: {message}"))?;
        }
        Ok(oracles.iter().map(|oracle| locked(oracle).commits()).sum())
    }

    fn write_until_crash(&self, engine: &Engine, oracles: &[WriterOracle]) -> Vec<String> {
        let failures = Arc::new(Mutex::new(Vec::new()));
        let spawner = &engine.environment().threads;
        let threads: Vec<_> = (0..)
            .zip(oracles)
            .map(|(number, oracle)| {
                let (engine, oracle, failures) = (engine.clone(), oracle.clone(), failures.clone());
                let (random, transactions) =
                    (Generator::new(self.seed * 100 + number as u64), self.transactions);
                let mut writer = Writer { engine, oracle, random, number, sequence: 0 };
                let body = move || {
                    if let Err(error) = writer.work(transactions)
                        && !matches!(error, EngineError::Io(_) | EngineError::Stopped)
                    {
                        locked(&failures).push(format!("writer {number}: {error:?}"));
                    }
                };
                spawner.spawn("writer", Box::new(body))
            })
            .collect();
        for thread in threads {
            let _ = thread.join();
        }
        let failures = locked(&failures);
        failures.clone()
    }

    fn verify(&self, disk: &SimulatedDisk, oracles: &[WriterOracle]) -> Result<(), String> {
        let engine = self.open(disk).map_err(|error| format!("open: {error:?}"))?;
        let faults = engine.check().map_err(|error| format!("check: {error:?}"))?;
        if !faults.is_empty() {
            return Err(format!("check: {faults:?}"));
        }
        let Database::Some(tables) = read_back(&engine)? else { return Err("schema is gone".into()) };
        let money: i64 = tables["bank"].rows.values().map(|row| integer(&row[1])).sum();
        if money != ACCOUNTS * BALANCE {
            return Err(format!("accounts hold {money}"));
        }
        for (number, oracle) in (0..).zip(oracles) {
            let keys = number * KEYS_PER_WRITER..(number + 1) * KEYS_PER_WRITER;
            let found = tables["journal"].rows.range(keys).map(|(id, row)| (*id, row.clone())).collect();
            locked(oracle).judge(&found).map_err(|loss| format!("writer {number}: {loss}"))?;
        }
        engine.shutdown().map_err(|error| format!("shutdown: {error:?}"))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("not an integer: {other:?}"),
    }
}

fn prepare(engine: &Engine) -> EngineResult<()> {
    create_schema(engine)?;
    engine.create_table(definition("journal"), &KillFlag::default())?;
    let bank = engine.create_table(definition("bank"), &KillFlag::default())?;
    let transaction = engine.begin(TransactionOptions::default());
    for id in 0..ACCOUNTS {
        let row = [Value::Int(id), Value::Int(BALANCE), Value::Null, Value::Null];
        transaction.insert(&bank, &encode(&bank, &row))?;
    }
    let lsn = transaction.commit()?;
    engine.flush_log(lsn)
}

struct Writer {
    engine: Engine,
    oracle: WriterOracle,
    random: Generator,
    number: i64,
    sequence: i64,
}

impl Writer {
    fn work(&mut self, transactions: i64) -> EngineResult<()> {
        let table =
            |name| self.engine.dictionary().table(SCHEMA, name).ok_or(EngineError::TableDefinitionChanged);
        let (journal, bank) = (table("journal")?, table("bank")?);
        while self.sequence < transactions {
            self.sequence += 1;
            match self.transaction(&journal, &bank) {
                // The transaction is rolled back; the numbers go on.
                Ok(()) | Err(EngineError::Deadlock | EngineError::LockWaitTimeout) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn transaction(&mut self, journal: &Arc<Table>, bank: &Arc<Table>) -> EngineResult<()> {
        let transaction = self.engine.begin(TransactionOptions::default());
        let mut rows = locked(&self.oracle).current().clone();
        let id = self.number * KEYS_PER_WRITER + self.sequence;
        let row = self.row(id);
        transaction.insert(journal, &encode(journal, &row))?;
        rows.insert(id, Arc::new(row));
        if let Some(old) = rows.keys().next().copied().filter(|_| rows.len() > 25) {
            transaction.delete(journal, &key(journal, old))?;
            rows.remove(&old);
        }
        if self.random.one_in(3) {
            let nth = self.random.below(rows.len() as u64) as usize;
            let id = rows.keys().nth(nth).copied().unwrap_or(id);
            let row = self.row(id);
            transaction.update(journal, &key(journal, id), &encode(journal, &row))?;
            rows.insert(id, Arc::new(row));
        }
        self.transfer(&transaction, bank)?;
        if self.random.one_in(10) {
            return transaction.rollback();
        }
        locked(&self.oracle).commit(rows);
        let lsn = transaction.commit()?;
        self.engine.flush_log(lsn)?;
        locked(&self.oracle).acknowledge();
        Ok(())
    }

    fn row(&mut self, id: i64) -> Vec<Value> {
        let (k, pad) = (self.random.below(40) as i64, self.random.below(400));
        let data = match self.random.one_in(8) {
            true => Value::Bytes(self.random.bytes(9000)),
            false => Value::Null,
        };
        vec![Value::Int(id), Value::Int(k), Value::Bytes(self.random.bytes(pad)), data]
    }

    /// Moves money between two accounts, locked in any order: writers run into deadlocks.
    fn transfer(&mut self, transaction: &Transaction, bank: &Arc<Table>) -> EngineResult<()> {
        let from = self.random.below(ACCOUNTS as u64) as i64;
        let to = (from + 1 + self.random.below(ACCOUNTS as u64 - 1) as i64) % ACCOUNTS;
        let amount = self.random.below(50) as i64;
        for (account, change) in [(from, -amount), (to, amount)] {
            let mut balance = None;
            let mode = ReadMode::Exclusive(WaitPolicy::Wait);
            transaction.get(bank, 0, &key(bank, account), mode, &mut |row| {
                balance = RowView::new(bank.layout(), row).ok().map(|view| view.integer(1));
            })?;
            let balance = balance.ok_or(EngineError::RowNotFound)?;
            let row = [Value::Int(account), Value::Int(balance + change), Value::Null, Value::Null];
            transaction.update(bank, &key(bank, account), &encode(bank, &row))?;
        }
        Ok(())
    }
}

//! One session of the stress: what it does next, its transactions, and what it does about errors. Main type: [`Actor`].
//! What it reads is in `reads.rs`, what it changes in `changes.rs` and `definitions.rs`.

use crate::clock::new_year;
use crate::oracle::{Oracle, Snapshot, TABLES};
use crate::stage::Stage;
use crate::tally::Tally;
use env::Clock;
use simulator::Generator;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use testkit::{Answer, Client};

/// Error numbers with their names.
pub mod error {
    pub const NO_SUCH_TABLE: u16 = 1146;
    pub const VIEW_INVALID: u16 = 1356;
    pub const TABLE_ACCESS_DENIED: u16 = 1142;
    pub const COLUMN_ACCESS_DENIED: u16 = 1143;
    pub const LOCK_WAIT_TIMEOUT: u16 = 1205;
    pub const DEADLOCK: u16 = 1213;
    pub const INTERRUPTED: u16 = 1317;
    pub const NO_SUCH_THREAD: u16 = 1094;
    pub const NOT_SUPPORTED_YET: u16 = 1235;
    pub const NO_SUCH_BRANCH: u16 = 1397;
    pub const DEFINITION_CHANGED: u16 = 1412;
}

/// What comes of other sessions' locks, definitions and KILL, whatever is asked.
const OF_OTHERS: [u16; 4] =
    [error::LOCK_WAIT_TIMEOUT, error::DEADLOCK, error::INTERRUPTED, error::DEFINITION_CHANGED];
/// Of so many reads that use NOW() one comes with a time that the session has set.
const STATEMENTS_AT_A_SET_TIME: u64 = 20;
/// Years whose ends sessions set their time to.
const SET_YEARS: (u64, u64) = (2020, 4);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

const LEVELS: [(Level, &str); 4] = [
    (Level::ReadUncommitted, "READ UNCOMMITTED"),
    (Level::ReadCommitted, "READ COMMITTED"),
    (Level::RepeatableRead, "REPEATABLE READ"),
    (Level::Serializable, "SERIALIZABLE"),
];

/// Versions that a transaction gave rows, by table and row.
pub type Own = HashMap<(usize, usize), u64>;

/// An open transaction.
#[derive(Default)]
pub struct Open {
    /// Of REPEATABLE READ, behind its first read.
    pub snapshot: Option<Snapshot>,
    pub own: Own,
    /// It has read or changed a table.
    pub has_joined: bool,
    /// What was its own at each savepoint, and whether it had joined by then.
    pub savepoints: Vec<(Own, bool)>,
    /// Rows that it has taken.
    pub taken: Vec<(usize, usize)>,
    /// It began by autocommit being off.
    pub by_autocommit: bool,
    /// What it has run, for violations.
    pub texts: Vec<String>,
}

pub struct Actor {
    pub stage: Arc<Stage>,
    pub number: usize,
    /// Root if none.
    pub user: Option<usize>,
    client: Client,
    pub random: Generator,
    pub level: Level,
    /// Hours that its time zone is ahead of UTC.
    pub zone_hours: u64,
    /// Seconds of the time that it has set, and for how many statements yet.
    set_time: Option<(u64, u64)>,
    /// Tables that a temporary one of the session stands before.
    pub hidden: BTreeSet<usize>,
    pub open: Option<Open>,
    pub tally: Tally,
}

impl Actor {
    pub fn new(stage: &Arc<Stage>, number: usize, user: Option<usize>, seed: u64) -> Result<Actor, String> {
        let mut actor = Actor {
            client: connect(stage, number, user)?,
            stage: Arc::clone(stage),
            number,
            user,
            random: Generator::new(seed),
            level: Level::RepeatableRead,
            zone_hours: 0,
            set_time: None,
            hidden: BTreeSet::new(),
            open: None,
            tally: Tally::default(),
        };
        actor.choose_level();
        Ok(actor)
    }

    pub fn oracle(&self) -> &Oracle {
        &self.stage.oracle
    }

    /// Runs until all sessions together have run so many statements.
    pub fn run(&mut self, statements: u64) {
        while self.stage.statements.load(Ordering::Relaxed) < statements {
            self.step();
        }
        self.end(true);
    }

    pub fn ask(&mut self, sql: &str) -> Answer {
        self.stage.statements.fetch_add(1, Ordering::Relaxed);
        self.tally.statements += 1;
        let answer = self.client.ask(sql);
        if let Some((number, _)) = answer.error {
            *self.tally.errors.entry(number).or_default() += 1;
        }
        if let Some(open) = &mut self.open {
            open.texts.push(sql.to_owned());
        }
        answer
    }

    /// Runs a statement that only other sessions can make fail; false if they did.
    pub fn succeeds(&mut self, sql: &str) -> bool {
        let Some((number, text)) = self.ask(sql).error else { return true };
        if !OF_OTHERS.contains(&number) {
            self.tally.violation(format!("{sql}: error {number} {text}"));
        }
        false
    }

    pub fn is_of_others(number: u16) -> bool {
        OF_OTHERS.contains(&number)
    }

    /// A table, some far oftener than others: what is read often is read again before it changes.
    pub fn some_table(&mut self) -> usize {
        let bound = 1 + self.random.below(TABLES as u64);
        self.random.below(bound) as usize
    }

    /// The clock that NOW() reads, in seconds of the session's time zone.
    pub fn seconds(&self) -> u64 {
        let utc = self.set_time.map_or_else(|| self.stage.clock.wall().as_secs(), |(seconds, _)| seconds);
        utc + self.zone_hours * 3600
    }

    fn step(&mut self) {
        self.count_set_time();
        if self.open.is_some() {
            return self.step_of_transaction();
        }
        match self.random.below(1000) {
            0..780 => self.read(),
            780..900 => self.begin(),
            900..925 => self.change_alone(),
            925..935 if self.user.is_none() => self.define(),
            935..938 if self.user.is_none() => self.change_rights(),
            938..941 if self.user.is_none() => self.kill_somebody(),
            941..944 if self.user.is_none() => self.read_locked(),
            944..945 if self.user.is_none() => self.clear_results(),
            945..948 if self.user.is_none() => self.change_by_xa(),
            948..956 => self.hide_or_show(),
            956..964 => self.choose_time(),
            964..984 => self.choose_level(),
            984..987 => self.reconnect(),
            _ => self.read(),
        }
    }

    fn step_of_transaction(&mut self) {
        match self.random.below(100) {
            0..80 => self.read(),
            80..86 if self.level != Level::ReadUncommitted => self.change(),
            86..88 => self.set_savepoint(),
            88..90 => self.back_to_savepoint(),
            90..91 if self.random.one_in(20) => self.change_many(),
            91..99 => self.end(self.random.clone().one_in(3)),
            _ if self.random.one_in(4) => self.reconnect(),
            _ => self.read(),
        }
    }

    fn choose_level(&mut self) {
        let (level, name) = LEVELS[self.random.below(LEVELS.len() as u64) as usize];
        // What is not committed is read too seldom to be worth a quarter of all.
        let (level, name) =
            if level == Level::ReadUncommitted && !self.random.one_in(4) { LEVELS[2] } else { (level, name) };
        if self.succeeds(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {name}")) {
            self.level = level;
        }
        let hours = if self.random.one_in(10) { 9 } else { 0 };
        if self.succeeds(&format!("SET time_zone = '+{hours:02}:00'")) {
            self.zone_hours = hours;
        }
    }

    /// Goes to a moment beside the end of a year, for a while.
    fn choose_time(&mut self) {
        let year = SET_YEARS.0 + self.random.below(SET_YEARS.1);
        let hour = if self.random.one_in(2) { 3600 } else { 0 };
        let seconds = new_year(year).as_secs() - hour + self.random.below(4) - 2;
        if self.succeeds(&format!("SET timestamp = {seconds}")) {
            self.set_time = Some((seconds, STATEMENTS_AT_A_SET_TIME));
        }
    }

    fn count_set_time(&mut self) {
        let Some((_, left)) = &mut self.set_time else { return };
        if *left > 0 {
            *left -= 1;
        } else if self.succeeds("SET timestamp = DEFAULT") {
            self.set_time = None;
        }
    }

    /// Begins a transaction in one of the ways that there are.
    fn begin(&mut self) {
        self.tally.transactions += 1;
        let mut open = Open::default();
        let has_begun = match self.random.below(4) {
            0 if self.level == Level::RepeatableRead => {
                let least = self.oracle().least();
                let has_begun = self.succeeds("START TRANSACTION WITH CONSISTENT SNAPSHOT");
                open.snapshot = Some(Snapshot { least, most: self.oracle().most() });
                open.has_joined = true;
                has_begun
            }
            1 => {
                open.by_autocommit = true;
                self.succeeds("SET autocommit = 0")
            }
            _ => self.succeeds("BEGIN"),
        };
        self.open = Some(open);
        if !has_begun {
            self.give_up();
        }
    }

    /// Ends the transaction, if one is open.
    pub fn end(&mut self, commits: bool) {
        let Some(open) = &self.open else { return };
        let own: Vec<_> = open.own.iter().map(|(place, version)| (*place, *version)).collect();
        if !commits {
            return self.give_up();
        }
        for ((table, row), version) in &own {
            self.oracle().tables[*table].rows[*row].version.ask(*version);
        }
        if !self.succeeds("COMMIT") {
            return self.give_up();
        }
        for ((table, row), version) in &own {
            self.oracle().tables[*table].rows[*row].version.finish(*version);
        }
        self.close();
    }

    /// Undoes the transaction, in a new session if this one is not heard any more.
    pub fn give_up(&mut self) {
        if self.succeeds("ROLLBACK") { self.close() } else { self.reconnect() }
    }

    /// The transaction is over.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        for (table, row) in &open.taken {
            self.oracle().tables[*table].rows[*row].owner.give();
        }
        if open.by_autocommit && !self.succeeds("SET autocommit = 1") {
            self.reconnect();
        }
    }

    fn set_savepoint(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.savepoints.push((open.own.clone(), open.has_joined));
        let name = open.savepoints.len();
        if !self.succeeds(&format!("SAVEPOINT s{name}")) {
            self.give_up();
        }
    }

    fn back_to_savepoint(&mut self) {
        let Some(open) = &self.open else { return };
        let Some(at) = open.savepoints.len().checked_sub(1) else { return };
        let at = self.random.below(at as u64 + 1) as usize;
        if !self.succeeds(&format!("ROLLBACK TO SAVEPOINT s{}", at + 1)) {
            return self.give_up();
        }
        let Some(open) = &mut self.open else { return };
        open.savepoints.truncate(at + 1);
        let (own, has_joined) = &open.savepoints[at];
        open.own.clone_from(own);
        // Of a transaction that had not touched a table by then nothing is left, its snapshot neither: so it is in MySQL.
        if !has_joined {
            (open.snapshot, open.has_joined) = (None, false);
        }
    }

    /// Leaves without a word, and comes back.
    pub fn reconnect(&mut self) {
        match connect(&self.stage, self.number, self.user) {
            // The session before ends here, and what it has changed is undone.
            Ok(client) => self.client = client,
            Err(text) => return self.tally.violation(text),
        }
        if let Some(open) = &mut self.open {
            open.by_autocommit = false;
        }
        self.close();
        (self.level, self.zone_hours, self.set_time) = (Level::RepeatableRead, 0, None);
        self.hidden.clear();
        self.choose_level();
    }
}

fn connect(stage: &Stage, number: usize, user: Option<usize>) -> Result<Client, String> {
    let name = user.map_or_else(|| "root".to_owned(), |user| format!("u{user}"));
    let client = stage.world.connect_as(&name, "d").map_err(|error| error.message().to_string())?;
    stage.connections[number].store(client.id(), Ordering::SeqCst);
    Ok(client)
}

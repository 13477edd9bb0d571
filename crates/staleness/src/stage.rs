//! A server and the sessions of a round. Main types: [`Stage`]; [`round`] runs one.

use crate::actor::Actor;
use crate::clock::JumpingClock;
use crate::definitions::{columns, values};
use crate::oracle::{Oracle, ROWS, TABLES, USERS};
use crate::tally::Tally;
use env::simulated::SimulatedDisk;
use env::{Clock, Environment, RealClock};
use simulator::Generator;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use testkit::{Client, World};

/// Sessions of a round. The first of them are users who lose and get rights.
const SESSIONS: usize = 16;
/// How often the figures are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Statements between two jumps of the clock.
const STATEMENTS_OF_AN_HOUR: u64 = 4000;
/// So long before a year's last hour begins, or it ends, the clock jumps to.
const BEFORE_HOUR: Duration = Duration::from_millis(100);
const HOUR: Duration = Duration::from_secs(3600);

/// What the sessions of a round share.
pub struct Stage {
    pub world: World,
    pub oracle: Oracle,
    pub clock: Arc<JumpingClock>,
    pub statements: AtomicU64,
    /// CONNECTION_ID() of each session.
    pub connections: Vec<AtomicU32>,
}

/// What a round has found.
#[derive(Default)]
pub struct Outcome {
    pub tally: Tally,
    pub hits: u64,
    pub inserted: u64,
    pub pruned: u64,
    /// The most that results took, and what they may take.
    pub bytes: (u64, u64),
}

impl Stage {
    fn new(seed: u64, results_bytes: u64) -> Result<Arc<Stage>, String> {
        let results_bytes = results_bytes.to_string();
        let clock = Arc::new(JumpingClock::default());
        let clock_of_world: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let simulated = Environment::simulated(SimulatedDisk::new(seed), seed);
        let environment = Environment { clock: clock_of_world, ..simulated };
        let settings = [
            ("innodb-buffer-pool-size", "32M"),
            ("innodb_redo_log_capacity", "16M"),
            ("innodb-lock-wait-timeout", "1"),
            ("lock-wait-timeout", "1"),
            ("query-cache-size", results_bytes.as_str()),
        ];
        let world = World::open_with(environment, &settings, false).map_err(text)?;
        let stage = Stage {
            world,
            oracle: Oracle::new(),
            clock,
            statements: AtomicU64::new(0),
            connections: (0..SESSIONS).map(|_| AtomicU32::new(0)).collect(),
        };
        let mut root = stage.world.connect("").map_err(text)?;
        stage.create(&mut root)?;
        Ok(Arc::new(stage))
    }

    fn create(&self, root: &mut Client) -> Result<(), String> {
        root.run("CREATE DATABASE d")?;
        root.run("USE d")?;
        for user in 0..USERS {
            root.run(&format!("CREATE USER u{user}"))?;
            root.run(&format!("GRANT INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES ON d.* TO u{user}"))?;
        }
        for table in 0..TABLES {
            root.run(&format!("CREATE TABLE t{table} {}", columns(0)))?;
            root.run(&format!("INSERT INTO t{table} (id, v) VALUES {}", values([0; ROWS])))?;
            root.run(&format!("CREATE VIEW w{table} AS SELECT id, v, 0 AS generation FROM t{table}"))?;
            for user in 0..USERS {
                root.run(&format!("GRANT SELECT ON t{table} TO u{user}"))?;
                root.run(&format!("GRANT SELECT ON w{table} TO u{user}"))?;
            }
        }
        Ok(())
    }

    /// Moves the clock and looks at the figures until the sessions have ended; the most that results took.
    fn watch(&self, is_over: &AtomicBool, tally: &Mutex<Tally>) -> u64 {
        let (mut bytes_most, mut hours) = (0, 0);
        while !is_over.load(Ordering::SeqCst) {
            if self.statements.load(Ordering::Relaxed) / STATEMENTS_OF_AN_HOUR > hours {
                hours += 1;
                let hour = if hours.is_multiple_of(2) { Duration::ZERO } else { HOUR };
                self.clock.jump_before_new_year(hour + BEFORE_HOUR);
            }
            let figures = self.world.instance().results().figures();
            bytes_most = bytes_most.max(figures.bytes);
            if figures.bytes > figures.capacity_bytes {
                let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                tally.violation(format!("results take too much: {figures:?}"));
            }
            RealClock.sleep(LOOK_EVERY);
        }
        bytes_most
    }

    /// Drops all there is: no result may be left.
    fn finish(&self, outcome: &mut Outcome) -> Result<(), String> {
        let mut root = self.world.connect("d").map_err(text)?;
        let hits = root.ask("SHOW GLOBAL STATUS LIKE 'Qcache_hits'");
        let hits = hits.rows.first().and_then(|row| row[1].as_ref()).and_then(|hits| hits.parse().ok());
        outcome.hits = hits.ok_or("no Qcache_hits")?;
        for user in 0..USERS {
            root.run(&format!("DROP USER u{user}"))?;
        }
        for table in 0..TABLES {
            root.run(&format!("DROP TABLE t{table}"))?;
            root.run(&format!("DROP VIEW w{table}"))?;
        }
        let status = root.ask("SHOW GLOBAL STATUS LIKE 'Qcache_queries_in_cache'");
        let figures = self.world.instance().results().figures();
        let left = status.rows.first().and_then(|row| row[1].clone());
        if left.as_deref() != Some("0") || (figures.count, figures.bytes) != (0, 0) {
            outcome.tally.violation(format!("results are left of what was dropped: {left:?}, {figures:?}"));
        }
        (outcome.inserted, outcome.pruned) = (figures.inserted, figures.pruned);
        outcome.bytes.1 = figures.capacity_bytes;
        Ok(())
    }
}

fn text(error: errors::SqlError) -> String {
    error.message().to_string()
}

/// Runs so many statements on a new server, whose results may take so many bytes.
pub fn round(seed: u64, statements: u64, results_bytes: u64) -> Result<Outcome, String> {
    let stage = Stage::new(seed, results_bytes)?;
    let tally = Arc::new(Mutex::new(Tally::default()));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut seeds = Generator::new(seed);
    let threads: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let user = Some(number).filter(|number| *number < USERS);
            let mut actor = Actor::new(&stage, number, user, seeds.number())?;
            let tally = Arc::clone(&tally);
            let body = move || {
                actor.run(statements);
                tally.lock().unwrap_or_else(PoisonError::into_inner).add(actor.tally);
            };
            Ok(stage.world.instance().environment().threads.spawn("session", Box::new(body)))
        })
        .collect::<Result<_, String>>()?;
    let (watched, watched_tally, ends) = (Arc::clone(&stage), Arc::clone(&tally), Arc::clone(&is_over));
    let bytes = Arc::new(AtomicU64::new(0));
    let most = Arc::clone(&bytes);
    let watch = move || most.store(watched.watch(&ends, &watched_tally), Ordering::SeqCst);
    let watch = stage.world.instance().environment().threads.spawn("watch", Box::new(watch));
    let ended = threads.into_iter().map(env::JoinHandle::join).filter(|ended| *ended).count();
    is_over.store(true, Ordering::SeqCst);
    watch.join();
    let tally = std::mem::take(&mut *tally.lock().unwrap_or_else(PoisonError::into_inner));
    let mut outcome = Outcome { tally, bytes: (bytes.load(Ordering::SeqCst), 0), ..Outcome::default() };
    if ended < SESSIONS {
        outcome.tally.violation(format!("{} sessions have panicked", SESSIONS - ended));
    }
    if let Err(text) = stage.finish(&mut outcome) {
        outcome.tally.violation(text);
    }
    if let Some(stage) = Arc::into_inner(stage) {
        stage.world.close();
    }
    Ok(outcome)
}

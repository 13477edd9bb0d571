//! Crash scenarios of statements: [`SqlScenario`] runs a [`Script`] on a whole server without sockets. What should be found is not computed:
//! the script runs once without a crash, and what is committed then after each step is what a crash may leave.

use std::path::Path;
use std::sync::Arc;

use env::Disk;
use env::simulated::SimulatedDisk;
use testkit::{Client, World};

use crate::{Oracle, Scenario};

/// The schema of all scripts.
pub const SCHEMA: &str = "crash";

/// Sizes of the buffer pool and of the log: the smallest that a server takes.
const SIZES: (&str, &str) = ("5M", "8M");

/// Statements, each behind the name of the session that runs it: `a: INSERT ..`; `engine: checkpoint` writes pages, `engine: purge` takes
/// away what no snapshot sees. A step that fails says so: `a!1062: INSERT ..`.
pub struct Script {
    /// Short name.
    pub name: &'static str,
    /// What makes tables and rows, before the first crash.
    pub setup: &'static [&'static str],
    /// What crashes.
    pub steps: &'static [&'static str],
}

/// Definitions and rows of all tables and views, as lines.
type State = Arc<Vec<String>>;

/// A script with what it does when nothing crashes.
pub struct SqlScenario {
    script: &'static Script,
    /// After the setup, and a shutdown.
    prepared: SimulatedDisk,
    /// What is committed before the first step and after each.
    states: Vec<State>,
}

/// A server with the sessions of a script.
struct Stage {
    world: World,
    sessions: Vec<(&'static str, Client)>,
}

impl Stage {
    fn open(disk: &SimulatedDisk) -> Result<Stage, String> {
        let world = World::open(disk.clone(), SIZES, true);
        let world = world.map_err(|error| format!("open: {}", error.message()))?;
        Ok(Stage { world, sessions: Vec::new() })
    }

    fn session(&mut self, name: &'static str) -> Result<&mut Client, String> {
        if let Some(at) = self.sessions.iter().position(|(known, _)| *known == name) {
            return Ok(&mut self.sessions[at].1);
        }
        let mut client = self.world.connect("").map_err(|error| error.message().to_string())?;
        // The schema may be among what was lost.
        client.ask(&format!("USE {SCHEMA}"));
        self.sessions.push((name, client));
        self.sessions.last_mut().map(|(_, client)| client).ok_or_else(|| "no session".to_owned())
    }

    /// Error for a step that does not end as it says.
    fn step(&mut self, step: &'static str) -> Result<(), String> {
        let (name, sql) = step.split_once(": ").ok_or_else(|| format!("no session named: {step}"))?;
        let (name, expected) = name.split_once('!').unwrap_or((name, ""));
        if name == "engine" {
            let engine = self.world.instance().engine();
            let done = if sql == "purge" { engine.purge().map(drop) } else { engine.checkpoint() };
            return done.map_err(|error| format!("{step}: {error:?}"));
        }
        let error = self.session(name)?.ask(sql).error;
        let number = error.as_ref().map_or(String::new(), |(number, _)| number.to_string());
        if number == expected { Ok(()) } else { Err(format!("{step}: {error:?}")) }
    }
}

impl SqlScenario {
    /// Runs the script once.
    pub fn new(script: &'static Script) -> Result<SqlScenario, String> {
        let disk = SimulatedDisk::new(1);
        let mut stage = Stage::open(&disk)?;
        let client = stage.session("setup")?;
        for statement in [format!("CREATE DATABASE {SCHEMA}"), format!("USE {SCHEMA}")] {
            client.run(&statement)?;
        }
        script.setup.iter().try_for_each(|statement| client.run(statement))?;
        stage.sessions.clear();
        stage.world.close();
        let prepared = disk.restart_with_durable_state();
        let mut stage = Stage::open(&prepared.restart_with_durable_state())?;
        let mut scenario = SqlScenario { script, prepared, states: Vec::new() };
        scenario.states.push(committed(stage.session("observer")?)?);
        for step in script.steps {
            stage.step(step)?;
            scenario.states.push(committed(stage.session("observer")?)?);
        }
        stage.sessions.clear();
        stage.world.close();
        Ok(scenario)
    }

    /// How many steps leave something else behind than was there.
    pub fn commits(&self) -> usize {
        self.states.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

impl Scenario for SqlScenario {
    type Oracle = Oracle<State>;

    fn name(&self) -> &'static str {
        self.script.name
    }

    fn disk(&self) -> SimulatedDisk {
        self.prepared.restart_with_durable_state()
    }

    fn oracle(&self) -> Self::Oracle {
        Oracle::new(Arc::clone(&self.states[0]))
    }

    fn run(&self, disk: &SimulatedDisk, oracle: &mut Self::Oracle) -> Result<(), String> {
        let mut stage = Stage::open(disk)?;
        for (at, step) in self.script.steps.iter().enumerate() {
            if self.states[at + 1] != self.states[at] {
                oracle.commit(Arc::clone(&self.states[at + 1]));
            }
            stage.step(step)?;
            oracle.acknowledge();
        }
        Ok(())
    }

    fn verify(&self, disk: &SimulatedDisk, oracle: &Self::Oracle) -> Result<usize, String> {
        let mut stage = Stage::open(disk)?;
        let lost = disk.list(Path::new("#lost+found")).unwrap_or_default();
        if !lost.is_empty() {
            return Err(format!("files that nobody knows: {lost:?}"));
        }
        let found = checked(&mut stage)?;
        // What the crash left unfinished is not seen, neither before it is rolled back nor behind.
        let engine = stage.world.instance().engine();
        while engine.roll_back_unfinished(1000).map_err(|error| format!("rollback: {error:?}"))? > 0 {}
        if checked(&mut stage)? != found {
            return Err("the rollback changes what is seen".to_owned());
        }
        oracle.judge(&found).map_err(|loss| {
            let expected = oracle.acknowledged();
            let differing = found.iter().filter(|line| !expected.contains(line));
            let lacking = expected.iter().filter(|line| !found.contains(line));
            let differing: Vec<_> = differing.chain(lacking).take(8).collect();
            format!("{loss}; found or lacking: {differing:?}")
        })
    }
}

/// Checks all of a database, and reads it.
fn checked(stage: &mut Stage) -> Result<State, String> {
    let faults = stage.world.instance().engine().check().map_err(|error| format!("check: {error:?}"))?;
    if !faults.is_empty() {
        return Err(format!("check: {faults:?}"));
    }
    let client = stage.session("observer")?;
    let state = committed(client)?;
    check_tables(client)?;
    no_orphans(client)?;
    Ok(state)
}

/// Rows of a statement that does not fail.
fn rows(client: &mut Client, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let answer = client.ask(sql);
    if let Some((number, text)) = answer.error {
        return Err(format!("{number} {text}: {sql}"));
    }
    let cell = |cell: Option<String>| cell.unwrap_or_else(|| "NULL".to_owned());
    Ok(answer.rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect())
}

/// Names of tables, with what they are.
fn tables(client: &mut Client) -> Result<Vec<(String, bool)>, String> {
    let query = format!(
        "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{SCHEMA}' ORDER BY 1"
    );
    let found = rows(client, &query)?;
    Ok(found.into_iter().map(|row| (row[0].clone(), row[1] == "BASE TABLE")).collect())
}

/// Definitions and rows of all tables and views. A view whose tables are not there is its definition and an error.
fn committed(client: &mut Client) -> Result<State, String> {
    let mut lines = Vec::new();
    for (name, is_table) in tables(client)? {
        lines.extend(rows(client, &format!("SHOW CREATE TABLE {SCHEMA}.{name}"))?.concat());
        let own = match rows(client, &format!("SELECT * FROM {SCHEMA}.{name}")) {
            Err(text) if is_table => return Err(text),
            Err(text) => vec![vec![text]],
            Ok(own) => own,
        };
        let mut own: Vec<String> = own.iter().map(|row| format!("{name}: {}", row.join(", "))).collect();
        own.sort();
        lines.extend(own);
    }
    Ok(Arc::new(lines))
}

/// CHECK TABLE of all tables: each index has an entry for each row and no other.
fn check_tables(client: &mut Client) -> Result<(), String> {
    for (name, _) in tables(client)?.into_iter().filter(|(_, is_table)| *is_table) {
        let found = rows(client, &format!("CHECK TABLE {SCHEMA}.{name}"))?;
        if found.iter().any(|row| row[3] != "OK") {
            return Err(format!("CHECK TABLE: {found:?}"));
        }
    }
    Ok(())
}

/// A foreign key, as information_schema tells of it.
struct Key {
    child: String,
    parent: String,
    name: String,
    columns: Vec<(String, String)>,
}

/// No row refers to a parent that is not there.
fn no_orphans(client: &mut Client) -> Result<(), String> {
    let query = format!(
        "SELECT TABLE_NAME, REFERENCED_TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_COLUMN_NAME \
         FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = '{SCHEMA}' AND REFERENCED_TABLE_NAME IS NOT NULL \
         ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION"
    );
    let mut keys: Vec<Key> = Vec::new();
    for row in rows(client, &query)? {
        let [child, parent, name, column, referred] = &row[..] else { return Err(format!("{row:?}")) };
        let columns = (column.clone(), referred.clone());
        match keys.last_mut() {
            Some(last) if last.name == *name => last.columns.push(columns),
            _ => keys.push(Key {
                child: child.clone(),
                parent: parent.clone(),
                name: name.clone(),
                columns: vec![columns],
            }),
        }
    }
    for Key { child, parent, name, columns } in keys {
        let pairs: Vec<String> = columns.iter().map(|(own, other)| format!("p.{other} = c.{own}")).collect();
        let set: Vec<String> = columns.iter().map(|(own, _)| format!("c.{own} IS NOT NULL")).collect();
        let query = format!(
            "SELECT c.* FROM {SCHEMA}.{child} c LEFT JOIN {SCHEMA}.{parent} p ON {} WHERE {} AND p.{} IS NULL",
            pairs.join(" AND "),
            set.join(" AND "),
            columns[0].1
        );
        let orphans = rows(client, &query)?;
        if !orphans.is_empty() {
            return Err(format!("orphans of {name}: {orphans:?}"));
        }
    }
    Ok(())
}

//! The operations whose instructions `cargo xtask instructions` counts: a session over the real engine in a directory
//! of its own, without sockets. Each `measured_*` function runs its operation so many times as is printed; callgrind adds up
//! what happened below it. Data, order and number of operations are fixed, so that counts are the same in every run.
#![forbid(unsafe_code)]

mod answers;
mod planning;
mod rows;
mod sharing;
mod single;

use answers::Answers;
use env::Environment;
use errors::{SqlResult, sql_error};
use session::{ClientHost, ConnectionControl, ConnectionInfo, Instance, InstanceOptions, Session};
use session::{OptionSetting, OptionSource};
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use stdx::ids::Lsn;
use wire::command::Command;

/// That of the product.
#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

/// How often an operation is run, but for those of `planning` and `rows`.
const TIMES: u32 = 400;
/// Run before the measured ones, so that caches are as warm as in a server that runs.
const WARM_UP: u32 = 40;
const ROWS: u32 = 2_000;
const SELECT: &str = "SELECT c FROM sbtest1 WHERE id=";

struct NoControl;

impl ConnectionControl for NoControl {
    fn close(&self) {}
}

/// A session and where its answers go.
struct Client {
    session: Box<Session>,
    answers: Answers,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [directory] => run(Path::new(directory)),
        [directory, "contention"] => single::run(Path::new(directory)),
        [directory, "sharing"] => sharing::run(Path::new(directory)),
        _ => {
            eprintln!(
                "usage: instructions EMPTY-DIRECTORY [contention | sharing] (see cargo xtask instructions, contention, sharing)"
            );
            return ExitCode::FAILURE;
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.message());
            ExitCode::FAILURE
        }
    }
}

fn run(directory: &Path) -> SqlResult<()> {
    let instance = open(directory)?;
    let mut client = prepare(&instance, ROWS)?;
    let statements: Vec<String> = (0..WARM_UP + TIMES).map(|at| format!("{SELECT}{}", row(at))).collect();
    let (warm_up, measured) = statements.split_at(WARM_UP as usize);
    parse(warm_up)?;
    measured_parse(measured)?;
    client.run_all(warm_up)?;
    measured_point_read(&mut client, measured)?;
    connect_each(&instance, warm_up)?;
    measured_connect(&instance, measured)?;
    let statements: Vec<String> = (1..=WARM_UP + TIMES).map(|at| insert(ROWS + at)).collect();
    let (warm_up, measured) = statements.split_at(WARM_UP as usize);
    client.query("BEGIN")?;
    client.run_all(warm_up)?;
    measured_insert(&mut client, measured)?;
    client.query("COMMIT")?;
    for at in 0..WARM_UP + TIMES {
        client.query("BEGIN")?;
        client.query(&insert(2 * ROWS + at))?;
        if at < WARM_UP { client.query("COMMIT")? } else { measured_commit(&mut client)? }
    }
    let statements: Vec<String> = (0..WARM_UP + TIMES).map(|at| update(row(at))).collect();
    let (warm_up, measured) = statements.split_at(WARM_UP as usize);
    client.query("BEGIN")?;
    client.run_all(warm_up)?;
    measured_update(&mut client, measured)?;
    client.query("COMMIT")?;
    planning::run(&mut client)?;
    rows::run(&mut client)?;
    drop(client);
    close(&instance)?;
    let of_this_file =
        ["parse", "point_read", "connect", "insert", "commit", "update"].map(|name| (name, TIMES));
    of_this_file
        .into_iter()
        .chain(planning::TIMES_RUN)
        .chain(rows::ROWS_RUN)
        .for_each(|(name, times)| println!("{name} {times}"));
    Ok(())
}

/// A client of a new schema with the table of all operations but those of `planning`, which gets so many rows.
fn prepare(instance: &Arc<Instance>, rows: u32) -> SqlResult<Client> {
    let mut client = connect(instance, "")?;
    client.query("CREATE DATABASE bench")?;
    client.query("USE bench")?;
    client.query(
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id), KEY k_1 (k))",
    )?;
    client.query("BEGIN")?;
    for id in 1..=rows {
        client.query(&insert(id))?;
    }
    client.query("COMMIT")?;
    Ok(client)
}

fn close(instance: &Instance) -> SqlResult<()> {
    let closed = instance.engine().shutdown();
    closed.map_err(|error| sql_error!(ER_INTERNAL_ERROR, error))
}

#[inline(never)]
fn measured_parse(statements: &[String]) -> SqlResult<()> {
    parse(statements)
}

#[inline(never)]
fn measured_point_read(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    // Without something of their own, functions of equal content become one.
    black_box("point read");
    client.run_all(statements)
}

/// A new session for each statement.
#[inline(never)]
fn measured_connect(instance: &Arc<Instance>, statements: &[String]) -> SqlResult<()> {
    black_box("connect");
    connect_each(instance, statements)
}

#[inline(never)]
fn measured_insert(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("insert");
    client.run_all(statements)
}

#[inline(never)]
fn measured_update(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("update");
    client.run_all(statements)
}

#[inline(never)]
fn measured_commit(client: &mut Client) -> SqlResult<()> {
    client.query("COMMIT")
}

fn connect_each(instance: &Arc<Instance>, statements: &[String]) -> SqlResult<()> {
    statements.iter().try_for_each(|statement| connect(instance, "bench")?.query(statement))
}

fn parse(statements: &[String]) -> SqlResult<()> {
    for statement in statements {
        black_box(parser::parse_one(statement.as_bytes(), 0, parser::ParseOptions::default())?);
    }
    Ok(())
}

impl Client {
    fn run_all(&mut self, statements: &[String]) -> SqlResult<()> {
        statements.iter().try_for_each(|statement| self.query(statement))
    }

    /// What the server does with a packet, from its first byte to the bytes of the answer.
    fn query(&mut self, sql: &str) -> SqlResult<()> {
        self.answers.begin();
        let packet = [b"\x03", sql.as_bytes()].concat();
        let command = Command::parse(&packet, self.answers.capabilities())
            .map_err(|_| sql_error!(ER_MALFORMED_PACKET))?;
        if let Command::Query { sql, .. } = command {
            let lsn = session_query(&mut self.session, sql, &mut self.answers);
            self.session.instance().flush_log(lsn).map_err(|reason| sql_error!(ER_INTERNAL_ERROR, reason))?;
        }
        self.answers.end()
    }
}

/// What `cargo xtask instructions --release` counts as the session's: a function of its own, whatever is compiled into what.
#[inline(never)]
fn session_query(session: &mut Session, sql: &[u8], answers: &mut Answers) -> Lsn {
    session.query(sql, answers)
}

/// Rows in an order that is neither ascending nor the same at every run of the loop.
fn row(at: u32) -> u32 {
    at * 7919 % ROWS + 1
}

fn insert(id: u32) -> String {
    let (c, pad) = (format!("{id:011}-").repeat(10), format!("{id:011}-").repeat(5));
    format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES ({id}, {}, '{c}', '{pad}')", id * 31 % ROWS)
}

fn update(id: u32) -> String {
    format!("UPDATE sbtest1 SET c='{}' WHERE id={id}", format!("{:011}-", id * 3).repeat(10))
}

fn open(directory: &Path) -> SqlResult<Arc<Instance>> {
    let setting = |name: &str, value: &str| OptionSetting {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        source: OptionSource::CommandLine,
    };
    let settings =
        vec![setting("innodb-buffer-pool-size", "32M"), setting("innodb_redo_log_capacity", "16M")];
    let options = InstanceOptions {
        settings,
        data_directory: directory.display().to_string(),
        loopback_only: true,
        descriptors_max: None,
        statements_only: false,
    };
    Instance::open(Environment::real(directory), options)
}

fn connect(instance: &Arc<Instance>, schema: &str) -> SqlResult<Client> {
    let host = ClientHost::local();
    let account = instance
        .find_account("root", &host)
        .ok_or_else(|| sql_error!(ER_INTERNAL_ERROR, "a new server has no root account"))?;
    let answers = Answers::new();
    let info = ConnectionInfo {
        id: instance.next_connection_id(),
        user: "root".to_owned(),
        host,
        schema: schema.to_owned(),
        capabilities: u64::from(answers.capabilities()),
        collation: 255,
        tls: None,
        attributes: wire::connection_attributes::ConnectionAttributes::default(),
        control: Arc::new(NoControl),
    };
    Ok(Client { session: Session::open(instance, info, &account)?, answers })
}

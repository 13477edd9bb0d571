//! Statements whose planning is most of what they cost: no plan of theirs is kept, each is parsed, bound and optimised anew, and
//! finds a row or two. Entry point: [`run`].

use crate::answers::Answers;
use crate::{Client, ROWS};
use errors::SqlResult;
use expression::SqlMode;
use parser::ParseOptions;
use session::nested::{NestedStatement, Program};
use std::hint::black_box;
use values::{ColumnType, Value};

/// Tables of the joins, a star with a tail: orders name a customer and a product, customers a country, products a maker.
const TABLES: [&str; 5] = [
    "CREATE TABLE country (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
    "CREATE TABLE maker (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
    "CREATE TABLE customer (id INT PRIMARY KEY, country INT NOT NULL, name VARCHAR(20) NOT NULL, KEY country (country))",
    "CREATE TABLE product (id INT PRIMARY KEY, maker INT NOT NULL, name VARCHAR(20) NOT NULL, KEY maker (maker))",
    "CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL, product INT NOT NULL, amount INT NOT NULL, \
     KEY customer (customer), KEY product (product))",
];
const CUSTOMERS: u32 = 200;
const ORDERS: u32 = 2 * CUSTOMERS;

/// Run before and while it is counted. Fewer than of other operations: each takes much longer.
const WARM_UP: u32 = 8;
const TIMES: u32 = 40;
/// Calls in one statement.
const CALLS: u32 = 50;
/// How often each operation is run.
pub(crate) const TIMES_RUN: [(&str, u32); 5] = [
    ("plan_one", TIMES),
    ("plan_join2", TIMES),
    ("plan_join5", TIMES),
    ("execute", TIMES),
    ("nested", TIMES * CALLS),
];

/// Runs the operations.
pub(crate) fn run(client: &mut Client) -> SqlResult<()> {
    fill(client)?;
    for statements in [one as fn(u32) -> String, join2, join5, execute, nested] {
        (0..WARM_UP).try_for_each(|at| client.query(&statements(at)))?;
    }
    let all = |statement: fn(u32) -> String| (WARM_UP..WARM_UP + TIMES).map(statement).collect::<Vec<_>>();
    measured_plan_one(client, &all(one))?;
    measured_plan_join2(client, &all(join2))?;
    measured_plan_join5(client, &all(join5))?;
    measured_execute(client, &all(execute))?;
    measured_nested(client, &all(nested))
}

fn fill(client: &mut Client) -> SqlResult<()> {
    TABLES.iter().try_for_each(|table| client.query(table))?;
    client.query("BEGIN")?;
    for id in 0..20 {
        client.query(&format!("INSERT INTO country VALUES ({id}, 'country {id}')"))?;
        client.query(&format!("INSERT INTO maker VALUES ({id}, 'maker {id}')"))?;
    }
    for id in 0..CUSTOMERS {
        client.query(&format!("INSERT INTO customer VALUES ({id}, {}, 'customer {id}')", id % 20))?;
        client.query(&format!("INSERT INTO product VALUES ({id}, {}, 'product {id}')", id % 20))?;
    }
    for id in 0..ORDERS {
        let (customer, product) = (id * 7 % CUSTOMERS, id * 11 % CUSTOMERS);
        client.query(&format!("INSERT INTO orders VALUES ({id}, {customer}, {product}, {id})"))?;
    }
    client.query("COMMIT")?;
    client.query("ANALYZE TABLE sbtest1, country, maker, customer, product, orders")?;
    define_nothing(client)?;
    client.query("SET @id = 17")?;
    client.query("PREPARE point FROM 'SELECT c FROM sbtest1 WHERE id = ?'")
}

/// One table, three conditions: a key that is not unique, and two that are checked on the row.
fn one(at: u32) -> String {
    format!("SELECT c FROM sbtest1 WHERE k = {} AND id > 0 AND pad <> 'x'", at * 31 % ROWS)
}

fn join2(at: u32) -> String {
    format!(
        "SELECT o.amount, c.name FROM orders o JOIN customer c ON c.id = o.customer WHERE o.customer = {} AND c.country < 20",
        at * 31 % CUSTOMERS
    )
}

fn join5(at: u32) -> String {
    format!(
        "SELECT o.amount, c.name, p.name, l.name, m.name FROM orders o JOIN customer c ON c.id = o.customer \
         JOIN product p ON p.id = o.product JOIN country l ON l.id = c.country JOIN maker m ON m.id = p.maker WHERE o.customer = {}",
        at * 31 % CUSTOMERS
    )
}

/// EXECUTE by its text, of a statement whose plan is kept.
fn execute(_at: u32) -> String {
    "EXECUTE point USING @id".to_owned()
}

/// Calls of a stored function that runs one statement, which does nothing.
fn nested(_at: u32) -> String {
    format!("DO {}", vec!["bench.nothing()"; CALLS as usize].join(", "))
}

fn define_nothing(client: &Client) -> SqlResult<()> {
    let nothing = NestedStatement::parse("DO 0", ParseOptions::default())?;
    let body = Program {
        sql_mode: SqlMode::DEFAULT,
        statements: vec![nothing],
        run: Box::new(|program, runner, _| {
            runner.run(&program.statements[0], &[], &mut Answers::new())?;
            Ok(Value::Null)
        }),
    };
    client.session.instance().routines().put("bench", "nothing", Vec::new(), ColumnType::big_int(), body);
    Ok(())
}

#[inline(never)]
fn measured_plan_one(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("plan one");
    client.run_all(statements)
}

#[inline(never)]
fn measured_plan_join2(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("plan join of two");
    client.run_all(statements)
}

#[inline(never)]
fn measured_plan_join5(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("plan join of five");
    client.run_all(statements)
}

#[inline(never)]
fn measured_execute(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("execute");
    client.run_all(statements)
}

#[inline(never)]
fn measured_nested(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("nested");
    client.run_all(statements)
}

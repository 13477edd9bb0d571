//! Runs the cases of a rule and an oracle and counts what came of them. Main function: [`cases`].

use crate::changes;
use crate::oracles::{Oracle, Outcome, Pair, Violation};
use crate::query::Query;
use crate::random::Random;
use crate::rules::{Rule, views};
use crate::shrink::smaller;
use crate::tables::{NAMES, Tables, VIEWS};
use testkit::{Answer, Client, World};

/// Cases over the same tables.
const TABLE_LIFE: u64 = 128;
/// Tables that one server lives for: its disk is memory.
const WORLD_LIFE: u64 = 400;
/// Of so many cases of `switch`, one is looked at whether the rule changes its plan.
const LOOK_EVERY: u64 = 8;
/// Rows of an answer that are printed.
const ROWS_SHOWN_MAX: usize = 40;
/// Violations that are printed.
const SHOWN_MAX: u64 = 5;

#[derive(Default)]
struct Counts {
    statements: u64,
    same: u64,
    nothing: u64,
    violations: u64,
    looked_at: u64,
    changed: u64,
}

/// A server with the tables of some cases.
struct Stage {
    world: World,
    pair: Pair,
    tables: Tables,
}

impl Stage {
    fn new(rule: &Rule, oracle: Oracle) -> Result<Stage, String> {
        let text = |error: errors::SqlError| error.message().to_string();
        let world = World::new().map_err(text)?;
        let mut first = world.connect("").map_err(text)?;
        first.run("CREATE DATABASE m")?;
        let connect = |off: Option<String>| -> Result<Client, String> {
            let mut client = world.connect("m").map_err(text)?;
            // Of two equal decimals the one with the other scale, and dates of the past, are values like others.
            client.run("SET sql_mode = ''")?;
            off.map_or(Ok(()), |off| client.run(&off))?;
            Ok(client)
        };
        let pair =
            Pair { on: connect(None)?, off: connect(Some(rule.off()).filter(|_| oracle == Oracle::Switch))? };
        Ok(Stage { world, pair, tables: Tables { list: Vec::new(), views: Vec::new() } })
    }

    fn set(&mut self, tables: Tables) -> Result<(), String> {
        self.pair.on.run(&format!("DROP VIEW IF EXISTS {}", VIEWS.join(", ")))?;
        self.pair.on.run(&format!("DROP TABLE IF EXISTS {}", NAMES.join(", ")))?;
        for statement in tables.list.iter().flat_map(|table| &table.statements) {
            self.pair.on.run(statement)?;
        }
        tables.views.iter().try_for_each(|view| self.pair.on.run(&view.statement()))?;
        self.tables = tables;
        Ok(())
    }
}

/// Runs so many cases from that number on; the number of violations.
pub fn cases(rule: &Rule, (name, oracle): (&str, Oracle), seed: u64, count: u64) -> Result<u64, String> {
    let mut counts = Counts::default();
    let mut stage: Option<Stage> = None;
    for number in seed..seed + count {
        let tables_number = number / TABLE_LIFE;
        if number == seed || number.is_multiple_of(TABLE_LIFE) {
            if tables_number.is_multiple_of(WORLD_LIFE)
                && let Some(old) = stage.take()
            {
                old.world.close();
            }
            if stage.is_none() {
                stage = Some(Stage::new(rule, oracle)?);
            }
            let random = &mut Random::new(tables_number | 1 << 63);
            let mut tables = Tables::new(random, rule.size);
            views(random, &mut tables);
            stage.as_mut().map_or(Ok(()), |stage| stage.set(tables))?;
        }
        let Some(stage) = &mut stage else { continue };
        one_case(rule, (name, oracle), number, stage, &mut counts);
    }
    let share = (100 * counts.changed).checked_div(counts.looked_at);
    let share = share.map_or(String::new(), |share| format!(", plan changed in {share}%"));
    println!(
        "{} {name}: {count} cases, {} statements, {} the same, {} without an answer, {} violations{share}",
        rule.name, counts.statements, counts.same, counts.nothing, counts.violations
    );
    Ok(counts.violations)
}

fn one_case(
    rule: &Rule,
    (name, oracle): (&str, Oracle),
    number: u64,
    stage: &mut Stage,
    counts: &mut Counts,
) {
    let mut random = Random::new(number);
    let query = (rule.make)(&mut random, &stage.tables);
    // One of its own conditions is what the rule is about.
    let divides = query.conditions.len().checked_sub(1).filter(|_| random.percent(60));
    let (query_to_divide, condition) = match divides {
        Some(last) if oracle == Oracle::Partitions => {
            let mut query = query.clone();
            let condition = query.conditions.remove(random.below(last + 1));
            (query, condition)
        }
        _ => {
            let is_derived = query.items.first().is_some_and(|item| item.starts_with("e."));
            (query, (if is_derived { "e.y0 > 7" } else { "a.id > 7" }).to_owned())
        }
    };
    counts.statements += match oracle {
        Oracle::Partitions => 4,
        Oracle::Switch | Oracle::Computed => 2,
        Oracle::Changed => changes::STATEMENTS,
    };
    if oracle == Oracle::Switch && number.is_multiple_of(LOOK_EVERY) {
        counts.looked_at += 1;
        counts.changed += u64::from(changes_plan(rule, &query_to_divide, &mut stage.pair));
    }
    match oracle.check(&query_to_divide, &condition, &mut stage.pair) {
        Outcome::Same => counts.same += 1,
        Outcome::Nothing => counts.nothing += 1,
        Outcome::Violation(found) => {
            counts.violations += 1;
            if counts.violations <= SHOWN_MAX {
                let small = shrunk(oracle, query_to_divide, &condition, &mut stage.pair).unwrap_or(found);
                println!(
                    "VIOLATION: cargo xtask metamorphic --rule {} --oracle {name} --seed {number} --count 1",
                    rule.name
                );
                print(&small, &stage.tables);
            }
        }
    }
}

fn changes_plan(rule: &Rule, query: &Query, pair: &mut Pair) -> bool {
    let explain = format!("EXPLAIN FORMAT=TREE {}", query.text());
    let plan = pair.on.ask(&explain);
    match rule.sign {
        "" => plan != pair.off.ask(&explain),
        sign => plan.rows.iter().flatten().flatten().any(|text| text.contains(sign)),
    }
}

fn shrunk(oracle: Oracle, query: Query, condition: &str, pair: &mut Pair) -> Option<Box<Violation>> {
    let query =
        smaller(query, &mut |query| matches!(oracle.check(query, condition, pair), Outcome::Violation(_)));
    match oracle.check(&query, condition, pair) {
        Outcome::Violation(found) => Some(found),
        _ => None,
    }
}

fn print(violation: &Violation, tables: &Tables) {
    let is_read = |name: &str| violation.query.contains(name);
    // A view may read any table, and other views.
    let reads_views = tables.views.iter().any(|view| is_read(view.name));
    for table in tables.list.iter().filter(|table| reads_views || is_read(table.name)) {
        table.statements.iter().for_each(|statement| println!("  {statement};"));
    }
    tables.views.iter().filter(|_| reads_views).for_each(|view| println!("  {};", view.statement()));
    println!("  {};\n{}", violation.query, lines(&violation.found));
    violation.others.iter().for_each(|other| println!("  {other};"));
    if violation.others.is_empty() {
        println!("  (the same with the rule switched off)");
    }
    println!("{}", lines(&violation.wanted));
}

fn lines(answer: &Answer) -> String {
    if let Some((number, text)) = &answer.error {
        return format!("    error {number} {text}");
    }
    let cell = |cell: &Option<String>| cell.clone().unwrap_or_else(|| "NULL".to_owned());
    let line =
        |row: &Vec<Option<String>>| format!("    {}", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
    let mut lines: Vec<String> = answer.rows.iter().take(ROWS_SHOWN_MAX).map(line).collect();
    lines.push(format!("    ({} rows, {} warnings)", answer.rows.len(), answer.warnings));
    lines.join("\n")
}

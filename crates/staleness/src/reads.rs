//! What sessions read, and whether that is right. Main type: [`Kind`].

use crate::actor::{Actor, Level, error};
use crate::clock::year;
use crate::oracle::{Least, ROWS, Snapshot, TABLES};
use testkit::{Answer, Row};

const HOUR_S: u64 = 3600;

/// Texts: few, so that they come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rows,
    /// All columns, of which one says which definition it is.
    Shape,
    /// With a column that says which year it is.
    Year,
    /// The same of the next hour: it changes within a day.
    Hour,
    /// The same without a function that reads the clock: a TIME becomes a DATETIME of today.
    Day,
    /// With a condition that reads the clock.
    Clock,
    /// With the versions of the next table as last column.
    Join,
    /// A view, with a column that says which.
    View,
}

const KINDS: [Kind; 8] =
    [Kind::Rows, Kind::Shape, Kind::Year, Kind::Hour, Kind::Day, Kind::Clock, Kind::Join, Kind::View];

impl Kind {
    fn shows_year(self) -> bool {
        matches!(self, Kind::Year | Kind::Hour | Kind::Day)
    }

    fn text(self, table: usize) -> String {
        let next = next(table);
        match self {
            Kind::Rows => format!("SELECT id, v FROM t{table} ORDER BY id"),
            Kind::Shape => format!("SELECT * FROM t{table} ORDER BY id"),
            Kind::Year => format!("SELECT id, v, YEAR(NOW()) FROM t{table} ORDER BY id"),
            Kind::Hour => format!("SELECT id, v, YEAR(NOW() + INTERVAL 1 HOUR) FROM t{table} ORDER BY id"),
            Kind::Day => {
                format!("SELECT id, v, YEAR(CAST(TIME'01:00:00' AS DATETIME)) FROM t{table} ORDER BY id")
            }
            Kind::Clock => {
                format!("SELECT id, v FROM t{table} WHERE v + 0 >= 0 OR NOW() > '2001-01-01' ORDER BY id")
            }
            Kind::Join => {
                format!("SELECT a.id, a.v, b.v FROM t{table} a JOIN t{next} b ON b.id = a.id ORDER BY a.id")
            }
            Kind::View => format!("SELECT id, v, generation FROM w{table} ORDER BY id"),
        }
    }
}

/// The other table of a join.
fn next(table: usize) -> usize {
    (table + 1) % TABLES
}

/// What was known when a read began.
struct Before {
    kind: Kind,
    /// The table, and the next one.
    tables: [usize; 2],
    /// Of both.
    least: [Least; 2],
    year: u64,
}

impl Before {
    fn tables(&self) -> &[usize] {
        &self.tables[..1 + usize::from(self.kind == Kind::Join)]
    }
}

impl Actor {
    /// Reads something and judges what comes.
    pub fn read(&mut self) {
        let kind = KINDS[self.random.below(KINDS.len() as u64) as usize];
        let table = self.some_table();
        // Which moment a transaction reads is decided by the first table that is not the session's own.
        let snapshot_is_due = self.level == Level::RepeatableRead
            && self.open.as_ref().is_some_and(|open| open.snapshot.is_none());
        if snapshot_is_due && self.hides(kind, table) {
            return;
        }
        let all = snapshot_is_due.then(|| self.oracle().least());
        let before = self.before(kind, table);
        let text = kind.text(table);
        let answer = self.ask(&text);
        if let Some(least) = all
            && answer.error.is_none()
        {
            let most = self.oracle().most();
            self.open.as_mut().expect("open").snapshot = Some(Snapshot { least, most });
        }
        if let Some(open) = &mut self.open {
            open.has_joined = true;
        }
        self.tally.reads += 1;
        if let Err(what) = self.judge(&before, &answer) {
            let ran = self.open.as_ref().map_or_else(|| text.clone(), |open| open.texts.join("; "));
            self.tally.violation(format!("{what}: {ran} at {:?}, {before}: {answer:?}", self.level));
        }
        if answer.error.is_some() {
            return if self.open.is_some() { self.give_up() } else { self.after_error() };
        }
        self.compare((kind, table), &text, &answer);
    }

    fn before(&self, kind: Kind, table: usize) -> Before {
        let tables = [table, next(table)];
        let least = tables.map(|table| self.oracle().tables[table].least());
        Before { kind, tables, least, year: self.year(kind) }
    }

    /// The year that a text shows.
    fn year(&self, kind: Kind) -> u64 {
        year(self.seconds() + if kind == Kind::Hour { HOUR_S } else { 0 })
    }

    /// Outside of a transaction only a session that was killed has something to do.
    pub fn after_error(&mut self) {
        if self.random.one_in(2) && !self.succeeds("DO 0") {
            self.reconnect();
        }
    }

    fn hides(&self, kind: Kind, table: usize) -> bool {
        self.hidden.contains(&table) || kind == Kind::Join && self.hidden.contains(&next(table))
    }

    /// The same statement, computed in the same snapshot, has the same rows.
    fn compare(&mut self, (kind, table): (Kind, usize), text: &str, answer: &Answer) {
        let has_snapshot = self.open.as_ref().is_some_and(|open| open.snapshot.is_some());
        if !has_snapshot || kind.shows_year() || !self.random.one_in(4) {
            return;
        }
        let before = self.before(kind, table);
        let computed = self.ask(&text.replacen("SELECT", "SELECT SQL_NO_CACHE", 1));
        self.tally.reads += 1;
        match &computed.error {
            None if computed.rows == answer.rows => self.tally.compared += 1,
            None => self.tally.violation(format!("{text}: {answer:?}, and computed {computed:?}")),
            Some((number, _)) => {
                if let Err(what) = self.judge_error(&before, *number) {
                    self.tally.violation(format!("{what}: {text}: {answer:?}, and computed {computed:?}"));
                }
                self.give_up();
            }
        }
    }

    /// Reads a table that the session has locked, so that nobody changes it.
    pub fn read_locked(&mut self) {
        let table = self.some_table();
        if self.hides(Kind::Join, table) {
            return;
        }
        let answer = self.ask(&format!("LOCK TABLES t{table} READ"));
        if answer.error.is_some() {
            return self.after_error();
        }
        let before = self.before(Kind::Rows, table);
        let answer = self.ask(&Kind::Rows.text(table));
        self.tally.reads += 1;
        if let Err(what) = self.judge(&before, &answer) {
            self.tally.violation(format!("{what}: under LOCK TABLES, {before}: {answer:?}"));
        }
        if !self.succeeds("UNLOCK TABLES") {
            self.reconnect();
        }
    }

    fn judge(&mut self, before: &Before, answer: &Answer) -> Result<(), String> {
        if let Some((number, _)) = &answer.error {
            return self.judge_error(before, *number);
        }
        for (at, table) in before.tables().iter().enumerate() {
            let is_denied = self.is_readable(before, at, *table) == Some(false);
            if is_denied && before.kind != Kind::View {
                return Err(format!("t{table} may not be read"));
            }
        }
        if answer.rows.len() != ROWS {
            self.judge_missing(before)?;
        }
        let mut last = 0;
        for cells in &answer.rows {
            let id = number(cells, 0)?;
            if !(last + 1..=ROWS as u64).contains(&id) {
                return Err("another row".to_owned());
            }
            last = id;
            let row = id as usize - 1;
            self.judge_version(before, 0, row, number(cells, 1)?)?;
            self.judge_last(before, row, cells)?;
        }
        Ok(())
    }

    fn is_readable(&self, before: &Before, at: usize, table: usize) -> Option<bool> {
        match self.user {
            Some(user) if !self.hidden.contains(&table) => {
                self.oracle().tables[table].is_readable(user, &before.least[at])
            }
            _ => Some(true),
        }
    }

    fn judge_error(&mut self, before: &Before, number: u16) -> Result<(), String> {
        if Actor::is_of_others(number) {
            return Ok(());
        }
        match number {
            error::NO_SUCH_TABLE | error::VIEW_INVALID => self.judge_missing(before),
            error::TABLE_ACCESS_DENIED | error::COLUMN_ACCESS_DENIED if before.kind != Kind::View => {
                let may_be_denied =
                    |(at, table): (usize, &usize)| self.is_readable(before, at, *table) != Some(true);
                match before.tables().iter().enumerate().any(may_be_denied) {
                    true => Ok(()),
                    false => Err("the table may be read".to_owned()),
                }
            }
            _ => Err("an error that nothing gives rise to".to_owned()),
        }
    }

    fn judge_missing(&mut self, before: &Before) -> Result<(), String> {
        let snapshot = self.open.as_ref().and_then(|open| open.snapshot.as_ref());
        let is_missing = before.tables().iter().enumerate().any(|(at, table)| {
            let least = snapshot.map_or(&before.least[at], |snapshot| &snapshot.least[*table]);
            self.stage.oracle.tables[*table].may_be_missing(least)
        });
        // REPLACE is seen between its two halves by who reads what is not committed.
        match is_missing || self.level == Level::ReadUncommitted {
            true => {
                self.tally.between += 1;
                Ok(())
            }
            false => Err("rows are missing".to_owned()),
        }
    }

    /// Whether a version of a row is one that may be seen. `at`: of the table or of the next one.
    fn judge_version(&self, before: &Before, at: usize, row: usize, seen: u64) -> Result<(), String> {
        let table = before.tables[at];
        if self.hidden.contains(&table) && before.kind != Kind::View {
            let own = self.own_version(table, row);
            return if seen == own { Ok(()) } else { Err(format!("not the temporary table's {own}")) };
        }
        let open = self.open.as_ref();
        if let Some(own) = open.and_then(|open| open.own.get(&(table, row))) {
            return if seen == *own { Ok(()) } else { Err(format!("not its own {own}")) };
        }
        let known = &self.oracle().tables[table];
        let snapshot = open.and_then(|open| open.snapshot.as_ref());
        let (least, most) = match snapshot {
            Some(snapshot) => (snapshot.least[table].rows[row], snapshot.most[table][row]),
            None => (before.least[at].rows[row], known.rows[row].version.most()),
        };
        let most = if self.level == Level::ReadUncommitted { u64::MAX } else { most };
        match (least..=most).contains(&seen) {
            true => Ok(()),
            false => Err(format!("row {} of t{table}: {seen} is none of {least} to {most}", row + 1)),
        }
    }

    /// The columns behind the version.
    fn judge_last(&mut self, before: &Before, row: usize, cells: &Row) -> Result<(), String> {
        let table = &self.stage.oracle.tables[before.tables[0]];
        let (name, least, most) = match before.kind {
            Kind::Rows | Kind::Clock => return Ok(()),
            Kind::Join => return self.judge_version(before, 1, row, number(cells, 2)?),
            Kind::Shape if self.hidden.contains(&before.tables[0]) => ("shape", 0, 0),
            Kind::Shape => ("shape", before.least[0].shape, table.shape.most()),
            Kind::View => ("generation", before.least[0].generation, table.generation.most()),
            Kind::Year | Kind::Hour | Kind::Day => ("year", before.year, self.year(before.kind)),
        };
        let seen = number(cells, 2)?;
        if before.kind.shows_year() {
            self.tally.years.insert(seen);
        }
        match (least..=most).contains(&seen) {
            true => Ok(()),
            false => Err(format!("{name} {seen} is none of {least} to {most}")),
        }
    }
}

impl std::fmt::Display for Before {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Least { rows, gap, rights, .. } = &self.least[0];
        write!(formatter, "finished before: {rows:?}, gap {gap}, rights {rights:?}, year {}", self.year)
    }
}

fn number(cells: &Row, at: usize) -> Result<u64, String> {
    let cell = cells.get(at).and_then(Option::as_ref);
    cell.and_then(|text| text.parse().ok()).ok_or_else(|| format!("no number in column {at}"))
}

//! What sessions change of definitions and rights, and what they do to each other.

use crate::actor::{Actor, error};
use crate::oracle::{Flag, ROWS, Step, USERS};
use std::sync::atomic::Ordering;

/// Attempts at what has to be done before others may go on.
const ATTEMPTS: u32 = 1000;

/// A table's columns; those of its temporary namesakes have no `shape` of their own.
pub fn columns(shape: u64) -> String {
    format!("(id INT PRIMARY KEY, v BIGINT UNSIGNED NOT NULL, shape INT NOT NULL DEFAULT {shape})")
}

/// Rows with those versions.
pub fn values(versions: [u64; ROWS]) -> String {
    let row = |(row, version): (usize, &u64)| format!("({}, {version})", row + 1);
    versions.iter().enumerate().map(row).collect::<Vec<_>>().join(", ")
}

impl Actor {
    /// Changes the definition of a table or view.
    pub fn define(&mut self) {
        let table = self.some_table();
        if self.hidden.contains(&table) {
            return;
        }
        self.tally.definitions += 1;
        let stage = self.stage.clone();
        let known = &stage.oracle.tables[table];
        if self.random.one_in(4) {
            if known.definer.take() {
                self.redefine_view(table);
                known.definer.give();
            }
            return;
        }
        if !known.take_rows() {
            return;
        }
        match self.random.below(6) {
            0 => self.truncate(table),
            1 => self.drop_and_create(table),
            2 => self.rename(table),
            3 => self.alter_index(table),
            _ => self.alter_shape(table),
        }
        known.give_rows();
    }

    fn redefine_view(&mut self, table: usize) {
        let stage = self.stage.clone();
        let generation = &stage.oracle.tables[table].generation;
        let next = generation.most() + 1;
        generation.ask(next);
        let before = stage.oracle.tables[table].least();
        let view =
            format!("CREATE OR REPLACE VIEW w{table} AS SELECT id, v, {next} AS generation FROM t{table}");
        let answer = self.ask(&view);
        let known = &stage.oracle.tables[table];
        // The view is looked at twice, and its table is not locked in between.
        let changes = known.may_be_missing(&before) || known.shape.most() > before.shape;
        match answer.error {
            None => return generation.finish(next),
            Some((error::NO_SUCH_TABLE | error::NOT_SUPPORTED_YET, _)) if changes => {}
            Some((number, _)) if Actor::is_of_others(number) => {}
            Some((number, text)) => self.tally.violation(format!("{view}: error {number} {text}")),
        }
        self.after_error();
    }

    fn alter_shape(&mut self, table: usize) {
        let stage = self.stage.clone();
        let shape = &stage.oracle.tables[table].shape;
        let next = shape.most() + 1;
        shape.ask(next);
        let alter =
            format!("ALTER TABLE t{table} DROP COLUMN shape, ADD COLUMN shape INT NOT NULL DEFAULT {next}");
        match self.succeeds(&alter) {
            true => shape.finish(next),
            false => self.after_error(),
        }
    }

    fn alter_index(&mut self, table: usize) {
        let alters =
            [format!("ALTER TABLE t{table} ADD KEY (v)"), format!("ALTER TABLE t{table} DROP KEY v")];
        if !alters.iter().all(|alter| self.succeeds(alter)) {
            self.after_error();
            // Another one would be named otherwise.
            self.ask(&alters[1]);
        }
    }

    /// Runs what leaves a table without rows for a while, and puts new ones there.
    fn replace_rows(&mut self, table: usize, run: impl FnOnce(&mut Actor, [u64; ROWS]) -> bool) {
        let stage = self.stage.clone();
        let known = &stage.oracle.tables[table];
        let gap = known.gap.most() + 1;
        known.gap.ask(gap);
        let mut versions = self.ask_versions(table);
        let mut is_whole = run(self, versions);
        for _ in 0..ATTEMPTS {
            if is_whole {
                break;
            }
            self.reconnect();
            versions = self.ask_versions(table);
            is_whole = self.create(table, "IF NOT EXISTS")
                && self.succeeds(&format!("REPLACE INTO t{table} (id, v) VALUES {}", values(versions)));
        }
        if !is_whole {
            return self.tally.violation(format!("t{table} cannot be made"));
        }
        for (row, version) in known.rows.iter().zip(versions) {
            row.version.finish(version);
        }
        known.gap.finish(gap);
    }

    fn ask_versions(&self, table: usize) -> [u64; ROWS] {
        let versions = std::array::from_fn(|_| self.oracle().next_version());
        for (row, version) in self.oracle().tables[table].rows.iter().zip(versions) {
            row.version.ask(version);
        }
        versions
    }

    fn create(&mut self, table: usize, option: &str) -> bool {
        let stage = self.stage.clone();
        let shape = &stage.oracle.tables[table].shape;
        let next = shape.most() + 1;
        shape.ask(next);
        self.succeeds(&format!("CREATE TABLE {option} t{table} {}", columns(next)))
    }

    fn truncate(&mut self, table: usize) {
        self.replace_rows(table, |actor, versions| {
            actor.succeeds(&format!("TRUNCATE TABLE t{table}"))
                && actor.succeeds(&format!("INSERT INTO t{table} (id, v) VALUES {}", values(versions)))
        });
    }

    fn drop_and_create(&mut self, table: usize) {
        self.replace_rows(table, |actor, versions| {
            actor.succeeds(&format!("DROP TABLE t{table}"))
                && actor.create(table, "")
                && actor.succeeds(&format!("INSERT INTO t{table} (id, v) VALUES {}", values(versions)))
        });
    }

    /// Puts a table with other rows in its place. Who has a snapshot of before does not see these.
    fn rename(&mut self, table: usize) {
        let (new, old) = (format!("new{}", self.number), format!("old{}", self.number));
        self.replace_rows(table, |actor, versions| {
            actor.succeeds(&format!("DROP TABLE IF EXISTS {new}, {old}"))
                && actor.succeeds(&format!("CREATE TABLE {new} LIKE t{table}"))
                && actor.succeeds(&format!("INSERT INTO {new} (id, v) VALUES {}", values(versions)))
                && actor.succeeds(&format!("RENAME TABLE t{table} TO {old}, {new} TO t{table}"))
        });
        self.ask(&format!("DROP TABLE IF EXISTS {new}, {old}"));
    }

    /// Takes the right to read a table from a user, or gives it back.
    pub fn change_rights(&mut self) {
        let (table, user) = (self.some_table(), self.random.below(USERS as u64) as usize);
        let stage = self.stage.clone();
        let known = &stage.oracle.tables[table];
        let (rights, flag) = &known.rights[user];
        // A table that is being made anew cannot be granted.
        if !known.take_rows() {
            return;
        }
        if flag.take() {
            self.change_right(table, user, rights, flag);
        }
        known.give_rows();
    }

    fn change_right(&mut self, table: usize, user: usize, rights: &Step, flag: &Flag) {
        let next = rights.most() + 1;
        rights.ask(next);
        let change = match next.is_multiple_of(2) {
            true => format!("GRANT SELECT ON t{table} TO u{user}"),
            false => format!("REVOKE SELECT ON t{table} FROM u{user}"),
        };
        if self.succeeds(&change) {
            rights.finish(next);
            flag.give();
        } else {
            // Nobody knows what holds now, so nobody changes it again.
            self.after_error();
        }
    }

    pub fn kill_somebody(&mut self) {
        let connections = &self.stage.connections;
        let victim = connections[self.random.below(connections.len() as u64) as usize].load(Ordering::SeqCst);
        let what = if self.random.one_in(4) { "CONNECTION" } else { "QUERY" };
        let answer = self.ask(&format!("KILL {what} {victim}"));
        match answer.error {
            Some((error::NO_SUCH_THREAD, _)) | None => {}
            Some((number, _)) if Actor::is_of_others(number) => self.after_error(),
            Some((number, text)) => self.tally.violation(format!("KILL: error {number} {text}")),
        }
    }

    pub fn clear_results(&mut self) {
        let what = if self.random.one_in(4) { "RESET QUERY CACHE" } else { "FLUSH QUERY CACHE" };
        if !self.succeeds(what) {
            self.after_error();
        }
    }

    /// A temporary table comes before one that all have, or goes.
    pub fn hide_or_show(&mut self) {
        if let Some(table) = self.hidden.first().copied()
            && self.random.one_in(2)
        {
            match self.succeeds(&format!("DROP TEMPORARY TABLE t{table}")) {
                true => drop(self.hidden.remove(&table)),
                false => self.reconnect(),
            }
            return;
        }
        let table = self.some_table();
        if self.hidden.contains(&table) {
            return;
        }
        let versions = std::array::from_fn(|row| self.own_version(table, row));
        let is_made = self.succeeds(&format!("CREATE TEMPORARY TABLE t{table} {}", columns(0)))
            && self.succeeds(&format!("INSERT INTO t{table} (id, v) VALUES {}", values(versions)));
        match is_made {
            true => drop(self.hidden.insert(table)),
            false => self.reconnect(),
        }
    }
}

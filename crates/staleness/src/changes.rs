//! What sessions change of rows. A row's version is changed by one session at a time, the rows of a table by several.

use crate::actor::{Actor, Level, error};
use crate::oracle::{ROWS, TABLES};

/// Tables that a long transaction changes: more than a commit stamps one by one.
const MANY_TABLES: usize = 24;
/// Attempts to end a branch of XA, which stays behind otherwise.
const XA_ATTEMPTS: u32 = 100;

impl Actor {
    /// The version that rows of its temporary tables have.
    pub fn own_version(&self, table: usize, row: usize) -> u64 {
        1_000_000_000_000 + (self.number * TABLES * ROWS + table * ROWS + row) as u64
    }

    /// A row that nobody else changes; it is this session's until it is given back.
    fn take_row(&mut self) -> Option<(usize, usize)> {
        let (table, row) = (self.some_table(), self.random.below(ROWS as u64) as usize);
        let is_free = !self.hidden.contains(&table) && self.oracle().tables[table].rows[row].owner.take();
        is_free.then_some((table, row))
    }

    fn change_text(&mut self, (table, row): (usize, usize), version: u64) -> String {
        let id = row + 1;
        match self.random.below(6) {
            0 => format!(
                "INSERT INTO t{table} (id, v) VALUES ({id}, {version}) ON DUPLICATE KEY UPDATE v = {version}"
            ),
            1 => format!("REPLACE INTO t{table} (id, v) VALUES ({id}, {version})"),
            _ => format!("UPDATE t{table} SET v = {version} WHERE id = {id}"),
        }
    }

    /// Gives a row another version; false if somebody else has kept that from happening.
    fn changes(&mut self, place: (usize, usize), version: u64) -> bool {
        self.tally.changes += 1;
        let before = self.oracle().tables[place.0].least();
        let text = self.change_text(place, version);
        let Some((number, message)) = self.ask(&text).error else { return true };
        let is_denied = matches!(number, error::TABLE_ACCESS_DENIED | error::COLUMN_ACCESS_DENIED);
        let may_be_denied = self
            .user
            .is_some_and(|user| self.oracle().tables[place.0].is_readable(user, &before) != Some(true));
        let is_known = Actor::is_of_others(number) || is_denied && may_be_denied;
        if !is_known {
            self.tally.violation(format!("{text}: error {number} {message}"));
        }
        false
    }

    /// Changes a row outside of a transaction.
    pub fn change_alone(&mut self) {
        let Some((table, row)) = self.take_row() else { return };
        let version = self.oracle().next_version();
        self.oracle().tables[table].rows[row].version.ask(version);
        if self.changes((table, row), version) {
            self.oracle().tables[table].rows[row].version.finish(version);
        } else {
            self.after_error();
        }
        self.oracle().tables[table].rows[row].owner.give();
    }

    /// Changes a row in the open transaction: one of its own again, or another one.
    pub fn change(&mut self) {
        let taken = self.open.as_ref().map_or(&[][..], |open| &open.taken);
        let again = taken.get(self.random.clone().below(taken.len().max(1) as u64) as usize).copied();
        let place = match again.filter(|(table, _)| !self.hidden.contains(table)) {
            Some(place) if self.random.one_in(4) => place,
            _ => {
                let Some(place) = self.take_row() else { return };
                self.keep(place);
                place
            }
        };
        self.change_kept(place);
    }

    /// Changes rows of so many tables that its commit does not stamp each.
    pub fn change_many(&mut self) {
        if self.level == Level::ReadUncommitted {
            return;
        }
        for table in 0..MANY_TABLES {
            let row = self.random.below(ROWS as u64) as usize;
            if self.hidden.contains(&table) || !self.oracle().tables[table].rows[row].owner.take() {
                continue;
            }
            self.keep((table, row));
            self.change_kept((table, row));
            if self.open.is_none() {
                return;
            }
        }
    }

    /// The row is given back when the transaction ends.
    fn keep(&mut self, place: (usize, usize)) {
        match &mut self.open {
            Some(open) => open.taken.push(place),
            None => self.oracle().tables[place.0].rows[place.1].owner.give(),
        }
    }

    fn change_kept(&mut self, place: (usize, usize)) {
        let version = self.oracle().next_version();
        if !self.changes(place, version) {
            return self.give_up();
        }
        if let Some(open) = &mut self.open {
            open.own.insert(place, version);
            open.has_joined = true;
        }
    }

    /// A change in a branch of a distributed transaction.
    pub fn change_by_xa(&mut self) {
        let Some((table, row)) = self.take_row() else { return };
        let version = self.oracle().next_version();
        let name = format!("'x{}'", self.number);
        let mut is_prepared = false;
        if self.succeeds(&format!("XA START {name}")) {
            let has_ended = self.changes((table, row), version) && self.succeeds(&format!("XA END {name}"));
            is_prepared = has_ended && self.succeeds(&format!("XA PREPARE {name}"));
        }
        let row = &self.stage.clone().oracle.tables[table].rows[row];
        if is_prepared {
            let commits = !self.random.one_in(3);
            if commits {
                row.version.ask(version);
            }
            let end = format!("XA {} {name}", if commits { "COMMIT" } else { "ROLLBACK" });
            let has_ended = self.ends_branch(&end);
            match has_ended {
                true if commits => row.version.finish(version),
                true => {}
                false => self.tally.violation(format!("{end} has failed so often")),
            }
        } else {
            // A branch that is not prepared ends with its session; who was killed while it was being prepared does not know.
            self.reconnect();
            self.ends_branch(&format!("XA ROLLBACK {name}"));
        }
        row.owner.give();
    }

    /// Ends a branch that is prepared, from another session if this one was killed. False if that goes on failing.
    fn ends_branch(&mut self, end: &str) -> bool {
        for _ in 0..XA_ATTEMPTS {
            match self.ask(end).error {
                None | Some((error::NO_SUCH_BRANCH, _)) => return true,
                Some((number, text)) if !Actor::is_of_others(number) => {
                    self.tally.violation(format!("{end}: error {number} {text}"));
                    return false;
                }
                Some(_) => self.reconnect(),
            }
        }
        false
    }
}

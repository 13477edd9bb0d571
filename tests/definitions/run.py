"""Definitions that change beside statements: `run.py --binary B [--seconds 15] [--sessions 16] [--seed S]`.

Sessions make, drop, alter, rename and truncate the same few tables, drop the schema, lock tables and the server, while others read
and write, half of them by prepared statements. Each table carries the number of its making in a default (`made`), which goes with
it wherever it is renamed to. A writer puts a token into a table and the same token, with the table's number, into a ledger that
nobody redefines, in one transaction. At the end, in each of several parts:
 - every table that was never truncated has the tokens that the ledger has for it, each once, and no others (no row is lost, none is doubled);
 - no statement failed but by what may happen (a table that is gone, a column that is gone); without FLUSH TABLES WITH READ LOCK no cycle of
   waits for names is possible, so there is no 1213, but of two updates that meet rows which were inserted while they waited; nobody waited for
   lock_wait_timeout;
 - CHECK TABLE, SHOW CREATE TABLE, information_schema and SELECT * agree about every table;
 - there is a file for each table, and no other; no metadata lock is left."""
import argparse
import collections
import os
import pathlib
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import running  # noqa: E402

TABLES = [f"t{number}" for number in range(8)]
COLUMNS = ["a", "b", "c"]
# No such table, exists already, no such column, duplicate column, no column to drop, table definition changed, unknown schema, unknown table.
EXPECTED = {1008, 1007, 1046, 1049, 1050, 1051, 1054, 1060, 1091, 1146, 1412}
DEADLOCK = 1213
LOCK_WAIT_SECONDS = 40
# Whoever waits for so long hangs: who holds and who waits is told then, while it can be seen.
HANG_SECONDS = 20


class State:
    """What all sessions of a part know."""

    def __init__(self, server, with_flush):
        self.server, self.with_flush = server, with_flush
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.numbers = 0
        # Numbers of tables whose rows were taken away on purpose while they stayed.
        self.truncated = set()
        self.tokens = 0
        self.statements = collections.Counter()
        self.faults = []

    def next_number(self):
        with self.lock:
            self.numbers += 1
            return self.numbers

    def next_token(self):
        with self.lock:
            self.tokens += 1
            return self.tokens

    def fault(self, text):
        with self.lock:
            self.faults.append(text)
        self.stop.set()


def connect(server):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, ssl_disabled=True,
                           read_timeout=LOCK_WAIT_SECONDS + 20)


class Session(threading.Thread):
    def __init__(self, state, seed):
        super().__init__(daemon=True)
        self.state, self.random = state, random.Random(seed)
        self.connection = connect(state.server)
        self.cursor = self.connection.cursor()
        self.execute("USE mixed")

    def execute(self, sql, *values):
        self.cursor.execute(sql, values or None)
        return self.cursor.fetchall()

    def run(self):
        while not self.state.stop.is_set():
            action = self.random.choices(ACTIONS, WEIGHTS)[0]
            try:
                action(self)
                self.state.statements[action.__name__] += 1
            except pymysql.err.MySQLError as error:
                number = error.args[0]
                may_deadlock = self.state.with_flush or action is Session.change
                if number not in EXPECTED and not (number == DEADLOCK and may_deadlock):
                    return self.state.fault(f"{action.__name__}: {error}")
                self.give_up()
            except Exception as error:
                return self.state.fault(f"{action.__name__}: {error!r}")

    def give_up(self):
        try:
            self.execute("ROLLBACK")
            self.execute("UNLOCK TABLES")
            self.execute("USE mixed")
        except pymysql.err.MySQLError as error:
            if error.args[0] != 1049:
                self.state.fault(f"ROLLBACK: {error}")

    def table(self):
        return self.random.choice(TABLES)

    def write(self):
        """A row and its token in the ledger, in one transaction."""
        table, token = self.table(), self.state.next_token()
        self.execute("BEGIN")
        self.execute(f"INSERT INTO {table} (token) VALUES ({token})")
        self.execute(f"INSERT INTO ledger.ledger SELECT token, made FROM {table} WHERE token = {token}")
        self.execute("COMMIT" if self.random.randrange(8) else "ROLLBACK")

    def change(self):
        self.execute(f"UPDATE {self.table()} SET {self.random.choice(COLUMNS)} = {self.random.randrange(9)} WHERE token % 16 = {self.random.randrange(16)}")

    def read(self):
        columns = self.execute(f"SELECT * FROM {self.table()} WHERE token > {self.random.randrange(self.state.tokens + 1)} LIMIT 5")
        if any(len(row) != len(self.cursor.description) for row in columns):
            raise RuntimeError("a row has other columns than its result")

    def read_prepared(self):
        table = self.table()
        self.execute(f"PREPARE s FROM 'SELECT * FROM {table} WHERE token = ?'")
        self.execute(f"SET @token = {self.random.randrange(self.state.tokens + 1)}")
        for _ in range(self.random.randrange(1, 6)):
            self.execute("EXECUTE s USING @token")

    def read_twice(self):
        """Within a transaction a table keeps its columns."""
        table = self.table()
        self.execute("BEGIN")
        self.execute(f"SELECT * FROM {table} LIMIT 1")
        before = [column[0] for column in self.cursor.description]
        self.execute(f"SELECT * FROM {table} LIMIT 1")
        if before != [column[0] for column in self.cursor.description]:
            raise RuntimeError(f"{table} changed within a transaction")
        self.execute("COMMIT")

    def create(self):
        number = self.state.next_number()
        self.execute(f"CREATE TABLE {self.table()} (token BIGINT PRIMARY KEY, made INT NOT NULL DEFAULT {number}, a INT, KEY (made))")

    def create_from(self):
        """A copy with negative tokens, which nobody looks for. From the lesser name to the greater: two of them cannot wait for each other."""
        number = self.state.next_number()
        source, target = sorted(self.random.sample(TABLES, 2))
        self.execute(f"CREATE TABLE {target} (token BIGINT PRIMARY KEY, made INT NOT NULL DEFAULT {number}) "
                     f"SELECT -token AS token FROM {source} WHERE token > 0")

    def drop(self):
        self.execute(f"DROP TABLE {', '.join(self.random.sample(TABLES, self.random.randrange(1, 3)))}")

    def add(self):
        self.execute(f"ALTER TABLE {self.table()} ADD COLUMN {self.random.choice(COLUMNS)} INT")

    def remove(self):
        self.execute(f"ALTER TABLE {self.table()} DROP COLUMN {self.random.choice(COLUMNS)}")

    def rebuild(self):
        self.execute(f"ALTER TABLE {self.table()} FORCE")

    def rename(self):
        names = self.random.sample(TABLES, 2)
        self.execute(f"RENAME TABLE {names[0]} TO {names[1]}")

    def swap(self):
        first, second = self.random.sample(TABLES, 2)
        between = f"between_{self.state.next_number()}"
        self.execute(f"RENAME TABLE {first} TO {between}, {second} TO {first}, {between} TO {second}")

    def truncate(self):
        """The number is read under the lock that the truncation needs, so that nobody puts another table there."""
        table = self.table()
        self.execute(f"LOCK TABLES {table} WRITE")
        (definition,) = self.execute(f"SHOW CREATE TABLE {table}")
        number = int(definition[1].split("`made` int NOT NULL DEFAULT '")[1].split("'")[0])
        with self.state.lock:
            self.state.truncated.add(number)
        self.execute(f"TRUNCATE TABLE {table}")
        self.execute("UNLOCK TABLES")

    def lock(self):
        table = self.table()
        self.execute(f"LOCK TABLES {table} {self.random.choice(['READ', 'WRITE'])}")
        first = self.execute(f"SELECT COUNT(*) FROM {table}")
        if first != self.execute(f"SELECT COUNT(*) FROM {table}"):
            raise RuntimeError(f"{table} changed under LOCK TABLES")
        self.execute("UNLOCK TABLES")

    def flush(self):
        if self.state.with_flush:
            self.execute("FLUSH TABLES WITH READ LOCK")
            first = self.execute("SELECT COUNT(*) FROM ledger.ledger")
            if first != self.execute("SELECT COUNT(*) FROM ledger.ledger"):
                raise RuntimeError("a commit under FLUSH TABLES WITH READ LOCK")
            self.execute("UNLOCK TABLES")

    def drop_schema(self):
        if self.random.randrange(4) == 0:
            self.execute("DROP DATABASE mixed")
            self.execute("CREATE DATABASE IF NOT EXISTS mixed")
            self.execute("USE mixed")


ACTIONS = [Session.write, Session.change, Session.read, Session.read_prepared, Session.read_twice, Session.create, Session.create_from,
           Session.drop, Session.add, Session.remove, Session.rebuild, Session.rename, Session.swap, Session.truncate, Session.lock,
           Session.flush, Session.drop_schema]
WEIGHTS = [40, 6, 12, 10, 8, 12, 2, 3, 5, 5, 2, 4, 3, 1, 4, 1, 0.5]


def check_rows(execute, state, table):
    ((_, definition),) = execute(f"SHOW CREATE TABLE mixed.{table}")
    number = int(definition.split("`made` int NOT NULL DEFAULT '")[1].split("'")[0])
    tokens = sorted(token for (token,) in execute(f"SELECT token FROM mixed.{table}") if token > 0)
    ledger = sorted(token for (token,) in execute(f"SELECT token FROM ledger.ledger WHERE made = {number}"))
    if tokens != ledger and (number not in state.truncated or set(tokens) - set(ledger)):
        lost, strange = sorted(set(ledger) - set(tokens))[:5], sorted(set(tokens) - set(ledger))[:5]
        yield f"{table}, made {number}: {len(tokens)} rows, {len(ledger)} in the ledger; lost {lost}, strange {strange}"
    shown = [line.split("`")[1] for line in definition.splitlines() if line.startswith("  `")]
    listed = [name for (name,) in execute("SELECT column_name FROM information_schema.columns WHERE table_schema = 'mixed' "
                                          f"AND table_name = '{table}' ORDER BY ordinal_position")]
    if shown != listed:
        yield f"{table} has columns {shown} and {listed}"
    outcome = execute(f"CHECK TABLE mixed.{table}")
    if outcome[-1][3] != "OK":
        yield f"CHECK TABLE {table}: {outcome}"


def unlike_files(execute, folder):
    """Files that are of no table that information_schema shows, and tablespaces without a file."""
    files = {path.stem for path in (folder / "#tables").iterdir()}
    spaces = {str(space) for (space,) in execute("SELECT space FROM information_schema.innodb_tablespaces")}
    return files - spaces, spaces - files


def check(state, folder):
    cursor = connect(state.server).cursor()

    def execute(sql):
        cursor.execute(sql)
        return cursor.fetchall()

    tables = [name for (name,) in execute("SHOW TABLES FROM mixed")] if execute("SHOW DATABASES LIKE 'mixed'") else []
    faults = [fault for table in tables for fault in check_rows(execute, state, table)]
    strangers, missing = unlike_files(execute, folder)
    if strangers != state.files_of_the_server or missing:
        faults.append(f"files {sorted(strangers - state.files_of_the_server)} have no table, tablespaces {sorted(missing)} no file")
    locks = execute("SELECT object_type, object_name, lock_type, lock_status FROM performance_schema.metadata_locks "
                    "WHERE object_schema = 'mixed' OR object_type IN ('GLOBAL', 'COMMIT')")
    if locks:
        faults.append(f"locks are left: {locks}")
    return faults


class Watcher(threading.Thread):
    """Keeps what the server says of its sessions and locks once a statement has run for HANG_SECONDS."""

    SHOWN = ["SELECT id, command, time, state, info FROM information_schema.processlist",
             "SELECT object_type, object_schema, object_name, lock_type, lock_duration, lock_status, t.processlist_id "
             "FROM performance_schema.metadata_locks m LEFT JOIN performance_schema.threads t ON t.thread_id = m.owner_thread_id",
             "SELECT * FROM information_schema.innodb_trx", "SELECT * FROM performance_schema.data_lock_waits"]

    def __init__(self, state):
        super().__init__(daemon=True)
        self.state, self.seen = state, []
        self.cursor = connect(state.server).cursor()

    def run(self):
        while not self.state.stop.wait(2) and not self.seen:
            self.cursor.execute("SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Query' AND time >= %s", HANG_SECONDS)
            if self.cursor.fetchone()[0]:
                for sql in self.SHOWN:
                    self.cursor.execute(sql)
                    self.seen += [sql, *map(str, self.cursor.fetchall())]


def part(server, folder, arguments, number):
    """One part of the run; the odd ones lock the whole server now and then."""
    cursor = connect(server).cursor()
    for sql in ["DROP DATABASE IF EXISTS mixed", "CREATE DATABASE mixed", "DROP DATABASE IF EXISTS ledger", "CREATE DATABASE ledger",
                "CREATE TABLE ledger.ledger (token BIGINT PRIMARY KEY, made INT, KEY (made))",
                f"SET GLOBAL lock_wait_timeout = {LOCK_WAIT_SECONDS}, GLOBAL innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS}"]:
        cursor.execute(sql)
    state = State(server, with_flush=number % 2 == 1)
    # Those of accounts.
    state.files_of_the_server = unlike_files(lambda sql: cursor.execute(sql) and cursor.fetchall(), folder)[0]
    sessions = [Session(state, f"{arguments.seed} {number} {at}") for at in range(arguments.sessions)]
    watcher = Watcher(state)
    for thread in [watcher, *sessions]:
        thread.start()
    state.stop.wait(arguments.seconds / arguments.parts)
    state.stop.set()
    for session in sessions:
        session.join(LOCK_WAIT_SECONDS + 30)
        if session.is_alive():
            state.fault("a session hangs")
    if watcher.seen:
        print(f"part {number}: a statement ran for {HANG_SECONDS} s", *watcher.seen, sep="\n")
    faults = state.faults
    if not faults:
        for session in sessions:
            session.connection.close()
        time.sleep(0.2)
        faults = check(state, folder)
    done = ", ".join(f"{count} {name}" for name, count in sorted(state.statements.items()))
    print(f"part {number}: {state.tokens} tokens; {done}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--seed", default=str(int.from_bytes(os.urandom(4), "big")))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    with running(arguments.binary) as server:
        for number in range(arguments.parts):
            faults = part(server, server.folder, arguments, number)
            if faults:
                raise SystemExit("\n".join(["definitions: failed", *faults[:20]]))
    print("definitions: ok")


if __name__ == "__main__":
    main()

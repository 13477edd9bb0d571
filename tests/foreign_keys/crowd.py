"""Foreign keys among sessions: `crowd.py HOST:PORT [--seconds N] [--sessions N] [--seed S]`.

The random schemas and statements of run.py, in transactions of several sessions at once, at all isolation levels, over the same few rows. Nobody may
meet another error than one that says why a row cannot change, and when all have ended no row may refer to a parent that is not there,
and every index has the rows of its table."""
import argparse
import collections
import random
import sys
import threading
import time

import pymysql

from run import Schema, Server, check_invariants

ROUND_SECONDS = 2
LEVELS = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
# A NULL or a number that does not fit, a duplicate, parents and children that forbid it, a wait that ended, a deadlock.
EXPECTED = {1048, 1062, 1205, 1213, 1264, 1451, 1452, 1690, 1701, 1761, 3008}


class Session(threading.Thread):
    def __init__(self, target, schema, seed, end):
        super().__init__(daemon=True)
        self.server, self.schema, self.random, self.end = Server(target), schema, random.Random(seed), end
        self.outcomes, self.fault = collections.Counter(), None

    def run(self):
        try:
            cursor = self.server.cursor
            cursor.execute("USE foreign_keys")
            cursor.execute("SET innodb_lock_wait_timeout = 5")
            while time.monotonic() < self.end and self.fault is None:
                self.transaction(cursor)
        except Exception as error:
            self.fault = repr(error)

    def transaction(self, cursor):
        cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {self.random.choice(LEVELS)}")
        cursor.execute("BEGIN")
        for _ in range(self.random.randrange(1, 5)):
            statement = self.schema.statement()
            if statement.startswith("truncate"):
                continue
            try:
                cursor.execute(statement)
                self.outcomes["ok"] += 1
            except pymysql.Error as error:
                self.outcomes[error.args[0]] += 1
                if error.args[0] not in EXPECTED:
                    self.fault = f"{statement}: {error}"
                if error.args[0] == 1213:
                    return
        cursor.execute(self.random.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]))


def play(target, seed, sessions):
    """One schema; what its statements came to."""
    source = random.Random(seed)
    schema, server = Schema(source), Server(target)
    for statement in ("DROP DATABASE IF EXISTS foreign_keys", "CREATE DATABASE foreign_keys", "USE foreign_keys", *schema.create()):
        server.cursor.execute(statement)
    for key in [schema.key() for _ in range(source.randint(1, len(schema.tables) + 2))]:
        if not isinstance(server.run(f"alter table {key.child} {key.clause()}")[0], tuple):
            schema.keys.append(key)
    end = time.monotonic() + ROUND_SECONDS
    crowd = [Session(target, schema, f"{seed} {number}", end) for number in range(sessions)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join(60)
        if each.is_alive() or each.fault:
            raise SystemExit(f"schema {seed}: {each.fault or 'a session hangs'}; keys: {[(key.child, key.clause()) for key in schema.keys]}")
    check_invariants(server, schema, f"the crowd over schema {seed}")
    for table in schema.tables:
        checked = server.rows(f"check table {table}")
        if checked[-1][3] != "OK":
            raise SystemExit(f"schema {seed}: {checked}")
    return sum((each.outcomes for each in crowd), collections.Counter())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sessions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    end, seed, outcomes = time.monotonic() + arguments.seconds, arguments.seed, collections.Counter()
    while time.monotonic() < end:
        outcomes += play(arguments.target, seed, arguments.sessions)
        seed += 1
    Server(arguments.target).run("drop database foreign_keys")
    print(f"foreign_keys among {arguments.sessions} sessions: {sum(outcomes.values())} statements over {seed - arguments.seed} schemas, "
          f"no orphan; {dict(outcomes.most_common())}")


if __name__ == "__main__":
    sys.exit(main())

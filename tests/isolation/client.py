"""Sessions that run random transactions over a few hot rows and write down what they saw. Main function: play().

Lists: each write appends its value to a row's text, so that a read shows every version. Registers: each write replaces the
value and counts up, so that a read shows the version's number."""
import random
import threading

import pymysql
from checker import Read, Transaction, Write

STRICT = "STRICT SNAPSHOT"
LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", STRICT, "SERIALIZABLE"]
# How reads are made: `locking` takes FOR SHARE and FOR UPDATE only, `mixed` these and plain ones.
READS = {"plain": [""], "locking": [" FOR SHARE", " FOR UPDATE"], "mixed": ["", " FOR SHARE", " FOR UPDATE"]}
# Errors after which the transaction is over or is rolled back.
GIVE_UP = {1020, 1205, 1213, 1317, 3572}
KEYS = 6


def connect(host, port):
    return pymysql.connect(host=host, port=port, user="root", autocommit=True, charset="utf8mb4", read_timeout=60, write_timeout=60)


def prepare(host, port):
    """Fresh tables."""
    with connect(host, port) as connection, connection.cursor() as cursor:
        for statement in ("CREATE DATABASE IF NOT EXISTS isolation", "USE isolation", "DROP TABLE IF EXISTS lists, registers",
                          "CREATE TABLE lists (id INT PRIMARY KEY, k INT, v TEXT, KEY (k))",
                          "CREATE TABLE registers (id INT PRIMARY KEY, k INT, v BIGINT, n INT, KEY (k))"):
            cursor.execute(statement)
        for key in range(KEYS):
            cursor.execute("INSERT INTO lists VALUES (%s, %s, '')", (key, key))
            cursor.execute("INSERT INTO registers VALUES (%s, %s, NULL, 0)", (key, key))


class Lists:
    """Append and read whole lists."""

    def write(self, cursor, key, value, where):
        cursor.execute(f"UPDATE isolation.lists SET v = CONCAT(v, '{value},') WHERE {where} = {key}")

    def read(self, cursor, key, where, lock):
        cursor.execute(f"SELECT v FROM isolation.lists WHERE {where} = {key}{lock}")
        return [int(value) for value in cursor.fetchone()[0].split(",")[:-1]]


class Registers:
    """Replace and read one value. A read is [number, value] until `in_order` knows the order of all."""

    def write(self, cursor, key, value, where):
        cursor.execute(f"UPDATE isolation.registers SET v = {value}, n = n + 1 WHERE {where} = {key}")

    def read(self, cursor, key, where, lock):
        cursor.execute(f"SELECT n, v FROM isolation.registers WHERE {where} = {key}{lock}")
        return list(cursor.fetchone())


def in_order(transactions):
    """Register reads as lists: the known versions up to the one that was read. Also [(name, what it is)] for numbers seen twice."""
    numbered, found = {}, []
    for transaction in transactions:
        for operation in transaction.operations if transaction.committed is not False else ():
            if isinstance(operation, Read) and operation.versions[0]:
                number, value = operation.versions
                if numbered.setdefault((operation.key, number), value) != value:
                    found.append(("order", f"version {number} of {operation.key} is {value} and {numbered[(operation.key, number)]}"))
    known = {}
    for (key, number), value in sorted(numbered.items()):
        known.setdefault(key, []).append((number, value))

    def whole(operation):
        if isinstance(operation, Write):
            return operation
        return Read(operation.key, [value for number, value in known.get(operation.key, []) if number <= operation.versions[0]])

    return [transaction._replace(operations=[whole(operation) for operation in transaction.operations]) for transaction in transactions], found


class Player(threading.Thread):
    """One session."""

    def __init__(self, number, host, port, workload, level, reads, count, seed):
        super().__init__(daemon=True)
        self.number, self.host, self.port, self.workload, self.level, self.reads, self.count = number, host, port, workload, level, reads, count
        self.random = random.Random(f"{seed} {number}")
        self.history, self.errors = [], {}

    def run(self):
        try:
            connection = connect(self.host, self.port)
            with connection.cursor() as cursor:
                cursor.execute("SET innodb_lock_wait_timeout = 5")
                if self.level == STRICT:
                    cursor.execute("SET SESSION transaction_strict_snapshot = ON")
                level = "REPEATABLE READ" if self.level == STRICT else self.level
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
                for at in range(self.count):
                    if not self.transaction(cursor, self.number * 1_000_000 + at):
                        return
            connection.close()
        except pymysql.err.MySQLError as error:
            self.note(error)

    def note(self, error):
        self.errors[error.args[0]] = self.errors.get(error.args[0], 0) + 1

    def transaction(self, cursor, number):
        """False when the server is gone."""
        operations, committed = [], False
        try:
            cursor.execute("BEGIN")
            for at in range(self.random.randint(1, 4)):
                key, where = self.random.randrange(KEYS), self.random.choice(["id", "k"])
                if self.random.random() < 0.5:
                    operations.append(Write(key, number * 10 + at))
                    self.workload.write(cursor, key, number * 10 + at, where)
                else:
                    operations.append(Read(key, self.workload.read(cursor, key, where, self.random.choice(READS[self.reads]))))
            if self.random.random() < 0.1:
                cursor.execute("ROLLBACK")
            else:
                committed = None
                cursor.execute("COMMIT")
                committed = True
        except pymysql.err.MySQLError as error:
            self.note(error)
            if error.args[0] not in GIVE_UP:
                self.history.append(Transaction(number, committed, operations))
                return False
            cursor.execute("ROLLBACK")
        self.history.append(Transaction(number, committed, operations))
        return True


def play(host, port, name, level, reads, sessions, count, seed):
    """(history, errors by number) of `sessions` times `count` transactions."""
    workload = {"lists": Lists, "registers": Registers}[name]()
    players = [Player(number + 1, host, port, workload, level, reads, count, seed) for number in range(sessions)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    errors = {}
    for player in players:
        for number, times in player.errors.items():
            errors[number] = errors.get(number, 0) + times
    return [transaction for player in players for transaction in player.history], errors


def final_lists(host, port):
    """{key: versions} when nobody writes any more."""
    with connect(host, port) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, v FROM isolation.lists")
        return {key: [int(value) for value in text.split(",")[:-1]] for key, text in cursor.fetchall()}

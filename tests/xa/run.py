"""XA over kill -9 on the real binary: `run.py --binary B [--rounds 6] [--seconds-max 1.5] [--seed S]`.

Sessions run branches: each puts in a row of its own and raises a counter that others raise too, prepares, and commits, rolls back or
leaves it. The server is killed at a random moment, or stopped, and started again. Then, for every branch that was acknowledged:
prepared ones and no others are in XA RECOVER, what committed is there, what was rolled back or never prepared is not, prepared rows
and tables are locked; what was under way may be either, whole. The next round decides what is left by sessions that never saw it."""
import argparse
import pathlib
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import Server  # noqa: E402

SESSIONS, COUNTERS = 6, 40


class Branch:
    """What a client knows of a branch: where it is for sure, and what it asked for last."""

    def __init__(self, name, counter):
        self.name, self.counter, self.state, self.asked = name, counter, "open", None

    def step(self, cursor, asked, statement):
        self.asked = asked
        cursor.execute(statement)
        self.state, self.asked = asked, None


def connect(server):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", database="x", autocommit=True,
                           init_command="SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")


class Client(threading.Thread):
    def __init__(self, server, number, known, dice):
        super().__init__(daemon=True)
        self.server, self.number, self.known, self.dice, self.fault = server, number, known, random.Random(dice.random()), None

    def run(self):
        try:
            while True:
                self.branch(connect(self.server))
        except pymysql.err.OperationalError as error:
            # The server was killed.
            if error.args[0] not in (2003, 2006, 2013, 1053):
                self.fault = error
        except Exception as error:  # Told by whoever joins.
            self.fault = error

    def branch(self, connection):
        with connection.cursor() as cursor:
            for _ in range(self.dice.randrange(1, 20)):
                branch = Branch(f"{self.number}-{len(self.known)}-{self.dice.randrange(10**9)}", self.dice.randrange(COUNTERS))
                self.known.append(branch)
                cursor.execute(f"XA START '{branch.name}'")
                try:
                    cursor.execute(f"INSERT INTO made VALUES ('{branch.name}', {branch.counter}, REPEAT('x', {self.dice.choice([10, 20000])}))")
                    cursor.execute(f"UPDATE counters SET n = n + 1 WHERE id = {branch.counter}")
                except pymysql.err.OperationalError as error:
                    if error.args[0] != 1205:
                        raise
                    # A prepared branch has the counter.
                    cursor.execute(f"XA END '{branch.name}'")
                    branch.step(cursor, "gone", f"XA ROLLBACK '{branch.name}'")
                    continue
                cursor.execute(f"XA END '{branch.name}'")
                branch.step(cursor, "prepared", f"XA PREPARE '{branch.name}'")
                decision = self.dice.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK", None])
                if decision:
                    branch.step(cursor, "committed" if decision == "COMMIT" else "gone", f"XA {decision} '{branch.name}'")
        connection.close()


def rows(server, query):
    connection = connect(server)
    with connection.cursor() as cursor:
        cursor.execute(query)
        found = cursor.fetchall()
    connection.close()
    return found


def refused(server, statement, *errors):
    try:
        rows(server, statement)
    except pymysql.err.OperationalError as error:
        assert error.args[0] in errors, f"{statement}: {error}"
        return
    raise AssertionError(f"{statement} was not refused")


def check(server, known):
    """Compares the server with what the clients know, and settles what was under way."""
    prepared = {data for *_, data in rows(server, "XA RECOVER")}
    made = dict(rows(server, "SELECT name, counter FROM made"))
    for branch in known:
        is_prepared, is_made = branch.name in prepared, branch.name in made
        assert not (is_prepared and is_made), f"{branch.name} is prepared and seen"
        now = "prepared" if is_prepared else "committed" if is_made else "gone"
        allowed = {"gone" if branch.state == "open" else branch.state, branch.asked} - {None}
        assert now in allowed, f"{branch.name} is {now}; acknowledged: {branch.state}, asked for: {branch.asked}"
        branch.state, branch.asked = now, None
    assert prepared <= {branch.name for branch in known if branch.state == "prepared"}, "a branch that nobody prepared"
    counted = [0] * COUNTERS
    for counter in made.values():
        counted[counter] += 1
    assert counted == [n for n, in rows(server, "SELECT n FROM counters ORDER BY id")], "counters and rows differ"
    left = [branch for branch in known if branch.state == "prepared"]
    if left:
        refused(server, f"UPDATE counters SET n = 0 WHERE id = {left[0].counter}", 1205)
        refused(server, f"INSERT INTO made VALUES ('{left[0].name}', 0, '')", 1205)
        refused(server, "ALTER TABLE counters ADD COLUMN more INT", 1205)
        refused(server, "DROP TABLE made", 1205)
    for table in ("made", "counters"):
        report = rows(server, f"CHECK TABLE {table}")
        assert report[-1][3] == "OK", report
    return left


def check_privilege(server):
    """XA RECOVER without XA_RECOVER_ADMIN, as MySQL 9.7 tells it."""
    rows(server, "CREATE USER plain")
    plain = pymysql.connect(host="127.0.0.1", port=server.port, user="plain")
    with plain.cursor() as cursor:
        try:
            cursor.execute("XA RECOVER")
            raise AssertionError("XA RECOVER was not refused")
        except pymysql.err.MySQLError as error:
            assert error.args[0] == 1401, error
        cursor.execute("SHOW WARNINGS")
        assert [code for _, code, _ in cursor.fetchall()] == [1401, 1227]
    plain.close()
    rows(server, "GRANT XA_RECOVER_ADMIN ON *.* TO plain")
    plain = pymysql.connect(host="127.0.0.1", port=server.port, user="plain")
    with plain.cursor() as cursor:
        cursor.execute("XA RECOVER")
    plain.close()


def check_waits(server):
    """While somebody who decides waits for the global read lock, others wait for the outcome no longer than they may, and its holder not at
    all."""
    holder, decider, other = (connect(server) for _ in range(3))
    with holder.cursor() as cursor:
        cursor.execute("XA START 'd'")
        cursor.execute("INSERT INTO counters VALUES (-1, 0)")
        cursor.execute("XA END 'd'")
        cursor.execute("XA PREPARE 'd'")
        cursor.execute("FLUSH TABLES WITH READ LOCK")
    decider.cursor().execute("SET lock_wait_timeout = 60")
    thread = threading.Thread(target=decider.cursor().execute, args=("XA ROLLBACK 'd'",))
    thread.start()
    time.sleep(0.3)
    started = time.monotonic()
    for connection, code in ((other, 1205), (holder, 1213)):
        try:
            connection.cursor().execute("XA COMMIT 'd'")
            raise AssertionError("two have decided")
        except pymysql.Error as error:
            assert error.args[0] == code, error
    assert time.monotonic() - started < 5, "they have waited too long"
    holder.cursor().execute("UNLOCK TABLES")
    thread.join()
    assert not rows(server, "XA RECOVER")
    for connection in (holder, decider, other):
        connection.close()


def check_undone(server):
    """A branch that has taken back all that it wrote was acknowledged as prepared, so a start knows it."""
    connection = connect(server)
    with connection.cursor() as cursor:
        for statement in ("XA START 'undone'", "SELECT * FROM counters", "SAVEPOINT one", "INSERT INTO counters VALUES (-2, 0)", "ROLLBACK TO one", "XA END 'undone'",
                          "XA PREPARE 'undone'"):
            cursor.execute(statement)
    connection.close()
    server.kill()
    server.start()
    found = rows(server, "XA RECOVER")
    assert [data for *_, data in found] == ["undone"], found
    rows(server, "XA COMMIT 'undone'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds-max", type=float, default=1.5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    dice = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    server = Server(options.binary, ["--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=8M"])
    server.start()
    first = pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True)
    with first.cursor() as cursor:
        cursor.execute("CREATE DATABASE x")
        cursor.execute("CREATE TABLE x.made (name VARCHAR(60) PRIMARY KEY, counter INT, filler LONGTEXT, KEY (counter))")
        cursor.execute("CREATE TABLE x.counters (id INT PRIMARY KEY, n INT)")
        cursor.execute("INSERT INTO x.counters VALUES " + ", ".join(f"({id}, 0)" for id in range(COUNTERS)))
    check_privilege(server)
    check_waits(server)
    check_undone(server)
    known, counts = [], {"prepared": 0, "decided": 0}
    for number in range(options.rounds):
        clients = [Client(server, each, known, dice) for each in range(SESSIONS)]
        for client in clients:
            client.start()
        time.sleep(dice.uniform(0.3, options.seconds_max))
        if number % 3 == 2:
            server.stop()
        else:
            server.kill()
        for client in clients:
            client.join()
            assert client.fault is None, client.fault
        server.start()
        left = check(server, known)
        counts["prepared"] += len(left)
        for branch in left[::2]:
            decision = dice.choice(["COMMIT", "ROLLBACK"])
            rows(server, f"XA {decision} '{branch.name}'")
            branch.state = "committed" if decision == "COMMIT" else "gone"
            counts["decided"] += 1
        check(server, known)
    assert counts["prepared"] > 0, "no branch was ever left prepared"
    for branch in known:
        if branch.state == "prepared":
            rows(server, f"XA ROLLBACK '{branch.name}'")
            branch.state = "gone"
    assert not check(server, known)
    rows(server, "ALTER TABLE counters ADD COLUMN more INT")
    server.stop()
    server.remove()
    print(f"{len(known)} branches, {counts['prepared']} found prepared behind a start, {counts['decided']} of them decided by others")


main()

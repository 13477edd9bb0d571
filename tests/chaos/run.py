"""Disorder on a real server: `run.py --binary B [--seconds 20] [--sessions 64] [--seed S]`.

Sessions run reads, writes, long and failing statements, locks and DDL; they are killed (query and connection), and leave in
every way: politely, with FIN or RST between packets and in the middle of one, while their statement runs. Afterwards nothing of
them may be left: no connection, transaction, row lock, metadata lock, user lock, prepared statement, file or thread, and no
memory: the run has some parts, and behind the last the server may not be larger than behind the one before (5 %)."""
import argparse
import os
import pathlib
import random
import socket
import struct
import sys
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import running  # noqa: E402

ROWS = 2000
BALANCE = 100
USER_LOCKS = 4
# What may come of statements that are killed, collide, or meet a table that another session just dropped.
EXPECTED = {1022, 1046, 1049, 1050, 1051, 1053, 1054, 1060, 1061, 1062, 1064, 1091, 1099, 1100, 1105, 1114, 1146, 1158, 1159, 1192, 1205,
            1213, 1242, 1243, 1264, 1305, 1317, 1365, 1406, 1412, 1690, 1927, 2006, 2013, 2014, 2027, 3024, 3058, 3169, 3572, 4031}
DRAIN_SECONDS = 20
GROWTH_MAX = 1.05
PARTS = 6
OWN_THREADS_MAX = 8 + (os.cpu_count() or 1)


def connect(server, **options):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, ssl_disabled=True,
                           read_timeout=60, **options)


def prepare(server):
    cursor = connect(server).cursor()
    cursor.execute("CREATE DATABASE chaos")
    cursor.execute("USE chaos")
    cursor.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT, note VARCHAR(200), KEY balance (balance))")
    cursor.executemany("INSERT INTO account VALUES (%s, %s, '')", [(id, BALANCE) for id in range(ROWS)])
    cursor.execute("CREATE TABLE child (id BIGINT PRIMARY KEY AUTO_INCREMENT, parent INT, text LONGTEXT, KEY parent (parent))")
    cursor.execute("SET GLOBAL innodb_lock_wait_timeout = 2, GLOBAL lock_wait_timeout = 2")


class Session(threading.Thread):
    def __init__(self, server, number, seed, stop):
        super().__init__(daemon=True)
        self.server, self.number, self.stop, self.random = server, number, stop, random.Random(seed)
        self.unexpected, self.statements = None, 0

    def run(self):
        while not self.stop.is_set() and not self.unexpected:
            try:
                connection = connect(self.server, database="chaos")
                try:
                    self.life(connection)
                finally:
                    # Not left to the collector of garbage: a result that was read in part refers to its connection.
                    connection._force_close()
            except (OSError, pymysql.err.InterfaceError, AttributeError):
                pass  # killed while it connected, or its socket is closed
            except pymysql.err.MySQLError as error:
                if error.args[0] not in EXPECTED:
                    self.unexpected = error
            except Exception as error:
                self.unexpected = error

    def life(self, connection):
        """One connection, from its first statement to its end."""
        cursor = connection.cursor()
        for _ in range(self.random.randrange(1, 25)):
            if self.stop.is_set():
                break
            try:
                self.random.choice(STATEMENTS)(self, cursor)
                self.statements += 1
            except pymysql.err.MySQLError as error:
                if error.args[0] not in EXPECTED:
                    raise pymysql.err.MySQLError(error.args[0], f"{error.args[1:]} in {cursor._executed!r:.300}") from error
                if error.args[0] in (2006, 2013, 1053, 1927, 4031) or not connection.open:
                    return
                if error.args[0] in (1205, 1317, 1213) and self.random.random() < 0.5:
                    cursor.execute("ROLLBACK")
        self.leave(connection)

    def leave(self, connection):
        sock = connection._sock
        how = self.random.randrange(6)
        if how == 0:
            return connection.close()
        if how in (1, 2):
            # In the middle of a packet.
            packet = b"\x03UPDATE account SET note = REPEAT('x', 10) WHERE id = 1"
            packet = struct.pack("<I", len(packet)) + packet
            sock.sendall(packet[:self.random.randrange(len(packet))])
        elif how == 3:
            # While a statement runs.
            statement = self.random.choice([b"SELECT SLEEP(0.3)", b"SELECT COUNT(*) FROM account a, account b WHERE a.id < 100",
                                            b"SELECT * FROM account FOR UPDATE"])
            sock.sendall(struct.pack("<I", len(statement) + 1) + b"\x03" + statement)
        if self.random.random() < 0.5:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        connection._sock = None

    def id(self):
        return self.random.randrange(ROWS)


def transfer(session, cursor):
    one, other = session.random.sample(range(ROWS), 2)
    cursor.execute("BEGIN")
    try:
        cursor.execute(f"UPDATE account SET balance = balance - 1 WHERE id = {one}")
        cursor.execute(f"UPDATE account SET balance = balance + 1 WHERE id = {other}")
    except pymysql.err.MySQLError:
        # Half a transfer must not be committed by what comes next.
        cursor.connection._force_close()
        raise
    if session.random.random() < 0.8:
        cursor.execute(session.random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
    # Otherwise the transaction stays open, with its locks, for whatever comes next.


def lock_rows(session, cursor):
    first = session.id()
    cursor.execute("BEGIN")
    mode = session.random.choice(["FOR UPDATE", "FOR SHARE", "FOR UPDATE NOWAIT", "FOR UPDATE SKIP LOCKED"])
    cursor.execute(f"SELECT * FROM account WHERE id BETWEEN {first} AND {first + 50} {mode}")
    if session.random.random() < 0.5:
        cursor.execute("ROLLBACK")


def read_part_of_a_big_result(session, cursor):
    statement = b"SELECT a.id, REPEAT('x', 500) FROM account a, account b LIMIT 50000"
    sock = cursor.connection._sock
    sock.sendall(struct.pack("<I", len(statement) + 1) + b"\x03" + statement)
    sock.recv(10_000)
    # The rest is never read: the connection is of no more use.
    cursor.connection._force_close()
    raise pymysql.err.OperationalError(2013, "left")


def own_table(session, cursor):
    name = f"own_{session.number % 8}"
    cursor.execute(session.random.choice([
        f"CREATE TABLE IF NOT EXISTS {name} (id INT PRIMARY KEY, v INT)",
        f"CREATE TABLE IF NOT EXISTS {name} AS SELECT id, balance FROM account",
        f"ALTER TABLE {name} ADD COLUMN c{session.id()} INT",
        f"ALTER TABLE {name} ADD INDEX k{session.id()} (id)",
        f"ALTER TABLE {name} ENGINE = InnoDB",
        f"TRUNCATE TABLE {name}",
        f"INSERT INTO {name} (id) SELECT id FROM account LIMIT 500",
        f"RENAME TABLE {name} TO own_{session.random.randrange(8)}",
        f"DROP TABLE IF EXISTS {name}"]))


def simple(*texts):
    def run(session, cursor):
        cursor.execute(session.random.choice(texts).format(id=session.id(), other=session.id()))
    return run


def user_lock(session, cursor):
    cursor.execute(f"SELECT GET_LOCK('chaos_{session.random.randrange(USER_LOCKS)}', 0.2)")


def prepared(session, cursor):
    cursor.execute("PREPARE s FROM 'SELECT a.id, b.note FROM account a JOIN account b USING (id) WHERE a.balance > ?'")
    cursor.execute(f"SET @v = {session.id()}")
    cursor.execute("EXECUTE s USING @v")


def locked_table(session, cursor):
    cursor.execute(session.random.choice(["LOCK TABLES child READ", "LOCK TABLES child WRITE"]))
    cursor.execute("SELECT COUNT(*) FROM child")
    if session.random.random() < 0.5:
        cursor.execute("UNLOCK TABLES")


STATEMENTS = [
    transfer, transfer, transfer, lock_rows, lock_rows, read_part_of_a_big_result, own_table, own_table, user_lock, prepared,
    locked_table,
    simple("SELECT * FROM account WHERE id = {id}"),
    simple("INSERT INTO child (parent, text) VALUES ({id}, REPEAT('text', {other}))",
           "UPDATE child SET parent = {id} LIMIT 3", "DELETE FROM child ORDER BY id LIMIT 20"),
    simple("SELECT SLEEP(0.05)", "SELECT BENCHMARK(20000, SHA2('x', 256))"),
    simple("SELECT note, COUNT(*) FROM account a GROUP BY note, id % 100 ORDER BY 2", "SELECT COUNT(*) FROM account a, account b WHERE a.id < 100"),
    simple("SELECT nothing FROM account", "INSERT INTO account VALUES ({id}, 1, '')", "syntax error", "USE nowhere",
           "SELECT (SELECT id FROM account)", "UPDATE account SET note = REPEAT('x', 201) WHERE id = {id}"),
    simple("UPDATE account SET note = REPEAT('n', {id} % 200) WHERE id BETWEEN {id} AND {id} + 20"),
    simple("SAVEPOINT a", "ROLLBACK TO a", "SET autocommit = 0", "SET @x = REPEAT('v', 100000)", "FLUSH TABLES"),
]


class Killer(threading.Thread):
    def __init__(self, server, seed, stop):
        super().__init__(daemon=True)
        self.server, self.stop, self.random, self.kills = server, stop, random.Random(seed), 0

    def run(self):
        cursor = connect(self.server).cursor()
        own = cursor.connection.thread_id()
        while not self.stop.wait(0.01):
            cursor.execute("SHOW PROCESSLIST")
            others = [row[0] for row in cursor.fetchall() if row[0] != own and row[1] == "root" and row[3] == "chaos"]
            if others:
                victim = self.random.choice(others)
                try:
                    cursor.execute(f"KILL {self.random.choice(['QUERY', 'CONNECTION'])} {victim}")
                    self.kills += 1
                except pymysql.err.MySQLError as error:
                    if error.args[0] != 1094:
                        raise


def disorder(server, options, seconds, seed):
    stop = threading.Event()
    sessions = [Session(server, number, f"{seed}-{number}", stop) for number in range(options.sessions)]
    killer = Killer(server, seed, stop)
    for thread in [*sessions, killer]:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not any(session.unexpected for session in sessions):
        time.sleep(0.1)
    stop.set()
    for thread in [*sessions, killer]:
        thread.join(120)
        assert not thread.is_alive(), "a session hangs"
    unexpected = [session.unexpected for session in sessions if session.unexpected]
    assert not unexpected, unexpected
    return sum(session.statements for session in sessions), killer.kills


def until(what, condition):
    end = time.monotonic() + DRAIN_SECONDS
    while not condition():
        assert time.monotonic() < end, f"still there after {DRAIN_SECONDS} s: {what()}"
        time.sleep(0.1)


def status(cursor, name):
    cursor.execute("SHOW GLOBAL STATUS LIKE %s", (name,))
    return int(cursor.fetchone()[1])


def nothing_is_left(server, bytes_max):
    """Asserts that no session left anything; returns what the process holds: descriptors, threads, resident bytes, for which it waits
    longer where they are more than `bytes_max`."""
    cursor = connect(server, database="chaos").cursor()

    def rows(sql):
        cursor.execute(sql)
        return cursor.fetchall()

    others = "SELECT * FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user <> 'event_scheduler'"
    until(lambda: rows(others), lambda: not rows(others))
    until(lambda: status(cursor, "Threads_connected"), lambda: status(cursor, "Threads_connected") == 1)
    until(lambda: status(cursor, "Prepared_stmt_count"), lambda: status(cursor, "Prepared_stmt_count") == 0)

    def transactions():
        """Those of now, not of the latest deadlock."""
        return rows("SHOW ENGINE INNODB STATUS")[0][2].split("LIST OF TRANSACTIONS")[1]

    until(transactions, lambda: "ACTIVE" not in transactions())
    for number in range(USER_LOCKS):
        assert rows(f"SELECT IS_FREE_LOCK('chaos_{number}')") == ((1,),), "a user lock is held"
    cursor.execute("BEGIN")
    for table in rows("SHOW TABLES"):
        rows(f"SELECT * FROM {table[0]} FOR UPDATE NOWAIT")
    cursor.execute("ROLLBACK")
    assert rows("SELECT COUNT(*), SUM(balance) FROM account") == ((ROWS, ROWS * BALANCE),), "the sum changed"
    for table in rows("SHOW TABLES"):
        assert rows(f"CHECK TABLE {table[0]}")[-1][3] == "OK", table
        if table[0] != "account":
            cursor.execute(f"DROP TABLE {table[0]}")
    cursor.execute("CREATE TABLE child (id BIGINT PRIMARY KEY AUTO_INCREMENT, parent INT, text LONGTEXT, KEY parent (parent))")
    cursor.execute("UPDATE account SET note = ''")
    cursor.connection.close()
    # Threads that ended their statements have nothing to do any more, and go.
    until(lambda: f"{threads(server)} threads", lambda: threads(server) <= OWN_THREADS_MAX)
    # Purge and the allocator give back what they hold a little later.
    process = f"/proc/{server.process.pid}"
    resident = []
    while len(resident) < 30 or min(resident) > bytes_max and len(resident) < 200:
        time.sleep(0.1)
        with open(f"{process}/statm") as file:
            resident.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    sockets = [link for link in map(lambda name: read_link(f"{process}/fd/{name}"), os.listdir(f"{process}/fd")) if link]
    return {"descriptors": len(sockets), "threads": threads(server), "bytes": min(resident)}


def threads(server):
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def read_link(path):
    try:
        return os.readlink(path)
    except OSError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--growth-max", type=float, default=GROWTH_MAX,
                        help="of memory in the last part over the earlier ones; a short run is not warm and needs more")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with running(options.binary, ["--innodb-buffer-pool-size=16M", "--max-connections=500"]) as server:
        prepare(server)
        parts = []
        for number in range(PARTS):
            statements, kills = disorder(server, options, options.seconds / PARTS, f"{options.seed}-{number}")
            bytes_max = options.growth_max * max((part["bytes"] for part in parts), default=1 << 40)
            parts.append(nothing_is_left(server, bytes_max))
            print(f"{statements} statements, {kills} kills, left: {parts[-1]}", flush=True)
        # Chance decides how much of what was freed the allocator gives back at once: what is held only grows.
        before = {kind: max(part[kind] for part in parts[:-1]) for kind in parts[0]}
        after = parts[-1]
        assert after["descriptors"] <= before["descriptors"] + 2, "descriptors are held"
        assert after["bytes"] <= before["bytes"] * options.growth_max, "memory is held"


if __name__ == "__main__":
    main()

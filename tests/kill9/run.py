"""kill -9 loop on the real binary: `run.py --binary B [--rounds 300] [--seed S]`.

Each round starts the server on the same data directory, runs writers, kills the server with SIGKILL at a random
moment and starts it again. The oracle: every acknowledged transaction is there, the one in flight is there wholly
or not at all, the bank's sum is constant, secondary indexes agree with the table, CHECK TABLE finds nothing."""
import argparse
import pathlib
import random
import sys
import tempfile
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import Server  # noqa: E402

WRITERS = 6
ACCOUNTS = 50
BALANCE = 1000


def connect(server):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", database="kill9", autocommit=True,
                           read_timeout=60)


def prepare(server):
    connection = pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE kill9")
        cursor.execute("USE kill9")
        cursor.execute("CREATE TABLE journal (id BIGINT PRIMARY KEY AUTO_INCREMENT, writer INT, seq INT, note VARCHAR(200),"
                       " UNIQUE KEY writer_seq (writer, seq), KEY note (note))")
        cursor.execute("CREATE TABLE latest (writer INT PRIMARY KEY, seq INT)")
        cursor.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT, KEY balance (balance))")
        cursor.executemany("INSERT INTO account VALUES (%s, %s)", [(id, BALANCE) for id in range(ACCOUNTS)])
        cursor.executemany("INSERT INTO latest VALUES (%s, 0)", [(writer,) for writer in range(WRITERS)])
    connection.close()


class Writer(threading.Thread):
    """Appends to the journal and moves money; `acknowledged` is the last sequence number that was answered."""

    def __init__(self, server, number, seq, seed):
        super().__init__(daemon=True)
        self.server, self.number, self.acknowledged, self.random = server, number, seq, random.Random(seed)
        self.unexpected = None

    def run(self):
        try:
            connection = connect(self.server)
            cursor = connection.cursor()
            while True:
                try:
                    self.transaction(cursor)
                except pymysql.err.OperationalError as error:
                    if error.args[0] not in (1205, 1213):
                        raise
                    cursor.execute("ROLLBACK")
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError, AttributeError):
            return  # the server was killed
        except Exception as error:
            self.unexpected = error

    def transaction(self, cursor):
        seq = self.acknowledged + 1
        note = "n" * self.random.randrange(200)
        if self.random.random() < 0.3:
            cursor.execute("INSERT INTO journal (writer, seq, note) VALUES (%s, %s, %s)", (self.number, seq, note))
        else:
            source, target = self.random.sample(range(ACCOUNTS), 2)
            amount = self.random.randrange(1, 20)
            cursor.execute("BEGIN")
            cursor.execute("UPDATE account SET balance = balance - %s WHERE id = %s", (amount, source))
            cursor.execute("INSERT INTO journal (writer, seq, note) VALUES (%s, %s, %s)", (self.number, seq, note))
            cursor.execute("UPDATE account SET balance = balance + %s WHERE id = %s", (amount, target))
            cursor.execute("UPDATE latest SET seq = %s WHERE writer = %s", (seq, self.number))
            if self.random.random() < 0.2:
                cursor.execute("DELETE FROM journal WHERE writer = %s AND seq < %s", (self.number, seq - 200))
            cursor.execute("COMMIT")
        self.acknowledged = seq


def check(server, acknowledged):
    connection = connect(server)
    cursor = connection.cursor()
    cursor.execute("SELECT writer, MAX(seq), COUNT(*), MIN(seq) FROM journal GROUP BY writer")
    found = {writer: (last, count, first) for writer, last, count, first in cursor.fetchall()}
    for writer, last_acknowledged in enumerate(acknowledged):
        last, count, first = found.get(writer, (0, 0, 1))
        assert last >= last_acknowledged, f"writer {writer}: {last_acknowledged} was acknowledged, last found {last}"
        assert last <= last_acknowledged + 1, f"writer {writer}: {last} was never sent"
        assert count == last - first + 1, f"writer {writer}: a hole between {first} and {last}, {count} rows"
    cursor.execute("SELECT SUM(balance), COUNT(*) FROM account")
    total, accounts = cursor.fetchone()
    assert (int(total), accounts) == (ACCOUNTS * BALANCE, ACCOUNTS), f"sum of balances {total} over {accounts}"
    cursor.execute("SELECT l.writer, l.seq FROM latest l WHERE l.seq > 0 AND NOT EXISTS"
                   " (SELECT 1 FROM journal j WHERE j.writer = l.writer AND j.seq >= l.seq)")
    assert not cursor.fetchall(), "a transaction is there in one table only"
    cursor.execute("CHECK TABLE journal, latest, account")
    for row in cursor.fetchall():
        assert row[3] == "OK", row
    connection.close()
    return [found.get(writer, (0, 0, 1))[0] for writer in range(WRITERS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds-max", type=float, default=2.0)
    options = parser.parse_args()
    print(f"kill -9: {options.rounds} rounds, seed {options.seed}", flush=True)
    dice = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="iruka-kill9-")
    server = Server(options.binary, ["--innodb-buffer-pool-size=16M"], folder)
    server.start()
    prepare(server)
    seqs = [0] * WRITERS
    restart_seconds = []
    for round_number in range(options.rounds):
        writers = [Writer(server, number, seqs[number], dice.random()) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(dice.uniform(0.1, options.seconds_max))
        server.kill()
        for writer in writers:
            writer.join(30)
            assert writer.unexpected is None, f"round {round_number}: {writer.unexpected!r}"
        started = time.monotonic()
        server.start()
        restart_seconds.append(time.monotonic() - started)
        try:
            seqs = check(server, [writer.acknowledged for writer in writers])
        except AssertionError as error:
            server.kill()
            sys.exit(f"round {round_number}: {error}\ndata directory kept: {folder}")
    server.stop()
    server.remove()
    print(f"{options.rounds} passed, 0 failed ({sum(seqs)} transactions, slowest restart {max(restart_seconds):.2f} s)")


main()

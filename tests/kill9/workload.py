"""What runs while the server is killed, and what must be true afterwards.

Writers append to a journal with long texts and move money between accounts. The oracle: every acknowledged transaction is
there, the one in flight is there wholly or not at all, the bank's sum is constant, long texts are what their rows say, secondary
indexes and COUNT(*) agree with the table, AUTO_INCREMENT gives no value twice, CHECK TABLE finds nothing; and what relations.py says."""
import random
import threading

import pymysql
import relations

WRITERS = 6
ACCOUNTS = 50
BALANCE = 1000
# A full disk (1114, 1021, 3675), a lock that was not got, a deadlock, a definition that has changed.
REPEATED = relations.REPEATED


def connect(server, database="kill9"):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", database=database, autocommit=True,
                           read_timeout=120)


def prepare(server):
    connection = connect(server, None)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE kill9")
        cursor.execute("USE kill9")
        cursor.execute("CREATE TABLE journal (id BIGINT PRIMARY KEY AUTO_INCREMENT, writer INT, seq INT, note VARCHAR(200),"
                       " letter CHAR(1) NOT NULL, length INT NOT NULL, body LONGTEXT,"
                       " UNIQUE KEY writer_seq (writer, seq), KEY note (note), KEY body (body(20)))")
        cursor.execute("CREATE TABLE latest (writer INT PRIMARY KEY, seq INT)")
        cursor.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT, KEY balance (balance))")
        cursor.executemany("INSERT INTO account VALUES (%s, %s)", [(id, BALANCE) for id in range(ACCOUNTS)])
        cursor.executemany("INSERT INTO latest VALUES (%s, 0)", [(writer,) for writer in range(WRITERS)])
        relations.prepare(cursor, WRITERS)
    connection.close()


class Writer(threading.Thread):
    """`acknowledged` is the last sequence number that was answered, `greatest_id` the greatest AUTO_INCREMENT value."""

    def __init__(self, server, number, seq, seed):
        super().__init__(daemon=True)
        self.server, self.number, self.acknowledged, self.random = server, number, seq, random.Random(seed)
        self.greatest_id, self.repeated, self.unexpected = 0, 0, None
        self.owner = relations.Owner(number, self.random)

    def run(self):
        try:
            connection = connect(self.server)
            cursor = connection.cursor()
            has_temporary = False
            while True:
                try:
                    if not has_temporary:
                        self.owner.begin(cursor)
                        has_temporary = True
                    self.transaction(cursor)
                except (pymysql.err.OperationalError, pymysql.err.InternalError) as error:
                    if error.args[0] not in REPEATED:
                        raise
                    self.repeated += 1
                    cursor.execute("ROLLBACK")
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError, AttributeError):
            return  # the server was killed
        except Exception as error:
            self.unexpected = error

    def transaction(self, cursor):
        seq = self.acknowledged + 1
        if self.random.random() < 0.3:
            self.append(cursor, seq)
        else:
            source, target = self.random.sample(range(ACCOUNTS), 2)
            amount = self.random.randrange(1, 20)
            cursor.execute("BEGIN")
            cursor.execute("UPDATE account SET balance = balance - %s WHERE id = %s", (amount, source))
            self.append(cursor, seq)
            cursor.execute("UPDATE account SET balance = balance + %s WHERE id = %s", (amount, target))
            cursor.execute("UPDATE latest SET seq = %s WHERE writer = %s", (seq, self.number))
            if self.random.random() < 0.3:
                letter, length = self.text()
                cursor.execute("UPDATE journal SET letter = %s, length = %s, body = REPEAT(%s, %s) WHERE writer = %s AND seq = %s",
                               (letter, length, letter, length, self.number, self.random.randrange(max(1, seq - 100), seq + 1)))
            if self.random.random() < 0.2:
                cursor.execute("DELETE FROM journal WHERE writer = %s AND seq < %s", (self.number, seq - 200))
            if self.random.random() < 0.5:
                self.owner.change(cursor, seq)
            cursor.execute("COMMIT")
        self.acknowledged = seq

    def append(self, cursor, seq):
        letter, length = self.text()
        cursor.execute("INSERT INTO journal (writer, seq, note, letter, length, body) VALUES (%s, %s, %s, %s, %s, REPEAT(%s, %s))",
                       (self.number, seq, "n" * self.random.randrange(200), letter, length, letter, length))
        self.greatest_id = max(self.greatest_id, cursor.lastrowid)

    def text(self):
        length = self.random.randrange(4000, 200_000) if self.random.random() < 0.1 else self.random.randrange(100)
        return self.random.choice("abcdefgh"), length


class Progress:
    """What the writers were told so far."""

    def __init__(self):
        self.acknowledged = [0] * WRITERS
        self.greatest_id = 0
        # The number of the last ALTER of the definer.
        self.altered = 0

    def start(self, server, dice):
        writers = [Writer(server, number, self.acknowledged[number], dice.random()) for number in range(WRITERS)]
        self.definer = relations.Definer(lambda: connect(server), random.Random(dice.random()), self.altered)
        for thread in writers + [self.definer]:
            thread.start()
        return writers

    def join(self, writers):
        for writer in writers:
            writer.join(60)
            assert writer.unexpected is None, f"writer {writer.number}: {writer.unexpected!r}"
        self.definer.join(60)
        assert self.definer.unexpected is None, f"definer: {self.definer.unexpected!r}"
        self.altered = self.definer.altered
        self.acknowledged = [writer.acknowledged for writer in writers]
        self.greatest_id = max([self.greatest_id] + [writer.greatest_id for writer in writers])

    def check(self, server, unproven=0, writes=True):
        """`unproven`: acknowledged transactions of each writer that may be missing (see damage.py). Without `writes` the disk
        may be full."""
        connection = connect(server)
        cursor = connection.cursor()
        found = self.check_journal(cursor, unproven)
        cursor.execute("SELECT SUM(balance), COUNT(*) FROM account")
        total, accounts = cursor.fetchone()
        assert (int(total), accounts) == (ACCOUNTS * BALANCE, ACCOUNTS), f"sum of balances {total} over {accounts}"
        cursor.execute("SELECT l.writer, l.seq FROM latest l WHERE l.seq > 0 AND NOT EXISTS"
                       " (SELECT 1 FROM journal j WHERE j.writer = l.writer AND j.seq >= l.seq)")
        assert not cursor.fetchall(), "a transaction is there in one table only"
        cursor.execute("CHECK TABLE journal, latest, account")
        for row in cursor.fetchall():
            assert row[3] == "OK", row
        self.altered = relations.check(cursor, self.altered, unproven)
        if writes:
            relations.check_files(cursor, server.folder)
            cursor.execute("INSERT INTO journal (letter, length) VALUES ('x', 0)")
            assert cursor.lastrowid > self.greatest_id, f"id {cursor.lastrowid} after {self.greatest_id}"
            self.greatest_id = cursor.lastrowid
            cursor.execute("DELETE FROM journal WHERE id = %s", (cursor.lastrowid,))
        connection.close()
        self.acknowledged = [found.get(writer, (0, 0, 1))[0] for writer in range(WRITERS)]

    def check_journal(self, cursor, unproven):
        cursor.execute("SELECT writer, MAX(seq), COUNT(*), MIN(seq) FROM journal GROUP BY writer")
        found = {writer: (last, count, first) for writer, last, count, first in cursor.fetchall()}
        for writer, acknowledged in enumerate(self.acknowledged):
            last, count, first = found.get(writer, (0, 0, 1))
            assert last >= acknowledged - unproven, f"writer {writer}: {acknowledged} was acknowledged, last found {last}"
            assert last <= acknowledged + 1, f"writer {writer}: {last} was never sent"
            assert count == last - first + 1, f"writer {writer}: a hole between {first} and {last}, {count} rows"
        counts = []
        for query in ("SELECT COUNT(*) FROM journal", "SELECT COUNT(*) FROM journal FORCE INDEX (note) WHERE note >= ''",
                      "SELECT COUNT(*) FROM journal FORCE INDEX (body) WHERE body >= ''"):
            cursor.execute(query)
            counts.append(cursor.fetchone()[0])
        assert len(set(counts)) == 1, f"counts of the journal by its indexes: {counts}"
        cursor.execute("SELECT id, length, LENGTH(body) FROM journal WHERE body <> REPEAT(letter, length) LIMIT 3")
        wrong = cursor.fetchall()
        assert not wrong, f"long texts are not what their rows say: {wrong}"
        return found

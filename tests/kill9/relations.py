"""Rows that refer to others, documents, computed indexes, and definitions that change: what runs beside the writers of workload.py.

A writer's customers have orders, which have lines; foreign keys take them along when a customer goes or gets another number. Each
transaction writes into `tally` how many of each the writer has then. A definer alters `orders` and says in its comment how often,
fills tables by CREATE TABLE .. SELECT and redefines a view. The oracle: counts are what the tally of the same transaction says, no
row refers to a parent that is not there, documents say what their rows say, indexes on what is computed find every row,
a table of the definer's is there with all its rows or not at all, `orders` looks like its comment says and has the last
acknowledged number or the next one, temporary tables leave nothing behind, and there is a file for each table and no other."""
import pathlib
import threading

import pymysql

# Numbers of a writer's customers begin here times its number.
SPAN = 1_000_000
FILLED_ROWS = 400
# Also what is told when a definition has changed since a snapshot, or a statement was prepared.
REPEATED = (1114, 1021, 3675, 1205, 1213, 1412, 1615)
TABLES = ("customer", "orders", "line", "tally", "number")
KEYS = (("orders", "customer_id", "customer"), ("line", "order_id", "orders"))


def prepare(cursor, writers):
    for statement in (
        "CREATE TABLE customer (id BIGINT PRIMARY KEY, writer INT, name VARCHAR(60), doc JSON,"
        " city VARCHAR(20) AS (doc->>'$.city') STORED, KEY (city), KEY (writer), KEY low ((LOWER(name))), UNIQUE KEY ((CONCAT(name, '#', id))))",
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id BIGINT NOT NULL, total INT, twice INT AS (total * 2) VIRTUAL, KEY (twice),"
        " CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE CASCADE ON UPDATE CASCADE) COMMENT '0'",
        "CREATE TABLE line (id BIGINT PRIMARY KEY, order_id BIGINT, place INT, KEY ((place % 7)),"
        " CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
        "CREATE TABLE tally (writer INT PRIMARY KEY, customers INT, orders INT, order_lines INT)",
        "CREATE TABLE number (n INT PRIMARY KEY)",
        "CREATE VIEW busy AS SELECT customer_id, COUNT(*) AS orders FROM orders GROUP BY customer_id",
    ):
        cursor.execute(statement)
    cursor.executemany("INSERT INTO tally VALUES (%s, 0, 0, 0)", [(writer,) for writer in range(writers)])
    cursor.executemany("INSERT INTO number VALUES (%s)", [(n,) for n in range(FILLED_ROWS)])


class Owner:
    """The rows of one writer. They change within its transactions: how many there are is asked of the server, under the tally's lock."""

    def __init__(self, writer, dice):
        self.writer, self.random = writer, dice

    def begin(self, cursor):
        cursor.execute("CREATE TEMPORARY TABLE own (id BIGINT PRIMARY KEY, pad VARCHAR(500), KEY ((id % 10)))")

    def change(self, cursor, seq):
        """One step within an open transaction."""
        cursor.execute("SELECT customers FROM tally WHERE writer = %s FOR UPDATE", (self.writer,))
        count = cursor.fetchone()[0]
        choice = self.random.random()
        if count < 5 or choice < 0.5:
            self.add(cursor, self.writer * SPAN + 10 * seq)
        elif choice < 0.7:
            cursor.execute("DELETE FROM customer WHERE writer = %s ORDER BY id LIMIT %s", (self.writer, self.random.randrange(1, 4)))
        elif choice < 0.85:
            cursor.execute("UPDATE customer SET id = id + 1 WHERE writer = %s AND id %% 10 < 9 ORDER BY id DESC LIMIT 2", (self.writer,))
        else:
            cursor.execute("UPDATE customer SET doc = JSON_SET(doc, '$.city', %s, '$.pad', REPEAT('p', %s)) WHERE writer = %s ORDER BY id LIMIT 2",
                           (self.random.choice(["Berlin", "Kyoto", "Lima"]), self.random.randrange(9000), self.writer))
        if self.random.random() < 0.2:
            self.through_temporary(cursor)
        cursor.execute("UPDATE tally SET customers = (SELECT COUNT(*) FROM customer c WHERE c.writer = %s),"
                       " orders = (SELECT COUNT(*) FROM orders o JOIN customer c ON c.id = o.customer_id WHERE c.writer = %s),"
                       " order_lines = (SELECT COUNT(*) FROM line l JOIN orders o ON o.id = l.order_id JOIN customer c ON c.id = o.customer_id"
                       " WHERE c.writer = %s) WHERE writer = %s", (self.writer,) * 4)

    def add(self, cursor, id):
        name = self.random.choice(["Ada", "Bob", "Cyd"])
        cursor.execute("INSERT INTO customer (id, writer, name, doc) VALUES (%s, %s, %s, JSON_OBJECT('name', %s, 'city', 'Oslo'))",
                       (id, self.writer, name, name))
        for at in range(self.random.randrange(1, 4)):
            cursor.execute("INSERT INTO orders (id, customer_id, total) VALUES (%s, %s, %s)", (id + at, id, self.random.randrange(1000)))
            cursor.execute("INSERT INTO line SELECT %s * 10 + n, %s, n FROM number WHERE n < %s", (id + at, id + at, self.random.randrange(5)))

    def through_temporary(self, cursor):
        """Orders are deleted by what a table says that nobody else sees."""
        cursor.execute("DELETE FROM own")
        cursor.execute("INSERT INTO own SELECT o.id, REPEAT('o', 400) FROM orders o JOIN customer c ON c.id = o.customer_id"
                       " WHERE c.writer = %s ORDER BY o.id LIMIT 20", (self.writer,))
        cursor.execute("DELETE FROM orders WHERE id IN (SELECT id FROM own WHERE id %% 10 = %s)", (self.random.randrange(3),))


class Definer(threading.Thread):
    """`altered`: the number of the last ALTER that was answered."""

    def __init__(self, connect, dice, altered):
        super().__init__(daemon=True)
        self.connect, self.random, self.altered, self.unexpected = connect, dice, altered, None

    def run(self):
        try:
            cursor = self.connect().cursor()
            while True:
                try:
                    self.random.choice((self.alter, self.alter, self.fill, self.view))(cursor)
                except (pymysql.err.OperationalError, pymysql.err.InternalError) as error:
                    if error.args[0] not in REPEATED:
                        raise
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError, AttributeError):
            return  # the server was killed
        except Exception as error:
            self.unexpected = error

    def alter(self, cursor):
        """From a number to the next: odd ones have a column and keys more, and another name of an index."""
        number = self.altered + 1
        change = "ADD COLUMN extra INT AS (total + 1) STORED, ADD KEY sum ((total + id)), RENAME INDEX twice TO doubled" if number % 2 else \
            "DROP KEY sum, DROP COLUMN extra, RENAME INDEX doubled TO twice"
        cursor.execute(f"ALTER TABLE orders {change}, COMMENT '{number}'")
        self.altered = number

    def fill(self, cursor):
        cursor.execute("DROP TABLE IF EXISTS filled, renamed")
        cursor.execute("CREATE TABLE filled (n INT PRIMARY KEY, square INT AS (n * n) VIRTUAL, UNIQUE KEY (square), KEY ((n % 10)))"
                       " SELECT n, REPEAT('f', n) AS text FROM number")
        cursor.execute("RENAME TABLE filled TO renamed")
        cursor.execute("DROP TABLE renamed")

    def view(self, cursor):
        cursor.execute(f"CREATE OR REPLACE VIEW busy AS SELECT customer_id, COUNT(*) + {self.random.randrange(9)} AS orders FROM orders GROUP BY customer_id")


def check(cursor, altered, unproven):
    """The number of the last ALTER that is found."""
    check_rows(cursor)
    found = check_orders(cursor)
    assert altered - unproven <= found <= altered + 1, f"ALTER {altered} was acknowledged, {found} is found"
    cursor.execute("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'kill9' AND TABLE_NAME IN ('filled', 'renamed')")
    filled = [name for (name,) in cursor.fetchall()]
    for name in filled:
        cursor.execute(f"SELECT COUNT(*), SUM(square = n * n), SUM(LENGTH(text) = n) FROM {name} FORCE INDEX (square) WHERE square >= 0")
        counts = tuple(map(int, cursor.fetchone()))
        assert counts == (FILLED_ROWS,) * 3, f"{name}: {counts}"
    cursor.execute("SELECT COUNT(*) FROM busy")
    for name in TABLES + tuple(filled):
        cursor.execute(f"CHECK TABLE {name}")
        for row in cursor.fetchall():
            assert row[3] == "OK", row
    return found


def check_rows(cursor):
    cursor.execute("SELECT t.*, (SELECT COUNT(*) FROM customer c WHERE c.writer = t.writer),"
                   " (SELECT COUNT(*) FROM orders o JOIN customer c ON c.id = o.customer_id WHERE c.writer = t.writer),"
                   " (SELECT COUNT(*) FROM line l JOIN orders o ON o.id = l.order_id JOIN customer c ON c.id = o.customer_id"
                   " WHERE c.writer = t.writer) FROM tally t")
    for row in cursor.fetchall():
        assert row[1:4] == row[4:], f"the tally and the counts of writer {row[0]}: {row[1:]}"
    for child, column, parent in KEYS:
        cursor.execute(f"SELECT c.id FROM {child} c LEFT JOIN {parent} p ON p.id = c.{column} WHERE c.{column} IS NOT NULL AND p.id IS NULL LIMIT 3")
        orphans = cursor.fetchall()
        assert not orphans, f"orphans in {child}: {orphans}"
    cursor.execute("SELECT id FROM customer WHERE NOT (doc->>'$.name' <=> name AND doc->>'$.city' <=> city) LIMIT 3")
    wrong = cursor.fetchall()
    assert not wrong, f"documents that do not say what their rows say: {wrong}"
    counts = []
    for query in ("SELECT COUNT(*) FROM customer", "SELECT COUNT(*) FROM customer FORCE INDEX (low) WHERE LOWER(name) >= ''",
                  "SELECT COUNT(*) FROM customer FORCE INDEX (city) WHERE city >= ''"):
        cursor.execute(query)
        counts.append(cursor.fetchone()[0])
    assert len(set(counts)) == 1, f"counts of the customers by indexes: {counts}"


def check_orders(cursor):
    cursor.execute("SHOW CREATE TABLE orders")
    definition = cursor.fetchone()[1]
    number = int(definition.rsplit("COMMENT='", 1)[1].split("'")[0])
    for text in ("`extra`", "KEY `sum`", "KEY `doubled`"):
        assert (text in definition) == (number % 2 == 1), f"definition {number}: {definition}"
    assert ("KEY `twice`" in definition) == (number % 2 == 0), f"definition {number}: {definition}"
    if number % 2:
        cursor.execute("SELECT COUNT(*) FROM orders WHERE NOT extra <=> total + 1")
        assert cursor.fetchone()[0] == 0, "values of a generated column are not what they are computed of"
    return number


def check_files(cursor, folder):
    """There is a file for each table and no other, but for the one of the accounts, which is the first."""
    cursor.execute("SELECT SPACE FROM information_schema.INNODB_TABLESPACES")
    spaces = {str(space) for (space,) in cursor.fetchall()}
    files = {path.stem for path in (pathlib.Path(folder) / "#tables").iterdir()}
    strange = files - spaces - {min(files, key=int)}
    assert not strange, f"files without a table: {strange}"

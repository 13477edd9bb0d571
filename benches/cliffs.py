"""Statements that once fell off a cliff, over tables of 150,000 rows, beside MySQL: those that a review of the first optimizer found.

    cliffs.py IRUKA MYSQL [--rounds 21] [--clock wall|cpu] [--bars]

prints per statement the median milliseconds of both servers, which run it in turn, and the ratio; answers must be equal. `--bars` fails
where Iruka takes longer. `--clock cpu` counts the CPU time of the servers' processes (both local, with nothing else to do)."""
import argparse
import pathlib
import random
import statistics
import sys

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "queries"))
import clocks  # noqa: E402

SCHEMA, ROWS, BATCH = "cliffs", 150_000, 5_000
DEFINITIONS = [
    "CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, s VARCHAR(30) NOT NULL, g INT NOT NULL, v INT NOT NULL, KEY k (k), KEY s (s), KEY g (g))",
    "CREATE TABLE u (id INT PRIMARY KEY, tid INT NOT NULL, v INT NOT NULL, x VARCHAR(20), KEY tid (tid), KEY v (v))",
    "CREATE TABLE tiny (id INT PRIMARY KEY)",
    "INSERT INTO tiny VALUES (3), (77), (1500)",
    "SET @low = 100, @high = 109",
    "PREPARE lookup FROM 'SELECT id FROM t WHERE id BETWEEN ? AND ?'",
]
# What each is about; statements that change rows are rolled back.
STATEMENTS = [
    ("derived table", "SELECT * FROM (SELECT * FROM t) d WHERE d.id = 5"),
    ("common table", "WITH d AS (SELECT * FROM t) SELECT * FROM d WHERE d.id = 5"),
    ("derived union", "SELECT * FROM (SELECT * FROM t UNION ALL SELECT * FROM t) d WHERE d.id = 5"),
    ("OR over two indexes", "SELECT id FROM t WHERE k = 5 OR s = 'apple5'"),
    ("OR with the key", "SELECT id FROM t WHERE k = 5 OR id = 7"),
    ("delete by OR", "DELETE FROM t WHERE k = 5 OR s = 'apple5'"),
    ("order by an index and the key", "SELECT * FROM t ORDER BY k, id LIMIT 10"),
    ("order behind a join", "SELECT t.id, u.v FROM t JOIN u ON u.tid = t.id ORDER BY u.id LIMIT 5"),
    ("EXISTS over few rows", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.tid = t.id AND v > 990)"),
    ("EXISTS over many rows", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.tid = t.id AND v > 900)"),
    ("IN over few rows", "SELECT COUNT(*) FROM t WHERE k IN (SELECT v FROM u WHERE v < 50)"),
    ("IN over a tiny table", "SELECT id FROM t WHERE id IN (SELECT id FROM tiny)"),
    ("> ALL", "SELECT COUNT(*) FROM t WHERE k > ALL (SELECT k FROM t WHERE v < 500)"),
    ("DISTINCT", "SELECT DISTINCT g FROM t"),
    ("COUNT(DISTINCT)", "SELECT COUNT(DISTINCT g) FROM t"),
    ("groups of an index", "SELECT g, COUNT(*) FROM t GROUP BY g"),
    ("MAX and MIN", "SELECT MAX(k), MIN(k) FROM t"),
    ("prepared range", "EXECUTE lookup USING @low, @high"),
]


class Server:
    def __init__(self, address, clock):
        host, port = address.split(":")
        self.connection = pymysql.connect(host=host, port=int(port), user="root", autocommit=True)
        self.clock = clocks.cpu_of(clocks.listening_process(int(port))) if clock == "cpu" else clocks.wall

    def run(self, sql):
        with self.connection.cursor() as cursor:
            changed = cursor.execute(sql)
            return sorted(cursor.fetchall()) if cursor.description else changed

    def fill(self):
        numbers = random.Random(5)
        self.run(f"DROP DATABASE IF EXISTS {SCHEMA}")
        self.run(f"CREATE DATABASE {SCHEMA}")
        self.run(f"USE {SCHEMA}")
        for sql in DEFINITIONS:
            self.run(sql)
        for begin in range(1, ROWS + 1, BATCH):
            ids = range(begin, begin + BATCH)
            self.run("INSERT INTO t VALUES " + ",".join(
                f"({i},{numbers.randrange(50_000)},'apple{i}',{numbers.randrange(100)},{numbers.randrange(1000)})" for i in ids))
            self.run("INSERT INTO u VALUES " + ",".join(
                f"({i},{numbers.randrange(1, ROWS + 1)},{numbers.randrange(1000)},'x{i % 997}')" for i in ids))
        self.run("ANALYZE TABLE t, u, tiny")

    def timed(self, sql):
        """Milliseconds, and the answer."""
        self.run("BEGIN")
        begun = self.clock()
        answer = self.run(sql)
        took = self.clock() - begun
        self.run("ROLLBACK")
        return took * 1000, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs=2, metavar="HOST:PORT")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--bars", action="store_true")
    arguments = parser.parse_args()
    servers = [Server(address, arguments.clock) for address in arguments.servers]
    for server in servers:
        server.fill()
    wrong, slower = [], []
    for what, sql in STATEMENTS:
        runs = [[server.timed(sql) for server in servers] for _ in range(arguments.rounds)]
        (own, own_answer), (other, answer) = [
            (statistics.median(run[number][0] for run in runs), runs[-1][number][1]) for number in (0, 1)]
        print(f"{what:32} {own:9.3f} {other:9.3f} {own / other:6.2f}", flush=True)
        # Which rows LIMIT leaves of equal ones is open.
        if own_answer != answer and "LIMIT" not in sql:
            wrong.append(what)
        if own > other:
            slower.append(what)
    print(f"other answers: {', '.join(wrong) or 'none'}; slower: {', '.join(slower) or 'none'}")
    if wrong or arguments.bars and slower:
        sys.exit(1)


if __name__ == "__main__":
    main()

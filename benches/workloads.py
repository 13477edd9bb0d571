"""The workloads. Each is a function of a `Target` that yields (name, operations, seconds, server CPU seconds)."""
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

import pymysql

import tgbench
import wiki

TICKS = os.sysconf("SC_CLK_TCK")


class Target:
    """A server under test."""

    def __init__(self, name, host, port, pid, seconds, scale):
        self.name, self.host, self.port, self.pid = name, host, port, pid
        self.seconds, self.scale = seconds, scale

    def connect(self, schema=None):
        return pymysql.connect(host=self.host, port=self.port, user="root", database=schema, autocommit=True,
                               charset="utf8mb4", local_infile=True)

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def timed(self, work):
        cpu, start = self.cpu(), time.monotonic()
        operations = work()
        return operations, time.monotonic() - start, self.cpu() - cpu

    def execute(self, schema, statement):
        connection = self.connect(schema)
        with connection.cursor() as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall()
        connection.close()
        return rows


def sysbench_command(target, test, threads, seconds, *more):
    return ["sysbench", test, f"--mysql-host={target.host}", f"--mysql-port={target.port}", "--mysql-user=root",
            "--mysql-db=sbtest", "--tables=4", f"--table-size={int(250000 * target.scale)}", f"--threads={threads}",
            f"--time={seconds}", "--report-interval=0", "--db-ps-mode=disable", *more]


def sysbench(target):
    target.execute(None, "DROP DATABASE IF EXISTS sbtest")
    target.execute(None, "CREATE DATABASE sbtest")
    subprocess.run(sysbench_command(target, "oltp_read_write", 2, 0, "prepare"), check=True, capture_output=True)
    subprocess.run(sysbench_command(target, "oltp_read_only", 8, 3, "run"), check=True, capture_output=True)
    for test in ("oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write"):
        for threads in (1, 8, 64):
            def work():
                run = subprocess.run(sysbench_command(target, test, threads, target.seconds, "run"), check=True, capture_output=True, text=True)
                return int(re.search(r"queries:\s+(\d+)", run.stdout)[1])

            yield (f"{test} {threads}", *target.timed(work))


def connections(target):
    script = tempfile.NamedTemporaryFile("w", suffix=".lua", delete=False)
    script.write('require("oltp_common")\nfunction thread_init() drv = sysbench.sql.driver() end\nfunction thread_done() end\n'
                 'function event() local c = drv:connect(); c:query("SELECT c FROM sbtest1 WHERE id=" .. math.random(1, 1000)); c:disconnect() end\n')
    script.close()
    for threads in (8, 64):
        def work():
            run = subprocess.run(sysbench_command(target, script.name, threads, target.seconds, "run"), check=True, capture_output=True, text=True)
            return int(re.search(r"(?:total number of events|transactions):\s+(\d+)", run.stdout)[1])

        yield (f"connect {threads}", *target.timed(work))
    os.unlink(script.name)


def slap(target):
    for clients in (1, 50, 500):
        queries = int(20000 * target.scale)

        def work():
            subprocess.run(["mysqlslap", f"-h{target.host}", f"-P{target.port}", "-uroot", f"--concurrency={clients}", "--iterations=1",
                            "--engine=innodb", "--auto-generate-sql", "--auto-generate-sql-add-autoincrement",
                            "--auto-generate-sql-load-type=write", f"--number-of-queries={queries}", "--create-schema=mysqlslap", "--csv"],
                           check=True, capture_output=True)
            return queries

        yield (f"slap {clients}", *target.timed(work))


def count(target):
    """2^22 rows by doubling INSERT..SELECT, then COUNT(*), a filtered count and a sum."""
    doublings = 22 if target.scale >= 1 else 17
    connection = target.connect()
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS bench")
    cursor.execute("USE bench")
    cursor.execute("DROP TABLE IF EXISTS item")
    cursor.execute("CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(10), price INT UNSIGNED, created DATETIME)")
    cursor.execute("INSERT INTO item (name, price, created) VALUES ('a', 1, '2019-01-21')")

    def double():
        for _ in range(doublings):
            cursor.execute("INSERT INTO item (name, price, created) SELECT CONCAT('n', id % 9991), id * 7919 % 100000, created FROM item")
        return 2**doublings

    yield (f"insert-select doubling to 2^{doublings}", *target.timed(double))
    for title, query in (("count(*)", "SELECT COUNT(*) FROM item"), ("count with filter", "SELECT COUNT(*) FROM item WHERE price < 1000"),
                         ("sum, min, max", "SELECT SUM(price), MIN(created), MAX(name) FROM item")):
        def work():
            cursor.execute(query)
            cursor.fetchall()
            return 1

        work()
        yield (title, *target.timed(work))
    connection.close()


def insert_select(target):
    rows = int(500000 * target.scale)
    dice = random.Random(7)
    connection = target.connect()
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS bench")
    cursor.execute("USE bench")
    cursor.execute("DROP TABLE IF EXISTS t1, t2")
    cursor.execute("CREATE TABLE t1 (id_1 INT NOT NULL AUTO_INCREMENT PRIMARY KEY, id_2 VARBINARY(11) NOT NULL, id_3 VARBINARY(11) NOT NULL,"
                   " UNIQUE KEY ukey (id_2, id_3))")
    for _ in range(rows // 10000):
        pairs = ",".join(f"('{dice.randrange(10**6)}','{dice.randrange(10**6)}')" for _ in range(10000))
        cursor.execute("INSERT IGNORE INTO t1 (id_2, id_3) VALUES " + pairs)
    cursor.execute("CREATE TABLE t2 LIKE t1")

    def work():
        cursor.execute("INSERT INTO t2 SELECT * FROM t1")
        return rows

    yield ("insert-select with unique key", *target.timed(work))
    connection.close()


def tuningathon(target):
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute() / "bench" / "tuningathon"
    pages = int(400000 * target.scale)
    paths = wiki.files(folder, pages)
    connection = target.connect()
    cursor = connection.cursor()
    cursor.execute("DROP DATABASE IF EXISTS wiki")
    cursor.execute("CREATE DATABASE wiki")
    cursor.execute("USE wiki")

    def load():
        for _ in wiki.load(cursor, paths):
            pass
        return 2 * pages

    yield ("wiki load", *target.timed(load))
    for number, query in enumerate(tgbench.QUERIES, start=1):
        def work():
            cursor.execute(query)
            cursor.fetchall()
            return 1

        work()
        yield (f"wiki Q{number}", *target.timed(work))
    connection.close()


ALL = (sysbench, connections, slap, count, insert_select, tuningathon)
